"""Reports: one file, every section, numbers of the library's own calls, names never as markup."""

from __future__ import annotations

import re
import shutil
import subprocess
from html import unescape
from pathlib import Path

import numpy as np
import pytest

import sarrus as sr

BROWSER = shutil.which("chromium") or shutil.which("google-chrome") or shutil.which("chromium-browser")
SECTIONS = ["Mobility", "Bodies and joints", "Limits and actuators", "Torques over a sweep", "Modes", "A run"]
NASTY = "</style><script>alert(1)</script>"


def plain(path: Path) -> str:
    """The text of a page, without its images."""
    return unescape(re.sub(r"<[^>]+>", " ", re.sub(r"base64,[^\"]+", "", path.read_text())))


@pytest.fixture(scope="module")
def crank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    mech = sr.library.four_bar()
    return mech.report(tmp_path_factory.mktemp("report") / "crank.html", t_end=0.3)


def test_all_sections_and_pictures_are_in_one_file(crank: Path) -> None:
    page = crank.read_text()
    assert re.findall(r"<h2>(.*?)</h2>", page) == SECTIONS
    assert page.count("<img") >= 8  # pose, torques, equilibrium, four of the run, its plot
    assert not re.findall(r"(?:src|href)=\"(?!data:)|https?:|<script", page)
    assert "Not available" not in page and "print" in page


def test_numbers_are_those_of_the_calls(crank: Path) -> None:
    mech, said = sr.library.four_bar(), plain(crank)
    assert mech.mobility(mech.default.q).explain().split("\n")[0] in said
    for mode in sr.linearize(mech, sr.equilibrium(mech).q).modes:
        assert mode.text in said
    assert sr.simulate(mech, (0.0, 0.3)).message in said


def test_sweeps_go_where_they_are_told(tmp_path: Path) -> None:
    from sarrus.viz.report import _path

    mech = sr.library.four_bar()
    q, name, said = _path(mech, "crank", [0.5, 0.6, 0.7])
    assert name == "crank" and not said
    np.testing.assert_allclose(q[:, 0], [0.5, 0.6, 0.7])
    whole, _, _ = _path(mech, None, None)
    assert np.ptp(whole[:, 0]) == pytest.approx(2.0 * np.pi) and np.all(np.diff(whole[:, 0]) >= 0.0)
    assert all(np.abs(mech.terms(pose, np.zeros(3)).phi).max() < 1e-9 for pose in whole[::10])
    with pytest.raises(sr.UnknownNameError, match="unknown"):
        mech.report(tmp_path / "x.html", sweep="kronk")
    assert not list(tmp_path.iterdir())


def test_a_given_run_and_what_cannot_be_made(tmp_path: Path) -> None:
    run = sr.simulate(sr.library.rolling_disk(), (0.0, 0.05), dt=5e-3)
    page = run.report(tmp_path / "run.html")
    said = plain(page)
    assert run.message in said and ("No actuators" in said or "Not available" in said)
    for wrong, message in (("x.pdf", r"written as \.html"), ("x.html", "t_end must be a positive time")):
        with pytest.raises(sr.InputError, match=message):
            sr.library.pendulum().report(tmp_path / wrong, t_end=0.0)


def test_names_are_no_markup(tmp_path: Path) -> None:
    spec = sr.MechanismSpec(name=NASTY)
    spec.body(NASTY, joint=sr.Revolute("y"), mass=1.0, com=(1, 0, 0), inertia=(0, 0.1, 0.1), limits=(-1, 1))
    mech = spec.compile()
    run = sr.simulate(mech, (0.0, 0.02), dt=1e-2)
    pages = [mech.report(tmp_path / "x.html", t_end=0.02).read_text(), mech._repr_html_(), run._repr_html_()]
    pages += [mech.mobility()._repr_html_(), sr.linearize(mech)._repr_html_(), run.animation()._repr_html_()]
    for page in pages:
        assert "<script" not in page


@pytest.mark.skipif(BROWSER is None, reason="no Chromium here")
def test_it_prints(crank: Path, tmp_path: Path) -> None:
    pdf = tmp_path / "x.pdf"
    command = [str(BROWSER), "--headless=new", "--no-sandbox", f"--user-data-dir={tmp_path / 'home'}"]
    subprocess.run(
        [*command, f"--print-to-pdf={pdf}", crank.as_uri()], capture_output=True, timeout=90, check=False
    )
    if not pdf.exists():
        pytest.skip("this Chromium prints nothing")
    pages = len(re.findall(rb"/Type\s*/Page\b", pdf.read_bytes()))
    assert 2 <= pages <= 8


@pytest.mark.skipif(BROWSER is None, reason="no Chromium here")
def test_nothing_is_wider_than_the_paper(tmp_path: Path) -> None:
    """A4 less margins, and a phone; the excavator has long names and many columns."""
    from bench.chromium import Chromium

    path = sr.viz.report(sr.library.excavator(), tmp_path / "x.html", t_end=0.2)
    with Chromium() as browser:
        page = browser.page()
        page.open(path.as_uri())
        for width, media, kinds in (
            (673, "print", "img, p, pre, .row, table"),
            (390, "screen", "img, p, pre"),
        ):
            page.call("Emulation.setEmulatedMedia", media=media)
            page.size(width, 900)
            wide = f"[...document.body.querySelectorAll('{kinds}')].filter((e) =>"
            wide += " e.getBoundingClientRect().right > innerWidth + 0.5).map((e) => e.tagName + e.className)"
            assert page.evaluate(wide) == [], media

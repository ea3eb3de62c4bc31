"""Pages that play in any browser: what is written in them is what was computed, and a browser shows it."""

from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sarrus as sr

BROWSER = shutil.which("chromium") or shutil.which("google-chrome") or shutil.which("chromium-browser")
SQUARE = (0.2, 0.3, 0.4)


def data_of(path: Path) -> dict[str, Any]:
    """The numbers of a page, arrays unpacked."""
    found = re.search(
        r'<script type="application/json" id="data">(.*?)</script>', path.read_text(), re.DOTALL
    )
    assert found is not None
    data: dict[str, Any] = json.loads(found[1])
    data["poses"] = unpacked(data["poses"]).reshape(data["count"], -1, 7)
    for arrow in data["arrows"]:
        arrow["data"] = unpacked(arrow["data"]).reshape(data["count"], 6)
    return data


def unpacked(text: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), dtype="<f4")


def held(duration: float = 0.2) -> sr.Trajectory:
    """A box between two arms that sag: nothing holds them but the weld of the hands."""
    return sr.simulate(sr.library.dual_arm_box(), (0.0, duration), dt=2e-3)


@pytest.mark.parametrize(
    "title", ["@SCRIPT@ @DATA@ @TITLE@", "</script><script>alert(1)</script>", "\udcff \\1"]
)
def test_any_title_is_shown_as_it_is(title: str, tmp_path: Path) -> None:
    mech = sr.library.pendulum()
    plain = sr.viz.export(mech, tmp_path / "plain.html", title="plain").read_text()
    page = sr.viz.export(mech, tmp_path / "page.html", title=title, caption=title)
    assert data_of(page)["title"] == data_of(page)["caption"] == title
    scripts = re.findall(r"<script>(.*?)</script>", page.read_text(), re.DOTALL)
    assert scripts == re.findall(r"<script>(.*?)</script>", plain, re.DOTALL) and len(scripts) == 1


@pytest.mark.parametrize("name", list(sr.library.names()))
def test_every_mechanism_has_a_page(name: str, tmp_path: Path) -> None:
    mech = getattr(sr.library, name)()
    path = sr.viz.export(mech, tmp_path / f"{name}.html")
    data = data_of(path)
    assert data["title"] == name and data["count"] == 1 and data["solids"]
    assert path.stat().st_size < 80_000
    bodies = len(mech.body_names)
    for solid in data["solids"]:
        for end in ("a", "b", "at"):
            assert end not in solid or 0 <= solid[end][0] < bodies
    outside = re.findall(r"(?:src|href)=|https?:|import ", path.read_text())
    assert not outside  # nothing is fetched


def test_poses_are_those_of_the_run(tmp_path: Path) -> None:
    run = held()
    data = data_of(run.export(tmp_path / "held.html", fps=50))
    assert data["count"] == 11 and data["step"] == pytest.approx(0.02)
    for i, q in enumerate(run.at(np.linspace(0.0, 0.2, 11)).q):
        for b, name in enumerate(run.system.body_names):
            pose = run.system.pose(q, name)
            np.testing.assert_allclose(data["poses"][i, b, :3], pose.xyz, atol=1e-6)
            found = sr.Pose(quat=data["poses"][i, b, 3:].astype(float))
            np.testing.assert_allclose(found.rotation, pose.rotation, atol=1e-6)
    turns = np.sum(data["poses"][1:, :, 3:] * data["poses"][:-1, :, 3:], axis=2)
    assert turns.min() > 0.0  # neighbours can be mixed


def test_the_box_has_its_true_edges(tmp_path: Path) -> None:
    """By its inertia, or as told where the inertia is that of something else."""
    mech = sr.library.dual_arm_box()
    for system, shapes in ((mech, None), (mech.with_(inertia={"box": (1.0, 1.0, 1.0)}), {"box": SQUARE})):
        data = data_of(sr.viz.export(system, tmp_path / "box.html", shapes=shapes))
        (box,) = (solid for solid in data["solids"] if solid["kind"] == "box")
        np.testing.assert_allclose(2.0 * np.array(box["half"]), SQUARE, atol=1e-9)
        assert box["at"] == [mech.body_names.index("box"), 0.0, 0.0, 0.0]
    heavy = data_of(sr.viz.export(mech.with_(inertia={"box": (1e-4, 1e-4, 1e-4)}), tmp_path / "box.html"))
    assert not any(solid["kind"] == "box" for solid in heavy["solids"])  # hands would hang in the air


def test_arrows_are_the_forces_on_the_object(tmp_path: Path) -> None:
    run = held()
    push = np.outer(run.t, [0.0, 0.0, -50.0])
    data = data_of(
        run.export(tmp_path / "held.html", fps=50, arrows={"push": ("box", (0.0, 0.0, 0.2), push)})
    )
    left, right, given = (arrow["data"] for arrow in data["arrows"])
    i = 100
    motion = run.system.forward_dynamics(run.q[i], run.v[i], tau=run.tau[i])
    for arrow, name in ((left, "grip_left"), (right, "grip_right")):
        np.testing.assert_allclose(
            arrow[10, 3:], -motion.reaction(name, frame="world")[:3], rtol=1e-5, atol=1e-4
        )
    face = run.system.pose(run.q[i], "box").apply((0.0, 0.15, 0.0))
    np.testing.assert_allclose(left[10, :3], face, atol=1e-6)
    np.testing.assert_allclose(given[10, 3:], push[i], atol=1e-5)
    assert "up to 10 N" in data["arrows"][2]["legend"]
    assert not data_of(run.export(tmp_path / "held.html", forces=False))["arrows"]


def test_loops_that_open_have_no_force(tmp_path: Path) -> None:
    """A run with switches; the arrow vanishes while its loop is open."""
    mech = sr.library.dual_arm_box()
    run = sr.simulate(mech, (0.0, 0.2), dt=2e-3, switches=[sr.Switch("grip_left", off=0.1)])
    left, right = (arrow["data"] for arrow in data_of(run.export(tmp_path / "x.html", fps=100))["arrows"])
    assert np.all(np.linalg.norm(left[:10, 3:], axis=1) > 1.0) and np.all(left[11:, 3:] == 0.0)
    assert np.all(np.linalg.norm(right[:, 3:], axis=1) > 0.1)


def test_several_runs_on_one_page(tmp_path: Path) -> None:
    """The box gets heavier between them; poses and forces of each are there, charts run through."""
    first = held(0.1)
    heavy = first.system.with_(mass={"box": 3.0})
    second = sr.simulate(heavy, (0.1, 0.2), first.q[-1], first.v[-1], dt=2e-3)
    charts = {"z [m]": {"box": np.append(first.q[:, 16], second.q[:, 16])}}
    data = data_of(sr.viz.export([first, second], tmp_path / "x.html", fps=100, charts=charts))
    assert data["count"] == 21
    box = first.system.body_names.index("box")
    np.testing.assert_allclose(data["poses"][:10, box, 2], first.q[:-1:5, 16], atol=1e-6)
    np.testing.assert_allclose(data["poses"][10:, box, 2], second.q[::5, 16], atol=1e-6)
    np.testing.assert_allclose(
        unpacked(data["plots"][0]["lines"][0]["data"]), data["poses"][:, box, 2], atol=1e-6
    )
    motion = heavy.forward_dynamics(second.q[-1], second.v[-1])
    force = -motion.reaction("grip_left", frame="world")[:3]
    np.testing.assert_allclose(data["arrows"][0]["data"][-1, 3:], force, rtol=1e-5, atol=1e-4)
    with pytest.raises(sr.SarrusError, match=r"one ends at 0.1 s, the next begins at 0 s"):
        sr.viz.export([first, first], tmp_path / "x.html")
    with pytest.raises(sr.SarrusError, match="the same bodies"):
        sr.viz.export([first, sr.simulate(sr.library.pendulum(), (0.1, 0.2))], tmp_path / "x.html")


def test_charts_and_traces(tmp_path: Path) -> None:
    run = held()
    charts = {"height [m]": {"box": run.q[:, 16], "wanted--": np.full(len(run), 0.45)}}
    data = data_of(run.export(tmp_path / "x.html", fps=50, charts=charts, trace=("box", (0.1, 0.0, 0.0))))
    box, wanted = data["plots"][0]["lines"]
    np.testing.assert_allclose(unpacked(box["data"]), run.q[::10, 16], atol=1e-6)
    assert (box["dashed"], wanted["dashed"], wanted["name"]) == (False, True, "wanted")
    assert data["traces"][0]["at"] == [run.system.body_names.index("box"), 0.1, 0.0, 0.0]


def test_a_title_cannot_end_the_script(tmp_path: Path) -> None:
    path = sr.viz.export(sr.library.pendulum(), tmp_path / "x.html", title="</script><b>&")
    assert data_of(path)["title"] == "</script><b>&"
    assert path.read_text().count("</script>") == 2 and "<title>&lt;/script" in path.read_text()


def test_a_run_that_failed_says_why(tmp_path: Path) -> None:
    run = sr.simulate(sr.library.flyball_governor(), (0.0, 0.5), dt=2e-3)
    assert not run.success and data_of(run.export(tmp_path / "x.html"))["caption"] == run.message


def test_bad_input(tmp_path: Path) -> None:
    mech, run = sr.library.dual_arm_box(), held(0.01)
    with pytest.raises(sr.SarrusError, match=r"written as \.html, got .*gif"):
        run.export(tmp_path / "x.gif")
    with pytest.raises(sr.SarrusError, match="unknown body 'bix'"):
        sr.viz.export(mech, tmp_path / "x.html", shapes={"bix": SQUARE})
    with pytest.raises(sr.SarrusError, match="edges of 'box' must be positive"):
        sr.viz.export(mech, tmp_path / "x.html", shapes={"box": (0.1, 0.0, 0.1)})
    with pytest.raises(sr.SarrusError, match="thickness must be a positive length"):
        run.export(tmp_path / "x.html", thickness=-1.0)
    with pytest.raises(sr.SarrusError, match=r"arrow 'p' must have shape \(\d+, 3\)"):
        run.export(tmp_path / "x.html", arrows={"p": ("box", (0.0, 0.0, 0.0), np.zeros(3))})
    with pytest.raises(sr.SarrusError, match="'y' of chart 'x' must have shape"):
        run.export(tmp_path / "x.html", charts={"x": {"y": [1.0]}})
    with pytest.raises(sr.SarrusError, match="need a trajectory"):
        sr.viz.export(mech, tmp_path / "x.html", trace=("box", (0.0, 0.0, 0.0)))
    with pytest.raises(sr.SarrusError, match="a trajectory has its own poses"):
        run.export(tmp_path / "x.html", q=mech.default.q)
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(BROWSER is None, reason="no Chromium here")
def test_a_browser_shows_it(tmp_path: Path) -> None:
    """Headless, drawn in software: the box and both arms are there in their colours."""
    image = pytest.importorskip("PIL.Image")
    page, shot = held().export(tmp_path / "x.html"), tmp_path / "x.png"
    flags = "--headless=new --no-sandbox --use-gl=angle --use-angle=swiftshader --enable-unsafe-swiftshader"
    size = ["--window-size=600,450", "--virtual-time-budget=2000", f"--user-data-dir={tmp_path / 'home'}"]
    where = [f"--screenshot={shot}", f"{page.as_uri()}#t=0.1&theme=light"]
    subprocess.run(
        [str(BROWSER), *flags.split(), *size, *where], capture_output=True, timeout=60, check=False
    )
    if not shot.exists():
        pytest.skip("this Chromium draws nothing without a display")
    pixels = np.asarray(image.open(shot).convert("RGB"), dtype=int)[60:380]
    red, green, blue = pixels.reshape(-1, 3).T
    assert np.sum((red - blue > 60) & (green - blue > 40)) > 2000  # the box
    assert np.sum(blue - red > 60) > 300  # the left arm, behind the box
    assert np.sum((red - blue > 90) & (red - green > 50)) > 300  # the right arm


def test_pages_and_reports_load_nothing(tmp_path: Path) -> None:
    """Their policy forbids requests; reports have no scripts at all."""
    run = sr.simulate(sr.library.four_bar(), (0, 0.1))
    page, report = (
        run.export(tmp_path / "page.html").read_text(),
        run.report(tmp_path / "run.html").read_text(),
    )
    for text in (page, report):
        policy = re.search(r'http-equiv="Content-Security-Policy"\s+content="([^"]*)"', text)
        assert policy is not None and policy[1].startswith("default-src 'none';")
        assert "connect-src" not in policy[1] and "http" not in policy[1]
        assert text.index("Content-Security-Policy") < text.index("<style")
    assert "<script" not in report

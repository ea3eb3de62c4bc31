"""Studios of drawings in a real browser: singular poses, names, motors that hold, distances that move."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import sarrus as sr
from bench.chromium import Chromium, Page, find_chromium
from tests.studio_kernel import needs_kernel
from tests.viz.test_studio_kernel import crane
from tests.viz.test_studios import CLOSED, fine, frames, opened

pytestmark = [
    needs_kernel,
    pytest.mark.skipif(find_chromium() is None, reason="no Chromium: apt-get install chromium"),
]


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with Chromium() as browser:
        yield browser.page()


def toggle_press() -> sr.Mechanism:
    """Upper and lower are equally long: with the ram at the head, the two swing together or apart."""
    spec, hinge = sr.MechanismSpec(gravity=(0, -9.81, 0), name="toggle press"), sr.Revolute("z")
    half = np.sqrt(0.32**2 - 0.1**2)
    places = {"motor": (-0.6, 0, 0), "wrist": (-0.45, 0.05, 0), "knee": (-0.1, 0.1, 0)}
    places |= {"head": (0, 0.1 + half, 0), "toe": (0, 0.1 - half, 0)}
    for name, xyz in places.items():
        spec.point(name, xyz)
    bars = {"crank": ("motor", "wrist"), "rod": ("wrist", "knee"), "upper": ("head", "knee")}
    for name, ends in (bars | {"lower": ("knee", "toe")}).items():
        spec.link(name, *ends, mass=1.0)
    spec.part("ram", at=sr.Pose(places["toe"]), shape=sr.Box((0.1, 0.1, 0.1)))
    hinges = {"shaft": ("ground", "crank", "motor"), "elbow": ("crank", "rod", "wrist")}
    hinges |= {"top": ("ground", "upper", "head"), "knee_a": ("upper", "rod", "knee")}
    hinges |= {"knee_b": ("upper", "lower", "knee"), "foot": ("lower", "ram", "toe")}
    for name, (a, b, at) in hinges.items():
        spec.joint(name, a, b, hinge, at=at)
    spec.joint("guide", "ground", "ram", sr.Prismatic("y"), at="toe")
    return spec.actuate("shaft").compile()


def test_the_singular_pose_of_a_folded_knee_is_reached(page: Page, tmp_path: Path) -> None:
    """From smallest singular values of 0.1 down to 0.015; both branches leave it both ways."""
    mech = toggle_press()
    path = mech.sweep("guide", np.linspace(0, 0.606, 200)).q
    sizes = np.array([mech.mobility(q).singular_values[5] for q in path])
    for start in (0.098, 0.08, 0.05, 0.015):
        opened(page, mech, tmp_path, q=path[np.argmin(np.abs(sizes - start))], parameters={})
        chip = "document.getElementById('nearness')"
        assert page.evaluate(f"{chip}.textContent").startswith("near a singular pose: smallest")
        red, green, _ = page.evaluate(
            f"getComputedStyle({chip}).backgroundColor.match(/[0-9]+/g).map(Number)"
        )
        assert red > green, "amber or red, never green"
        assert not page.evaluate("document.getElementById('approach').hidden")
        page.evaluate("document.getElementById('approach').click()")
        assert page.evaluate("studio.found.nearness") < 1e-10
        q = np.array(page.evaluate("Array.from(studio.kernel.of('q'))"))
        assert page.evaluate("studio.branches.length") == 2 * len(mech.branches(q)) == 4
        offered = page.evaluate(
            "[...document.querySelectorAll('#branches button')].map((b) => b.textContent)"
        )
        parts = ("crank", "rod", "upper", "lower", "ram")
        assert len(set(offered)) == 4 and all(any(name in one for name in parts) for one in offered)
    page.evaluate("document.querySelector('#branches button').click()")
    assert page.evaluate("studio.found.nearness") > 1e-3
    assert page.evaluate("studio.kernel.gap()") < CLOSED
    fine(page)


def test_where_no_singular_pose_is_near_the_page_says_how_near_it_comes(page: Page, tmp_path: Path) -> None:
    mech = sr.library.four_bar()  # a crank-rocker has none
    opened(page, mech, tmp_path)
    q = page.evaluate("Array.from(studio.kernel.of('q'))")
    page.evaluate("studio.approach()")
    said = page.evaluate("document.getElementById('message').textContent")
    assert said.startswith("no singular pose near by: the smallest singular value falls to ")
    assert page.evaluate("Array.from(studio.kernel.of('q'))") == q
    fine(page)


def test_names_are_those_of_the_drawing(page: Page, tmp_path: Path) -> None:
    """No name of a copy of a part, nor of the rows that hold it, is read anywhere."""
    mech = toggle_press()
    opened(page, mech, tmp_path)
    assert "rod@knee_a" in mech.body_names, "the test needs a cut loop"
    for box in ("show-loops", "show-joints"):
        page.evaluate(f"document.getElementById('{box}').click()")
    frames(page)
    bodies = page.evaluate("[...document.querySelectorAll('#body option')].map((o) => o.textContent)")
    assert bodies == ["crank", "rod", "upper", "lower", "ram"]
    said = page.evaluate("document.getElementById('mobility').textContent")
    assert "rod at knee_a: tz, rx, ry; ram at foot: tz, rx, ry" in said
    tips = set()
    for arrow in page.evaluate("studio.shownArrows.map(({ at }) => studio.scene.pixels(at))"):
        page.mouse("mouseMoved", *arrow, buttons=0)
        frames(page)
        tips.add(page.evaluate("document.getElementById('tip').textContent"))
    everything = page.evaluate(
        "document.body.textContent.replace(document.getElementById('data').textContent, '')"
    )
    scripts = page.evaluate("document.scripts[document.scripts.length - 1].textContent")
    for text in (*tips, everything.replace(scripts, "")):
        assert "@" not in text and ".weld" not in text
    assert any("knee_a on rod" in tip for tip in tips)
    page.evaluate(
        "document.getElementById('show-loops').click(), document.getElementById('show-joints').click()"
    )
    frames(page)
    page.mouse(
        "mouseMoved",
        *page.evaluate("studio.scene.pixels(studio.bench.bodies.place([4, 0.2, 0, 0]))"),
        buttons=0,
    )
    frames(page)
    assert page.evaluate("document.getElementById('tip').textContent") == "rod"
    fine(page)


def test_arrows_are_the_reactions_of_the_joints_as_drawn(page: Page, tmp_path: Path) -> None:
    mech = toggle_press()
    opened(page, mech, tmp_path)
    for box in ("show-loops", "show-joints"):
        page.evaluate(f"document.getElementById('{box}').click()")
    frames(page)
    shown = page.evaluate("studio.shownArrows.map(({ name, newton }) => [name.split(' on ')[0], newton])")
    assert sorted(name for name, _ in shown) == sorted(mech.names)
    motion = mech.forward_dynamics(mech.default.q, mech.default.v)
    for name, newton in shown:
        assert newton == pytest.approx(np.linalg.norm(motion.reaction(name, frame="world")[:3]), rel=1e-9)
    fine(page)


HOLD = """(() => {
  const menu = document.querySelectorAll('#motors select')[0];
  menu.value = 'hold';
  menu.dispatchEvent(new Event('change'));
  studio.toggle(true);
  for (let i = 0; i < 120; i++) studio.advance(1 / 60);
  studio.toggle(false);
  const k = studio.kernel;
  return [k.of('q')[0] - studio.bench.settings.held[0], k.of('tau')[0], k.t];
})()"""


def test_a_held_motor_does_not_sag(page: Page, tmp_path: Path) -> None:
    """A bar held level carries its weight: m g c."""
    spec = sr.MechanismSpec()
    spec.body("arm", joint=sr.Revolute("y"), mass=3.0, com=(0.4, 0, 0), inertia=(0.1, 0.1, 0.1))
    opened(page, spec.compile(), tmp_path)
    off, torque, t = page.evaluate(HOLD)
    assert t > 1.9 and abs(off) < 1e-9 and abs(torque) == pytest.approx(3.0 * 9.81 * 0.4, rel=1e-9)
    opened(page, toggle_press(), tmp_path)
    assert abs(page.evaluate(HOLD)[0]) < 1e-9
    fine(page)


def test_all_motors_of_a_loop_hold_together(page: Page, tmp_path: Path) -> None:
    """Three motors on one freedom: none of them winds up."""
    mech = sr.library.four_bar()
    opened(page, mech, tmp_path)
    page.evaluate(
        "studio.data.motors.forEach(({ index, q }) => { studio.bench.settings.hold[index] = 1;"
        " studio.bench.settings.held[index] = studio.kernel.of('q')[q]; }), studio.bench.apply(), 0"
    )
    page.evaluate(
        "studio.toggle(true); for (let i = 0; i < 120; i++) studio.advance(1 / 60); studio.toggle(false)"
    )
    q = np.array(page.evaluate("Array.from(studio.kernel.of('q'))"))
    np.testing.assert_allclose(q, mech.default.q, atol=1e-6)
    assert np.max(np.abs(page.evaluate("Array.from(studio.bench.feed)"))) < 1e3
    fine(page)


def test_a_motor_at_its_limit_says_so(page: Page, tmp_path: Path) -> None:
    spec = sr.MechanismSpec()
    spec.body("arm", joint=sr.Revolute("y"), mass=3.0, com=(0.4, 0, 0), inertia=(0.1, 0.1, 0.1))
    opened(page, spec.actuate("arm", limits=(-5.0, 5.0)).compile(), tmp_path)
    off, torque, _ = page.evaluate(HOLD)
    assert abs(off) > 0.1 and abs(torque) == 5.0
    assert page.evaluate("studio.limited") == "at the limit of its motor: arm"
    fine(page)


@pytest.mark.parametrize("driven", [False, True])
def test_distances_that_move(driven: bool, page: Page, tmp_path: Path) -> None:
    """An actuator along a line is dragged and held; a driven length is played as Python simulates it."""
    mech = crane(driven)
    opened(page, mech, tmp_path)
    if driven:
        page.evaluate(
            "studio.toggle(true); for (let i = 0; i < 60; i++) studio.advance(1 / 60); studio.toggle(false)"
        )
        t, q = page.evaluate("[studio.kernel.t, Array.from(studio.kernel.of('q'))]")
        native = sr.simulate(mech, (0.0, t), rtol=1e-9)
        np.testing.assert_allclose(q, native.q[-1], atol=1e-5)
    else:
        page.evaluate("studio.kernel.drag(2, [1.9, 0, 0], [1.8, 0.6, 0], 100)")
        assert page.evaluate("studio.kernel.of('q')[1]") == pytest.approx(np.arctan2(0.6, 1.8), abs=1e-3)
    assert page.evaluate("studio.kernel.gap()") < CLOSED
    fine(page)


def test_new_parts_have_colours_of_their_own(page: Page, tmp_path: Path) -> None:
    opened(page, toggle_press(), tmp_path)
    page.evaluate("studio.editor.make({ kind: 'bar', from: [0, 0.1, 0.2, 0], to: [-1, 0.5, 0.6, 0] })")
    page.evaluate("studio.editor.make({ kind: 'bar', from: [6, -0.05, 0.2, 0], to: [-1, 0.3, 0.9, 0] })")
    page.evaluate("studio.editor.make({ kind: 'slider', on: [4, -0.3, 0.07, 0], along: [1, 0, 0] })")
    shown = page.evaluate(
        "studio.data.film.solids.filter((s) => s.color !== PIN_COLOR).map(({ name, color }) => [name, color])"
    )
    parts = ("crank", "rod", "upper", "lower", "ram", "bar 1", "bar 2", "slider 1")
    assert len({dict(map(tuple, shown))[name] for name in parts}) == len(parts)
    fine(page)

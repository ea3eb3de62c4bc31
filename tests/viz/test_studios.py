"""Studios in a real browser: drags, time, singular poses, parameters, links, hostile names."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sarrus as sr
from bench.chromium import Chromium, Page, find_chromium
from sarrus.errors import InputError
from sarrus.viz import studios
from tests.studio_kernel import needs_kernel

pytestmark = needs_kernel
needs_browser = pytest.mark.skipif(find_chromium() is None, reason="no Chromium: apt-get install chromium")
READY = "window.studio !== undefined && window.studio.before !== undefined"
CLOSED = 1e-12  # [m, rad]


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with Chromium() as browser:
        yield browser.page()


def opened(page: Page, shown: Any, folder: Path, hash_: str = "", **options: Any) -> Page:
    path = shown.studio(folder / "studio.html", **options)
    page.size(1100, 760)
    page.open(path.as_uri() + hash_, READY)
    return page


def frames(page: Page, n: int = 3) -> None:
    page.evaluate(
        f"(async () => {{ for (let i = 0; i < {n}; i++) await new Promise(requestAnimationFrame); }})()"
    )


def fine(page: Page) -> None:
    assert page.problems() == []
    assert page.requests() == []


def place(page: Page, body: int, point: str = "studio.data.bodies[B].com") -> tuple[float, float]:
    """Pixels of a point of a body."""
    at = f"studio.scene.pixels(studio.bench.bodies.place([{body}, ...{point.replace('B', str(body), 1)}]))"
    x, y = page.evaluate(at)
    return x, y


def drag(page: Page, start: tuple[float, float], way: list[tuple[float, float]]) -> None:
    page.mouse("mousePressed", *start)
    x, y = start
    for dx, dy in way:
        x, y = x + dx, y + dy
        page.mouse("mouseMoved", x, y)
        frames(page)
        assert page.evaluate("studio.kernel.gap()") < CLOSED
    page.mouse("mouseReleased", x, y)


@needs_browser
@pytest.mark.parametrize("name", ["four_bar", "bricard", "stewart"])
def test_drags_by_mouse_follow_and_stay_closed(name: str, page: Page, tmp_path: Path) -> None:
    mech = getattr(sr.library, name)()
    opened(page, mech, tmp_path, parameters={})
    before = np.array(page.evaluate("Array.from(studio.kernel.of('q'))"))
    taken = 0
    for body in range(1, min(len(mech.body_names), 4)):
        x, y = place(page, body)
        if not (0 < x < 700 and 0 < y < 650):  # it has swung out of the picture
            continue
        drag(page, (x, y), [(9, -6), (-30, 10)])
        taken += page.evaluate("studio.history.done.length") > taken
    after = np.array(page.evaluate("Array.from(studio.kernel.of('q'))"))
    assert taken and np.linalg.norm(after - before) > 1e-3
    assert np.max(np.abs(mech.terms(after, np.zeros(mech.nv)).phi)) < CLOSED
    fine(page)


@needs_browser
def test_the_dragged_point_is_where_the_finger_is(page: Page, tmp_path: Path) -> None:
    """On a phone, by touch; the hand of an open arm reaches its target exactly."""
    mech = sr.library.robot_arm()
    path = mech.studio(tmp_path / "arm.html")
    page.size(390, 780, phone=True)
    page.open(path.as_uri(), READY)
    x, y = place(page, len(mech.body_names) - 1)
    page.touch("touchStart", [(x, y)])
    for k in range(1, 6):
        page.touch("touchMove", [(x - 4 * k, y - 3 * k)])
        frames(page, 4)
    at, target = page.evaluate(
        "[studio.bench.bodies.place([studio.grabbed.body, ...studio.grabbed.point]), studio.grabbed.target]"
    )
    page.touch("touchEnd", [])
    np.testing.assert_allclose(at, target, atol=1e-6)
    assert page.evaluate("studio.grabbed") is None
    fine(page)


def long_rod() -> sr.Mechanism:
    """A slider-crank whose rod is 2.5 times as long as its crank."""
    spec, hinge, inertia = sr.MechanismSpec(), sr.Revolute("y"), (0.1, 0.1, 0.1)
    spec.body("crank", joint=hinge, mass=1.0, com=(0.5, 0, 0), inertia=inertia)
    spec.body(
        "rod",
        parent="crank",
        joint=hinge,
        at=sr.Pose(xyz=(1, 0, 0)),
        mass=1.0,
        com=(1.2, 0, 0),
        inertia=inertia,
    )
    spec.constrain("slide", sr.PointOnLine("ground", (0, 0, 0), "rod", (2.5, 0, 0), (1, 0, 0)))
    return spec.compile()


# A thousand drags, each as a person makes them: take a body somewhere, lead it, let go.
DRAGS = """(() => {
  let seed = 7;
  const random = () => ((seed = (seed * 1103515245 + 12345) % 2147483648) / 1073741824) - 1;
  let worst = 0; const signs = new Set(); const seen = new Set();
  for (let n = 0; n < 1000; n++) {
    const body = 1 + Math.floor((0.5 + 0.5 * random()) * (studio.data.bodies.length - 1.001));
    const { com } = studio.data.bodies[body];
    const at = studio.bench.bodies.place([body, ...com.map((x) => x + 0.3 * random())]);
    studio.take(body, at);
    studio.grabbed.target = at.map((x) => x + 1.5 * studio.data.length * random());
    for (let i = 0; i < 2; i++) studio.advance(1 / 60);
    studio.release();
    worst = Math.max(worst, studio.kernel.gap());
    const q = studio.kernel.of("q");
    signs.add(Math.sign(SIGN));
    seen.add(Math.round(q[0] * 4));
  }
  return { worst, signs: Array.from(signs), poses: seen.size };
})()"""


@needs_browser
@pytest.mark.parametrize(
    ("make", "sign"),
    [
        (sr.library.four_bar, "Math.sin(q[2])"),  # a crank-rocker: coupler and rocker are never in line
        (long_rod, "Math.cos(q[0] + q[1])"),  # the rod never stands across the slide
    ],
)
def test_a_thousand_drags_stay_on_their_branch(make: Any, sign: str, page: Page, tmp_path: Path) -> None:
    opened(page, make(), tmp_path)
    found = page.evaluate(DRAGS.replace("SIGN", sign))
    assert found["worst"] < CLOSED
    assert found["poses"] > 5, "the drags must go around"
    assert len(found["signs"]) == 1
    fine(page)


@needs_browser
def test_limits_hold_and_the_step_is_nearest_in_the_mass_metric(page: Page, tmp_path: Path) -> None:
    """Of two slides on each other the light one moves; beyond its limit the heavy one goes on."""
    spec = sr.MechanismSpec()
    spec.body("heavy", joint=sr.Prismatic("x"), mass=3.0, inertia=(1, 1, 1))
    spec.body(
        "light", parent="heavy", joint=sr.Prismatic("x"), mass=1.0, inertia=(1, 1, 1), limits=(-0.5, 0.05)
    )
    opened(page, spec.compile(), tmp_path)
    go = "studio.kernel.drag(2, [0, 0, 0], [TARGET, 0, 0], 100); Array.from(studio.kernel.of('q'))"
    # kinetic energy 3/2 x^2 + 1/2 (x + y)^2 with x + y given: x = 0
    np.testing.assert_allclose(page.evaluate(go.replace("TARGET", "0.04")), [0.0, 0.04], atol=1e-5)
    np.testing.assert_allclose(page.evaluate(go.replace("TARGET", "0.3")), [0.25, 0.05], atol=1e-5)
    fine(page)


@needs_browser
def test_time_plays_slows_pauses_and_goes_back(page: Page, tmp_path: Path) -> None:
    mech = sr.library.four_bar()
    opened(page, mech, tmp_path)
    page.evaluate("document.getElementById('motors-hold').click()")
    page.evaluate("document.getElementById('speed').value = '0.5'; studio.toggle(); 0")
    t, total, first, q = page.evaluate(
        """(() => {
          // a frame that runs out of its computing time covers less
          for (let i = 0; i < 30 || (i < 300 && studio.kernel.t < 0.25); i++) studio.advance(1 / 60);
          studio.toggle(false);
          const { states, now } = studio.history;
          return [now.t, now.values.energy[2], states[0].values.energy[2], Array.from(now.q)];
        })()"""
    )
    assert t >= 0.25 and total == pytest.approx(first, abs=1e-5)
    native = sr.simulate(mech, (0.0, t), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(q, native.q[-1], atol=1e-4)
    page.evaluate(
        "document.getElementById('speed').value = '-1'; studio.toggle(true); studio.advance(1 / 60)"
    )
    assert page.evaluate("studio.kernel.t") < t
    page.evaluate("studio.toggle(false); studio.seek(0)")
    assert page.evaluate("studio.kernel.t") == 0.0
    page.evaluate("studio.undo('undo'); studio.undo('undo')")
    assert page.evaluate("studio.history.now.t") == 0.0
    fine(page)


@needs_browser
def test_dynamic_hand_motors_and_gravity(page: Page, tmp_path: Path) -> None:
    opened(page, sr.library.pendulum(), tmp_path)
    page.evaluate("studio.setMode('dynamic'); studio.set(() => (studio.bench.scale = 0)); 0")
    x, y = place(page, 1)
    page.mouse("mousePressed", x, y)
    page.mouse("mouseMoved", x + 60, y - 30)
    page.wait("studio.kernel.t > 0.3")
    assert page.evaluate("studio.playing && studio.grabbed.stiffness > 0")
    page.mouse("mouseReleased", x + 60, y - 30)
    page.evaluate("studio.toggle(false); studio.reset(); 0")
    hold = "studio.bench.settings.hold[0] = studio.bench.inertia(0); studio.bench.settings.held[0] = 0.7"
    page.evaluate(
        f"studio.set(() => {{ {hold} }}); for (let i = 0; i < 90; i++) studio.kernel.advance(i / 30); 0"
    )
    assert page.evaluate("studio.kernel.of('q')[0]") == pytest.approx(0.7, abs=1e-3)
    fine(page)


@needs_browser
def test_the_motor_menu_pushes_and_holds(page: Page, tmp_path: Path) -> None:
    """As a person uses it: the menu of a motor, then its slider."""
    spec = sr.MechanismSpec(gravity=(0, 0, 0))
    spec.body("cart", joint=sr.Prismatic("x"), mass=2.0, inertia=(1, 1, 1))
    opened(page, spec.actuate("cart", limits=(-3.0, 3.0)).compile(), tmp_path)
    choose = "(() => {{ const menu = document.querySelector('#motors select'); menu.value = '{}'; "
    choose += "menu.dispatchEvent(new Event('change')); return menu.value; }})()"
    slide = (
        "(() => {{ const s = [...document.querySelectorAll('#motors .row')].filter((r) => !r.hidden).pop()"
    )
    slide += (
        ".querySelector('input'); s.value = {}; s.dispatchEvent(new Event('input')); return +s.max; }})()"
    )
    assert page.evaluate(choose.format("force")) == "force"
    assert page.evaluate(slide.format(1.5)) == 3.0
    # x = F t^2 / 2 m
    found = page.evaluate(
        "studio.kernel.advance(0.8); [studio.kernel.of('q')[0], studio.kernel.of('tau')[0]]"
    )
    np.testing.assert_allclose(found, [1.5 * 0.8**2 / 4.0, 1.5], rtol=1e-6)
    assert page.evaluate(choose.format("hold")) == "hold"
    page.evaluate(slide.format(0.3))
    page.evaluate("studio.kernel.advance(8); 0")
    assert page.evaluate("studio.kernel.of('q')[0]") == pytest.approx(0.3, abs=1e-3)
    assert page.evaluate(choose.format("free")) == "free"
    page.evaluate("studio.undo('undo')")  # of the menu
    assert page.evaluate("document.querySelector('#motors select').value") == "hold"
    fine(page)


@needs_browser
def test_forces_are_those_of_python(page: Page, tmp_path: Path) -> None:
    mech = sr.library.slider_crank()
    x = mech.project(mech.default.q, np.array([1.0, -0.5]))
    opened(page, mech, tmp_path, q=x.q)
    page.evaluate("document.getElementById('show-joints').click()")
    page.evaluate(
        f"studio.kernel.put({x.q.tolist()}, {x.v.tolist()}, 0); studio.last = 0; studio.values(); 0"
    )
    found = page.evaluate("studio.loads().joints.map((x) => [...x.force, ...x.moment])")
    motion = mech.forward_dynamics(x.q, x.v)
    for name, wrench in zip(mech.body_names[1:], found[1:], strict=True):
        np.testing.assert_allclose(wrench, motion.reaction(name, frame="world"), atol=1e-9)
    fine(page)


@needs_browser
def test_singular_pose_is_found_and_its_branches_are_offered(page: Page, tmp_path: Path) -> None:
    """A parallelogram near its flat pose: it goes there and may leave as a parallelogram or crossed."""
    mech = sr.library.parallelogram()
    q = mech.sweep("left", np.linspace(mech.default.q[0], 0.05, 20)).q[-1]
    opened(page, mech, tmp_path, q=q)
    page.evaluate("studio.approach()")
    nearness, count = page.evaluate("[studio.found.nearness, studio.branches.length]")
    assert nearness < 1e-8
    assert count == 2 * len(mech.branches(page.evaluate("Array.from(studio.kernel.of('q'))")))
    page.evaluate("studio.follow(0)")
    assert page.evaluate("studio.found.nearness") > 1e-3
    assert page.evaluate("studio.kernel.gap()") < CLOSED
    fine(page)


@needs_browser
def test_parameters_are_the_mechanisms_that_python_compiles(page: Page, tmp_path: Path) -> None:
    mech = sr.library.double_wishbone()
    opened(page, mech, tmp_path, parameters={"upper_z": (0.45, 0.52)})
    inputs = "document.querySelectorAll('#parameters input')"
    assert page.evaluate(f"{inputs}.length") == 1
    page.evaluate(f"{inputs}[0].value = 20; {inputs}[0].dispatchEvent(new Event('input')); 0")
    other = mech.with_(upper_z=0.52)
    q = np.array(page.evaluate("Array.from(studio.kernel.of('q'))"))
    assert np.max(np.abs(other.terms(q, np.zeros(mech.nv)).phi)) < CLOSED
    found = page.evaluate("studio.history.now.values.measures[0][0]")
    assert found == pytest.approx(other.measure(q)["camber"], abs=1e-9)
    fine(page)


@needs_browser
def test_links_files_keys_and_names(page: Page, tmp_path: Path) -> None:
    mech = sr.library.four_bar()
    opened(page, mech, tmp_path)
    page.evaluate("studio.kernel.drag(1, [0.1, 0, 0], [-1, 0, 1], 50); studio.record(); studio.shareLink()")
    q, address = page.evaluate("[Array.from(studio.kernel.of('q')), location.href]")
    page.open(address, READY)
    np.testing.assert_allclose(page.evaluate("Array.from(studio.kernel.of('q'))"), q, atol=1e-12)
    for bad in ('{"q": [1], "v": []}', "[]", "nothing", json.dumps({"q": ["a", 0, 0], "v": [0, 0, 0]})):
        page.evaluate(f"studio.open({json.dumps(bad)})")
        assert "could not be opened" in page.evaluate("document.getElementById('message').textContent")
    np.testing.assert_allclose(page.evaluate("Array.from(studio.kernel.of('q'))"), q, atol=1e-12)
    page.evaluate("document.getElementById('scene').focus()")
    page.key("Enter")
    for _ in range(5):
        page.key("ArrowUp")
    frames(page)
    page.key("Escape")
    assert page.evaluate("studio.grabbed") is None
    assert abs(page.evaluate("studio.kernel.of('q')[0]") - q[0]) > 1e-3
    nameless = """[...document.querySelectorAll('button, select, input, canvas#scene')].filter((e) =>
      !(e.getAttribute('aria-label') || e.textContent.trim() || e.closest('label'))).map((e) => e.id)"""
    assert page.evaluate(nameless) == []
    fine(page)


@needs_browser
def test_a_run_is_played_and_continued(page: Page, tmp_path: Path) -> None:
    run = sr.simulate(sr.library.five_bar(), (0.0, 0.4), dt=2e-3)
    opened(page, run, tmp_path)
    assert page.evaluate("studio.history.states.length") == len(run.t)
    play = "for (let i = 0; i < 12; i++) studio.advance(1 / 60);"
    t, q = page.evaluate(
        f"studio.seek(0); studio.toggle(true); {play}[studio.history.now.t, Array.from(studio.history.now.q)]"
    )
    assert t == pytest.approx(0.2, abs=0.06)  # frames of the page itself come in between
    np.testing.assert_allclose(q, run.at(t).q, atol=1e-12)
    page.wait("studio.kernel.t > 0.42")
    assert page.evaluate("studio.history.states.length") > len(run.t)
    assert page.evaluate("studio.kernel.gap()") < CLOSED
    fine(page)


HOSTILE = '</script><img src=x onerror="window.hacked=1"><b>"\'&'


@needs_browser
def test_hostile_names_stay_text(page: Page, tmp_path: Path) -> None:
    spec = sr.MechanismSpec(name=HOSTILE)
    spec.body(HOSTILE, joint=sr.Revolute("y"), mass=1.0, com=(1, 0, 0), inertia=(1, 1, 1))
    length = spec.parameter("__proto__", 1.0)
    spec.body("b", parent=HOSTILE, joint=sr.Revolute("y"), mass=length, com=(1, 0, 0), inertia=(1, 1, 1))
    spec.measure(HOSTILE, sr.Position(HOSTILE, (1, 0, 0)))
    opened(page, spec.compile(), tmp_path, caption=HOSTILE, hash_="#theme=%22><img src=x onerror=hacked=1>")
    page.evaluate("studio.toggle(); studio.open(JSON.stringify({q: [0, 0], v: [0, 0], t: '<img src=x>'}))")
    frames(page)
    assert page.evaluate("window.hacked") is None
    assert page.evaluate("document.querySelectorAll('img, b').length") == 0
    assert page.evaluate("document.getElementById('title').textContent") == HOSTILE
    assert page.evaluate("document.title") == HOSTILE
    fine(page)


def test_the_policy_is_strict_and_the_file_small(tmp_path: Path) -> None:
    path = sr.library.double_wishbone().studio(tmp_path / "studio.html")
    text = path.read_text()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy is not None
    assert policy[1].startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe-inline" not in policy[1] and "unsafe-eval'" not in policy[1].replace(
        "'wasm-unsafe-eval'", ""
    )
    assert not re.search(r"https?://", text.replace("http-equiv", ""))
    assert path.stat().st_size < 1_000_000
    assert sr.library.four_bar().studio(tmp_path / "a.html").stat().st_size < 520_000


def test_what_a_studio_cannot_hold_is_refused_by_name(tmp_path: Path) -> None:
    spec = sr.MechanismSpec()
    for name in ("a", "b"):
        spec.body(name, joint=sr.Revolute("y"), mass=1.0, inertia=(1, 1, 1))
    spec.constrain("cam", sr.PolynomialCoupling("a", "b", (0.0, 1.0, 0.5)))
    with pytest.raises(InputError, match=r"'cam'.*Python functions"):
        spec.compile().studio(tmp_path / "x.html")
    spec = sr.MechanismSpec()
    dry = {"friction": 1.0, "friction_model": "coulomb"}
    spec.body("door", joint=sr.Revolute("y"), mass=1.0, inertia=(1, 1, 1), **dry)
    with pytest.raises(InputError, match=r"a studio knows no friction that sticks.*'door'"):
        spec.compile().studio(tmp_path / "x.html")
    mech = sr.library.four_bar()
    with pytest.raises(InputError, match=r"written as \.html"):
        mech.studio(tmp_path / "x.txt")
    with pytest.raises(InputError, match="no parameter 'length'; the mechanism has none"):
        mech.studio(tmp_path / "x.html", parameters={"length": (1, 2)})
    with pytest.raises(InputError, match="a run has its own poses"):
        sr.simulate(mech, (0.0, 0.01)).studio(tmp_path / "x.html", q=mech.default.q)
    assert not list(tmp_path.iterdir())
    with pytest.raises(InputError, match=r"range of parameter 'load' must be \(low, high\)"):
        sr.library.double_wishbone().studio(tmp_path / "x.html", parameters={"load": 3})


def test_a_kernel_of_other_sources_writes_no_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    studios._kernel.cache_clear()
    good, other = studios.KERNEL.read_bytes(), tmp_path / "kernel.wasm"
    monkeypatch.setattr(studios, "KERNEL", other)
    for was, now, found in (
        (b"PointOnCylinder ", b"PointOnCone ", "different: PointOnCone, PointOnCylinder"),
        (b"Rolling MovingDistance ", b"MovingDistance Rolling ", "different: their order"),
    ):
        assert was in good
        other.write_bytes(good.replace(was, now))
        with pytest.raises(InputError, match=rf"compiled from different sources \({found}\).*`make wasm`"):
            sr.library.four_bar().studio(tmp_path / "a.html")
    other.unlink()
    with pytest.raises(InputError, match=r"kernel\.wasm, .* is missing in this installation.*`make wasm`"):
        sr.library.four_bar().studio(tmp_path / "a.html")
    assert not (tmp_path / "a.html").exists()

"""What a studio does when it opens and plays, in a real browser: loops, motors that hold, bare pages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import sarrus as sr
from bench.chromium import Chromium, Page, find_chromium
from tests.studio_kernel import needs_kernel
from tests.viz.test_studios import CLOSED, fine, frames, opened, place

pytestmark = needs_kernel
needs_browser = pytest.mark.skipif(find_chromium() is None, reason="no Chromium: apt-get install chromium")
MOST = 1_000_000  # bytes of a page


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with Chromium() as browser:
        yield browser.page()


def click(page: Page, name: str) -> None:
    """The middle of an element, by mouse."""
    box = f"(() => {{ const b = document.getElementById('{name}').getBoundingClientRect();"
    x, y = page.evaluate(f"{box} return [b.x + b.width / 2, b.y + b.height / 2]; }})()")
    page.mouse("mousePressed", x, y)
    page.mouse("mouseReleased", x, y, buttons=0)
    frames(page)


def seconds(page: Page, t: float) -> None:
    """So much is played."""
    page.evaluate(f"for (let i = 0; i < {round(60 * t)}; i++) studio.advance(1 / 60); 0")


@needs_browser
def test_a_run_plays_in_a_loop_until_it_is_touched(page: Page, tmp_path: Path) -> None:
    run = sr.simulate(sr.library.five_bar(), (0.0, 0.3), dt=2e-3)
    opened(page, run, tmp_path)
    assert page.evaluate("studio.playing && studio.looping")
    seconds(page, 1.0)
    assert page.evaluate("studio.history.states.length") == len(run.t), "nothing is simulated"
    page.mouse("mousePressed", *place(page, 2))
    assert page.evaluate("studio.grabbed !== null && !studio.playing && !studio.looping")
    page.mouse("mouseReleased", *place(page, 2))
    click(page, "reset")
    assert page.evaluate("studio.history.states.length") == len(run.t), "the run is there again"
    click(page, "play")
    seconds(page, 0.5)
    assert page.evaluate("studio.history.states.length") > len(run.t), "from its end on it is simulated"
    fine(page)


@needs_browser
def test_motors_hold_when_a_simulation_starts_and_one_click_lets_go(page: Page, tmp_path: Path) -> None:
    """A Stewart platform stands at the pose that a hand has brought it to, and then falls."""
    mech = sr.library.stewart()
    opened(page, mech, tmp_path, parameters={})
    top = mech.body_names.index("platform")
    page.evaluate(
        f"studio.take({top}, studio.bench.bodies.origin({top})); studio.grabbed.target[0] += 0.05;"
        "for (let i = 0; i < 20; i++) studio.advance(1 / 60); studio.release()"
    )
    led = np.array(page.evaluate("Array.from(studio.kernel.of('q'))"))
    assert np.linalg.norm(led - mech.default.q) > 1e-2
    click(page, "play")
    seconds(page, 1.0)
    held = page.evaluate("studio.toggle(false); Array.from(studio.kernel.of('q'))")
    np.testing.assert_allclose(held, led, atol=1e-6)
    assert page.evaluate("studio.kernel.t") > 0.1
    click(page, "motors-hold")
    height = f"studio.bench.bodies.origin({top})[2]"
    before = page.evaluate(f"studio.kernel.place(), {height}")
    click(page, "play")
    seconds(page, 0.3)
    assert page.evaluate(f"studio.toggle(false); {height}") < before - 0.02
    assert page.evaluate("studio.kernel.gap()") < CLOSED
    fine(page)


@needs_browser
def test_a_motor_goes_to_the_value_that_it_is_given(page: Page, tmp_path: Path) -> None:
    """A held value that a person chose stays when the hand has led the mechanism elsewhere."""
    spec = sr.MechanismSpec(gravity=(0, 0, 0))
    spec.body("cart", joint=sr.Prismatic("x"), mass=2.0, inertia=(1, 1, 1))
    opened(page, spec.actuate("cart").compile(), tmp_path)
    page.evaluate(
        "(() => { const s = [...document.querySelectorAll('#motors .row')].filter((r) => !r.hidden).pop()"
        ".querySelector('input'); s.value = 0.3; s.dispatchEvent(new Event('input')); })()"
    )
    page.evaluate("studio.kernel.drag(1, [0, 0, 0], [-0.2, 0, 0], 50); studio.record(); studio.toggle(true)")
    seconds(page, 1.5)
    assert page.evaluate("studio.kernel.of('q')[0]") == pytest.approx(0.3, abs=1e-3)
    fine(page)


def test_which_motors_hold_at_first() -> None:
    """Those that a description names, but not where every joint of closed loops has one."""
    from sarrus.viz.studio_data import motors_hold

    held = {name: motors_hold(getattr(sr.library, name)()) for name in ("stewart", "excavator", "robot_arm")}
    let_go = {name: motors_hold(getattr(sr.library, name)()) for name in ("pendulum", "five_bar", "bricard")}
    assert all(held.values()) and not any(let_go.values())


@needs_browser
def test_where_surfaces_touch_gravity_is_off(page: Page, tmp_path: Path) -> None:
    """A page has no contacts: what stands on the ground would fall through it."""
    mech = sr.library.escapement()
    assert mech.model.contacts
    with pytest.warns(sr.SarrusWarning, match="surfaces do not touch"):
        opened(page, mech, tmp_path, parameters={})
    assert page.evaluate("[studio.bench.scale, ...studio.kernel.gravity]") == [0, 0, 0, 0]
    click(page, "play")
    assert "gravity is off" in page.evaluate("document.getElementById('message').textContent")
    fine(page)


@needs_browser
def test_the_bare_picture(page: Page, tmp_path: Path) -> None:
    """Picture, badge and play; the badge turns red as a five-bar straightens, and the page scrolls on."""
    mech = sr.library.five_bar("raised")
    opened(page, mech, tmp_path, hash_="#bare&theme=dark")
    shown = "[...document.querySelectorAll('button, select, input, aside, #badge')]"
    shown += ".filter((e) => e.getClientRects().length).map((e) => e.id)"
    assert sorted(page.evaluate(shown)) == ["badge", "play"]
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert page.evaluate("$('scene').clientWidth === innerWidth && $('scene').clientHeight === innerHeight")
    color = "getComputedStyle($('badge')).backgroundColor.match(/[0-9]+/g).map(Number)"
    before = page.evaluate(color)
    fallen = sr.simulate(mech, (0.0, 0.65)).q[-1].tolist()
    page.evaluate(f"studio.kernel.put({fallen}, [0, 0, 0, 0], 0); studio.record(); studio.moved = true; 0")
    frames(page)
    after = page.evaluate(color)
    assert before[1] > before[0] and after[0] > after[1], "green, then red"
    wheel = "(() => { const e = new WheelEvent('wheel', { deltaY: 100, cancelable: true }); "
    wheel += "$('scene').dispatchEvent(e); return e.defaultPrevented; })()"
    assert not page.evaluate(wheel)
    fine(page)


def test_pages_with_runs_and_parameters_are_small(tmp_path: Path) -> None:
    """Three parameters of a machine with 15 coordinates, and a run of 3000 states, are within a megabyte."""
    run = sr.simulate(sr.library.excavator(), (0.0, 0.3), dt=1e-4)
    assert len(run.t) > 2900
    assert run.studio(tmp_path / "studio.html").stat().st_size <= MOST


@pytest.mark.slow
@pytest.mark.parametrize("name", list(sr.showcase.names()))
def test_pages_of_all_machines_are_small(name: str, tmp_path: Path) -> None:
    try:
        path = sr.showcase.run(name).studio(tmp_path / "studio.html")
    except sr.InputError as error:
        pytest.skip(f"no studio: {error}")
    assert path.stat().st_size <= MOST


@needs_browser
@pytest.mark.parametrize("speed", [np.pi, -6.0])
def test_a_motor_turns_a_crank_at_constant_speed(speed: float, page: Page, tmp_path: Path) -> None:
    """More than once around in two seconds, both ways, at the speed of the menu's slider."""
    mech = sr.showcase.mechanism("four_bar")
    opened(page, mech, tmp_path)
    page.evaluate(
        "(() => { const menu = document.querySelector('#motors select'); menu.value = 'speed';"
        " menu.dispatchEvent(new Event('change')); })()"
    )
    assert page.evaluate("studio.bench.settings.speed[0]") == pytest.approx(np.pi)
    slide = "[...document.querySelectorAll('#motors .row')].filter((r) => !r.hidden).pop()"
    page.evaluate(
        f"(() => {{ const s = {slide}.querySelector('input'); s.value = {speed};"
        " s.dispatchEvent(new Event('input')); })()"
    )
    page.evaluate("studio.toggle(true); 0")
    seconds(page, 1.0)
    one = page.evaluate("[studio.kernel.t, studio.kernel.of('q')[0]]")
    seconds(page, 1.5)
    two = page.evaluate("studio.toggle(false); [studio.kernel.t, studio.kernel.of('q')[0]]")
    assert (two[1] - one[1]) / (two[0] - one[0]) == pytest.approx(speed, rel=0.02)
    assert abs(two[1] - mech.default.q[0]) > 6.0
    assert page.evaluate("studio.kernel.gap()") < CLOSED
    fine(page)

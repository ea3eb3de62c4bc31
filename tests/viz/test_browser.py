"""The scene in the browser: served on a free port, moved by sliders and by time."""

from __future__ import annotations

import html
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import sarrus as sr
from bench.chromium import Chromium, find_chromium
from sarrus.viz import browser
from sarrus.viz.scenes.loads import LONGEST

pytest.importorskip("viser")


@pytest.fixture
def shown() -> Iterator[Callable[..., browser.Viewer]]:
    viewers: list[browser.Viewer] = []

    def open_one(what: Any, **how: Any) -> browser.Viewer:
        viewers.append(sr.viz.show(what, block=False, **how))
        return viewers[-1]

    yield open_one
    for viewer in viewers:
        viewer.stop()


def frame(viewer: browser.Viewer, body: str) -> sr.Pose:
    """Where a body is on the server."""
    handle = viewer.server.scene.get_handle_by_name(f"/body{viewer.scene.names.index(body)}")
    w, x, y, z = handle.wxyz
    return sr.Pose(handle.position, quat=(x, y, z, w))


def solid(viewer: browser.Viewer, body: str) -> Any:
    return next(m for s, m in zip(viewer.scene.solids, viewer.meshes, strict=True) if s.body == body)


def test_a_mechanism_is_served(shown: Callable[..., browser.Viewer]) -> None:
    mech = sr.library.four_bar()
    viewer = shown(mech)
    assert urllib.request.urlopen(viewer.url, timeout=10).status == 200
    q = mech.assemble(mech.default.q, fixed={"crank": 1.4}).q
    for pose in (mech.default.q, q):
        viewer.move(pose)
        for body in mech.body_names:
            np.testing.assert_allclose(frame(viewer, body).matrix, mech.pose(pose, body).matrix, atol=1e-6)
    seen = viewer.server.initial_camera
    assert (
        np.linalg.norm(seen.look_at - 0.5 * (viewer.scene.low + viewer.scene.high)) < 0.2 * viewer.scene.size
    )
    viewer.stop()
    viewer.stop()
    assert viewer.stopped


def test_what_is_dragged_is_held_and_the_loop_closes(shown: Callable[..., browser.Viewer]) -> None:
    mech = sr.library.four_bar()
    viewer = shown(mech, q=mech.default.q)
    posing = browser._Posing(viewer)
    _, crank = posing.sliders["crank"]
    crank.value = 1.3
    posing._drag("crank", SimpleNamespace(client=object()))
    assert viewer.q[0] == pytest.approx(1.3)
    assert np.abs(mech.terms(viewer.q, np.zeros(3)).phi).max() < 1e-9
    assert posing.sliders["rocker"][1].value == pytest.approx(viewer.q[2])
    assert html.unescape(posing.text.content) == mech.mobility(viewer.q).explain()
    before = viewer.q.copy()
    posing._drag("crank", SimpleNamespace(client=None))  # moved by the program, not by a hand
    np.testing.assert_array_equal(viewer.q, before)
    posing.sliders["rocker"][1].value = 3.0
    posing._drag("rocker", SimpleNamespace(client=object()))
    assert "Not assembled: 'pin' stays open" in posing.text.content
    np.testing.assert_array_equal(viewer.q, before)


def test_names_are_shown_as_they_are(shown: Callable[..., browser.Viewer]) -> None:
    """Neither Markdown nor HTML in the name of a body reaches the page."""
    spec, name = sr.MechanismSpec(name="*odd*"), "<img src=x onerror=alert(1)> **b** [l](http://x) `c`"
    spec.body(name, joint=sr.Revolute("z"), mass=1.0, com=(1.0, 0.0, 0.0), inertia=(1.0, 1.0, 1.0))
    spec.constrain(name, sr.PointOnPlane("ground", (0, 0, 0), name, (0, 0, 0), "z"))
    mech = spec.compile()
    text = browser._Posing(shown(mech)).text.content
    assert not set("<>*[]`_") & set(text)
    assert html.unescape(text) == mech.mobility(mech.default.q).explain() and name in html.unescape(text)
    assert browser._plain("- a\n- b_c\n# d") == "&#45; a\n&#45; b&#95;c\n&#35; d"


def test_nothing_is_printed_at_the_end_of_a_program_that_showed_something() -> None:
    code = "import sarrus as sr; v = sr.viz.show(sr.library.four_bar(), block=False); v.stop()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "leaked" not in done.stderr


def test_a_trajectory_plays(fall: sr.Trajectory, shown: Callable[..., browser.Viewer]) -> None:
    viewer = shown(fall)
    start = viewer.q.copy()
    deadline = time.monotonic() + 10.0
    while np.array_equal(viewer.q, start) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not np.array_equal(viewer.q, start)


def test_blocking_ends_with_ctrl_c(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Interrupting:
        def wait(self, seconds: float) -> bool:
            raise KeyboardInterrupt

        def is_set(self) -> bool:
            return False

        def set(self) -> None:
            pass

    viewer = browser.Viewer.__new__(browser.Viewer)
    stopped = []
    viewer.server, viewer._stopped = SimpleNamespace(stop=lambda: stopped.append(True)), Interrupting()  # type: ignore[assignment]
    viewer.wait()
    assert stopped


def test_wrong_requests_are_refused(fall: sr.Trajectory, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(sr.InputError, match="show takes q for a mechanism only"):
        sr.viz.show(fall, q=fall.q[0], block=False)
    with pytest.raises(sr.InputError, match="show needs a Mechanism or a Trajectory, got str"):
        sr.viz.show("five_bar", block=False)  # type: ignore[arg-type]
    monkeypatch.setitem(sys.modules, "viser", None)
    with pytest.raises(sr.InputError, match=r"show needs the package viser.*pip install 'sarrus\[viz\]'"):
        sr.viz.show(sr.library.five_bar(), block=False)


def test_any_body_follows_the_mouse_and_loops_stay_closed(shown: Callable[..., browser.Viewer]) -> None:
    """The point that was taken hold of comes where the mouse is, or as near as the linkage allows."""
    mech = sr.library.four_bar()
    viewer = shown(mech)
    posing = browser._Posing(viewer)
    for body in ("crank", "coupler", "rocker"):
        start = np.array(mech.pose(viewer.q, body).apply((0.2, 0.0, 0.0)))
        q = mech.assemble(viewer.q, fixed={"crank": viewer.q[0] + 0.15}).q
        target = np.array(mech.pose(q, body).apply((0.2, 0.0, 0.0)))
        phases = [("start", start), ("update", 0.5 * (start + target)), ("end", target)]
        for phase, mouse in phases:
            event = SimpleNamespace(phase=phase, start_position=tuple(start), end_position=tuple(mouse))
            posing._pull(body, event)
            assert np.abs(mech.terms(viewer.q, np.zeros(3)).phi).max() < 1e-9
        np.testing.assert_allclose(viewer.q, q, atol=1e-6)
        assert posing.sliders["rocker"][1].value == pytest.approx(viewer.q[2], abs=1e-6)
    far = SimpleNamespace(phase="update", start_position=(0, 0, 0), end_position=(50.0, 0.0, 0.0))
    posing._pull("rocker", far)
    assert np.all(np.isfinite(viewer.q)) and np.abs(mech.terms(viewer.q, np.zeros(3)).phi).max() < 1e-9


def test_bodies_can_be_taken_hold_of_and_say_their_names(shown: Callable[..., browser.Viewer]) -> None:
    viewer = shown(sr.library.stewart())
    assert len(viewer.meshes) == len(viewer.scene.solids)
    viewer._name(0, None)
    viewer._name(1, None)
    assert viewer._label.text == viewer.scene.solids[1].name
    bound = [m for m in viewer.meshes if m._impl.drag_cb]
    assert len(bound) >= 12


def test_springs_stretch_with_the_pose(shown: Callable[..., browser.Viewer]) -> None:
    mech = sr.library.double_wishbone()
    viewer = shown(mech)
    (coil,) = (m for s, m in zip(viewer.scene.solids, viewer.meshes, strict=True) if s.kind == "coil")
    before = np.array(coil.vertices)
    viewer.move(mech.assemble(mech.default.q, fixed={mech.names[0]: 0.1}).q)
    assert not np.allclose(before, coil.vertices)


def test_a_held_box_has_its_edges(shown: Callable[..., browser.Viewer]) -> None:
    box = solid(shown(sr.library.dual_arm_box()), "box")
    np.testing.assert_allclose(np.ptp(box.vertices, axis=0), (0.2, 0.3, 0.4), atol=1e-6)


def test_loads_are_arrows_that_follow(shown: Callable[..., browser.Viewer]) -> None:
    spec = sr.MechanismSpec()
    spec.body("arm", joint=sr.Revolute("y"), mass=1.0, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1))
    spec.force("push", sr.ConstantWrench("arm", (0, 0, -7, 0, 0, 0), point=(1, 0, 0)))
    spec.force("twist", sr.ConstantWrench("arm", (0, 0, 0, 0, 5, 0), point=(0.5, 0, 0)))
    viewer = shown(spec.compile())
    push, twist = viewer._arrows
    viewer.move([-np.pi / 2])  # the arm points upwards
    points = np.array(push.vertices)
    tip = points[np.argmin(points[:, 2])]
    np.testing.assert_allclose(tip, (0.0, 0.0, 1.0), atol=1e-6)
    radius = 0.5 * LONGEST * viewer.scene.size
    far = np.linalg.norm(np.array(twist.vertices) - (0.0, 0.0, 0.5), axis=1)  # around the middle of the arm
    assert radius * 0.8 < far.min() and far.max() < radius * 1.3
    viewer._write("/load1", viewer.scene.loads[1].text(), viewer.scene.loads[1].tips[0])
    assert viewer._label.text == "twist: 5 N m"


@pytest.mark.slow
@pytest.mark.skipif(find_chromium() is None, reason="no Chromium: apt-get install chromium")
def test_a_mouse_in_a_real_browser_drags_a_body(shown: Callable[..., browser.Viewer]) -> None:
    mech = sr.library.four_bar()
    viewer = shown(mech)
    before = viewer.q.copy()
    with Chromium() as started:
        page = started.page()
        page.size(1000, 700)
        page.open(viewer.url)
        end = time.monotonic() + 60.0
        while np.allclose(viewer.q, before):  # until the page has loaded everything
            assert time.monotonic() < end, "nothing was dragged"
            time.sleep(1.0)
            if not viewer.server.get_clients():
                continue
            camera = next(iter(viewer.server.get_clients().values())).camera
            x, y = _pixels(camera, mech.pose(before, "coupler").apply((0.45, 0, 0)), (1000, 700))
            page.mouse("mouseMoved", x, y, buttons=0)
            page.mouse("mousePressed", x, y)
            for k in range(1, 6):
                page.mouse("mouseMoved", x - 8 * k, y + 4 * k)
                time.sleep(0.1)
            page.mouse("mouseReleased", x - 40, y + 20)
    assert np.abs(mech.terms(viewer.q, np.zeros(3)).phi).max() < 1e-9


def _pixels(camera: Any, point: Any, size: tuple[int, int]) -> tuple[float, float]:
    """Where a world point is seen."""
    eye, up = np.array(camera.position), np.array(camera.up_direction)
    z = (eye - np.array(camera.look_at)) / np.linalg.norm(eye - np.array(camera.look_at))
    x = np.cross(up, z) / np.linalg.norm(np.cross(up, z))
    d, slope = np.asarray(point) - eye, np.tan(camera.fov / 2.0)
    right = (d @ x) / -(d @ z) / slope / camera.aspect
    high = (d @ np.cross(z, x)) / -(d @ z) / slope
    return 0.5 * (right + 1.0) * size[0], 0.5 * (1.0 - high) * size[1]

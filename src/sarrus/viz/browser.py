"""A mechanism or a trajectory in the browser, in three dimensions, with sliders; drawn by viser."""

from __future__ import annotations

import math
import re
import socket
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from ..errors import InputError
from ..mechanism.mechanism import Mechanism
from ..models.drawing import Anchor
from ..simulation.trajectory.trajectory import Trajectory
from . import style
from .boxes import body_boxes
from .shown_parts import body_colors
from .skeleton import Part, skeleton
from .trajectory import mechanism_of
from .view import Placed

THICKNESS = 0.035  # of a link, relative to the mechanism's length
FRAME_TIME = 1.0 / 30.0
SLIDER_STEPS = 1000


def show(
    shown: Mechanism | Trajectory,
    q: npt.ArrayLike | None = None,
    *,
    port: int | None = None,
    host: str = "127.0.0.1",
    block: bool = True,
) -> Viewer:
    """Show a mechanism or a trajectory in the browser.

    A mechanism gets one slider for each of its angles and displacements: what is dragged is held, and the
    loops are closed again by `Mechanism.assemble`. A trajectory gets a slider for time and a button to play.

    Args:
        shown: A `Mechanism`, or what `sr.simulate` returned for one.
        q: Pose to start from (nq,), for a mechanism; default `default.q`.
        port: Port to serve on; default one that is free.
        host: Address to serve on; the default is seen from this machine only, "0.0.0.0" from everywhere.
        block: Whether to return only after Ctrl-C; otherwise keep the viewer and call its `stop()`.

    Returns:
        The viewer: `url`, `move(q)`, `stop()`.
    """
    if isinstance(shown, Mechanism):
        viewer = Viewer(shown, shown.default.q if q is None else q, _serve(host, port))
        _Posing(viewer)
    else:
        mech = mechanism_of(shown, "show")
        if q is not None:
            raise InputError("show takes q for a mechanism only: a trajectory has its own poses.")
        viewer = Viewer(mech, shown.q[0], _serve(host, port))
        _Playing(viewer, shown)
    if block:
        print(f"{viewer.mech.name}: {viewer.url}   (Ctrl-C ends it)")
        viewer.wait()
    return viewer


class Viewer:
    """A mechanism on a server. `move` changes its pose, `stop` ends the server.

    Attributes:
        mech: The mechanism.
        q: Pose that is shown (nq,).
        server: The `viser.ViserServer`, for whoever wants to add to the scene.
    """

    def __init__(self, mech: Mechanism, q: npt.ArrayLike, server: Any) -> None:
        self.mech, self.server = mech, server
        self.q: Array = np.array(q, dtype=float)
        self._stopped = threading.Event()
        self._moves: list[tuple[list[Anchor], Callable[[Array], None]]] = []
        self._build()
        self.move(q)

    @property
    def url(self) -> str:
        """Address for the browser."""
        return f"http://{self.server.get_host()}:{self.server.get_port()}"

    @property
    def stopped(self) -> bool:
        """Whether `stop` was called."""
        return self._stopped.is_set()

    def move(self, q: npt.ArrayLike) -> None:
        """Show the pose q (nq,)."""
        placed = Placed(self.mech, q)
        self.q = np.array(q, dtype=float)
        with self.server.atomic():
            for anchors, put in self._moves:
                put(placed.points(anchors)[0])

    def stop(self) -> None:
        """End the server."""
        if not self.stopped:
            self._stopped.set()
            self.server.stop()

    def wait(self) -> None:
        """Return when `stop` is called or Ctrl-C is pressed."""
        try:
            while not self._stopped.wait(0.2):
                pass
        except KeyboardInterrupt:
            self.stop()

    def _build(self) -> None:
        """Bars, pins and masses, each with the anchors that move it."""
        scene, size = self.server.scene, self.mech.length
        gravity = np.array(self.mech.model.gravity)
        up = -gravity if np.any(gravity) else np.array([0.0, 0.0, 1.0])
        scene.set_up_direction(tuple(up / np.linalg.norm(up)))
        plane = ("yz", "xz", "xy")[int(np.argmax(np.abs(up)))]
        scene.add_grid("/grid", width=12 * size, height=12 * size, plane=plane, cell_size=size / 2)
        found, boxes = skeleton(self.mech), body_boxes(self.mech)
        colors = body_colors(self.mech)
        outlines = [Part("box", name, box.edges()) for name, box in boxes.items()]
        for i, part in enumerate([*(p for p in found.parts if p.owner not in boxes), *outlines]):
            rgb = _rgb(colors.get(part.owner, style.INK))
            closed = [part.anchors[0]] if part.kind == "plate" else []
            anchors = [*part.anchors, *closed]
            thick = (1.0 if part.kind in ("link", "plate") else 0.4) * THICKNESS * size
            blank = np.zeros((len(anchors) - 1, 2, 3))
            bars = scene.add_line_segments(f"/part{i}", blank, rgb, thickness=thick)
            self._moves.append((anchors, _segments(bars)))
        spots = [(pin, 0.8, "#ffffff") for pin in found.pins] + [(s, 1.1, style.INK) for s in found.supports]
        spots += [(centre, 0.9, style.FAINT) for centre, _ in found.masses]
        for i, (anchor, relative, color) in enumerate(spots):
            ball = scene.add_icosphere(f"/spot{i}", relative * THICKNESS * size, _rgb(color), subdivisions=2)
            self._moves.append(([anchor], _position(ball)))


class _Playing:
    """A slider for time, a button to play."""

    def __init__(self, viewer: Viewer, trajectory: Trajectory) -> None:
        self.viewer, self.trajectory = viewer, trajectory
        first, last = float(trajectory.t[0]), float(trajectory.t[-1])
        step = max((last - first) / SLIDER_STEPS, 1e-6)
        gui = viewer.server.gui
        self.time = gui.add_slider("t [s]", min=first, max=last, step=step, initial_value=first)
        self.plays = gui.add_checkbox("play", True)
        self.speed = gui.add_slider("speed", min=0.05, max=2.0, step=0.05, initial_value=1.0)
        self.time.on_update(lambda _: viewer.move(trajectory.at(float(self.time.value)).q))
        threading.Thread(target=self._play, daemon=True).start()

    def _play(self) -> None:
        before = time.perf_counter()
        while not self.viewer.stopped:
            time.sleep(FRAME_TIME)
            now = time.perf_counter()
            passed, before = now - before, now
            if self.plays.value and not self.viewer.stopped:
                later = self.time.value + self.speed.value * passed
                self.time.value = later if later <= self.time.max else self.time.min


class _Posing:
    """One slider for each angle and displacement; what is dragged is held, the loops close behind it."""

    def __init__(self, viewer: Viewer) -> None:
        self.viewer, self.busy = viewer, threading.Lock()
        mech, gui = viewer.mech, viewer.server.gui
        self.text = gui.add_markdown(_plain(mech.mobility(viewer.q).explain()))
        self.sliders: dict[str, tuple[int, Any]] = {}
        for k, name in enumerate(mech.names):
            i = mech.model.coordinate_q[k]
            if i < 0:
                continue
            reach = math.pi if mech.model.tree.coordinate_is_angle[k] else 2.0 * mech.length
            low, high = (float(x) for x in np.clip(mech.model.limits[k], -reach, reach))
            here = float(viewer.q[i])
            low, high = min(low, here), max(high, here)
            slider = gui.add_slider(
                name, min=low, max=high, step=(high - low) / SLIDER_STEPS, initial_value=here
            )
            slider.on_update(lambda event, name=name: self._drag(name, event))
            self.sliders[name] = (i, slider)

    def _drag(self, name: str, event: Any) -> None:
        """Hold one coordinate where the hand wants it; sliders that follow say nothing back."""
        if event.client is None or not self.busy.acquire(blocking=False):
            return
        try:
            mech = self.viewer.mech
            found = mech.assemble(self.viewer.q, fixed={name: float(self.sliders[name][1].value)})
            if not found.success:
                self.text.content = _plain(found.message)
                return
            self.viewer.move(found.q)
            self.text.content = _plain(mech.mobility(found.q).explain())
            for other, (i, slider) in self.sliders.items():
                if other != name:
                    slider.value = float(np.clip(found.q[i], slider.min, slider.max))
        finally:
            self.busy.release()


def _plain(text: str) -> str:
    """Text that Markdown shows as it is: names may contain its signs, or HTML."""
    return re.sub(
        r"[^\w\s.,:;'\"()/=%-]|_|^\s*-", lambda found: "".join(map(_coded, found[0])), text, flags=re.M
    )


def _coded(sign: str) -> str:
    return sign if sign.isspace() else f"&#{ord(sign)};"


def _serve(host: str, port: int | None) -> Any:
    try:
        import viser
    except ImportError:
        raise InputError(
            "show needs the package viser, which is not installed. Install it with: "
            "pip install 'sarrus[viz]'."
        ) from None
    return viser.ViserServer(host=host, port=_free_port(host) if port is None else port, verbose=False)


def _free_port(host: str) -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])


def _segments(bars: Any) -> Callable[[Array], None]:
    def put(points: Array) -> None:
        bars.points = np.stack([points[:-1], points[1:]], axis=1).astype(np.float32)

    return put


def _position(ball: Any) -> Callable[[Array], None]:
    def put(points: Array) -> None:
        ball.position = points[0]

    return put


def _rgb(color: str) -> tuple[int, int, int]:
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)

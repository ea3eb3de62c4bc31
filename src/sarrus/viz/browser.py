"""A mechanism or a trajectory in the browser, in three dimensions, with sliders; drawn by viser."""

from __future__ import annotations

import math
import re
import socket
import threading
import time
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from ..errors import InputError
from ..mechanism.mechanism import Mechanism
from ..mechanism.query.reaching import pulled
from ..models.base.pose import Pose
from ..models.tree.bodies import GROUND
from ..simulation.trajectory.trajectory import Trajectory
from .live_origins import checked_requests
from .scenes.camera import ANGLE, framed
from .scenes.loads import arrow_scales, given_loads
from .scenes.scene import Scene, mechanism_of, shown_at
from .scenes.triangles import Triangles
from .scenes.view import Placed

FRAME_TIME = 1.0 / 30.0
BACK = 1.4  # times the distance that frames the mechanism: sliders cover a part of the window
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

    Drag any body of a mechanism with the mouse: the point under the mouse follows it as far as the loops,
    which stay closed, allow. Each angle and displacement has a slider, too: what is dragged is
    held, and the loops are closed again by `Mechanism.assemble`. A trajectory gets a slider for time and a
    button to play. A click on a body shows its name, on the arrow of a load its value.

    Args:
        shown: A `Mechanism`, or what `sr.simulate` returned for one.
        q: Pose to start from (nq,), for a mechanism; default `default.q`.
        port: Port to serve on; default one that is free.
        host: Address to serve on; the default is seen from this machine only, "0.0.0.0" from everywhere.
            Requests under other names, and pages of other servers, are refused.
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
        some = shown.q[:: max(1, len(shown.q) // 60)]
        viewer = Viewer(mech, shown.q[0], _serve(host, port), some)
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
        scene: What is shown.
        meshes: Handles of its solids on the server, in their order.
        server: The `viser.ViserServer`, for whoever wants to add to the scene.
    """

    def __init__(self, mech: Mechanism, q: npt.ArrayLike, server: Any, poses: Array | None = None) -> None:
        self.mech, self.server = mech, server
        self.q: Array = np.array(q, dtype=float)
        self._stopped = threading.Event()
        self.scene = Scene(mech, poses if poses is not None else np.atleast_2d(self.q))
        self._frames: list[Any] = []
        self.meshes: list[Any] = []
        self._arrows: list[Any] = []
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
            for b, frame in enumerate(self._frames):
                x, y, z, w = Pose(matrix=placed.R[0, b]).quat.tolist()
                frame.wxyz, frame.position = (w, x, y, z), placed.p[0, b]
            for solid, mesh in zip(self.scene.solids, self.meshes, strict=True):
                if solid.body is None:
                    mesh.vertices = solid.surface(placed.points(solid.anchors)[0]).points.astype(np.float32)
            for mesh, surface in zip(self._arrows, self._loads(placed), strict=True):
                mesh.vertices = surface.points.astype(np.float32)

    def _loads(self, placed: Placed) -> list[Triangles]:
        """Arrows of the declared forces and moments at a pose."""
        loads = given_loads(self.mech, placed)
        scale = arrow_scales(self.scene.loads, self.scene.size)
        return [load.surface(scale[load.unit], 0.008 * self.scene.size) for load in loads]

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
        """A frame for every body with its solids below it, springs and rods in the world, a framed camera."""
        scene = self.server.scene
        up, floor = self.scene.up, self.scene.floor
        scene.set_up_direction(tuple(up))
        plane = ("yz", "xz", "xy")[int(np.argmax(np.abs(up)))]
        size = 4.0 * self.scene.size
        cell = self.scene.size / 10.0
        scene.add_grid("/grid", width=size, height=size, plane=plane, cell_size=cell, position=tuple(floor))
        for b in range(len(self.scene.names)):
            self._frames.append(scene.add_frame(f"/body{b}", show_axes=False))
        for k, (solid, surface) in enumerate(zip(self.scene.solids, self.scene.surfaces, strict=True)):
            at = f"/body{self.scene.names.index(solid.body)}" if solid.body else ""
            shown = self.scene.surface(k) if surface is None else surface
            look = {"color": _rgb(solid.color), "side": "double"} | (
                {"opacity": solid.alpha} if solid.alpha < 1.0 else {}
            )
            points = shown.points.astype(np.float32)
            mesh = scene.add_mesh_simple(f"{at}/solid{k}", points, shown.faces.astype(np.uint32), **look)
            self.meshes.append(mesh)
            mesh.on_click(lambda event, k=k: self._name(k, event))
        self._label: Any = None
        for k, (load, surface) in enumerate(
            zip(self.scene.loads, self._loads(self.scene.placed), strict=True)
        ):
            points, faces = surface.points.astype(np.float32), surface.faces.astype(np.uint32)
            mesh = scene.add_mesh_simple(f"/load{k}", points, faces, color=_rgb(load.color))
            self._arrows.append(mesh)
            mesh.on_click(lambda event, load=load, k=k: self._write(f"/load{k}", load.text(), load.tips[0]))
        camera = framed(self.scene.outline, up, self.scene.eye(), 1.4)
        eye = camera.target + BACK * camera.distance * camera.back
        self.server.initial_camera.position = tuple(eye.tolist())
        self.server.initial_camera.look_at = tuple(camera.target.tolist())
        self.server.initial_camera.up = tuple(up.tolist())
        self.server.initial_camera.fov = ANGLE

    def _name(self, k: int, event: Any) -> None:
        """Write the name of a solid where it was clicked, in place of the last one."""
        solid = self.scene.solids[k]
        at = self.scene.surface(k).points.mean(axis=0) if solid.body is None else None
        if at is None:
            at = self.scene.surfaces[k].points.mean(axis=0)  # type: ignore[union-attr]
        parent = f"/body{self.scene.names.index(solid.body)}" if solid.body else ""
        self._write(parent, solid.name, at)

    def _write(self, parent: str, text: str, at: Array) -> None:
        if self._label is not None:
            self._label.remove()
        position = tuple(np.asarray(at, dtype=float).tolist())
        self._label = self.server.scene.add_label(f"{parent}/name", text, position=position)


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
        self.time.on_update(lambda _: viewer.move(shown_at(trajectory, float(self.time.value)).q))
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
        self.grip: tuple[str, Array] | None = (
            None  # body that is dragged, and the point of it under the mouse
        )
        for solid, mesh in zip(viewer.scene.solids, viewer.meshes, strict=True):
            if solid.body is not None and solid.body != GROUND:
                mesh.on_drag(lambda event, body=solid.body: self._pull(body, event))

    def _pull(self, body: str, event: Any) -> None:
        """Bring the point of a body that the mouse took hold of to where the mouse is, loops closed."""
        mech = self.viewer.mech
        if event.phase == "start" or self.grip is None or self.grip[0] != body:
            X_WB = mech.pose(self.viewer.q, body)
            self.grip = body, X_WB.inverse().apply(np.array(event.start_position, dtype=float))
        if not self.busy.acquire(blocking=False):
            return
        try:
            target = np.array(event.end_position, dtype=float)
            self._show(pulled(mech, self.viewer.q, body, self.grip[1], target))
        finally:
            self.busy.release()

    def _show(self, q: Array, held: str | None = None) -> None:
        """Move the picture, the text and all sliders but the one that is held."""
        self.viewer.move(q)
        self.text.content = _plain(self.viewer.mech.mobility(q).explain())
        for name, (i, slider) in self.sliders.items():
            if name != held:
                slider.value = float(np.clip(q[i], slider.min, slider.max))

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
            self._show(found.q, name)
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
    free = _free_port(host) if port is None else port
    with checked_requests(host):
        return viser.ViserServer(host=host, port=free, verbose=False)


def _free_port(host: str) -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])


def _rgb(color: str) -> tuple[int, int, int]:
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)

"""Scene: everything that a picture of a mechanism shows, at one or several poses, for every painter."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ...arrays import Array
from ...errors import InputError, SarrusWarning
from ...mechanism.mechanism import Mechanism
from ...models.shapes.convex_shapes import HalfSpace
from ...models.tree.bodies import GROUND
from ...simulation.trajectory.trajectory import Sample, Trajectory
from . import triangles as tri
from .layout import Layout
from .loads import arrow_scales, given_loads
from .machine import machine_solids
from .raster import Surfaces
from .solids import FOOT, Solid
from .triangles import across
from .view import Placed, find_plane

DIAGONAL = (0.95, 0.32)  # azimuth and height of the eye for mechanisms in space [rad]
BETTER = 1.25  # by how much more must be seen from elsewhere
ROAMING = 2.2  # extent of a motion over that of the machine, from which on cameras follow
LEVEL = 0.999  # cosine of the slope of a plane that counts as the floor
SAMPLES = 12  # poses of a motion that decide about its extent


def mechanism_of(trajectory: Any, verb: str) -> Mechanism:
    """The mechanism of a trajectory, or an error that says what cannot be drawn without one."""
    if not isinstance(trajectory, Trajectory):
        raise InputError(f"{verb} needs a Mechanism or a Trajectory, got {type(trajectory).__name__}.")
    if not isinstance(trajectory.system, Mechanism):
        raise InputError(
            f"{verb} needs bodies to draw, and this trajectory is of"
            f" {'an unknown system' if trajectory.system is None else repr(trajectory.system)}; use plot()."
        )
    return trajectory.system


def shown_at(run: Trajectory, t: Any) -> Sample:
    """States of a run for pictures, which need not be as exact as `run.at` warns that they are not."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SarrusWarning)
        return run.at(t)


class Scene:
    """Solids of a mechanism and where they are.

    Args:
        mech: The mechanism.
        q: Poses (n, nq).
        shapes: Edges (3,) [m] of cuboids around the centre of mass, in body axes, for bodies by name.
        thickness: Of bars [m]; default from the sizes of the mechanism.

    Attributes:
        solids: What is painted.
        placed: Poses of all bodies.
        plane: The plane in which the mechanism moves, or None.
        up: Unit vector against gravity, (3,).
        size: Of the machine in its first pose: the diagonal of the box around it [m].
        roams: Whether it leaves the place of its first pose; then cameras follow it.
        outline: Points around what a camera must see first [m], (n, 3): all poses, or the first one of a
            machine that roams.
        whole: Points around everything that is ever shown [m], (n, 3).
        low, high: Corners of the box around `outline` [m], (3,).
        floor: A point of the floor [m], (3,).
        loads: Forces and moments that the mechanism is declared with.
    """

    def __init__(
        self,
        mech: Mechanism,
        q: Array,
        shapes: Mapping[str, npt.ArrayLike] | None = None,
        thickness: float | None = None,
    ) -> None:
        self.mech, self.q = mech, np.atleast_2d(np.asarray(q, dtype=float))
        self.names = list(mech.body_names)
        self.placed = Placed(mech, self.q)
        self.plane = find_plane(mech, self.q[0])
        self.up = _upwards(mech)
        layout = Layout(mech, self.placed, self.plane, shapes, thickness)
        self.radius = layout.radius
        self.solids = machine_solids(layout)
        self.surfaces = [solid.surface() if solid.body is not None else None for solid in self.solids]
        self.loads = given_loads(mech, self.placed)
        self._measure()
        self.floor = self._floor()
        if self._add_feet():
            self._measure()

    def _measure(self) -> None:
        some = np.unique(np.linspace(0, len(self.q) - 1, SAMPLES).astype(int))
        first, every = self._around(np.zeros(1, dtype=int)), self._around(some)
        self.size = max(_diagonal(first), 1e-6)
        self.roams = _diagonal(every) > ROAMING * self.size
        self.whole = _thinned(every)
        self.outline = _thinned(first) if self.roams else self.whole
        self.low, self.high = self.outline.min(axis=0), self.outline.max(axis=0)
        self.lowest = float((first @ self.up).min())

    def _around(self, some: Array) -> Array:
        """Corners of boxes around all solids in poses of these numbers, in the world [m], (n, 3)."""
        return np.concatenate(
            [self._box_points(k, some) for k in range(len(self.solids))] or [self.placed.p[0]]
        )

    def _box_points(self, k: int, some: Array) -> Array:
        """Corners of the box around a solid, in poses of these numbers, in the world [m], (n, 3)."""
        solid, surface = self.solids[k], self.surfaces[k]
        if surface is None:
            return np.asarray(self.placed.points(solid.anchors)[some].reshape(-1, 3))
        points = surface.points
        if len(points) > 60:
            low, high = points.min(axis=0), points.max(axis=0)
            corners = np.where(np.array(list(np.ndindex(2, 2, 2)), dtype=bool), high, low)
            points = corners if len(some) > 1 else points[:: max(1, len(points) // 200)]
        i = self.names.index(str(solid.body))
        moved = np.einsum("nij,kj->nki", self.placed.R[some, i], points) + self.placed.p[some, i][:, None]
        return np.asarray(moved.reshape(-1, 3))

    def _floor(self) -> Array:
        """As declared, or as a surface of the ground; else below the first pose, through the origin where
        that is not much lower."""
        middle = 0.5 * (self.low + self.high)
        height = _floor_height(self.mech, self.up)
        if height is None:
            near = -1e-9 <= self.lowest < 0.6 * self.size
            height = 0.0 if near else self.lowest - 0.03 * self.size
        return np.asarray(middle + (height - middle @ self.up) * self.up)

    def _add_feet(self) -> bool:
        """Under every hinge on the ground that turns about the vertical: what the machine stands on."""
        before = len(self.solids)
        for body in self.mech.model.shown_bodies:
            if self.plane is not None or body.parent != GROUND or not body.joint.is_hinge:
                continue
            top, axis = body.at.xyz, body.at.rotation @ body.joint.primitives()[0].axis
            height = float((top - self.floor) @ self.up)
            if abs(axis @ self.up) > 0.999 and height > 1e-9:
                at, turn = ((GROUND, top - 0.5 * height * self.up),), tri.turn_to(self.up)
                foot = Solid("drum", at, FOOT, 1.15 * self.radius, (0.5 * height,), turn, name="ground")
                self.solids.append(foot)
                self.surfaces.append(foot.surface())
        return len(self.solids) > before

    def eye(self) -> tuple[float, float]:
        """Azimuth and height of the eye [rad].

        Nearly straight onto the plane of a planar mechanism, else from where most of it is seen.
        """
        if self.plane is None:
            turns = [DIAGONAL, *((DIAGONAL[0] + k * np.pi / 4.0, h) for k in range(8) for h in (0.32, 0.6))]
            seen = [self._seen(*turn) for turn in turns]
            best = int(np.argmax(seen))
            return turns[best] if seen[best] > BETTER * seen[0] else DIAGONAL
        tilt = float(np.arcsin(np.clip(self.plane.normal @ self.up, -1.0, 1.0)))
        x, y = across(self.up)
        azimuth = float(np.arctan2(self.plane.normal @ y, self.plane.normal @ x))
        return azimuth - 0.25, min(tilt + 0.16, 1.2)

    def _seen(self, azimuth: float, height: float) -> float:
        """Area that the outline covers, seen from a direction [m^2]."""
        x, y = across(self.up)
        flat = np.cos(azimuth) * x + np.sin(azimuth) * y
        back = np.cos(height) * flat + np.sin(height) * self.up
        right, upwards = across(back)
        spread = np.linalg.svd(
            (self.outline - self.outline.mean(axis=0)) @ np.stack([right, upwards], axis=1)
        )[1]
        return float(spread[0] * spread[1]) if len(spread) > 1 else 0.0

    def surface(self, k: int, i: int = 0) -> tri.Triangles:
        """Triangles of solid number k at pose number i, in the world."""
        solid, surface = self.solids[k], self.surfaces[k]
        if surface is None:
            return solid.surface(self.placed.points(solid.anchors)[i])
        b = self.names.index(str(solid.body))
        return surface.moved(self.placed.R[i, b], self.placed.p[i, b])

    def load_arrows(self, i: int = 0) -> list[tri.Triangles]:
        """Triangles of the loads at pose number i, in the world."""
        scale, thick = arrow_scales(self.loads, self.size), 0.008 * self.size
        return [load.surface(scale[load.unit], thick, i) for load in self.loads]

    def outline_with_loads(self) -> Array:
        """The outline, and the arrows of loads at the first pose [m], (n, 3)."""
        scale = arrow_scales(self.loads, self.size)
        return np.concatenate([self.outline, *(load.line(scale[load.unit]) for load in self.loads)])

    def painted(self, i: int = 0, loads: bool = False) -> Surfaces:
        """Triangles of all solids at pose number i, in the world; then of all loads."""
        given = [(self.surface(k, i), one.color, one.alpha) for k, one in enumerate(self.solids)]
        if loads:
            arrows = zip(self.load_arrows(i), self.loads, strict=True)
            given += [(surface, load.color, 1.0) for surface, load in arrows]
        surfaces, colors, alphas = zip(*given, strict=True)
        points = [one.points[one.faces] for one in surfaces]
        count = list(map(len, points))
        return Surfaces(
            np.concatenate(points),
            np.concatenate([tri.corner_normals(one.points, one.faces) for one in surfaces]),
            np.repeat(list(map(rgb, colors)), count, axis=0),
            np.repeat(alphas, count),
            np.repeat(np.arange(len(given)), count),
        )


def _diagonal(points: Array) -> float:
    """Of the box around points (n, 3) [m]."""
    return float(np.linalg.norm(np.ptp(points, axis=0)))


def _floor_height(mech: Mechanism, up: Array) -> float | None:
    """Height of the floor along `up` [m]: declared, or that of a half space of the ground; None: neither."""
    if mech.floor is not None:
        return mech.floor.height
    for surface in mech.model.surfaces:
        if surface.body != GROUND or not isinstance(surface.shape, HalfSpace):
            continue
        plane = surface.in_kernel().at
        if plane.rotation[:, 2] @ up > LEVEL:
            return float(plane.xyz @ up)
    return None


def _upwards(mech: Mechanism) -> Array:
    """The normal of the floor; against gravity where no floor is declared (3,)."""
    if mech.floor is not None:
        return mech.floor.up
    gravity = np.array(mech.model.gravity)
    return -gravity / np.linalg.norm(gravity) if np.any(gravity) else np.array([0.0, 0.0, 1.0])


def rgb(color: str) -> Array:
    """A colour "#rrggbb" as three numbers from 0 to 1."""
    return np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) / 255.0


def _thinned(points: Array) -> Array:
    """Points (n, 3) that no other ones enclose; all of them where they lie in a plane."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        return np.asarray(points[ConvexHull(points).vertices])
    except (QhullError, ValueError):
        return points

"""A mechanism or a trajectory as numbers that a page can play: poses over time, solids, forces, charts."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from ..errors import InputError
from ..mechanism.mechanism import Mechanism
from ..models.bodies import GROUND
from ..simulation.trajectory.trajectory import Trajectory
from . import style
from .boxes import Box
from .solids import FOOT, Solid, solids
from .view import Placed, find_plane

CONTACT, GIVEN = "#d1495b", ("#7b3fa0", "#009e73", "#0072b2")  # colours of arrows
LONGEST = 0.28  # of an arrow, over the size of the scene
DIAGONAL = (0.95, 0.32)  # azimuth and height of the eye for mechanisms in space [rad]


class Film:
    """What a page needs, computed once.

    Args:
        mech: The mechanism.
        times: Of the pictures [s], equally far apart, (n,).
        q: Poses (n, nq).
        shapes, thickness: As in `solids`.
    """

    def __init__(self, mech: Mechanism, times: Array, q: Array, shapes: Any, thickness: Any) -> None:
        self.mech, self.times, self.q = mech, times, q
        self.names = list(mech.body_names)
        self.placed = Placed(mech, q)
        self.R, self.p = self.placed.R, self.placed.p
        self.solids = solids(mech, self.placed, shapes, thickness)
        gravity = np.array(mech.model.gravity)
        self.up = -gravity / np.linalg.norm(gravity) if np.any(gravity) else np.array([0.0, 0.0, 1.0])
        self.low, self.high = self._extent()
        self.size = max(float(np.linalg.norm(self.high - self.low)), mech.length)
        self.floor = self._floor()
        self.solids += self._feet()
        self.arrows: list[dict[str, Any]] = []
        self.plots: list[dict[str, Any]] = []
        self.traces: list[dict[str, Any]] = []

    def contact_forces(self, runs: Sequence[Trajectory]) -> None:
        """Arrows of the forces that loops exert on their first body, in runs that follow each other."""
        model = self.mech.model
        given = dict(model.constraints)
        loops = [group for group in model.groups if group.element >= 0 and given[group.name].drawing().held]
        W, at = self.mech.evaluator.kernel.row_wrenches(self.q)
        t = np.concatenate([run.t for run in runs])
        for loop in loops:
            lam = np.zeros((len(self.times), self.mech.nc))
            for k in range(self.mech.nc)[loop.rows]:
                values = np.concatenate([_row(run, self.mech.row_names[k]) for run in runs])
                lam[:, k] = np.interp(self.times, t, values)
            forces = np.einsum("tr,trk->tk", lam[:, loop.rows], W[:, loop.rows, :3])
            data = np.hstack([at[:, loop.element], -forces])
            self.arrows.append(
                {"name": loop.name, "color": CONTACT, "kind": "forces of the loops", "data": data}
            )

    def more_arrows(self, t: Array, given: Mapping[str, tuple[str, npt.ArrayLike, npt.ArrayLike]]) -> None:
        """Arrows of forces that the user gives: {name: (body, point (3,), forces (nt, 3) in world axes)}."""
        for k, (name, (body, point, forces)) in enumerate(given.items()):
            b = self.mech.model.body_index(body, "arrows")
            values = np.asarray(forces, dtype=float)
            if values.shape != (len(t), 3):
                raise InputError(
                    f"forces of arrow {name!r} must have shape ({len(t)}, 3), got {values.shape}."
                )
            tip = self.p[:, b] + self.R[:, b] @ np.asarray(point, dtype=float)
            force = np.stack([np.interp(self.times, t, column) for column in values.T], axis=1)
            color = GIVEN[k % len(GIVEN)]
            self.arrows.append({"name": name, "color": color, "kind": name, "data": np.hstack([tip, force])})

    def charts(self, t: Array, given: Mapping[str, Mapping[str, npt.ArrayLike]]) -> None:
        """Charts over time: {title: {name of a line: values (nt,)}}; a name that ends in "--" is dashed."""
        for title, lines in given.items():
            drawn = []
            for k, (name, column) in enumerate(lines.items()):
                values = np.asarray(column, dtype=float)
                if values.shape != (len(t),):
                    raise InputError(
                        f"{name!r} of chart {title!r} must have shape ({len(t)},), got {values.shape}."
                    )
                data = _packed(np.interp(self.times, t, values))
                look = {"color": style.cycle(k), "dashed": name.endswith("--")}
                drawn.append({"name": name.removesuffix("--").strip(), "data": data, **look})
            self.plots.append({"title": title, "lines": drawn})

    def trace(self, body: str, point: npt.ArrayLike) -> None:
        """The path of a point (3,) of a body [m]."""
        self.mech.model.body_index(body, "trace")
        self.traces.append({"at": self._anchor((body, np.asarray(point, dtype=float))), "color": style.ALARM})

    def data(self, title: str, caption: str) -> dict[str, Any]:
        """All of it, for JSON."""
        from scipy.spatial.transform import Rotation

        kinds: dict[str, float] = {}
        for arrow in self.arrows:
            force = float(np.linalg.norm(arrow["data"][:, 3:], axis=1).max())
            kinds[arrow["kind"]] = max(kinds.get(arrow["kind"], 0.0), force)
        most = max(kinds.values(), default=0.0)
        quats = Rotation.from_matrix(self.R.reshape(-1, 3, 3)).as_quat().reshape(*self.p.shape[:2], 4)
        quats = _continuous(quats)
        step = float(self.times[1] - self.times[0]) if len(self.times) > 1 else 0.0
        return {
            "title": title, "caption": caption, "first": float(self.times[0]), "step": step,
            "count": len(self.times), "poses": _packed(np.concatenate([self.p, quats], axis=2)),
            "solids": [self._solid(one) for one in self.solids],
            "arrows": [
                {"color": a["color"], "legend": f"{a['kind']}, up to {kinds[a['kind']]:.3g} N"}
                | {"data": _packed(a["data"])}
                for a in self.arrows
            ],
            "newton": LONGEST * self.size / most if most > 0.0 else 0.0,
            "traces": self.traces, "plots": self.plots, "up": self.up.tolist(),
            "floor": self.floor.tolist(), "cell": _round_length(0.12 * self.size), "size": self.size,
            "middle": (0.5 * (self.low + self.high)).tolist(), "eye": self._eye(),
        }  # fmt: skip

    # ------------------------------------------------------------------ parts

    def _extent(self) -> tuple[Array, Array]:
        """Lowest and highest corner of what is ever shown [m]."""
        points = [self.p[:, [i for i, name in enumerate(self.names) if name != GROUND]].reshape(-1, 3)]
        for solid in self.solids:
            points.append(self.placed.points(solid.anchors).reshape(-1, 3))
            if solid.kind == "box" and solid.turn is not None:
                (body, middle) = solid.anchors[0]
                corners = Box(body, middle, np.array(solid.half), solid.turn).corners()
                points.append(self.placed.points([(body, corner) for corner in corners]).reshape(-1, 3))
        every = np.concatenate(points)
        return every.min(axis=0), every.max(axis=0)

    def _floor(self) -> Array:
        """Below everything; through the origin where that is not much lower."""
        corners = np.array(np.meshgrid(*np.stack([self.low, self.high], axis=1))).reshape(3, -1).T
        lowest = float((corners @ self.up).min())
        height = 0.0 if -1e-9 <= lowest < 0.6 * self.size else lowest - 0.03 * self.size
        middle = 0.5 * (self.low + self.high)
        return np.asarray(middle + (height - middle @ self.up) * self.up)

    def _feet(self) -> list[Solid]:
        """Under every hinge on the ground that turns about the vertical: what the machine stands on."""
        feet = []
        for body in self.mech.model.bodies[1:]:
            if body.parent != GROUND or not body.joint.is_hinge:
                continue
            top, axis = body.at.xyz, body.at.rotation @ body.joint.primitives()[0].axis
            height = float((top - self.floor) @ self.up)
            if abs(axis @ self.up) > 0.999 and height > 0.0:
                bars = [one.radius for one in self.solids if one.kind == "bar"]
                ends = ((GROUND, top - height * self.up), (GROUND, top))
                feet.append(Solid("bar", ends, FOOT, 1.15 * max(bars, default=0.02 * self.size)))
        return feet

    def _eye(self) -> tuple[float, float]:
        """Azimuth and height of the eye: straight onto the plane of a planar mechanism, nearly."""
        plane = find_plane(self.mech, self.q[0])
        if plane is None:
            return DIAGONAL
        tilt = float(np.arcsin(np.clip(plane.normal @ self.up, -1.0, 1.0)))
        x, y = _across(self.up)
        azimuth = float(np.arctan2(plane.normal @ y, plane.normal @ x))
        return azimuth - 0.3, min(tilt + 0.2, 1.2)

    def _anchor(self, anchor: tuple[str, Array]) -> list[float]:
        return [self.names.index(anchor[0]), *(round(float(x), 6) for x in anchor[1])]

    def _solid(self, one: Solid) -> dict[str, Any]:
        from scipy.spatial.transform import Rotation

        out: dict[str, Any] = {"kind": one.kind, "color": one.color, "alpha": one.alpha, "radius": one.radius}
        ends = [self._anchor(anchor) for anchor in one.anchors]
        if one.kind in ("bar", "coil"):
            out |= {"a": ends[0], "b": ends[1]}
        elif one.kind == "face":
            out |= {"at": ends[0], "points": [end[1:] for end in ends]}
        else:
            out["at"] = ends[0]
        if one.turn is not None:
            out["quat"] = [round(float(x), 7) for x in Rotation.from_matrix(one.turn).as_quat()]
        if one.half:
            out["half"] = one.half[0] if one.kind == "drum" else list(one.half)
        return out


def _row(run: Trajectory, name: str) -> Array:
    """Multipliers of a row over a run (nt,); zero where the run's mechanism does not have it."""
    names = run.system.row_names
    return run.lam[:, names.index(name)] if name in names else np.zeros(len(run))


def _continuous(quats: Array) -> Array:
    """Signs such that neighbours in time (n, nb, 4) can be mixed."""
    turns = np.where(np.sum(quats[1:] * quats[:-1], axis=2) < 0.0, -1.0, 1.0)
    sign = np.concatenate([np.ones((1, quats.shape[1])), np.cumprod(turns, axis=0)])
    return np.asarray(quats * sign[:, :, None])


def _across(z: Array) -> tuple[Array, Array]:
    """Two unit vectors across z, the same as on the page."""
    k = np.array([1.0, 0.0, 0.0]) if abs(z[0]) < 0.7 else np.array([0.0, 1.0, 0.0])
    x = np.cross(k, z) / np.linalg.norm(np.cross(k, z))
    return x, np.cross(z, x)


def _packed(values: npt.ArrayLike) -> str:
    return base64.b64encode(np.ascontiguousarray(values, dtype="<f4").tobytes()).decode("ascii")


def _round_length(x: float) -> float:
    """The next of 1, 2, 5, 10, ... above a length."""
    ten = 10.0 ** np.floor(np.log10(x))
    return float(next(k * ten for k in (1.0, 2.0, 5.0, 10.0) if k * ten >= x))

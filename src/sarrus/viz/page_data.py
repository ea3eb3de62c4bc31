"""A mechanism or a trajectory as numbers that a page can play: poses over time, solids, forces, charts."""

from __future__ import annotations

import base64
import struct
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from ..errors import InputError
from ..mechanism.mechanism import Mechanism
from ..simulation.trajectory.trajectory import Trajectory
from .scenes import style
from .scenes.contact_forces import record_of
from .scenes.loads import LONGEST
from .scenes.scene import Scene
from .scenes.solids import Solid

CONTACT, GIVEN = "#d1495b", ("#7b3fa0", "#009e73", "#0072b2")  # colours of arrows


class Film(Scene):
    """What a page needs, computed once.

    Args:
        mech: The mechanism.
        times: Of the pictures [s], equally far apart, (n,).
        q: Poses (n, nq).
        shapes, thickness: As in `Scene`.
    """

    def __init__(self, mech: Mechanism, times: Array, q: Array, shapes: Any, thickness: Any) -> None:
        super().__init__(mech, q, shapes, thickness)
        self.times = times
        self.R, self.p = self.placed.R, self.placed.p
        self.arrows: list[dict[str, Any]] = []
        self.plots: list[dict[str, Any]] = []
        self.traces: list[dict[str, Any]] = []

    def given_loads(self) -> None:
        """Arrows of the forces and moments that the mechanism is declared with."""
        for load in self.loads:
            data = np.hstack([load.tips, load.vectors])
            arrow = {
                "name": load.name,
                "color": load.color,
                "kind": load.name,
                "unit": load.unit,
                "data": data,
            }
            self.arrows.append(arrow)

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
                {
                    "name": loop.name,
                    "color": CONTACT,
                    "kind": "forces of the loops",
                    "unit": "N",
                    "data": data,
                }
            )

    def surface_forces(self, runs: Sequence[Trajectory]) -> None:
        """Arrows of the forces on b at points of surfaces that have closed; none between open and closed."""
        records = [one for one in map(record_of, runs) if one is not None]
        if not runs or len(records) != len(runs):
            return
        t = np.concatenate([run.t for run in runs])
        force, point = (
            np.concatenate([getattr(one, what) for one in records]) for what in ("force", "point")
        )
        latest = np.clip(np.searchsorted(t, self.times, side="right") - 1, 0, max(len(t) - 2, 0))
        after = np.minimum(latest + 1, len(t) - 1)
        span = t[after] - t[latest]
        share = np.where(span > 0, (self.times - t[latest]) / np.where(span > 0, span, 1.0), 1.0)
        for k, name in enumerate(records[0].names):
            if not np.any(force[:, k]):
                continue
            both = np.hstack([point[:, k], force[:, k]])
            closed = np.asarray(force[:, k].any(axis=1))
            along = np.where(closed[latest] & closed[after], share, np.floor(share))[:, None]
            data = (1.0 - along) * both[latest] + along * both[after]
            arrow = {"name": name, "color": CONTACT, "kind": "forces of contacts", "unit": "N", "data": data}
            self.arrows.append(arrow)

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
            data = np.hstack([tip, force])
            self.arrows.append({"name": name, "color": color, "kind": name, "unit": "N", "data": data})

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
        """All of it, for JSON. Keys are added, never renamed: other pages read them too."""
        from scipy.spatial.transform import Rotation

        quats = Rotation.from_matrix(self.R.reshape(-1, 3, 3)).as_quat().reshape(*self.p.shape[:2], 4)
        quats = _continuous(quats)
        step = float(self.times[1] - self.times[0]) if len(self.times) > 1 else 0.0
        arrows, newton = self._arrows()
        feet = [one["data"][:, :3] - newton * one["data"][:, 3:] for one in self.arrows if one["unit"] == "N"]
        some = [foot[:1] if self.roams else foot[:: max(1, len(foot) // 12)] for foot in feet]
        outline = np.concatenate([self.outline, *some])
        meshes: dict[bytes, int] = {}
        solids = [self._solid(one, meshes) for one in self.solids]
        return {
            "title": title, "caption": caption, "first": float(self.times[0]), "step": step,
            "count": len(self.times), "poses": _packed(np.concatenate([self.p, quats], axis=2)),
            "names": self.names, "solids": solids, "meshes": [_mesh(one) for one in meshes],
            "arrows": arrows, "newton": newton,
            "traces": self.traces, "plots": self.plots, "up": self.up.tolist(),
            "floor": self.floor.tolist(), "cell": _round_length(0.12 * self.size), "size": self.size,
            "middle": (0.5 * (self.low + self.high)).tolist(), "eye": self.eye(),
            "outline": _packed(outline), "whole": _packed(self.whole), "roams": self.roams,
            "center": _packed(self.centers()),
        }  # fmt: skip

    def centers(self) -> Array:
        """What cameras follow: the centre of mass at each picture [m], (n, 3); without masses, the middle."""
        with_mass = any(body.mass > 0.0 for body in self.mech.model.bodies)
        return self.mech.center_of_mass(self.q) if with_mass else self.p.mean(axis=1)

    # ------------------------------------------------------------------ parts

    def _arrows(self) -> tuple[list[dict[str, Any]], float]:
        """Arrows for JSON, and their length per newton [m/N]; moments are as long as the largest force."""
        kinds: dict[str, float] = {}
        most: dict[str, float] = {}
        for arrow in self.arrows:
            value = float(np.linalg.norm(arrow["data"][:, 3:], axis=1).max())
            kinds[arrow["kind"]] = max(kinds.get(arrow["kind"], 0.0), value)
            most[arrow["unit"]] = max(most.get(arrow["unit"], 0.0), value)
        unit = {name: LONGEST * self.size / value if value > 0.0 else 0.0 for name, value in most.items()}
        newton = unit.get("N", 0.0) or next(iter(unit.values()), 0.0)
        out = []
        for one in self.arrows:
            legend = f"{one['kind']}, up to {kinds[one['kind']]:.4g} {one['unit']}"
            entry = {"name": one["name"], "color": one["color"], "unit": one["unit"], "legend": legend}
            scale = unit[one["unit"]] / newton if newton else 1.0
            out.append(entry | {"data": _packed(one["data"]), "scale": scale})
        return out, newton

    def _anchor(self, anchor: tuple[str, Array]) -> list[float]:
        return [self.names.index(anchor[0]), *(round(float(x), 6) for x in anchor[1])]

    def _solid(self, one: Solid, meshes: dict[bytes, int]) -> dict[str, Any]:
        """One solid for JSON; equal meshes are kept once."""
        from scipy.spatial.transform import Rotation

        out: dict[str, Any] = {"kind": one.kind, "color": one.color, "alpha": one.alpha, "radius": one.radius}
        out["name"] = one.name
        if one.mesh is not None:
            points = np.asarray(one.mesh.points, dtype="<f4").tobytes()
            faces = np.asarray(one.mesh.faces, dtype="<u2").tobytes()
            out["mesh"] = meshes.setdefault(struct.pack("<I", len(points)) + points + faces, len(meshes))
        if one.spring is not None:
            out["spring"] = list(one.spring)
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


def _mesh(packed: bytes) -> dict[str, str]:
    """Corners as float32 and faces as uint16, as text."""
    (size,) = struct.unpack("<I", packed[:4])
    parts = {"points": packed[4 : 4 + size], "faces": packed[4 + size :]}
    return {name: base64.b64encode(data).decode("ascii") for name, data in parts.items()}


def _packed(values: npt.ArrayLike) -> str:
    return base64.b64encode(np.ascontiguousarray(values, dtype="<f4").tobytes()).decode("ascii")


def _round_length(x: float) -> float:
    """The next of 1, 2, 5, 10, ... above a length."""
    ten = 10.0 ** np.floor(np.log10(x))
    return float(next(k * ten for k in (1.0, 2.0, 5.0, 10.0) if k * ten >= x))

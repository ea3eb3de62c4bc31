"""What a studio needs to know of a mechanism: tables for the kernel in the page, names, limits, measures."""

from __future__ import annotations

import base64
import dataclasses
import gzip
import json
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from ..dynamics.friction_refusals import refuse_dry_friction
from ..errors import InputError, SarrusError
from ..mechanism.describe.force_measures import ForceIn, Reaction
from ..mechanism.describe.measure import Measure
from ..mechanism.describe.measures import Angle, Length, Position, Speed
from ..mechanism.mechanism import Mechanism
from ..models.base.axes import direction
from ..models.binary_table import binary_table
from ..models.tree.bodies import GROUND
from .page_data import Film
from .scenes.shown_parts import bare_coordinates, copies_on_parts, shown_names
from .scenes.view import find_plane

DRIVE_STEPS = (1.0 / 30, 1.0 / 60, 1.0 / 120, 1.0 / 240)  # of tables of drives [s]
DRIVE_ERROR = 1e-7  # of values between the entries of such a table, relative to the largest
LINEAR = {"coordinate", "stiffness", "rest", "damping"}  # parameters of forces that the page computes itself
AROUND, REACH = 12, 0.35  # poses around the first one, and how far away they are [rad], or times L [m]
NEARBY = 0.05  # distance of poses at which the rank of J is that of most poses [rad], or times L [m]
FORCE_OF_MOTORS = 2.0  # range of force sliders over the weight of the mechanism (times L for torques)


def checked(mech: Mechanism) -> Mechanism:
    """Refuses mechanisms with rows that Python functions compute, and with friction that sticks."""
    refuse_dry_friction(mech.model, "a studio")
    if mech.model.functions:
        names = ", ".join(map(repr, mech.model.functions))
        raise InputError(
            f"a studio cannot hold {names}: Python functions compute it, and a page has no Python. Leave it"
            " out, a constraint with with_constraints(active=...), or show a recorded run with export()."
        )
    return mech


def packed(values: npt.ArrayLike, kind: str = "<f8") -> str:
    """Doubles, or numbers of another kind, as base64."""
    return base64.b64encode(np.ascontiguousarray(values, dtype=kind).tobytes()).decode("ascii")


def zipped(content: bytes) -> str:
    """Bytes as base64 of gzip, always the same for the same bytes."""
    return base64.b64encode(gzip.compress(content, 9, mtime=0)).decode("ascii")


def scene(mech: Mechanism, q: Array, shapes: Any, thickness: Any) -> dict[str, Any]:
    """The picture as the exported page has it, at poses q (n, nq); the first of them is kept."""
    data = Film(mech, np.arange(len(q), dtype=float), q, shapes, thickness).data("", "")
    count = data["count"]
    poses = np.frombuffer(base64.b64decode(data["poses"]), dtype="<f4")
    first = base64.b64encode(poses[: len(poses) // count].tobytes()).decode("ascii")
    center = base64.b64encode(np.zeros(3, dtype="<f4").tobytes()).decode("ascii")  # a studio's camera stays
    still = {"count": 1, "first": 0.0, "step": 0.0, "roams": False, "whole": "", "center": center}
    return data | still | {"poses": first}


def reachable(mech: Mechanism, q: Array) -> Array:
    """Poses (n, nq) around q (nq,), q first: the picture leaves room for them, as for strokes of pistons."""
    rng = np.random.default_rng(1853)
    poses, limits = [q], mech.model.limits
    known = np.flatnonzero(np.array(mech.model.coordinate_q) >= 0)
    for _ in range(AROUND if mech.nv <= 60 else 0):
        v = mech.decompose(q).tangent(rng.standard_normal(mech.nv) * mech.model.unit)
        size = float(np.max(np.abs(v) / mech.model.unit, initial=0.0))
        try:
            pose = mech.project(mech.integrate(q, REACH * v / max(size, 1e-9))).q
        except SarrusError:
            continue
        x = pose[np.array(mech.model.coordinate_q)[known]]
        if np.all((x >= limits[known, 0]) & (x <= limits[known, 1])):
            poses.append(pose)
    return np.array(poses)


def mechanism_data(mech: Mechanism, q: Array) -> dict[str, Any]:
    """Names, units, limits, bodies, loops, forces, motors and measures; indices instead of names."""
    model = mech.model
    index = model.body_index
    limits = [[_finite(x) for x in pair] for pair in model.limits]
    measures = [known for name, one in model.measures if (known := _measure(mech, name, one))]
    plane = find_plane(mech, q)
    names, bare = shown_names(mech), bare_coordinates(mech)
    return {
        "bodies": [
            {"name": body.name, "parent": 0 if body.name == GROUND else index(body.parent), "mass": body.mass}
            | ({} if names[body.name] == body.name else {"label": names[body.name]})
            | ({"bare": True} if body.name in bare else {})
            | {
                "com": np.asarray(body.com, dtype=float).tolist(),
                "inertia": body.inertia_matrix.ravel().tolist(),
            }
            for body in model.bodies
        ],
        "coordinates": [
            {"name": name, "q": i, "unit": "rad" if angle else "m"}
            for name, i, angle in zip(
                mech.names, model.coordinate_q, model.tree.coordinate_is_angle, strict=True
            )
        ],
        "rows": list(model.row_names),
        "unit": model.unit.tolist(),
        "row_unit": model.row_unit.tolist(),
        "length": float(model.length),
        "limits": limits,
        "loops": [
            {"name": g.name, "rows": [g.rows.start, g.rows.stop], "element": g.element}
            | {"a": index(g.a), "b": index(g.b)}
            | _cut(mech, g.a)
            for g in model.groups
            if g.element >= 0
        ],
        "forces": [
            {"name": name, "a": index((GROUND, *force.bodies())[-2]), "b": index(force.bodies()[-1])}
            for name, force in model.forces
            if force.bodies()
        ],
        "motors": _motors(mech, q),
        "measures": measures,
        "needs_forces": any(one["kind"] in ("Row", "Reaction", "Input", "Spring") for one in measures),
        "plane": None if plane is None else plane.normal.tolist(),
        "rank": _usual_rank(mech, q),
        "words": f"{mech.nv} coordinates, {mech.nc} constraint rows.",
    }


def _cut(mech: Mechanism, a: str | None) -> dict[str, Any]:
    """Of a loop that holds a copy of a part: its name in the drawing, and the joint that carries the copy."""
    copies = copies_on_parts(mech)
    if a is None or a not in copies:
        return {}
    joint = mech.model.bodies[mech.model.body_index(a)].parent
    return {"label": f"{copies[a].body} at {joint}", "carrier": mech.model.body_index(joint)}


def drive_table(mech: Mechanism, t: float, reach: float) -> dict[str, Any] | None:
    """f, f', f'' of drives over [t, t + reach] s; quintic interpolation is exact to DRIVE_ERROR."""
    if not mech.model.drives:
        return None
    for step in DRIVE_STEPS:
        count = int(np.ceil(reach / step)) + 1
        values = np.array([mech.model.drive_values(t + k * step) for k in range(count)])
        between = np.array([mech.model.drive_values(t + (k + 0.5) * step)[:, 0] for k in range(count - 1)])
        size = max(1.0, float(np.max(np.abs(values[:, :, 0]))))
        if np.max(np.abs(_halfway(values, step) - between)) <= DRIVE_ERROR * size:
            last = t + (count - 1) * step
            return {"first": t, "step": step, "last": last, "values": packed(values)}
    names = [name for name, one in mech.model.constraints if one in mech.model.drives]
    raise InputError(
        f"drive {names[0]!r} changes too fast for the table that a studio holds of it, 240 values per second;"
        " drive more slowly, or show a recorded run with export()."
    )


def _halfway(x: Array, h: float) -> Array:
    """Quintic Hermite polynomials in the middle of the intervals of a table (n, nd, 3): (n - 1, nd)."""
    a, b = x[:-1], x[1:]
    change = 5.0 * h * (a[..., 1] - b[..., 1]) / 32.0 + h * h * (a[..., 2] + b[..., 2]) / 64.0
    return np.asarray(0.5 * (a[..., 0] + b[..., 0]) + change)


def _finite(x: float) -> float | None:
    return float(x) if np.isfinite(x) else None


def _motors(mech: Mechanism, q: Array) -> list[dict[str, Any]]:
    """Actuated coordinates with the ranges of their sliders."""
    model, out = mech.model, []
    mass = sum(body.mass for body in model.bodies[1:])
    weight = mass * max(float(np.linalg.norm(model.gravity)), 1.0)
    for actuator in model.actuators:
        j = actuator.index
        angle = bool(model.tree.coordinate_is_angle[j])
        i = model.coordinate_q[j]
        here = float(q[i]) if i >= 0 else 0.0
        reach = np.pi if angle else 2.0 * mech.length
        low, high = (float(np.clip(x, here - reach, here + reach)) for x in model.limits[j])
        bounds = _finite(actuator.lower), _finite(actuator.upper)
        most = FORCE_OF_MOTORS * weight * (mech.length if angle else 1.0)
        most = max((abs(x) for x in bounds if x is not None), default=most)
        out.append(
            {"name": actuator.name, "index": j, "q": i, "low": bounds[0], "high": bounds[1], "most": most}
            | {"from": low, "to": high, "unit": "rad" if angle else "m", "force": "N m" if angle else "N"}
        )
    return out


def motors_hold(mech: Mechanism) -> bool:
    """Whether motors hold at first: those that a description names, unless every joint of loops has one."""
    model = mech.model
    every = len(model.actuators) == mech.nv
    return bool(model.actuators_declared and not (every and mech.nc))


def _usual_rank(mech: Mechanism, q: Array) -> int:
    """Rank of J at most poses near q: the largest of a few."""
    rng = np.random.default_rng(1853)
    best = int(mech.mobility(q).rank)
    if best == mech.nc or mech.nv > 60:
        return best
    for _ in range(4):
        try:
            near = mech.project(mech.integrate(q, NEARBY * rng.standard_normal(mech.nv) * mech.model.unit)).q
        except SarrusError:
            continue
        best = max(best, int(mech.mobility(near).rank))
    return best


def _measure(mech: Mechanism, name: str, one: Measure) -> dict[str, Any] | None:
    """A measure as the page computes it; None for functions of Python, and for coordinates."""
    index = mech.model.body_index

    def anchor(body: str, point: Any) -> list[float]:
        return [index(body), *np.asarray(point, dtype=float).tolist()]

    said: dict[str, Any] = {"name": name, "unit": one.unit, "columns": list(one.columns) or ["value"]}
    said["kind"] = type(one).__name__
    if isinstance(one, Length):
        return said | {"a": anchor(one.a, one.p_a), "b": anchor(one.b, one.p_b)}
    if isinstance(one, Position | Speed):
        return said | {"at": anchor(one.body, one.point)}
    if isinstance(one, Angle):
        assert one.direction_a is not None and one.direction_b is not None
        axes = {"axis": one.axis, "from": one.direction_a, "to": one.direction_b}
        ends = {"a": index(one.a), "b": index(one.b)}
        return said | ends | {key: direction(axis).tolist() for key, axis in axes.items()}
    if isinstance(one, ForceIn):
        known = _force_in(mech, one.element)
        return None if known is None else said | known
    if isinstance(one, Reaction):
        return said | _reaction(mech, one)
    return None


def _force_in(mech: Mechanism, element: str) -> dict[str, Any] | None:
    """How the page computes a ForceIn; None for what is neither between two points, linear nor one row."""
    model = mech.model
    forces = [name for name, force in model.forces if force.bodies()]
    force = dict(model.forces).get(element)
    if force is not None and force.holds_functions:
        return None
    if force is not None and element in forces:
        ends = [[model.body_index(body), *map(float, point)] for body, point in force.drawing().held]
        between = {"kind": "Spring", "force": forces.index(element)}
        return between | {"a": ends[0], "b": ends[1]} if len(ends) == 2 else None
    if force is not None:
        given = dataclasses.asdict(force)
        if not set(given) <= LINEAR:
            return None
        j = mech.names.index(given.pop("coordinate"))
        numbers = {"stiffness": 0.0, "rest": 0.0, "damping": 0.0} | given
        return {"kind": "Linear", "q": max(model.coordinate_q[j], 0), "v": j} | numbers
    rows = ForceIn(element).rows(model)
    if rows:
        return {"kind": "Row", "row": rows[0][0], "sign": rows[0][1]} if len(rows) == 1 else None
    return {"kind": "Input", "coordinate": mech.names.index(element)}


def _reaction(mech: Mechanism, one: Reaction) -> dict[str, Any]:
    model = mech.model
    loops = [g.name for g in model.groups if g.element >= 0]
    if one.element in loops:
        ends = [(end.body, end.at.rotation) for end in dict(model.constraints)[one.element].ends()]
        found = {"loop": loops.index(one.element), "body": 0, "backwards": False}
    else:
        body = model.bodies[model.body_index(one.element)]
        ends = [(body.parent, body.at.rotation), (body.name, np.eye(3))]
        ends = ends[::-1] if body.backwards else ends
        found = {"loop": -1, "body": model.body_index(one.element), "backwards": bool(body.backwards)}
    if one.frame == "world":
        return found | {"frame": -1, "axes": np.eye(3).ravel().tolist()}
    body_name, turn = ends["AaBb".index(one.frame) // 2]
    axes = turn if one.frame in "AB" else np.eye(3)
    return found | {"frame": model.body_index(body_name), "axes": np.asarray(axes).ravel().tolist()}


def as_json(content: Any) -> str:
    """JSON that cannot end the element it stands in."""
    return json.dumps(content, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def kernel_table(mech: Mechanism) -> bytes:
    """The table of the kernel, refused where it is none."""
    return binary_table(checked(mech).model)

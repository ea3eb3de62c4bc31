"""Sweep: a path of poses along one coordinate, on one branch, by prediction and correction.

Prediction goes along the tangent with unit rate of the swept coordinate; correction closes the constraints
with that coordinate held. A step whose correction is not small against its length is divided. Where rows lose
rank (a parallelogram stretched flat) many tangents exist: the one nearest to the last is the smooth
continuation. Where the coordinate turns back (a dead centre) the sweep stops and says where.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from .assembly import assemble
from .closing import Closing, close
from .decomposition import decompose, rank_of, ranked_svd
from .mobility import loses_rank_here
from .system_kinematics import Kinematics, dimensionless

LONGEST_STEP = 0.15  # of any coordinate in one prediction [rad], or times L [m]
CORRECTION = 0.2  # largest accepted correction relative to the step
SMALLEST_STEP = 1e-7  # of the swept coordinate, lengths divided by L
SINGULAR_TOL = 1e-6  # singular values below this are lost; the tangent is then the one nearest to the last


@dataclass(frozen=True)
class Sweep:
    """Result of `sweep`: poses along one coordinate.

    Attributes:
        coordinate: name of the swept coordinate.
        values: those reached (n,); all that were asked for when `success`.
        q: poses (n, nq).
        singular: whether the pose is (nearly) singular, (n,) bool.
        success: whether every value was reached.
        message: what happened, in words.
    """

    coordinate: str
    values: Array
    q: Array
    singular: npt.NDArray[np.bool_]
    success: bool
    message: str


@dataclass(frozen=True)
class _Point:
    """A pose on the path, its tangent (nv,) with d(coordinate) = 1, the rank of the rows with the coordinate
    held, whether that rank is a lost one, and whether the path starts here."""

    q: Array
    value: float
    tangent: Array
    rank: int
    singular: bool
    first: bool


def sweep(system: Kinematics, index: int, values: Array, q0: Array, position: int, t: float = 0.0) -> Sweep:
    """Follow the path of coordinate `index` (of v; `position` in q) through `values`, from near q0 (nq,)."""
    name = system.coordinate_names[index]
    start = q0.copy()
    start[position] = values[0]
    first = assemble(system, start, t, [index], f"{name} = {values[0]:g}")
    if not first.success:
        empty = np.zeros((0, system.nq))
        return Sweep(name, values[:0], empty, np.zeros(0, dtype=bool), False, f"No start. {first.message}")

    point = _point(system, first.q, values[0], index, t, None)
    points = [point]
    for value in values[1:]:
        point, reached = _advance(system, point, float(value), index, position, t)
        if not reached:
            break
        points.append(point)
    done, success = len(points), len(points) == len(values)
    message = f"Swept '{name}' through {done} values." if success else _stopped(name, values[done], point)
    q, singular = np.array([p.q for p in points]), np.array([p.singular for p in points])
    return Sweep(name, values[:done], q, singular, success, message)


def _advance(
    system: Kinematics, point: _Point, value: float, index: int, position: int, t: float
) -> tuple[_Point, bool]:
    """Continue to one value, in as many steps as it takes; the last point, and whether it is the value."""
    unit = system.unit[index]
    step = value - point.value
    while point.value != value:
        fastest = float(np.max(np.abs(point.tangent / system.unit)))
        step = np.sign(value - point.value) * min(
            abs(step), abs(value - point.value), LONGEST_STEP / max(fastest, 1e-12)
        )
        target = value if abs(step) >= abs(value - point.value) else point.value + step
        found = _correct(system, point, target, index, position, t)
        if found is not None:
            point = _point(system, found, target, index, t, point)
            step *= 2.0
        elif abs(step) <= SMALLEST_STEP * unit:
            return point, False
        else:
            step /= 3.0
    return point, True


def _correct(
    system: Kinematics, point: _Point, target: float, index: int, position: int, t: float
) -> Array | None:
    """Predict along the tangent and close; None where the branch cannot be told apart or does not close."""
    rows = np.flatnonzero(system.holonomic)
    columns = np.setdiff1d(np.arange(system.nv), [index])
    step = (target - point.value) * point.tangent
    predicted = system.integrate(point.q, step)
    predicted[position] = target
    found: Closing = close(system, predicted, t, rows, columns)
    if not found.closed:
        return None
    correction = np.linalg.norm(system.difference(predicted, found.q) / system.unit)
    length = np.linalg.norm(step / system.unit)
    if point.first and point.singular:  # where branches meet any of them will do
        length += LONGEST_STEP / CORRECTION
    return found.q if correction <= CORRECTION * length + 1e-9 else None


def _point(system: Kinematics, q: Array, value: float, index: int, t: float, last: _Point | None) -> _Point:
    """The pose and its tangent: J v = 0, v[index] = 1, nearest to zero, or to the last where rank is lost."""
    _, J, _, _ = system.constraints(q, np.zeros(system.nv), t)
    Jd = dimensionless(system, J)
    rows = np.vstack([Jd, np.eye(system.nv)[index]])
    rank, free = rank_of(rows, SINGULAR_TOL), ranked_svd(Jd, SINGULAR_TOL)
    lost = loses_rank_here(system, q, t, free) if last is None else rank < last.rank
    singular = lost or rank == free.rank
    wish = last.tangent / system.unit if last is not None and singular else np.zeros(system.nv)
    right = np.append(np.zeros(system.nc), 1.0 / system.unit[index])
    x = wish + decompose(rows, rank=rank).solve(right - rows @ wish)
    known = rank if last is None else max(rank, last.rank)
    return _Point(q, value, system.unit * x, known, singular, last is None)


def _stopped(name: str, wanted: float, point: _Point) -> str:
    return (
        f"Stopped at '{name}' = {point.value:.6g} on the way to {wanted:.6g}: the constraints do not close"
        " beyond it on this branch (a dead centre, or a singular pose that this motion does not pass)."
        " The poses before it are kept."
    )

"""Sweep: a path of poses along one coordinate, on one branch, by prediction and correction.

Prediction goes along the tangent with unit rate of the swept coordinate; correction closes the constraints
with that coordinate held. A step whose correction is not small against its length is divided. Where rows lose
rank (a parallelogram stretched flat) many tangents exist: the one nearest to the last is the smooth
continuation. Where the coordinate turns back (a dead centre) the sweep stops and says where.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from .assembly import assemble
from .closing import Closing, close
from .decomposition import decompose, ranked_svd
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
        undetermined: a coordinate for each further freedom that nothing determines: they move as little as
            possible, and where they end depends on the path.
    """

    coordinate: str
    values: Array
    q: Array
    singular: npt.NDArray[np.bool_]
    success: bool
    message: str
    undetermined: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Path:
    """What stays the same along a path: the swept coordinate (`index` of v, `position` in q), the indices
    into v that do not move by themselves, `index` among them, and the time [s]."""

    system: Kinematics
    index: int
    position: int
    held: list[int]
    t: float

    @cached_property
    def rows(self) -> npt.NDArray[np.intp]:
        """Indices of the rows that restrict positions."""
        return np.flatnonzero(self.system.holonomic)

    @cached_property
    def columns(self) -> npt.NDArray[np.intp]:
        """Indices of the coordinates that corrections move."""
        return np.setdiff1d(np.arange(self.system.nv), self.held)

    @cached_property
    def selected(self) -> Array:
        """Rows of the identity: the held coordinates, the swept one last."""
        return np.asarray(np.eye(self.system.nv)[[*self.held[1:], self.index]])


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


def sweep(
    system: Kinematics,
    coordinate: tuple[int, int],
    values: Array,
    q0: Array,
    t: float = 0.0,
    *,
    held: Sequence[int] = (),
) -> Sweep:
    """Follow the path of a coordinate (its index into q and v) through `values`, from near q0 (nq,).

    `held` are indices into v of further coordinates that stay as they are in q0.
    """
    position, index = coordinate
    path = _Path(system, index, position, [index, *(k for k in held if k != index)], t)
    name = system.coordinate_names[index]
    start = q0.copy()
    start[position] = values[0]
    kept = "".join(f", {system.coordinate_names[k]} held" for k in path.held[1:])
    first = assemble(system, start, t, path.held, f"{name} = {values[0]:g}{kept}")
    if not first.success:
        empty = np.zeros((0, system.nq))
        return Sweep(name, values[:0], empty, np.zeros(0, dtype=bool), False, f"No start. {first.message}")

    point = _point(path, first.q, values[0], None)
    points = [point]
    for value in values[1:]:
        point, reached = _advance(path, point, float(value))
        if not reached:
            break
        points.append(point)
    done, success = len(points), len(points) == len(values)
    message = f"Swept '{name}' through {done} values." if success else _stopped(name, values[done], point)
    loose = () if point.singular and done == 1 else first.undetermined
    if loose:
        message += (
            f" Nothing determines {', '.join(loose)}: moved as little as possible, which depends on the path;"
            " hold them with fixed=."
        )
    q, singular = np.array([p.q for p in points]), np.array([p.singular for p in points])
    return Sweep(name, values[:done], q, singular, success, message=message, undetermined=loose)


def _advance(path: _Path, point: _Point, value: float) -> tuple[_Point, bool]:
    """Continue to one value, in as many steps as it takes; the last point, and whether it is the value."""
    system = path.system
    unit = system.unit[path.index]
    step = value - point.value
    while point.value != value:
        fastest = float(np.max(np.abs(point.tangent / system.unit)))
        step = np.sign(value - point.value) * min(
            abs(step), abs(value - point.value), LONGEST_STEP / max(fastest, 1e-12)
        )
        target = value if abs(step) >= abs(value - point.value) else point.value + step
        found = _correct(path, point, target)
        if found is not None:
            point = _point(path, found, target, point)
            step *= 2.0
        elif abs(step) <= SMALLEST_STEP * unit:
            return point, False
        else:
            step /= 3.0
    return point, True


def _correct(path: _Path, point: _Point, target: float) -> Array | None:
    """Predict along the tangent and close; None where the branch cannot be told apart or does not close."""
    system = path.system
    step = (target - point.value) * point.tangent
    predicted = system.integrate(point.q, step)
    predicted[path.position] = target
    found: Closing = close(system, predicted, path.t, path.rows, path.columns)
    if not found.closed:
        return None
    correction = np.linalg.norm(system.difference(predicted, found.q) / system.unit)
    length = np.linalg.norm(step / system.unit)
    if point.first and point.singular:  # where branches meet any of them will do
        length += LONGEST_STEP / CORRECTION
    return found.q if correction <= CORRECTION * length + 1e-9 else None


def _point(path: _Path, q: Array, value: float, last: _Point | None) -> _Point:
    """The pose and its tangent: J v = 0, v[index] = 1, other held ones 0, nearest to zero, or to the last
    where rank is lost."""
    system = path.system
    _, J, _, _ = system.constraints(q, np.zeros(system.nv), path.t)
    rows = np.concatenate([dimensionless(system, J), path.selected])
    split = decompose(rows, rank_tol=SINGULAR_TOL, absolute=True)
    rank, Jd = split.rank, rows[:-1]
    if last is None:
        lost = loses_rank_here(system, q, path.t, ranked_svd(Jd[: system.nc], SINGULAR_TOL))
    else:
        lost = rank < last.rank
    singular = lost or rank == decompose(Jd, rank_tol=SINGULAR_TOL, absolute=True).rank
    wish = last.tangent / system.unit if last is not None and singular else np.zeros(system.nv)
    right = np.zeros(len(rows))
    right[-1] = 1.0 / system.unit[path.index]
    x = wish + split.solve(right - rows @ wish)
    x[path.held[1:]] = 0.0
    known = rank if last is None else max(rank, last.rank)
    return _Point(q, value, system.unit * x, known, singular, last is None)


def _stopped(name: str, wanted: float, point: _Point) -> str:
    return (
        f"Stopped at '{name}' = {point.value:.6g} on the way to {wanted:.6g}: the constraints do not close"
        " beyond it on this branch (a dead centre, or a singular pose that this motion does not pass)."
        " The poses before it are kept."
    )

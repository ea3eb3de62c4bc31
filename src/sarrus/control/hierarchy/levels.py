"""Levels: strict priorities by mass-weighted orthogonalization; [DeSapio2010] algorithms 1 and 2.

With X a basis of the tangent directions of the constraints, orthonormal in the mass metric, X.T M X = 1,

    a = a0 + X w,   w = X.T S.T u                                                                   (1)

is the response to the actuators (`dynamics/input_response.py`), and [DeSapio2010]'s products
<A, B> = A.T M^-1 B of orthogonalized Jacobians become plain ones. Of w, the actuators control the span of U,
w = U s; with task rows A_i = J_i X U and Z_i an orthonormal basis of the null space of the levels 1 to i
(the directions of s that they leave open), Z_0 = 1,

    Q_i.T = N_(i-1).T J_i.T = M X U Z Z.T A_i.T        (Z = Z_(i-1))                   eq. (91)      (2)
    s_i = s_(i-1) + Z (A_i Z)^+ (wanted_i - J_i a0 - A_i s_(i-1))                      eq. (92), (95) (3)
    Z_i = Z null(A_i Z)                                                                eq. (94)      (4)

The pseudoinverse in (3) replaces the inverse of J_i M^-1 Q_i.T: rows that conflict with higher levels or with
the constraints are satisfied in the least-squares sense, and torques stay bounded.
kernels/control/priority_levels.hpp
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from ... import _kernel
from ...arrays import Array
from ...dynamics.forward import without_inertia
from ...dynamics.input_response import Response
from ..core.force_metric import Factor


class ControllableBasis(NamedTuple):
    """Accelerations that the actuators can produce, a = a0 + E s, by inputs x = to_x s + internal z.

    x are inputs in the force metric, where the least torque is the shortest x (`core/force_metric.py`).

    Attributes:
        E: X U (nv, r), columns orthonormal in the mass metric.
        to_x: least-norm inputs for s (n, r).
        internal: inputs that change constraint forces only, not the acceleration (n, n - r).
        size: norm of the dimensionless X; tolerances on singular values are relative to it.
        dof: number of tangent directions; r < dof where some are not controllable.
    """

    E: Array
    to_x: Array
    internal: Array
    size: float
    dof: int


class TaskRows(NamedTuple):
    """Rows J a = wanted of one task, (k, nv) and (k,), their units (k,), and the damping of the task."""

    J: Array
    wanted: Array
    unit: Array
    damping: float


class LevelRows(NamedTuple):
    """Dimensionless rows A s = b of one level, the scale `zero` of the rank tolerance of A, and damping."""

    A: Array
    b: Array
    zero: float
    damping: float


class LevelSplit(NamedTuple):
    """Rank of a level in the null space of those above, basis of what it leaves to those below, damping."""

    rank: int
    left: Array
    damped: float


class LevelDirections(NamedTuple):
    """Singular value decomposition of A Z for one level.

    Attributes:
        y: least-norm solution (m,) of A (s + Z y) = b; damped least squares where `damped` is positive.
        values: nonzero singular values (rank,).
        used, left: right singular vectors of these, and of the null space, (m, rank) and (m, m - rank).
        damped: d^2, added to the squares of the singular values.
    """

    y: Array
    values: Array
    used: Array
    left: Array
    damped: float


class Priorities(NamedTuple):
    """Result of all levels, (3), (4).

    Attributes:
        rows: of each level.
        s: coordinates of the acceleration a0 + E s (r,).
        Z: basis of the null space of all levels (r, m).
        splits: rank, null space and damping of each level.
    """

    rows: list[LevelRows]
    s: Array
    Z: Array
    splits: list[LevelSplit]


def controllable_basis(response: Response, metric: Factor, min_controllability: float) -> ControllableBasis:
    """The accelerations (1) that the actuators can produce.

    Args:
        response: accelerations as functions of the inputs.
        metric: of the inputs, u = metric x.
        min_controllability: motions of which the actuators produce a smaller share than this are left out.
    """
    found = _kernel.controllable_basis(response, metric, min_controllability)
    if found is None:
        raise without_inertia()
    return ControllableBasis(
        **_finite(found, "the singular values of the actuators' reach did not converge.")
    )


def solve_levels(
    levels: Sequence[Sequence[TaskRows]], basis: ControllableBasis, response: Response, rank_tol: float
) -> Priorities:
    """All levels of tasks, highest priority first.

    A level has the largest damping of its tasks. Singular values below rank_tol, without units, are zero.
    """
    empty = TaskRows(np.zeros((0, len(response.a0))), np.zeros(0), np.zeros(0), 0.0)
    J, wanted, units, _ = zip(empty, *(task for level in levels for task in level), strict=True)
    ends = list(accumulate(sum(len(task.wanted) for task in level) for level in levels))
    damping = [max((task.damping for task in level), default=0.0) for level in levels]
    found = _kernel.solve_priorities(
        response,
        np.concatenate(J),
        np.concatenate(wanted),
        np.concatenate(units),
        ends=np.array(ends, dtype=np.int64),
        damping=np.array(damping),
        E=basis.E,
        size=basis.size,
        rank_tol=rank_tol,
    )
    _finite(found, "the singular values of a task did not converge.")
    A, b, rows, splits, begin = found["A"], found["b"], [], [], 0
    for i, end in enumerate(ends):
        left = found["left"][i]
        rows.append(LevelRows(A[begin:end], b[begin:end], float(found["zero"][i]), damping[i]))
        splits.append(LevelSplit(left.shape[0] - left.shape[1], left, float(found["damped"][i])))
        begin = end
    return Priorities(rows, found["s"], found["Z"], splits)


def level_directions(rows: LevelRows, s: Array, Z: Array, rank_tol: float) -> LevelDirections:
    """Solve one level in the null space Z (r, m) of the levels above, starting from s (r,)."""
    found = _kernel.solve_level(A=rows.A, b=rows.b, s=s, Z=Z, zero=rank_tol * rows.zero, damping=rows.damping)
    return LevelDirections(**_finite(found, "the singular values of a task did not converge."))


def _finite(found: dict[str, Any], otherwise: str) -> dict[str, Any]:
    """What the kernel found, or a LinAlgError with this message where it is not finite."""
    if not found.pop("finite"):
        raise np.linalg.LinAlgError(otherwise)
    return found

"""Levels: strict priorities by mass-weighted orthogonalization; [DeSapio2010] algorithms 1 and 2.

With X a basis of the tangent directions of the constraints, orthonormal in the mass metric, X.T M X = 1,

    a = a0 + X w,   w = X.T S.T u                                                                   (1)

is the response to the actuators (`dynamics/input_response.py`), and [DeSapio2010]'s products
<A, B> = A.T M^-1 B of orthogonalized Jacobians become plain ones. Of w, the actuators control the span of U,
w = U s; with task rows A_i = J_i X U and Z_i an orthonormal basis of what the levels up to i leave open,
Z_0 = 1,

    Q_i.T = N_(i-1).T J_i.T = M X U Z Z.T A_i.T        (Z = Z_(i-1))                   eq. (91)      (2)
    s_i = s_(i-1) + Z (A_i Z)^+ (wanted_i - J_i a0 - A_i s_(i-1))                      eq. (92), (95) (3)
    Z_i = Z null(A_i Z)                                                                eq. (94)      (4)

The pseudoinverse in (3) replaces the inverse of J_i M^-1 Q_i.T: what conflicts with higher levels or with the
constraints is met as far as possible, in the least-squares sense, and torques stay bounded.
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
    """What the actuators control: a = a0 + E s, and the inputs x = to_x s + internal z in the force metric.

    Attributes:
        E: X U (nv, r), columns orthonormal in the mass metric.
        to_x: least-norm inputs for s (n, r).
        internal: inputs that load the constraints only (n, n - r).
        size: |X| without units, against which zero is measured.
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
    """One level: A s = b without units, the size of what counts as zero in A, and its damping."""

    A: Array
    b: Array
    zero: float
    damping: float


class LevelSplit(NamedTuple):
    """What a level does with the directions open to it: how many it uses, those it leaves, its damping."""

    rank: int
    left: Array
    damped: float


class LevelDirections(NamedTuple):
    """One level by itself: A Z taken apart.

    Attributes:
        y: the least y (m,) with A (s + Z y) = b, damped where chosen.
        values: singular values of the directions that the level uses (rank,).
        used, left: these directions, and those it leaves, (m, rank) and (m, m - rank).
        damped: d^2 that was added to the squares of the singular values.
    """

    y: Array
    values: Array
    used: Array
    left: Array
    damped: float


class Priorities(NamedTuple):
    """All levels: their rows, s (r,), what stays open Z (r, m), and how each level went; (3), (4)."""

    rows: list[LevelRows]
    s: Array
    Z: Array
    splits: list[LevelSplit]


def controllable_basis(response: Response, metric: Factor, min_controllability: float) -> ControllableBasis:
    """The accelerations (1) that the actuators control.

    Args:
        response: of the state.
        metric: of the inputs, u = metric x.
        min_controllability: motions of which the actuators have less than this share are not controllable.
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
    """What a level does with the directions Z that are open to it, from s (r,) on."""
    found = _kernel.solve_level(A=rows.A, b=rows.b, s=s, Z=Z, zero=rank_tol * rows.zero, damping=rows.damping)
    return LevelDirections(**_finite(found, "the singular values of a task did not converge."))


def _finite(found: dict[str, Any], otherwise: str) -> dict[str, Any]:
    if not found.pop("finite"):
        raise np.linalg.LinAlgError(otherwise)
    return found

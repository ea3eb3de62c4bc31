"""decompose: the split of vectors at one constraint Jacobian, or at many."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from .._kernel import RANK_TOL, split_rows
from ..arrays import Array, numeric
from ..errors import InputError
from .decomposition import Decomposition, as_matrix, check_rank_tol, count_above, metric_factor
from .decompositions import Decompositions

# One matrix in overloads, as OneState is one state
OneMatrix = np.ndarray[tuple[int, int], np.dtype[Any]] | Sequence[Sequence[float]]


@overload
def decompose(  # type: ignore[overload-overlap]
    J: OneMatrix,
    metric: npt.ArrayLike | None = None,
    rank_tol: float = RANK_TOL,
    *,
    absolute: bool = False,
    rank: int | None = None,
) -> Decomposition: ...
@overload
def decompose(
    J: npt.ArrayLike,
    metric: npt.ArrayLike | None = None,
    rank_tol: float = RANK_TOL,
    *,
    absolute: bool = False,
    rank: int | None = None,
) -> Decompositions: ...
def decompose(
    J: npt.ArrayLike,
    metric: npt.ArrayLike | None = None,
    rank_tol: float = RANK_TOL,
    *,
    absolute: bool = False,
    rank: int | None = None,
) -> Decomposition | Decompositions:
    """Split the space of velocities at the constraints J v = 0.

    Args:
        J: constraint Jacobian (nc, nv); nc may be 0. With batch axes (..., nc, nv) the result is a
            `Decompositions`.
        metric: symmetric positive definite matrix (nv, nv) that measures velocities; None is Euclidean.
        rank_tol: singular values at or below rank_tol times the largest count as zero.
        absolute: compare the singular values with rank_tol itself. For a J without units only.
        rank: the rank, where it is already known (from the same J without units, say).

    Returns:
        The decomposition; see `Decomposition`.

    Raises:
        InputError: J is not a finite matrix, the metric is not symmetric positive definite, or rank_tol
            or rank is out of range.

    Example:

        >>> import sarrus as sr
        >>> split = sr.decompose([[1.0, 0.0, 0.0], [2.0, 0.0, 0.0]])  # the second row says nothing new
        >>> split.rank, split.dof, split.tangent([3.0, 4.0, 5.0]).round(12).tolist()
        (1, 2, [0.0, 4.0, 5.0])
    """
    check_rank_tol(rank_tol)
    given = numeric(J, "`J`", "a matrix of finite numbers")
    if given.ndim < 3:
        return _one(given, metric, rank_tol, absolute, rank)
    batch = given.shape[:-2]
    each = [_one(given[i], metric, rank_tol, absolute, rank) for i in np.ndindex(batch)]
    if not each:
        raise InputError(f"`J` must hold at least one matrix, got shape {given.shape}.")
    return Decompositions.stacked(each, batch)


def _one(
    J: Array, metric: npt.ArrayLike | None, rank_tol: float, absolute: bool, rank: int | None
) -> Decomposition:
    J = as_matrix(J, "J")
    nc, nv = J.shape
    L = None if metric is None else metric_factor(metric, nv)
    values, V, R = split_rows(J, L)
    if rank is None:
        rank = count_above(values, rank_tol, absolute)
    elif not isinstance(rank, (int, np.integer)) or not 0 <= rank <= min(nc, nv):
        raise InputError(f"`rank` of a {nc} x {nv} matrix must be between 0 and {min(nc, nv)}, got {rank!r}.")
    W = None if metric is None else np.array(metric, dtype=float)
    return Decomposition(rank, values, W, V, R)

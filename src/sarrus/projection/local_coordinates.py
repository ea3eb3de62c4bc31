"""Local coordinates of the constraint manifold: which coordinates are independent, and what they determine.

The directions tangent to {phi = 0, J v = b} at a state are the (dq, dv) with

    J_h dq = 0,   J dv + d(J v - b)/dq dq = 0                   [Spencer2004] eq. (2.10), (2.19)      (1)

where J_h holds the rows that restrict positions. Local coordinates y_q = R_q dq, y_v = R_v dv, eq. (2.32),
determine them:

    dq = K y_q,   dv = L y_q + K_v y_v                          [Spencer2004] eq. (2.40), (2.44)      (2)

Where every row restricts positions, K_v = K and L is the time derivative of K. Rows may depend on each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from .decomposition import ranked_svd
from .system_kinematics import Kinematics, dimensionless

Indices = npt.NDArray[np.intp]

INDEPENDENT_TOL = 1e-7  # smallest singular value of R N that counts, N orthonormal and without units
TIE = 1e-6  # relative difference of row norms below which the coordinate declared first is taken
GROWTH = 1.05  # a swap of coordinates must enlarge |det R N| by this factor
MOST_SWAPS = 50


@dataclass(frozen=True)
class Tangents:
    """Tangent directions at one pose.

    Attributes:
        N_q: directions of positions (nv, freedoms of positions), orthonormal without units.
        N_v: directions of velocities (nv, freedoms of velocities); N_q itself unless rows restrict only
            velocities (rolling).
        rank: rank of J.
        unit: L for a length, 1 for an angle, per coordinate (nv,).
    """

    N_q: Array
    N_v: Array
    rank: int
    unit: Array
    _normal: Array  # (nv, nc): pseudoinverse of J without units

    def bare(self, N: Array) -> Array:
        """A basis of directions without units: orthonormal."""
        return N / self.unit[:, None]

    def solve(self, right: Array) -> Array:
        """The smallest dv (nv, k) without units with J dv = right (nc, k)."""
        return np.asarray(self._normal @ right)


def tangents(system: Kinematics, J: Array, rank: int | None = None) -> Tangents:
    """Tangent directions of a system whose constraint Jacobian is J (nc, nv), of known rank or not."""
    bare, unit = dimensionless(system, J), np.asarray(system.unit)
    svd = ranked_svd(bare, system.rank_tol, rank)
    rank, V = svd.rank, unit[:, None] * svd.Vt.T
    N_q = N_v = V[:, rank:]
    if not np.all(system.holonomic):
        N_q = unit[:, None] * ranked_svd(bare[np.asarray(system.holonomic)], system.rank_tol).N
    normal = (V[:, :rank] / svd.s[:rank]) @ (svd.U[:, :rank].T / system.row_unit)
    return Tangents(N_q, N_v, rank, unit, normal)


def lift(at: Tangents, R_q: Array, R_v: Array, Jv_q: Array) -> Array:
    """What local coordinates determine, (2): T with [dq; dv] = T [y_q; y_v].

    T = [[K, 0], [L, K_v]] has 2 nv rows and a column for each freedom of positions, then of velocities.

    Args:
        at: the tangent directions.
        R_q: rows of y_q = R_q dq (freedoms of positions, nv).
        R_v: rows of y_v = R_v dv (freedoms of velocities, nv).
        Jv_q: derivative of J v - b with respect to tangent increments of q (nc, nv).
    """
    K = at.N_q @ np.linalg.inv(R_q @ at.N_q)
    K_v = K if R_v is R_q and at.N_v is at.N_q else at.N_v @ np.linalg.inv(R_v @ at.N_v)
    some = -at.solve(Jv_q @ K)
    nv, n = K.shape
    T = np.zeros((2 * nv, n + K_v.shape[1]))
    T[:nv, :n], T[nv:, :n], T[nv:, n:] = K, some - K_v @ (R_v @ some), K_v
    return T


def selection(indices: Sequence[int] | Indices, nv: int) -> Array:
    """Rows of the identity (k, nv)."""
    return np.asarray(np.eye(nv)[np.asarray(indices, dtype=int)])


def independence(N: Array, indices: Sequence[int] | Indices) -> float:
    """How well coordinates determine the motion: the smallest singular value of these rows of N (nv, dof).

    N is without units and orthonormal: 1 at best, 0 if the rest can move while they stand still.
    """
    rows = N[np.asarray(indices, dtype=int)]
    return float(np.linalg.svd(rows, compute_uv=False)[-1]) if rows.size else 1.0


def choose(N: Array, preferred: Sequence[int] = ()) -> list[int]:
    """Coordinates that determine the motion best: a square block of N (nv, dof) of large determinant.

    Args:
        N: orthonormal basis of the directions, without units.
        preferred: coordinates to keep where they are independent of each other; then they come first and
            the rest is filled up.
    """
    rest, chosen = N.copy(), list[int]()
    if len(preferred):
        _eliminate(rest, np.isin(np.arange(len(N)), preferred), chosen)
    _eliminate(rest, np.ones(len(N), dtype=bool), chosen)
    return chosen if len(preferred) else sorted(_swap(N, chosen))


def _eliminate(rest: Array, candidates: npt.NDArray[np.bool_], chosen: list[int]) -> None:
    """Pivoted elimination: adds candidates that are independent of the chosen rows and of each other.

    Args:
        rest: rows of N less their parts along the chosen ones; changed in place.
        candidates: which rows may be chosen.
        chosen: added to.
    """
    while len(chosen) < rest.shape[1]:
        size = np.sqrt(np.einsum("ij,ij->i", rest, rest)) * candidates
        best = int((size >= (1.0 - TIE) * size.max()).argmax())
        if size[best] <= INDEPENDENT_TOL:
            return
        chosen.append(best)
        along = rest[best] / size[best]  # to eps / INDEPENDENT_TOL, far below TIE
        rest -= (rest @ along)[:, None] * along


def _swap(N: Array, chosen: list[int]) -> list[int]:
    """Exchange coordinates while that enlarges the determinant: then no entry of K exceeds GROWTH."""
    for _ in range(MOST_SWAPS):
        if not chosen:
            break
        K = np.abs(N @ np.linalg.inv(N[chosen]))
        row, column = (int(i) for i in np.unravel_index(np.argmax(K), K.shape))
        if K[row, column] <= GROWTH:
            break
        chosen[column] = row
    return chosen

"""Response: what the actuators can do at one state, as affine maps of their inputs u.

    a = a0 + B u        constraint_force = F0 + Phi u        lam = lam0 + Lam u                    (1)

With a = a_normal + N y' [Aghili2005] eq. (16), the columns of N orthonormal, and Mr = N.T M N,

    B = N Mr^-1 N.T S.T      a0 = a_normal - N Mr^-1 N.T (h + M a_normal)                          (2)

Nothing here depends on how the inputs are chosen. Rows of J need not be independent: where they are, one call
of the kernel gives all of it (kernels/control/input_response.hpp), otherwise singular values do.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy.linalg import lapack

from .. import _kernel
from ..projection.decomposition import full_svd
from .control_kernel import largest
from .formulations import split, with_limit
from .forward import LostRows, without_inertia
from .inverse import unfelt_motions
from .terms import Terms, Units

Array = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int_]

OPEN_ROWS = 10.0  # singular values up to this many times the gap of the rows may stem from the gap


@dataclass(frozen=True)
class Response:
    """Affine maps from the inputs of the actuated coordinates, at one state.

    Attributes:
        a0: acceleration without inputs (nv,).
        B: acceleration per unit of input (nv, nu).
        N: tangent directions (nv, dof), columns orthonormal when lengths are divided by L.
        rank: rank of J.
        terms: of the state.
        units: of coordinates and rows.
        columns: indices of the actuated coordinates (nu,).
    """

    a0: Array
    B: Array
    N: Array
    rank: int
    terms: Terms
    units: Units
    columns: Indices
    _lam: tuple[Array, Array] | None = None
    _more: tuple[Array, Array, Array] | None = None

    @property
    def dof(self) -> int:
        """Number of tangent directions."""
        return int(self.N.shape[1])

    @property
    def F0(self) -> Array:
        """Constraint force without inputs (nv,)."""
        return self._force[0]

    @property
    def Phi(self) -> Array:
        """Constraint force per unit of input (nv, nu)."""
        return self._force[1]

    @cached_property
    def _force(self) -> tuple[Array, Array]:
        """M a + h - S.T u as F0 (nv,) and Phi (nv, nu)."""
        Phi = self.terms.M @ self.B
        Phi[self.columns, np.arange(len(self.columns))] -= 1.0
        return self.terms.M @ self.a0 + self.terms.h, Phi

    @cached_property
    def inverse_inertia(self) -> Array:
        """N (N.T M N)^-1 N.T (nv, nv): acceleration per unit of generalized force."""
        if self._more is not None:
            return self._more[0]
        N = self.N
        return (
            np.asarray(N @ lapack.dposv(N.T @ (self.terms.M @ N), N.T, lower=1)[1]) if self.dof else N @ N.T
        )

    @cached_property
    def prescribed(self) -> Array:
        """Acceleration (nv,) that the constraints prescribe: what of a0 is across N, lengths over L."""
        if self._more is not None:
            return self._more[1]
        a0, N = self.a0, self.N
        return np.asarray(a0 - N @ (a0 @ (N / self.units.unit[:, None] ** 2)))

    @cached_property
    def multipliers(self) -> tuple[Array, Array]:
        """lam0 (nc,) and Lam (nc, nu) of (1), of least norm where rows of J depend on each other."""
        if self._lam is not None:
            return self._lam
        U, s, Vt = full_svd(self.terms.J)
        back = (U[:, : self.rank] / s[: self.rank]) @ Vt[: self.rank]
        return back @ self.F0, back @ self.Phi

    def multipliers_of(self, columns: Indices) -> Array:
        """Multipliers per unit of generalized force at some coordinates, (nc, len(columns))."""
        if self._more is not None:
            return self._more[2][:, columns]
        gap = largest(self.terms.phi, self.units.per_row)
        return respond(self.terms, columns, self.units, None, gap).multipliers[1]

    @cached_property
    def lam_unique(self) -> npt.NDArray[np.bool_]:
        """Which entries of lam the motion determines (nc,)."""
        if self._lam is not None:
            return np.ones(len(self.terms.J), dtype=bool)
        bare = self.terms.J * self.units.unit / self.units.row_unit[:, None]
        lost = full_svd(bare)[0][:, self.rank :]
        return np.asarray(np.linalg.norm(lost, axis=1) < _kernel.UNIQUE_TOL)

    @cached_property
    def feel(self) -> Array:
        """Singular values of S N, descending, (dof,): how much the actuators feel of each motion.

        1: as much as if all coordinates were actuated; 0: nothing, the motion is not controllable
        [Aghili2005] eq. (56), (62). Lengths divided by L.
        """
        values = np.zeros(self.dof)
        if len(self.columns) and self.dof:
            found = np.linalg.svd(self._bare_N[self.columns], compute_uv=False)
            values[: len(found)] = found
        return values

    @property
    def controllable(self) -> bool:
        """Whether the inputs can produce every acceleration that the constraints allow."""
        return self.dof == 0 or bool(self.feel[-1] > self.units.rank_tol)

    @cached_property
    def uncontrollable(self) -> tuple[tuple[str, ...], ...]:
        """Motions that no actuator feels, one tuple of coordinate names each."""
        if self.controllable:
            return ()
        felt = int(np.sum(self.feel > self.units.rank_tol))
        bare = self._bare_N
        Vt = full_svd(bare[self.columns])[2]
        return unfelt_motions(bare @ Vt[felt:].T, self.units)

    @cached_property
    def _bare_N(self) -> Array:
        return self.N / self.units.unit[:, None]


def respond(
    terms: Terms, columns: Indices, units: Units, lost_rows: LostRows | None = None, gap: float = 0.0
) -> Response:
    """The response of one state to inputs at the coordinates `columns`.

    Args:
        terms: of the state.
        columns: indices of the actuated coordinates (nu,).
        units: what makes rows and coordinates comparable.
        lost_rows: the limit of rows lost at a singular pose (see `limit.py`); None leaves them out.
        gap: largest |phi|, lengths divided by L, of a measured state off the constraints: dependent rows then
            look independent by the size of the gap, so the tolerance of the rank is raised to it.

    Raises:
        ModelError: the mass matrix is singular along the tangent directions.
    """
    tol = max(units.rank_tol, OPEN_ROWS * gap)
    M, h, J, gamma = terms.M, terms.h, terms.J, terms.gamma
    found = _kernel.respond(M, h, J, gamma, units.unit, units.row_unit, columns, tol)
    if found is None:
        return _with_dependent_rows(terms, columns, units, tol, lost_rows)
    if isinstance(found, bool):
        raise without_inertia()
    a0, B, lam0, Lam, N, P, prescribed, lam_force = found
    return Response(a0, B, N, len(J), terms, units, columns, (lam0, Lam), (P, prescribed, lam_force))


def _with_dependent_rows(
    terms: Terms, columns: Indices, units: Units, tol: float, lost_rows: LostRows | None
) -> Response:
    """The same through singular values, with the limits of rows that are lost here."""
    state = split(terms, np.zeros(len(terms.h)), dataclasses.replace(units, rank_tol=tol))
    if lost_rows is not None and state.rank < min(terms.J.shape):
        limit = lost_rows(state.lost)
        if limit is not None:
            state = with_limit(state, limit, units)
    N, a_normal = np.ascontiguousarray(units.unit[:, None] * state.N), units.unit * state.x_normal
    # Mr y' = N.T (S.T u - h - M a_normal)   (2)
    right = np.empty((N.shape[1], len(columns) + 1))
    right[:, 1:] = N[columns].T
    np.negative(N.T @ (terms.h + terms.M @ a_normal), out=right[:, 0])
    if N.shape[1]:
        _, right, info = lapack.dposv(N.T @ (terms.M @ N), right, lower=1)
        if info:
            raise without_inertia()
    both = N @ right
    return Response(both[:, 0] + a_normal, both[:, 1:].copy(), N, state.rank, terms, units, columns)

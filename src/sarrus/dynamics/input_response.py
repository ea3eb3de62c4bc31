"""Response: acceleration and constraint forces of one state, as affine maps of the inputs u.

    a = a0 + B u        constraint_force = F0 + Phi u        lam = lam0 + Lam u                    (1)

With a = a_normal + N y' [Aghili2005] eq. (16), the columns of N orthonormal, and Mr = N.T M N,

    B = N Mr^-1 N.T S.T      a0 = a_normal - N Mr^-1 N.T (h + M a_normal)                          (2)

Nothing here depends on how the inputs are chosen. Rows of J need not be independent. The maps come from the
kernel (kernels/control/input_response.hpp).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt

from .. import _kernel
from ..arrays import Array
from ..projection.decomposition import full_svd
from .forward import without_inertia
from .inverse import unfelt_motions
from .terms import Terms, Units

Indices = npt.NDArray[np.int_]


class Moving(Protocol):
    """A state in motion, along which rows lost at a singular pose have a limit; v (nv,)."""

    v: Array

    def row_rates(self) -> tuple[Array, Array]:
        """Derivatives of J (nc, nv) and of gamma (nc,) along the motion, at constant v."""
        ...


@dataclass(eq=False)
class Response:
    """Affine maps from the inputs of the actuated coordinates, at one state.

    Attributes:
        a0: acceleration without inputs (nv,).
        B: acceleration per unit of input (nv, nu).
        lam0, Lam: multipliers without inputs (nc,) and per unit of input (nc, nu), of least norm where rows
            of J depend on each other.
        lam_per_force: multipliers per unit of generalized force (nc, nv).
        lam_unique: which multipliers the motion determines (nc,).
        N: tangent directions (nv, dof), columns orthonormal when lengths are divided by L.
        rank: rank of J.
        inverse_inertia: N (N.T M N)^-1 N.T (nv, nv): acceleration per unit of generalized force.
        prescribed: acceleration (nv,) that the constraints prescribe: the part of a0 across N, lengths
            divided by L.
        terms: of the state.
        units: of coordinates and rows.
        columns: indices of the actuated coordinates (nu,).
    """

    a0: Array
    B: Array
    lam0: Array
    Lam: Array
    lam_per_force: Array
    lam_unique: npt.NDArray[np.bool_]
    N: Array
    rank: int
    inverse_inertia: Array
    prescribed: Array
    terms: Terms
    units: Units
    columns: Indices

    @property
    def dof(self) -> int:
        """Number of tangent directions."""
        return int(self.N.shape[1])

    @cached_property
    def F0(self) -> Array:
        """Constraint force without inputs (nv,)."""
        return self.terms.M @ self.a0 + self.terms.h

    @cached_property
    def Phi(self) -> Array:
        """Constraint force per unit of input (nv, nu)."""
        Phi = self.terms.M @ self.B
        Phi[self.columns, np.arange(len(self.columns))] -= 1.0
        return Phi

    @cached_property
    def controllability(self) -> Array:
        """Singular values of S N, descending, (dof,): the share of each motion that the actuators move.

        1: as much as if all coordinates were actuated; 0: the motion is not controllable
        [Aghili2005] eq. (56), (62). Lengths divided by L.
        """
        values = np.zeros(self.dof)
        if len(self.columns) and self.dof:
            found = np.linalg.svd(self._bare_N[self.columns], compute_uv=False)
            values[: len(found)] = found
        return values

    @property
    def controllable_dof(self) -> int:
        """How many of the tangent directions the inputs control."""
        return int(np.sum(self.controllability > self.units.rank_tol))

    @property
    def controllable(self) -> bool:
        """Whether the inputs can produce every acceleration that the constraints allow."""
        return self.controllable_dof == self.dof

    @cached_property
    def uncontrollable(self) -> tuple[tuple[str, ...], ...]:
        """Motions that no actuator moves, one tuple of coordinate names each."""
        if self.controllable:
            return ()
        bare = self._bare_N
        Vt = full_svd(bare[self.columns])[2]
        return unfelt_motions(bare @ Vt[self.controllable_dof :].T, self.units.coordinate_names)

    @cached_property
    def _bare_N(self) -> Array:
        return self.N / self.units.unit[:, None]


def respond(terms: Terms, columns: Indices, units: Units, moving: Moving | None = None) -> Response:
    """The response of one state to inputs at the coordinates `columns`.

    Args:
        terms: of a state on the constraints: off them dependent rows look independent.
        columns: indices of the actuated coordinates (nu,).
        units: what makes rows and coordinates comparable.
        moving: the state in motion, to replace rows lost at a singular pose by their limit; None leaves them
            out.

    Raises:
        ModelError: the mass matrix is singular along the tangent directions.
    """

    tol, v = units.rank_tol, None if moving is None else moving.v
    status, found = _kernel.input_response(terms, units, columns, tol, v, None)
    if status == "rates needed" and moving is not None:
        status, found = _kernel.input_response(terms, units, columns, tol, v, moving.row_rates())
    if status == "no inertia":
        raise without_inertia()
    return Response(**found)

"""First variations of a constrained motion as functions of its local coordinates, and their rates.

Along the motion, with x = [y_q; y_v] and inputs w,

    [dq; dv]  = T x                                             [Spencer2004] eq. (2.40)            (1)
    d(dq)/dt  = dv - ad_v dq                                    quaternions: twists do not commute  (2)
    d(dv)/dt  = da = a_q dq + a_v dv + a_tau dtau,   dlam alike                                     (3)

All variations are tangent to {phi = 0, J v = b}; others are not defined (section 4.1).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from ..dynamics.derivatives import Derivatives
from ..projection.local_coordinates import Tangents, lift


@dataclass(frozen=True)
class Variation:
    """Variations per unit of each state x, or of each input w, as columns.

    Attributes:
        T: [dq; dv] of the states (2 nv, nx).
        rate: their time derivative (2 nv, nx).
        lam: change of the multipliers (nc, nx).
        rate_u, lam_u: the same of the inputs, (2 nv, nw) and (nc, nw).
    """

    T: Array
    rate: Array
    lam: Array
    rate_u: Array
    lam_u: Array

    @property
    def signals(self) -> tuple[Array, Array]:
        """z = [dq; dv; da; dlam] of the states and of the inputs, (3 nv + nc, nx) and (3 nv + nc, nw)."""
        nv = len(self.T) // 2
        inputs = np.concatenate([np.zeros_like(self.rate_u), self.rate_u[nv:], self.lam_u])
        return np.concatenate([self.T, self.rate[nv:], self.lam]), inputs


def analytic_variation(
    at: Tangents, d: Derivatives, ad_v: Array, R_q: Array, R_v: Array, columns: npt.NDArray[np.int32]
) -> Variation:
    """Variations from the derivatives of the dynamics.

    Args:
        at: tangent directions.
        d: derivatives at the state.
        ad_v: bracket of the velocity (nv, nv).
        R_q, R_v: local coordinates y_q = R_q dq, y_v = R_v dv.
        columns: coordinates on which the inputs act.
    """
    nv = len(ad_v)
    T = lift(at, R_q, R_v, d.Jv_q)
    dq, dv = T[:nv], T[nv:]
    rate = np.concatenate([dv - ad_v @ dq, d.a_q @ dq + d.a_v @ dv])
    rate_u = np.zeros((2 * nv, len(columns)))
    rate_u[nv:] = d.a_tau[:, columns]
    return Variation(T, rate, d.lam_q @ dq + d.lam_v @ dv, rate_u, d.lam_tau[:, columns])

"""The limit of constraint rows that are lost at a singular pose.

Where w.T J = 0, the row w.T (J a - gamma) = 0 is empty. The third derivative of phi replaces it:

    3 w.T J' a + w.T (D2J[v, v]) v = 0              from d3phi/dt3 = 0 on the left null space    (1)

Both coefficients are first derivatives along the curve q(s) = integrate(q, s v): J' = dJ/ds and, because
gamma(q(s), v) = -d(J v)/ds, D2J[v, v] v = -dgamma/ds. They are taken by central differences of sixth order;
with steps of 0.02 rad (or 0.02 L) truncation and rounding are both near 1e-13. The kernel has them by dual
numbers, except those of rows that the user wrote.

At rest (1) is empty too. Where the pose is rigid to second order (kernels/solve/rigid_rows.hpp), the
directions that no motion can take are the rows.
"""

from __future__ import annotations

import numpy as np

from .._kernel import LIMIT_TOL
from ..arrays import Array
from ..differences import slope_of_terms, slope_terms
from ..projection.branches import second_order_forms
from ..projection.decomposition import ranked_svd
from ..projection.system_kinematics import Kinematics, dimensionless
from ..projection.tangent_cone import independent_forms, rigid_directions
from .formulations import LimitRows

STEP = 0.02  # of the differences [rad], or times L [m]


def limit_rows(system: Kinematics, q: Array, v: Array, t: float, lost: Array) -> LimitRows | None:
    """Rows E a = e that replace the lost ones; None where v has no smooth continuation.

    A velocity outside the tangent cone, w.T gamma(v) != 0, exists at this pose only: no row is added for it.

    Args:
        system: whose constraints.
        q, v: the state, (nq,) and (nv,).
        t: time [s].
        lost: orthonormal basis (nc, k) of the w with w.T J = 0, J without units.
    """
    speed = float(np.linalg.norm(v / system.unit))
    if lost.shape[1] == 0:
        return None
    if speed == 0.0:
        return _rigid_rows(system, q, t)
    w = lost / system.row_unit[:, None]
    gamma_here = system.constraints(q, v, t)[3]
    if np.max(np.abs(w.T @ gamma_here)) > LIMIT_TOL * speed**2:
        return None
    rate_J, rate_gamma = row_rates(system, q, v, t)
    return LimitRows(3.0 * w.T @ rate_J, w.T @ rate_gamma, speed)


def row_rates(system: Kinematics, q: Array, v: Array, t: float) -> tuple[Array, Array]:
    """J' (nc, nv) and gamma' (nc,) of (1) by differences, where v is not zero."""

    def J_and_gamma(s: float) -> Array:
        _, J, _, gamma = system.constraints(system.integrate(q, s * v), v, t)
        return np.column_stack([J, gamma])

    step = STEP / float(np.linalg.norm(v / system.unit))
    rate = slope_of_terms(J_and_gamma, step, slope_terms(6))
    return np.ascontiguousarray(rate[:, :-1]), np.ascontiguousarray(rate[:, -1])


def _rigid_rows(system: Kinematics, q: Array, t: float) -> LimitRows | None:
    """Rows for rest at the pose q; None where it is not rigid to second order."""
    _, J, _, gamma = system.constraints(q, np.zeros(system.nv), t)
    svd = ranked_svd(dimensionless(system, J), system.rank_tol)
    if np.any(gamma) or svd.N.shape[1] == 0:
        return None
    stiff = rigid_directions(independent_forms(second_order_forms(system, q, t, svd)))
    return LimitRows(stiff @ svd.N.T / system.unit, np.zeros(len(stiff)), 1.0) if len(stiff) else None

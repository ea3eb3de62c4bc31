"""Variations by finite differences of states on the constraints, [Spencer2004] section 4.1.

Along each tangent direction the state moves to s = -2h, -h, h, 2h on a curve that stays on the manifold:
positions are closed again by assembly, velocities made consistent. Central differences of fourth order of
the states themselves give Z = d[q; v]/ds, of their rates F; with Y = R Z the local coordinates,

    T = Z Y^-1,   rate = F Y^-1                                                                     (1)

so that the curves need not keep any coordinate fixed. Nothing here uses a derivative of the dynamics.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from ..differences import slope_of_terms, slope_terms
from ..errors import AssemblyError
from ..simulation.system.custom_system import CustomSystem
from .first_variations import Variation
from .operating_point import OperatingPoint

STEP = 1e-3  # of a direction without units [1] or [1/s], and of time [s] in the rate of an increment
TERMS = sorted(slope_terms(4))
FRICTION_SHARE = 0.02  # largest step of velocities over the smoothing speed of Coulomb friction


def finite_variation(
    point: OperatingPoint, R_q: Array, R_v: Array, columns: npt.NDArray[np.int32]
) -> Variation:
    """Variations at a point by differences on the manifold; arguments as in `analytic_variation`."""
    mech, at = point.mech, point.at
    by_position = _slopes(point, lambda dq: _moved(point, dq), at.N_q.T, STEP)
    h = _velocity_step(point)
    by_velocity = _slopes(point, lambda dv: _neighbour(point, point.q, point.v + dv), at.N_v.T, h)
    Z, F, lam = _split(point, np.hstack([by_position, by_velocity]))
    R = np.zeros((Z.shape[1], 2 * mech.nv))
    R[: len(R_q), : mech.nv], R[len(R_q) :, mech.nv :] = R_q, R_v
    inverse = np.linalg.inv(R @ Z)
    forces = np.eye(mech.nv)[columns]
    by_force = _slopes(point, lambda f: _neighbour(point, point.q, point.v, point.tau + f), forces, 1.0)
    _, F_u, lam_u = _split(point, by_force)
    return Variation(Z @ inverse, F @ inverse, lam @ inverse, F_u, lam_u)


def _slopes(
    point: OperatingPoint, neighbour: Callable[[Array], Array], directions: Iterable[Array], h: float
) -> Array:
    """Derivatives of `_neighbour` along directions, one column each (4 nv + nc, k)."""
    columns = [slope_of_terms(lambda s, n=n: neighbour(s * n), h, TERMS) for n in directions]  # type: ignore[misc]
    return np.stack(columns, axis=1) if columns else np.zeros((4 * point.mech.nv + point.mech.nc, 0))


def _split(point: OperatingPoint, columns: Array) -> tuple[Array, Array, Array]:
    """Increments (2 nv, k), their rates (2 nv, k) and multipliers (nc, k)."""
    nv = point.mech.nv
    return columns[: 2 * nv], columns[2 * nv : 4 * nv], columns[4 * nv :]


def _velocity_step(point: OperatingPoint) -> float:
    m = point.mech.model
    smoothing = m.friction_speed[m.friction > 0.0] / m.unit[m.friction > 0.0]
    return min(STEP, FRICTION_SHARE * float(np.min(smoothing, initial=np.inf)))


def _moved(point: OperatingPoint, dq: Array) -> Array:
    """The neighbour whose position is moved by dq and closed again."""
    mech = point.mech
    found = mech.assemble(mech.integrate(point.q, dq), t=point.t)
    if not found.success:
        raise AssemblyError(f"a neighbour of this pose does not close. {found.message}")
    return _neighbour(point, found.q, mech.consistent_velocity(found.q, point.v, point.t))


def _neighbour(point: OperatingPoint, q: Array, v: Array, tau: Array | None = None) -> Array:
    """Increments (q, v) relative to the point, their time derivatives, multipliers: (4 nv + nc,)."""
    mech, force = point.mech, point.tau if tau is None else tau
    a, lam = _accelerated(point, q, v, force)

    def increment(s: float) -> Array:
        """Between the point and its neighbour, both moved on by s [s]."""
        return mech.difference(mech.integrate(point.q, s * point.v), mech.integrate(q, s * v))

    # exact for scalar coordinates, O(STEP^4) for quaternions
    rate = slope_of_terms(increment, STEP, TERMS)
    dq = mech.difference(point.q, q)
    return np.concatenate([dq, v - point.v, rate, a - point.a, lam - point.lam])


def _accelerated(point: OperatingPoint, q: Array, v: Array, tau: Array) -> tuple[Array, Array]:
    """Acceleration and multipliers at a neighbour, of the rank of the point."""
    mech: Any = point.mech
    if isinstance(mech, CustomSystem):
        motion = mech.forward_dynamics(q, v, tau, t=point.t)
        return motion.a, motion.lam
    system = point.mech.evaluator
    qs, vs, forces = q[None], v[None], tau[None]
    drive, user = system.drive(point.t, 1), system.user(qs, vs, point.t)
    a, _, lam, *_ = system.kernel.forward(qs, vs, forces, drive, user, point.at.rank)
    return a[0], lam[0]

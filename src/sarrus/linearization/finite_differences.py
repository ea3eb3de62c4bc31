"""Variations by finite differences of states on the constraints, [Spencer2004] section 4.1.

Along each tangent direction the state moves to s = -2h, -h, h, 2h on a curve that stays on the manifold:
positions are closed again by assembly, velocities made consistent. Central differences of fourth order of
the states themselves give Z = d[q; v]/ds, of their rates F; with Y = R Z the local coordinates,

    T = Z Y^-1,   rate = F Y^-1                                                                     (1)

so that the curves need not keep any coordinate fixed. Nothing here uses a derivative of the dynamics.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..arrays import Array
from ..errors import AssemblyError
from .first_variations import Variation
from .operating_point import OperatingPoint

STEP = 1e-3  # of a direction without units [1] or [1/s], and of time [s] in the rate of an increment
STENCIL = ((-2, 1.0 / 12.0), (-1, -8.0 / 12.0), (1, 8.0 / 12.0), (2, -1.0 / 12.0))
OF_FRICTION = 0.02  # of the smoothing speed of Coulomb friction, at most


class _Sample(NamedTuple):
    """A neighbour: increments, their rates, multipliers."""

    z: Array
    rate: Array
    lam: Array


def finite_variation(point: OperatingPoint, R_q: Array, R_v: Array, columns: list[int]) -> Variation:
    """Variations at a point by differences on the manifold; arguments as in `analytic_variation`."""
    mech, at = point.mech, point.at
    h_v = _velocity_step(point)
    slopes = [_slope(lambda s, n=n: _moved(point, s * n), STEP) for n in at.N_q.T]  # type: ignore[misc]
    slopes += [_slope(lambda s, n=n: _pushed(point, s * n), h_v) for n in at.N_v.T]  # type: ignore[misc]
    nx = len(slopes)
    Z, F, lam = (
        np.stack([one[k] for one in slopes], axis=1) if nx else np.zeros((n, 0))
        for k, n in enumerate((2 * mech.nv, 2 * mech.nv, mech.nc))
    )
    R = np.zeros((nx, 2 * mech.nv))
    R[: len(R_q), : mech.nv], R[len(R_q) :, mech.nv :] = R_q, R_v
    inverse = np.linalg.inv(R @ Z)
    forces = [_slope(lambda s, e=e: _forced(point, s * e), 1.0) for e in np.eye(mech.nv)[columns]]  # type: ignore[misc]
    F_u, lam_u = (
        np.stack([one[k] for one in forces], axis=1) if forces else np.zeros((n, 0))
        for k, n in ((1, 2 * mech.nv), (2, mech.nc))
    )
    return Variation(Z @ inverse, F @ inverse, lam @ inverse, F_u, lam_u)


def _slope(along: Callable[[float], _Sample], h: float) -> _Sample:
    """Derivative at zero of everything along a curve."""
    parts = [(weight / h, along(k * h)) for k, weight in STENCIL]
    return _Sample(*(sum(w * sample[i] for w, sample in parts) for i in range(3)))  # type: ignore[arg-type]


def _velocity_step(point: OperatingPoint) -> float:
    m = point.mech.model
    smoothing = m.friction_speed[m.friction > 0.0] / m.unit[m.friction > 0.0]
    return min(STEP, OF_FRICTION * float(np.min(smoothing, initial=np.inf)))


def _moved(point: OperatingPoint, dq: Array) -> _Sample:
    """The neighbour whose position is moved by dq and closed again."""
    mech = point.mech
    found = mech.assemble(mech.integrate(point.q, dq), t=point.t)
    if not found.success:
        raise AssemblyError(f"a neighbour of this pose does not close. {found.message}")
    return _sample(point, found.q, mech.consistent_velocity(found.q, point.v, point.t), point.tau)


def _pushed(point: OperatingPoint, dv: Array) -> _Sample:
    return _sample(point, point.q, point.v + dv, point.tau)


def _forced(point: OperatingPoint, dtau: Array) -> _Sample:
    return _sample(point, point.q, point.v, point.tau + dtau)


def _sample(point: OperatingPoint, q: Array, v: Array, tau: Array) -> _Sample:
    """Increments (q, v) relative to the point, their time derivatives, multipliers."""
    mech, system = point.mech, point.mech.evaluator
    qs, vs = q[None], v[None]
    drive, user = system.drive(point.t, 1), system.user(qs, vs, point.t)
    a, _, lam, *_ = system.kernel.forward(qs, vs, tau[None], drive, user, point.at.rank)
    # d/dt of the increment, both states moving on: exact for scalar coordinates, O(STEP^4) for quaternions
    u_rate = sum(
        weight / STEP * mech.difference(mech.integrate(point.q, e * point.v), mech.integrate(q, e * v))
        for e, weight in ((k * STEP, weight) for k, weight in STENCIL)
    )
    z = np.concatenate([mech.difference(point.q, q), v - point.v])
    return _Sample(z, np.concatenate([u_rate, a[0] - point.a]), lam[0] - point.lam)

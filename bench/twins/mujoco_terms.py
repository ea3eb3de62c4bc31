"""M, bias, equality rows and constrained accelerations of a MuJoCo model, in the coordinates of a mechanism.

MuJoCo's own constraints are soft. Here its M, forces and equality Jacobian are taken, and the acceleration
that keeps the equalities is solved for: an oracle for files that were read or written.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt

from sarrus.bridge.mujoco import MujocoBridge, equality_rows

Array = npt.NDArray[np.float64]
DEPENDENT = 1e-8  # singular values of J below this, relative to the largest, are rounding
STEP = 2e-4  # [s] of the differences of J along the motion


@dataclass(frozen=True)
class Terms:
    """M a + h = J.T lam, J a = gamma, in MuJoCo's velocities; phi is the residual, T gives qvel = T v."""

    M: Array
    h: Array
    J: Array
    gamma: Array
    phi: Array
    T: Array
    drift: Array

    @property
    def acceleration(self) -> Array:
        """qacc, with the equalities kept."""
        s = np.linalg.svd(self.J, compute_uv=False)
        rank = int(np.sum(s > DEPENDENT * s.max(initial=0.0)))
        return constrained_acceleration(self.M, self.h, self.J, self.gamma, rank)

    def difference(self, a: Array, felt: npt.NDArray[np.bool_] | None = None) -> float:
        """Largest difference of qacc from an acceleration of the mechanism, relative to it, or absolute.

        `felt` (nv,) says which coordinates are compared.
        """
        T = self.T if felt is None else self.T[:, felt]
        known = np.any(T != 0.0, axis=1)  # joints that both have
        gap = (self.acceleration - self.T @ a - self.drift)[known]
        size = np.abs(a if felt is None else a[felt]).max(initial=1.0)
        return float(np.abs(gap).max(initial=0.0) / size)


def constrained_acceleration(M: Array, h: Array, J: Array, gamma: Array, rank: int) -> Array:
    """a with M a + h = J.T lam and J a = gamma, by singular values of J: `rank` of them count."""
    U, s, Vt = np.linalg.svd(J)
    particular = Vt[:rank].T @ ((U.T @ gamma)[:rank] / s[:rank])
    Z = Vt[rank:].T  # free motions
    reduced, force = Z.T @ M @ Z, Z.T @ (-h - M @ particular)
    along = np.linalg.solve(reduced, force)
    along += np.linalg.solve(reduced, force - reduced @ along)  # rods spin with a millionth of the rest
    return np.asarray(particular + Z @ along)


def terms(bridge: MujocoBridge, q: Array, v: Array, ctrl: Array | None = None) -> Terms:
    """MuJoCo's terms at a state of the mechanism, without dry friction; actuators where ctrl is given."""
    model, data = bridge.model, mujoco.MjData(bridge.model)
    data.ctrl[:] = 0.0 if ctrl is None else ctrl
    bridge.to_mujoco(data, q, v)
    M = np.zeros((model.nv, model.nv))
    try:
        mujoco.mj_fullM(model, data, M)
    except TypeError:  # before MuJoCo 4
        mujoco.mj_fullM(model, M, data.qM)
    phi, J = equality_rows(model, data)
    speed = data.qvel.copy()

    def rows_at(s: float) -> Array:
        there = mujoco.MjData(model)
        there.qpos[:] = data.qpos
        mujoco.mj_integratePos(model, there.qpos, speed, s)
        mujoco.mj_forward(model, there)
        return equality_rows(model, there)[1] @ speed

    gamma = -_slope(rows_at) if len(phi) else np.zeros(0)
    drift = _slope(lambda s: bridge.velocity_map(bridge.mech.integrate(q, s * v)) @ v)
    h = data.qfrc_bias - data.qfrc_passive - (0.0 if ctrl is None else data.qfrc_actuator)
    return Terms(M, h, J, gamma, phi, bridge.velocity_map(q), drift)


def _slope(f: Any) -> Array:
    """Derivative at zero, central differences of eighth order."""
    pairs = ((1, 672.0), (2, -168.0), (3, 32.0), (4, -3.0))
    return np.asarray(sum(c * (f(k * STEP) - f(-k * STEP)) for k, c in pairs) / (840.0 * STEP))


def row_space(J: Array) -> Array:
    """Orthogonal projector on the row space of J."""
    _, s, Vt = np.linalg.svd(J)
    rank = int(np.sum(s > 1e-9 * s[0])) if len(s) else 0
    return np.asarray(Vt[:rank].T @ Vt[:rank])

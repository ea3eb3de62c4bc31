"""Derivatives of constrained forward dynamics and of the multipliers, from the kernel.

"analytic" is recursive ([Spencer2004] section 4.3, extended to joints with several coordinates). "dual"
carries dual numbers through the same factorization, one direction at a time, and serves to check the other.

The derivatives are defined along tangent directions only, (dq, dv) with J dq = 0 and J dv + Jv_q dq = 0: off
the manifold accelerations can be continued in many ways ([Spencer2004] section 4.1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array
from ..constraints.evaluate import Evaluator
from ..constraints.user_forces import user_force, user_force_slopes
from ..errors import InputError
from .forward import without_inertia

METHODS = ("analytic", "dual")


@dataclass(frozen=True)
class Derivatives:
    """Of one state, or of a batch (batch axes in front of every shape).

    Increments of q are tangent increments (nv): integrate(q, dq).

    Attributes:
        a: of the acceleration with respect to q, v and tau (3, nv, nv); also as a_q, a_v, a_tau.
        lam: of the multipliers of least norm (3, nc, nv); also as lam_q, lam_v, lam_tau.
        Jv_q: of J v - b with respect to q (nc, nv).
        rank: rank of J; of a batch an array.
    """

    a: Array
    lam: Array
    Jv_q: Array
    rank: int | Any

    @property
    def a_q(self) -> Array:
        """d(a)/dq (nv, nv)."""
        return self.a[..., 0, :, :]

    @property
    def a_v(self) -> Array:
        """d(a)/dv (nv, nv)."""
        return self.a[..., 1, :, :]

    @property
    def a_tau(self) -> Array:
        """d(a)/dtau (nv, nv): the constrained inverse inertia."""
        return self.a[..., 2, :, :]

    @property
    def lam_q(self) -> Array:
        """d(lam)/dq (nc, nv)."""
        return self.lam[..., 0, :, :]

    @property
    def lam_v(self) -> Array:
        """d(lam)/dv (nc, nv)."""
        return self.lam[..., 1, :, :]

    @property
    def lam_tau(self) -> Array:
        """d(lam)/dtau (nc, nv)."""
        return self.lam[..., 2, :, :]

    def __getitem__(self, i: int) -> Derivatives:
        """One state of a batch."""
        return Derivatives(self.a[i], self.lam[i], self.Jv_q[i], int(np.asarray(self.rank)[i]))

    def reshaped(self, batch: tuple[int, ...]) -> Derivatives:
        """With other batch axes; () for one state."""
        if not batch:
            return self[0]
        a, lam = (x.reshape(*batch, *x.shape[-3:]) for x in (self.a, self.lam))
        Jv_q = self.Jv_q.reshape(*batch, *self.Jv_q.shape[-2:])
        return Derivatives(a, lam, Jv_q, np.asarray(self.rank).reshape(batch))


def derivatives(
    system: Evaluator,
    q: Array,
    v: Array,
    tau: Array,
    drive: Array,
    *,
    method: str = "analytic",
    multipliers: bool = True,
    t: float = 0.0,
) -> Derivatives:
    """Derivatives at states on the manifold, batched.

    Args:
        system: whose dynamics.
        q, v, tau: states (B, nq), (B, nv), (B, nv).
        drive: f, f', f'' of the drives at each state (B, nd, 3).
        method: "analytic" or "dual".
        multipliers: whether to compute those of lam; otherwise `lam` has no rows.
        t: time [s] of user forces.
    """
    if not isinstance(method, str) or method not in METHODS:
        raise InputError(f'`method` must be "analytic" or "dual", got {method!r}.')
    if system.model.customs:
        rows = ", ".join(repr(custom.name) for custom in system.model.customs)
        raise InputError(
            f'method="{method}" needs the derivatives of every constraint, and of {rows} (CustomConstraint)'
            ' only values are known. Use method="finite_difference".'
        )
    forces = np.zeros_like(tau)
    if system.model.user_forces:
        forces = np.array([user_force(system, *one, t) for one in zip(q, v, strict=True)])
    user = np.zeros((len(q), len(system.model.u_row), 3 + system.nv))
    states = q, v, tau + forces, drive, user
    a, lam, Jv_q, rank, status = system.kernel.derivatives(*states, method == "dual", multipliers)
    if np.any(status) or not np.all(np.isfinite(a)):
        raise without_inertia()
    if system.model.user_forces:
        _add_user_forces(system, q, v, t, (a, lam))
    return Derivatives(a, lam, Jv_q, rank)


def _add_user_forces(system: Evaluator, q: Array, v: Array, t: float, found: tuple[Array, Array]) -> None:
    """Adds what user forces contribute to derivatives (B, 3, n, nv): x_q += x_tau Q_q, x_v += x_tau Q_v."""
    for i, state in enumerate(zip(q, v, strict=True)):
        for k, slopes in enumerate(user_force_slopes(system, *state, t)):
            for x in found:
                x[i, k] += x[i, 2] @ slopes

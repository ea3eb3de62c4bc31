"""Derivatives of constrained forward dynamics and of the multipliers, from the kernel.

"analytic" is recursive ([Spencer2004] section 4.3, extended to joints with several coordinates), "dual"
carries dual numbers through the same factorization, one direction at a time: the oracle of the other.

The values mean something along tangent directions only, (dq, dv) with J dq = 0 and J dv + Jv_q dq = 0: how
the accelerations continue off the manifold is a matter of taste ([Spencer2004] section 4.1).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..constraints.evaluate import Evaluator
from ..errors import InputError
from ..projection.decomposition import full_svd
from .forward import without_inertia

Array = npt.NDArray[np.float64]

METHODS = ("analytic", "dual")


@dataclass(frozen=True)
class Derivatives:
    """Of one state, or of a batch (batch axes in front of every shape).

    Increments of q are tangent increments (nv): integrate(q, dq).

    Attributes:
        a_q, a_v, a_tau: of the acceleration with respect to q, v and tau (nv, nv).
        lam_q, lam_v, lam_tau: of the multipliers of least norm (nc, nv).
        Jv_q: of J v - b with respect to q (nc, nv).
        rank: rank of J.
    """

    a_q: Array
    a_v: Array
    a_tau: Array
    lam_q: Array
    lam_v: Array
    lam_tau: Array
    Jv_q: Array
    rank: int | npt.NDArray[np.int64]

    def __getitem__(self, i: int) -> Derivatives:
        """One state of a batch."""
        return _made([x[i] for x in self._arrays], int(np.asarray(self.rank)[i]))

    def reshaped(self, batch: tuple[int, ...]) -> Derivatives:
        """With other batch axes; () for one state."""
        rank = np.asarray(self.rank).reshape(batch)
        parts = [x.reshape(*batch, *x.shape[-2:]) for x in self._arrays]
        return _made(parts, rank if batch else int(rank))

    @property
    def _arrays(self) -> tuple[Array, ...]:
        return self.a_q, self.a_v, self.a_tau, self.lam_q, self.lam_v, self.lam_tau, self.Jv_q


def _made(parts: list[Array], rank: int | npt.NDArray[np.int64]) -> Derivatives:
    a_q, a_v, a_tau, lam_q, lam_v, lam_tau, Jv_q = parts
    return Derivatives(a_q, a_v, a_tau, lam_q, lam_v, lam_tau, Jv_q, rank)


def derivatives(
    system: Evaluator,
    q: Array,
    v: Array,
    tau: Array,
    drive: Array,
    method: str = "analytic",
    multipliers: bool = True,
) -> Derivatives:
    """Derivatives at states on the manifold, batched.

    Args:
        system: whose dynamics.
        q, v, tau: states (B, nq), (B, nv), (B, nv).
        drive: f, f', f'' of the drives at each state (B, nd, 3).
        method: "analytic" or "dual".
        multipliers: whether those of lam are wanted; where rows depend on each other they cost more.
    """
    if method not in METHODS:
        raise InputError(f'`method` must be "analytic" or "dual", got {method!r}.')
    if len(system.model.u_row):
        rows = ", ".join(repr(custom.name) for custom in system.model.customs)
        raise InputError(
            f'method="{method}" needs the derivatives of every constraint, and of {rows} (CustomConstraint)'
            ' only values are known. Use method="finite_difference".'
        )
    user = np.zeros((len(q), 0, 3 + system.nv))
    da, dlam, Jv_q, rank, status = system.kernel.derivatives(q, v, tau, drive, user, method == "dual")
    if np.any(status) or not np.all(np.isfinite(da)):
        raise without_inertia()
    if multipliers and method == "analytic" and np.any(rank < system.nc):
        dlam[:, 0] += _turning(system, (q, v, tau, drive, user), rank)
    return _made([*(da[:, i] for i in range(3)), *(dlam[:, i] for i in range(3)), Jv_q], rank)


def _turning(system: Evaluator, states: tuple[Array, ...], rank: npt.NDArray[np.int64]) -> Array:
    """What the turning of the space of unique multipliers adds to the derivative of lam, (B, nc, nv).

    lam of least norm stays orthogonal to W, the basis of {w: w.T J = 0}. With J.T W = 0 all along,

        W.T dlam = -(dW).T lam = W.T dJ x,   x = J^+ lam                                              (1)

    while the kernel's dlam is orthogonal to W itself. dJ x is the derivative of J v at v = x.
    """
    q, v, tau, drive, user = states
    J = system.kernel.constraints(q, v, drive, user)[1]
    lam = system.kernel.forward(*states)[2]
    parts = [full_svd(one) for one in J]
    x = [Vt[:r].T @ (U[:, :r].T @ y / s[:r]) for (U, s, Vt), r, y in zip(parts, rank, lam, strict=True)]
    dJx = system.kernel.derivatives(q, np.array(x), tau, drive, user)[2]
    lost = [U[:, r:] for (U, _, _), r in zip(parts, rank, strict=True)]
    return np.stack([W @ (W.T @ one) for W, one in zip(lost, dJx, strict=True)])

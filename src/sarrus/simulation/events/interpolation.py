"""Between steps: a quintic Hermite polynomial in the tangent space at the left end of each interval.

    q(t) = integrate(q0, u(t)),   u, u', u'' known at both ends from (q, v, a)                          (1)

For angles and displacements u' = v and u'' = a. For quaternions and free bodies X = X0 exp(u) moves with
the body twist

    v = T(u) u',   a = T'(u)[u'] u' + T(u) u''               T: models/twists.py                      (2)

Errors are of order 6 in q, 5 in v, 4 in a, for steps of methods that are at least as accurate. The
acceleration at a step is that after it. Where held inputs jump there, the polynomial before it does without,
and is one order lower.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ...arrays import Array
from ...models.model import Model
from ...models.twists import dexp, twist_slices
from ..system.step_records import Steps

COMPLEX_STEP = 1e-30


class Manifold:
    """Increments of a configuration, their rates, and the velocities that belong to them."""

    def __init__(self, kernel: Any, model: Model) -> None:
        self._kernel = kernel
        self._groups = twist_slices(model)

    def integrate(self, q: Array, u: Array) -> Array:
        """States (k, nq) moved by increments (k, nv)."""
        return np.asarray(self._kernel.integrate(np.ascontiguousarray(q), np.ascontiguousarray(u)))

    def difference(self, q0: Array, q1: Array) -> Array:
        """Increments (k, nv) that lead from q0 to q1 (k, nq)."""
        return np.asarray(self._kernel.difference(np.ascontiguousarray(q0), np.ascontiguousarray(q1)))

    def rate(self, u: Array, v: Array) -> Array:
        """u' (k, nv) where integrate(q0, u) moves with velocity v."""
        u1 = v.copy()
        for g in self._groups:
            u1[:, g] = _solve(dexp(u[:, g]), v[:, g])
        return u1

    def rates(self, u: Array, v: Array, a: Array) -> tuple[Array, Array]:
        """u', u'' (k, nv) where integrate(q0, u) moves with velocity v and acceleration a."""
        u1, u2 = v.copy(), a.copy()
        for g in self._groups:
            T = dexp(u[:, g])
            u1[:, g] = _solve(T, v[:, g])
            u2[:, g] = _solve(T, a[:, g] - _apply(_dexp_rate(u[:, g], u1[:, g]), u1[:, g]))
        return u1, u2

    def motion(self, u: Array, u1: Array, u2: Array) -> tuple[Array, Array]:
        """v, a (k, nv) where the increment u moves with rates u', u''."""
        v, a = u1.copy(), u2.copy()
        for g in self._groups:
            T = dexp(u[:, g])
            v[:, g] = _apply(T, u1[:, g])
            a[:, g] = _apply(_dexp_rate(u[:, g], u1[:, g]), u1[:, g]) + _apply(T, u2[:, g])
        return v, a


class Hermite:
    """States between steps, and at them."""

    def __init__(self, manifold: Manifold, steps: Steps, held: bool = False) -> None:
        """
        Args:
            manifold: of the configurations.
            steps: the steps.
            held: whether inputs are held from sample to sample.
        """
        self._manifold = manifold
        self.t, self._q, self._v, self._a = steps.t, steps.q, steps.v, steps.a
        self._jumps = np.any(np.diff(steps.tau, axis=0) != 0.0, axis=1) & held

    def __call__(self, t: npt.ArrayLike) -> tuple[Array, Array, Array]:
        """q (k, nq), v (k, nv), a (k, nv) at times t (k,) within the range of the steps."""
        at = np.atleast_1d(np.asarray(t, dtype=float))
        if len(self.t) == 1:
            same = np.zeros(len(at), dtype=int)
            return self._q[same], self._v[same], self._a[same]
        i = np.clip(np.searchsorted(self.t, at, side="right") - 1, 0, len(self.t) - 2)
        h = (self.t[i + 1] - self.t[i])[:, None]
        s = (at - self.t[i])[:, None] / h
        each, which = np.unique(i, return_inverse=True)
        end = self._manifold.difference(self._q[each], self._q[each + 1])
        v1, a1 = self._manifold.rates(end, self._v[each + 1], self._a[each + 1])
        end, v1, a1 = end[which], v1[which], a1[which]
        if np.any(jumps := self._jumps[i]):
            a1[jumps] = _quartic_end(h, v0=self._v[i], a0=self._a[i], u1=end, v1=v1)[jumps]
        u, u1, u2 = quintic(s, h, v0=self._v[i], a0=self._a[i], u1=end, v1=v1, a1=a1)
        q = self._manifold.integrate(self._q[i], u)
        return q, *self._manifold.motion(u, u1, u2)


def coordinate_between(pair: Steps, at_q: int, at_v: int) -> Callable[[float], float]:
    """A coordinate that is a number as a function of time within one step: (1) for it alone."""
    t0, h = float(pair.t[0]), float(pair.t[1] - pair.t[0])
    q, v, a = (
        [float(x[i, at]) for i in (0, 1)] for x, at in ((pair.q, at_q), (pair.v, at_v), (pair.a, at_v))
    )

    def value(t: float) -> float:
        moved = quintic((t - t0) / h, h, v0=v[0], a0=a[0], u1=q[1] - q[0], v1=v[1], a1=a[1])[0]
        return q[0] + float(moved)

    return value


def quintic(s: Any, h: Any, *, v0: Any, a0: Any, u1: Any, v1: Any, a1: Any) -> tuple[Any, Any, Any]:
    """p, p', p'' at fraction s of a step h, where p(0) = 0, p'(0) = v0, p''(0) = a0, p(1) = u1, ..."""
    c1, c2 = h * v0, h * h * a0 / 2
    # the three conditions at the end determine the coefficients of s^3, s^4, s^5
    r0, r1, r2 = u1 - c1 - c2, h * v1 - c1 - 2 * c2, h * h * a1 - 2 * c2
    c3, c4, c5 = 10 * r0 - 4 * r1 + r2 / 2, -15 * r0 + 7 * r1 - r2, 6 * r0 - 3 * r1 + r2 / 2
    value = s * (c1 + s * (c2 + s * (c3 + s * (c4 + s * c5))))
    slope = c1 + s * (2 * c2 + s * (3 * c3 + s * (4 * c4 + s * 5 * c5)))
    bend = 2 * c2 + s * (6 * c3 + s * (12 * c4 + s * 20 * c5))
    return value, slope / h, bend / (h * h)


def _quartic_end(h: Array, *, v0: Array, a0: Array, u1: Array, v1: Array) -> Array:
    """p''(1) for which `quintic` has no term s^5."""
    c1, c2 = h * v0, h * h * a0 / 2
    return np.asarray((6 * (h * v1 - c1 - 2 * c2) - 12 * (u1 - c1 - c2) + 2 * c2) / (h * h))


def _dexp_rate(u: Array, u1: Array) -> Array:
    """d T(u) / dt along u', by a complex step: exact to rounding."""
    return np.asarray(dexp(u + 1j * COMPLEX_STEP * u1).imag / COMPLEX_STEP)


def _solve(T: Array, x: Array) -> Array:
    return np.asarray(np.linalg.solve(T, x[..., None])[..., 0])


def _apply(T: Array, x: Array) -> Array:
    return np.asarray((T @ x[..., None])[..., 0])

"""LinearFeedback: a policy that compiled steps evaluate themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...arrays import Array, numbers
from ...errors import InputError
from ...mechanism.mechanism import Mechanism


@dataclass(frozen=True, eq=False)
class LinearFeedback:
    """u = u_ref - K [difference(q_ref, q); v - v_ref], sampled at the beginning of each step of a rollout.

    Each part is one for all steps, or has a leading axis of steps: the gains and the reference of a
    trajectory, such as those of iLQR.

    Attributes:
        K: gains (nu, 2 nv) or (steps, nu, 2 nv) [N m/rad, N m s/rad, ...].
        q: reference positions (nq,) or (steps, nq) [rad, m].
        v: reference velocities (nv,) or (steps, nv) [rad/s, m/s]; default rest.
        u: inputs at the reference (nu,), (steps, nu), or (B, steps, nu) where they differ between copies
            [N m, N]; default zero.
    """

    K: npt.ArrayLike
    q: npt.ArrayLike
    v: npt.ArrayLike | None = None
    u: npt.ArrayLike | None = None

    def rows(self, mech: Mechanism, steps: int) -> tuple[Array, Array, Array, Array]:
        """u (B or 1, steps or 1, nu), and K, q, v (1, steps or 1, width)."""
        nv, nu = mech.nv, mech.nu
        q = mech._positions(self.q, "q of the feedback")
        return (
            self._inputs(nu, steps),
            _rows(self.K, "K", (nu, 2 * nv), steps),
            _rows(q, "q", (mech.nq,), steps),
            _rows(np.zeros(nv) if self.v is None else self.v, "v", (nv,), steps),
        )

    def _inputs(self, nu: int, steps: int) -> Array:
        u = np.zeros(nu) if self.u is None else numbers(self.u, "u of the feedback")
        if u.ndim == 3 and u.shape[1:] == (steps, nu) and len(u):
            return np.ascontiguousarray(u)
        return _rows(u, "u", (nu,), steps)


def _rows(value: Any, name: str, shape: tuple[int, ...], steps: int) -> Array:
    array = numbers(value, f"{name} of the feedback")
    if array.shape not in (shape, (steps, *shape)):
        raise InputError(
            f"{name} of a LinearFeedback must have shape {shape}, or {(steps, *shape)} for the {steps} steps"
            f" of this rollout, got {array.shape}."
        )
    return np.ascontiguousarray(array.reshape(1, -1, int(np.prod(shape))))

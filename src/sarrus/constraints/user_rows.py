"""Rows of CustomConstraints: what the user gave, and central differences for what was left out.

Along the motion q(s) = integrate(q, s v) at constant v, time running on, with g(s) = phi(q(s), t + s):

    J e_i = d phi(integrate(q, s e_i), t) / ds          b = -d phi(q, t + s) / ds
    gamma = -d (J(q(s), t + s) v - b(q(s), t + s)) / ds  where J is given, else  gamma = -g''(0)

Differences are of fourth order (first derivatives) and sixth order (g''). Their steps balance truncation
against rounding: errors near 1e-12 for phi that vary over lengths of about L, angles of about 1 rad and
times of about 0.1 s.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import Array
from ..differences import curvature, slope
from .custom import CustomConstraint, call_checked

if TYPE_CHECKING:
    from .evaluate import Evaluator


STEP = 1e-3  # of a coordinate [rad], or times L [m]
TIME_STEP = 1e-4  # [s]
SECOND_STEP = 1e-2  # of the motion in g'' [rad], or times L [m]
SECOND_TIME_STEP = 2e-3  # [s], at most


def user_rows(system: Evaluator, q: Array, v: Array, t: float, out: Array) -> None:
    """phi, b, gamma, J of all user rows at one state, into `out` (number of rows or more, 3 + nv)."""
    for custom in system.model.customs:
        rows = CustomRows(system, custom.name, custom.constraint)
        block = out[custom.user]
        block[:, 0] = rows.phi(q, t)
        block[:, 1] = rows.b(q, t)
        block[:, 2] = rows.gamma(q, v, t)
        block[:, 3:] = rows.J(q, t)


class CustomRows:
    """One CustomConstraint, its missing derivatives filled in and every result checked."""

    def __init__(self, system: Evaluator, name: str, constraint: CustomConstraint) -> None:
        self.system, self.name, self.given = system, name, constraint

    def phi(self, q: Array, t: float) -> Array:
        return self._call("phi", (self.given.n,), q, t)

    def J(self, q: Array, t: float) -> Array:
        if self.given.J is not None:
            return self._call("J", (self.given.n, self.system.nv), q, t)
        columns = np.zeros((self.given.n, self.system.nv))
        for i, unit in enumerate(self.system.unit):
            dv = np.zeros(self.system.nv)
            dv[i] = unit

            def along(s: float, dv: Array = dv) -> Array:
                return self.phi(self.system.integrate(q, s * dv), t)

            columns[:, i] = slope(along, STEP) / unit
        return columns

    def b(self, q: Array, t: float) -> Array:
        if self.given.b is not None:
            return self._call("b", (self.given.n,), q, t)
        return -slope(lambda s: self.phi(q, t + s), TIME_STEP)

    def gamma(self, q: Array, v: Array, t: float) -> Array:
        if self.given.gamma is not None:
            return self._call("gamma", (self.given.n,), q, v, t)
        move = self.system.integrate
        speed = float(np.linalg.norm(v / self.system.unit))
        if self.given.J is not None:
            step = min(STEP / speed if speed > 0.0 else np.inf, TIME_STEP)
            return -slope(lambda s: self.J(move(q, s * v), t + s) @ v - self.b(move(q, s * v), t + s), step)
        step = min(SECOND_STEP / speed if speed > 0.0 else np.inf, SECOND_TIME_STEP)
        return -curvature(lambda s: self.phi(move(q, s * v), t + s), step, order=6)

    def _call(self, which: str, shape: tuple[int, ...], *arguments: Any) -> Array:
        """The user's function on copies of the arguments, its result checked."""
        what = f"{which} of constraint {self.name!r}"
        copies = tuple(np.array(x) if isinstance(x, np.ndarray) else x for x in arguments)
        return call_checked(getattr(self.given, which), copies, what, shape)

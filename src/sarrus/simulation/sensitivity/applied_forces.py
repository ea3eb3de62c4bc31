"""Applied forces along a run, and their derivatives: constant ones, tau(t, q, v) and control(t, q, v)."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ...arrays import Array
from ...constraints.user_forces import user_force_slopes
from ...differences import slope_of_terms, slope_terms
from ...dual_numbers import jacobian
from ..stepping.options import Options
from ..system.step_records import Steps
from ..system.system import System

CHECKED, SAME = 8, 1e-9  # states at which forces are compared with those of the run, relative difference
STEP = 1e-2  # [rad], or times L [m], of increments of poses
TERMS = slope_terms(6)


class AppliedForces:
    """Applied generalized force of a run as a function of (t, q, v).

    Attributes:
        exact: whether derivatives were by dual numbers wherever they were asked for.
    """

    def __init__(self, system: System, options: Options) -> None:
        self._system, self._options, self.exact = system, options, True
        o = options
        self._functions = [(x, columns) for x, columns in self._callables() if callable(x)]
        self._constant = np.zeros(system.nv)
        if o.tau is not None and not callable(o.tau):
            self._constant = np.broadcast_to(np.asarray(o.tau, dtype=np.float64), (system.nv,))

    def _callables(self) -> list[tuple[Any, Any]]:
        return [(self._options.tau, slice(None)), (self._options.control, self._system.actuated)]

    @property
    def depend_on_state(self) -> bool:
        """Whether any force from outside depends on the state."""
        return bool(self._functions) or bool(self._system.model.user_forces)

    def at(self, t: Array, q: Array, v: Array) -> Array:
        """tau (n, nv) at states (n, nq), (n, nv) and times (n,)."""
        tau = np.repeat(self._constant[None], len(t), axis=0)
        for function, columns in self._functions:
            for i, time in enumerate(t.tolist()):
                tau[i, columns] += np.asarray(function(time, q[i].copy(), v[i].copy()), dtype=np.float64)
        return tau

    def are_known(self, steps: Steps, count: int) -> bool:
        """Whether derivatives by `count` parameters are worth their cost, and those of the forces of the run.

        A function that remembers what it was called with says something else when it is called again. One
        that knows no dual numbers is called six times for each number of the state, at five nodes of each
        step; six runs for each parameter call it at seven stages.
        """
        if not self._functions:
            return True
        some = steps[np.unique(np.linspace(0, len(steps) - 1, CHECKED).astype(int))]
        again = self.at(some.t, some.q, some.v)
        if not np.all(np.abs(again - some.tau) <= SAME * (1.0 + np.max(np.abs(some.tau)))):
            return False
        first = some[:1]
        self.slopes(first.t, first.q, first.v)
        return self.exact or 5 * (self._system.nq + self._system.nv) <= 7 * count

    def slopes(self, t: Array, q: Array, v: Array) -> tuple[Array, Array]:
        """Derivatives of tau by tangent increments of q and by v, (n, nv, nv) each."""
        n, nq, nv = len(t), self._system.nq, self._system.nv
        by_q, by_v = np.zeros((n, nv, nv)), np.zeros((n, nv, nv))
        if not self._functions:
            return by_q, by_v
        along = self._increments(q)
        for i, time in enumerate(t.tolist()):
            for function, columns in self._functions:
                both, exact = jacobian(partial(_of_both, function, nq, time), np.concatenate([q[i], v[i]]))
                self.exact &= exact
                by_q[i, columns] += both[:, :nq] @ along[i]
                by_v[i, columns] += both[:, nq:]
        return by_q, by_v

    def all_slopes(self, t: Array, q: Array, v: Array) -> tuple[Array, Array]:
        """The same with forces of the user's, which are part of the mechanism."""
        by_q, by_v = self.slopes(t, q, v)
        if self._system.model.user_forces:
            for i, time in enumerate(t.tolist()):
                more = user_force_slopes(self._system.evaluator, q[i], v[i], time)
                by_q[i] += more[0]
                by_v[i] += more[1]
        return by_q, by_v

    def _increments(self, q: Array) -> Array:
        """Derivatives of the numbers of q by tangent increments (n, nq, nv)."""
        nv, kernel = self._system.nv, self._system.kernel
        if self._system.nq == nv:
            return np.broadcast_to(np.eye(nv), (len(q), nv, nv))

        def moved(direction: Array, s: float) -> Array:
            step = np.ascontiguousarray(np.broadcast_to(s * direction, (len(q), nv)))
            return np.asarray(kernel.integrate(np.ascontiguousarray(q), step))

        sized = zip(self._system.units.unit, np.eye(nv), strict=True)
        columns = [slope_of_terms(partial(moved, unit * e), STEP, TERMS) / unit for unit, e in sized]
        return np.stack(columns, axis=-1)


def _of_both(function: Any, nq: int, t: float, z: Any) -> Any:
    """A function of (t, q, v) as one of both, (nq + nv,)."""
    return np.atleast_1d(np.asarray(function(t, z[:nq], z[nq:])))

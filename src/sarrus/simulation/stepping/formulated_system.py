"""Accelerations of a run in a formulation other than the kernel's, for comparison: NumPy over Terms.

The rank of J is decided at the first stage of a step and held through the others, as in the kernel.
"""

from __future__ import annotations

import numpy as np

from ...arrays import Array
from ...dynamics import formulations as fm
from ...dynamics.singular_limit import limit_rows
from ...dynamics.terms import Terms
from ..system.system import System
from .callbacks import FIRST_STAGE, Failure, Inputs
from .options import Options


class FormulatedSystem:
    """Called by the compiled run as acceleration(t, q, v) -> a, after the inputs of that state."""

    def __init__(self, system: System, options: Options, formulation: str, inputs: Inputs) -> None:
        self._system, self._options, self._name, self._inputs = system, options, formulation, inputs
        self._held: int | None = None
        self.nearby = -1  # rank of J nearby, where rows are lost at the first pose only; -1: none are

    def enter(self, system: System) -> None:
        """Go on with the rows of another mode."""
        self._system, self._held = system, None

    def __call__(self, t: float, q: Array, v: Array) -> Array | None:
        try:
            state = self._split(t, q, v)
            return np.asarray(self._system.units.unit * fm.FORMULATIONS[self._name](state))
        except (Exception, KeyboardInterrupt) as error:
            self._inputs.failure = Failure.of(error, f'formulation "{self._name}"', t, True)
            return None

    def _split(self, t: float, q: Array, v: Array) -> fm.Split:
        """The terms of the state, decomposed along and across its constraints."""
        first = self._inputs.stage == FIRST_STAGE
        decide = first and (self._options.correction == "project" or self._held is None)
        lost = self._options.correction != "project" and self._held is not None and self._held < self.nearby
        system, terms = self._system, self._stabilized(self._system.terms(t, q, v), v)
        if self._options.correction == "soft":
            return self._softened(terms)
        if self._name == "lagrange":
            state = fm.split(terms, self._inputs.tau, system.units)
            fm.require_independent(state, system.units)
            return state
        if lost:
            return self._regained(terms)
        state = fm.split(terms, self._inputs.tau, system.units, None if decide else self._held)
        if decide:
            if state.rank < min(terms.J.shape):
                limit = limit_rows(system.evaluator, q, v, t, state.lost)
                state = state if limit is None else fm.with_limit(state, limit, system.units)
            self._held = system.nv - state.N.shape[1]
        return state

    def _softened(self, terms: Terms) -> fm.Split:
        """The split with the normal acceleration by the damped inverse of J, [Spencer2004] 3.3."""
        if self._held is None:
            self._held = fm.split(terms, self._inputs.tau, self._system.units).rank
        return fm.softened(self._regained(terms), self._options.softness)

    def _regained(self, terms: Terms) -> fm.Split:
        """The split with the rank of the start, or with the rows that were lost there and are back."""
        assert self._held is not None
        units, tau = self._system.units, self._inputs.tau
        if self._held >= self.nearby:
            return fm.split(terms, tau, units, self._held)
        state = fm.split(terms, tau, units)
        if state.rank > self.nearby:  # rows that depend on others, off the constraints
            state = fm.split(terms, tau, units, self.nearby)
        if self._inputs.stage == FIRST_STAGE:
            self._held = max(self._held, state.rank)
        return state

    def _stabilized(self, terms: Terms, v: Array) -> Terms:
        """gamma + 2 alpha (b - J v) - beta^2 phi with Baumgarte's gains, [Spencer2004] eq. (3.8)."""
        if self._options.correction not in ("baumgarte", "soft"):
            return terms
        alpha, beta = self._options.baumgarte
        gamma = terms.gamma + 2.0 * alpha * (terms.b - terms.J @ v) - beta * beta * terms.phi
        return Terms(terms.M, terms.h, terms.phi, terms.J, terms.b, gamma)

"""Stages: accelerations of an implicit method and their derivatives, whatever the system is made of."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..dynamics.derivatives import derivatives
from ..dynamics.forward import forward_terms
from ..dynamics.terms import Terms
from .inputs import FIRST_STAGE, Inputs
from .options import Options
from .plant import Plant
from .projector import Projector
from .stage_chart import NotClosedError, StageChart, States
from .steps import Steps

Array = npt.NDArray[np.float64]

STOPPED, SINGULAR_INERTIA = 1, 2  # as the compiled run counts them
STEP = 1e-7  # of local coordinates in finite differences [rad, or times L; per s]


class StoppedError(Exception):
    """The run cannot go on; `status` is the compiled run's number for the reason."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class Stages:
    """Everything that an implicit step asks of a system."""

    def __init__(self, plant: Plant, options: Options, inputs: Inputs, projector: Projector) -> None:
        self._plant, self._inputs, self._projector = plant, inputs, projector
        self._finite = (
            options.jacobian == "finite_difference" or plant.supplies_inertia or plant.has_user_rows
        )
        self._feedback = inputs.needed and not inputs.sampled and not self._finite
        self.evaluations = 0

    def arrive(self, t: float, q: Array, v: Array) -> Steps:
        """A state that is kept: inputs asked for, projected, with its acceleration."""
        tau = self._answer(t, q, v, FIRST_STAGE)[0] if self._inputs.needed else np.zeros(self._plant.nv)
        self.evaluations += 1
        end = self._projector(t, q, v, np.zeros(self._plant.nv), tau)
        if not np.all(np.isfinite(end.a)):
            raise StoppedError(SINGULAR_INERTIA)
        return end

    def all_rates(self, chart: StageChart, t: Array, y: Array, mu: Array | None) -> tuple[Array, Array]:
        """dy/dt (k, n) of local coordinates y (k, n) at times t (k,), and mu to start from the next time."""
        at = chart.states(t, y, mu)
        return chart.rates(at, self._accelerations(chart, t, at)), at.mu

    def rates(self, chart: StageChart, t: Array, y: Array) -> Array:
        """dy/dt (k, n)."""
        return self.all_rates(chart, t, y, None)[0]

    def slope(self, chart: StageChart, now: Steps) -> Array:
        """d(dy/dt)/dy (n, n) at the beginning of a step."""
        t, q, v = float(now.t[0]), now.q, now.v
        if self._finite:
            return self._differences(chart, t)
        plant = self._plant
        drive = plant.evaluator.drive(t, 1)
        d = derivatives(plant.evaluator, q, v, now.tau, drive, multipliers=False)[0]
        G = chart.slope(d)
        if self._feedback:
            G[chart.split :] += chart.R_v @ d.a_tau @ self._input_slope(chart, t, now.tau[0])
        return G

    def size(self, q: Array) -> Array:
        """What errors of the positions are measured by (nv,): |q|, and 1 or L for quaternion joints."""
        out = self._plant.units.unit.copy()
        for k, where in enumerate(self._plant.model.coordinate_q):
            if where >= 0:
                out[k] = abs(q[where])
        return np.asarray(out)

    # ------------------------------------------------------------------ pieces

    def _answer(self, t: float, q: Array, v: Array, stage: int) -> tuple[Array, ...]:
        answer = self._inputs(t, q, v, stage)
        if answer is None:
            raise StoppedError(STOPPED)
        return answer  # type: ignore[return-value]

    def _accelerations(self, chart: StageChart, t: Array, at: States) -> Array:
        """Accelerations (k, nv), the rank of J held."""
        plant, k = self._plant, len(t)
        self.evaluations += k
        if plant.supplies_inertia:
            return np.array([self._custom(chart, *one) for one in zip(t.tolist(), at.q, at.v, strict=True)])
        tau, drive = np.zeros((k, plant.nv)), np.zeros((k, len(plant.model.drives), 3))
        user = np.zeros((k, len(plant.model.u_row), 3 + plant.nv))
        if self._inputs.needed:
            for i in range(k):
                force, moved, rows, *_ = self._answer(float(t[i]), at.q[i], at.v[i], i + 1)
                tau[i] = force
                drive[i] = 0.0 if moved is None else moved
                user[i] = 0.0 if rows is None else rows
        q, v = np.ascontiguousarray(at.q), np.ascontiguousarray(at.v)
        a, *_, status = plant.kernel.forward(q, v, tau, drive, user, chart.at.rank)
        if np.any(status):
            raise StoppedError(SINGULAR_INERTIA)
        return np.asarray(a)

    def _custom(self, chart: StageChart, t: float, q: Array, v: Array) -> Array:
        tau, _, _, M, h = self._answer(t, q, v, 1)
        phi, J, b, gamma = (x[0] for x in self._plant.constraints(np.array([t]), q[None], v[None]))
        terms = Terms(M, h, phi, J, b, gamma)
        return forward_terms(terms, tau, self._plant.units, "svd", rank=chart.at.rank)[0]

    def _differences(self, chart: StageChart, t: float) -> Array:
        """The slope by one-sided differences, all directions in one batch."""
        y = chart.start + np.vstack([np.zeros(chart.size), STEP * np.eye(chart.size)])
        rates = self.rates(chart, np.full(len(y), t), y)
        return np.asarray((rates[1:] - rates[0]).T / STEP)

    def _input_slope(self, chart: StageChart, t: float, tau: Array) -> Array:
        """d(tau)/dy (nv, n) of what comes from Python functions at every stage."""
        try:
            at = chart.states(np.full(chart.size, t), chart.start + STEP * np.eye(chart.size))
        except NotClosedError:
            return np.zeros((self._plant.nv, chart.size))
        moved = [self._answer(t, q, v, 1)[0] for q, v in zip(at.q, at.v, strict=True)]
        return (np.array(moved) - tau).T / STEP

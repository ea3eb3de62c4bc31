"""TrajectoryRecorder: the steps of a run that are kept, thinned or at the times of t_eval."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...arrays import Array
from ..events.interpolation import Hermite, Manifold
from ..stepping.options import Options
from ..stepping.state_projector import Projector
from ..system.step_records import Steps

MOST_RAW = 20_000  # steps collected before they are thinned


class TrajectoryRecorder:
    """Takes steps with their inputs u, piece by piece; `finish` returns those that are kept."""

    def __init__(self, options: Options, manifold: Manifold, projector: Projector) -> None:
        self._options, self._manifold, self._projector = options, manifold, projector
        self._raw: list[tuple[Steps, Array]] = []
        self._kept: list[tuple[Steps, Array]] = []
        self._seen = 0  # steps that have been thinned
        self._wanted = 0  # times of t_eval that are done
        self._carry: list[tuple[Steps, Array]] = []  # the last step that has been thinned

    def skip(self, steps: int) -> None:
        """Count this many steps before the first one, in a resumed run."""
        self._seen = steps

    def add(self, steps: Steps, u: Array) -> None:
        """The next steps and their inputs (n, nu)."""
        if sum(len(s) for s, _ in self._raw) > MOST_RAW:
            self._compact(False)
        self._raw.append((steps, u))

    def cut(self, at: Steps) -> None:
        """Replace the steps after the state `at`, which lies within the last steps, by that state."""
        steps, u = _joined([*self._carry, *self._raw])
        i = int(np.clip(np.searchsorted(steps.t, at.t[0]), 1, len(steps) - 1))
        here = u[i - 1 : i] + self._part(steps, i, at.t[0]) * (u[i : i + 1] - u[i - 1 : i])
        first = len(self._carry)
        self._raw = [(steps[first:i], u[first:i]), (at, here)]

    def finish(self) -> tuple[Steps, Array]:
        """The steps that are kept, and u (n, nu)."""
        self._compact(True)
        return _joined(self._kept)

    def _compact(self, last: bool) -> None:
        """Thin the collected steps; the last step of a run is always kept."""
        if not self._raw:
            return
        steps, u = _joined(self._raw)
        if self._options.t_eval is not None:
            self._kept.append(self._at_times(*_joined([*self._carry, *self._raw])))
        else:
            number = self._seen + np.arange(len(steps))
            keep = number % self._options.store_every == 0
            keep[-1] |= last
            self._kept.append((steps[keep], u[keep]))
        self._seen += len(steps)
        self._carry, self._raw = [(steps[-1:], u[-1:])], []

    def _at_times(self, steps: Steps, u: Array) -> tuple[Steps, Array]:
        """States at the times of t_eval within these steps, projected where they lie between two."""
        assert self._options.t_eval is not None
        wanted = self._options.t_eval[self._wanted :]
        slack = 4.0 * np.spacing(np.abs(steps.t[-1:]))[0]
        times = wanted[wanted <= steps.t[-1] + slack]
        self._wanted += len(times)
        right = np.clip(np.searchsorted(steps.t, times), 1, max(len(steps) - 1, 1))
        rows, inputs = [steps[:0]], [u[:0]]
        path = Hermite(self._manifold, steps)
        for t, i in zip(times.tolist(), np.minimum(right, len(steps) - 1).tolist(), strict=True):
            near = [k for k in (max(i - 1, 0), i) if abs(steps.t[k] - t) <= 4.0 * np.spacing(abs(t))]
            if near:
                rows.append(steps[near[0] : near[0] + 1])
                inputs.append(u[near[0] : near[0] + 1])
                continue
            part = self._part(steps, i, t)
            tau, held = ((1.0 - part) * x[i - 1] + part * x[i] for x in (steps.tau, u))
            q, v, a = path(t)
            rows.append(self._projector(t, q[0], v[0], a[0], tau))
            inputs.append(held[None])
        return Steps.joined(rows), np.concatenate(inputs)

    def _part(self, steps: Steps, i: int, t: float) -> float:
        """Weight of step i against step i - 1 for inputs at time t; 0 where inputs are held."""
        return 0.0 if self._options.control_dt else (t - steps.t[i - 1]) / (steps.t[i] - steps.t[i - 1])


def _joined(parts: Sequence[tuple[Steps, Array]]) -> tuple[Steps, Array]:
    """Steps and inputs, one after the other."""
    return Steps.joined([steps for steps, _ in parts]), np.concatenate([u for _, u in parts])

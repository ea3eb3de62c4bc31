"""TrajectoryRecorder: the steps of a run that are kept, thinned or at the times of t_eval."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...arrays import Array
from ..stepping.options import Options
from ..stepping.state_projector import Projector
from ..system.step_records import Steps

MOST_RAW = 20_000  # steps collected before they are thinned


class TrajectoryRecorder:
    """Takes steps with their inputs u, piece by piece; `finish` returns those that are kept."""

    def __init__(self, options: Options, projector: Projector) -> None:
        self._options, self._projector = options, projector
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
        first = len(self._carry)
        self._raw = [(steps[first:i], u[first:i]), (at, self._projector.inputs(steps, u, at.t))]

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
        nearest = np.searchsorted(steps.t, times - 4.0 * np.spacing(np.abs(times)))
        nearest = np.minimum(nearest, len(steps) - 1)
        out, inputs = steps[nearest], u[nearest]
        between = np.flatnonzero(np.abs(out.t - times) > 4.0 * np.spacing(np.abs(times)))
        for k in (between[j : j + MOST_RAW] for j in range(0, len(between), MOST_RAW)):
            out[k] = self._projector(steps, times[k])
            inputs[k] = self._projector.inputs(steps, u, times[k])
        return out, inputs


def _joined(parts: Sequence[tuple[Steps, Array]]) -> tuple[Steps, Array]:
    """Steps and inputs, one after the other."""
    return Steps.joined([steps for steps, _ in parts]), np.concatenate([u for _, u in parts])

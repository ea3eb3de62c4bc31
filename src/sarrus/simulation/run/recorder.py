"""TrajectoryRecorder: the steps of a run that are kept, thinned or at the times of t_eval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arrays import Array
from ..stepping.options import Options
from ..stepping.state_projector import Projector
from ..system.step_records import Steps

MOST_RAW = 4_000  # steps collected before they are thinned
STEP_FIELDS = tuple(field.name for field in fields(Steps))
GROWTH = 16  # arrays grow by this part of their length, in place where the system can do that


class Column:
    """Rows of one quantity, piece by piece, in one array; as long as they are all equal only one is kept."""

    def __init__(self) -> None:
        self._rows: NDArray[Any] | None = None
        self._count, self._is_constant = 0, True

    def add(self, rows: NDArray[Any]) -> None:
        """The next rows."""
        begin, end = self._count, self._count + len(rows)
        if begin == 0:
            self._rows = rows[:1].copy()
        assert self._rows is not None
        self._count = end
        if self._is_constant and np.all(rows == self._rows):
            return
        if self._is_constant:
            self._rows, self._is_constant = np.repeat(self._rows, begin, axis=0), False
        if end > len(self._rows):
            longer = max(end, len(self._rows) + len(self._rows) // GROWTH)
            self._rows.resize((longer, *rows.shape[1:]), refcheck=False)
        self._rows[begin:end] = rows

    def finish(self) -> NDArray[Any]:
        """All rows."""
        assert self._rows is not None
        if self._is_constant:
            return np.broadcast_to(self._rows[:1], (self._count, *self._rows.shape[1:]))
        self._rows.resize((self._count, *self._rows.shape[1:]), refcheck=False)
        return self._rows


class TrajectoryRecorder:
    """Takes steps with their inputs u, piece by piece; `finish` returns those that are kept."""

    def __init__(self, options: Options, projector: Projector) -> None:
        self._options, self._projector = options, projector
        self._raw: list[tuple[Steps, Array]] = []
        self._kept = {name: Column() for name in (*STEP_FIELDS, "u")}
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
        columns = {name: self._kept.pop(name).finish() for name in (*STEP_FIELDS, "u")}
        return Steps(**{name: columns[name] for name in STEP_FIELDS}), columns["u"]

    def _keep(self, steps: Steps, u: Array) -> None:
        for name in STEP_FIELDS:
            self._kept[name].add(getattr(steps, name))
        self._kept["u"].add(u)

    def _compact(self, last: bool) -> None:
        """Thin the collected steps; the last step of a run is always kept."""
        if not self._raw:
            return
        steps, u = _joined(self._raw)
        if self._options.t_eval is not None:
            self._keep(*self._at_times(*_joined([*self._carry, *self._raw])))
        else:
            number = self._seen + np.arange(len(steps))
            keep = number % self._options.store_every == 0
            keep[-1] |= last
            self._keep(steps[keep], u[keep])
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

"""ChartSelector: which minimal coordinates a run uses, and when it changes them.

A chart is used while its rule allows (`stepping/chart_rules.py`), by default while its quality (0 where it
fails) is at least half of that at its origin; then a new chart of the same kind is made at the present pose.
A user's chart is left at 0.6 of the best quality it has had: towards a pose where the conditions of theorem
2.3.1 of [Spencer2004] fail, derivatives in its coordinates grow, and with them the error of the method. A
tangent chart replaces it until the quality of a user's chart is high again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...arrays import Array
from ...errors import InputError
from ...models.twists import twist_slices
from ...projection.charts import ChartError, LinearChart, partition_chart, tangent_chart
from ...projection.null_chart import NullspaceChart
from ...projection.user_chart import Chart, UserChart, check_chart, named_coordinates
from ..stepping.chart_rules import ChartRule
from ..system.system import System

LocalChart = LinearChart | UserChart

KINDS: dict[str, Callable[..., LinearChart]] = {
    "partition": partition_chart,
    "tangent": tangent_chart,
    "nullspace": NullspaceChart,
}
FAIR = 0.5  # taken for the best quality of a user's chart until it has had a better one


def check_coordinates(system: System, value: Any) -> str | tuple[Chart, ...]:
    """`coordinates` as `simulate` takes it: "full", a kind of chart, names of coordinates, or charts."""
    if isinstance(value, str) and (value == "full" or value in KINDS):
        return value
    given = (value,) if isinstance(value, Chart) else value
    if isinstance(given, Sequence) and not isinstance(given, str) and len(given):
        if all(isinstance(one, Chart) for one in given):
            return tuple(given)
        if all(isinstance(one, str) for one in given):
            pairs = [system.model.tree.scalar(name, "coordinates") for name in given]
            positions, indices = zip(*pairs, strict=True)
            return (named_coordinates(system.evaluator, positions, indices),)
    known = ", ".join(f'"{name}"' for name in ("full", *KINDS))
    raise InputError(
        f"coordinates must be one of {known}, names of independent coordinates, or a Chart (or several;"
        f" combinations y = R q are Chart(lambda q, y: R @ q - y, n)); got {value!r:.80}."
    )


def _distinct_names(names: list[str]) -> list[str]:
    """The same names; those that occur several times, as those of charts without one do, are counted."""
    counted = [f"{name} {i}" if names.count(name) > 1 else name for i, name in enumerate(names, start=1)]
    return counted if len(set(counted)) == len(counted) else [f"{n} ({i})" for i, n in enumerate(names, 1)]


class ChartSelector:
    """Charts of one run."""

    def __init__(self, system: System, coordinates: str | tuple[Chart, ...], rule: ChartRule) -> None:
        self._system, self._twists, self._rule = system.evaluator, twist_slices(system.model), rule
        self._kind = coordinates if isinstance(coordinates, str) else "tangent"
        charts = () if isinstance(coordinates, str) else coordinates
        names = _distinct_names([chart.name for chart in charts])
        self._users = [
            UserChart(self._system, replace(chart, name=name))
            for chart, name in zip(charts, names, strict=True)
        ]
        self._best = {id(chart): FAIR for chart in self._users}
        self._first = 1.0

    def require(self, q: Array, t: float) -> None:
        """Refuse to start where none of the user's charts can be used."""
        J = self._system.constraints(q, np.zeros(self._system.nv), t)[1]
        reasons = {chart.note: check_chart(self._system, chart, q, J) for chart in self._users}
        if reasons and all(reasons.values()):
            said = "; ".join(f"chart {name!r}: {why}" for name, why in reasons.items())
            raise InputError(
                f"no chart can be used at the start: {said}. Choose other coordinates, or let the library do"
                ' it: coordinates="tangent".'
            )

    def at(self, q: Array, v: Array, J: Array) -> LocalChart:
        """A chart for this state."""
        user = self._good_user_chart(q, v, J)
        if user is not None:
            return user
        made = KINDS[self._kind](self._system, self._twists, q, J)
        made.begin(q)
        self._first = made.quality(J)
        return made

    def instead(self, chart: LocalChart) -> bool:
        """Whether a chart replaces those of the user."""
        return bool(self._users) and not isinstance(chart, UserChart)

    def kept(self, chart: LocalChart, q: Array, v: Array, J: Array) -> LocalChart:
        """The chart for the next step: the same one, or another one where its quality has become low."""
        if isinstance(chart, UserChart):
            return chart if self._usable(chart, J, self._rule.leave) else self.at(q, v, J)
        user = self._good_user_chart(q, v, J)
        if user is not None:
            return user
        if self._good_own_chart(chart, J):
            return chart
        new = self.at(q, v, J)
        same = new.note == chart.note and self._kind == "partition" and chart.quality(J) > 0.0
        return chart if same else new

    def _good_user_chart(self, q: Array, v: Array, J: Array) -> UserChart | None:
        """The first of the user's charts that may be entered here."""
        for chart in self._users:
            try:
                chart.coordinates(q, v, J)
            except (ChartError, np.linalg.LinAlgError):
                continue
            if self._usable(chart, J, self._rule.enter):
                return chart
        return None

    def _good_own_chart(self, chart: LinearChart, J: Array) -> bool:
        """Whether a chart of the library is kept: its quality relative to the origin, or its condition."""
        if self._rule.kind == "condition":
            return chart.quality(J) > 0.0 and chart.condition(J) <= self._rule.leave_own
        return chart.quality(J) >= self._rule.leave_own * self._first

    def _usable(self, chart: UserChart, J: Array, threshold: float) -> bool:
        """Whether a user's chart is within a threshold: of its best quality in this run, or its condition."""
        quality = chart.quality(J)
        self._best[id(chart)] = max(self._best[id(chart)], quality)
        if self._rule.kind == "condition":
            return quality > 0.0 and chart.condition(J) <= threshold
        return quality >= threshold * self._best[id(chart)]

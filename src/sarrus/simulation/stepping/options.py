"""Options of a run, as `simulate` takes them and as the compiled run does."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..._kernel import Jacobian, Method, RunOptions
from ...arrays import Array
from ...projection.user_chart import Chart
from ..events.events import UserEvent
from .chart_rules import QUALITY, ChartRule
from .methods import CORRECTIONS, METHODS

SHORTEST = 1e-14  # smallest step, relative to the largest time
LONGEST = 0.01  # [s] of a step where something may begin and end within it: a pulse, a touch, an event
ATOL = 1e-10  # in units of the mechanism


@dataclass(frozen=True)
class Options:
    """The checked arguments of `simulate`, which describes them."""

    t0: float
    t1: float
    control: Callable[..., Any] | None
    control_dt: float | None
    method: str
    dt: float
    rtol: float
    atol: float | None
    t_eval: Array | None
    formulation: str
    coordinates: str | tuple[Chart, ...]
    correction: str
    baumgarte: tuple[float, float]
    projection_metric: str
    softness: float
    energy: bool
    events: tuple[UserEvent, ...]
    tau: Array | Callable[..., Any] | None
    external: Mapping[str, Any]
    store_every: int
    progress: bool
    jacobian: str
    switched: bool = False  # constraints close and open during the run
    contacts: str = "ignore"  # of surfaces that may touch
    first_step: float = 0.0  # [s] of methods that choose their steps; 0: that one too
    chart_rule: ChartRule = QUALITY

    @property
    def integrator(self) -> Method:
        """The description of the method."""
        return METHODS[self.method]

    @property
    def feedback(self) -> bool:
        """Whether applied forces depend on the state at every stage."""
        held = self.control is None or self.control_dt is not None
        return not held or callable(self.tau) or bool(self.external)

    def longest_step(self, watched: bool) -> float:
        """Longest step [s]; infinite where nothing can happen within one. Beside functions, a longer dt.

        Args:
            watched: whether the system has drives, limits or functions of the user's.
        """
        sought = self.switched or bool(self.events)  # stops, contacts, events
        within = self.integrator.adaptive and (watched or self.feedback)
        if sought:
            return LONGEST
        return max(LONGEST, self.first_step) if within else math.inf

    def compiled(self, *, known: bool = True, watched: bool = False) -> RunOptions:
        """The options of the compiled run; the caller sets `sampled`, `keep_energy` and `energy`.

        Args:
            known: whether the kernel has the derivatives of the system.
            watched: whether it has drives, limits or functions of the user's, which act within a step too.
        """
        alpha, beta = self.baumgarte
        out = RunOptions()
        out.method, out.correction = self.method, CORRECTIONS[self.correction]
        out.euclidean = self.projection_metric == "euclidean"
        out.damping, out.stiffness = 2.0 * alpha, beta * beta
        out.rtol, out.atol_in_units = self.rtol, self.atol is None
        out.atol = ATOL if self.atol is None else self.atol
        out.most_step = self.longest_step(watched)
        out.least_step = SHORTEST * max(abs(self.t0), abs(self.t1))
        analytic = Jacobian.ANALYTIC_WITH_FEEDBACK if self.feedback else Jacobian.ANALYTIC
        out.jacobian = analytic if known and self.jacobian == "analytic" else Jacobian.FINITE_DIFFERENCE
        out.sample_dt = math.inf if self.control_dt is None else self.control_dt
        return out

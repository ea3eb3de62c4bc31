"""Solution: the result of one step of a control law, with all its parts."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ...arrays import Array
from ...dynamics.decoupling import is_decoupled
from ...dynamics.input_response import Response
from ...projection.decompose import decompose
from ...projection.decomposition import Decomposition
from ..limits.limit_table import InputRows

if TYPE_CHECKING:
    from .input_selection import SelectedInputs


class Status(enum.IntEnum):
    """Status of a step; negative where limits are violated or the step failed."""

    OK = 0
    LIMITED = 1  # some limits are active
    PARTIAL = 2  # outputs and forces are met as far as constraints, actuators and limits allow
    SINGULAR = 3  # near a pose where a motion or a row is lost: torques are damped, directions fade out
    SLIPPING = 4  # a contact moves that should hold, or has moved; the law goes on from where it is
    INFEASIBLE = -1  # limits cannot hold together; least violation
    FAILED = -2  # bad measurement; the last input is held


@dataclass(frozen=True)
class QPInfo:
    """The quadratic program of one step.

    Attributes:
        solver: its name; "" where the goal satisfied all limits and no program was solved.
        variables: number of variables.
        rows: number of two-sided rows.
        cones: number of second-order cones.
        iterations: of the solver.
        time: spent in the solver [s].
    """

    solver: str = ""
    variables: int = 0
    rows: int = 0
    cones: int = 0
    iterations: int = 0
    time: float = 0.0


@dataclass(frozen=True)
class Solution:
    """One step of a control law.

    Attributes:
        t: time [s].
        u: inputs of all actuators of the mechanism (nu,) [N m, N].
        tau: the same as a generalized force (nv,); exactly zero at passive coordinates.
        a: predicted acceleration (nv,).
        status: see `Status`.
        message: the same in words; empty if all went well.
        task_names: components of the outputs (k).
        active_limits: names of the limits that are active at the solution.
        violations: by how much limits are exceeded, {name: amount}, where they cannot all hold.
        qp: what was solved.
        elapsed: time spent on this step [s].
        gap: largest |phi| of the active constraints [m] at the measured pose, angles multiplied by L; the law
            works at the nearest state without a gap.
        slips, lifts: speed [m/s] of contacts with the ground that should hold, by name: of those that slide
            and of those that leave.
        force_error: desired less expected values (p,) of forces that the law regulates.
        forces_missed: commanded less predicted values [N, N m] of those of them that cannot be had, by name.
        faded: what counts in part only because the measured state is near a pose where a rank changes, with
            its share: {constraint row, level, "outputs" or "motors": 0 to 1}.
    """

    t: float
    u: Array
    tau: Array
    a: Array
    status: Status
    message: str = ""
    task_names: tuple[str, ...] = ()
    active_limits: tuple[str, ...] = ()
    violations: Mapping[str, float] = field(default_factory=dict)
    qp: QPInfo = QPInfo()
    elapsed: float = 0.0
    gap: float = 0.0
    slips: Mapping[str, float] = field(default_factory=dict)
    lifts: Mapping[str, float] = field(default_factory=dict)
    force_error: Array = field(default_factory=lambda: np.zeros(0))
    forces_missed: Mapping[str, float] = field(default_factory=dict)
    faded: Mapping[str, float] = field(default_factory=dict)
    _task: Any = field(default=None, repr=False)  # outputs as in `TaskTracking`
    _step: Any = field(default=None, repr=False)  # what was computed on the way; None where the step failed
    _selected: SelectedInputs | None = field(default=None, repr=False)

    @property
    def _response(self) -> Response | None:
        return None if self._step is None else self._step.response

    @property
    def _inputs(self) -> Array | None:
        return None if self._selected is None else self._selected.u

    @property
    def _limits(self) -> InputRows | None:
        if self._selected is None or self._selected.rows is not None:
            return None if self._selected is None else self._selected.rows
        return self._step.limits  # type: ignore[no-any-return]

    # ------------------------------------------------------------------ outputs

    @property
    def task_errors(self) -> dict[str, float]:
        """Error of each output component, {name: desired - actual}."""
        return dict(zip(self.task_names, self.errors.tolist(), strict=True))

    @property
    def errors(self) -> Array:
        """Error of the outputs (k,)."""
        return np.full(len(self.task_names), np.nan) if self._task is None else self._task.e

    @property
    def error_rates(self) -> Array:
        """Derivative of the errors (k,)."""
        return np.full(len(self.task_names), np.nan) if self._task is None else self._task.rate

    @property
    def outputs(self) -> Array:
        """Actual values of the outputs (k,)."""
        return np.full(len(self.task_names), np.nan) if self._task is None else self._task.x

    @property
    def desired(self) -> Array:
        """Desired values of the outputs (k,)."""
        return np.full(len(self.task_names), np.nan) if self._task is None else self._task.desired

    @property
    def missed(self) -> Array:
        """Desired less predicted acceleration of the outputs (k,)."""
        if self._task is None:
            return np.full(len(self.task_names), np.nan)
        return np.asarray(self._task.wanted - self._task.J @ self.a)

    # ------------------------------------------------------------------ parts of the law

    @cached_property
    def tau_tangent(self) -> Array:
        """Part of tau that moves the mechanism (nv,), [Aghili2005] eq. (43)."""
        if self._split is None:
            return np.full_like(self.tau, np.nan)
        return self._split.tangent(self.tau, kind="force")

    @cached_property
    def tau_normal(self) -> Array:
        """Part of tau that only loads the constraints (nv,), [Aghili2005] eq. (49), (54)."""
        return self.tau - self.tau_tangent

    @cached_property
    def lam(self) -> Array:
        """Predicted multipliers (nc,); 0 for inactive rows. Where rows depend on each other, those of least
        norm that keep the limits."""
        if self._response is None or self._selected is None:
            return np.zeros(0)
        found, rows = self._response.lam0 + self._response.Lam @ self._selected.u, self._step.rows
        if len(self._selected.shares):
            found = found + self._selected.shares @ self._step.found.sharing
        if rows is None:
            return found
        lam = np.zeros(len(rows))
        lam[rows] = found
        return lam

    @cached_property
    def constraint_force(self) -> Array:
        """Predicted generalized force of the constraints (nv,)."""
        if self._response is None or self._inputs is None:
            return np.full_like(self.tau, np.nan)
        return np.asarray(self._response.F0 + self._response.Phi @ self._inputs)

    @cached_property
    def margins(self) -> dict[str, float]:
        """Distance of each limit to its bound, {name: amount}; negative where it is exceeded."""
        if self._limits is None or self._inputs is None:
            return {}
        assert self._selected is not None
        return self._limits.margins(self._selected.chosen)

    @property
    def rank(self) -> int:
        """Rank of the constraint rows; -1 where the step failed."""
        return -1 if self._response is None else self._response.rank

    @property
    def controllable(self) -> bool:
        """Whether the actuators can produce every acceleration that the constraints allow."""
        return self._response is not None and self._response.controllable

    @property
    def uncontrollable(self) -> tuple[tuple[str, ...], ...]:
        """Motions that no actuator drives, one tuple of coordinate names each."""
        return () if self._response is None else self._response.uncontrollable

    @property
    def controllable_dof(self) -> int:
        """Number of degrees of freedom that the actuators control."""
        return 0 if self._response is None else self._response.controllable_dof

    @cached_property
    def decoupled(self) -> bool:
        """Whether tau_tangent does not change the constraint force, [Aghili2005] proposition 3."""
        if self._response is None or self._split is None:
            return False
        return is_decoupled(self._response.terms.M, self._split)

    @cached_property
    def _split(self) -> Decomposition | None:
        if self._response is None:
            return None
        return decompose(self._response.terms.J, self._step.weights, rank=self._response.rank)

    @property
    def success(self) -> bool:
        """Whether no limit is violated and the step did not fail."""
        return self.status >= 0

"""TaskHierarchy: tasks with strict priorities under constraints, [DeSapio2010] algorithm 2."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from ...arrays import Array, positive, state
from ...dynamics.terms import Terms
from ...errors import answer_of
from ..core.force_metric import applied
from ..core.law import MISSED
from ..core.solution import Status
from ..core.staged_law import StagedLaw
from ..core.task import TaskTracking
from ..limits.limits import as_limits
from ..state.measured_state import MeasuredState
from .levels import ControllableBasis, Priorities, TaskRows, controllable_basis, solve_levels
from .limited_levels import HierarchyInputs, LimitedLevels
from .solution import HierarchySolution, Parts
from .tasks import StackedTracking, TaskStack

NullTorque = npt.ArrayLike | Callable[[float, Array, Array], npt.ArrayLike] | None


@dataclass(eq=False, repr=False)
class TaskHierarchy(StagedLaw):
    """Tasks with strict priorities: a lower one never changes the acceleration of a higher one.

    [DeSapio2010] algorithm 2: Jacobians of constraints and tasks are made orthogonal in the mass metric, one
    level after the other; tasks that conflict with higher levels or constraints are satisfied in the
    least-squares sense. Motions that no task determines follow from gravity, inertia and `null_torque`. Of
    all torques with these accelerations those of least norm are applied; passive joints get exactly zero.

    Args:
        mech: a Mechanism or CustomSystem.
        tasks: `PriorityTask`s, one or a list; with an empty list only `null_torque` acts.
        null_torque: generalized force (nv,) [N m, N] that acts in the null space of the tasks, or a function
            of (t, q, v) that returns it.
        limits: `TorqueBounds`, `Unilateral`, `Friction`, `CableTension`, `Preload`, `LinearLimits`, one or a
            list. They have priority over all tasks; the lowest level gives way first.
        metric: what "least torque" means, as in `ProjectedInverseDynamics`.
        actuated: names of the actuators to use; default all. The others get exactly zero.
        active: names of the constraints that hold, or a function of (t, q, v) that returns them; default all.
            Feet may stand elsewhere than declared: the gap of a constraint that holds a point to the ground
            is ignored, because its Jacobian does not depend on it.
        leftover_damping: null-space damping c [1/s], the same as the null torque -c M v.
        transition: time [s] over which inputs that cause no acceleration are blended when the active
            constraints change.
        rank_tol: dimensionless singular values of a level below this count as zero.
        least_feel: motions of which the actuators produce a smaller share than this (0 to 1) count as not
            controllable.
        solver: of the quadratic programs: "auto", "kernel", "daqp", "scipy" or "clarabel".
    """

    tasks: Any
    _: KW_ONLY
    null_torque: NullTorque = None
    limits: Any = ()
    actuated: Sequence[str] | None = None
    rank_tol: float = 1e-9
    least_feel: float = 1e-6
    solver: str = "auto"

    def __post_init__(self) -> None:
        self._stack = TaskStack(self.tasks)
        self._prepare(as_limits(self.limits), self.actuated, solver=self.solver)
        self._task: Any = self._stack.bind(self.mech)
        self._rank_tol = positive(self.rank_tol, "rank_tol")
        if self.null_torque is not None and not callable(self.null_torque):
            state(self.null_torque, "null_torque", self.mech.nv, repr(self.mech.name))

    def solve(self, t: float, q: npt.ArrayLike, v: npt.ArrayLike) -> HierarchySolution:
        """One step with all its parts; where it failed (`status`), a Solution without levels."""
        return super().solve(t, q, v)  # type: ignore[return-value]

    # ------------------------------------------------------------------ one step

    def _step(self, now: MeasuredState, began: float) -> HierarchySolution:
        active, response = self._respond(now)
        now = active.now
        metric = self._metric.factor(active.terms)
        basis = controllable_basis(response, metric, self._damping["min_controllability"])
        errors = [task.track(now) for task in self._stack.tasks]
        found = solve_levels(self._levels(errors), basis, response, self._rank_tol)
        rest = self._rest(now, active.terms, basis)
        free = found.s if rest is None else found.s + found.Z @ (found.Z.T @ rest)
        limits = None if self._limits is None else self._limits.at(now, response, active.rows)

        def select(offset: Array | None) -> HierarchyInputs:
            x = basis.to_x @ free
            if offset is not None:
                x = x + basis.internal @ (basis.internal.T @ offset)
            u = applied(metric, x)
            if limits is None or limits.inside(limits.R @ u, u):
                return HierarchyInputs(x, u, rows=limits, s=free)
            cascade = LimitedLevels(basis, metric, limits, self._solver, self._rank_tol)
            near = np.zeros(len(x)) if offset is None else offset
            return cascade.run(found.rows, free, np.zeros(len(free)) if rest is None else rest, near)

        selected = self._transition.smoothed(now.t, (active.rows, response.rank), select)
        status, message, costs = self._judged(basis, found, free, selected)
        return HierarchySolution(
            **self._staged_fields(now.t, began, active, response, selected),
            a=response.a0 + basis.E @ selected.s,
            status=status,
            message=message,
            _task=StackedTracking(self._stack, errors, self.system.nv),
            _parts=Parts(
                tasks=self._stack.labels,
                on=tuple(one is not None for one in errors),
                free=response.a0 + basis.E @ free,
                basis=basis,
                splits=tuple(found.splits),
                rows=tuple(rows.A for rows in found.rows),
                costs=costs,
            ),
        )

    def _levels(self, errors: Sequence[TaskTracking | None]) -> list[list[TaskRows]]:
        """Rows of the active tasks, level by level."""
        found = zip(self._stack.tasks, errors, strict=True)
        return [
            [TaskRows(one.J, one.wanted, task.unit, task.damping) for task, one in level if one is not None]
            for level in (islice(found, len(tasks)) for tasks in self._stack.levels)
        ]

    def _rest(self, now: MeasuredState, terms: Terms, basis: ControllableBasis) -> Array | None:
        """s (r,) of the acceleration due to null torque and null-space damping; None without both."""
        given, damping = self.null_torque, self._damping["damping"]
        if given is None and not damping:
            return None
        force = -damping * (terms.M @ now.v)
        if callable(given):
            who = f"null_torque at t = {now.t:g} s: it"
            given = answer_of(who, given, now.t, now.q.copy(), now.v.copy())
        if given is not None:
            force = force + state(given, "null_torque", self.system.nv, repr(self.system.name))
        return np.asarray(basis.E.T @ force)

    # ------------------------------------------------------------------ status

    def _judged(
        self, basis: ControllableBasis, found: Priorities, free: Array, selected: HierarchyInputs
    ) -> tuple[Status, str, tuple[float, ...]]:
        """Status, message, and the largest change of the rows of each level due to limits, dimensionless."""
        status, said, costs, s = selected.status, [], [], selected.s
        for group, rows, split in zip(self._stack.levels, found.rows, found.splits, strict=True):
            if len(rows.b) == 0:
                costs.append(0.0)
                continue
            size = MISSED * (1.0 + _largest(rows.b))
            took = _largest(rows.A @ (free - s)) if selected.limited else 0.0
            costs.append(took if took > size else 0.0)
            if _largest(rows.b - rows.A @ s) <= size:
                continue
            status = Status.PARTIAL
            why = "limits" if costs[-1] else f"{split.rank} of {len(rows.b)} rows independent"
            why = "damped near a singular pose" if split.damped else why
            said.append(f"level {group[0].priority:g} is met as far as possible ({why})")
        if any(split.damped for split in found.splits):
            status = Status.SINGULAR
        if selected.status == Status.INFEASIBLE:
            worst = ", ".join(f"{name} exceeded by {by:.4g}" for name, by in selected.violations.items())
            status = Status.INFEASIBLE
            said.insert(0, f"the limits cannot all hold; least violation: {worst or 'below the tolerance'}")
        reached = basis.E.shape[1]
        if reached < basis.dof:
            said.append(
                f"{reached} of {basis.dof} freedoms are controllable, `uncontrollable` has the others"
            )
        return status, "; ".join(said), tuple(costs)


def _largest(x: Array) -> float:
    """Largest size of an entry, for the short arrays of a level."""
    return float(max(map(abs, x.tolist())))

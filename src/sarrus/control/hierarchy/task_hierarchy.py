"""TaskHierarchy: tasks with strict priorities under constraints, [DeSapio2010] algorithm 2."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ...arrays import Array, BoolArray, positive, state
from ...errors import answer_of
from ..core.compiled_step import PROGRAM, CompiledStep, FoundStep
from ..core.exporting import refuse_functions, written_law
from ..core.fading import mean_inputs, with_fading
from ..core.force_metric import applied
from ..core.law import MISSED, Law
from ..core.solution import QPInfo, Status
from ..exported.written_law import WrittenLaw, refuse
from ..limits.limits import as_limits
from ..state.measured_state import MeasuredState
from .limited_levels import HierarchyInputs, LimitedLevels
from .solution import FoundLevels, HierarchySolution
from .tasks import TaskStack

NullTorque = npt.ArrayLike | Callable[[float, Array, Array], npt.ArrayLike] | None


@dataclass(eq=False, repr=False)
class TaskHierarchy(Law):
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
        gives: which limits give way first where they cannot all hold, after all tasks: "contacts", "limits"
            (the others), names of limits, one or a list. Bounds of motors never do.
        metric: what "least torque" means, as in `ProjectedInverseDynamics`.
        actuated: names of the actuators to use; default all. The others get exactly zero.
        active: names of the constraints that hold, or a function of (t, q, v) that returns them; default all.
            Feet may stand elsewhere than declared, as in `ProjectedInverseDynamics`.
        leftover_damping: null-space damping c [1/s], the same as the null torque -c M v.
        transition: time [s] over which inputs that cause no acceleration are blended when the active
            constraints change.
        rank_tol: dimensionless singular values of a level below this count as zero.
        least_feel: motions of which the actuators produce a smaller share than this (0 to 1) count as not
            controllable.
        solver: of the quadratic programs: "auto", "kernel", "daqp", "scipy" or "clarabel".
        measurement: as in `ProjectedInverseDynamics`; rows of a level that nearly conflict with higher levels
            fade out likewise.
    """

    tasks: Any
    _: KW_ONLY
    null_torque: NullTorque = None
    limits: Any = ()
    actuated: Sequence[str] | None = None
    gives: Any = "limits"
    rank_tol: float = 1e-9
    least_feel: float = 1e-6
    solver: str = "auto"

    def __post_init__(self) -> None:
        self._stack = TaskStack(self.tasks)
        self._prepare(as_limits(self.limits), self.actuated, gives=self.gives, solver=self.solver)
        self._task: Any = self._stack.bind(self.mech)
        self._rank_tol = positive(self.rank_tol, "rank_tol")
        self._on = (True,) * len(self._stack.tasks)
        if self.null_torque is not None and not callable(self.null_torque):
            state(self.null_torque, "null_torque", self.mech.nv, repr(self.mech.name))

    def solve(self, t: float, q: npt.ArrayLike, v: npt.ArrayLike) -> HierarchySolution:
        """One step with all its parts; where it failed (`status`), without levels."""
        return super().solve(t, q, v)  # type: ignore[return-value]

    # ------------------------------------------------------------------ one step

    @cached_property
    def _compiled(self) -> CompiledStep:
        asks = callable(self.null_torque) or any(task.asks_state for task in self._stack.tasks)
        return self._compile(
            self._stack.tasks,
            levels=max(len(self._stack.levels), 1),
            rank_tol=self._rank_tol,
            questions=self._asked if asks else None,
        )

    def _written(self) -> WrittenLaw:
        if callable(self.null_torque):
            refuse("null_torque", "is a function of Python", "Give an array.")
        for task in self._stack.tasks:
            if task.asks_state:
                way = "Give a reference or a constant acceleration, and leave `when` away."
                refuse(f"task {task.name!r}", "has a function of Python (acceleration or when)", way)
        refuse_functions(self)
        now = MeasuredState(self.system, 0.0, *self.system.default)
        targets = [task.target(now) for task in self._stack.tasks]
        return written_law(self, targets, null_force=self._null_force(now))

    def _asked(self, now: MeasuredState) -> tuple[list[Any], BoolArray, Array | None]:
        """Targets, active tasks and null torque at the state that a step works at."""
        tasks = self._stack.tasks
        self._on = tuple(task.is_on(now) for task in tasks)
        targets = [task.target(now) if on else None for task, on in zip(tasks, self._on, strict=True)]
        return targets, np.array(self._on, dtype=bool), self._null_force(now)

    def _null_force(self, now: MeasuredState) -> Array | None:
        """The null torque (nv,), or None."""
        given = self.null_torque
        if given is None:
            return None
        if callable(given):
            who = f"null_torque at t = {now.t:g} s: it"
            given = answer_of(who, given, now.t, now.q.copy(), now.v.copy())
        return state(given, "null_torque", self.system.nv, repr(self.system.name))

    def _step(self, now: MeasuredState, began: float) -> HierarchySolution:
        step, rows, offset = self._compiled, self._active.rows(now), self._transition.offset(now.t)
        if step.questions is None:
            targets, force = [task.target(now) for task in self._stack.tasks], self._null_force(now)
            found = step.run(now, rows, targets, self._selects, null_force=force, offset=offset)
        else:
            found = step.run(now, rows, (), self._selects, offset=offset)
        levels = FoundLevels(found, self._stack, self._on)

        def again(other: Array | None) -> HierarchyInputs:
            if self._selects:
                step.kernel.select(found.found, other)
            return self._chosen_within(levels, other)

        key = found.rows, found.found.rank
        selected = self._transition.smoothed(now.t, key, self._chosen_within(levels, offset), again)
        selected = self._mean(found, levels, selected, offset)
        faded = self._faded(found)
        status, message, costs = self._judged(levels, selected)
        status, message = with_fading(status, message, found, faded, self._accuracy[0])
        status, message = self._with_movement(status, message)
        fields = self._shared_fields(found, began, selected)
        if not selected.by_kernel and not found.others:
            fields["a"] = found.response.a0 + levels.basis.E @ selected.s
        levels.costs, fields["_task"] = costs, levels.tracking
        return self._completed(
            fields | {"status": status, "message": message, "faded": faded, "_parts": levels}
        )

    def _completed(self, fields: dict[str, Any]) -> HierarchySolution:
        return HierarchySolution(**fields)

    def _selected(self, step: FoundStep) -> HierarchyInputs:
        found = step.found
        x, u, shares = found.inputs, found.inputs_used, found.shares
        if not found.limited:
            return HierarchyInputs(x, u, by_kernel=True, shares=shares)
        assert self._limits is not None
        active = tuple(dict.fromkeys([self._limits.row_name(i) for i in sorted(found.active)]))
        sizes = found.variables, found.limit_count, found.cone_count
        qp = QPInfo("kernel", *sizes, found.iterations, found.seconds)
        how: dict[str, Any] = {"by_kernel": True, "limited": True, "shares": shares}
        return HierarchyInputs(x, u, Status.LIMITED, active=active, qp=qp, **how)

    def _chosen_within(self, levels: FoundLevels, offset: Array | None) -> HierarchyInputs:
        """The inputs: those of the kernel, unless limits cannot hold."""
        if self._selects and PROGRAM[levels.step.found.program] in ("inside", "optimal"):
            return self._selected(levels.step)
        return self._select_in_python(levels, offset)

    def _mean(
        self, step: FoundStep, levels: FoundLevels, selected: HierarchyInputs, offset: Array | None
    ) -> HierarchyInputs:
        """The mean of the inputs for all ranks that are possible, with its coordinates s."""

        def choose(other: FoundStep) -> HierarchyInputs:
            return self._chosen_within(FoundLevels(other, self._stack, self._on), offset)

        if not step.others:
            return selected
        mean = mean_inputs(selected, step, choose)
        mean.s = levels.basis.E.T @ step.terms.M @ step.response.B @ mean.u
        return mean

    def _level_names(self) -> tuple[str, ...]:
        return tuple(f"level {group[0].priority:g}" for group in self._stack.levels)

    def _select_in_python(self, levels: FoundLevels, offset: Array | None = None) -> HierarchyInputs:
        """Inputs where limits cannot hold, or by another solver than the kernel's."""
        step, basis, free = levels.step, levels.basis, levels.free
        metric, rest, limits = step.factor, levels.rest, step.limits
        x = basis.to_x @ free
        if offset is not None:
            x = x + basis.internal @ (basis.internal.T @ offset)
        u = applied(metric, x)
        none = np.zeros(0 if limits is None else limits.R.shape[1] - len(u))
        wide = np.append(u, none)
        if limits is None or limits.inside(limits.R @ wide, wide):
            return HierarchyInputs(x, u, rows=limits, s=free, shares=none)
        cascade = LimitedLevels(
            basis,
            metric,
            limits,
            solver=self._solver,
            rank_tol=self._rank_tol,
            order=self._order,
            motors=self._motors,
        )
        near = np.zeros(len(x)) if offset is None else offset
        return cascade.run(levels.rows, free, np.zeros(len(free)) if rest is None else rest, near)

    # ------------------------------------------------------------------ status

    def _judged(
        self, levels: FoundLevels, selected: HierarchyInputs
    ) -> tuple[Status, str, tuple[float, ...]]:
        """Status, message, and the largest change of the rows of each level due to limits, dimensionless."""
        status, said, costs, any_damped = selected.status, [], [], False
        judged = levels.step.found.judged() if selected.by_kernel else levels.judged(selected.s)
        for group, (rank, damped, wanted, taken, missed) in zip(self._stack.levels, judged, strict=False):
            size = MISSED * (1.0 + wanted)
            costs.append(taken if taken > size else 0.0)
            any_damped = any_damped or damped > 0.0
            if missed <= size:
                continue
            status = Status.PARTIAL
            why = "limits" if costs[-1] else f"{rank} of {levels.rows_of(group)} rows independent"
            why = "damped near a singular pose" if damped else why
            said.append(f"level {group[0].priority:g} is met as far as possible ({why})")
        if any_damped:
            status = Status.SINGULAR
        if selected.status == Status.INFEASIBLE:
            worst = ", ".join(f"{name} exceeded by {by:.4g}" for name, by in selected.violations.items())
            status = Status.INFEASIBLE
            said.insert(0, f"the limits cannot all hold; least violation: {worst or 'below the tolerance'}")
        reached, dof = levels.step.found.controllable, levels.step.found.dof
        if reached < dof:
            said.append(f"{reached} of {dof} freedoms are controllable, `uncontrollable` has the others")
        return status, "; ".join(said), tuple(costs)

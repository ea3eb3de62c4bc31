"""HierarchySolution: one step of a task hierarchy, level by level and task by task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ...arrays import Array
from ..core.compiled_step import FoundStep
from ..core.solution import Solution
from .levels import ControllableBasis, LevelRows, LevelSplit
from .operational_space import OperationalSpace
from .tasks import BoundTask, StackedTracking, TaskStack


@dataclass(frozen=True)
class LevelResult:
    """One level of priority.

    Attributes:
        priority: of its tasks.
        tasks: names of its active tasks.
        size: number of rows.
        rank: how many of them are independent of each other, of higher levels and of the constraints.
        open: dimension of the null space left to lower levels.
        damped: whether torques were damped.
        lost: largest difference of desired and predicted acceleration [m/s^2, rad/s^2].
        limit_cost: largest change of its acceleration due to limits [m/s^2, rad/s^2].
    """

    priority: float
    tasks: tuple[str, ...]
    size: int
    rank: int
    open: int
    damped: bool
    lost: float
    limit_cost: float


@dataclass(frozen=True)
class TaskResult:
    """One task.

    Attributes:
        name, priority: of the task.
        names: of its components (k).
        on: whether it was active; if not, the arrays are NaN.
        error: (k,).
        wanted: desired acceleration J a (k,) [m/s^2, rad/s^2].
        achieved: predicted acceleration J a (k,).
        lost_to_limits: J a without limits less J a with them (k,).
    """

    name: str
    priority: float
    names: tuple[str, ...]
    on: bool
    error: Array
    wanted: Array
    achieved: Array
    lost_to_limits: Array

    @property
    def lost(self) -> Array:
        """Desired less predicted acceleration (k,)."""
        return np.asarray(self.wanted - self.achieved)


class FoundLevels:
    """The levels of one step, read when asked for.

    Attributes:
        step: the whole step.
        on: whether each task is active.
        costs: largest change of the rows of each level due to limits, dimensionless.
    """

    def __init__(self, step: FoundStep, stack: TaskStack, on: tuple[bool, ...]) -> None:
        self.step, self.stack, self.on = step, stack, on
        self.costs: tuple[float, ...] = ()

    @cached_property
    def _found(self) -> dict[str, Any]:
        found: dict[str, Any] = self.step.found.levels()
        return found

    @cached_property
    def basis(self) -> ControllableBasis:
        """Of the accelerations that the actuators can produce."""
        parts = {name: self._found[name] for name in ("E", "to_x", "internal", "size")}
        return ControllableBasis(**parts, dof=self.step.found.dof)

    @cached_property
    def rows(self) -> list[LevelRows]:
        """Dimensionless task rows of each level."""
        found, begin, rows = self._found, 0, []
        for group, end, zero in zip(self.stack.levels, found["ends"], found["zero"].tolist(), strict=False):
            on = [task.damping for task in group if self.on[self.stack.tasks.index(task)]]
            A, b = found["A"][begin:end], found["b"][begin:end]
            rows.append(LevelRows(A, b, zero, max(on, default=0.0)))
            begin = end
        return rows

    @cached_property
    def splits(self) -> list[LevelSplit]:
        """Rank, null space and damping of each level."""
        pairs = zip(self.stack.levels, self._found["left"], self._found["damped"], strict=False)
        return [LevelSplit(left.shape[0] - left.shape[1], left, damped) for _, left, damped in pairs]

    @property
    def free(self) -> Array:
        """Coordinates s (r,) of the acceleration without limits."""
        return self._found["free"]  # type: ignore[no-any-return]

    @property
    def rest(self) -> Array | None:
        """Goal for s (r,) in the null space of all levels, or None."""
        return self._found["rest"]  # type: ignore[no-any-return]

    @cached_property
    def free_acceleration(self) -> Array:
        """Acceleration (nv,) without limits."""
        return np.asarray(self.step.response.a0 + self.basis.E @ self.free)

    @property
    def tracking(self) -> Any:
        """Outputs of all tasks, as `TaskTracking`."""
        if all(self.on):
            return self.step.found
        return StackedTracking(self.step.found, [task.size for task in self.stack.tasks], self.on)

    def rows_of(self, group: Sequence[BoundTask]) -> int:
        """Number of rows of the active tasks of a level."""
        if all(self.on):
            return sum([task.size for task in group])
        on = dict(zip([task.name for task in self.stack.tasks], self.on, strict=True))
        return sum(task.size for task in group if on[task.name])

    def judged(self, s: Array) -> list[tuple[float, ...]]:
        """Of each level: rank, damping, largest |b|, |A (free - s)| and |b - A s|."""
        found = []
        for rows, split in zip(self.rows, self.splits, strict=True):
            sizes = rows.b, rows.A @ (self.free - s), rows.b - rows.A @ s
            found.append((split.rank, split.damped, *map(_largest, sizes)))
        return found


@dataclass(frozen=True)
class HierarchySolution(Solution):
    """One step of a `TaskHierarchy`: all of `Solution`, and its levels and tasks."""

    _parts: FoundLevels | None = field(default=None, repr=False)

    @property
    def ranks(self) -> tuple[int, ...]:
        """Rank of each level, highest priority first."""
        return () if self._parts is None else tuple(split.rank for split in self._parts.splits)

    @property
    def limited_level(self) -> float | None:
        """Priority of the highest level whose acceleration limits changed; None if there is none."""
        return next((level.priority for level in self.levels if level.limit_cost > 0.0), None)

    @cached_property
    def levels(self) -> tuple[LevelResult, ...]:
        """The levels, highest priority first."""
        if self._parts is None:
            return ()
        found, open_ = [], self._parts.basis.E.shape[1]
        priorities = dict.fromkeys(priority for _, priority, _ in self._parts.stack.labels)
        for priority, split, cost in zip(priorities, self._parts.splits, self._parts.costs, strict=True):
            tasks = [one for one in self.tasks.values() if one.priority == priority and one.on]
            open_ -= split.rank
            lost = max((_largest(one.lost) for one in tasks), default=0.0)
            taken = max((_largest(one.lost_to_limits) for one in tasks), default=0.0) if cost else 0.0
            found.append(
                LevelResult(
                    priority,
                    tasks=tuple(one.name for one in tasks),
                    size=sum(len(one.names) for one in tasks),
                    rank=split.rank,
                    open=open_,
                    damped=split.damped > 0.0,
                    lost=lost,
                    limit_cost=taken,
                )
            )
        return tuple(found)

    @cached_property
    def tasks(self) -> dict[str, TaskResult]:
        """The tasks by name, highest priority first."""
        if self._task is None or self._parts is None:
            return {}
        achieved, wanted = self._task.J @ self.a, self._task.wanted
        taken = self._task.J @ (self._parts.free_acceleration - self.a)
        found, end = {}, 0
        for (name, priority, size), on in zip(self._parts.stack.labels, self._parts.on, strict=True):
            rows, end = slice(end, end + size), end + size
            off = np.full(size, np.nan)
            values = [part[rows] if on else off for part in (self._task.e, wanted, achieved, taken)]
            found[name] = TaskResult(name, priority, self.task_names[rows], on, *values)
        return found

    # ------------------------------------------------------------------ the paper's quantities

    @cached_property
    def operational(self) -> OperationalSpace | None:
        """H, alpha, rho, Theta, J_i, Q_i, N_i, z_i, eta_i, Lambda_c, mu_c, p_c; None where the step failed.

        By the names of [DeSapio2010]; see `OperationalSpace`. Made when first read.
        """
        if self._parts is None or self._response is None or self._task is None:
            return None
        parts, J, wanted = self._parts, self._task.J, self._task.wanted
        on = dict(zip([task.name for task in parts.stack.tasks], parts.on, strict=True))
        ends = np.cumsum([task.size for group in parts.stack.levels for task in group]).tolist()
        found = []
        for group in parts.stack.levels:
            begin_end = [(task, ends.pop(0)) for task in group]
            active = [(task, end) for task, end in begin_end if on[task.name]]
            rows = [k for task, end in active for k in range(end - task.size, end)]
            found.append(([task for task, _ in active], J[rows], wanted[rows]))
        return OperationalSpace(parts.step.now, self._response, found, parts.splits, parts.basis.E)

    @property
    def orthogonalized(self) -> tuple[Array, ...]:
        """Q_i (k_i, nv) of each level, orthogonal to those above in the mass metric; [DeSapio2010] (91)."""
        return () if self.operational is None else self.operational.Q

    @property
    def null_space(self) -> Array:
        """Projector N.T (nv, nv) onto forces that move no task and load no constraint; [DeSapio2010] (94)."""
        return np.zeros((0, 0)) if self.operational is None else self.operational.N[-1]

    def summary(self) -> str:
        """Levels and tasks in words."""
        lines = [f"t = {self.t:g} s: {self.status.name}" + (f", {self.message}" if self.message else "")]
        for level in self.levels:
            lines.append(
                f"level {level.priority:g}: rank {level.rank} of {level.size}, {level.open} left open,"
                f" lost {level.lost:.3g}, limits took {level.limit_cost:.3g}"
            )
            lines += [f"  {name}: error {_largest(self.tasks[name].error):.3g}" for name in level.tasks]
        return "\n".join(lines)


def _largest(x: Array) -> float:
    return float(np.max(np.abs(x), initial=0.0))

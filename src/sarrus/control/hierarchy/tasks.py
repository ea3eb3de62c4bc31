"""PriorityTask: an output with its reference, gains and priority; TaskStack: all tasks of a controller."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from itertools import groupby
from typing import Any

import numpy as np
import numpy.typing as npt

from ..._kernel import TaskSetup
from ...arrays import Array, nonnegative, positive
from ...errors import InputError, SarrusError
from ..core.task import Task, TaskTracking
from ..outputs.output import BoundOutput, OutputTracking, as_outputs, compiled_output
from ..outputs.references import Reference
from ..state.measured_state import MeasuredState

FIELDS = frozenset(one.name for one in fields(TaskTracking))
When = Callable[[float, Array, Array], bool] | None


@dataclass(frozen=True)
class PriorityTask:
    """One task of a `TaskHierarchy`: an output that shall follow a reference, or have an acceleration.

    Args:
        output: what is controlled: the name of a coordinate, a list of names, or an output: `BodyPose`,
            `Position`, `Orientation`, `CenterOfMass`, `RelativePose`, `Posture`, `Coordinates`, `Function`.
        reference: desired motion, as in `ProjectedInverseDynamics`; or give `acceleration`.
        kp: gain [1/s^2]: a number, (k,) or a symmetric positive definite matrix (k, k).
        kd: gain [1/s]; default critical damping, 2 sqrt(kp).
        acceleration: desired x'' (k,) [m/s^2, rad/s^2] in place of a reference: numbers, or a function of
            (t, q, v).
        priority: 1 comes before 2, and so on; any finite number. Tasks of equal priority share a level.
        mask: which components count, (k,) of True and False; default all.
        weight: of the task against others of the same priority: its errors count so many times, and their
            squares, whose sum a level minimizes, weight^2 times.
        damping: the level of the task is damped where its smallest singular value is below this share of the
            largest one; this bounds the torques near singular poses. 0 never damps.
        when: function of (t, q, v) that returns whether the task is active; default always.
        name: in results and messages; default made from the output.
    """

    output: Any
    reference: Any = None
    kp: Any = 100.0
    kd: Any = None
    acceleration: Any = None
    priority: float = 1.0
    mask: Sequence[bool] | None = None
    weight: float = 1.0
    damping: float = 0.0
    when: When = None
    name: str | None = None


class BoundTask:
    """A task of one mechanism.

    Attributes:
        name, priority, weight, damping: as given.
        level: of its priority, counted from 0.
        count: number of outputs.
        names: of the components that count (k).
        unit: value of each component that counts as much as 1 rad, divided by the weight of the task (k,).
    """

    def __init__(self, given: PriorityTask, system: Any, name: str) -> None:
        self.name = name
        self.priority = _priority(given.priority, name)
        self.damping = nonnegative(given.damping, f"damping of task {name!r}")
        weight = positive(given.weight, f"weight of task {name!r}")
        if given.when is not None and not callable(given.when):
            raise InputError(f"when of task {name!r} must be a function of (t, q, v), got {given.when!r}.")
        outputs = as_outputs(given.output)
        if len(outputs) != 1:
            raise InputError(f"task {name!r} must have one output; make one task of each.")
        if (given.reference is None) == (given.acceleration is None):
            raise InputError(f"task {name!r} needs either a reference or an acceleration.")
        self._when, self._acceleration = given.when, given.acceleration
        self._task: Task | None = None
        self._output: BoundOutput
        try:
            if given.acceleration is None:
                self._task = Task(system, outputs, given.reference, given.kp, given.kd)
                names, unit = self._task.names, self._task.unit
            else:
                self._output = outputs[0].bind(system)
                names, unit = self._output.names, self._output.unit
        except SarrusError as error:
            raise type(error)(f"task {name!r}: {error}") from error
        self._rows = _mask(given.mask, len(names), name)
        self.count, self.level = 1, 0
        self.names = tuple(np.array(names, dtype=object)[self._rows].tolist())
        self.unit = unit[self._rows] / weight
        self.size = len(self.names)
        if given.acceleration is not None and not callable(given.acceleration):
            self._constant = self._wanted(0.0, system.default.q, system.default.v)

    def compiled(self) -> TaskSetup:
        """The task for the kernel; `TaskStack` sets its level."""
        task = self._task
        return TaskSetup(
            outputs=[compiled_output(self._output, accelerated=True)]
            if task is None
            else task.compiled_outputs(),
            unit=self.unit,
            keep=None if self._rows.all() else np.flatnonzero(self._rows).tolist(),
            kp=None if task is None else task.kp,
            kd=None if task is None else task.kd,
            level=self.level,
            damping=self.damping,
        )

    def output_names(self, i: int) -> tuple[str, ...]:
        """Names of the components of its one output."""
        return self._output.names if self._task is None else self._task.output_names(i)

    def output_reference(self, i: int) -> Reference | None:
        """Its reference; None where it asks for a constant acceleration."""
        return None if self._task is None else self._task.output_reference(i)

    @property
    def asks_state(self) -> bool:
        """Whether its target, or whether it is active, depends on the state."""
        return self._when is not None or callable(self._acceleration)

    def is_on(self, now: MeasuredState) -> bool:
        """Whether it is active."""
        return self._when is None or bool(self._asked("when", self._when, now.t, now.q, now.v))

    def target(self, now: MeasuredState) -> Any:
        """What it asks for now: a Target, or an acceleration."""
        if self._task is not None:
            return self._task.targets(now.t)[0]
        return self._wanted(now.t, now.q, now.v) if callable(self._acceleration) else self._constant

    def output_error(self, i: int, now: MeasuredState, target: Any) -> OutputTracking:
        """The output against a target, where it is evaluated in Python."""
        if self._task is not None:
            return self._task.output_error(i, now, target)
        x, J, wanted = self._output.at_acceleration(now, target)
        none = np.zeros(self._output.size)
        return OutputTracking(x, x, none, none, J, wanted)

    def rows_at(self, now: MeasuredState) -> Array:
        """Its Jacobian (k, nv) at another state, evaluated in Python."""
        J: Array = self.output_error(0, now, self.target(now)).J
        return J[self._rows]

    def _wanted(self, t: float, q: Array, v: Array) -> Array:
        """The desired acceleration (k,), checked."""
        given = self._acceleration
        value = self._asked("acceleration", given, t, q, v) if callable(given) else given
        size = self._output.size
        try:
            array = np.atleast_1d(np.asarray(value, dtype=float))
        except (TypeError, ValueError):
            array = np.full(0, np.nan)
        if array.shape != (size,) or not np.isfinite(array).all():
            names = list(self._output.names)
            raise InputError(
                f"acceleration of task {self.name!r} must be {size} finite numbers, for {names}; got"
                f" {value!r}."
            )
        return array

    def _asked(self, what: str, function: Callable[..., Any], t: float, q: Array, v: Array) -> Any:
        """Call a user's function; whatever it raises becomes an InputError that names the task."""
        try:
            return function(t, q.copy(), v.copy())
        except Exception as error:
            raise InputError(
                f"{what} of task {self.name!r} at t = {t:g} s: it raised {type(error).__name__}: {error}"
            ) from error


class TaskStack:
    """All tasks of a hierarchy, highest priority first."""

    def __init__(self, tasks: Any) -> None:
        if isinstance(tasks, PriorityTask):
            tasks = [tasks]
        if isinstance(tasks, str) or not isinstance(tasks, Sequence):
            raise InputError(f"tasks must be a list of sr.control.PriorityTask, got {tasks!r}.")
        for one in tasks:
            if not isinstance(one, PriorityTask):
                raise InputError(f"tasks must be a list of sr.control.PriorityTask, got {one!r} in it.")
        self._given: Sequence[PriorityTask] = tasks

    def bind(self, system: Any) -> TaskStack:
        """Bind the tasks to a system and sort them by priority."""
        labels: list[str] = []
        for one in self._given:
            labels.append(_distinct(_label(one), labels))
        bound = [BoundTask(one, system, label) for one, label in zip(self._given, labels, strict=True)]
        self.tasks = sorted(bound, key=lambda task: task.priority)
        self.levels = [list(group) for _, group in groupby(self.tasks, key=lambda task: task.priority)]
        for level, group in enumerate(self.levels):
            for task in group:
                task.level = level
        self.labels = tuple((task.name, task.priority, task.size) for task in self.tasks)
        owned = [(task.name, name) for task in self.tasks for name in task.names]
        count = Counter(name for _, name in owned)
        self.names = tuple(name if count[name] == 1 else f"{task}: {name}" for task, name in owned)
        return self


class StackedTracking(TaskTracking):
    """`TaskTracking` of all tasks: what was found for active ones, NaN for the others; made on access."""

    _found: Any
    _sizes: Sequence[int]
    _on: Sequence[bool]

    def __init__(self, found: Any, sizes: Sequence[int], on: Sequence[bool]) -> None:
        self.__dict__.update(_found=found, _sizes=sizes, _on=on)

    def __getattr__(self, name: str) -> Array:
        if not isinstance(name, str) or name not in FIELDS:
            raise AttributeError(name)
        found: Array = getattr(self._found, name)
        whole = np.full((sum(self._sizes), *found.shape[1:]), 0.0 if name == "J" else np.nan)
        whole[np.repeat(self._on, self._sizes)] = found
        self.__dict__[name] = whole
        return whole


def _priority(value: Any, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not math.isfinite(value):
        raise InputError(
            f"priority of task {name!r} must be a finite number, 1 before 2 and so on; got {value!r}."
        )
    return float(value)


def _mask(mask: Any, size: int, name: str) -> npt.NDArray[np.bool_]:
    if mask is None:
        return np.ones(size, dtype=bool)
    rows = np.asarray(mask)
    if rows.shape != (size,) or not np.all((rows == 0) | (rows == 1)) or not rows.any():
        raise InputError(
            f"mask of task {name!r} must be {size} of True and False, one per component, at least one True;"
            f" got {mask!r}."
        )
    return rows.astype(bool)


def _label(task: PriorityTask) -> str:
    if task.name is not None:
        return str(task.name)
    if isinstance(task.output, str):
        return task.output
    kind = type(task.output).__name__
    body = getattr(task.output, "body", "")
    return f"{kind} {body}".strip() if hasattr(task.output, "bind") else "joints"


def _distinct(label: str, taken: Sequence[str]) -> str:
    count = 1 + sum(one == label or one.startswith(f"{label} #") for one in taken)
    return label if count == 1 else f"{label} #{count}"

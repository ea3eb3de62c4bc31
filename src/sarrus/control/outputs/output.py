"""Outputs of a controller: base classes, and joint coordinates.

Positions and poses of bodies are in `body.py` and `whole_body.py`, functions x(q) in `function.py`.

Every output gives x, its Jacobian J_task (k, nv) and the velocity-dependent part J_task' v of its
acceleration:

    x' = J_task v        x'' = J_task a + J_task' v                                                (1)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..._kernel import OutputSetup
from ...arrays import Array, number
from ...errors import InputError
from ...models.base.pose import Pose
from ..state.measured_state import MeasuredState
from .references import Target


class OutputTracking(NamedTuple):
    """Tracking error e (k,) of an output, its rate, and J_task a = c - T e'' for the acceleration a.

    `T` is None where it is the identity. `x` and `desired` are actual and desired value, for plots.
    """

    x: Array
    desired: Array
    e: Array
    rate: Array
    J: Array
    c: Array
    T: Array | None = None

    def components(self, rows: list[int]) -> OutputTracking:
        """The rows of selected components."""
        x, desired, e, rate, J, c = (part[rows] for part in self[:6])
        T = None if self.T is None else self.T[np.ix_(rows, rows)]
        return OutputTracking(x, desired, e, rate, J, c, T=T)


COORDINATES, POINT, POSE, TURN, GIVEN = range(5)  # kernels/control/step_data.hpp


def evaluated_in_python(size: int, accelerated: bool) -> OutputSetup:
    """An output of which the kernel asks its owner."""
    return OutputSetup(kind=GIVEN, size=size, accelerated=accelerated)


def compiled_output(output: Any, accelerated: bool = False) -> OutputSetup:
    """An output for the kernel; one that does not say how is evaluated in Python."""
    found: Callable[[bool], OutputSetup] | None = getattr(output, "compiled", None)
    return evaluated_in_python(output.size, accelerated) if found is None else found(accelerated)


class BoundOutput(Protocol):
    """An output of one mechanism; `NamedOutput` has what all of them share.

    Attributes:
        size: number of components k.
        names: one per component (k).
        unit: value that counts as much as 1 rad, per component (k,): the length L for metres.
    """

    size: int
    names: tuple[str, ...]
    unit: Array

    def track(self, now: MeasuredState, target: Target) -> OutputTracking:
        """The output at a state against a target."""
        ...

    def accepts(self, target: Target) -> str:
        """What is wrong with a target, or an empty string."""
        ...

    def at_acceleration(self, now: MeasuredState, a: Array) -> tuple[Array, Array, Array]:
        """x (k,), J (k, nv) and the right side of J_task a = c (k,) for the acceleration x'' = a (k,)."""
        ...


class Output(Protocol):
    """An output that is not yet bound to a mechanism."""

    def bind(self, system: Any) -> BoundOutput:
        """The output of this system."""
        ...


class NamedOutput(ABC):
    """Names and units of the components of an output, and its rows for a given acceleration."""

    def __init__(self, names: Sequence[str], unit: Array) -> None:
        self.names, self.unit, self.size = tuple(names), unit, len(names)

    @abstractmethod
    def track(self, now: MeasuredState, target: Target) -> OutputTracking:
        """The output at a state against a target."""

    def compiled(self, accelerated: bool) -> OutputSetup:
        """The output for the kernel, whose target is an acceleration alone if `accelerated`."""
        return evaluated_in_python(self.size, accelerated)

    def present(self, now: MeasuredState, a: Array) -> Target:
        """A target with the acceleration a (k,); its x and x' do not enter the right side c."""
        return Target(np.zeros(self.size), np.zeros(self.size), a)

    def at_acceleration(self, now: MeasuredState, a: Array) -> tuple[Array, Array, Array]:
        """x (k,), J (k, nv) and the right side of J_task a = c (k,) for the acceleration x'' = a (k,)."""
        found = self.track(now, self.present(now, a))
        return found.x, found.J, found.c


class VectorOutput(NamedOutput):
    """Outputs with values in R^k."""

    def accepts(self, target: Target) -> str:
        """What is wrong with a target, or an empty string."""
        for what, value in (("x", target.x), ("x'", target.v), ("x''", target.a)):
            if isinstance(value, Pose) or np.shape(value) != (self.size,):
                got = "a Pose" if isinstance(value, Pose) else f"shape {np.shape(value)}"
                return (
                    f"{what} must have shape ({self.size},), one entry each for {list(self.names)}, got {got}"
                )
            if not np.isfinite(value).all():
                return f"{what} must be finite, got {np.asarray(value).tolist()}"
        return ""

    def tracking_error(self, target: Target, x: Array, v: Array, J: Array, bias: Array) -> OutputTracking:
        """e = x_d - x; e'' = x_d'' - J a - J' v."""
        return OutputTracking(x, target.x, target.x - x, target.v - v, J, target.a - bias)


@dataclass(frozen=True)
class Coordinates:
    """Joint coordinates by name, or linear combinations of them, {name: coefficient} each.

    Coordinates("crank", "slider"); Coordinates({"link1": 1.0, "link2": 1.0}) is an absolute angle in a plane.
    """

    entries: tuple[Any, ...]

    def __init__(self, *entries: str | Mapping[str, float]) -> None:
        if not entries:
            raise InputError("Coordinates needs at least one name, such as Coordinates('crank').")
        object.__setattr__(self, "entries", tuple(entries))

    def bind(self, system: Any) -> BoundOutput:
        """The output of this system."""
        return _Coordinates(self.entries, system)


class _Coordinates(VectorOutput):
    def __init__(self, entries: Sequence[Any], system: Any) -> None:
        model, names, unit = system.model, [], []
        J, Q = np.zeros((len(entries), model.nv)), np.zeros((len(entries), model.nq))
        for row, entry in enumerate(entries):
            if isinstance(entry, (list, set, np.ndarray)):
                raise InputError(
                    f"Coordinates takes names or combinations {{name: coefficient}}, got {entry!r:.80}."
                )
            terms = dict(entry) if isinstance(entry, Mapping) else {entry: 1.0}
            for name, coefficient in terms.items():
                position, index = model.tree.scalar(name, "Coordinates")
                J[row, index] += number(coefficient, f"coefficient of {name!r}")
                Q[row, position] += coefficient
                unit_here = float(model.unit[index])
            names.append(entry if isinstance(entry, str) else _sum_name(terms))
            unit.append(unit_here)
        super().__init__(names, np.array(unit))
        self._J, self._Q, self._zero = J, Q, np.zeros(len(entries))

    def compiled(self, accelerated: bool) -> OutputSetup:
        return OutputSetup(kind=COORDINATES, size=self.size, accelerated=accelerated, Q=self._Q, J=self._J)

    def track(self, now: MeasuredState, target: Target) -> OutputTracking:
        return self.tracking_error(target, self._Q @ now.q, self._J @ now.v, self._J, self._zero)


def _sum_name(terms: Mapping[str, float]) -> str:
    parts = []
    for name, c in terms.items():
        size = "" if abs(c) == 1.0 else f"{abs(c):g} "
        parts.append(f"{'-' if c < 0.0 else '+'}{size}{name}")
    return " ".join(parts)


def as_outputs(value: Any) -> list[Output]:
    """Outputs from what a user gives: a name, several names (one output), an output, or a list of outputs."""
    if hasattr(value, "bind"):
        return [value]
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, Sequence) or len(names) == 0:
        raise InputError(
            "outputs must be the name of a coordinate, a list of names, or outputs such as"
            f" sr.control.Position('hand'); got {value!r}."
        )
    if all(isinstance(one, str) for one in names):
        return [Coordinates(*names)]
    return [one if hasattr(one, "bind") else Coordinates(one) for one in names]

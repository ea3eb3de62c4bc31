"""What a design is judged by: its measures at poses, along a sweep or along a run."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import Array, mapping, numbers, text
from ..differences import slope_terms
from ..errors import AssemblyError, InputError, SarrusError, SarrusWarning, unknown_name
from ..mechanism.mechanism import Mechanism
from ..simulation.simulate import simulate

Measures = dict[str, Array]
STEP = 1e-3  # of differences by parameters, relative to their range
TERMS = slope_terms(6)


class Evaluation(ABC):
    """Where the measures of a mechanism are taken."""

    @abstractmethod
    def measures(self, mech: Mechanism) -> Measures:
        """Measures by name, (n,) or (n, k) for n states.

        Raises:
            AssemblyError: the mechanism cannot take these states.
        """


@dataclass(frozen=True)
class Poses(Evaluation):
    """Poses with given coordinates, at rest.

    Args:
        fixed: One mapping {coordinate: value} [rad, m] for each pose; each is assembled near the one before.
    """

    fixed: Sequence[Mapping[str, float]]

    def measures(self, mech: Mechanism) -> Measures:
        q, found = np.array(mech.default.q), []
        for wanted in self.fixed:
            pose = mech.assemble(q, mapping(wanted, "fixed of Poses", "{coordinate: value}"))
            if not pose.success:
                raise AssemblyError(pose.message)
            q = pose.q
            found.append(q)
        return mech.measure(np.array(found))


@dataclass(frozen=True)
class Sweep(Evaluation):
    """Poses along one coordinate, at rest; see `Mechanism.sweep`.

    Args:
        coordinate: Its name.
        values: (n,) [rad] or [m].
        inputs: Measures of forces are taken under these actuator inputs (nu,) [N m, N]; default none.
    """

    coordinate: str
    values: npt.ArrayLike
    inputs: npt.ArrayLike | None = None

    def measures(self, mech: Mechanism) -> Measures:
        path = mech.sweep(
            text(self.coordinate, "coordinate of Sweep"), numbers(self.values, "values of Sweep", 1)
        )
        if not path.success:
            raise AssemblyError(str(path.message))
        return mech.measure(path.q, u=self.inputs)


@dataclass(frozen=True)
class Run(Evaluation):
    """A run from the default state; see `simulate`.

    Args:
        t: Times at which measures are taken [s], (n,), from the start of the run on.
        options: Of `simulate`, such as {"control": law, "v0": v}.
    """

    t: npt.ArrayLike
    options: Mapping[str, Any] = field(default_factory=dict)

    def measures(self, mech: Mechanism) -> Measures:
        t = numbers(self.t, "t of Run", 1)
        run = simulate(mech, (float(t[0]), float(t[-1])), t_eval=t, **dict(self.options))
        if not run.success:
            raise AssemblyError(run.message)
        return {name: run[name] for name, _ in mech.model.measures}


@dataclass(frozen=True)
class Variables:
    """Parameters that vary within bounds.

    Attributes:
        names: of the parameters (n).
        lower, upper: bounds (n,).
    """

    names: tuple[str, ...]
    lower: Array
    upper: Array

    @property
    def range(self) -> Array:
        """upper - lower (n,)."""
        return np.asarray(self.upper - self.lower)

    def changed(self, mech: Mechanism, x: Array) -> Mechanism:
        """The mechanism with these values (n,)."""
        return mech.with_(**dict(zip(self.names, map(float, x), strict=True)))

    def slopes(self, values: Any, x: Array, steps: Array) -> Array:
        """Derivatives (..., n) of a vector function of x (n,), by differences of order six."""
        columns = []
        for i, h in enumerate(steps):
            e = np.eye(len(x))[i] * h
            columns.append(sum(w / h * values(x + k * e) for k, w in TERMS))
        return np.stack(columns, axis=-1)


def evaluated(over: Evaluation, mech: Mechanism, variables: Variables, x: Array) -> Measures | None:
    """Measures of the mechanism with the values x (n,); None where it cannot be built or moved."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SarrusWarning)
        try:
            changed = variables.changed(mech, x)
            _ = changed.default
        except SarrusError:
            return None
        try:
            return over.measures(changed)
        except AssemblyError:
            return None


def check_mechanism(mech: object, what: str) -> Mechanism:
    """A mechanism with parameters and measures."""
    if not isinstance(mech, Mechanism):
        raise InputError(f"{what} takes a Mechanism, got {type(mech).__name__}.")
    if not mech.parameters:
        raise InputError(
            f"{what}: {mech.name!r} has no parameters to vary; declare some: spec.parameter(name, value)."
        )
    if not mech.model.measures:
        raise InputError(
            f"{what}: {mech.name!r} has no measures to judge it by; declare some: spec.measure(name, ...)."
        )
    return mech


def check_names(mech: Mechanism, given: Mapping[str, Any], what: str) -> tuple[str, ...]:
    """Names of parameters."""
    for name in given:
        if name not in mech.parameters:
            raise unknown_name("parameter", name, mech.parameters, what)
    return tuple(given)


def check_evaluation(over: object, what: str) -> Evaluation:
    """One of the evaluations."""
    if not isinstance(over, Evaluation):
        raise InputError(
            f"over of {what} must be a design.Poses, design.Sweep or design.Run, got {over!r:.80}."
        )
    return over

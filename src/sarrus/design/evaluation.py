"""What a design is judged by: its measures at poses or along a sweep (runs: run_evaluation.py)."""

from __future__ import annotations

import itertools
import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import Array, mapping, numbers, text
from ..differences import slope_terms
from ..errors import AssemblyError, InputError, SarrusError, SarrusWarning, require_all_known
from ..mechanism.mechanism import Mechanism
from .measure_slopes import Measures, MeasureSlopes, slopes_at_rest

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

    def of_variants(self, mech: Mechanism, values: Mapping[str, Array]) -> list[Measures | None]:
        """Measures of variants with values (B,) by parameter; None where one cannot take these states.

        Raises:
            SarrusError: a variant cannot be built.
        """
        return [_or_none(self, copy) for copy in mech.variants(values)]

    def slopes(self, mech: Mechanism, names: Sequence[str]) -> MeasureSlopes | None:
        """Measures and their exact derivatives by the named parameters; None where differences must serve.

        Raises:
            AssemblyError: the mechanism cannot take these states.
        """
        return None

    def check(self, mech: Mechanism) -> None:  # noqa: B027  most take any mechanism
        """Refuse a mechanism that cannot be judged like this.

        Raises:
            InputError: it says why.
        """


@dataclass(frozen=True)
class Poses(Evaluation):
    """Poses with given coordinates, at rest.

    Args:
        fixed: One mapping {coordinate: value} [rad, m] for each pose; each is assembled near the one before.
    """

    fixed: Sequence[Mapping[str, float]]

    def __post_init__(self) -> None:
        if isinstance(self.fixed, Mapping) or not len(self.fixed):
            raise InputError(
                f"Poses takes a list of at least one mapping {{coordinate: value}}, got {self.fixed!r:.80}."
            )

    def measures(self, mech: Mechanism) -> Measures:
        return mech.measure(self._poses(mech))

    def slopes(self, mech: Mechanism, names: Sequence[str]) -> MeasureSlopes | None:
        found: MeasureSlopes | None = None
        q, held = self._poses(mech), [tuple(wanted) for wanted in self.fixed]
        for names_held, group in itertools.groupby(range(len(held)), held.__getitem__):
            part = slopes_at_rest(mech, q[list(group)], names_held, None, names)
            if part is None:
                return None
            found = part if found is None else found.joined(part)
        return found

    def _poses(self, mech: Mechanism) -> Array:
        """(n, nq)."""
        q, found = np.array(mech.default.q), []
        for wanted in self.fixed:
            pose = mech.assemble(q, mapping(wanted, "fixed of Poses", "{coordinate: value}"))
            if not pose.success:
                raise AssemblyError(pose.message)
            q = pose.q
            found.append(q)
        return np.array(found)

    def of_variants(self, mech: Mechanism, values: Mapping[str, Array]) -> list[Measures | None]:
        q, found = np.array([copy.default.q for copy in mech.variants(values)]), []
        success = np.ones(len(q), dtype=bool)
        for wanted in self.fixed:
            held = mapping(wanted, "fixed of Poses", "{coordinate: value}")
            pose = mech.assemble(q, held, parameters=values)
            closed = np.asarray(pose.success)
            success &= closed
            q = np.where(closed[:, None], pose.q, q)
            found.append(q)
        return _spread(mech, values, np.stack(found, axis=1), success, None)


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
        return continued(mech, mech.measure(self._poses(mech), u=self.inputs))

    def slopes(self, mech: Mechanism, names: Sequence[str]) -> MeasureSlopes | None:
        found = slopes_at_rest(mech, self._poses(mech), (self.coordinate,), self.inputs, names)
        return found and replace(found, measures=continued(mech, found.measures))

    def _poses(self, mech: Mechanism) -> Array:
        """(n, nq)."""
        path = mech.sweep(
            text(self.coordinate, "coordinate of Sweep"), numbers(self.values, "values of Sweep", 1)
        )
        if not path.success:
            raise AssemblyError(str(path.message))
        return np.asarray(path.q)

    def of_variants(self, mech: Mechanism, values: Mapping[str, Array]) -> list[Measures | None]:
        path = mech.sweep(self.coordinate, numbers(self.values, "values of Sweep", 1), parameters=values)
        spread = _spread(mech, values, path.q, path.success, self.inputs)
        return [one and continued(mech, one) for one in spread]


def continued(mech: Mechanism, measures: Measures) -> Measures:
    """Measures along a sweep; angles go on beyond pi, as those of `Mechanism.sweep`."""
    return {name: one.along_sweep(measures[name]) for name, one in mech.model.measures}


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
        """The mechanism with these values (n,), its default pose assembled near that of the given one."""
        with suppress(SarrusError):
            _ = mech.default
        return mech.with_(**dict(zip(self.names, map(float, x), strict=True)))

    def around(self, x: Array, steps: Array) -> Array:
        """Values (6 n, n) around x (n,) that `slopes` needs."""
        return np.array([x + k * h * np.eye(len(x))[i] for i, h in enumerate(steps) for k, _ in TERMS])

    def slopes(self, rows: Array, steps: Array) -> Array:
        """Derivatives (m, n) of a vector by x, of order six, from its values (6 n, m) at `around`."""
        weights = np.array([w for _, w in TERMS])
        each = rows.reshape(len(steps), len(TERMS), -1)
        columns = np.einsum("k,nkm->mn", weights, each) / steps
        return np.ascontiguousarray(columns)  # SciPy's SLSQP misreads gradients with strides

    def together(self, mech: Mechanism, over: Evaluation, points: Array) -> list[Measures | None]:
        """Measures of the mechanisms with values (B, n), made and moved together where that is possible."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SarrusWarning)
            try:
                return over.of_variants(mech, dict(zip(self.names, points.T, strict=True)))
            except SarrusError:  # one of them cannot be built
                return [evaluated(over, mech, self, x) for x in points]


def _or_none(over: Evaluation, mech: Mechanism) -> Measures | None:
    """Measures of a mechanism; None where it cannot take the states."""
    try:
        return over.measures(mech)
    except AssemblyError:
        return None


def _spread(
    mech: Mechanism, values: Mapping[str, Array], q: Array, success: Any, inputs: Any
) -> list[Measures | None]:
    """Measures of each variant at its poses (B, n, nq), for those that succeeded."""
    kept = np.flatnonzero(success)
    found: list[Measures | None] = [None] * len(q)
    if len(kept):
        good = {name: np.asarray(x)[kept] for name, x in values.items()}
        measures = mech.measure(q[kept], u=inputs, parameters=good)
        for i, k in enumerate(kept):
            found[k] = {name: x[i] for name, x in measures.items()}
    return found


def evaluated(over: Evaluation, mech: Mechanism, variables: Variables, x: Array) -> Measures | None:
    """Measures of the mechanism with the values x (n,); None where it cannot be built or moved."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SarrusWarning)
        try:
            changed = variables.changed(mech, x)
            _ = changed.default
        except SarrusError:
            return None
        return _or_none(over, changed)


def evaluated_slopes(
    over: Evaluation, mech: Mechanism, variables: Variables, x: Array
) -> MeasureSlopes | None:
    """Exact derivatives of the measures of the mechanism with the values x (n,), where there are such."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SarrusWarning)
        try:
            return over.slopes(variables.changed(mech, x), variables.names)
        except SarrusError:
            return None


def why_not(over: Evaluation, mech: Mechanism, variables: Variables, x: Array) -> str:
    """Why the mechanism with the values x (n,) cannot be evaluated, or no other near it, in words; or ""."""
    try:
        over.slopes(variables.changed(mech, x), variables.names)
    except SarrusError as error:
        return f" {str(error)[:1].upper()}{str(error)[1:]}"
    return ""


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
    require_all_known("parameter", given, mech.parameters, what)
    return tuple(given)


def check_evaluation(over: object, mech: Mechanism, what: str) -> Evaluation:
    """One of the evaluations, and one that a mechanism can be judged by."""
    if not isinstance(over, Evaluation):
        raise InputError(
            f"over of {what} must be a design.Poses, design.Sweep or design.Run, got {over!r:.80}."
        )
    over.check(mech)
    return over

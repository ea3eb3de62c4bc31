"""optimize: values of parameters for which a purpose is served best, within limits.

Sequential quadratic programming (SciPy's SLSQP) in parameters relative to their ranges. Gradients are exact
where those of the measures are, and the objective knows dual numbers. Where the objective does not, it is
differentiated by differences along exact derivatives of the measures. Otherwise gradients are differences of
order six of the whole evaluation; the six mechanisms for each parameter are made and moved together (along
runs one by one). They stay within the ranges: closer to a bound than 0.3 percent of a range they are those at
that distance.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import Array, BoolArray, positive, positive_whole
from ..errors import InputError, SarrusError
from ..mechanism.mechanism import Mechanism
from .evaluation import (
    STEP,
    TERMS,
    Evaluation,
    Variables,
    check_evaluation,
    check_mechanism,
    evaluated,
    evaluated_slopes,
    why_not,
)
from .measure_slopes import Measures, MeasureSlopes, NamedMeasures
from .objectives import Limit, Objective, check_limits, check_objective, check_ranges

ON_LIMIT = 1e-6  # relative to the size of a limit: closer counts as on it
IDLE = 1e-13  # relative change of the objective or of a margin: less is rounding, nothing depends on it
REFUSED = 1e3  # times the largest size of the objective: value of a design that cannot be built
NO_SIZE = 1e-12  # an objective that small says nothing about the size of others


@dataclass(frozen=True)
class Optimum:
    """The result of `optimize`.

    Attributes:
        mech: the mechanism with the best parameters found.
        parameters: these, {name: value}.
        objective: what they reach.
        before: what the given mechanism reached; infinite where it kept no limit or could not be built.
        measures: of the best mechanism, where they were taken.
        active: names of parameters and limits that the best mechanism stands on.
        history: objective of the best design that keeps all limits, after each start (starts,).
        evaluations: number of mechanisms that were tried.
        gradient: how it was differentiated: {"objective": "exact" or "differences"}, and the limits by name.
        success: whether the optimizer converged and all limits are kept.
        message: the same in words.
    """

    mech: Mechanism
    parameters: dict[str, float]
    objective: float
    before: float
    measures: Measures
    active: tuple[str, ...]
    history: Array
    evaluations: int
    gradient: dict[str, str]
    success: bool
    message: str


def optimize(
    mech: Mechanism,
    parameters: Mapping[str, tuple[float, float]],
    objective: Objective | str,
    *,
    over: Evaluation,
    limits: Mapping[str, Any] | None = None,
    starts: int = 1,
    seed: int = 0,
    tol: float = 1e-8,
    max_iterations: int = 200,
) -> Optimum:
    """Vary parameters so that an objective becomes least, within limits; returns an `Optimum`.

    The best local minimum from several starts. A design that cannot be assembled, swept or run counts as a
    bad one.

    Args:
        mech: a mechanism with parameters and measures; the search starts at its values.
        parameters: what varies, {parameter: (lower, upper)}.
        objective: objective(measures) -> number, smooth, to be made small; measures are arrays (n,) or (n, k)
            by name, over n states. Or the name of a measure (n,), whose mean square is meant.
        over: where measures are taken: `design.Poses`, `design.Sweep` or `design.Run`.
        limits: {measure: (lower, upper)} of all its values, or {name: (function(measures), lower, upper)} of
            a number or array that it returns; None leaves a side open.
        starts: number of starts; those after the first are random, within the ranges.
        seed: of the random starts.
        tol: change of the objective, relative to its size at the start, at which it has converged.
        max_iterations: of each start.
    """
    check_mechanism(mech, "optimize")
    variables = check_ranges(mech, parameters)
    problem = _Problem(
        mech,
        variables,
        check_objective(mech, objective),
        check_evaluation(over, mech, "optimize"),
        check_limits(mech, limits),
    )
    first = np.clip([mech.parameters[name] for name in variables.names], variables.lower, variables.upper)
    rng = np.random.default_rng(seed)
    others = rng.uniform(variables.lower, variables.upper, (positive_whole(starts, "starts") - 1, len(first)))
    before = problem.tried(first)
    accuracy, iterations = positive(tol, "tol"), positive_whole(max_iterations, "max_iterations")
    found = [problem.search(start, accuracy, iterations) for start in (first, *others)]
    best = max(found, key=lambda one: (one.kept, -one.value))
    history = np.minimum.accumulate([one.value if one.kept else np.inf for one in found])
    return problem.optimum(best, before, history)


@dataclass(frozen=True)
class _Found:
    x: Array
    value: float
    kept: bool
    converged: bool
    words: str


class _Problem:
    """Objective and limits as functions of the parameters; remembers designs that were tried."""

    def __init__(
        self,
        mech: Mechanism,
        variables: Variables,
        objective: Objective,
        over: Evaluation,
        limits: tuple[Limit, ...],
    ) -> None:
        self._mech, self._variables, self._objective = mech, variables, objective
        self._over, self._limits = over, limits
        self._known: dict[bytes, tuple[float, Array]] = {}
        self.size, self._largest = 1.0, 0.0  # of the objective at a start, and of all that were finite
        self._margins = 0
        self._undefined = False  # whether the objective was NaN somewhere
        self._differences = dict.fromkeys(("objective", *(one.name for one in limits)), False)
        self.idle = np.ones(len(variables.names), dtype=bool)

    def tried(self, x: Array) -> tuple[float, Array]:
        """Objective and margins of the limits; infinite and -1 where the design cannot be built."""
        key = np.asarray(x, dtype=np.float64).tobytes()
        if key not in self._known:
            self._judge(key, evaluated(self._over, self._mech, self._variables, x))
        return self._known[key]

    def _judge(self, key: bytes, measures: Measures | None) -> None:
        if measures is None:
            self._known[key] = np.inf, np.full(self._margins, -1.0)
            return
        named = NamedMeasures({name: np.array(x) for name, x in measures.items()})
        margins = np.concatenate([np.zeros(0), *(one.margins(named) for one in self._limits)])
        value = self._number(named)
        self._undefined |= bool(np.isnan(value))
        self._margins = len(margins)
        self._largest = max(self._largest, abs(value)) if np.isfinite(value) else self._largest
        self._known[key] = value if np.isfinite(value) else np.inf, np.nan_to_num(margins, nan=-1.0)

    def _try_all(self, points: Array) -> None:
        """Remember designs (B, n), made and moved together."""
        for x, measures in zip(points, self._variables.together(self._mech, self._over, points), strict=True):
            self._judge(x.tobytes(), measures)

    def _note_idle(self, rows: Array, which: npt.NDArray[np.intp]) -> None:
        """Keep which parameters change nothing, from rows (k, 6, m) around a design."""
        size = np.maximum(np.max(np.abs(rows), axis=(0, 1)), 1.0)
        self.idle[which] &= np.all(np.ptp(rows, axis=1) <= IDLE * size, axis=1)

    def _number(self, measures: Measures) -> float:
        try:
            return float(self._objective(measures))
        except SarrusError:
            raise
        except (TypeError, ValueError) as error:
            raise InputError(f"objective of optimize must return a number: {error}.") from None

    def _scaled(self, y: Array) -> Array:
        """Parameters of y (n,) in 0 to 1."""
        v = self._variables
        return np.asarray(v.lower + np.clip(y, 0.0, 1.0) * v.range)

    def _row(self, y: Array) -> Array:
        """Objective relative to its size, then margins."""
        value, margins = self.tried(self._scaled(y))
        if len(margins) != self._margins:
            margins = np.full(self._margins, -1.0)
        if not np.isfinite(value):
            return np.concatenate([[REFUSED * max(1.0, self._largest / self.size)], margins])
        return np.concatenate([[value / self.size], margins])

    def _gradient(self, y: Array) -> Array:
        """Derivatives (1 + margins, n) of `_row`."""
        found = evaluated_slopes(self._over, self._mech, self._variables, self._scaled(y))
        if found is None:
            if np.isfinite(self.tried(self._scaled(y))[0]):  # others have no gradient at all
                self._differences = dict.fromkeys(self._differences, True)
            return self._by_differences(y, np.arange(len(y)))
        slopes = self._exact(found)
        still = np.flatnonzero(np.all(np.abs(slopes) <= IDLE * max(1.0, np.max(np.abs(slopes))), axis=0))
        self.idle[np.setdiff1d(np.arange(len(y)), still)] = False
        if np.any(self.idle[still]):  # stationary here, or nothing depends on it
            self._by_differences(y, still)
        return slopes

    def _exact(self, found: MeasureSlopes) -> Array:
        """The same from derivatives of the measures."""
        ranges = self._variables.range
        first, exact = found.of(self._objective, ranges)
        self._differences["objective"] |= not exact
        rows = [first / self.size]
        for one in self._limits:
            values, exact = found.of(one.function, ranges)
            self._differences[one.name] |= not exact
            rows.append(one.slopes(values))
        return np.ascontiguousarray(np.concatenate(rows))  # SciPy's SLSQP misreads gradients with strides

    def _by_differences(self, y: Array, which: npt.NDArray[np.intp]) -> Array:
        """The same by differences of designs around y, those by the parameters `which` (k,)."""
        v, k = self._variables, len(which)
        steps = np.full(len(y), STEP)
        around = v.around(np.clip(y, 3 * STEP, 1 - 3 * STEP), steps).reshape(len(y), len(TERMS), -1)[which]
        flat = around.reshape(k * len(TERMS), -1)
        self._try_all(np.array([self._scaled(one) for one in flat]))
        rows = np.array([self._row(one) for one in flat])
        refused = np.array([not np.isfinite(self.tried(self._scaled(one))[0]) for one in flat])
        self._refuse_isolated(y, which, refused.reshape(k, -1))
        self._note_idle(rows.reshape(k, len(TERMS), -1), which)
        return v.slopes(rows, steps[which])

    def _refuse_isolated(self, y: Array, which: npt.NDArray[np.intp], refused: BoolArray) -> None:
        """Refuse to go on from a design none of whose six neighbours along a parameter can be built."""
        v, x = self._variables, self._scaled(y)
        for i in which[np.all(refused, axis=1)]:
            if np.isfinite(self.tried(x)[0]):
                raise InputError(
                    f"optimize: no mechanism with a value of {v.names[i]!r} around {x[i]:g} can be built and"
                    f" moved, only that with this value.{why_not(self._over, self._mech, v, x)}"
                )

    def search(self, start: Array, tol: float, iterations: int) -> _Found:
        """The local minimum near a start; where no limit can be kept on the way, from where they are kept."""
        v = self._variables
        self.tried(start)
        y0 = np.asarray((start - v.lower) / v.range)
        found = self._descend(y0, tol, iterations)
        if found.kept or not self._limits:
            return found
        again = self._descend(self._towards_limits(y0, iterations), tol, iterations)
        return again if again.kept else found

    def _descend(self, y0: Array, tol: float, iterations: int) -> _Found:
        """The local minimum near y0 (n,)."""
        from scipy.optimize import minimize

        self._set_size(y0)
        slopes: dict[bytes, Array] = {}

        def gradient(y: Array) -> Array:
            key = np.asarray(y).tobytes()
            if key not in slopes:
                slopes.clear()
                slopes[key] = self._gradient(y)
            return slopes[key]

        rules = []
        if self._limits:
            rules = [{"type": "ineq", "fun": lambda y: self._row(y)[1:], "jac": lambda y: gradient(y)[1:]}]
        found: Any = minimize(
            lambda y: self._row(y)[0], y0, jac=lambda y: gradient(y)[0], bounds=[(0.0, 1.0)] * len(y0),
            constraints=rules, method="SLSQP", options={"ftol": tol, "maxiter": iterations},
        )  # fmt: skip
        x = self._scaled(np.clip(found.x, 0.0, 1.0))
        value, margins = self.tried(x)
        kept = bool(np.isfinite(value) and np.all(margins >= -ON_LIMIT))
        return _Found(x, value, kept, bool(found.success), str(found.message))

    def _set_size(self, y: Array) -> None:
        """Of the objective at y (n,); where that is zero, of its change over the ranges."""
        value = abs(self.tried(self._scaled(y))[0])
        self.size = 1.0
        if np.isfinite(value):
            change = float(np.max(np.abs(self._gradient(y)[0]))) if value <= NO_SIZE else value
            self.size = max(value, change if np.isfinite(change) else 0.0) or 1.0

    def _towards_limits(self, y0: Array, iterations: int) -> Array:
        """A design near y0 (n,) that violates the limits least, the sum of squares of its margins."""
        from scipy.optimize import minimize

        def missed(y: Array) -> Array:
            return np.minimum(self._row(y)[1:] - ON_LIMIT, 0.0)

        found: Any = minimize(
            lambda y: np.sum(missed(y) ** 2), y0, jac=lambda y: 2.0 * missed(y) @ self._gradient(y)[1:],
            bounds=[(0.0, 1.0)] * len(y0), method="L-BFGS-B", options={"maxiter": iterations},
        )  # fmt: skip
        return np.asarray(np.clip(found.x, 0.0, 1.0))

    def optimum(self, found: _Found, before: tuple[float, Array], history: Array) -> Optimum:
        """The result in words."""
        v = self._variables
        if not np.isfinite(found.value):
            at = {name: float(f"{x:.6g}") for name, x in zip(v.names, found.x, strict=True)}
            if self._undefined:
                raise InputError(f"objective of optimize must be a finite number, got nan at {at}.")
            raise InputError(
                "optimize: no design within the ranges could be assembled and evaluated; narrow them around"
                f" {at}.{why_not(self._over, self._mech, v, found.x)}"
            )
        best = v.changed(self._mech, found.x)
        measures = self._over.measures(best)
        near = ON_LIMIT * v.range
        active = [
            name
            for i, name in enumerate(v.names)
            if found.x[i] - v.lower[i] < near[i] or v.upper[i] - found.x[i] < near[i]
        ]
        active += [one.name for one in self._limits if np.min(one.margins(measures)) < 1e3 * ON_LIMIT]
        reached = bool(np.all(before[1] >= -ON_LIMIT)) and np.isfinite(before[0])
        idle = [repr(name) for name, still in zip(v.names, self.idle, strict=True) if still]
        if len(idle) == len(v.names):
            raise InputError(
                f"optimize has no freedom: neither the objective nor a limit depends on {', '.join(idle)}"
                " around the given values; vary other parameters, or judge by other measures."
            )
        words = "Converged" if found.converged else f"Stopped: {found.words}"
        words += "." if found.kept else "; limits are not kept: widen them or the ranges of the parameters."
        words += f" Nothing depends on {', '.join(idle)}." if idle else ""
        return Optimum(
            mech=best,
            parameters=dict(zip(v.names, map(float, found.x), strict=True)),
            objective=found.value,
            before=before[0] if reached else np.inf,
            measures=measures,
            active=tuple(active),
            history=history,
            evaluations=len(self._known),
            gradient={name: "differences" if rough else "exact" for name, rough in self._differences.items()},
            success=found.converged and found.kept,
            message=words,
        )

"""The problem of a design: objective and limits as functions of its parameters, and the search for a minimum.

Sequential quadratic programming (SciPy's SLSQP) in parameters relative to their ranges. Gradients are exact
where those of the measures are, and the objective knows dual numbers. Where the objective does not, it is
differentiated by differences along exact derivatives of the measures. Otherwise gradients are differences of
order six of the whole evaluation; the six mechanisms for each parameter are made and moved together (along
runs one by one). They stay within the ranges: closer to a bound than 0.3 percent of a range they are those at
that distance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import Array, BoolArray
from ..errors import InputError, SarrusError
from ..mechanism.mechanism import Mechanism
from .evaluation import STEP, TERMS, Evaluation, Variables, evaluated, evaluated_slopes, why_not
from .measure_slopes import Measures, MeasureSlopes, NamedMeasures
from .objectives import Limit, Objective

ON_LIMIT = 1e-6  # relative to the size of a limit: closer counts as on it
IDLE = 1e-13  # relative change of the objective or of a margin: less is rounding, nothing depends on it
REFUSED = 1e3  # times the largest size of the objective: value of a design that cannot be built
NO_SIZE = 1e-12  # an objective that small says nothing about the size of others


@dataclass(frozen=True)
class Found:
    x: Array
    value: float
    kept: bool
    converged: bool
    words: str


class Problem:
    """Objective and limits as functions of the parameters; remembers designs that were tried."""

    def __init__(
        self,
        mech: Mechanism,
        variables: Variables,
        objective: Objective,
        over: Evaluation,
        limits: tuple[Limit, ...],
    ) -> None:
        self.mech, self.variables, self._objective = mech, variables, objective
        self.over, self.limits = over, limits
        self.known: dict[bytes, tuple[float, Array]] = {}
        self.size, self._largest = 1.0, 0.0  # of the objective at a start, and of all that were finite
        self._sized = False  # whether that start has one
        self._margins = 0
        self.undefined = False  # whether the objective was NaN somewhere
        self.differences = dict.fromkeys(("objective", *(one.name for one in limits)), False)
        self.idle = np.ones(len(variables.names), dtype=bool)

    def tried(self, x: Array) -> tuple[float, Array]:
        """Objective and margins of the limits; infinite and -1 where the design cannot be built."""
        key = np.asarray(x, dtype=np.float64).tobytes()
        if key not in self.known:
            self._judge(key, evaluated(self.over, self.mech, self.variables, x))
        return self.known[key]

    def _judge(self, key: bytes, measures: Measures | None) -> None:
        if measures is None:
            self.known[key] = np.inf, np.full(self._margins, -1.0)
            return
        named = NamedMeasures({name: np.array(x) for name, x in measures.items()})
        margins = np.concatenate([np.zeros(0), *(one.margins(named) for one in self.limits)])
        value = self._number(named)
        self.undefined |= bool(np.isnan(value))
        self._margins = len(margins)
        self._largest = max(self._largest, abs(value)) if np.isfinite(value) else self._largest
        self.known[key] = value if np.isfinite(value) else np.inf, np.nan_to_num(margins, nan=-1.0)

    def _try_all(self, points: Array) -> None:
        """Remember designs (B, n), made and moved together."""
        for x, measures in zip(points, self.variables.together(self.mech, self.over, points), strict=True):
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
        v = self.variables
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
        found = evaluated_slopes(self.over, self.mech, self.variables, self._scaled(y))
        if found is None:
            if np.isfinite(self.tried(self._scaled(y))[0]):  # others have no gradient at all
                self.differences = dict.fromkeys(self.differences, True)
            return self._by_differences(y, np.arange(len(y)))
        slopes = self._exact(found)
        still = np.flatnonzero(np.all(np.abs(slopes) <= IDLE * max(1.0, np.max(np.abs(slopes))), axis=0))
        self.idle[np.setdiff1d(np.arange(len(y)), still)] = False
        if np.any(self.idle[still]):  # stationary here, or nothing depends on it
            self._by_differences(y, still)
        return slopes

    def _exact(self, found: MeasureSlopes) -> Array:
        """The same from derivatives of the measures."""
        ranges = self.variables.range
        first, exact = found.of(self._objective, ranges)
        self.differences["objective"] |= not exact
        rows = [first / self.size]
        for one in self.limits:
            values, exact = found.of(one.function, ranges)
            self.differences[one.name] |= not exact
            rows.append(one.slopes(values))
        return np.ascontiguousarray(np.concatenate(rows))  # SciPy's SLSQP misreads gradients with strides

    def _by_differences(self, y: Array, which: npt.NDArray[np.intp]) -> Array:
        """The same by differences of designs around y, those by the parameters `which` (k,)."""
        v, k = self.variables, len(which)
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
        v, x = self.variables, self._scaled(y)
        for i in which[np.all(refused, axis=1)]:
            if np.isfinite(self.tried(x)[0]):
                raise InputError(
                    f"optimize: no mechanism with a value of {v.names[i]!r} around {x[i]:g} can be built and"
                    f" moved, only that with this value.{why_not(self.over, self.mech, v, x)}"
                )

    def search(self, start: Array, tol: float, iterations: int) -> Found:
        """The local minimum near a start; where no limit can be kept on the way, from where they are kept."""
        v = self.variables
        self.tried(start)
        y0 = np.asarray((start - v.lower) / v.range)
        found = self._descend(y0, tol, iterations)
        if found.kept or not self.limits:
            return found
        again = self._descend(self._towards_limits(y0, iterations), tol, iterations)
        return again if again.kept else found

    def _descend(self, y0: Array, tol: float, iterations: int) -> Found:
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
        if self.limits:
            rules = [{"type": "ineq", "fun": lambda y: self._row(y)[1:], "jac": lambda y: gradient(y)[1:]}]
        found: Any = minimize(
            lambda y: self._row(y)[0], y0, jac=lambda y: gradient(y)[0], bounds=[(0.0, 1.0)] * len(y0),
            constraints=rules, method="SLSQP", options={"ftol": tol, "maxiter": iterations},
        )  # fmt: skip
        x = self._scaled(np.clip(found.x, 0.0, 1.0))
        value, margins = self.tried(x)
        kept = bool(np.isfinite(value) and np.all(margins >= -ON_LIMIT))
        return Found(x, value, kept, bool(found.success), str(found.message))

    def _set_size(self, y: Array) -> None:
        """Of the objective at y (n,), the first start that has one; where that is zero, of its change."""
        value = abs(self.tried(self._scaled(y))[0])
        if self._sized:
            return
        self.size, self._sized = 1.0, bool(NO_SIZE < value < np.inf)
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

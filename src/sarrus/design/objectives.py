"""What a design is to achieve: ranges of parameters, objective and limits, as users give them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import numpy as np

from ..arrays import Array, mapping, takes, text
from ..errors import InputError, require_known
from ..mechanism.mechanism import Mechanism
from .evaluation import Variables, check_names
from .measure_slopes import Measures

Objective = Callable[[Measures], Any]  # a number, or a dual number of dual numbers


@dataclass(frozen=True)
class Limit:
    """function(measures) within lower and upper; None: open."""

    name: str
    function: Callable[[Measures], Any]
    lower: float | None
    upper: float | None

    @property
    def size(self) -> float:
        return max(abs(self.lower or 0.0), abs(self.upper or 0.0)) or 1.0

    def margins(self, measures: Measures) -> Array:
        """Distances to the limits, not negative where it is kept, relative to their size."""
        values = np.ravel(np.asarray(self.function(measures), dtype=np.float64))
        parts = [] if self.lower is None else [(values - self.lower) / self.size]
        parts += [] if self.upper is None else [(self.upper - values) / self.size]
        return np.concatenate(parts)

    def slopes(self, values: Array) -> Array:
        """Derivatives of the margins from those of the function (m, n)."""
        parts = [] if self.lower is None else [values / self.size]
        return np.concatenate([*parts, *([] if self.upper is None else [-values / self.size])])


def check_ranges(mech: Mechanism, given: Any) -> Variables:
    """Parameters with their ranges, from {parameter: (lower, upper)}."""
    ranges = mapping(given, "parameters of optimize", "{parameter: (lower, upper)}")
    if not ranges:
        raise InputError("optimize has no freedom: name at least one parameter, {parameter: (lower, upper)}.")
    names = check_names(mech, ranges, "optimize")
    bounds = []
    for name, pair in ranges.items():
        try:
            lower, upper = (float(x) for x in pair)
        except (TypeError, ValueError):
            raise InputError(
                f"range of parameter {name!r} must be a pair (lower, upper), got {pair!r}."
            ) from None
        if not (np.isfinite([lower, upper]).all() and lower < upper):
            raise InputError(
                f"range of parameter {name!r} must have lower < upper, finite, got ({lower:g}, {upper:g}): it"
                " leaves no freedom."
            )
        bounds.append((lower, upper))
    low, high = np.array(bounds).T
    return Variables(names, low, high)


def check_objective(mech: Mechanism, given: object) -> Objective:
    """A function of the measures, or the mean square of the measure with this name."""
    if callable(given):
        takes(given, "measures", "objective of optimize")
        return given
    name = text(given, "objective of optimize")
    require_known("measure", name, dict(mech.model.measures), "objective of optimize")
    return lambda measures: np.mean(np.square(measures[name]))


def check_limits(mech: Mechanism, given: Mapping[str, Any] | None) -> tuple[Limit, ...]:
    """Limits of measures, or of functions of them."""
    rules = mapping({} if given is None else given, "limits", "{measure: (lower, upper)}")
    return tuple(_limit(mech, name, rule) for name, rule in rules.items())


def _limit(mech: Mechanism, name: str, rule: Any) -> Limit:
    """One limit."""
    what = f"limit {name!r} of optimize"
    parts = tuple(rule) if isinstance(rule, (tuple, list)) else ()
    of_function = len(parts) == 3 and callable(parts[0])
    if not of_function and (len(parts) != 2 or callable(parts[0])):
        raise InputError(
            f"{what} must be (lower, upper) of a measure or (function, lower, upper), got {rule!r:.80}."
        )
    if not of_function:
        require_known("measure", name, dict(mech.model.measures), "limits of optimize")
    low, high = map(_end, parts[-2:])
    both = [x for x in (low, high) if x is not None]
    if not both:
        raise InputError(f"{what} is open on both sides; leave it out.")
    if both[0] > both[-1]:
        raise InputError(f"{what} must have lower <= upper, got ({low:g}, {high:g}).")
    return Limit(name, parts[0] if of_function else itemgetter(name), low, high)


def _end(x: Any) -> float | None:
    """A number; None where that side is open."""
    return None if x is None or not np.isfinite(x) else float(x)

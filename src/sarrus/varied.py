"""Varied: one number of a description for many variants at once, as an array with an entry for each.

A description is made once with such numbers in place of floats, and gives the tables of all variants. Where a
comparison comes out otherwise for some of them than for the first, these take another way through the code:
they are marked, and made one by one instead. What is no arithmetic (float(), functions of `math`) refuses a
`Varied` with a TypeError, so that no dependence on a parameter is lost.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]
Function = Callable[..., Any]


class Varied:
    """A number of B variants.

    Attributes:
        values: One for each, (B,).
        marked: Variants that take another way than the first, (B,), shared by all numbers of a description.
    """

    __slots__ = ("marked", "values")
    __hash__ = object.__hash__

    def __init__(self, values: Values, marked: NDArray[np.bool_]) -> None:
        self.values, self.marked = values, marked

    def __repr__(self) -> str:
        return f"Varied({self.values[0]:g}, ...)"

    def __format__(self, form: str) -> str:
        return format(float(self.values[0]), form)

    def __bool__(self) -> bool:
        return self._decided(self.values != 0.0)

    def _decided(self, outcome: NDArray[np.bool_]) -> bool:
        """The outcome of a comparison for the first variant; others that differ are marked."""
        first = bool(outcome[0])
        np.logical_or(self.marked, outcome != first, out=self.marked)
        return first


def applied(function: Function, *given: Any) -> Any:
    """A function of NumPy of numbers, some of them varied."""
    marked = next(x.marked for x in given if type(x) is Varied)
    with np.errstate(all="ignore"):  # what is not finite in the end is made one by one
        return Varied(function(*(x.values if type(x) is Varied else x for x in given)), marked)


def _compared(function: Function) -> Any:
    def compare(self: Varied, other: Any) -> Any:
        if type(other) is Varied or isinstance(other, (int, float)):
            outcome = function(self.values, other.values if type(other) is Varied else other)
            return self._decided(outcome)
        return NotImplemented

    return compare


def _operator(function: Function, backwards: bool = False) -> Any:
    def operate(self: Varied, other: Any) -> Any:
        if type(other) is not Varied and not isinstance(other, (int, float)):
            return NotImplemented
        if function is np.multiply and type(other) is not Varied and other == 0:
            return 0.0
        return applied(function, other, self) if backwards else applied(function, self, other)

    return operate


def _method(function: Function) -> Any:
    return lambda self: applied(function, self)


ARITHMETIC: dict[str, Function] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "truediv": np.divide,
    "pow": np.power,
}
METHODS: dict[str, Function] = {"neg": np.negative, "pos": np.positive, "abs": np.abs}
FUNCTIONS = ("sqrt", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "exp", "log", "radians", "degrees")
for _name, _function in ARITHMETIC.items():
    setattr(Varied, f"__{_name}__", _operator(_function))
    setattr(Varied, f"__r{_name}__", _operator(_function, backwards=True))
for _name, _function in METHODS.items():
    setattr(Varied, f"__{_name}__", _method(_function))
for _name in FUNCTIONS:  # NumPy calls the method of an object that has the name of the function
    setattr(Varied, _name, _method(getattr(np, _name)))
for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    setattr(Varied, f"__{_name}__", _compared(getattr(operator, _name)))


# ------------------------------------------------------------------ functions of floats, or of varied numbers


def hypot(*given: Any) -> Any:
    """Square root of the sum of squares."""
    try:
        return math.hypot(*given)
    except TypeError:
        return np.sqrt(sum(x * x for x in given))


def total(given: Iterable[Any]) -> Any:
    """Sum, exactly rounded where all are floats."""
    listed = list(given)
    try:
        return math.fsum(listed)
    except TypeError:
        return sum(listed)


def largest(given: Iterable[Any], default: float = 0.0) -> Any:
    """The largest of each variant; the default without any."""
    listed = list(given)
    if not any(type(x) is Varied for x in listed):
        return max(listed, default=default)
    return applied(lambda *each: np.max(np.broadcast_arrays(*each), axis=0), *listed)


def sin_cos(angle: Any) -> tuple[Any, Any]:
    """Sine and cosine."""
    if type(angle) is Varied:
        return applied(np.sin, angle), applied(np.cos, angle)
    return math.sin(angle), math.cos(angle)


# ------------------------------------------------------------------ arrays of varied numbers


def is_varied(value: Any) -> bool:
    """Whether a number, an array of numbers or nested tuples and lists contain a varied one."""
    if isinstance(value, np.ndarray):
        return bool(value.dtype == object)
    if isinstance(value, (tuple, list)):
        return any(map(is_varied, value))
    return type(value) is Varied


def stacked(value: Any, count: int) -> Values:
    """An array (count, ...) of what has the shape (...), one of each variant."""
    array = np.asarray(value, dtype=object)
    flat = np.empty((count, array.size))
    for j, x in enumerate(array.flat):
        flat[:, j] = x.values if type(x) is Varied else x
    return flat.reshape(count, *array.shape)


def unstacked(array: NDArray[Any], marked: NDArray[np.bool_]) -> NDArray[Any]:
    """The array (...) of varied numbers whose variants are stacked in (B, ...)."""
    out = np.empty(array.shape[1:], dtype=object)
    for place in np.ndindex(out.shape):
        out[place] = Varied(np.ascontiguousarray(array[(slice(None), *place)]), marked)
    return out


def first_marked(value: Any) -> NDArray[np.bool_]:
    """The marks that belong to the first varied number in an array or nested lists."""
    return next(x.marked for x in np.asarray(value, dtype=object).flat if type(x) is Varied)

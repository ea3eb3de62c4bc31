"""Dual numbers: exact first derivatives of functions that are written in Python and NumPy.

    f(x + eps d) = f(x) + eps f'(x) d,    eps^2 = 0                                                       (1)

An array of `Dual` is an object array: NumPy calls the methods named after its functions (np.sin: sin). What
is no arithmetic (float(), functions of `math`) refuses a `Dual` with a TypeError, so that no derivative is
lost; `jacobian` then takes differences of sixth order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from .arrays import Array
from .differences import slope_of_terms, slope_terms

STEP = 3e-3  # of the differences, of one unit of the argument
STEPS = [1e-3 / 8.0**k for k in range(6)]  # of those along directions
RESOLVED = 1e-10  # change from step to step, relative to the largest entry, below which it is taken
SAME = 1e-9  # relative difference of values with and without dual numbers, above which these do not serve
TERMS = slope_terms(6)

Function = Callable[[float], float]


class Dual:
    """A number and its derivatives with respect to some variables.

    Attributes:
        value: the number.
        slope: its derivatives (n,).
    """

    __slots__ = ("slope", "value")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, value: float, slope: Any) -> None:
        self.value, self.slope = value, slope

    def __repr__(self) -> str:
        return f"Dual({self.value!r}, {self.slope!r})"

    # ------------------------------------------------------------------ arithmetic

    def __add__(self, other: Any) -> Dual:
        x = _dual(other)
        return NotImplemented if x is None else Dual(self.value + x.value, self.slope + x.slope)

    def __sub__(self, other: Any) -> Dual:
        x = _dual(other)
        return NotImplemented if x is None else Dual(self.value - x.value, self.slope - x.slope)

    def __mul__(self, other: Any) -> Dual:
        x = _dual(other)
        if x is None:
            return NotImplemented
        return Dual(self.value * x.value, self.slope * x.value + self.value * x.slope)

    def __truediv__(self, other: Any) -> Dual:
        x = _dual(other)
        return NotImplemented if x is None else self * Dual(1.0 / x.value, -x.slope / x.value**2)

    def __pow__(self, other: Any) -> Dual:
        x = _dual(other)
        if x is None:
            return NotImplemented
        if not np.any(x.slope):
            n = x.value
            return Dual(self.value**n, n * self.value ** (n - 1.0) * self.slope if n else 0.0 * self.slope)
        return _exp(x * _log(self))

    def __radd__(self, other: Any) -> Dual:
        return self.__add__(other)

    def __rsub__(self, other: Any) -> Dual:
        return (-self).__add__(other)

    def __rmul__(self, other: Any) -> Dual:
        return self.__mul__(other)

    def __rtruediv__(self, other: Any) -> Dual:
        x = _dual(other)
        return NotImplemented if x is None else x / self

    def __rpow__(self, other: Any) -> Dual:
        x = _dual(other)
        return NotImplemented if x is None else _exp(self * math.log(x.value))

    def __neg__(self) -> Dual:
        return Dual(-self.value, -self.slope)

    def __pos__(self) -> Dual:
        return self

    def __abs__(self) -> Dual:
        return -self if self.value < 0.0 else self

    def conjugate(self) -> Dual:
        """Itself; np.var asks for it."""
        return self

    # ------------------------------------------------------------------ comparisons, by value

    def __lt__(self, other: Any) -> bool:
        return self.value < _value(other)

    def __le__(self, other: Any) -> bool:
        return self.value <= _value(other)

    def __gt__(self, other: Any) -> bool:
        return self.value > _value(other)

    def __ge__(self, other: Any) -> bool:
        return self.value >= _value(other)

    def __eq__(self, other: object) -> bool:
        return self.value == _value(other)

    def __ne__(self, other: object) -> bool:
        return self.value != _value(other)

    def __bool__(self) -> bool:
        return bool(self.value)

    # ------------------------------------------------------------------ functions, as NumPy calls them

    def arctan2(self, other: Any) -> Dual:
        """Angle of (other, self) [rad]."""
        y, x = self, _known(other)
        size = x.value**2 + y.value**2
        return Dual(math.atan2(y.value, x.value), (x.value * y.slope - y.value * x.slope) / size)

    def hypot(self, other: Any) -> Dual:
        """Length of (self, other)."""
        x = _known(other)
        size = math.hypot(self.value, x.value)
        return Dual(size, (self.value * self.slope + x.value * x.slope) / size)


def _through(function: Function, slope: Callable[[float, float], float]) -> Callable[[Dual], Dual]:
    """A function of one number for duals; slope(x, f(x)) is its derivative."""

    def of_dual(x: Dual) -> Dual:
        f = function(x.value)
        return Dual(f, slope(x.value, f) * x.slope)

    return of_dual


_exp = _through(math.exp, lambda x, f: f)
_log = _through(math.log, lambda x, f: 1.0 / x)
FUNCTIONS = {
    "sin": _through(math.sin, lambda x, f: math.cos(x)),
    "cos": _through(math.cos, lambda x, f: -math.sin(x)),
    "tan": _through(math.tan, lambda x, f: 1.0 + f * f),
    "arcsin": _through(math.asin, lambda x, f: 1.0 / math.sqrt(1.0 - x * x)),
    "arccos": _through(math.acos, lambda x, f: -1.0 / math.sqrt(1.0 - x * x)),
    "arctan": _through(math.atan, lambda x, f: 1.0 / (1.0 + x * x)),
    "sinh": _through(math.sinh, lambda x, f: math.cosh(x)),
    "cosh": _through(math.cosh, lambda x, f: math.sinh(x)),
    "tanh": _through(math.tanh, lambda x, f: 1.0 - f * f),
    "exp": _exp,
    "log": _log,
    "sqrt": _through(math.sqrt, lambda x, f: 0.5 / f),
    "square": _through(lambda x: x * x, lambda x, f: 2.0 * x),
}
for _name, _function in FUNCTIONS.items():
    setattr(Dual, _name, _function)


def _dual(x: Any) -> Dual | None:
    """A number as a Dual; None for what is none."""
    if type(x) is Dual:
        return x
    return Dual(float(x), 0.0) if isinstance(x, (int, float, np.number, np.bool_)) else None


def _known(x: Any) -> Dual:
    found = _dual(x)
    if found is None:
        raise TypeError(f"no dual number: {x!r}")
    return found


def _value(x: Any) -> float:
    return _known(x).value


def along_directions(
    function: Callable[[Any], Any], values: Mapping[str, Array], slopes: Mapping[str, Array]
) -> tuple[Array, bool]:
    """Derivatives (m, P) of a function of arrays along P directions, and whether by dual numbers.

    Args:
        function: f({name: array}) -> (m,) or a number; of numbers or, where its code allows, of dual numbers.
        values: where.
        slopes: Changes of the arrays for a unit step in each direction, (..., P). Differences take 1e-3 of
            it, or less until the result stays the same.
    """
    plain = np.asarray(function({name: x.copy() for name, x in values.items()}), dtype=np.float64).ravel()
    count = next(iter(slopes.values())).shape[-1]
    duals = {name: _dual_array(x, slopes[name]) for name, x in values.items()}
    found = _slopes_of(lambda: function(duals), plain, count)
    if found is not None:
        return found, True

    def along(k: int, s: float) -> Array:
        moved = {name: x + s * slopes[name][..., k] for name, x in values.items()}
        return np.asarray(function(moved), dtype=np.float64).ravel()

    columns = [_resolved(partial(along, k)) for k in range(count)]
    return np.array(columns).reshape(count, -1).T, False


def _resolved(f: Callable[[float], Array]) -> Array:
    """f'(0) of order six, by shorter and shorter steps until it stays the same, or rounding takes over."""
    best, least = slope_of_terms(f, STEPS[0], TERMS), np.inf
    for step in STEPS[1:]:
        now = slope_of_terms(f, step, TERMS)
        change = float(np.max(np.abs(now - best), initial=0.0))
        if change >= least:
            break
        best, least = now, change
        if change <= RESOLVED * float(np.max(np.abs(now), initial=0.0)):
            break
    return best


def _dual_array(values: Array, slopes: Array) -> Any:
    """An array of dual numbers with derivatives (..., P)."""
    found = np.empty(values.shape, dtype=object)
    for place, x in np.ndenumerate(values):
        found[place] = Dual(float(x), slopes[place])
    return found


def _slopes_of(call: Callable[[], Any], plain: Array, n: int) -> Array | None:
    """Derivatives (m, n) in dual numbers whose values are `plain` (m,); None where there are no such."""
    try:
        each = [_known(one) for one in np.asarray(call()).ravel()]
    except Exception:  # whatever code that knows no dual numbers raises
        return None
    values = np.array([one.value for one in each])
    slopes = np.array([one.slope + np.zeros(n) for one in each]).reshape(-1, n)
    near = SAME * (1.0 + np.max(np.abs(plain), initial=0.0))
    same = values.shape == plain.shape and np.all(np.abs(values - plain) <= near)
    return slopes if same and np.all(np.isfinite(slopes)) else None


def jacobian(function: Callable[[Any], Any], x: Array) -> tuple[Array, bool]:
    """df/dx (m, n) of a function of an array (n,), and whether it comes from dual numbers.

    Args:
        function: f(x) -> (m,); of numbers or, where its code allows, of dual numbers.
        x: where (n,).
    """
    plain, n = np.asarray(function(x.copy()), dtype=np.float64).ravel(), len(x)
    duals = np.array([Dual(x[i], row) for i, row in enumerate(np.eye(n))], dtype=object)
    found = _slopes_of(lambda: function(duals), plain, n)
    if found is not None:
        return found, True

    def along(e: Array, s: float) -> Array:
        return np.asarray(function(x + s * e), dtype=np.float64).ravel()

    columns = [slope_of_terms(partial(along, e), STEP, TERMS) for e in np.eye(n)]
    return np.array(columns).reshape(n, -1).T, False

"""Parameters and signals of a description and arithmetic with them.

A parameter is a number whose value can be changed later; a `Signal` is a number that the state of the
mechanism decides, a coordinate or a state of one's own: expressions with signals are formulas of forces.

A description made with parameters keeps its calls; a changed parameter makes them again. Values that are
built before a description sees them (Pose, Distance, Revolute, ...) therefore keep what they were made of.
"""

from __future__ import annotations

import inspect
import math
import operator
from abc import ABCMeta
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, TypeVar

import numpy as np

from ...errors import InputError
from ...varied import Varied, applied
from .restore import MAKERS, restore

Values = Mapping[Any, float]  # of parameters by name, of signals by kind and name
T = TypeVar("T")
LONGEST = 60  # characters of an expression in a message


class Expression:
    """A number computed from parameters. `np.sin(a)`, `np.sqrt(a)` and the like give expressions, too."""

    __slots__ = ("arguments", "function", "symbol")

    def __init__(self, symbol: str, function: Callable[..., float], *arguments: Any) -> None:
        self.symbol, self.function, self.arguments = symbol, function, arguments

    def __reduce__(self) -> tuple[Any, ...]:
        return restore, ("Expression", (self.symbol, *self.arguments))

    def evaluate(self, values: Values) -> float:
        """Its value where parameters have other values than declared."""
        found = [x.evaluate(values) if isinstance(x, Expression) else x for x in self.arguments]
        if any(isinstance(x, Expression) for x in found):  # signals: parameters have become numbers
            return Expression(self.symbol, self.function, *found)  # type: ignore[return-value]
        if any(type(x) is Varied for x in found):
            return _varied(self.symbol, found)  # type: ignore[no-any-return]
        try:
            return float(self.function(*found))
        except (ArithmeticError, ValueError) as error:
            at = ", ".join(f"{p.name} = {p.evaluate(values):.6g}" for p in self.parameters().values())
            shown = repr(self) if len(repr(self)) <= LONGEST else f"an expression with {self.symbol}"
            raise InputError(
                f"{shown} has no value at {at} ({error}); lengths that points are computed from may not fit"
                " together."
            ) from None

    def parameters(self) -> dict[str, Parameter]:
        """Parameters in it, by name."""
        found = {self.name: self} if isinstance(self, Parameter) else {}
        for x in self.arguments:
            found |= x.parameters() if isinstance(x, Expression) else {}
        return found

    @property
    def value(self) -> float:
        """Its value with parameters as declared."""
        return self.evaluate({})

    def __repr__(self) -> str:
        shown = [repr(x) if isinstance(x, Expression) else f"{x:g}" for x in self.arguments]
        return f"({shown[0]} {self.symbol} {shown[1]})" if len(shown) == 2 else f"{self.symbol}({shown[0]})"

    def __format__(self, form: str) -> str:
        return format(self.value, form) if form else repr(self)

    __hash__ = object.__hash__

    def _refused(self, *_: Any) -> Any:
        raise InputError(
            f"{self!r} stands for a number that may change, and has no value here: neither comparisons nor"
            " float() nor functions that you give to a description may use it. Arithmetic and NumPy's"
            f" functions do (np.sin instead of math.sin); {self!r}.value is its value as declared."
        )

    __float__ = __int__ = __index__ = __bool__ = __round__ = __floordiv__ = __mod__ = _refused
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _refused

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *given: Any, **options: Any) -> Any:
        """A function of NumPy. It asks the first argument for its method, which a number does not have."""
        boxed = [np.array(x, dtype=object) if isinstance(x, Expression) else x for x in given]
        if ufunc.__name__ in ONE:
            one = partial(Expression, ufunc.__name__, ONE[ufunc.__name__])
            return getattr(np.frompyfunc(one, 1, 1), method)(*boxed, **options)
        if ufunc.__name__ in TWO:
            build = partial(Expression, ufunc.__name__, TWO[ufunc.__name__])
            return getattr(np.frompyfunc(build, 2, 1), method)(*boxed, **options)
        return getattr(ufunc, method)(*boxed, **options)


class Parameter(Expression):
    """A named number of a description: `spec.parameter("a", 0.2)`."""

    __slots__ = ("declared", "name")

    def __init__(self, name: str, declared: float | Expression) -> None:
        super().__init__(name, float)
        self.name, self.declared = name, declared

    def __reduce__(self) -> tuple[Any, ...]:
        return restore, ("Parameter", (self.name, self.declared))

    def evaluate(self, values: Values) -> float:
        if self.name in values:
            return values[self.name]
        return self.declared.evaluate(values) if isinstance(self.declared, Expression) else self.declared

    def __repr__(self) -> str:
        return self.name


class Signal(Expression):
    """A number that the state decides: what it is, and of which coordinate, or which entry.

    Attributes:
        kind: "value" or "speed" of a coordinate ("value" of a state: the state); "place", "attitude" or
            "twist" of the point of a body.
        of: Name of a coordinate or state, or number of an entry.
    """

    __slots__ = ("kind", "of")

    def __init__(self, kind: str, of: str | int) -> None:
        super().__init__(kind, float)
        self.kind, self.of = kind, of

    def __reduce__(self) -> tuple[Any, ...]:
        return restore, ("Signal", (self.kind, self.of))

    def evaluate(self, values: Mapping[Any, Any]) -> Any:
        return values.get((self.kind, self.of), self)

    @property
    def value(self) -> float:
        raise InputError(
            f"{self!r} is a number that the state of the mechanism decides; it has no value yet."
        )

    def __repr__(self) -> str:
        if self.kind == "value":
            return str(self.of)
        return f"{self.kind}({self.of})" if isinstance(self.of, str) else f"{self.kind}[{self.of}]"


def signals_in(value: Any) -> Iterator[Signal]:
    """The signals of an expression."""
    if isinstance(value, Signal):
        yield value
    for x in value.arguments if isinstance(value, Expression) else ():
        yield from signals_in(x)


def _binary(symbol: str, function: Callable[[float, float], float]) -> tuple[Any, Any]:
    def usable(x: object) -> bool:
        return isinstance(x, (Expression, int, float, np.integer, np.floating)) and not isinstance(x, bool)

    def forward(self: Expression, other: Any) -> Any:
        return Expression(symbol, function, self, other) if usable(other) else NotImplemented

    def backward(self: Expression, other: Any) -> Any:
        return Expression(symbol, function, other, self) if usable(other) else NotImplemented

    return forward, backward


def _unary(symbol: str, function: Callable[[float], float]) -> Any:
    return lambda self: Expression(symbol, function, self)


BINARY: dict[str, tuple[str, Callable[[float, float], float]]] = {
    "add": ("+", operator.add), "sub": ("-", operator.sub), "mul": ("*", operator.mul),
    "truediv": ("/", operator.truediv), "pow": ("**", math.pow),
}  # fmt: skip
UNARY: dict[str, Callable[[float], float]] = {
    "sin": math.sin, "cos": math.cos, "tan": math.tan, "arcsin": math.asin, "arccos": math.acos,
    "arctan": math.atan, "sqrt": math.sqrt, "exp": math.exp, "log": math.log,
    "radians": math.radians, "degrees": math.degrees, "tanh": math.tanh,
}  # fmt: skip
SIGNS: dict[str, Callable[[float], float]] = {"neg": operator.neg, "pos": operator.pos, "abs": abs}
ONE: dict[str, Callable[[float], float]] = {"sign": lambda x: 0.0 if x == 0 else math.copysign(1.0, x)}
TWO: dict[str, Callable[[float, float], float]] = {
    "arctan2": math.atan2, "hypot": math.hypot, "maximum": max, "minimum": min,
    "heaviside": lambda x, h: 0.0 if x < 0 else 1.0 if x > 0 else h,
}  # fmt: skip
FUNCTIONS: dict[str, Callable[..., float]] = {
    **dict(BINARY.values()),
    **UNARY,
    **SIGNS,
    **ONE,
    **TWO,
}  # by symbol
for _name, (_symbol, _function) in BINARY.items():
    _forward, _backward = _binary(_symbol, _function)
    setattr(Expression, f"__{_name}__", _forward)
    setattr(Expression, f"__r{_name}__", _backward)
for _name, _one in UNARY.items():  # NumPy calls the method of an object that has the name of the function
    setattr(Expression, _name, _unary(_name, _one))
for _name, _two in TWO.items():
    setattr(Expression, _name, _binary(_name, _two)[0])
for _name, _one in SIGNS.items():
    setattr(Expression, f"__{_name}__", _unary(_name, _one))
MAKERS["Expression"] = lambda data: Expression(data[0], FUNCTIONS[data[0]], *data[1:])
MAKERS["Parameter"] = lambda data: Parameter(*data)
MAKERS["Signal"] = lambda data: Signal(*data)


def _varied(symbol: str, given: list[Any]) -> Any:
    """A function of numbers of which some are recorded."""
    if symbol == "tanh":
        twice = (given[0] * 2.0).exp()
        return (twice - 1.0) / (twice + 1.0)
    if symbol in UNARY:
        return getattr(given[0], symbol)()
    if symbol in ("arctan2", "hypot"):
        return applied(symbol, *given)
    return (operator.pow if symbol == "**" else FUNCTIONS[symbol])(*given)


def is_parametric(value: Any) -> bool:
    """Whether a value is or contains an expression, or was made of one."""
    if isinstance(value, Expression):
        return True
    if isinstance(value, (tuple, list)):
        return any(map(is_parametric, value))
    if isinstance(value, dict):
        return any(map(is_parametric, value.values()))
    if isinstance(value, np.ndarray):
        return value.dtype == object and any(map(is_parametric, value.ravel().tolist()))
    return getattr(value, "_made_of", None) is not None


def parameters_in(value: Any) -> Iterator[Parameter]:
    """The parameters that a value is made of."""
    if isinstance(value, Parameter):
        yield value
        value = value.declared
    if isinstance(value, Expression):
        value = value.arguments
    elif not isinstance(value, (tuple, list, dict, np.ndarray)):
        value = getattr(value, "_made_of", ((), {}))[1]
    if isinstance(value, np.ndarray):
        value = value.ravel().tolist() if value.dtype == object else ()
    for part in value.values() if isinstance(value, dict) else value:
        yield from parameters_in(part)


def resolved(value: Any, values: Values) -> Any:
    """The same value with numbers in place of expressions."""
    if isinstance(value, Expression):
        return value.evaluate(values)
    if not is_parametric(value):
        return value
    if isinstance(value, (tuple, list)):
        return type(value)(resolved(x, values) for x in value)
    if isinstance(value, dict):
        return {key: resolved(x, values) for key, x in value.items()}
    if isinstance(value, np.ndarray):
        flat = [resolved(x, values) for x in value.ravel().tolist()]
        return np.array(flat, dtype=np.float64).reshape(value.shape)
    make, arguments = value._made_of
    return make(**{key: resolved(x, values) for key, x in arguments.items()})


PLAIN = (float, int, str, bool, type(None))


class KeepsParameters(ABCMeta):
    """Metaclass of values that remember their arguments where these contain expressions."""

    def __call__(cls, *given: Any, **named: Any) -> Any:
        for x in (*given, *named.values()):
            if type(x) not in PLAIN and is_parametric(x):
                names = cls.__signature__.parameters
                return made(cls, super().__call__, **dict(zip(names, given, strict=False)), **named)
        return super().__call__(*given, **named)

    @property
    def __signature__(cls) -> inspect.Signature:
        """That of the constructor, for help() and editors."""
        own = inspect.signature(cls.__init__)  # type: ignore[misc]
        return own.replace(parameters=list(own.parameters.values())[1:])


def made(make: Callable[..., Any], now: Callable[..., T], **arguments: Any) -> T:
    """A value of arguments that may contain expressions: by `now` here, by `make` whenever they change."""
    value = now(**{key: resolved(x, {}) for key, x in arguments.items()})
    if any(map(is_parametric, arguments.values())):
        object.__setattr__(value, "_made_of", (make, arguments))
    return value

"""Varied: a number of a description that depends on its parameters, recorded as it is computed.

A description is made once with such numbers in place of floats. A `Tape` keeps every operation; the kernel
runs them again for other values of the parameters. A comparison is kept with its outcome: where it comes out
otherwise, the description takes another way through the code, and the program says that it does not hold.
What is no arithmetic (float(), functions of `math`) refuses a `Varied` with a TypeError, so that no
dependence on a parameter is lost.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._kernel import PROGRAM_OPERATIONS, TableProgram

Function = Callable[..., Any]


class Tape:
    """Operations in order. Every number has a slot: inputs, constants and results."""

    def __init__(self) -> None:
        self.code: list[int] = []
        self.start: list[float] = []
        self.inputs: list[int] = []
        self._constants: dict[tuple[float, float], int] = {}

    def input(self, values: Any) -> Any:
        """Numbers to vary, one or an array, with their values in the recording."""
        array = np.array(values, dtype=np.float64)
        out = np.empty(array.shape, dtype=object)
        for place, value in np.ndenumerate(array):
            self.inputs.append(self._new(float(value)))
            out[place] = Varied(self, self.inputs[-1], float(value))
        return out[()]

    def slot(self, x: Any) -> int:
        """Where a number stands; a plain one becomes a constant."""
        if type(x) is Varied:
            return x.slot
        key = (float(x), math.copysign(1.0, x))  # zero has two signs
        if key not in self._constants:
            self._constants[key] = self._new(key[0])
        return self._constants[key]

    def record(self, name: str, given: Sequence[Any], values: Iterable[float], *head: int) -> list[Any]:
        """The results of an operation: their values in the recording, and where they stand."""
        slots = [self.slot(x) for x in given]
        results = [Varied(self, self._new(value), value) for value in values]
        self.code += [PROGRAM_OPERATIONS[name], results[0].slot, *head, *slots]
        return results

    def decide(self, name: str, a: Any, b: Any, outcome: bool) -> None:
        """Keep the outcome of a comparison."""
        self.code += [PROGRAM_OPERATIONS[name], int(outcome), self.slot(a), self.slot(b)]

    def program(self, outputs: list[int]) -> TableProgram:
        """What computes the numbers in these slots from the inputs."""
        return TableProgram(self.code, self.start, self.inputs, outputs)

    def _new(self, value: float) -> int:
        self.start.append(value)
        return len(self.start) - 1


class Varied:
    """A number that depends on inputs.

    Attributes:
        tape: Where its operations are kept.
        slot: Its place there.
        value: Its value in the recording.
    """

    __slots__ = ("slot", "tape", "value")
    __hash__ = object.__hash__

    def __init__(self, tape: Tape, slot: int, value: float) -> None:
        self.tape, self.slot, self.value = tape, slot, value

    def __repr__(self) -> str:
        return f"Varied({self.value:g})"

    def __format__(self, form: str) -> str:
        return format(self.value, form)

    def __bool__(self) -> bool:
        nonzero: bool = Varied.__ne__(self, 0.0)
        return nonzero


def applied(name: str, *given: Any) -> Any:
    """An operation on numbers, some of them varied."""
    tape = next(x.tape for x in given if type(x) is Varied)
    values = [x.value if type(x) is Varied else x for x in given]
    return tape.record(name, given, [float(FUNCTIONS[name](*values))])[0]


def _compared(name: str, swapped: bool = False, negated: bool = False) -> Any:
    function = getattr(operator, name)

    def compare(self: Varied, other: Any) -> Any:
        if type(other) is not Varied and not isinstance(other, (int, float)):
            return NotImplemented
        a, b = (other, self) if swapped else (self, other)
        outcome = function(*(x.value if type(x) is Varied else x for x in (a, b)))
        self.tape.decide(name, a, b, outcome)
        return outcome != negated

    return compare


NEUTRAL = {"add": 0.0, "sub": 0.0, "mul": 1.0, "truediv": 1.0}  # x + 0 is x


def _operator(name: str, backwards: bool = False) -> Any:
    def operate(self: Varied, other: Any) -> Any:
        if type(other) is not Varied:
            if not isinstance(other, (int, float)):
                return NotImplemented
            if name == "mul" and other == 0:
                return 0.0
            if other == NEUTRAL.get(name) and (not backwards or name in ("add", "mul")):
                return self
        return applied(name, other, self) if backwards else applied(name, self, other)

    return operate


def _method(name: str) -> Any:
    return lambda self: applied(name, self)


ARITHMETIC: dict[str, Function] = {
    name: getattr(operator, name) for name in ("add", "sub", "mul", "truediv")
} | {"pow": math.pow}
UNARY: dict[str, Function] = {
    "sqrt": math.sqrt, "sin": math.sin, "cos": math.cos, "tan": math.tan, "arcsin": math.asin,
    "arccos": math.acos, "arctan": math.atan, "exp": math.exp, "log": math.log,
}  # fmt: skip
SIGNS: dict[str, Function] = {"neg": operator.neg, "abs": abs}
FUNCTIONS: dict[str, Function] = {  # by the name that the kernel has for them
    **ARITHMETIC, **UNARY, **SIGNS, "max": max, "arctan2": math.atan2, "hypot": math.hypot,
}  # fmt: skip
for _name in ARITHMETIC:
    setattr(Varied, f"__{_name}__", _operator(_name))
    setattr(Varied, f"__r{_name}__", _operator(_name, backwards=True))
for _name in SIGNS:
    setattr(Varied, f"__{_name}__", _method(_name))
for _name in UNARY:  # NumPy calls the method of an object that has the name of the function
    setattr(Varied, _name, _method(_name))
for _name, _factor in (("__pos__", 1.0), ("radians", math.pi / 180.0), ("degrees", 180.0 / math.pi)):
    setattr(Varied, _name, lambda self, factor=_factor: self * factor)
for _name, _swapped in (("lt", "gt"), ("le", "ge")):
    setattr(Varied, f"__{_name}__", _compared(_name))
    setattr(Varied, f"__{_swapped}__", _compared(_name, swapped=True))
Varied.__eq__ = _compared("eq")  # type: ignore[method-assign]
Varied.__ne__ = _compared("eq", negated=True)  # type: ignore[method-assign]


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
    """The largest; the default without any."""
    listed = list(given)
    varied = [x for x in listed if type(x) is Varied]
    found = max((x for x in listed if type(x) is not Varied), default=default if not varied else -math.inf)
    for x in varied:
        found = applied("max", found, x) if found != -math.inf else x
    return found


def sin_cos(angle: Any) -> tuple[Any, Any]:
    """Sine and cosine."""
    if type(angle) is Varied:
        return applied("sin", angle), applied("cos", angle)
    return math.sin(angle), math.cos(angle)


# ------------------------------------------------------------------ arrays of varied numbers


def is_varied(value: Any) -> bool:
    """Whether a number, an array of numbers or nested tuples and lists contain a varied one."""
    if isinstance(value, np.ndarray):
        return bool(value.dtype == object)
    if isinstance(value, (tuple, list)):
        return {*map(type, value)} != {float} and any(map(is_varied, value))
    return type(value) is Varied


def flat(value: Any) -> list[Any]:
    """The numbers in an array or in nested lists, in order."""
    return list(np.asarray(value, dtype=object).flat)


def recorded(value: Any) -> NDArray[np.float64]:
    """Numbers as they are in the recording, in an array of the same shape."""
    array = np.asarray(value, dtype=object)
    plain = [x.value if type(x) is Varied else x for x in array.flat]
    return np.array(plain, dtype=np.float64).reshape(array.shape)


def tape_of(given: Iterable[Any]) -> Tape:
    """The tape of the varied numbers among these."""
    return next(x.tape for x in given if type(x) is Varied)

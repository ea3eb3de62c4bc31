"""Arguments of the library's mechanisms, checked by their annotations before anything uses them."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, ParamSpec

import numpy as np

from ..arrays import number, numbers
from ..errors import InputError
from ..mechanism.mechanism import Mechanism

P = ParamSpec("P")
LARGEST_COUNT = 1_000_000


def checked(make: Callable[P, Mechanism]) -> Callable[P, Mechanism]:
    """The same function; numbers, whole numbers and sequences of numbers are checked and converted."""
    parameters = inspect.signature(make).parameters

    @functools.wraps(make)
    def call(*args: P.args, **kwargs: P.kwargs) -> Mechanism:
        given = inspect.signature(make).bind(*args, **kwargs)
        for name, value in given.arguments.items():
            given.arguments[name] = _converted(
                value, f"{name} of {make.__name__}", parameters[name].annotation
            )
        return make(*given.args, **given.kwargs)

    return call


def _converted(value: Any, what: str, annotation: str) -> Any:
    if annotation == "float":
        return number(value, what)
    if annotation == "int":
        whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
        if not whole or not 0 <= value <= LARGEST_COUNT:
            raise InputError(f"{what} must be a whole number up to {LARGEST_COUNT}, got {value!r:.80}.")
        return int(value)
    if annotation == "Sequence[float]":
        row: list[float] = numbers(value, what, 1).tolist()
        return tuple(row)
    return value

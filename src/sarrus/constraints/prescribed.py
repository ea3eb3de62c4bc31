"""Prescribed: a function of time with its derivatives, which drives and driven distances follow."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import ClassVar

from ..differences import resolved
from ..errors import InputError

STEP = 1e-3  # of the fourth-order differences that replace derivatives which were not given [s]

Function = Callable[[float], float]


class Prescribed:
    """What follows f(t): its class has f, f' and f'' as `function`, `rate` and `acceleration`.

    Attributes:
        constant: What to declare instead where f is constant, in words.
    """

    constant: ClassVar[str]
    function: Function
    rate: Function | None
    acceleration: Function | None

    def check_functions(self, name: str) -> None:
        """Refuse what is no function; `name` is that of f in the declaration."""
        what = type(self).__name__
        if not callable(self.function):
            raise InputError(
                f"{name} of {what} must be a callable f(t), got {self.function!r}; for a constant use "
                f"{self.constant}."
            )
        for derivative in ("rate", "acceleration"):
            value = getattr(self, derivative)
            if value is not None and not callable(value):
                raise InputError(f"{derivative} of {what} must be a callable of t or None, got {value!r}.")

    def values(self, t: float) -> tuple[float, float, float]:
        """f, f' and f'' at time t [s]."""
        f = self._call("function", t)
        if self.rate is None:
            rate, acceleration = resolved(lambda s: self._call("function", t + s), STEP)
        else:
            rate = self._call("rate", t)
            if self.acceleration is None:
                acceleration, _ = resolved(lambda s: self._call("rate", t + s), STEP)
        if self.acceleration is not None:
            acceleration = self._call("acceleration", t)
        return f, rate, acceleration

    def _call(self, name: str, t: float) -> float:
        value, what = getattr(self, name)(t), f"{name} of {type(self).__name__}"
        try:
            x = float(value)
        except (TypeError, ValueError):
            raise InputError(f"{what} must return a number, got {value!r} at t = {t:g} s.") from None
        if not math.isfinite(x):
            raise InputError(f"{what} must return a finite number, got {x} at t = {t:g} s.")
        return x

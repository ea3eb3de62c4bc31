"""Transition: no jump of the inputs when constraints appear or vanish.

When the active rows change, the inputs of the law jump although the motion need not. What of that jump
lies in the directions that the outputs do not see is taken back and let go smoothly within the transition
time; the motion does not feel it, and limits hold throughout because they are applied afterwards.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from .input_selection import Choice

Array = npt.NDArray[np.float64]


class Transition:
    """Remembers the last inputs; `duration` [s] 0 does nothing."""

    def __init__(self, duration: float) -> None:
        self._duration = duration
        self.reset()

    def reset(self) -> None:
        """Forget the past."""
        self._key: tuple[Any, int] | None = None
        self._x: Array | None = None
        self._offset: Array | None = None
        self._began = 0.0

    def smoothed(self, t: float, key: tuple[Any, int], chosen: Callable[[Array | None], Choice]) -> Choice:
        """The choice at time t, its open directions led over from what was applied before a change.

        Args:
            t: time [s].
            key: active rows and rank; what is compared.
            chosen: the choice as a function of an offset in x.
        """
        if self._duration == 0.0:
            return chosen(None)
        if self._key is not None and self._x is not None and _differ(self._key, key):
            self._offset, self._began = self._x - chosen(None).x, t
        self._key = key
        if self._offset is None:
            choice = chosen(None)
        else:
            choice = chosen(faded(t - self._began, self._duration) * self._offset)
            if t - self._began >= self._duration:
                self._offset = None
        self._x = choice.x
        return choice


def faded(elapsed: float, duration: float) -> float:
    """From 1 to 0 within `duration`, with the least jerk."""
    s = min(max(elapsed / duration, 0.0), 1.0)
    return 1.0 - s**3 * (10.0 - 15.0 * s + 6.0 * s * s)


def _differ(before: tuple[Any, int], now: tuple[Any, int]) -> bool:
    if before[1] != now[1] or (before[0] is None) != (now[0] is None):
        return True
    return before[0] is not None and not np.array_equal(before[0], now[0])

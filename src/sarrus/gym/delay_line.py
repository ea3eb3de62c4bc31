"""DelayLine: values of many copies that come out some steps after they went in."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..arrays import Array


class DelayLine:
    """Delays values (B, n) by a number of steps.

    Args:
        steps: That number; 0: values come out at once.
    """

    def __init__(self, steps: int) -> None:
        self._steps = steps
        self._values = np.zeros((0, 0, 0))  # (steps + 1, B, n), the oldest first

    @property
    def oldest(self) -> Array:
        """What came out last (B, n)."""
        return np.array(self._values[0])

    def fill(self, values: Array, which: npt.NDArray[np.int64]) -> None:
        """Forget what went in before, of some copies: values (B, n) take its place."""
        if self._values.shape[1:] != values.shape:
            self._values = np.repeat(values[None], self._steps + 1, axis=0)
        self._values[:, which] = values[which]

    def passed(self, values: Array) -> Array:
        """What comes out (B, n) as values (B, n) go in."""
        self._values = np.concatenate([self._values[1:], np.asarray(values, dtype=float)[None]])
        return np.array(self._values[0])

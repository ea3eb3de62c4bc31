"""Transition: inputs without jumps when constraints become active or inactive.

A change of the active rows makes the inputs of a law jump even where the motion is smooth. `Transition`
compensates the part of the jump in the null space of the outputs and fades the compensation out within the
transition time; limits are applied afterwards and hold throughout. `ForceRelease` reduces the force of a
constraint to zero before it opens.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from ...arrays import Array, BoolArray
from ...dynamics.input_response import Response
from ...errors import InputError
from ..outputs.references import minimum_jerk
from ..state.active_constraints import mask_of
from ..state.measured_state import MeasuredState
from .input_selection import DesiredForces, SelectedInputs

Names = Callable[[float, Array, Array], Sequence[str]]
Selected = TypeVar("Selected", bound=SelectedInputs)


class Transition:
    """Smooth inputs across changes of the active rows; `duration` [s] 0 does nothing."""

    def __init__(self, duration: float) -> None:
        self.duration = duration
        self.reset()

    def reset(self) -> None:
        """Forget the past."""
        self._key: tuple[Any, int] | None = None
        self._x: Array | None = None
        self._offset: Array | None = None
        self._began = 0.0

    def offset(self, t: float) -> Array | None:
        """What is added to x (n,) in the null space of the outputs at time t [s]; None is nothing."""
        if self._offset is None:
            return None
        return np.asarray(faded(t - self._began, self.duration) * self._offset)

    def smoothed(
        self, t: float, key: tuple[Any, int], selected: Selected, again: Callable[[Array | None], Selected]
    ) -> Selected:
        """The inputs at time t; in the null space of the outputs they start from those before a change.

        Args:
            t: time [s].
            key: active rows and their rank; a change of them starts a transition.
            selected: the inputs with `offset(t)`.
            again: the inputs as a function of another offset.
        """
        if self.duration == 0.0:
            return selected
        if self._key is not None and self._x is not None and _differ(self._key, key):
            self._offset, self._began = self._x - again(None).x, t
            selected = again(self.offset(t))
        if t - self._began >= self.duration:
            self._offset = None
        self._key, self._x = key, selected.x
        return selected


class ForceRelease:
    """Reduces multipliers of constraints that are about to open to zero within `duration` [s].

    Args:
        system: whose constraints.
        releasing: a function of (t, q, v) that returns the names of those that will open; None is none.
        duration: of the release [s].
    """

    def __init__(self, system: Any, releasing: Names | None, duration: float) -> None:
        if releasing is not None and not callable(releasing):
            raise InputError(f"releasing must be a function (t, q, v) -> names, got {releasing!r}.")
        if releasing is not None and duration == 0.0:
            raise InputError("releasing needs time to let forces go: give transition=0.1, say.")
        self._system, self._function, self._duration = system, releasing, duration
        self.reset()

    def reset(self) -> None:
        """Forget the past."""
        self._began: dict[int, tuple[float, float]] = {}
        self._lam: Array | None = None

    @property
    def is_used(self) -> bool:
        """Whether constraints can be released at all."""
        return self._function is not None

    def rows(self, now: MeasuredState, active: BoolArray | None) -> BoolArray | None:
        """Active rows that are being released (nc,); None if none."""
        if self._function is None:
            return None
        mask = mask_of(self._function(now.t, now.q, now.v), self._system, "releasing")
        if active is not None:
            mask = mask & active
        if mask.any():
            return mask
        self._began = {}
        return None

    def desired(
        self, now: MeasuredState, response: Response, active: BoolArray | None, rows: BoolArray | None
    ) -> DesiredForces | None:
        """Desired multipliers of these rows, from their values at the start of the release to zero."""
        if rows is None:
            return None
        chosen = np.flatnonzero(rows)
        wanted = np.zeros(len(chosen))
        for k, i in enumerate(chosen.tolist()):
            before = 0.0 if self._lam is None else float(self._lam[i])
            began, start = self._began.setdefault(i, (now.t, before))
            wanted[k] = start * faded(now.t - began, self._duration)
        inside = chosen if active is None else np.searchsorted(np.flatnonzero(active), chosen)
        weight = self._system.units.row_unit[chosen]
        return DesiredForces(response.Lam[inside], response.lam0[inside], wanted, weight)

    def remember(self, lam: Callable[[], Array]) -> None:
        """Store the multipliers of this step (nc,); `lam` is called only if constraints can be released."""
        if self._function is not None:
            self._lam = lam()


def faded(elapsed: float, duration: float) -> float:
    """From 1 to 0 within `duration`, with the least jerk."""
    return 1.0 - minimum_jerk(min(max(elapsed / duration, 0.0), 1.0))


def _differ(before: tuple[Any, int], now: tuple[Any, int]) -> bool:
    """Whether active rows or rank changed."""
    if before[1] != now[1] or (before[0] is None) != (now[0] is None):
        return True
    return before[0] is not None and not np.array_equal(before[0], now[0])

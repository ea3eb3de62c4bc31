"""Release: lead the force of a constraint to zero before it opens, so that nothing jumps when it does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ...dynamics.input_response import Response
from ...errors import InputError
from ..core.active_constraints import Mask, mask_of
from ..core.input_selection import Wish
from ..core.measured_state import Measured
from ..core.transition import faded

Array = npt.NDArray[np.float64]
Names = Callable[[float, Array, Array], Sequence[str]]


class Release:
    """Multipliers of constraints that are about to open, led to zero within `duration` [s].

    Args:
        system: whose constraints.
        releasing: a function of (t, q, v) that returns the names of those that will open; None is none.
        duration: how long it takes [s].
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

    def rows(self, now: Measured, active: Mask | None) -> Mask | None:
        """Active rows that are being released (nc,); None if none."""
        if self._function is None:
            return None
        mask = mask_of(self._function(now.t, now.q, now.v), self._system, "releasing")
        if active is not None:
            mask = mask & active
        return mask if mask.any() else None

    def wish(self, now: Measured, response: Response, active: Mask | None, rows: Mask | None) -> Wish | None:
        """Their multipliers shall fade from what they were to zero."""
        if rows is None:
            self._began = {}
            return None
        chosen = np.flatnonzero(rows)
        wanted = np.zeros(len(chosen))
        for k, i in enumerate(chosen.tolist()):
            before = 0.0 if self._lam is None else float(self._lam[i])
            began, start = self._began.setdefault(i, (now.t, before))
            wanted[k] = start * faded(now.t - began, self._duration)
        lam0, Lam = response.multipliers
        inside = chosen if active is None else np.searchsorted(np.flatnonzero(active), chosen)
        weight = self._system.units.row_unit[chosen]
        return Wish(Lam[inside], lam0[inside], wanted, weight)

    def remember(self, lam: Callable[[], Array]) -> None:
        """The multipliers of this step (nc,), asked for only where they may be needed."""
        if self._function is not None:
            self._lam = lam()

"""Landings: when swinging feet stand again, by measured forces."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...arrays import Array, mapping, takes
from ...errors import answer_of, require_known

Forces = Callable[[float, Array, Array], Mapping[str, float]]
EARLY = 0.5  # of a swing: before, a foot that touches is still taking off


class Landings:
    """Remembers which swings have ended by a touch.

    Args:
        forces: function of (t, q, v), the normal force on each foot [N].
        touch: force from which a foot stands [N].
    """

    def __init__(self, forces: Forces, touch: float) -> None:
        takes(forces, "t,q,v", "measured of Gait")
        self._forces, self._touch = forces, touch
        self._landed: dict[str, int] = {}

    def has_landed(self, foot: str, k: int, phase: float, now: tuple[float, Any, Any]) -> bool:
        """Whether a foot stands after the beginning of its k-th swing."""
        if self._landed.get(foot, -1) == k and phase >= EARLY:
            return True
        self._landed.pop(foot, None)
        if phase < EARLY:
            return False
        who = f"measured of Gait at t = {now[0]:g} s: it"
        forces = mapping(answer_of(who, self._forces, *now), "measured of Gait", "{constraint: N}")
        require_known("foot", foot, forces, "measured of Gait")
        if float(forces[foot]) < self._touch:
            return False
        self._landed[foot] = k
        return True

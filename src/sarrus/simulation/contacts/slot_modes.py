"""What the numbers of a mode of contacts mean (kernels/solve/contact/contact_mode.hpp)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..._kernel import SLOT_NUMBERS
from ...arrays import Array

STATE, SLIDES, WAY = 0, 1, slice(4, 7)  # of the friction: whether it slides, and its direction in the world
OPEN, CLOSED, REBOUNDS = 0.0, 1.0, 2.0
REST_USED = -1  # last number of a mode: part of the restitution that an impact used
NAMES = np.array(["open", "stick", "slip"])


def of_slots(numbers: Array, slots: int) -> Array:
    """The numbers (slots, k) of a mode."""
    return numbers[: slots * SLOT_NUMBERS].reshape(slots, SLOT_NUMBERS)


def words(modes: Array) -> npt.NDArray[np.str_]:
    """ "open", "stick" or "slip" for the modes of slots (..., slots, k)."""
    acts = (modes[..., STATE] == CLOSED).astype(np.int64)
    return np.asarray(NAMES[acts * (1 + (modes[..., SLIDES] != 0.0))])

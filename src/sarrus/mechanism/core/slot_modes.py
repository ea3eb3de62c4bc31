"""What the numbers of a mode of contacts mean (kernels/solve/contact/contact_mode.hpp)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..._kernel import CONTACT_MODE_REST, SLOT_NUMBERS
from ...arrays import Array
from ...errors import InputError

STATE, SLIDES, WAY = 0, 1, slice(4, 7)  # of the friction: whether it slides, and its direction in the world
OPEN, CLOSED, REBOUNDS = 0.0, 1.0, 2.0
REST_USED = -3  # of the last numbers of a mode: part of the restitution that an impact used
NAMES = np.array(["open", "stick", "slip"])


def of_slots(numbers: Array, slots: int) -> Array:
    """The numbers (slots, k) of a mode, whose last ones they are."""
    end = len(numbers) - CONTACT_MODE_REST
    return numbers[end - slots * SLOT_NUMBERS : end].reshape(slots, SLOT_NUMBERS)


def words(modes: Array) -> npt.NDArray[np.str_]:
    """ "open", "stick" or "slip" for the modes of slots (..., slots, k)."""
    acts = (modes[..., STATE] == CLOSED).astype(np.int64)
    return np.asarray(NAMES[acts * (1 + (modes[..., SLIDES] != 0.0))])


@dataclass(frozen=True, eq=False)
class ContactMode:
    """What surfaces that may touch do in a state, or in a batch of them (batch axes in front).

    Attributes:
        names: of the contact points, "a/b.0" ...
        numbers: all of it (..., n), as the kernel stores it.
    """

    names: tuple[str, ...]
    numbers: Array

    @staticmethod
    def open(names: tuple[str, ...], batch: tuple[int, ...]) -> ContactMode:
        """Nothing touches."""
        return ContactMode(names, np.zeros((*batch, len(names) * SLOT_NUMBERS + CONTACT_MODE_REST)))

    @property
    def contacts(self) -> dict[str, Any]:
        """What each contact point does: {name: "open", "stick" or "slip", or an array of these}."""
        found = words(self._slots)
        return {name: found[..., k][()] for k, name in enumerate(self.names)}

    @property
    def touches(self) -> Any:
        """Whether any contact point is closed, of each state."""
        return np.any(self._slots[..., STATE] != OPEN, axis=-1)

    @property
    def _slots(self) -> Array:
        part = self.numbers[..., : len(self.names) * SLOT_NUMBERS]
        return part.reshape(*part.shape[:-1], len(self.names), SLOT_NUMBERS)

    def __getitem__(self, i: Any) -> ContactMode:
        """The mode of some states of a batch."""
        if self.numbers.ndim == 1:
            raise InputError("a mode of one state has no parts to choose from; batches have.")
        return ContactMode(self.names, self.numbers[i])

    def __repr__(self) -> str:
        if self.numbers.ndim > 1:
            return f"ContactMode(of {self.numbers.shape[:-1]} states)"
        closed = [f"{name} {word}s" for name, word in self.contacts.items() if word != "open"]
        return f"ContactMode({', '.join(closed) or 'nothing touches'})"

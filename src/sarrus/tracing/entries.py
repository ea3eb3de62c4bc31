"""Entries: numbers of a model that differ between its variants, which recorded programs keep variable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from ..errors import InputError
from ..models.model import Model
from ..models.tree.layout import TABLE

NUMBERS = [name for name, entry in TABLE.items() if entry.dtype is np.float64]
INDICES = [name for name, entry in TABLE.items() if entry.dtype is not np.float64]


@dataclass(frozen=True)
class Entries:
    """Entries of a model.

    Attributes:
        key: (name of a field, index into it) of each, in the order of the model.
    """

    key: tuple[tuple[str, int], ...] = ()

    def __len__(self) -> int:
        return len(self.key)

    @cached_property
    def indices(self) -> dict[str, list[int]]:
        """Flat indices by field."""
        found: dict[str, list[int]] = {}
        for name, index in self.key:
            found.setdefault(name, []).append(index)
        return found

    def values(self, models: Sequence[Model]) -> Array:
        """The entries of some models (B, n)."""
        columns = [
            np.array([np.ravel(getattr(one, name))[indices] for one in models])
            for name, indices in self.indices.items()
        ]
        return np.hstack(columns) if columns else np.zeros((len(models), 0))

    def positions(self, model: Model) -> npt.NDArray[np.int64]:
        """Where the entries are in `numbers_of`."""
        begin, found = 0, []
        for name in NUMBERS:
            found += [begin + i for i in self.indices.get(name, ())]
            begin += np.size(getattr(model, name))
        return np.array(found, dtype=np.int64)


def varied_entries(models: Sequence[Model], what: str) -> Entries:
    """Those that are not the same in all models."""
    first = models[0]
    for name in INDICES:
        if any(not np.array_equal(getattr(one, name), getattr(first, name)) for one in models[1:]):
            raise InputError(f"{what}: parameters must not change which parts a mechanism has ({name}).")
    key: list[tuple[str, int]] = []
    for name in NUMBERS:
        own = np.ravel(getattr(first, name))
        differs = np.zeros(own.shape, dtype=bool)
        for one in models[1:]:
            if getattr(one, name) is not getattr(first, name):
                differs |= np.ravel(getattr(one, name)) != own
        key += [(name, i) for i in np.flatnonzero(differs).tolist()]
    return Entries(tuple(key))


def numbers_of(model: Model) -> Array:
    """All numbers of a model, field by field."""
    return np.concatenate([np.ravel(getattr(model, name)) for name in NUMBERS]).astype(float)


def indices_of(model: Model) -> npt.NDArray[Any]:
    """All indices of a model, field by field."""
    return np.concatenate([np.ravel(getattr(model, name)) for name in INDICES]).astype(np.int32)

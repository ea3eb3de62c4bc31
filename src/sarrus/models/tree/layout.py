"""Arrays: the flat model, made from the table `SARRUS_MODEL_FIELDS` of `kernels/tree/model.hpp`.

The kernel tells name, type, count and width of every array; nothing is listed twice.
"""

from __future__ import annotations

from dataclasses import dataclass, make_dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..._kernel import MODEL_FIELDS, MODEL_SIZES, field_array
from ...arrays import frozen


@dataclass(frozen=True)
class Entry:
    """An array of the model: the name of its count ("one": no leading axis), shape of one entry, type."""

    count: str
    shape: tuple[int, ...]
    dtype: type[np.generic]

    @property
    def whole_shape(self) -> tuple[int, ...]:
        """Shape of the array, -1 for the count."""
        return self.shape if self.count == "one" else (-1, *self.shape)


SHAPES = {1: (), 9: (3, 3)}  # of an entry by its width; all others are vectors
TYPES: dict[str, type[np.generic]] = {"I": np.int32, "F": np.float64}
SIZES: tuple[str, ...] = tuple(MODEL_SIZES)
TABLE = {
    name: Entry(count, SHAPES.get(width, (width,)), TYPES[kind]) for kind, name, count, width in MODEL_FIELDS
}

COUNTED = {
    entry.count: name for name, entry in TABLE.items() if entry.count != "one"
}  # some field of each count

if TYPE_CHECKING:

    class Arrays:
        """Read-only arrays of a model; `kernels/tree/model.hpp` says what each one means."""

        def __getattr__(self, name: str) -> NDArray[Any]: ...
else:
    Arrays = make_dataclass(
        "Arrays", [(name, np.ndarray) for name in TABLE], frozen=True, eq=False, init=False, repr=False
    )


# of every field: whether it has one entry only, whether it holds indices, its shape
PLAN = {
    name: (entry.count == "one", entry.dtype is np.int32, entry.whole_shape) for name, entry in TABLE.items()
}
EMPTY = {name: frozen(np.zeros((0, *entry.shape)), entry.dtype) for name, entry in TABLE.items()}


def shaped(name: str, values: Any) -> NDArray[Any]:
    """Values of one field as the read-only array that the table asks for; no values give (0, *entry)."""
    single, whole, shape = PLAN[name]
    return field_array(values, whole, shape) if single or len(values) else EMPTY[name]


def filled(columns: dict[str, Any]) -> dict[str, NDArray[Any]]:
    """Every field of the table: those given, and empty arrays for the others."""
    return EMPTY | {name: shaped(name, column) for name, column in columns.items()}

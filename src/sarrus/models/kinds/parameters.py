"""Parameters of constraints and forces as the kernel stores them: one behind the other, in its own order.

The header of a kind (kernels/constraints, kernels/tree/forces) lists its parameters; the kernel tells their
names and widths (`_kernel.KINDS`), so that nothing is listed twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from ..._kernel import KINDS
from ...arrays import Array

PLAIN = (float, int)
ELEMENTS, FORCES, COORDINATE_FORCES = "elements", "forces", "coordinate_forces"  # families of kinds


@cache
def kind_number(family: str, kind: str) -> int:
    """Number of a kind in the kernel."""
    kinds = list(KINDS[family])
    assert kind in kinds, f"the kernel has no kind {kind!r} among its {family}: {', '.join(kinds)}"
    return kinds.index(kind)


def packed(family: str, kind: str, values: Mapping[str, Any]) -> list[float]:
    """The parameters of one element; every name of the kernel must be given, with its number of entries."""
    widths = KINDS[family][kind]
    lists = {name: [x] if type(x) in PLAIN else np.asarray(x).ravel().tolist() for name, x in values.items()}
    sizes = {name: len(entries) for name, entries in lists.items()}
    assert sizes == widths, f"parameters of {kind} must be {widths}, got {sizes}"
    return [x for name in widths for x in lists[name]]


def unpacked(family: str, number: int, values: Array) -> dict[str, Array]:
    """The parameters of one element of a kind by name; `values` begins with them."""
    widths = list(KINDS[family].values())[number]
    ends = np.cumsum(list(widths.values()))
    return dict(zip(widths, np.split(values[: ends[-1]], ends[:-1]), strict=True))


class ParameterTable:
    """Fields of the kernel's model for one family: kind, first parameter and further numbers of each element.

    Args:
        family: ELEMENTS, FORCES or COORDINATE_FORCES.
        prefix: Of the names of the fields, such as "el".
    """

    def __init__(self, family: str, prefix: str) -> None:
        self._family, self._prefix = family, prefix
        self.columns: dict[str, list[Any]] = {f"{prefix}_values": []}

    def __len__(self) -> int:
        return len(self.columns.get(f"{self._prefix}_kind", ()))

    def add(self, kind: str, parameters: Mapping[str, Any], **numbers: int) -> int:
        """Append an element and return its index."""
        index, values = len(self), self.columns[f"{self._prefix}_values"]
        numbers |= {"kind": kind_number(self._family, kind), "begin": len(values)}
        for name, number in numbers.items():
            self.columns.setdefault(f"{self._prefix}_{name}", []).append(number)
        values += packed(self._family, kind, parameters)
        return index

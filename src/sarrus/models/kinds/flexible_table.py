"""The fields of the kernel's model that flexible bodies fill (`kernels/tree/flexible.hpp`)."""

from __future__ import annotations

from typing import Any


class FlexibleTable:
    """Growing lists, one entry for each flexible body."""

    def __init__(self) -> None:
        names = ("node", "q", "v", "n", "stretches", "begin", "values")
        self.columns: dict[str, list[Any]] = {f"fl_{name}": [] for name in names}

    def add(self, values: list[float], **numbers: int) -> None:
        """Append a body: its constants, and the numbers of its other fields by name."""
        numbers["begin"] = len(self.columns["fl_values"])
        for name, one in numbers.items():
            self.columns[f"fl_{name}"].append(one)
        self.columns["fl_values"] += values

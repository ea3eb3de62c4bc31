"""Numbers as C++, bit for bit: nested structs with designated members, arrays beside them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

BYTE, LONG = "unsigned char", "long long"
TYPES = {"i": "int", "q": LONG, "l": LONG, "d": "double", "b": BYTE, "?": BYTE}
COLUMNS = 8  # numbers in one line


@dataclass(frozen=True)
class Structs:
    """Several structs of one type, behind a pointer."""

    type: str
    members: Sequence[Mapping[str, Any]]


@dataclass
class CppTables:
    """Arrays and structs that lie behind pointers, as definitions of C++; `lines` are those so far."""

    lines: list[str] = field(default_factory=list)

    def text(self, value: Any) -> str:
        """A member: number, None, array or Structs (behind a pointer), tuple or struct (in place)."""
        if value is None:
            return "nullptr"
        if isinstance(value, Mapping):
            return "{" + ", ".join(f".{name} = {self.text(one)}" for name, one in value.items()) + "}"
        if isinstance(value, tuple):
            return "{" + ", ".join(self.text(one) for one in value) + "}"
        if isinstance(value, Structs):
            return self._define(value.type, [self.text(one) for one in value.members], 1)
        if isinstance(value, np.ndarray):
            return self._array(value)
        return number_text(value)

    def _array(self, values: npt.NDArray[Any]) -> str:
        numbers = [number_text(x) for x in values.ravel().tolist()]
        return self._define(TYPES[values.dtype.char], numbers, COLUMNS)

    def _define(self, kind: str, texts: Sequence[str], columns: int) -> str:
        """A constant array of these; its name, or nullptr for none."""
        if not texts:
            return "nullptr"
        name = f"t{len(self.lines)}"
        rows = ",\n    ".join(", ".join(texts[i : i + columns]) for i in range(0, len(texts), columns))
        self.lines.append(f"const {kind} {name}[] = {{\n    {rows}}};")
        return name


def number_text(x: Any) -> str:
    """A number of C++ with the same bits."""
    if isinstance(x, (bool, np.bool_)):
        return "true" if x else "false"
    if isinstance(x, (int, np.integer)):
        return str(int(x))
    value = float(x)
    if math.isfinite(value):
        return value.hex()
    return "NAN" if math.isnan(value) else "HUGE_VAL" if value > 0 else "-HUGE_VAL"

"""A model as one block of bytes: what the kernel in a browser loads (bindings/wasm/studio.cpp).

A hash of the layout, the sizes (int32) and the arrays, each from a multiple of eight bytes on,
little-endian and in the order of `kernels/tree/model.hpp`.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from .._kernel import CLOSURE_ANGULAR, KINDS, MODEL_FIELDS, MODEL_SIZES
from .kinds.parameters import COORDINATE_FORCES, ELEMENTS, FORCES, kind_number
from .model import Model


def layout_text() -> str:
    """Names of sizes, fields and kinds, a space after each, as the kernel in a browser has them too."""
    words = [*MODEL_SIZES, *(f"{kind}{name}{count}{width}" for kind, name, count, width in MODEL_FIELDS)]
    words += [name for family in (ELEMENTS, FORCES, COORDINATE_FORCES) for name in KINDS[family]]
    return "".join(f"{word} " for word in ["sarrus", "layout:", *words])


def layout_hash() -> int:
    """FNV-1a of that text: a kernel refuses tables of another layout."""
    found = 2166136261
    for byte in layout_text().encode("ascii"):
        found = (found ^ byte) * 16777619 % 2**32
    return found


def binary_table(model: Model) -> bytes:
    """The table of a model."""
    out = bytearray(struct.pack("<I", layout_hash()))
    sizes, fields = model.sizes, model.fields
    for name in MODEL_SIZES:
        out += struct.pack("<i", sizes[name])
    for kind, name, _, _ in MODEL_FIELDS:
        out += b"\0" * (-len(out) % 8)
        out += np.ascontiguousarray(fields[name], dtype="<i4" if kind == "I" else "<f8").tobytes()
    return bytes(out)


def table_layout() -> dict[str, Any]:
    """How a table is read and extended by closures: names of sizes, fields, parameters of a closure."""
    return {
        "sizes": list(MODEL_SIZES),
        "fields": [list(field) for field in MODEL_FIELDS],
        "closure": kind_number(ELEMENTS, "Closure"),
        "parameters": list(KINDS[ELEMENTS]["Closure"]),
        "across": CLOSURE_ANGULAR["ACROSS"],
    }

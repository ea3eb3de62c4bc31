"""One truth in two languages: the dataclass against the header and the compiled module."""

from __future__ import annotations

import numpy as np

from sarrus import _kernel
from sarrus.models.tree.layout import SIZES, TABLE, filled, shaped
from tests.oracles.raw_models import field_table, size_names


def rows_of_the_dataclass() -> list[tuple[str, str, str, int]]:
    letters = {np.int32: "I", np.float64: "F"}
    return [
        (letters[entry.dtype], name, entry.count, int(np.prod(entry.shape, dtype=int)))
        for name, entry in TABLE.items()
    ]


def test_fields_are_those_of_the_header_in_its_order() -> None:
    assert rows_of_the_dataclass() == field_table()
    assert list(SIZES) == size_names()


def test_fields_are_those_of_the_compiled_module() -> None:
    assert rows_of_the_dataclass() == [tuple(row) for row in _kernel.MODEL_FIELDS]
    assert list(SIZES) == list(_kernel.MODEL_SIZES)


def test_missing_fields_are_empty_with_the_shape_of_an_entry() -> None:
    columns = filled({"gravity": (0, 0, -9.81), "origin": (0, 0, 0), "length": 1.0, "rank_tol": 1e-9})
    assert columns["R_NB"].shape == (0, 3, 3)
    assert columns["parent"].dtype == np.int32
    assert columns["length"].shape == ()


def test_arrays_are_read_only() -> None:
    assert not shaped("mass", [1.0, 2.0]).flags.writeable

"""The typed stub of the compiled module is what nanobind says it is."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

STUB = Path(__file__).parents[2] / "src" / "sarrus" / "_kernel.pyi"
HINT = "regenerate it: python -m nanobind.stubgen -m sarrus._kernel -o src/sarrus/_kernel.pyi"


def normalised(text: str) -> list[str]:
    """Declarations without the values of constants, which depend on the machine, and without blank lines."""
    text = re.sub(r"^(\w+: \w+) = .*$", r"\1", text, flags=re.MULTILINE)
    text = re.sub(r"\s*([(),\[\]{}])\s*", r"\1", text.replace('"', "'")).replace(",)", ")")
    return [line.strip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]


def test_the_stub_is_fresh(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "nanobind.stubgen",
        "-q",
        "-m",
        "sarrus._kernel",
        "-o",
        str(tmp_path / "fresh.pyi"),
    ]
    subprocess.run(command, check=True, capture_output=True)
    assert STUB.exists(), HINT
    assert normalised(STUB.read_text()) == normalised((tmp_path / "fresh.pyi").read_text()), HINT


def test_the_model_is_made_from_the_table_of_the_kernel() -> None:
    """kernels/tree/model.hpp lists all arrays; kernel, Python model and these tests read it."""
    from sarrus import _kernel
    from sarrus.library import five_bar
    from tests.oracles.raw_models import field_table, size_names

    assert [tuple(row) for row in _kernel.MODEL_FIELDS] == field_table()
    assert list(_kernel.MODEL_SIZES) == size_names()
    model = five_bar().model
    assert list(model.sizes) == size_names()
    assert list(model.fields) == [name for _, name, _, _ in field_table()]
    for _, name, count, width in field_table():
        assert model.fields[name].size == model.sizes[count] * width, name

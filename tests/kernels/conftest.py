"""Compile the headers once per session and call them through ctypes."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.oracles.raw_models import Raw, field_table, size_names

HERE = Path(__file__).parent
KERNELS = HERE.parents[1] / "kernels"
LANES = 4


class Harness:
    """The compiled entry points of harness.cpp, on NumPy arrays."""

    def __init__(self, library: Path) -> None:
        """Load the shared library."""
        self.path = library
        self.library = ctypes.CDLL(str(library))

    def call(self, name: str, raw: Raw, inputs: list[Any], outputs: list[tuple[int, ...]]) -> tuple[Any, ...]:
        """Outputs of the given shapes; the entry point's own return value comes last."""
        sizes = np.array([raw[0][n] for n in size_names()], dtype=np.int32)
        arrays = [
            np.ascontiguousarray(raw[1][n], dtype=np.int32 if t == "I" else np.float64)
            for t, n, _, _ in field_table()
        ]
        pointers = (ctypes.c_void_p * len(arrays))(*(a.ctypes.data for a in arrays))
        kept = [x if isinstance(x, int) else np.ascontiguousarray(x, dtype=np.float64) for x in inputs]
        out = [np.full(shape, np.nan) for shape in outputs]
        function = getattr(self.library, name)
        status = function(
            ctypes.c_void_p(sizes.ctypes.data), pointers, *(_argument(x) for x in [*kept, *out])
        )
        return (*out, status)


def _argument(x: Any) -> Any:
    return ctypes.c_int(x) if isinstance(x, int) else ctypes.c_void_p(x.ctypes.data)


@pytest.fixture(scope="session")
def harness(tmp_path_factory: pytest.TempPathFactory) -> Harness:
    """harness.cpp compiled by the host compiler into harness.o and harness.so."""
    compiler = os.environ.get("CXX") or shutil.which("g++") or shutil.which("c++")
    if compiler is None:
        pytest.skip("no C++ compiler")
    made = tmp_path_factory.mktemp("kernels") / "harness.o"
    flags = ["-std=c++20", "-O1", "-fPIC", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror", "-Wno-psabi"]
    flags += os.environ.get("SARRUS_HARNESS_FLAGS", "").split()  # make sanitize: sanitizers, instruction sets
    source = str(HERE / "harness.cpp")
    for command in (
        [compiler, *flags, "-I", str(KERNELS), "-c", source, "-o", str(made)],
        [compiler, *flags, "-shared", str(made), "-o", str(made.with_suffix(".so"))],
    ):
        # the compiler itself runs without a sanitizer
        plain = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=plain)
        assert done.returncode == 0, done.stderr
    return Harness(made.with_suffix(".so"))

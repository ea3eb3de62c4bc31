"""A device that is this processor: CUDA text compiled as C++, one thread after the other, on NumPy arrays."""

from __future__ import annotations

import ctypes
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sarrus as sr
from sarrus.mechanism.query.recorded_code import program_of
from sarrus.tracing.cuda_text import cuda_text
from sarrus.tracing.entries import Entries
from sarrus.tracing.recorded_copies import GeneralStep

from .compiled_c import run

SHIM = """#include <cmath>
using std::atan2, std::cos, std::fabs, std::rint, std::sin, std::sqrt, std::tanh;
#define __device__
#define __global__
#define __noinline__ __attribute__((noinline))
#define __forceinline__ inline
#define __sincosf sincosf
#define __launch_bounds__(n)
struct Index { int x; };
static Index blockIdx = {0}, blockDim = {1}, threadIdx = {0};
"""
NONE = Entries()
LOOP = """
extern "C" void set_thread(int i) { blockIdx.x = i; }
"""


class HostDevice:
    """The kernels of a mechanism, called as `DeviceKernels` are."""

    def __init__(self, mech: sr.Mechanism, precision: str, folder: Path, entries: Entries = NONE) -> None:
        compiler = os.environ.get("CXX") or shutil.which("g++") or shutil.which("c++")
        if compiler is None:
            pytest.skip("no C++ compiler")
        source = folder / f"{precision}.cpp"
        source.write_text(SHIM + cuda_text(mech.model, program_of(mech, precision, "a test", entries)) + LOOP)
        library = source.with_suffix(".so")
        flags = "-std=c++17 -O1 -w -shared -fPIC".split()
        run(compiler, *flags, source, "-o", library)
        self.library = ctypes.CDLL(str(library))
        self.launches = 0

    def __call__(self, name: str, count: int, arguments: tuple[Any, ...]) -> None:
        """Call the kernel once for each thread."""
        self.launches += 1
        given = [argument(x) for x in arguments]
        for thread in range(count):
            self.library.set_thread(ctypes.c_int(thread))
            getattr(self.library, name)(*given)


def general_on_host(mechs: Sequence[sr.Mechanism]) -> GeneralStep:
    """Single steps of `mech.step`; of one mechanism, or of one for each copy."""

    def step(copies: Any, q: Any, v: Any, force: Any, dt: float) -> tuple[Any, Any, Any]:
        found = [
            mechs[int(i) if len(mechs) > 1 else 0].step(x[None], y[None], dt=dt, tau=f[None])
            for i, x, y, f in zip(copies, q, v, force, strict=True)
        ]
        return *(np.concatenate(x) for x in zip(*found, strict=True)), np.array(
            [one.status[0] for one in found]
        )

    return step


def argument(x: Any) -> Any:
    if x is None:
        return ctypes.c_void_p(0)
    if isinstance(x, np.ndarray):
        return ctypes.c_void_p(x.ctypes.data)
    kinds = {
        np.int32: ctypes.c_int,
        np.int64: ctypes.c_longlong,
        np.float64: ctypes.c_double,
        np.float32: ctypes.c_float,
    }
    return kinds[type(x)](x.item())

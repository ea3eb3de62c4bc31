"""Teams of threads on this processor: kernels/team compiled as C++, one copy after the other."""

from __future__ import annotations

import ctypes
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sarrus as sr
from sarrus.mechanism.query.team_tables import team_tables
from sarrus.tracing.entries import Entries
from sarrus.tracing.general_text import headers
from sarrus.tracing.team_text import COMMON

from .compiled_c import run
from .host_device import argument

NONE = Entries()
HEAD = """#define __device__
#include <type_traits>
#include <vector>
using R = {real};
using Index = {index};
"""
# A team of `size` threads: each takes every size-th part of a loop, the last thread first where `backwards`.
TEAM = """
struct Team {
  int size;
  bool backwards;
  template <class F>
  void each(int n, F f) {
    for (int t = 0; t < size; ++t)
      for (int i = backwards ? size - 1 - t : t; i < n; i += size) f(i);
  }
  template <class F>
  auto most(int n, F f) {
    decltype(f(0)) most = 0;
    each(n, [&](int i) {
      auto x = f(i);
      most = x > most || x != x ? x : most;
    });
    return most;
  }
  template <class U, class F>
  void rounds(const U* updates, int width, int begin, int end, F f) {
    for (int r = begin; r < end; ++r)
      each(width, [&](int i) {
        if ((r - begin) % 2 == 0)
          f(updates[r * width + i], std::true_type{});
        else
          f(updates[r * width + i], std::false_type{});
      });
  }
  bool any(bool x) { return x; }
};

static Bound b;
static Team team;
static std::vector<char> memory;

extern "C" long long bind(const int* sizes, const int* indices, const R* numbers, const int* team_sizes,
                          const int* team_indices, const R* limits, const void* updates,
                          const int* actuated, const double* tests, int size, int backwards) {
  b = bound(sizes, indices, numbers, team_sizes, team_indices, limits, updates, actuated, tests);
  team = {size, backwards != 0};
  memory.resize(bytes_of(b) + 64);
  return memory.size();
}

static char* aligned() {
  return memory.data() + 63 - (reinterpret_cast<unsigned long long>(memory.data()) + 63) % 64;
}

extern "C" void advance(long long stride, int count, const long long* which, RUN_PARAMETERS) {
  for (int i = 0; i < count; ++i) {
    long long copy = which ? which[i] : i;
    Arena arena(aligned());
    const Model<R> m = own_model(b.m, copy * stride);
    TeamStepper<R, Index> s(m, b.p, arena);
    const TeamRun<R> run = RUN(b);
    advance_copy(s, run, Place{copy, true}, team);
  }
}

extern "C" void accelerations(long long stride, int count, const R* q, const R* v, const R* tau,
                              const R* parameters, R* a, unsigned* guards) {
  for (int i = 0; i < count; ++i) {
    Arena arena(aligned());
    TeamStepper<R, Index> s(b.m, b.p, arena);
    int iq = i * b.m.nq, iv = i * b.m.nv;
    guards[i] = acceleration_by_team(s, q + iq, v + iv, tau + iv, a + iv, team);
  }
}
"""


class HostTeam:
    """The kernels of a mechanism, called as `TeamKernels` are, by a team of `size` threads."""

    def __init__(
        self,
        mech: sr.Mechanism,
        precision: str,
        folder: Path,
        entries: Entries = NONE,
        size: int = 1,
        backwards: bool = False,
        width: int = 8,
    ) -> None:
        compiler = os.environ.get("CXX") or shutil.which("g++") or shutil.which("c++")
        if compiler is None:
            pytest.skip("no C++ compiler")
        self.tables = team_tables(mech, precision, width, "a test", entries)
        index = {"uint16": "unsigned short", "uint32": "unsigned"}[self.tables.index]
        source = folder / f"team_{precision}.cpp"
        real = {"float64": "double", "float32": "float"}[precision]
        library = source.with_suffix(".so")
        if not library.exists():
            source.write_text(HEAD.format(real=real, index=index) + COMMON + TEAM)
            flags = "-std=c++20 -O1 -w -shared -fPIC".split()
            run(compiler, *flags, "-I", headers(), source, "-o", library)
        copied = library.with_name(f"{library.stem}_{len(list(folder.glob('*.so')))}.so")
        shutil.copy(library, copied)  # one model in the memory of a library
        self.library = ctypes.CDLL(str(copied))
        self.launches = 0
        given = (*self.tables.arrays, np.int32(size), np.int32(backwards))
        self.library.bind(*(argument(x) for x in given))

    def __call__(self, name: str, count: int, arguments: tuple[Any, ...]) -> None:
        """Call the kernel for all copies."""
        self.launches += 1
        parameters = arguments[13] if name == "advance" else None
        stride, self.own = 0, None
        if parameters is not None:
            self.own = self.tables.numbers_of_copies(np, parameters)
            stride = self.own.shape[1]
            self.library.bind(
                *(argument(x) for x in (*self.tables.arrays[:2], self.own, *self.tables.arrays[3:])),
                ctypes.c_int(1),
                ctypes.c_int(0),
            )
        getattr(self.library, name)(ctypes.c_longlong(stride), *(argument(x) for x in arguments))

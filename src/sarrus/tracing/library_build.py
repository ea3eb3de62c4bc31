"""Flags with which exported C++ gives the same bits as this library: those of CMakeLists.txt."""

from __future__ import annotations

MACHINES = {"v3": "-march=x86-64-v3", "v4": "-march=x86-64-v4 -mprefer-vector-width=512"}
FLAGS = (
    "-std=c++20 -O3 -DNDEBUG -fPIC -fvisibility=hidden -ffp-contract=fast -fno-math-errno -fno-trapping-math"
)


def compiler_flags(isa: str) -> str:
    """Flags of g++ and clang++ for an instruction set of the kernel."""
    return " ".join(filter(None, (FLAGS, MACHINES.get(isa, ""))))

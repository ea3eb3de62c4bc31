"""Compiles kernel.wasm, the kernel of studios, where it is missing or older than its sources.

Run by `make setup`, by `make wasm` and, outside an sdist (which has the file), by CMake. The compiler is Zig,
from the package ziglang: extra `wasm` of pyproject.toml. Without it this script says so in one line and
leaves everything as it is; `studio()` then raises an error that says what to do.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MAIN = ROOT / "bindings" / "wasm" / "studio.cpp"
OUT = ROOT / "src" / "sarrus" / "viz" / "studio" / "kernel.wasm"
ZIG = ROOT / "build" / "zig"  # where --install puts the compiler
FLAGS = (
    *("-target", "wasm32-wasi", "-mexec-model=reactor", "-std=c++20", "-Oz", "-s", "-flto", "-msimd128"),
    *("-fno-exceptions", "-fno-rtti", "-fno-stack-protector", "-fno-math-errno", "-ffp-contract=off"),
    *("-DSARRUS_ISA=wasm", "-DSARRUS_FEW_SIZES", "-DSARRUS_NO_BEARINGS", "-Ikernels"),
)


def sources() -> set[Path]:
    """This file, studio.cpp and what it includes."""
    found, left = {Path(__file__).resolve()}, [MAIN]
    while left:
        path = left.pop()
        if path in found:
            continue
        found.add(path)
        for name in re.findall(r'^#include "([^"]+)"', path.read_text(encoding="utf-8"), re.M):
            places = (path.parent / name, ROOT / "kernels" / name)
            left += [place.resolve() for place in places if place.is_file()][:1]
    return found


def is_fresh(out: Path) -> bool:
    """Whether a file is there and not older than what it is made of."""
    return out.is_file() and out.stat().st_mtime >= max(path.stat().st_mtime for path in sources())


def requirement() -> str:
    """The package of the compiler, with its version."""
    table = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (line,) = table["project"]["optional-dependencies"]["wasm"]
    return str(line)


def has_compiler(install: bool) -> bool:
    """Whether ziglang can be imported, from this Python or from build/zig; `install`: put it there if not."""
    if find_spec("ziglang") is not None or (ZIG / "ziglang" / "__main__.py").is_file():
        return True
    if not install:
        return False
    pip = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-input"]
    done = subprocess.run([*pip, "--target", str(ZIG), requirement()], stderr=subprocess.PIPE, text=True)
    return done.returncode == 0


def compile_to(out: Path) -> None:
    """Compile; written beside `out` and then moved, so that what is there is always whole."""
    paths = os.pathsep.join(filter(None, (str(ZIG), os.environ.get("PYTHONPATH"))))
    part = out.with_suffix(".part")
    out.parent.mkdir(parents=True, exist_ok=True)
    zig = [sys.executable, "-m", "ziglang", "c++", *FLAGS, str(MAIN.relative_to(ROOT)), "-o", str(part)]
    subprocess.run(zig, check=True, cwd=ROOT, env=os.environ | {"PYTHONPATH": paths})
    part.chmod(0o644)
    part.replace(out)


def main() -> int:
    """Exit status: 1 where there is no compiler and --required says that one is needed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--install", action="store_true", help="install ziglang into build/zig when needed")
    parser.add_argument("--required", action="store_true", help="fail where there is no compiler")
    parser.add_argument("--out", type=Path, default=OUT, help="file to write")
    given = parser.parse_args()
    if is_fresh(given.out):
        return 0
    if not has_compiler(given.install):
        state = "is older than its sources" if given.out.is_file() else "is missing, tests of studios skip"
        print(f"sarrus: kernel.wasm {state}: {requirement()} cannot be installed")
        return int(given.required)
    print(f"sarrus: compiling {given.out.name}, the kernel of studios")
    compile_to(given.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())

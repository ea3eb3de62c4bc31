"""Exported C of five mechanisms: size, stack, time of a step: `python -m bench.exported_code`.

With --cortex-m it is cross-compiled for a Cortex-M7 as well (Debian: apt-get install gcc-arm-none-eabi).
With --grow it exports rows of four-bars, longer and longer, until they are refused: what long code costs the
compiler, and how fast it is beside the library.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

import sarrus as sr
from sarrus.mechanism.query.recorded_code import program_of

from .hexapod import hexapod

MECHANISMS = ("four_bar", "bricard", "dual_arm", "stewart", "hexapod")
ROWS = (1, 2, 4, 8, 12, 16, 20, 24)  # four-bars in a row
STRICT = ["-std=c99", "-Wall", "-Wextra", "-Werror"]
CORTEX = ["-mcpu=cortex-m7", "-mthumb", "-mfpu=fpv5-d16", "-mfloat-abi=hard"]


def compiled(command: list[str], source: Path, made: Path) -> float:
    """Compile one file; returns the seconds of CPU time that it took."""
    began = os.times().children_user
    subprocess.run([*command, str(source), "-o", str(made)], check=True)
    return os.times().children_user - began


def stack_of(folder: Path) -> int:
    """Bytes of all frames: more than any chain of calls takes."""
    return sum(int(line.split("\t")[1]) for line in next(folder.glob("*.su")).read_text().splitlines())


def step_time(mech: sr.Mechanism, name: str, library: Path) -> tuple[float, float]:
    """Microseconds of a step: of the exported code, and of mech.step on one state."""
    step = getattr(ctypes.CDLL(str(library)), f"{name}_step")
    q, v = (np.array(x) for x in mech.default)
    given = ctypes.c_void_p(q.ctypes.data), ctypes.c_void_p(v.ctypes.data), None, None, ctypes.c_double(1e-4)
    best = [1e9, 1e9]
    for _ in range(7):
        began = time.process_time()
        for _ in range(200):
            step(*given)
        best[0] = min(best[0], (time.process_time() - began) / 200)
        began = time.process_time()
        for _ in range(200):
            mech.step(q, v, dt=1e-4)
        best[1] = min(best[1], (time.process_time() - began) / 200)
    return best[0] * 1e6, best[1] * 1e6


def main() -> None:
    """Print one line for each mechanism."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", default=MECHANISMS)
    parser.add_argument("--cortex-m", action="store_true")
    parser.add_argument("--grow", action="store_true")
    args = parser.parse_args()
    if args.grow:
        for count in ROWS:
            if not measure(f"row of {count}", sr.library.n_four_bar(count), args.cortex_m):
                return
    for name in () if args.grow else args.only:
        measure(name, hexapod() if name == "hexapod" else getattr(sr.library, name)(), args.cortex_m)


def measure(name: str, mech: sr.Mechanism, cortex: bool) -> bool:
    """Print the line of one mechanism; False where it is refused."""
    with tempfile.TemporaryDirectory() as where:
        folder = Path(where)
        try:
            source, _, _ = mech.export_code(folder)
        except sr.SarrusError as error:
            print(f"{name:9s} nv = {mech.nv:2d}: {error}")
            return False
        operations = program_of(mech, "float64", "exported code").operations(("step",))
        library = folder / "code.so"
        command = ["gcc", *STRICT, "-O2", "-shared", "-fPIC", "-fstack-usage", "-lm"]
        seconds = compiled(command, source, library)
        mine, theirs = step_time(mech, source.stem, library)
        print(
            f"{name:9s} nv = {mech.nv:2d} {operations:6d} operations, compiled in {seconds:5.1f} s,"
            f" stack {stack_of(folder):6d} B, step {mine:7.1f} us (mech.step {theirs:.1f} us)",
            flush=True,
        )
        if cortex:
            made = folder / "cortex.o"
            seconds = compiled(["arm-none-eabi-gcc", *STRICT, *CORTEX, "-Os", "-c"], source, made)
            size = subprocess.run(["arm-none-eabi-size", made], check=True, capture_output=True, text=True)
            text = size.stdout.splitlines()[1].split()[0]
            print(f"{name:9s} Cortex-M7: {text} B of code, compiled in {seconds:.1f} s")
    return True


if __name__ == "__main__":
    main()

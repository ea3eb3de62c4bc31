"""What comes before and after a computation: import, files, compilation, memory and files of runs."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import pinocchio as pin

import sarrus as sr

from .report import Column, table
from .timing import race

ROWS: tuple[Column, ...] = (
    ("what", "title", ""),
    ("measured", "measured", ".2f"),
    ("at most", "at_most", "g"),
    ("unit", "unit", ""),
    ("beside", "beside", ".2f"),
    ("", "beside_what", ""),
)
ROBOTS = "share/example-robot-data/robots"
HUMANOID = "talos_data/robots/talos_reduced.urdf"
FRESH = 7  # interpreters that are started for the import
STEPS, FEW_STEPS = 200_000, 20_000  # of the run whose memory is measured
IMPORT = """
import time
start = time.process_time(); import numpy; middle = time.process_time(); import sarrus
print(1e3 * (middle - start), 1e3 * (time.process_time() - middle))
"""
MEMORY = """
import re, sys, warnings
import sarrus as sr
warnings.simplefilter("ignore")
mech, steps = sr.library.dual_arm(), int(sys.argv[1])
peak = lambda: 1024 * int(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1])
sr.simulate(mech, (0.0, 5.0), dt=1e-3)
before = peak()
run = sr.simulate(mech, (0.0, 1e-3 * steps), dt=1e-3)
print((peak() - before) / len(run))
"""


def run(quick: bool, rounds: int) -> dict[str, Any]:
    """All of it, as numbers."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {"load": [importing(), *describing(rounds), *storing(rounds, FEW_STEPS if quick else STEPS)]}


def show(results: dict[str, Any]) -> str:
    """All of it, as text."""
    return table(
        "Import, files, compilation, memory",
        ROWS,
        results["load"],
        (
            "CPU time, the best of several. Import: in fresh interpreters. Memory: growth of the largest",
            "size of the process over a run of the welded arms, by the number of states that it keeps.",
        ),
    )


def importing() -> dict[str, Any]:
    """`import sarrus` after `import numpy`, and the latter."""
    both = [tuple(map(float, _fresh(IMPORT).split())) for _ in range(FRESH)]
    numpy, ours = (min(column) for column in zip(*both, strict=True))
    return _row("import sarrus, above NumPy", ours, 100.0, "ms", numpy, "import numpy")


def describing(rounds: int) -> list[dict[str, Any]]:
    """A humanoid from a URDF, and the compilation of a four-bar."""
    spec = sr.MechanismSpec.from_model(sr.library.four_bar().model)
    spec.compile()
    compiled = race({"compile": spec.compile}, rounds)["compile"].best
    rows = [_row("spec.compile() of a four-bar", 1e6 * compiled, 200.0, "us")]
    file = _robot(HUMANOID)
    if file is not None:
        floating = pin.JointModelFreeFlyer()
        times = race(
            {
                "sarrus": lambda: sr.load(file, root="free"),
                "pinocchio": lambda: pin.buildModelFromUrdf(str(file), floating),
            },
            rounds,
        )
        ours, theirs = (1e3 * times[name].best for name in ("sarrus", "pinocchio"))
        rows.append(_row(f"sr.load of {file.name}", ours, 5.0, "ms", theirs, "Pinocchio"))
    return rows


def storing(rounds: int, steps: int) -> list[dict[str, Any]]:
    """Memory of a run of the welded arms, and saving it over simulating it."""
    mech, span = sr.library.dual_arm(), (0.0, 2.0)
    found = sr.simulate(mech, span, dt=1e-3)

    def save() -> None:
        for name in ("energy", "constraint_force", "lam"):  # computed anew, as in a first save
            found.__dict__.pop(name, None)
        found.save(Path(folder) / "run.npz")

    with tempfile.TemporaryDirectory() as folder:
        times = race({"simulate": lambda: sr.simulate(mech, span, dt=1e-3), "save": save}, rounds)
    per_step = {name: 1e6 * one.best / (len(found) - 1) for name, one in times.items()}
    ratio = per_step["save"] / per_step["simulate"]
    return [
        _row(f"memory per kept step, {steps:,} steps", float(_fresh(MEMORY, str(steps))), 600.0, "B"),
        _row("saving a run over simulating it", ratio, 1.0, "", per_step["save"], "us per step to save"),
    ]


def _row(
    title: str, measured: float, at_most: float, unit: str, beside: float | None = None, beside_what: str = ""
) -> dict[str, Any]:
    return {
        "title": title,
        "measured": measured,
        "at_most": at_most,
        "unit": unit,
        "beside": beside,
        "beside_what": beside_what,
    }


def _fresh(code: str, *words: str) -> str:
    """What this code prints in an interpreter of its own, which may keep compiled modules as usual."""
    usual = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-c", code, *words]
    return subprocess.run(command, capture_output=True, text=True, check=True, env=usual).stdout


def _robot(name: str) -> Path | None:
    """A file of example-robot-data, beside Pinocchio; None where that is not installed."""
    places = (folder / ROBOTS / name for folder in Path(pin.__file__).parents)
    return next((place for place in places if place.is_file()), None)

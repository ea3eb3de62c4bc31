"""`python -m bench`: measure, print, and write out/bench.json."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from pathlib import Path
from typing import Any

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")  # one thread on all sides; before NumPy is loaded

from .cases import CASES  # noqa: E402
from .machine import fingerprint  # noqa: E402
from .report import Column, table, targets, write  # noqa: E402

PARTS = (
    *("kernel", "calls", "simulation", "defaults", "linearize", "hierarchy", "grasp", "control", "load"),
    "design",
    "friction",
    "rollout",
    "large",
    "studio",
)
TARGETS: tuple[Column, ...] = (
    ("ratio to the peer", "what", ""),
    ("measured", "ratio", ".2f"),
    ("at most", "at_most", ".1f"),
    ("", "verdict", ""),
)


def arguments(words: list[str]) -> argparse.Namespace:
    """What was typed, checked."""
    names = [case.name for case in CASES]
    parser = argparse.ArgumentParser(prog="python -m bench", description="Ratios against peers, same run.")
    parser.add_argument("--quick", action="store_true", help="a few short cases, seconds instead of minutes")
    parser.add_argument("--rounds", type=int, default=None, help="rounds of each comparison (5, quick: 3)")
    parser.add_argument(
        "--only",
        nargs="+",
        default=[],
        metavar="PART",
        help=f"parts to measure: {', '.join(PARTS)}, or runs: {', '.join(names)}",
    )
    parser.add_argument("--json", type=Path, default=Path("out/bench.json"), help="where the numbers go")
    given = parser.parse_args(words)
    unknown = [word for word in given.only if word not in (*PARTS, *names)]
    if unknown:
        parser.error(f"unknown part {unknown[0]!r}; the parts are {', '.join((*PARTS, *names))}")
    if given.rounds is None:
        given.rounds = 3 if given.quick else 5
    if given.rounds < 1:
        parser.error(f"--rounds must be at least 1, got {given.rounds}")
    return given


def measure(given: argparse.Namespace) -> dict[str, Any]:
    """Run the chosen parts and print each as soon as it is there."""
    machine = fingerprint()
    print("\n".join(f"{key:>10}  {value}" for key, value in machine.items()), flush=True)
    results: dict[str, Any] = {"machine": machine, "quick": given.quick, "rounds": given.rounds}
    cases = [word for word in given.only if word not in PARTS]
    for part in PARTS:
        wanted = not given.only or part in given.only or (part == "simulation" and cases)
        if not wanted:
            continue
        extra = {"names": cases} if part == "simulation" else {}
        try:
            module = importlib.import_module(f".{part}", __package__)
        except ModuleNotFoundError as missing:
            print(f"\n{part}: left out, the package {missing.name!r} is not installed.")
            continue
        results[part] = module.run(given.quick, given.rounds, **extra)
        print(module.show(results[part]), flush=True)
    made = [results.get(part, {}) for part in PARTS]
    rows = [row for part in made for kind in ("rows", "stiff") for row in part.get(kind, [])]
    results["targets"] = targets(rows)
    return results


def main(words: list[str]) -> int:
    """Measure, print, write."""
    given = arguments(words)
    results = measure(given)
    if results["targets"]:
        shown = [row | {"verdict": "met" if row["met"] else "missed"} for row in results["targets"]]
        print(table("Targets", TARGETS, shown))
    write(given.json, results)
    print(f"\nwritten to {given.json}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Ten million steps of the four-bar: drift, energy, memory, time per step.

    python -m bench.long_run [STEPS]

Every thousandth state is stored; the memory of the process is looked at from time to time.
"""

from __future__ import annotations

import resource
import sys
import time

import numpy as np

import sarrus as sr

DT = 1e-3


def memory() -> float:
    """Largest memory of this process so far [MB]."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0


def main(steps: int = 10_000_000) -> int:
    """Run with and without the energy kept; returns the exit code."""
    mech = sr.library.four_bar()
    sr.simulate(mech, (0.0, 1.0), dt=1e-3)
    worst = 0
    for energy in (False, True):
        before, began = memory(), time.perf_counter()
        run = sr.simulate(mech, (0.0, steps * DT), dt=DT, store_every=1000, energy=energy)
        taken = time.perf_counter() - began
        change = float(np.abs(run.energy - run.energy[0]).max())
        drift = run.drift.max() / mech.length
        print(
            f"four_bar, {steps:.0e} steps, energy={energy!s:5}: drift {drift:.1e} L, energy {change:.1e} J,",
            end="",
        )
        print(
            f" {len(run)} stored, {memory() - before:+.0f} MB, {1e6 * taken / steps:.2f} us per step",
            flush=True,
        )
        worst += not (run.success and drift <= 1e-12)
    return int(worst > 0)


if __name__ == "__main__":
    sys.exit(main(*(int(float(x)) for x in sys.argv[1:2])))

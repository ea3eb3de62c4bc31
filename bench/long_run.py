"""Ten million steps of the four-bar, or ten seconds of a row of them: drift, energy, memory, time per step.

    python -m bench.long_run [STEPS]
    python -m bench.long_run row [N]

Every thousandth state is stored, of the row every tenth; the memory of the process is looked at from time to
time.
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


def row(n: int = 1000) -> int:
    """Ten seconds of n_four_bar(n), through its singular poses; returns the exit code."""
    mech = sr.library.n_four_bar(n)
    before, began = memory(), time.process_time()
    run = sr.simulate(mech, (0.0, 10.0), dt=DT, store_every=10)
    taken = time.process_time() - began
    change = float(np.abs(run.energy - run.energy[0]).max())
    height = (1.5 * n + 0.5) * 9.81  # potential energy of the upright pose, which the errors are relative to
    drift = float(run.drift.max()) / mech.length
    # all uprights turn alike: (4 n / 3 + 1 / 3) x'' = (1.5 n + 0.5) g sin x
    exact = height / (4.0 * n / 3.0 + 1.0 / 3.0) * np.sin(run.q[:, 0])
    apart = np.abs(run.a - exact[:, None] * np.append(np.tile([1.0, -1.0], n), 1.0)).max(axis=1)
    print(f"n_four_bar({n}), 10 s: {run.message}")
    print(f"drift {drift:.1e} L, energy {change / height:.1e} of {height:.0f} J,", end=" ")
    print(f"{len(run.events)} events, {memory() - before:+.0f} MB, {1e3 * taken / 10_000:.2f} ms per step")
    print(f"accelerations from the closed form: median {np.median(apart):.1e}, largest {apart.max():.1e}")
    return int(not (run.success and drift <= 1e-12 and change <= 1e-9 * height))


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
    if sys.argv[1:2] == ["row"]:
        sys.exit(row(*(int(x) for x in sys.argv[2:3])))
    sys.exit(main(*(int(float(x)) for x in sys.argv[1:2])))

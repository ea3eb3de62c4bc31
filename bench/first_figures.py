"""The three figures of the README, on this machine: `python -m bench.first_figures`, a minute of one core."""

from __future__ import annotations

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")  # one thread on all sides; before NumPy is loaded

import sarrus as sr  # noqa: E402

from .kernel import algorithms, prepare  # noqa: E402
from .rollout import roll  # noqa: E402

SECONDS = 1.0  # of each mechanism of the library
LARGE = ("net", "chain_mail", "deployable_ring", "scissor")  # hundreds of bodies: minutes


def closure() -> tuple[str, float]:
    """Mechanism of the library whose loops open most in a run, and by how much, relative to its length L."""
    worst = "", 0.0
    for name, make in sr.library.MECHANISMS.items():
        if name not in LARGE:
            mech = make()
            drift = float(sr.simulate(mech, (0.0, SECONDS)).drift.max()) / mech.length
            worst = max(worst, (name, drift), key=lambda found: found[1])
    return worst


def main() -> None:
    """Measure and print."""
    name, drift = closure()
    count = len(sr.library.MECHANISMS) - len(LARGE)
    print(f"largest closure error of {count} mechanisms: {drift:.0e} of their length ({name})")
    arms = sr.library.dual_arm()
    first = algorithms(prepare(arms), 5, 0.02)[0]
    ours, apart = first["ratio"], first["difference"]
    print(f"acceleration of two welded arms: {ours:.2f} of Pinocchio's time, results differ by {apart:.0e}")
    copies = roll(arms, "dual_arm", (256, 100), 5)["over_mujoco"]
    print(f"steps per second of 256 copies of them: {copies:.1f} times MuJoCo's")


if __name__ == "__main__":
    main()

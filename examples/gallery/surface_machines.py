# /// script
# requires-python = ">=3.11"
# dependencies = ["sarrus[viz]"]
# ///
"""Machines of the library whose parts touch, and what their surfaces do: out/surface_machines.png."""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np
from numpy.typing import NDArray

import sarrus as sr

PICTURE = Path("out/surface_machines.png")
Array = NDArray[np.float64]


def click(t: float, q: Array, v: Array) -> Array:
    """Torque on the ratchet: forwards, and then back."""
    return np.array([-0.2 - 0.02 * v[0] if t < 0.4 else 0.5])


def close(t: float, q: Array, v: Array) -> Array:
    """Force on the door: shut, and then pulled."""
    return np.array([12.0 - 20.0 * v[0] if t < 0.6 else -30.0])


# what drives each, how long [s], what its curve shows and of which coordinate
RUNS = {
    "geneva_drive": (None, 2.0, "speed of the wheel [rad/s]", lambda run: run.v[:, 1]),
    "flying_follower": (None, 0.15, "height of the follower [mm]", lambda run: 1e3 * run.q[:, 1]),
    "ratchet": (click, 0.8, "angle of the wheel [rad]", lambda run: run.q[:, 0]),
    "spring_latch": (close, 1.0, "bolt [mm]", lambda run: 1e3 * run.q[:, 1]),
    "escapement": (None, 4.0, "angle of the wheel [half teeth]", lambda run: -run.q[:, 0] * 12 / np.pi),
}


def made(name: str) -> sr.Mechanism:
    """With the cam above the speed at which it loses its follower."""
    options = {"speed": 200.0} if name == "flying_follower" else {}
    mech: sr.Mechanism = getattr(sr.library, name)(**options)
    return mech


def main() -> dict[str, float]:
    """Draw them; returns how many impacts each run has had."""
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(2, len(RUNS), figsize=(19, 7.5), layout="constrained")
    impacts = {}
    for (name, (drive, until, words, curve)), (above, below) in zip(RUNS.items(), axes.T, strict=True):
        mech = made(name)
        run = sr.simulate(mech, (0.0, until), control=drive)
        mech.plot(run.at(0.35 * until).q, ax=above, masses=False)
        above.set_title(name)
        below.plot(run.t, curve(run))
        below.set(xlabel="t [s]", title=words)
        impacts[name] = float(sum(event.kind == "impact" for event in run.events))
        print(f"{name:16} {len(run.events):4} events, {run.message}")
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=100)
    plt.close(figure)
    print(f"Picture: {PICTURE}")
    return impacts


if __name__ == "__main__":
    main()

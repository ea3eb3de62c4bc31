# /// script
# requires-python = ">=3.11"
# dependencies = ["sarrus[viz]"]
# ///
"""The counterweight with which a slider-crank shakes its foundation least: out/balance.png."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

import sarrus as sr

PICTURE = Path("out/balance.png")
CRANK, ROD, SPEED, PISTON, PIN = 0.05, 0.3, 100.0, 0.8, 0.3  # [m], [m], [rad/s], [kg], [kg]


def slider_crank() -> sr.Mechanism:
    """At constant speed, with a counterweight opposite to the crank pin, as far from the shaft as that."""
    spec = sr.MechanismSpec(gravity=(0, 0, 0), name="slider_crank")
    mass = spec.parameter("counterweight", 0.0)
    spec.point("shaft", (0, 0, 0)).point("pin", (CRANK, 0, 0)).point("eye", (CRANK + ROD, 0, 0))
    small = {"inertia": (1e-9, 1e-9, 1e-9)}
    spec.part("crank", mass=PIN, com=(CRANK, 0, 0), **small)
    spec.part("weight", at=sr.Pose((-CRANK, 0, 0)), mass=mass, **small)
    spec.part("rod", mass=1e-6, **small)
    spec.part("piston", at=sr.Pose((CRANK + ROD, 0, 0)), mass=PISTON, **small)
    spec.joint("shaft", "ground", "crank", sr.Revolute("z"), at="shaft")
    spec.joint("weld", "crank", "weight", sr.Fixed(), at="shaft")
    spec.joint("pin", "crank", "rod", sr.Universal("z", "y"), at="pin")  # no redundant rows: every
    spec.joint("eye", "rod", "piston", sr.Spherical(), at="eye")  # reaction is the only one
    spec.joint("guide", "ground", "piston", sr.Prismatic("x"), at="eye")
    spec.constrain("motor", sr.Drive("shaft", lambda t: SPEED * t, lambda t: SPEED, lambda t: 0.0))
    for name in ("shaft", "guide"):
        spec.measure(name, sr.Reaction(name, "world"))
    return spec.compile()


def shaking(measures: dict[str, np.ndarray]) -> Any:
    """Force of the machine on its foundation over a turn (n, 2) [N]."""
    return -(measures["shaft"] + measures["guide"])[:, :2]


def main() -> dict[str, float]:
    """Optimize and draw; returns the counterweight [kg]."""
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    turn = sr.design.Run(np.linspace(0, 2 * np.pi / SPEED, 72, endpoint=False))
    engine = slider_crank()
    best = sr.optimize(engine, {"counterweight": (0.0, 3.0)}, lambda x: np.mean(shaking(x) ** 2), over=turn)
    figure, ax = plt.subplots(figsize=(8, 5), layout="constrained")
    for mech, label in ((engine, "without"), (best.mech, "with counterweight")):
        ax.plot(*shaking(turn.measures(mech)).T, label=label)
    ax.set(xlabel="force along the piston [N]", ylabel="force across [N]", title="shaking force over a turn")
    ax.set_aspect("equal")
    ax.set_ylim(-320, 460)
    ax.legend(loc="upper left")
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=110)
    plt.close(figure)
    print(f"counterweight {best.parameters['counterweight']:.4f} kg", end=", ")
    print(f"closed form {PIN + PISTON / 2:.4f} kg\nPicture: {PICTURE}")
    return best.parameters


if __name__ == "__main__":
    main()

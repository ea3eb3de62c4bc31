# /// script
# requires-python = ">=3.11"
# dependencies = ["sarrus[viz]"]
# ///
"""Three fingers hold a ball by friction, or lose it: out/three_fingers.png."""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np

import sarrus as sr

PICTURE = Path("out/three_fingers.png")
MASS, RADIUS, TIP, FRICTION = 0.3, 0.04, 0.01, 0.6
LEAST = MASS * 9.81 / (3 * FRICTION)  # [N] of each finger: friction carries the weight


def hand() -> sr.Mechanism:
    """Fingers that slide towards the middle, 120 degrees apart, with round tips on a ball."""
    spec = sr.MechanismSpec(name="three fingers")
    inertia = 0.4 * MASS * RADIUS**2
    spec.body("ball", joint=sr.Free(), mass=MASS, inertia=(inertia,) * 3)
    spec.surface("ball", "ball", sr.Sphere(RADIUS), friction=FRICTION)
    for k in range(3):
        c, s = np.cos(2 * np.pi * k / 3), np.sin(2 * np.pi * k / 3)
        at = sr.Pose(((RADIUS + TIP) * c, (RADIUS + TIP) * s, 0))
        spec.body(f"finger {k}", joint=sr.Prismatic((-c, -s, 0)), at=at, mass=0.05)
        spec.surface(f"tip {k}", f"finger {k}", sr.Sphere(TIP)).contact(f"tip {k}", "ball")
        spec.actuate(f"finger {k}")
    return spec.compile()


def main() -> dict[str, float]:
    """Hold with a little more and a little less than enough; returns how far the ball has sunk [m]."""
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    mech, sunk = hand(), {}
    start = mech.neutral()
    figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for share, ax in zip((1.05, 0.95), axes, strict=True):
        press = np.full(3, share * LEAST)
        run = sr.simulate(mech, (0.0, 0.1), start, control=lambda t, q, v, press=press: press)
        height = mech.index("ball").q.start + 2
        sunk[f"{share}"] = float(-run.q[-1, height])
        run.plot("contacts", ax=ax)
        ax.set_title(f"{share} of {LEAST:.3f} N: sunk by {1e3 * sunk[f'{share}']:.3f} mm")
        print(f"{share} of the least force: {run.message} Sunk by {1e3 * sunk[f'{share}']:.4f} mm")
        print(run.contacts)
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=100)
    plt.close(figure)
    print(f"Picture: {PICTURE}")
    return sunk


if __name__ == "__main__":
    main()

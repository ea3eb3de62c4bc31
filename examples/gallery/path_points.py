# /// script
# requires-python = ">=3.11"
# dependencies = ["sarrus[viz]"]
# ///
"""A four-bar for a path through 18 points, one every 20 degrees of the crank: out/path_points.png."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

import sarrus as sr

PICTURE = Path("out/path_points.png")
POINTS = np.array(
    [
        (0.5, 1.1), (0.4, 1.1), (0.3, 1.1), (0.2, 1.0), (0.1, 0.9), (0.05, 0.75), (0.02, 0.6), (0.0, 0.5),
        (0.0, 0.4), (0.03, 0.3), (0.1, 0.25), (0.15, 0.2), (0.2, 0.3), (0.3, 0.4), (0.4, 0.5), (0.5, 0.7),
        (0.6, 0.9), (0.6, 1.0),
    ]
)  # fmt: skip
CRANK = np.radians(20.0 * np.arange(18))
RANGES = {
    "x": (-1, 1), "y": (-1, 1), "base": (0.3, 2), "tilt": (-3, 3), "crank": (0.1, 0.6), "turned": (-3, 3),
    "cx": (-2, 2), "cy": (-2, 2), "px": (0.3, 0.7), "py": (0.9, 1.3),
}  # fmt: skip
START = (0.3, 0.2, 0.6, 0.3, 0.3, 0.5, 0.6, 1.0, 0.5, 1.1)


def four_bar() -> sr.Mechanism:
    """All its numbers are parameters: pins of the ground, crank and its first angle, two coupler points."""
    spec = sr.MechanismSpec(gravity=(0, 0, 0), name="path")
    given = (spec.parameter(name, value) for name, value in zip(RANGES, START, strict=True))
    x, y, base, tilt, crank, turned, cx, cy, px, py = given
    spec.point("A", (x, y, 0)).point("B", (x + crank * np.cos(turned), y + crank * np.sin(turned), 0))
    spec.point("D", (x + base * np.cos(tilt), y + base * np.sin(tilt), 0))
    spec.point("C", (cx, cy, 0)).point("P", (px, py, 0))
    spec.link("crank", "A", "B", mass=1).link("bar", "B", "C", mass=1).link("rocker", "D", "C", mass=1)
    for name, a, b in (
        ("A", "ground", "crank"), ("B", "crank", "bar"), ("C", "bar", "rocker"), ("D", "ground", "rocker"),
    ):  # fmt: skip
        spec.joint(name, a, b, sr.Revolute("z"), at=name)
    return spec.measure("P", sr.Position("bar", "P")).compile()


def missed(measures: dict[str, Any]) -> Any:
    """Sum of squared distances [m^2]."""
    return np.sum((measures["P"][:, :2] - POINTS) ** 2)


def main() -> dict[str, float]:
    """Optimize and draw; returns the root of the mean squared distance before and after [m]."""
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    mech = four_bar()
    best = sr.optimize(mech, RANGES, missed, over=sr.design.Sweep("A", CRANK), starts=4, seed=1)
    figure, ax = plt.subplots(figsize=(6, 6), layout="constrained")
    ax.plot(*POINTS.T, "o", label="to pass")
    for one, label in ((mech, "before"), (best.mech, "after")):
        path = one.sweep("A", np.linspace(0, 2 * np.pi, 181))["P"]
        ax.plot(path[:, 0], path[:, 1], label=label)
    ax.set(xlabel="x [m]", ylabel="y [m]", title="path of a coupler point")
    ax.set_aspect("equal")
    ax.legend()
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=110)
    plt.close(figure)
    before, after = (float(np.sqrt(x / len(POINTS))) for x in (best.before, best.objective))
    print(f"missed by {before:.3f} m before, {after:.3f} m after; gradient {best.gradient['objective']}")
    print(f"{best.message} {best.evaluations} designs\nPicture: {PICTURE}")
    return {"before": before, "after": after}


if __name__ == "__main__":
    main()

# /// script
# requires-python = ">=3.11"
# dependencies = ["sarrus[viz]"]
# ///
"""Lengths of a four-bar for a straight line, and the tolerances of its path: out/straight_line.png."""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np

import sarrus as sr

PICTURE = Path("out/straight_line.png")
HALF_TURN = sr.design.Sweep("A", np.radians(np.linspace(-90, 90, 25)))


def hoeken() -> sr.Mechanism:
    """A four-bar for a straight line, with a crank of 1 m (docs/design.md)."""
    spec = sr.MechanismSpec(gravity=(0, 0, 0), name="hoeken")
    ground, coupler = spec.parameter("ground", 2.1), spec.parameter("coupler", 2.65)
    half = (ground + 1) / 2
    top = np.sqrt(coupler**2 - half**2)
    spec.point("A", (0, 0, 0)).point("B", (-1, 0, 0)).point("D", (ground, 0, 0))
    spec.point("C", (ground - half, top, 0)).point("P", (2 * (ground - half) + 1, 2 * top, 0))
    spec.link("crank", "A", "B", mass=1).link("bar", "B", "C", "P", mass=1).link("rocker", "D", "C", mass=1)
    for name, a, b in (
        ("A", "ground", "crank"), ("B", "crank", "bar"), ("C", "bar", "rocker"), ("D", "ground", "rocker"),
    ):  # fmt: skip
        spec.joint(name, a, b, sr.Revolute("z"), at=name)
    spec.measure("P", sr.Position("bar", "P"))
    return spec.measure("reach", sr.Length("ground", "A", "bar", "P")).compile()


def waviness(measures: dict[str, np.ndarray]) -> float:
    """Height of the path over its length, the largest heights weigh most."""
    x, y = measures["P"][:, 0], measures["P"][:, 1]
    return np.mean((y - y.mean()) ** 8) ** (1 / 8) / np.ptp(x)


def main() -> dict[str, float]:
    """Optimize and draw; returns the lengths [m] and the ratio of random and first-order deviations."""
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, (path, spread) = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
    ranges = {"ground": (1.8, 2.6), "coupler": (2.3, 3.2)}
    best = sr.optimize(hoeken(), ranges, waviness, over=HALF_TURN, tol=1e-5)
    for mech, label in ((hoeken(), "before"), (best.mech, "straightest")):
        P = mech.sweep("A", np.radians(np.linspace(-90, 90, 91)))["P"]
        path.plot(P[:, 0], 1e3 * (P[:, 1] - P[45, 1]), label=label)
    path.set(xlabel="x [m]", ylabel="deviation from a straight line [mm]", title="path of a four-bar")
    path.legend()
    found = sr.tolerances(best.mech, {"ground": 1e-3, "coupler": 1e-3}, over=HALF_TURN, samples=400)
    found.plot("reach", ax=spread)
    spread.set_title("400 mechanisms with deviations of 1 mm")
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=110)
    plt.close(figure)
    ratio = float(found.spread("reach").max() / found.deviation["reach"].max())
    results = best.parameters | {"deviation": ratio}
    print({name: round(value, 4) for name, value in results.items()}, f"\nPicture: {PICTURE}")
    return results


if __name__ == "__main__":
    main()

# /// script
# requires-python = ">=3.11"
# dependencies = ["sarrus[viz]"]
# ///
"""Sarrus' linkage: what it can do, why it is hard, how it falls: out/sarrus_linkage.png."""

from __future__ import annotations

import math
from pathlib import Path

import matplotlib
import numpy as np

import sarrus as sr

PICTURE = Path("out/sarrus_linkage.png")


def main() -> dict[str, float]:
    """Report and let go; returns the acceleration of the plate [m/s^2, rad/s^2]."""
    linkage = sr.library.sarrus()
    print(
        "Sarrus' linkage (1853): a plate on two folding legs, each of two panels and three hinges, at a\n"
        "right angle to each other. Nothing in it slides, yet the plate can only go straight up and down.\n"
    )
    print(linkage)

    q, v = linkage.default.q, linkage.default.v
    print("\nLet go from rest with the lower panels 57 degrees steep")
    try:
        linkage.forward_dynamics(q, v, formulation="lagrange")
    except sr.SingularConstraintError as error:
        print(f"  the textbook equations (Lagrange multipliers) have no unique solution: rank {error.rank},")
        print(f"    row {', '.join(error.rows)} repeats what others say")
    motion = linkage.forward_dynamics(q, v)
    plate = linkage.body_acceleration(q, v, motion.a, "plate")
    print("  split into what moves and what the hinges hold, they have one answer:")
    print(f"    the plate accelerates by {plate[2]:+.4f} m/s^2 straight along z,")
    print(f"    sideways {np.abs(plate[:2]).max():.0e} m/s^2, turning {np.abs(plate[3:]).max():.0e} rad/s^2")

    draw(linkage)
    print(f"\nPicture: {PICTURE}")
    return {
        "up": float(plate[2]),
        "sideways": float(np.abs(plate[:2]).max()),
        "turning": float(np.abs(plate[3:]).max()),
    }


def draw(linkage: sr.Mechanism) -> None:
    """Panels and plate at three heights, on the path that the linkage allows."""
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    faces = {"lower1": 0.3, "upper1": 0.3, "lower2": 0.3, "upper2": 0.3, "plate": -0.4}  # length [m]
    colors = dict(zip(faces, ("tab:blue", "tab:blue", "tab:orange", "tab:orange", "tab:green"), strict=True))
    angles = np.linspace(1.3, 0.3, 3)
    figure = plt.figure(figsize=(11, 4.2), layout="constrained")
    for i, (angle, q) in enumerate(zip(angles, linkage.sweep("lower1", angles).q, strict=True), start=1):
        axes = figure.add_subplot(1, 3, i, projection="3d", proj_type="ortho")
        for body, size in faces.items():
            corners = [(0.0, -0.2, 0.0), (size, -0.2, 0.0), (size, 0.2, 0.0), (0.0, 0.2, 0.0)]
            outline = [[linkage.pose(q, body).apply(p) for p in corners]]
            face = Poly3DCollection(outline, alpha=0.6, facecolor=colors[body], edgecolor="k")
            axes.add_collection3d(face)
        axes.set(xlim=(-0.3, 0.5), ylim=(-0.3, 0.5), zlim=(0.0, 0.65))
        axes.set(xlabel="x [m]", ylabel="y [m]", zlabel="z [m]")
        axes.set_title(f"panels at {math.degrees(angle):.0f} deg")
        axes.set_box_aspect((0.8, 0.8, 0.65))
        axes.view_init(elev=18, azim=-130)
    PICTURE.parent.mkdir(exist_ok=True)
    figure.suptitle("Sarrus' linkage: the plate (green) moves on one vertical line")
    figure.savefig(PICTURE, dpi=120)
    plt.close(figure)


if __name__ == "__main__":
    main()

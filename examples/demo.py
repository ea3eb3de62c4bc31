# /// script
# requires-python = ">=3.11"
# dependencies = ["sarrus[viz]"]
# ///
"""Sarrus' linkage: what it can do, why it is hard, how it falls, and a picture of it in out/sarrus.png."""

from __future__ import annotations

import math
from pathlib import Path

import matplotlib
import numpy as np

import sarrus as sr

PICTURE = Path("out/sarrus.png")


def main() -> float:
    """Run the demo; returns the plate's upward acceleration when let go [m/s^2]."""
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
        print(
            f"  the textbook equations with Lagrange multipliers have no unique solution (rank {error.rank}):"
        )
        print(f"    row {', '.join(error.rows)} repeats what others say")
    motion = linkage.forward_dynamics(q, v)
    plate = linkage.body_acceleration(q, v, motion.a, "plate")
    print("  split into what moves and what the hinges hold, they have one answer:")
    print(f"    the plate accelerates by {plate[2]:+.4f} m/s^2 straight along z,")
    print(f"    sideways {np.abs(plate[:2]).max():.0e} m/s^2, turning {np.abs(plate[3:]).max():.0e} rad/s^2")

    draw(linkage)
    print(f"\nPicture: {PICTURE}")
    return float(plate[2])


def draw(linkage: sr.Mechanism) -> None:
    """Panels and plate at three heights, on the path that the linkage allows."""
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    angles = np.linspace(1.3, 0.3, 3)
    figure = plt.figure(figsize=(11, 4.2), layout="constrained")
    for i, (angle, q) in enumerate(zip(angles, linkage.sweep("lower1", angles).q, strict=True), start=1):
        axes = figure.add_subplot(1, 3, i, projection="3d", proj_type="ortho")
        for body, size, color in (
            ("lower1", 0.3, "tab:blue"),
            ("upper1", 0.3, "tab:blue"),
            ("lower2", 0.3, "tab:orange"),
            ("upper2", 0.3, "tab:orange"),
            ("plate", -0.4, "tab:green"),
        ):
            corners = [(0.0, -0.2, 0.0), (size, -0.2, 0.0), (size, 0.2, 0.0), (0.0, 0.2, 0.0)]
            pose = linkage.pose(q, body)
            face = Poly3DCollection(
                [[pose.apply(p) for p in corners]], alpha=0.6, facecolor=color, edgecolor="k"
            )
            axes.add_collection3d(face)
        axes.set(
            xlim=(-0.3, 0.5),
            ylim=(-0.3, 0.5),
            zlim=(0.0, 0.65),
            title=f"panels at {math.degrees(angle):.0f} deg",
        )
        axes.set_box_aspect((0.8, 0.8, 0.65))
        axes.view_init(elev=18, azim=-130)
    PICTURE.parent.mkdir(exist_ok=True)
    figure.suptitle("Sarrus' linkage: the plate (green) moves on one vertical line")
    figure.savefig(PICTURE, dpi=120)
    plt.close(figure)


if __name__ == "__main__":
    main()

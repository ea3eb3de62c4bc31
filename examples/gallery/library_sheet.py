# /// script
# requires-python = ">=3.11"
# dependencies = ["sarrus[viz]"]
# ///
"""All mechanisms of the library on one sheet: out/library_sheet.png."""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np

import sarrus as sr

PICTURE = Path("out/library_sheet.png")
COLUMNS = 6


def main(size: tuple[int, int] = (560, 420)) -> dict[str, float]:
    """Paint every mechanism at its default pose; returns how many there are, and the least share of ink."""
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    names = list(sr.library.names())
    rows = -(-len(names) // COLUMNS)
    figure, axes = plt.subplots(rows, COLUMNS, figsize=(2.9 * COLUMNS, 2.4 * rows), layout="constrained")
    shares = []
    for ax in axes.flat:
        ax.set_axis_off()
    for ax, name in zip(axes.flat, names, strict=False):
        mech = getattr(sr.library, name)()
        pixels = sr.viz.picture(mech, size=size, background="white")
        shares.append(float(np.mean(np.any(pixels[..., :3] < 250, axis=2))))
        mobility = mech.mobility()
        ax.imshow(pixels)
        ax.set_title(f"{name}: mobility {mobility.dof}", fontsize=9)
        print(f"{name:20s} {len(mech.body_names) - 1:3d} bodies, mobility {mobility.dof}")
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=110)
    plt.close(figure)
    print(f"\nPicture: {PICTURE}")
    return {"count": len(names), "least_ink": min(shares)}


if __name__ == "__main__":
    main()

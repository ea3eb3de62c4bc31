# /// script
# requires-python = ">=3.11"
# dependencies = ["sarrus[viz]"]
# ///
"""Six machines of the library that are described as drawn, in two poses each: out/machines.png."""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np

import sarrus as sr

PICTURE = Path("out/machines.png")
# the coordinate that moves, how far [rad, m], and what is held meanwhile
MOVES: dict[str, tuple[str, float, dict[str, float]]] = {
    "peaucellier": ("crank_pin", -1.2, {}),
    "scissor_lift": ("foot_slide", -0.5, {}),
    "folding_chair": ("slot", 0.28, {}),
    "double_wishbone": ("lower", 0.2, {"rack_slide": 0.0}),
    "excavator": ("bucket_cylinder", 0.35, {"boom_cylinder": 0.0, "stick_cylinder": 0.0}),
    "landing_gear": ("cylinder", -0.22, {}),
}


def main() -> dict[str, float]:
    """Draw them; returns the largest gap of a loop [m, rad] over all poses."""
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, open_by = plt.figure(figsize=(13, 8), layout="constrained"), 0.0
    for k, (name, (coordinate, far, held)) in enumerate(MOVES.items(), 1):
        mech: sr.Mechanism = getattr(sr.library, name)()
        path = mech.sweep(coordinate, np.linspace(0.0, far, 21), fixed=held).q
        open_by = max(open_by, *(float(np.abs(mech.terms(q, mech.default.v).phi).max()) for q in path))
        space = {"projection": "3d", "proj_type": "ortho"} if name == "double_wishbone" else {}
        ax = figure.add_subplot(2, 3, k, **space)
        mech.plot(path[-1], ax=ax, alpha=0.25, masses=False)
        mech.plot(ax=ax, masses=False, labels=name in ("double_wishbone", "landing_gear"))
        ax.set_title(name)
        print(f"{name:16} {mech.nv:3} coordinates {mech.nc:3} rows, moved by {coordinate} = {far}")
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=110)
    plt.close(figure)
    print(f"loops are open by {open_by:.0e} at most\nPicture: {PICTURE}")
    return {"open": open_by}


if __name__ == "__main__":
    main()

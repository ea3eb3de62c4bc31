# /// script
# requires-python = ">=3.11"
# dependencies = ["sarrus[viz]"]
# ///
"""Machines of the library that are described as drawn, in two poses each: out/machines.png."""

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
    "planetary_gearbox": ("gears_sun", 1.2, {}),
    "cam_follower": ("shaft", 2.4, {}),
    "wiper": ("motor", 2.6, {}),
    "toggle_clamp": ("link_pin", -1.2, {}),
    "six_bar_press": ("crank_shaft", 2.6, {}),
}
SPATIAL = ("double_wishbone", "bicycle")


def swept(mech: sr.Mechanism, coordinate: str, far: float, held: dict[str, float]) -> tuple[np.ndarray, str]:
    """Poses on the way, and what moved."""
    return mech.sweep(coordinate, np.linspace(0.0, far, 21), fixed=held).q, f"{coordinate} = {far}"


def ridden(mech: sr.Mechanism) -> tuple[np.ndarray, str]:
    """Poses of a bicycle that was pushed to the side: where wheels get by rolling depends on the path."""
    v = mech.consistent_velocity(mech.default.q, fixed={"place.vx": 5.0, "place.wx": 0.5, "steering": 0.0})
    q = np.array(sr.simulate(mech, (0.0, 0.4), v0=v).q)
    q[:, :2] -= q[-1, :2]  # drawn at the place of the start
    return q, "a push to the side, 0.4 s of riding"


def main() -> dict[str, float]:
    """Draw them; returns the largest gap of a loop [m, rad] over all poses."""
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, open_by = plt.figure(figsize=(15, 11), layout="constrained"), 0.0
    for k, name in enumerate([*MOVES, "bicycle"], 1):
        mech: sr.Mechanism = getattr(sr.library, name)()
        path, words = swept(mech, *MOVES[name]) if name in MOVES else ridden(mech)
        open_by = max(open_by, *(float(np.abs(mech.terms(q, mech.default.v).phi).max()) for q in path))
        space = {"projection": "3d", "proj_type": "ortho"} if name in SPATIAL else {}
        ax = figure.add_subplot(3, 4, k, **space)
        mech.plot(path[-1], ax=ax, alpha=0.25, masses=False)
        mech.plot(ax=ax, masses=False, labels=name in ("double_wishbone", "landing_gear"))
        ax.set_title(name)
        print(f"{name:17} {mech.nv:3} coordinates {mech.nc:3} rows, moved by {words}")
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=110)
    plt.close(figure)
    print(f"loops are open by {open_by:.0e} at most\nPicture: {PICTURE}")
    return {"open": open_by}


if __name__ == "__main__":
    main()

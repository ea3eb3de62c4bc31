# /// script
# requires-python = ">=3.11"
# dependencies = ["sarrus[viz]"]
# ///
"""Ways out of singular poses, of a five-bar and of a row of four-bars: out/branches.png.

Where a mechanism loses rank, not every velocity that its Jacobian allows continues into a motion. The
N-four-bar that lies flat (N = 2) has three infinitesimal freedoms and three motions of one freedom each. The
five-bar with all pins in one line has three as well, but its motions form a cone: two freedoms, and a circle
of directions to leave in.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np

import sarrus as sr

PICTURE = Path("out/branches.png")
REACH = 1.0  # length of the paths [rad]


def main() -> dict[str, float]:
    """Find the branches and draw them; returns their numbers and how well they hold."""
    row, flat = sr.library.n_four_bar(2), np.pi / 2 * np.array([-1, 1, -1, 1, -1])
    five = sr.library.five_bar("singular")
    rows, cones = row.branches(flat), five.branches()
    for name, mech, q, found in (("N-four-bar", row, flat, rows), ("five-bar", five, five.default.q, cones)):
        print(f"{name}: {mech.mobility(q).dof} freedoms in velocity, {len(found)} branch(es)")
        for branch in found:
            kind = f"a cone, {len(branch.directions)} directions found" if branch.curved else "a line"
            direction = " ".join(f"{x:+.3f}" for x in branch.direction)
            print(f"   {branch.mobility} freedom(s), {kind}; along ({direction})")
    paths = [row.assemble(q).residual for branch in rows for q in branch.path(REACH, 6)]
    runs = [sr.simulate(row, (0.0, 0.3), flat, 2.0 * branch.direction) for branch in rows]
    draw(row, rows, five, cones[0])
    print(f"Picture: {PICTURE}")
    drift = max(run.drift.max() for run in runs)
    return {"branches": len(rows), "cone_mobility": cones[0].mobility, "open": max(paths), "drift": drift}


def draw(row: sr.Mechanism, rows: tuple[sr.Branch, ...], five: sr.Mechanism, cone: sr.Branch) -> None:
    """Above, the three motions of the row both ways; below, the five-bar's cone and poses around it."""
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure = plt.figure(figsize=(12.0, 7.4), layout="constrained")
    above, below = figure.subfigures(2, 1, height_ratios=(0.7, 1.1))
    above.suptitle("N-four-bar lying flat: three freedoms in velocity, three motions of one freedom")
    for ax, branch in zip(above.subplots(1, len(rows)), rows, strict=True):
        for reach in (2.0 * REACH, -2.0 * REACH):
            sr.viz.draw_path(row, branch.path(reach, 7), ax)
        ax.set(xlim=(-0.7, 3.7), ylim=(-1.2, 1.2), xlabel="", ylabel="", xticks=[], yticks=[])
        speeds = np.abs(branch.direction[::2]) / np.abs(branch.direction[::2]).max()
        ax.set_title("uprights move as " + " : ".join(f"{x:.0f}" for x in speeds), fontsize=10)
    below.suptitle("Five-bar with its pins in one line: a cone of directions, two freedoms on each")
    grid = below.add_gridspec(2, 5)
    space, y = sr.viz.draw_cone(cone, below.add_subplot(grid[:, 0:2], projection="3d"))
    across = y[:, :2] * np.sign(y[:, 2:]) / np.hypot(*y[:, :2].T)[:, None]
    for k, wanted in enumerate(np.linspace(-np.pi, np.pi, 6, endpoint=False)):
        i = int(np.argmax(across @ [np.cos(wanted), np.sin(wanted)]))
        space.text(*(1.15 * y[i]), str(k + 1), fontsize=11)
        ax = below.add_subplot(grid[k // 3, 2 + k % 3])
        sr.viz.draw_path(five, cone.path(REACH, 5, cone.directions[i]), ax)
        ax.set(xlim=(-1.4, 2.4), ylim=(-1.5, 1.5), xlabel="", ylabel="", xticks=[], yticks=[])
        ax.set_title(f"direction {k + 1}", fontsize=10)
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=110)
    plt.close(figure)


if __name__ == "__main__":
    main()

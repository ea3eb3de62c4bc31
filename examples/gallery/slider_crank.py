# /// script
# requires-python = ">=3.11"
# dependencies = ["sarrus[viz]"]
# ///
"""Slider-crank through its singular poses, [Aghili2005] section VIII-A, figure 4: out/slider_crank.png.

Crank and rod of 1 m, 1 kg at each end, 1 N m on the crank, from rest at q1 = 2 pi / 3. The paper does not say
whether gravity acts; here it does (9.81 m/s^2 along -y), for 3 s. Wherever the crank stands upright,
q1 = 3 pi / 2 and 5 pi / 2 (= pi / 2), the one constraint row vanishes. lam is minus the paper's lambda.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np

import sarrus as sr

PICTURE = Path("out/slider_crank.png")
LAM_SHOWN = 60.0  # [N]; the multiplier itself has no bound


def main(duration: float = 3.0) -> dict[str, float]:
    """Run it; returns how lam and the constraint force behave at the singular poses."""
    mech = sr.library.slider_crank()
    run = sr.simulate(mech, (0.0, duration), tau=[1.0, 0.0], dt=1e-3)
    force, lam = run.constraint_force, run.lam[:, 0]
    passes = np.searchsorted(run.t, [event.t for event in run.events])  # first step after each pass
    near = np.abs(np.arange(len(run.t))[:, None] - passes).min(axis=1) <= 3
    steps = np.abs(np.diff(force, axis=0)).max(axis=1)  # change of the constraint force per step
    work = run.tau[0, 0] * (run.q[:, 0] - run.q[0, 0])  # of the torque [J]
    result = {
        "passes": len(run.events),
        "off_upright": max(abs(np.cos(event.q[0])) for event in run.events),
        "lam_jump": min(abs(lam[i] - lam[i - 1]) for i in passes),
        "force_step": steps[near[1:]].max(),
        "force_step_elsewhere": steps[~near[1:]].max(),
        "drift": run.drift.max(),
        "energy_error": np.abs(run.energy - run.energy[0] - work).max(),
    }
    print(f"crank upright at t = {', '.join(f'{event.t:.6f}' for event in run.events)} s")
    print(f"there the multiplier jumps by at least {result['lam_jump']:.0f} N from one step to the next,")
    print(f"while the constraint force changes by at most {result['force_step']:.2f} N m")
    print(f"(elsewhere by up to {result['force_step_elsewhere']:.2f} N m per step of 1 ms);")
    print(f"loop open by at most {result['drift']:.0e} m, energy off by {result['energy_error']:.0e} J")
    draw(run)
    print(f"Picture: {PICTURE}")
    return {name: float(value) for name, value in result.items()}


def draw(run: sr.Trajectory) -> None:
    """The four panels of the paper, and the mechanism before, at and after its singular pose."""
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure = plt.figure(figsize=(11.0, 8.0), layout="constrained")
    left, right = figure.subfigures(1, 2, width_ratios=(1.0, 3.2))
    figure.suptitle("Slider-crank through its singular poses [Aghili2005], figure 4", fontsize=13)
    singular = run.events[0].t
    for ax, shift in zip(left.subplots(3, 1), (-0.15, 0.0, 0.15), strict=True):
        run.system.plot(run.at(singular + shift).q, ax)
        ax.set(xlim=(-1.2, 1.2), ylim=(-1.25, 0.5), xlabel="", ylabel="")
        ax.set_title(f"{singular + shift:.2f} s" + ("" if shift else ", singular"), fontsize=10)
    panels = right.subplots(4, 1, sharex=True)
    for ax, what in zip(panels, ("q", "v", "constraint_force", "lam"), strict=True):
        run.plot(what, ax).set_xlabel("")
    panels[3].set(xlabel="t [s]", ylim=(-LAM_SHOWN, LAM_SHOWN))
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=110)
    plt.close(figure)


if __name__ == "__main__":
    main()

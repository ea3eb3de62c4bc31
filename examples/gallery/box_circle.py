# /// script
# requires-python = ">=3.11"
# dependencies = ["sarrus[viz,qp]"]
# ///
"""A box goes round a circle; a person holds it for a second, [Lin2018] IV-B, figure 8: out/box_circle.png.

The arms and the box of box_pushed.py. The circle lies in the y-z plane, radius 0.1 m, 0.4 turns per second
(the paper gives neither); from 3 to 4 s a person holds the box where it is. Stiffness 500 N/m, 50 N m/rad,
mu = 0.5. Once with the box taken for massless, as in the paper, where it runs low all the way round, and
once with its inertia in the model.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import matplotlib
import numpy as np
import numpy.typing as npt

import sarrus as sr
from sarrus import control as sc

Array = npt.NDArray[np.float64]

PICTURE = Path("out/box_circle.png")
DT = 4e-3  # [s] of a step and of a sample of the control
RADIUS, OMEGA, SOFT = 0.1, 2.0 * np.pi * 0.4, 0.6  # [m], [rad/s], [s] to grow from nothing
HOLD = 3.0, 4.0  # [s]
HAND = 2000.0, 100.0  # stiffness and damping of the person's hand [N/m, N s/m]


def main(duration: float = 6.0) -> dict[str, float]:
    """Run it; returns tracking errors and what the person did."""
    mech = sr.library.dual_arm_box()
    sides = ("left", "right")
    patches = [sc.Patch(f"grip_{s}", 0.5, torsion=0.04, half=(0.06, 0.06), least=10.0) for s in sides]
    grasp = sc.Grasp(mech, "box", patches)
    runs = {}
    for name, massless in (("massless", True), ("inertial", False)):
        estimator = sc.WrenchEstimator(mech, "box", massless=massless)
        law = sc.ObjectImpedance(
            mech, grasp, circle(mech), (500.0, 50.0), massless=massless, external=estimator
        )
        runs[name] = follow(mech, grasp, law, duration)
    paper, ours = runs["massless"], runs["inertial"]
    free = (paper["t"] > 1.5) & (paper["t"] < HOLD[0]) | (paper["t"] > HOLD[1] + 1.5)
    held = (paper["t"] > HOLD[0]) & (paper["t"] < HOLD[1])
    result = {
        "low_massless": (paper["z_d"] - paper["z"])[free].mean(),
        "error_inertial": np.hypot(ours["y_d"] - ours["y"], ours["z_d"] - ours["z"])[free].max(),
        "held_off": np.hypot(ours["y_d"] - ours["y"], ours["z_d"] - ours["z"])[held].max(),
        "expected_off": np.abs(ours["expected"] - ours["measured"])[free].max(),
        "squeeze_held": ours["measured"][held].max(),
        "squeeze_free": ours["measured"][free].max(),
    }
    print(f"taken for massless the box runs {1e3 * result['low_massless']:.1f} mm low (weight / stiffness:")
    print(
        f"{1e3 * 0.7 * 9.81 / 500.0:.1f} mm); with its inertia {1e6 * result['error_inertial']:.0f} um off."
    )
    print(f"Held by a person it is up to {1e3 * result['held_off']:.0f} mm behind and squeezed with up to")
    print(f"{result['squeeze_held']:.0f} N, else {result['squeeze_free']:.0f} N")
    draw(paper, ours)
    print(f"Picture: {PICTURE}")
    return {name: float(value) for name, value in result.items()}


def circle(mech: sr.Mechanism) -> Callable[[float], tuple[sr.Pose, Array, Array]]:
    """Pose, velocity and acceleration; starts at rest, its radius and speed grow smoothly."""
    start = mech.pose(mech.default.q, "box")

    def reference(t: float) -> tuple[sr.Pose, Array, Array]:
        x, v, a = np.zeros(3), np.zeros(6), np.zeros(6)
        s = min(t / SOFT, 1.0)  # share of full speed; the phase is its integral
        phase = OMEGA * (SOFT * (s**3 - 0.5 * s**4) if s < 1.0 else t - 0.5 * SOFT)
        rate = OMEGA * (3.0 * s**2 - 2.0 * s**3)
        change = OMEGA * (6.0 * s - 6.0 * s**2) / SOFT
        c, d = np.cos(phase), np.sin(phase)
        x[1:] = RADIUS * (c - 1.0), RADIUS * d
        v[1:3] = -RADIUS * d * rate, RADIUS * c * rate
        a[1:3] = RADIUS * np.array([-c * rate**2 - d * change, -d * rate**2 + c * change])
        return sr.Pose(start.xyz + x, matrix=start.rotation), v, a

    return reference


def follow(mech: sr.Mechanism, grasp: sc.Grasp, law: sc.ObjectImpedance, duration: float) -> dict[str, Array]:
    """One run as arrays over all samples."""
    expected: list[float] = []
    caught: list[Array] = []

    def control(t: float, q: Array, v: Array) -> Array:
        found = law.solve(t, q, v)
        expected.append(float(np.linalg.norm(found.contact_wrenches["grip_left"][:3])))
        return found.u

    def person(t: float, q: Array, v: Array) -> Array:
        if not HOLD[0] < t < HOLD[1]:
            return np.zeros(mech.nv)
        J, place = mech.jacobian(q, "box")[:3], mech.pose(q, "box").xyz
        if not caught:
            caught.append(place)
        return J.T @ (HAND[0] * (caught[0] - place) - HAND[1] * (J @ v))

    run = sr.simulate(mech, (0.0, duration), control=control, control_dt=DT, dt=DT, tau=person)
    places = np.array([mech.pose(q, "box").xyz for q in run.q])
    wanted = np.array([circle(mech)(t)[0].xyz for t in run.t])
    measured = [np.linalg.norm(grasp.wrenches(grasp.components(lam))["grip_left"][:3]) for lam in run.lam]
    n = min(len(run.t), len(expected))
    names = ("t", "y", "z", "y_d", "z_d", "expected", "measured")
    parts = (run.t, *places.T[1:], *wanted.T[1:], expected, measured)
    return {name: np.asarray(part)[:n] for name, part in zip(names, parts, strict=True)}


def draw(paper: dict[str, Array], ours: dict[str, Array]) -> None:
    """The panels of figure 8."""
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(3, 1, figsize=(9.0, 8.0), sharex=True, layout="constrained")
    figure.suptitle("A box on a circle, held by a person for a second [Lin2018], figure 8", fontsize=13)
    for ax, axis in zip(axes, ("y", "z"), strict=False):
        ax.plot(ours["t"], ours[f"{axis}_d"], "k--", lw=1.0, label="desired")
        ax.plot(paper["t"], paper[axis], label="massless model, as in the paper")
        ax.plot(ours["t"], ours[axis], label="inertia in the model")
        ax.set_ylabel(f"{axis} [m]")
    axes[0].legend(ncols=3, loc="lower left", bbox_to_anchor=(0.0, 1.0), frameon=False)
    axes[2].plot(ours["t"], ours["measured"], "C3", label="in the simulation")
    axes[2].plot(ours["t"], ours["expected"], "C0--", label="expected by the law")
    axes[2].set(xlabel="t [s]", ylabel="contact force, left hand [N]")
    axes[2].legend()
    for ax in axes:
        ax.axvspan(*HOLD, color="0.9")
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=110)
    plt.close(figure)


if __name__ == "__main__":
    main()

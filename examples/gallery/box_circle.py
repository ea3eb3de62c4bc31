# /// script
# requires-python = ">=3.11"
# dependencies = ["sarrus[viz,qp]"]
# ///
"""A box on a circle, held by a person for a second, [Lin2018] IV-B, figure 8: out/box_circle.{png,html}.

The box of box_pushed.py; a circle in the plane of symmetry of the arms (x-z), radius 0.1 m, 0.4 turns per
second (ours); from 3 to 4 s a person holds the box. Once by the law of the paper (massless, so it runs low by
weight / stiffness), once with its inertia. Paper and model: less force on the way down.
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import sarrus as sr
from sarrus import control as sc

PICTURE, PAGE = Path("out/box_circle.png"), Path("out/box_circle.html")
DT, RADIUS, OMEGA, SOFT, HOLD = 4e-3, 0.1, 0.8 * np.pi, 0.6, (3.0, 4.0)  # [s], [m], [rad/s], [s], [s]


def circle(t: float, start: sr.Pose) -> tuple[sr.Pose, np.ndarray, np.ndarray]:
    s = min(t / SOFT, 1.0)
    angle = OMEGA * (SOFT * (s**3 - 0.5 * s**4) + max(t - SOFT, 0.0))
    rate, change = OMEGA * (3.0 * s**2 - 2.0 * s**3), OMEGA * 6.0 * s * (1.0 - s) / SOFT
    out, along = np.zeros(6), np.zeros(6)
    out[[0, 2]], along[[0, 2]] = (np.cos(angle), np.sin(angle)), (-np.sin(angle), np.cos(angle))
    place = sr.Pose(start.xyz + RADIUS * (out[:3] - [1.0, 0.0, 0.0]), matrix=start.rotation)
    return place, RADIUS * rate * along, RADIUS * (change * along - rate**2 * out)


def main(duration: float = 6.0) -> dict[str, float]:
    mech = sr.library.dual_arm_box()
    start, caught, found = mech.pose(mech.default.q, "box"), [], []
    patch = {"mu": 0.5, "torsion": 0.04, "half": (0.06, 0.06), "least": 10.0}
    grasp = sc.Grasp(mech, "box", [sc.Patch("grip_left", **patch), sc.Patch("grip_right", **patch)])

    def person(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        J, place = mech.jacobian(q, "box")[:3], mech.pose(q, "box").xyz
        caught[:] = [place] if t <= HOLD[0] else caught
        return J.T @ (2000.0 * (caught[0] - place) - 100.0 * (J @ v)) * (HOLD[0] < t < HOLD[1])

    printed = {"massless": True, "external": "displacement", "reserve": (0.0, 0.0)}  # as the paper has it
    for kind in ({}, printed):
        law = sc.ObjectImpedance(mech, grasp, lambda t: circle(t, start), **kind)
        run = sr.simulate(mech, (0.0, duration), control=law, control_dt=DT, dt=DT, tau=person)
        places = np.array([one.xyz[[0, 2]] for one in mech.pose(run.q, "box")]).T
        wanted = np.array([circle(t, start)[0].xyz[[0, 2]] for t in run.t]).T
        both = grasp.components(run.lam), [one.contact_forces for one in law.history(run).solutions]
        found.append([run.t, *places, *wanted, *(np.linalg.norm(np.array(f)[:, :3], axis=1) for f in both)])
    (t, *ours), (_, *paper) = found
    free, held = (t > 1.5) & (t < HOLD[0]), (t > HOLD[0]) & (t < HOLD[1])
    off, low = np.hypot(ours[2] - ours[0], ours[3] - ours[1]), 1e3 * (paper[3] - paper[1])[free].mean()
    print(f"taken for massless the box runs {low:.1f} mm low, else {1e3 * off[free].max():.2f} mm off; held")
    print(f"{1e3 * off[held].max():.0f} mm off, pressed with {ours[4][held].max():.0f} N. {PICTURE}, {PAGE}")
    pulls = [person(*state)[-6:-3] for state in zip(t, run.q, run.v, strict=True)]  # in the axes of the box
    forces = [x.rotation @ pull for x, pull in zip(mech.pose(run.q, "box"), pulls, strict=True)]
    charts = {"z [m]": {"desired --": ours[3], "massless": paper[1], "with inertia": ours[1]}}
    charts["force of the left hand [N]"] = {"simulated": paper[4], "expected --": paper[5]}
    show = {"arrows": {"person": ("box", (0.0, 0.0, 0.0), forces)}, "trace": ("box", (0.0, 0.0, 0.0))}
    run.export(PAGE, title="A circle, by the paper's law", charts=charts, thickness=0.08, **show)
    axes = (figure := Figure(figsize=(9.0, 8.0), layout="constrained")).subplots(3, 1, sharex=True)
    axes[0].plot(t, ours[2], "k--", t, paper[0], t, ours[0])
    axes[1].plot(t, ours[3], "k--", t, paper[1], t, ours[1])
    axes[2].plot(t, paper[4], "C3", t, paper[5], "C0--", t, ours[4], "C1")
    axes[1].legend(("desired", "massless, as in the paper", "inertia in the model"))
    axes[2].legend(("as in the paper", "expected there", "inertia in the model, with a reserve"))
    for ax, label in zip(axes, ("x [m]", "z [m]", "force of the left hand [N]"), strict=True):
        ax.set(ylabel=label, xlabel="t [s]", title="A box on a circle [Lin2018]" * (ax is axes[0]))
    figure.savefig(PICTURE, dpi=110)
    turn, up = (t > 0.5) & (t < HOLD[0]), np.gradient(ours[3]) > 0.0  # one turn
    print(f"force down over up: {(down := paper[4][turn & ~up].mean() / paper[4][turn & up].mean()):.3f}")
    squeeze = {"down": down, "squeeze_free": ours[4][free].max(), "squeeze_held": ours[4][held].max()}
    return {"low": 1e-3 * low, "off": off[free].max(), "held_off": off[held].max()} | squeeze


if __name__ == "__main__":
    main()

# /// script
# requires-python = ">=3.11"
# dependencies = ["sarrus[viz,qp]"]
# ///
"""A box goes round a circle; a person holds it for a second, [Lin2018] IV-B, figure 8: out/box_circle.png.

The box of box_pushed.py; the circle lies in the y-z plane, radius 0.1 m, 0.4 turns per second (ours); from 3
to 4 s a person holds the box where it is. Once with the box taken for massless, as in the paper, where it
runs low all the way round, once with its inertia in the model. 500 N/m, 50 N m/rad, mu = 0.5.
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import sarrus as sr
from sarrus import control as sc

PICTURE = Path("out/box_circle.png")
DT, RADIUS, OMEGA, SOFT, HOLD = 4e-3, 0.1, 0.8 * np.pi, 0.6, (3.0, 4.0)  # [s], [m], [rad/s], [s], [s]


def circle(t: float, start: sr.Pose) -> tuple[sr.Pose, np.ndarray, np.ndarray]:
    """Pose, velocity and acceleration; the speed grows smoothly from rest."""
    s = min(t / SOFT, 1.0)
    angle = OMEGA * (SOFT * (s**3 - 0.5 * s**4) + max(t - SOFT, 0.0))
    rate, change = OMEGA * (3.0 * s**2 - 2.0 * s**3), OMEGA * 6.0 * s * (1.0 - s) / SOFT
    out, along = np.array([0.0, np.cos(angle), np.sin(angle)]), np.array([0.0, -np.sin(angle), np.cos(angle)])
    place = sr.Pose(start.xyz + RADIUS * (out - [0.0, 1.0, 0.0]), matrix=start.rotation)
    v, a = RADIUS * rate * along, RADIUS * (change * along - rate**2 * out)
    return place, np.append(v, np.zeros(3)), np.append(a, np.zeros(3))


def main(duration: float = 6.0) -> dict[str, float]:
    """Run it; returns tracking errors and what the person did."""
    mech = sr.library.dual_arm_box()
    start, caught = mech.pose(mech.default.q, "box"), []
    patch = {"mu": 0.5, "torsion": 0.04, "half": (0.06, 0.06), "least": 10.0}
    grasp = sc.Grasp(mech, "box", [sc.Patch("grip_left", **patch), sc.Patch("grip_right", **patch)])

    def person(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        J, place = mech.jacobian(q, "box")[:3], mech.pose(q, "box").xyz
        if t <= HOLD[0]:
            caught[:] = [place]
        return J.T @ (2000.0 * (caught[0] - place) - 100.0 * (J @ v)) * (HOLD[0] < t < HOLD[1])

    runs = []
    for massless in (True, False):
        known = sc.WrenchEstimator(mech, "box", massless=massless)
        law = sc.ObjectImpedance(mech, grasp, lambda t: circle(t, start), external=known, massless=massless)
        run = sr.simulate(mech, (0.0, duration), control=law, control_dt=DT, dt=DT, tau=person)
        y, z = np.array([one.xyz[1:] for one in mech.pose(run.q, "box")]).T
        wanted = np.array([circle(t, start)[0].xyz[1:] for t in run.t]).T
        true = np.linalg.norm(grasp.components(run.lam)[:, :3], axis=1)
        expected = [np.linalg.norm(one.contact_forces[:3]) for one in law.history(run).solutions]
        runs.append(np.array([run.t, y, z, *wanted, true, expected]))
    (t, *paper), (_, *ours) = runs
    free, held = (t > 1.5) & (t < HOLD[0]), (t > HOLD[0]) & (t < HOLD[1])
    off = np.hypot(ours[2] - ours[0], ours[3] - ours[1])
    low, far = 1e3 * (paper[3] - paper[1])[free].mean(), 1e3 * off[held].max()
    print(f"taken for massless the box runs {low:.1f} mm low, else {1e3 * off[free].max():.2f} mm off; held")
    print(f"it is {far:.0f} mm behind and squeezed with {ours[4][held].max():.0f} N. Picture: {PICTURE}")
    figure = Figure(figsize=(9.0, 8.0), layout="constrained")
    one, two, three = figure.subplots(3, 1)
    one.plot(t, ours[2], "k--", t, paper[0], t, ours[0])
    two.plot(t, ours[3], "k--", t, paper[1], t, ours[1])
    three.plot(t, ours[4], "C3", t, ours[5], "C0--")
    one.set_ylabel("y [m]")
    two.legend(("desired", "massless, as in the paper", "inertia in the model"), title="z [m]")
    three.legend(("in the simulation", "expected by the law"), title="force of the left hand [N]")
    three.set_xlabel("t [s]")
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=110)
    squeeze = {"squeeze_free": ours[4][free].max(), "squeeze_held": ours[4][held].max()}
    return {"low": 1e-3 * low, "off": off[free].max(), "held_off": 1e-3 * far} | squeeze


if __name__ == "__main__":
    main()

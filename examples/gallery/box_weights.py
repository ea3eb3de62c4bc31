# /// script
# requires-python = ">=3.11"
# dependencies = ["sarrus[viz,qp]"]
# ///
"""Weights of 0.5 kg on a held box, up to 2.5 kg, [Lin2018] IV-A, figure 6: out/box_weights.{png,html}.

Every 0.6 s another weight stands on the box of box_pushed.py. The paper takes the box for massless: it is
squeezed harder with every weight without being told, and sinks by weight / stiffness. With the mass estimated
on line (the paper's future work) and carried, it comes back. 500 N/m, 50 N m/rad, mu = 0.5.
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import sarrus as sr
from sarrus import control as sc

PICTURE, PAGE = Path("out/box_weights.png"), Path("out/box_weights.html")
DT, EVERY, WEIGHT, COUNT = 4e-3, 0.6, 0.5, 5  # sample [s], pause [s], [kg]


def main() -> dict[str, float]:
    """Run and draw it; returns squeeze, sag and the estimated mass at the end."""
    mech = sr.library.dual_arm_box()
    patch = {"mu": 0.5, "torsion": 0.04, "half": (0.06, 0.06), "least": 5.0}
    grasp = sc.Grasp(mech, "box", [sc.Patch("grip_left", **patch), sc.Patch("grip_right", **patch)])
    observer = sc.WrenchEstimator(mech, "box", payload=True, massless=True)
    kind = {"massless": True, "reserve": (0.0, 0.0)}  # a reserve is ours
    runs, paper = pile(mech, grasp, sc.ObjectImpedance(mech, grasp, external="displacement", **kind))
    _, ours = pile(mech, grasp, sc.ObjectImpedance(mech, grasp, external=observer, compensate=True, **kind))
    first, half = int(EVERY / DT) - 1, int(0.5 / DT) - int(EVERY / DT)
    print(f"each hand presses with {paper[2, first]:.0f} N, under 2.5 kg with {paper[2, -1]:.0f} N; it sinks")
    print(f"by {-1e3 * paper[3, -1]:.0f} mm, {-1e3 * ours[3, -1]:.1f} mm with the estimated mass carried:")
    print(f"{ours[4, half]:.3f} of {ours[5, -1]:.3f} kg half a second after the last. {PICTURE}, {PAGE}")
    t = np.concatenate([run.t for run in runs])
    squeeze, low, back, mass = (np.interp(t, paper[0], x) for x in (paper[2], paper[3], ours[3], paper[5]))
    weights = {"weights": ("box", (0.0, 0.0, 0.2), np.outer(mass - 0.7, (0.0, 0.0, -9.81)))}
    charts = {"force of a hand [N]": {"": squeeze}, "height [m]": {"massless": low, "mass estimated": back}}
    form = {"title": "Weights on a held box", "shapes": {"box": (0.2, 0.3, 0.4)}, "thickness": 0.08}
    sr.viz.export(runs, PAGE, arrows=weights, charts=charts, **form)
    one, two, three = (figure := Figure(figsize=(9, 8), layout="constrained")).subplots(3, 1, sharex=True)
    one.plot(paper[0], paper[2], "C3", paper[0], paper[1], "C0--")
    two.plot(paper[0], paper[3], ours[0], ours[3])
    three.plot(ours[0], ours[5], "k", ours[0], ours[4], "C2--")
    one.legend(("in the simulation, as in the paper", "expected by the law"))
    two.legend(("massless, as in the paper", "mass estimated and carried"))
    three.legend(("box and weights", "estimated"))
    for ax, label in zip((one, two, three), ("force of a hand [N]", "height [m]", "mass [kg]"), strict=True):
        ax.set(ylabel=label, xlabel="t [s]", title="Weights on a held box [Lin2018]" * (ax is one))
    figure.savefig(PICTURE, dpi=110)
    values = {"squeeze_empty": paper[2, first], "squeeze_full": paper[2, -1], "sag_paper": -paper[3, -1]}
    return values | {"sag_ours": -ours[3, -1], "mass": ours[4, half], "true_mass": ours[5, -1]}


def pile(mech: sr.Mechanism, grasp: sc.Grasp, law: sc.ObjectImpedance) -> tuple[list, np.ndarray]:
    """One weight after the other: t, expected and true force of a hand, height, estimated and true mass."""
    (q, v), runs, rows, top = mech.default, [], [], mech.pose(mech.default.q, "box").xyz[2]
    box = sc.Payload.of_body(mech.model.bodies[mech.model.body_index("box")]).parameters
    for count in range(COUNT + 1):
        both = sc.Payload.of(box + sc.Payload(count * WEIGHT, (0.0, 0.0, 0.2), [1e-3 * count] * 3).parameters)
        plant = mech.with_(mass={"box": both.mass}, com={"box": both.com}, inertia={"box": both.inertia})

        def control(t: float, q: np.ndarray, v: np.ndarray, plant: sr.Mechanism = plant) -> np.ndarray:
            one = law.solve(t, q, v)
            f = grasp.components(plant.forward_dynamics(q, v, u=one.u).lam)
            masses = (one.payload.mass if one.payload else 0.0, plant.model.bodies[-1].mass)
            norms = np.linalg.norm([one.contact_forces[:3], f[:3]], axis=1)
            rows.append((t, *norms, mech.pose(q, "box").xyz[2] - top, *masses))
            return one.u

        span = (count * EVERY, (count + 1) * EVERY)
        runs.append(sr.simulate(plant, span, q, v, control=control, control_dt=DT, dt=DT))
        q, v = runs[-1].q[-1], runs[-1].v[-1]
    return runs, np.array(rows).T


if __name__ == "__main__":
    main()

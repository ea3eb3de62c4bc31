# /// script
# requires-python = ">=3.11"
# dependencies = ["sarrus[viz,qp]"]
# ///
"""Four arms of three kinds hold one box; one lets go and takes it again: out/arms_together.{png,html}.

A Panda, a UR5 (six joints) and two KUKA LWR, by their published descriptions, a box of 2 kg. Between 0.5 and
1 s the fourth hand is off, in the plant by a switch, in the law by `active`. Then a person pushes the box
aside and down. Contact forces expected by the law and simulated, and their distance to the limits: mu = 0.5,
patches of 10 x 10 cm. 500 N/m, 50 N m/rad.
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import sarrus as sr
from sarrus import control as sc

PICTURE, PAGE = Path("out/arms_together.png"), Path("out/arms_together.html")
ARMS, DT, OFF, ON, BEGIN, LEAVE = ("panda", "ur5", "lwr", "lwr"), 4e-3, 0.5, 1.0, 1.2, 2.2  # [s]
PUSH = np.array([30.0, 20.0, -60.0, 0.0, 0.0, 0.0])  # [N, N m]


def push(t: float) -> np.ndarray:
    """Wrench of the person (6,)."""
    return PUSH * np.sin(np.pi * np.clip((t - BEGIN) / (LEAVE - BEGIN), 0.0, 1.0)) ** 2


def main(duration: float = 3.0) -> dict[str, float]:
    """Run it; returns how well the law knew the forces and how close they came to the limits."""
    mech = sr.library.arms_around_box(ARMS)
    grips = [f"grip{k}" for k in range(1, 5)]
    hands = [sc.Patch(name, 0.5, torsion=0.03, half=(0.05, 0.05), least=5.0) for name in grips]
    grasp = sc.Grasp(mech, "box", hands)
    law = sc.ObjectImpedance(
        mech,
        grasp,
        external=lambda t, q, v: push(t),
        active=lambda t, q, v: grips[:3] if OFF <= t < ON else grips,
    )
    fourth = sr.Switch("grip4", off=OFF, on=ON)
    how = {"control_dt": DT, "dt": DT, "external": {"box": push}, "switches": [fourth]}
    run = sr.simulate(mech, (0.0, duration), control=law, **how)
    f, law_f = grasp.components(run.lam), []
    law.reset()
    for state in zip(run.t, run.q, run.v, strict=True):
        law_f.append(law.solve(*state).contact_forces)
    sampled = ~np.isin(run.t, (OFF, ON))
    miss = np.abs(f - law_f)[sampled].max()
    normal = np.array([grasp.normal_forces(one) for one in f]).T
    margin = min(min(grasp.margins(one).values()) for one in f[(run.t < OFF) | (run.t > ON)])
    moved = np.array([one.xyz for one in mech.pose(run.q, "box")]) - mech.pose(run.q[0], "box").xyz
    away = np.linalg.norm(moved, axis=1)
    print(f"pushed, the box gives way by {1e3 * away.max():.0f} mm; a hand lets go and it moves by")
    print(f"{1e3 * away[run.t <= ON].max():.0e} mm; forces are as expected to {miss:.0e} N and at least")
    print(f"{margin:.1e} N (N m) inside their limits. {PICTURE}, {PAGE}")
    names = [f"{kind} {k}" for k, kind in enumerate(ARMS, start=1)]
    charts = {"normal forces [N]": dict(zip(names, normal, strict=True))}
    charts["displacement [m]"] = dict(zip("xyz", moved.T, strict=True))
    person = {"person": ("box", (0.0, 0.0, 0.0), [push(t)[:3] for t in run.t])}
    run.export(PAGE, title="Four arms of three kinds", arrows=person, charts=charts, thickness=0.07)
    figure = Figure(figsize=(11.0, 5.5), layout="constrained")
    figure.suptitle("Four arms of three kinds hold a box; one lets go, a person pushes")
    view, plots = figure.subfigures(1, 2, width_ratios=(1.0, 1.3))
    mech.plot(run.at(0.5 * (BEGIN + LEAVE)).q, view.add_subplot(projection="3d"), masses=False)
    one, two = plots.subplots(2, 1, sharex=True)
    one.plot(run.t, normal.T, label=names)
    two.plot(run.t, 1e3 * moved, label=list("xyz"))
    one.set_ylabel("normal forces [N]")
    two.set(ylabel="displacement [mm]", xlabel="t [s]")
    for ax in (one, two):
        ax.legend()
    figure.savefig(PICTURE, dpi=110)
    return {"miss": miss, "margin": margin, "moved": away[run.t <= ON].max(), "pushed": away.max()}


if __name__ == "__main__":
    main()

# /// script
# requires-python = ">=3.11"
# dependencies = ["sarrus[viz,qp]"]
# ///
"""Weights of 0.5 kg are put on a held box, up to 2.5 kg, [Lin2018] IV-A, figure 6: out/box_weights.png.

The arms and the box of box_pushed.py; every 0.6 s another weight stands on the box. The law of the paper
takes the box for massless: it squeezes harder with every weight without being told, and the box sinks by
weight / stiffness. With the mass estimated on line (the paper's future work) and carried, it comes back.
Stiffness 500 N/m, 50 N m/rad, mu = 0.5.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np
import numpy.typing as npt

import sarrus as sr
from sarrus import control as sc

Array = npt.NDArray[np.float64]

PICTURE = Path("out/box_weights.png")
DT = 4e-3  # [s] of a step and of a sample of the control
EVERY, WEIGHT, COUNT = 0.6, 0.5, 5  # [s], [kg]
TOP = (0.0, 0.0, 0.2)  # where the weights stand, in the frame of the box [m]


def main() -> dict[str, float]:
    """Run it; returns squeeze, sag and the estimated mass at the end."""
    mech = sr.library.dual_arm_box()
    sides = ("left", "right")
    patches = [sc.Patch(f"grip_{s}", 0.5, torsion=0.04, half=(0.06, 0.06), least=5.0) for s in sides]
    grasp = sc.Grasp(mech, "box", patches)
    found = {}
    for name, compensate in (("paper", False), ("carried", True)):
        estimator = sc.WrenchEstimator(mech, "box", payload=True, massless=True)
        law = sc.ObjectImpedance(
            mech,
            grasp,
            stiffness=(500.0, 50.0),
            damping_ratio=1.0,
            massless=True,
            external=estimator if compensate else "displacement",
            compensate=compensate,
        )
        found[name] = pile(mech, grasp, law, estimator)
    paper, carried = found["paper"], found["carried"]
    half = int(0.5 / DT)  # samples in half a second
    last = -int(EVERY / DT)
    result = {
        "squeeze_empty": paper["measured"][int(EVERY / DT) - 1],
        "squeeze_full": paper["measured"][-1],
        "sag_full": -paper["height"][-1],
        "sag_carried": -carried["height"][-1],
        "mass_after_half_a_second": carried["mass"][last + half],
        "true_mass": carried["true"][-1],
    }
    print(f"normal force {result['squeeze_empty']:.0f} N empty, {result['squeeze_full']:.0f} N with 2.5 kg;")
    print(f"the box sinks by {1e3 * result['sag_full']:.0f} mm, and by {1e3 * result['sag_carried']:.1f} mm")
    print(f"with the estimated mass carried: {result['mass_after_half_a_second']:.4f} kg half a second after")
    print(f"the last weight, {result['true_mass']:.4f} kg in truth")
    draw(paper, carried)
    print(f"Picture: {PICTURE}")
    return {name: float(value) for name, value in result.items()}


def pile(
    mech: sr.Mechanism, grasp: sc.Grasp, law: sc.ObjectImpedance, estimator: sc.WrenchEstimator
) -> dict[str, Array]:
    """One weight after the other on the box, as arrays over all samples."""
    q, v = mech.default
    top = mech.pose(q, "box").xyz[2]
    box = sc.Payload.of_body(mech.model.bodies[mech.model.body_index("box")]).parameters
    rows: list[tuple[float, ...]] = []
    for count in range(COUNT + 1):
        both = sc.Payload.of(box + sc.Payload(count * WEIGHT, TOP, [1e-3 * count] * 3).parameters)
        plant = mech.with_(mass={"box": both.mass}, com={"box": both.com}, inertia={"box": both.inertia})

        def control(
            t: float, q: Array, v: Array, plant: sr.Mechanism = plant, true: float = both.mass
        ) -> Array:
            one = law.solve(t, q, v)
            measured = grasp.normal_forces(grasp.components(plant.forward_dynamics(q, v, u=one.u).lam))[0]
            mass = estimator.last.payload.mass if estimator.last is not None else np.nan
            height = mech.pose(q, "box").xyz[2] - top
            rows.append((t, one.normal_forces[0], measured, height, mass, true))
            return one.u

        begin = count * EVERY
        run = sr.simulate(plant, (begin, begin + EVERY), q, v, control=control, control_dt=DT, dt=DT)
        q, v = run.q[-1], run.v[-1]
    names = ("t", "expected", "measured", "height", "mass", "true")
    return dict(zip(names, np.array(rows).T, strict=True))


def draw(paper: dict[str, Array], carried: dict[str, Array]) -> None:
    """Forces as in the paper, height, and the estimated mass."""
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, (one, two, three) = plt.subplots(3, 1, figsize=(9.0, 8.0), sharex=True, layout="constrained")
    figure.suptitle("Weights of 0.5 kg on a box held by two arms [Lin2018], figure 6", fontsize=13)
    one.plot(paper["t"], paper["measured"], "C3", label="in the simulation")
    one.plot(paper["t"], paper["expected"], "C0--", label="expected by the law")
    one.set_ylabel("normal force [N]")
    one.legend()
    two.plot(paper["t"], 1e3 * paper["height"], label="massless model, as in the paper")
    two.plot(carried["t"], 1e3 * carried["height"], label="mass estimated and carried")
    two.set_ylabel("height against\ndesired [mm]")
    two.legend()
    three.plot(carried["t"], carried["true"], "k", lw=1.0, label="box and weights")
    three.plot(carried["t"], carried["mass"], "C2--", label="estimated")
    three.set(xlabel="t [s]", ylabel="mass [kg]", ylim=(0.0, None))
    three.legend()
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=110)
    plt.close(figure)


if __name__ == "__main__":
    main()

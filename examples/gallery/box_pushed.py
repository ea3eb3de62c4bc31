# /// script
# requires-python = ">=3.11"
# dependencies = ["sarrus[viz,qp]"]
# ///
"""Two arms hold a box that is pushed down by 0.4 m, [Lin2018] IV-A, figures 5 and 6: out/box_pushed.png.

Arms of the size of the KUKA LWR, a box of 20 x 30 x 40 cm and 0.7 kg that the law takes for massless, as in
the paper. A person (a stiff spring whose end moves) pushes it down, stays, and lets go. Nothing measures
forces: the push is read off the displacement, eq. (7), and the hands squeeze as hard as friction needs. The
paper gives neither stiffness nor friction; here 150 N/m, 40 N m/rad, mu = 0.5 and patches of 12 x 12 cm, of
which the law assumes 0.4 and 10 x 10 cm, and at least 35 N of squeeze. The displacement tells a push only
after it has moved the box; the momentum observer tells it at once, before the hands slip.
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

PICTURE = Path("out/box_pushed.png")
DT = 4e-3  # [s] of a step and of a sample of the control
TOUCH, DOWN = 0.04, 0.41  # where the hand begins and ends, below the desired place of the box [m]
BEGIN, THERE, LEAVE = 0.8, 2.0, 3.2  # [s]
HAND = 6000.0, 60.0  # stiffness and damping of the person's hand [N/m, N s/m]


def main(duration: float = 5.0) -> dict[str, float]:
    """Run it; returns forces and displacements at rest and under the push."""
    mech = sr.library.dual_arm_box()
    true, assumed = grasp_of(mech, 0.5, 0.06), grasp_of(mech, 0.4, 0.05, least=35.0)
    estimator = sc.WrenchEstimator(mech, "box", massless=True)
    runs = {}
    for name, external in (("displacement", "displacement"), ("momentum", estimator)):
        law = sc.ObjectImpedance(
            mech, assumed, stiffness=(150.0, 40.0), damping_ratio=1.0, massless=True, external=external
        )
        expected: list[Array] = []
        run = sr.simulate(
            mech,
            (0.0, duration),
            control=listened(law, expected),
            control_dt=DT,
            dt=DT,
            tau=person(mech),
        )
        runs[name] = look(run, true, expected)
    paper, ours = runs["displacement"], runs["momentum"]
    rest, held = np.searchsorted(paper["t"], [BEGIN - 0.05, LEAVE - 0.05])
    result = {
        "low_at_rest": -paper["height"][rest],
        "pushed_by": -paper["height"][held],
        "squeeze_at_rest": paper["measured"][rest],
        "squeeze_pushed": paper["measured"][held],
        "expected_off": abs(paper["expected"][held] - paper["measured"][held]),
        "friction_left_displacement": paper["friction"].min(),
        "friction_left_momentum": ours["friction"].min(),
        "returned_to": abs(paper["height"][-1] - paper["height"][rest]),
    }
    print(
        f"at rest the box hangs {1e3 * result['low_at_rest']:.0f} mm low (its weight is unknown to the law)"
    )
    print(
        f"and is squeezed with {result['squeeze_at_rest']:.0f} N; pushed down by {result['pushed_by']:.2f} m"
    )
    print(f"with {result['squeeze_pushed']:.0f} N, which the law expects to {result['expected_off']:.2g} N.")
    print("Friction left before the hands slip, at the worst instant of the push:")
    print(f"{result['friction_left_displacement']:.1f} N with the push read off the displacement,")
    print(f"{result['friction_left_momentum']:.1f} N with the momentum observer")
    draw(run, paper, ours)
    print(f"Picture: {PICTURE}")
    return {name: float(value) for name, value in result.items()}


def grasp_of(mech: sr.Mechanism, mu: float, half: float, least: float = 0.0) -> sc.Grasp:
    """Both hands with this friction and half edges [m] of the patches."""
    sides = ("left", "right")
    patch = [sc.Patch(f"grip_{s}", mu, torsion=0.7 * half, half=(half, half), least=least) for s in sides]
    return sc.Grasp(mech, "box", patch)


def person(mech: sr.Mechanism) -> Callable[[float, Array, Array], Array]:
    """Generalized force of a hand on the box, which only pushes."""
    top = mech.pose(mech.default.q, "box").xyz[2]

    def force(t: float, q: Array, v: Array) -> Array:
        if not BEGIN < t < LEAVE:
            return np.zeros(mech.nv)
        s = min((t - BEGIN) / (THERE - BEGIN), 1.0)
        J = mech.jacobian(q, "box")[2]
        way = mech.pose(q, "box").xyz[2] - top
        hand = -TOUCH - (DOWN - TOUCH) * s**3 * (10.0 - 15.0 * s + 6.0 * s * s)
        return J * min(HAND[0] * (hand - way) - HAND[1] * (J @ v), 0.0)

    return force


def listened(law: sc.ObjectImpedance, expected: list[Array]) -> Callable[[float, Array, Array], Array]:
    """The law, its expected normal forces written down."""

    def control(t: float, q: Array, v: Array) -> Array:
        found = law.solve(t, q, v)
        expected.append(found.normal_forces)
        return found.u

    return control


def look(run: sr.Trajectory, grasp: sc.Grasp, expected: list[Array]) -> dict[str, Array]:
    """Height of the box, normal force of the left hand, and what friction has left."""
    f = [grasp.components(lam) for lam in run.lam]
    height = np.array([run.system.pose(q, "box").xyz[2] for q in run.q])
    n = min(len(f), len(expected))
    return {
        "t": run.t[:n],
        "height": (height - height[0])[:n],
        "measured": np.array([grasp.normal_forces(one)[0] for one in f])[:n],
        "expected": np.array(expected)[:n, 0],
        "friction": np.array([grasp.margins(one)["friction grip_left"] for one in f])[:n],
    }


def draw(run: sr.Trajectory, paper: dict[str, Array], ours: dict[str, Array]) -> None:
    """The arms before and during the push, and the paper's plot of forces."""
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure = plt.figure(figsize=(12.0, 7.5), layout="constrained")
    figure.suptitle("Two arms hold a box; a person pushes it down [Lin2018], figures 5 and 6", fontsize=13)
    left, right = figure.subfigures(1, 2, width_ratios=(1.0, 2.0))
    for ax, when in zip(left.subplots(2, 1, subplot_kw={"projection": "3d"}), (0.6, 3.0), strict=True):
        run.system.plot(run.at(when).q, ax)
        ax.set_title(f"{when:.1f} s", fontsize=10, y=0.92)
    one, two, three = right.subplots(3, 1, sharex=True)
    one.plot(paper["t"], paper["height"])
    one.set_ylabel("height of the box\nagainst desired [m]")
    two.plot(paper["t"], paper["measured"], "C3", label="in the simulation")
    two.plot(paper["t"], paper["expected"], "C0--", label="expected by the law")
    two.set_ylabel("normal force [N]")
    two.legend(title="push read off the displacement")
    three.plot(paper["t"], paper["friction"], label="push read off the displacement")
    three.plot(ours["t"], ours["friction"], label="momentum observer")
    three.axhline(0.0, color="k", lw=0.8)
    three.set(xlabel="t [s]", ylabel="friction left before\nthe hands slip [N]")
    three.legend()
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=110)
    plt.close(figure)


if __name__ == "__main__":
    main()

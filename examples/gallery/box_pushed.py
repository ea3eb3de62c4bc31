# /// script
# requires-python = ">=3.11"
# dependencies = ["sarrus[viz,qp]"]
# ///
"""Two arms hold a box that is pushed down by 0.4 m, [Lin2018] IV-A, figures 5, 6: out/box_pushed.{png,html}.

Two KUKA LWR 4+; the law takes the box (20 x 30 x 40 cm, 0.7 kg) for massless, as the paper does, and measures
no force: read off the displacement, eq. (7), a push is known late, by the momentum observer at once. Ours:
150 N/m, 40 N m/rad, mu = 0.36 (assumed 0.3), patches of 12 x 12 cm (assumed 10 x 10), at least 70 N.
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import sarrus as sr
from sarrus import control as sc

PICTURE, PAGE = Path("out/box_pushed.png"), Path("out/box_pushed.html")
DT, TOUCH, DOWN, BEGIN, THERE, LEAVE = 4e-3, 0.046, 0.41, 0.8, 2.0, 3.2  # sample [s]; the hand: [m], [s]


def main(duration: float = 5.0) -> dict[str, float]:
    """Run it; returns forces and displacements at rest and under the push."""
    mech = sr.library.dual_arm_box()
    top = mech.pose(mech.default.q, "box").xyz[2]

    def person(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        s, J = min((t - BEGIN) / (THERE - BEGIN), 1.0), mech.jacobian(q, "box")[2]
        hand = top - TOUCH - (DOWN - TOUCH) * s**3 * (10.0 - 15.0 * s + 6.0 * s * s)
        push = 6000.0 * (hand - mech.pose(q, "box").xyz[2]) - 60.0 * (J @ v)
        return J * (min(push, 0.0) if BEGIN < t < LEAVE else 0.0)

    def grasp(mu: float, half: float, least: float = 0.0) -> sc.Grasp:
        patch = {"mu": mu, "torsion": 0.7 * half, "half": (half, half), "least": least}
        return sc.Grasp(mech, "box", [sc.Patch("grip_left", **patch), sc.Patch("grip_right", **patch)])

    true, assumed, found = grasp(0.36, 0.06), grasp(0.3, 0.05, 70.0), []
    for how in (sc.WrenchEstimator(mech, "box", massless=True), "displacement"):
        law = sc.ObjectImpedance(mech, assumed, None, (150, 40), external=how, massless=True, reserve=(0, 0))
        run = sr.simulate(mech, (0.0, duration), control=law, control_dt=DT, dt=DT, tau=person)
        f, expected = true.components(run.lam), [one.contact_forces for one in law.history(run).solutions]
        norms = [np.linalg.norm(np.array(one)[:, :3], axis=1) for one in (f, expected)]
        z = [one.xyz[2] - top for one in mech.pose(run.q, "box")]
        found.append(np.array([run.t, z, *norms, [true.margins(x)["friction grip_left"] for x in f]]))
    ours, paper = found
    rest, held = paper[:, [int(BEGIN / DT) - 10, int(LEAVE / DT) - 10]].T
    print(f"at rest the box is {-1e3 * rest[1]:.0f} mm low and each hand presses with {rest[2]:.0f} N,")
    print(f"pushed down by {-held[1]:.2f} m with {held[2]:.0f} N. The least friction left before it slips is")
    print(f"{paper[4].min():.1f} N, and {ours[4].min():.1f} N with the momentum observer. {PICTURE}, {PAGE}")
    forces = [[0, 0, -np.linalg.norm(person(*x))] for x in zip(run.t, run.q, run.v, strict=True)]
    show = {"charts": {"force of the left hand [N]": {"simulated": paper[2], "expected --": paper[3]}}}
    show["arrows"] = {"person": ("box", (0.0, 0.0, 0.2), forces)}
    run.export(PAGE, title="A person pushes a box down", thickness=0.08, **show)
    draw(run, paper, ours)
    values = {"low": -rest[1], "pushed_by": -held[1], "at_rest": rest[2], "squeeze": held[2]}
    return values | {"expected": held[3], "left_paper": paper[4].min(), "left_ours": ours[4].min()}


def draw(run: sr.Trajectory, paper: np.ndarray, ours: np.ndarray) -> None:
    """The arms before and during the push, and the paper's plot of forces."""
    (figure := Figure(figsize=(12.0, 7.5), layout="constrained")).suptitle("A held box is pushed [Lin2018]")
    views, plots = figure.subfigures(1, 2, width_ratios=(1.0, 2.0))
    for ax, when in zip(views.subplots(2, 1, subplot_kw={"projection": "3d"}), (0.6, 3.0), strict=True):
        run.system.plot(run.at(when).q, ax, masses=False).set_box_aspect((0.7, 1.1, 1.0), zoom=0.95)
        ax.set(zlim=(-0.25, 0.75), yticks=(-0.5, 0, 0.5), zticks=(0, 0.5), title=f"{when:.1f} s")
    axes, t = plots.subplots(3, 1, sharex=True), paper[0]
    axes[0].plot(t, paper[1], "k")
    forces = axes[1].plot(t, paper[2], "C3", t, paper[3], "C0--")
    left = axes[2].plot(t, paper[4], "C1", t, ours[4], "C2")
    for ax, name in zip(axes, ("height [m]", "force of a hand [N]", "friction left [N]"), strict=True):
        ax.set(ylabel=name, xlabel="t [s]" if ax is axes[2] else "")
    names = ("in the simulation", "expected", "push read off the displacement", "momentum observer")
    figure.legend(forces + left, names, loc="outside lower center", ncols=4)
    figure.savefig(PICTURE, dpi=110)


if __name__ == "__main__":
    main()

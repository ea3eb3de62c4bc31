# /// script
# requires-python = ">=3.11"
# dependencies = ["sarrus[viz,qp]"]
# ///
"""Two arms hold a box that is pushed down by 0.4 m, [Lin2018] IV-A, figures 5 and 6: out/box_pushed.png.

The law takes the box (20 x 30 x 40 cm, 0.7 kg) for massless, as the paper does. A person, a stiff spring,
pushes it down and lets go; nothing measures forces. Read off the displacement, eq. (7), a push is known after
it has moved the box, by the momentum observer at once. Ours: 150 N/m, 40 N m/rad, mu = 0.5, patches of
12 x 12 cm, of which the law assumes 0.4 and 10 x 10 cm, at least 35 N.
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import sarrus as sr
from sarrus import control as sc

PICTURE = Path("out/box_pushed.png")
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

    true, assumed, found = grasp(0.5, 0.06), grasp(0.4, 0.05, 35.0), {}
    for how in (sc.WrenchEstimator(mech, "box", massless=True), "displacement"):
        law = sc.ObjectImpedance(mech, assumed, None, (150, 40), external=how, massless=True, reserve=(0, 0))
        run = sr.simulate(mech, (0.0, duration), control=law, control_dt=DT, dt=DT, tau=person)
        f, expected = true.components(run.lam), [one.normal_forces[0] for one in law.history(run).solutions]
        left = [true.margins(one)["friction grip_left"] for one in f]
        height = [one.xyz[2] - top for one in mech.pose(run.q, "box")]
        found[how] = np.array([run.t, height, f[:, 2], expected, left])
    ours, paper = found.values()
    rest, held = paper[:, int(BEGIN / DT) - 10], paper[:, int(LEAVE / DT) - 10]
    print(f"at rest the box is {-1e3 * rest[1]:.0f} mm low and squeezed with {rest[2]:.0f} N, pushed down")
    print(f"by {-held[1]:.2f} m with {held[2]:.0f} N. The least friction left before the hands slip is")
    print(f"{paper[4].min():.1f} N, and {ours[4].min():.1f} N with the momentum observer. Picture: {PICTURE}")
    draw(run, paper, ours)
    names = ("low", "pushed_by", "squeeze", "expected", "left_paper", "left_ours")
    return dict(zip(names, (-rest[1], -held[1], *held[2:4], paper[4].min(), ours[4].min()), strict=True))


def draw(run: sr.Trajectory, paper: np.ndarray, ours: np.ndarray) -> None:
    """The arms before and during the push, and the paper's plot of forces."""
    figure = Figure(figsize=(12.0, 7.5), layout="constrained")
    figure.suptitle("Two arms hold a box; a person pushes it down [Lin2018], figures 5 and 6", fontsize=13)
    left, right = figure.subfigures(1, 2, width_ratios=(1.0, 2.0))
    for ax, when in zip(left.subplots(2, 1, subplot_kw={"projection": "3d"}), (0.6, 3.0), strict=True):
        run.system.plot(run.at(when).q, ax).set_title(f"{when:.1f} s", fontsize=10, y=0.92)
    one, two, three = right.subplots(3, 1, sharex=True)
    one.plot(paper[0], paper[1])
    two.plot(paper[0], paper[2], "C3", label="in the simulation")
    two.plot(paper[0], paper[3], "C0--", label="expected from the displacement")
    three.plot(paper[0], paper[4], label="push read off the displacement")
    three.plot(ours[0], ours[4], label="momentum observer")
    one.set_ylabel("height against desired [m]")
    two.set_ylabel("normal force [N]")
    three.set(xlabel="t [s]", ylabel="friction left [N]")
    figure.legend(handles=two.lines + three.lines, loc="outside lower center", ncols=4)
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=110)


if __name__ == "__main__":
    main()

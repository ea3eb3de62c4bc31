# /// script
# requires-python = ">=3.11"
# dependencies = ["sarrus[viz,casadi]"]
# ///
"""CasADi on a closed chain: multiple shooting with ipopt moves a five-bar: out/casadi_five_bar.png.

All states are variables, and leave the loop open until the end: steps project them, and know the derivatives
of that.
"""

from pathlib import Path

import numpy as np

import sarrus as sr

PICTURE = Path("out/casadi_five_bar.png")
DT, STEPS = 0.05, 20
MOTORS, MOST = ("link1", "link4"), 40.0  # [N m]


def main(steps: int = STEPS) -> dict[str, float]:
    """Solve, and draw the motion and its inputs."""
    import casadi
    import matplotlib.pyplot as plt

    mech = sr.library.five_bar()
    bridge, q0 = sr.bridge.casadi(mech), mech.assemble(fixed={"link1": -2.0, "link4": 1.0}).q
    goal = mech.assemble(q0, fixed={"link1": -0.8, "link4": 1.6}).q
    spread = np.array([[float(name == motor) for motor in MOTORS] for name in mech.actuators])
    step = bridge.function("step", dt=DT * STEPS / steps, substeps=5)
    opti = casadi.Opti()
    q, v, u = opti.variable(mech.nq, steps + 1), opti.variable(mech.nv, steps + 1), opti.variable(2, steps)
    for k in range(steps):
        after = step(q[:, k], v[:, k], spread @ u[:, k])
        opti.subject_to(q[:, k + 1] == after[0])
        opti.subject_to(v[:, k + 1] == after[1])
    opti.subject_to(q[:, 0] == q0)
    opti.subject_to(v[:, 0] == 0)
    opti.subject_to(q[:2, -1] == goal[:2])  # two freedoms: the loop gives the other angles
    opti.subject_to(v[:2, -1] == 0)
    opti.subject_to(opti.bounded(-MOST, casadi.vec(u), MOST))
    opti.minimize(casadi.sumsqr(u) / steps + 1e-2 * casadi.sumsqr(u[:, 1:] - u[:, :-1]))
    line = q0[:, None] + (goal - q0)[:, None] * np.linspace(0.0, 1.0, steps + 1)
    opti.set_initial(q, line)
    options = {"hessian_approximation": "limited-memory", "print_level": 0, "max_iter": 300, "tol": 1e-6}
    opti.solver("ipopt", {"print_time": 0}, options)
    found = opti.solve()
    poses, inputs = found.value(q).T, found.value(u).T
    gaps = [float(np.max(mech.mobility(x).gap)) for x in (np.ascontiguousarray(line.T), poses.copy())]
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.5))
    for k in range(0, steps + 1, max(1, steps // 5)):
        mech.plot(poses[k], left, color="C0", alpha=0.25 + 0.75 * k / steps, masses=False)
    mech.plot(goal, left, color="C3", alpha=0.5, masses=False).set_title("ipopt: the motion, its goal in red")
    right.step(np.linspace(0.0, DT * STEPS, steps + 1), np.vstack([inputs, inputs[-1:]]), where="post")
    right.set(xlabel="t [s]", ylabel="torque [N m]", title="two motors")
    right.legend(MOTORS)
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=120, bbox_inches="tight")
    iterations = int(found.stats()["iter_count"])
    print(f"{iterations} iterations; gap of the loop: guess {gaps[0]:.2g} m, solution {gaps[1]:.0e} m")
    return {"iterations": iterations, "open": gaps[0], "gap": gaps[1], "most": float(np.abs(inputs).max())}


if __name__ == "__main__":
    main()

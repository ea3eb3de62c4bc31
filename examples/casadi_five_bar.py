# /// script
# requires-python = ">=3.11"
# dependencies = ["sarrus[viz,casadi]"]
# ///
"""CasADi on a closed chain: multiple shooting with ipopt moves a five-bar: out/casadi_five_bar.png.

All states are variables, and leave the loop open until the end: steps project them, and know the derivatives
of that. The Hessian is that of the costs, after Gauss and Newton.
"""

from pathlib import Path
from typing import Any

import numpy as np

import sarrus as sr

PICTURE = Path("out/casadi_five_bar.png")
TIME, STEPS = 1.0, 20
MOTORS, MOST = ("link1", "link4"), 80.0  # [N m]


def solver(problem: dict[str, Any], rounds: int) -> Any:
    """Ipopt with the Hessian of the costs alone: bridges have first derivatives."""
    import casadi

    x, f, g = (problem[name] for name in ("x", "f", "g"))
    p, factor = casadi.MX.sym("p", 0, 1), casadi.MX.sym("factor")
    multipliers = casadi.MX.sym("multipliers", g.shape[0])
    hessian = casadi.triu(factor * casadi.hessian(f, x)[0])
    names = ["x", "p", "lam_f", "lam_g"], ["triu_hess_gamma_x_x"]
    gauss_newton = casadi.Function("gauss_newton", [x, p, factor, multipliers], [hessian], *names)
    options = {"print_level": 0, "max_iter": rounds, "tol": 1e-6}
    return casadi.nlpsol(
        "solver", "ipopt", problem, {"hess_lag": gauss_newton, "print_time": 0, "ipopt": options}
    )


def main(steps: int = STEPS, rounds: int = 100) -> dict[str, float]:
    """Solve, and draw the motion and its inputs."""
    import casadi
    import matplotlib.pyplot as plt

    mech = sr.library.five_bar()
    bridge, q0 = sr.bridge.casadi(mech), mech.assemble(fixed={"link1": -2.0, "link4": 1.0}).q
    goal = mech.assemble(q0, fixed={"link1": -0.8, "link4": 1.6}).q
    spread = np.array([[float(name == motor) for motor in MOTORS] for name in mech.actuators])
    step = bridge.function("step", dt=TIME / steps, substeps=5)
    q, v, u = (casadi.MX.sym(x, n, k) for x, n, k in
               (("q", mech.nq, steps + 1), ("v", mech.nv, steps + 1), ("u", 2, steps)))  # fmt: skip
    gaps = [q[:, 0] - q0, v[:, 0], q[:2, -1] - goal[:2], v[:2, -1]]  # the loop gives the other two angles
    for k in range(steps):
        after = step(q[:, k], v[:, k], spread @ u[:, k])
        gaps += [q[:, k + 1] - after[0], v[:, k + 1] - after[1]]
    change = casadi.sumsqr(u[:, 1:] - u[:, :-1])
    x = casadi.veccat(q, v, u)
    ipopt = solver(
        {"x": x, "f": casadi.sumsqr(u) / steps + 1e-2 * change, "g": casadi.vertcat(*gaps)}, rounds
    )
    line = q0[:, None] + (goal - q0)[:, None] * np.linspace(0.0, 1.0, steps + 1)
    size = np.concatenate([np.full(q.numel() + v.numel(), np.inf), np.full(u.numel(), MOST)])
    guess = casadi.veccat(line, np.zeros(v.shape), np.zeros(u.shape))
    found = ipopt(x0=guess, lbx=-size, ubx=size, lbg=0, ubg=0)
    values = casadi.Function("values", [x], [q.T, u.T])(found["x"])
    poses, inputs = (np.array(one) for one in values)
    open_by = [float(np.max(mech.mobility(np.ascontiguousarray(one)).gap)) for one in (line.T, poses)]
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
    for k in range(0, steps + 1, max(1, steps // 5)):
        mech.plot(poses[k], left, color="C0", alpha=0.25 + 0.75 * k / steps, masses=False)
    mech.plot(goal, left, color="C3", alpha=0.5, masses=False).set_title("ipopt: the motion, its goal in red")
    right.step(np.linspace(0.0, TIME, steps + 1), np.vstack([inputs, inputs[-1:]]), where="post")
    right.set(xlabel="t [s]", ylabel="torque [N m]", title="two motors")
    right.legend(MOTORS)
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=120, bbox_inches="tight")
    stats = ipopt.stats()
    print(
        f"{stats['return_status']} in {stats['iter_count']} iterations; gap of the loop: guess"
        f" {open_by[0]:.2g} m, solution {open_by[1]:.0e} m"
    )
    miss = float(np.abs(mech.difference(poses[-1], goal)).max())
    return {"success": stats["success"], "open": open_by[0], "gap": open_by[1], "miss": miss}


if __name__ == "__main__":
    main()

# /// script
# requires-python = ">=3.11"
# dependencies = ["sarrus[viz,crocoddyl]"]
# ///
"""Crocoddyl on a closed chain: two motors move a five-bar from pose to pose: out/crocoddyl_five_bar.png.

The guess is a straight line between the two poses in all coordinates, which leaves the loop open; FDDP closes
it.
"""

from pathlib import Path
from typing import Any

import numpy as np

import sarrus as sr

PICTURE = Path("out/crocoddyl_five_bar.png")
DT, STEPS = 0.02, 50


def costs(bridge: Any, goal: np.ndarray, weight: float) -> Any:
    """Inputs of the two motors, the passive joints' being held at nothing, and the way to the goal."""
    import crocoddyl

    state, mech = bridge.state, bridge.mech
    effort = np.array([1e-4 if name in ("link1", "link4") else 1e4 for name in mech.actuators])
    found = crocoddyl.CostModelSum(state, mech.nu)
    inputs = crocoddyl.ResidualModelControl(state, mech.nu)
    measure = crocoddyl.ActivationModelWeightedQuad(effort)
    found.addCost("inputs", crocoddyl.CostModelResidual(state, measure, inputs), 1.0)
    to_goal = crocoddyl.ResidualModelState(state, goal, mech.nu)
    found.addCost("goal", crocoddyl.CostModelResidual(state, to_goal), weight)
    return found


def main(rounds: int = 100) -> dict[str, float]:
    """Solve, and draw the guess and the motion."""
    import crocoddyl
    import matplotlib.pyplot as plt

    mech = sr.library.five_bar()
    bridge, rest = sr.bridge.crocoddyl(mech), np.zeros(mech.nv)
    q0 = mech.assemble(fixed={"link1": -2.0, "link4": 1.0}).q
    goal = mech.assemble(q0, fixed={"link1": -0.8, "link4": 1.6}).q
    start, end = np.concatenate([q0, rest]), np.concatenate([goal, rest])
    model = bridge.action(DT, costs(bridge, end, 1e-3))
    problem = crocoddyl.ShootingProblem(start, [model] * STEPS, bridge.action(0.0, costs(bridge, end, 1e3)))
    guess = [start + (end - start) * k / STEPS for k in range(STEPS + 1)]
    solver, log = crocoddyl.SolverFDDP(problem), crocoddyl.CallbackLogger()
    solver.setCallbacks([log])
    solver.solve(guess, [np.zeros(mech.nu)] * STEPS, rounds)
    poses = np.array(solver.xs)[:, : mech.nq]
    gaps = [np.asarray(mech.mobility(x).gap) for x in (np.array(guess)[:, : mech.nq], poses)]
    miss = float(np.abs(mech.difference(poses[-1], goal)).max())
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
    for k in range(0, STEPS + 1, 10):
        mech.plot(poses[k], left, color="C0", alpha=0.25 + 0.75 * k / STEPS, masses=False)
    mech.plot(goal, left, color="C3", alpha=0.5, masses=False).set_title("FDDP: the motion, its goal in red")
    right.plot(log.costs, "o-")
    right.set_title(f"gap of the loop: guess {gaps[0].max():.2g} m, solution {gaps[1].max():.0e} m")
    right.set(xlabel="iteration", ylabel="cost")
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=120, bbox_inches="tight")
    print(f"cost {solver.cost:.3g} after {solver.iter} iterations; {miss:.1e} rad off the goal")
    return {
        "cost": float(solver.cost),
        "miss": miss,
        "open": float(gaps[0].max()),
        "gap": float(gaps[1].max()),
    }


if __name__ == "__main__":
    main()

"""The quadratic programs of our controllers, and six solvers on them, each in the way it is fastest.

    min |z|^2    subject to    lower <= A z <= upper

The kernel, DAQP and SciPy as `sarrus.control.limits.quadratic_program` calls them; DAQP once more and ProxQP,
PIQP as objects that are kept, updated and started from their last answer; Clarabel has no warm start.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

import sarrus as sr
from sarrus.control.core import nearest_inputs
from sarrus.control.limits.quadratic_program import FAR, Program, solve

Array = npt.NDArray[np.float64]
Solver = Callable[[Program], Array | None]

C = sr.control


def recorded(law: Any, mech: sr.Mechanism, seconds: float, count: int) -> list[Program]:
    """Programs with a solution that a controller poses along its own motion, `count` of them.

    Its solver is SciPy's (or Clarabel): the kernel is handed limits and inputs, not programs.
    """
    kept: list[Program] = []
    original = nearest_inputs.solve

    def listening(program: Program, solver: str) -> Any:
        found = original(program, solver)
        if found.feasible:
            kept.append(program)
        return found

    nearest_inputs.solve = listening
    try:
        dt = seconds / (2 * count)
        sr.simulate(mech, (0.0, seconds), control=law, dt=dt, control_dt=dt)
    finally:
        nearest_inputs.solve = original
    return kept[:: max(1, len(kept) // count)][:count]


def problems(count: int) -> dict[str, list[Program]]:
    """Named sets of programs."""
    box = sr.library.dual_arm_box()
    X = box.pose(box.default.q, "box")
    way = C.MinimumJerk(X, sr.Pose(X.xyz + np.array([0.1, 0.05, 0.15]), matrix=X.rotation), 0.5)

    def grips(edges: int | None) -> list[Any]:
        held = [C.Friction(f"grip_{side}", 0.05, "-z", edges=edges) for side in ("left", "right")]
        return [*held, C.TorqueBounds((-80.0, 80.0))]

    arms = sr.library.dual_planar_arms("body")
    lift = C.Sinusoid([0.0, 0.0, 0.0], [0.1, 0.1, 0.0], [3.0, 6.0, 1.0])
    planar = [C.Friction("grip_left", 0.2, "-x"), C.Friction("grip_right", 0.2, "x")]
    robot = sr.library.cable_robot()
    sway = C.Sinusoid([0.0, 0.0, 0.0], [0.3, 0.2, 0.1], 3.0)
    cables = C.CableTension([f"cable{i}" for i in range(1, 5)], 5.0, 200.0)
    laws = {
        "box in two arms, pyramids of 8": (
            C.ForceLimits(box, C.BodyPose("box"), way, grips(8), solver="scipy"),
            box,
        ),
        "box in two arms, exact cones": (
            C.ForceLimits(box, C.BodyPose("box"), way, grips(None), solver="clarabel"),
            box,
        ),
        "planar arms, friction": (
            C.ForceLimits(arms, ["object.x", "object.y", "object.angle"], lift, planar, solver="scipy"),
            arms,
        ),
        "cable robot": (
            C.ForceLimits(robot, ["body.x", "body.y", "body.angle"], sway, cables, solver="scipy"),
            robot,
        ),
    }
    return {name: recorded(law, mech, 0.5, count) for name, (law, mech) in laws.items()}


def solvers() -> dict[str, Callable[[], Solver]]:
    """Makers of solvers by name; each keeps what it can between calls."""
    return {
        "kernel": lambda: _through("cones"),
        "DAQP": lambda: _through("daqp"),
        "DAQP, kept": _daqp_kept,
        "ProxQP, kept": _proxqp,
        "PIQP, kept": _piqp,
        "Clarabel": lambda: _through("clarabel"),
        "SciPy NNLS": lambda: _through("scipy"),
    }


def _through(name: str) -> Solver:
    def one(program: Program) -> Array | None:
        found = solve(program, name)
        return found.z if found.feasible else None

    return one


def _finite(program: Program) -> tuple[Array, Array]:
    return np.maximum(program.lower, -FAR), np.minimum(program.upper, FAR)


def _daqp_kept() -> Solver:
    import daqp

    made: dict[tuple[int, ...], Any] = {}

    def one(program: Program) -> Array | None:
        lower, upper = _finite(program)
        rows, f = np.ascontiguousarray(program.A), -program.z0
        model = made.get(rows.shape)
        if model is None:
            model = made[rows.shape] = daqp.Model()
            sense = np.zeros(len(rows), dtype=np.int32)
            model.setup(np.eye(len(f)), f, rows, upper, lower, sense)
        else:
            model.update(f=f, A=rows, bupper=upper, blower=lower)
        x, _, flag, _ = model.solve()
        return np.array(x) if flag == 1 else None

    return one


def _proxqp() -> Solver:
    import proxsuite

    made: dict[tuple[int, ...], Any] = {}

    def one(program: Program) -> Array | None:
        lower, upper = _finite(program)
        m, n = program.A.shape
        qp = made.get((m, n))
        H, g = np.eye(n), -program.z0
        if qp is None:
            qp = made[m, n] = proxsuite.proxqp.dense.QP(n, 0, m)
            qp.settings.eps_abs, qp.settings.max_iter = 1e-8, 1000
            qp.settings.initial_guess = proxsuite.proxqp.InitialGuess.WARM_START_WITH_PREVIOUS_RESULT
            qp.init(H, g, None, None, program.A, lower, upper)
        else:
            qp.update(g=g, C=program.A, l=lower, u=upper)
        qp.solve()
        solved = qp.results.info.status == proxsuite.proxqp.QPSolverOutput.PROXQP_SOLVED
        return np.array(qp.results.x) if solved else None

    return one


def _piqp() -> Solver:
    import piqp

    made: dict[tuple[int, ...], Any] = {}

    def one(program: Program) -> Array | None:
        lower, upper = program.lower, program.upper
        m, n = program.A.shape
        solver, c = made.get((m, n)), -program.z0
        if solver is None:
            solver = made[m, n] = piqp.DenseSolver()
            solver.settings.eps_abs = 1e-8
            solver.setup(np.eye(n), c, None, None, program.A, lower, upper)
        else:
            solver.update(c=c, G=program.A, h_l=lower, h_u=upper)
        return np.array(solver.result.x) if solver.solve() == piqp.PIQP_SOLVED else None

    return one

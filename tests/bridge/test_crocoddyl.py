"""sr.bridge.crocoddyl: the state and action models beside differences, and a solver that uses them."""

from __future__ import annotations

import numpy as np
import pytest

import sarrus as sr
from tests.bridge.checks import MACHINES, moving, with_python_function

crocoddyl = pytest.importorskip("crocoddyl", reason="Crocoddyl is an extra: pip install sarrus[crocoddyl]")
E = 1e-4


def costs_of(bridge, goal: np.ndarray, weight: float = 1.0):
    state, nu = bridge.state, bridge.mech.nu
    costs = crocoddyl.CostModelSum(state, nu)
    to_goal = crocoddyl.ResidualModelState(state, goal, nu)
    costs.addCost("goal", crocoddyl.CostModelResidual(state, to_goal), weight)
    costs.addCost(
        "input", crocoddyl.CostModelResidual(state, crocoddyl.ResidualModelControl(state, nu)), 1e-3
    )
    return costs


def slope(f) -> np.ndarray:
    return (8.0 * (f(E) - f(-E)) - (f(2 * E) - f(-2 * E))) / (12.0 * E)


@pytest.mark.parametrize("name", MACHINES)
def test_derivatives_of_actions_and_states(name: str) -> None:
    mech, q, v, u = moving(name)
    b = sr.bridge.crocoddyl(mech)
    state, x = b.state, np.concatenate([q, v])
    model = b.action(2e-3, costs_of(b, state.zero()))
    data, dx = model.createData(), np.random.default_rng(0).standard_normal(2 * mech.nv)
    model.calc(data, x, u)
    model.calcDiff(data, x, u)
    after, Fx, Lx = data.xnext.copy(), data.Fx.copy(), data.Lx.copy()

    def at(e: float) -> tuple[np.ndarray, float]:
        model.calc(data, state.integrate(x, e * dx), u)
        return state.diff(after, data.xnext), data.cost

    assert Fx @ dx == pytest.approx(slope(lambda e: at(e)[0]), abs=1e-6)
    assert Lx @ dx == pytest.approx(slope(lambda e: at(e)[1]), abs=1e-6)
    first, second = state.Jdiff(x, after)
    for J, moved in ((first, lambda e: (state.integrate(x, e * dx), after)),
                     (second, lambda e: (x, state.integrate(after, e * dx)))):  # fmt: skip
        assert J @ dx == pytest.approx(slope(lambda e, moved=moved: state.diff(*moved(e))), abs=1e-8)
    by_x, by_dx = state.Jintegrate(x, 0.1 * dx)
    there = state.integrate(x, 0.1 * dx)
    moves = [lambda e: state.integrate(state.integrate(x, e * dx), 0.1 * dx),
             lambda e: state.integrate(x, (0.1 + e) * dx)]  # fmt: skip
    for J, moved in zip((by_x, by_dx), moves, strict=True):
        assert J @ dx == pytest.approx(slope(lambda e, f=moved: state.diff(there, f(e))), abs=1e-8)


def test_a_solver_swings_a_four_bar() -> None:
    """FDDP brings the loop to rest at a pose a quarter of a radian further, closed at all times."""
    mech = sr.library.four_bar()
    b, steps = sr.bridge.crocoddyl(mech), 15
    start, goal = (
        np.concatenate([mech.assemble(mech.default.q, {"crank": angle}).q, np.zeros(mech.nv)])
        for angle in (0.6, 0.85)
    )
    effort, end = costs_of(b, goal, 0.0), costs_of(b, goal, 1e3)
    problem = crocoddyl.ShootingProblem(start, [b.action(2e-2, effort)] * steps, b.action(0.0, end))
    solver = crocoddyl.SolverFDDP(problem)
    solver.solve([start] * (steps + 1), [np.zeros(mech.nu)] * steps, 60)
    last = solver.xs[-1]
    assert abs(last[0] - 0.85) < 0.01 and np.abs(last[mech.nq :]).max() < 0.1
    assert max(mech.mobility(x[: mech.nq]).gap for x in solver.xs) < 1e-9


def test_steps_that_fail_are_nan_and_say_why() -> None:
    mech = sr.library.four_bar()
    b = sr.bridge.crocoddyl(mech)
    model = b.action(1e-3, costs_of(b, b.state.zero()))
    data = model.createData()
    model.calc(data, np.zeros(6), np.zeros(1))  # all bars in one line: no loop closes nearby
    assert np.isnan(data.xnext).all()
    assert "do not close" in b.trouble


def test_functions_take_arrays() -> None:
    mech, q, v, u = moving("four_bar")
    b = sr.bridge.crocoddyl(mech)
    assert b.step(q, v, u)[0] == pytest.approx(mech.step(q, v, u).q, abs=1e-12)
    assert b.rollout(q, v, np.zeros((5, 1)))[0].shape == (6, 3)
    assert b.assemble(fixed={"crank": 0.4}).shape == (3,)


def test_refused_with_the_way_out() -> None:
    with pytest.raises(sr.InputError, match=r"sr.bridge.crocoddyl cannot differentiate .*'equal'"):
        sr.bridge.crocoddyl(with_python_function())
    b, other = (sr.bridge.crocoddyl(m) for m in (sr.library.four_bar(), sr.library.dual_arm()))
    with pytest.raises(sr.InputError, match="dt must be the length"):
        b.action(-1.0, costs_of(b, b.state.zero()))
    with pytest.raises(sr.InputError, match="costs must be those of the state"):
        b.action(1e-3, costs_of(other, other.state.zero()))

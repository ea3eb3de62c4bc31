"""LQR on a closed chain: a four-bar that carries an inverted pole."""

from __future__ import annotations

import numpy as np
import pytest

import sarrus as sr
from sarrus.control.regulators.lqr import lqr
from tests.linearization.mechanisms import four_bar_with_pole, upright_pole

CHOSEN = ["crank", "pole"]


@pytest.fixture(scope="module")
def mech() -> sr.Mechanism:
    return four_bar_with_pole()


@pytest.fixture(scope="module")
def rest(mech: sr.Mechanism) -> sr.Equilibrium:
    return sr.equilibrium(mech, upright_pole(mech))


def pushed(mech: sr.Mechanism, rest: sr.Equilibrium) -> np.ndarray:
    """The pole 9 degrees off, the crank 3."""
    q = rest.q + np.array([0.05, 0.0, 0.0, 0.15])
    return mech.assemble(q, fixed={"crank": q[0]}).q


def test_the_pole_falls_without_a_regulator(mech: sr.Mechanism, rest: sr.Equilibrium) -> None:
    assert rest.stable is False and "pole" in rest.message
    fallen = sr.simulate(mech, (0.0, 1.0), pushed(mech, rest), store_every=1000)
    assert abs(fallen.q[-1, 3] - rest.q[3]) > 1.0


@pytest.mark.parametrize("sampled", [None, 0.02])
def test_the_nonlinear_simulation_comes_to_rest(
    mech: sr.Mechanism, rest: sr.Equilibrium, sampled: float | None
) -> None:
    model = sr.linearize(mech, rest.q, u=rest.u, independent=CHOSEN)
    assert model.controllability().complete
    regulator = lqr(model if sampled is None else model.discretize(sampled), Q=[10.0, 10.0, 1.0, 1.0], R=0.1)
    stable = regulator.eigenvalues.real < 0 if sampled is None else np.abs(regulator.eigenvalues) < 1
    assert np.all(stable)
    run = sr.simulate(
        mech, (0.0, 6.0), pushed(mech, rest), control=regulator, control_dt=sampled or 0.005, dt=5e-3
    )
    assert run.success and np.max(run.drift) < 1e-12
    assert np.max(np.abs(run.q[-1] - rest.q)) < 1e-4 and np.max(np.abs(run.v[-1])) < 1e-3


def test_hold_a_pose_that_needs_torque(mech: sr.Mechanism) -> None:
    held = sr.equilibrium(mech, upright_pole(mech, -1.0), fixed={"crank": -1.0})
    assert held.q[0] == pytest.approx(-1.0, abs=1e-12) and abs(held.u[0]) > 1.0
    assert np.max(np.abs(mech.forward_dynamics(held.q, np.zeros(4), u=held.u).a)) < 1e-10
    regulator = lqr(sr.linearize(mech, held.q, u=held.u, independent=CHOSEN), Q=10.0, R=0.1)
    start = mech.assemble(held.q + np.array([0.0, 0.0, 0.0, 0.1]), fixed={"crank": -1.0}).q
    run = sr.simulate(mech, (0.0, 5.0), start, control=regulator, control_dt=5e-3, dt=5e-3)
    assert np.max(np.abs(run.q[-1] - held.q)) < 1e-3


def test_parts_of_the_law(mech: sr.Mechanism, rest: sr.Equilibrium) -> None:
    regulator = lqr(sr.linearize(mech, rest.q, independent=CHOSEN), Q=1.0, R=1.0)
    q = pushed(mech, rest)
    step = regulator.solve(0.0, q, np.zeros(4))
    np.testing.assert_array_equal(step.u, regulator(0.0, q, np.zeros(4)))
    assert step.errors["q.crank"] == pytest.approx(0.05) and step.cost > 0.0
    np.testing.assert_allclose(step.u, -regulator.K @ step.x)


def test_limits_of_the_actuators() -> None:
    spec = sr.MechanismSpec(gravity=(0, -9.81, 0))
    spec.body("arm", joint=sr.Revolute("z"), mass=1.0, com=(1.0, 0, 0), inertia=(0.1, 0.1, 0.1))
    spec.actuate("arm", limits=(-2.0, 2.0))
    mech = spec.compile()
    regulator = lqr(sr.linearize(mech, [-np.pi / 2]), Q=100.0, R=0.01)
    step = regulator.solve(0.0, [0.0], [0.0])
    assert step.u == pytest.approx([-2.0]) and step.active_limits == ("arm",)


def test_refusals(mech: sr.Mechanism, rest: sr.Equilibrium) -> None:
    model = sr.linearize(mech, rest.q, independent=CHOSEN)
    with pytest.raises(sr.InputError, match="takes a LinearModel"):
        lqr(mech, 1.0, 1.0)
    with pytest.raises(sr.InputError, match=r"equilibrium.*sr\.equilibrium"):
        lqr(sr.linearize(mech, mech.assemble([-1.0, 1.4, -1.7, 0.0]).q), 1.0, 1.0)
    with pytest.raises(sr.InputError, match="R must be positive definite"):
        lqr(model, 1.0, 0.0)
    with pytest.raises(sr.InputError, match=r"Q must have shape \(4,\)"):
        lqr(model, [1.0, 1.0], 1.0)
    with pytest.raises(sr.InputError, match="minimal"):
        lqr(sr.linearize(mech, rest.q, form="full"), 1.0, 1.0)
    with pytest.raises(sr.InputError, match=r"drives actuators, \['crank'\]; \['pole'\] are none"):
        lqr(sr.linearize(mech, rest.q, inputs=["pole"]), 1.0, 1.0)


def test_what_no_input_moves_is_named() -> None:
    spec = sr.MechanismSpec(gravity=(0, -9.81, 0))
    for name, length in (("driven", 1.0), ("loose", 2.0)):
        spec.body(name, joint=sr.Revolute("z"), mass=1.0, com=(0, length, 0), inertia=(0.1, 0.1, 0.1))
    spec.actuate("driven")
    model = sr.linearize(spec.compile(), [0.0, 0.0])
    reach = model.controllability()
    assert not reach.complete and reach.rank == 2 and len(reach.missing) == 2
    assert "2 of 4 states" in reach.message
    with pytest.raises(sr.InputError, match="no regulator: Not completely controllable"):
        lqr(model, 1.0, 1.0)
    seen = sr.linearize(spec.compile(), [0.0, 0.0], outputs=["driven"]).observability()
    assert seen.rank == 2 and "no output shows" in seen.message

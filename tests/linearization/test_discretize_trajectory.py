"""LinearTrajectory.discretize: models from state to state, beside differences of runs."""

from __future__ import annotations

import numpy as np
import pytest

import sarrus as sr

E = 1e-4


@pytest.mark.parametrize("method", ["rk4", "dopri5"])
def test_the_product_of_all_steps_leads_to_the_end(method: str) -> None:
    """Run the four-bar from two neighbouring poses: their difference at the end is the product of all A."""
    mech = sr.library.four_bar()
    q0, v0 = (np.array(x) for x in mech.default)
    options = {"method": method, "dt": 2e-3} if method == "rk4" else {"method": method, "rtol": 1e-10}
    run = sr.simulate(mech, (0.0, 0.2), q0, v0, **options)
    crank = mech.names[0]
    model = sr.linearize_trajectory(run, independent=[crank])
    steps = model.discretize()
    assert len(steps) == len(run.t) - 1 and steps.dt == pytest.approx(np.diff(run.t))
    assert steps.A.shape == (len(steps), 2, 2) and steps.B.shape == (len(steps), 2, mech.nu)
    product = np.eye(2)
    for A in steps.A:
        product = A @ product

    def end(e: np.ndarray) -> np.ndarray:
        q = mech.assemble(q0, fixed={crank: q0[0] + e[0]}).q
        v = mech.consistent_velocity(q, fixed={crank: v0[0] + e[1]})
        other = sr.simulate(mech, (0.0, 0.2), q, v, **options)
        return np.array([other.q[-1, 0], other.v[-1, 0]])

    numeric = np.stack([(end(E * x) - end(-E * x)) / (2 * E) for x in np.eye(2)], axis=1)
    # dopri5 chooses other steps on the way to each end: its tolerance over E
    assert product == pytest.approx(numeric, rel=1e-6 if method == "rk4" else 1e-4)


def test_inputs_are_held_over_a_step() -> None:
    mech = sr.library.four_bar()
    run = sr.simulate(mech, (0.0, 0.05), dt=1e-2, method="rk4")
    crank = mech.names[0]
    steps = sr.linearize_trajectory(run, independent=[crank], inputs=[crank]).discretize()
    tau = np.zeros(mech.nv)
    tau[0] = 1e-3
    ends = [mech.step(run.q[2], run.v[2], tau=sign * tau, dt=1e-2) for sign in (1.0, -1.0)]
    numeric = np.array([ends[0].q[0] - ends[1].q[0], ends[0].v[0] - ends[1].v[0]]) / 2e-3
    assert steps.B[2][:, 0] == pytest.approx(numeric, rel=1e-7)


def test_short_steps_tend_to_the_continuous_model() -> None:
    mech = sr.library.dual_arm()
    run = sr.simulate(mech, (0.0, 0.01), dt=1e-3, method="rk4")
    model = sr.linearize_trajectory(run)
    steps = model.discretize()
    rate = (steps.A[3] - np.eye(len(steps.names))) / 1e-3
    assert np.abs(rate - 0.5 * (model.A[3] + model.A[4])).max() <= 2e-2 * np.abs(model.A[3]).max()


def test_discrete_models_are_not_discretized_again() -> None:
    run = sr.simulate(sr.library.pendulum(), (0.0, 0.01), dt=1e-3, method="rk4")
    steps = sr.linearize_trajectory(run).discretize()
    with pytest.raises(sr.InputError, match="the models are discrete already"):
        steps.discretize()

"""What comes from Python into a run: controllers, forces, wrenches, drives, rows of user constraints."""

from __future__ import annotations

import math

import numpy as np
import pytest

import sarrus as sr
from tests.simulation.machines import four_bar_moving, spinning_top


def swing(t, q, v):
    return [math.sin(3.0 * t) - 0.3 * v[0]]


# ---------------------------------------------------------------------- controllers


def test_a_controller_at_every_stage_keeps_the_order():
    mech = sr.library.pendulum()
    fine = sr.simulate(mech, (0.0, 1.0), dt=1e-4, control=swing)
    errors = [
        np.abs(sr.simulate(mech, (0.0, 1.0), dt=dt, control=swing).q[-1] - fine.q[-1]).max()
        for dt in (0.04, 0.02)
    ]
    assert math.log2(errors[0] / errors[1]) == pytest.approx(4.0, abs=0.3)


def test_inputs_are_recorded_at_every_step():
    run = sr.simulate(sr.library.pendulum(), (0.0, 0.2), control=swing)
    expected = [swing(t, q, v)[0] for t, q, v in zip(run.t, run.q, run.v, strict=True)]
    np.testing.assert_array_equal(run.u[:, 0], expected)
    np.testing.assert_array_equal(run.tau, run.u)


def test_a_sampled_controller_is_held():
    calls = []

    def control(t, q, v):
        calls.append(t)
        return [math.sin(20.0 * t)]

    run = sr.simulate(sr.library.pendulum(), (0.0, 0.1), control=control, control_dt=0.02)
    np.testing.assert_allclose(calls, [0.0, 0.02, 0.04, 0.06, 0.08, 0.1], atol=1e-15)
    held = np.sin(20.0 * 0.02 * np.floor(run.t / 0.02 + 1e-9))
    np.testing.assert_allclose(run.u[:, 0], held, atol=1e-12)


@pytest.mark.parametrize("method", ["rk4", "dopri5"])
@pytest.mark.parametrize("dt", [0.001, 0.0007, 0.05])
def test_steps_end_at_the_samples(method, dt):
    run = sr.simulate(
        sr.library.pendulum(),
        (0.5, 0.8),
        method=method,
        dt=dt,
        control=lambda t, q, v: [1.0],
        control_dt=0.03,
    )
    samples = 0.5 + 0.03 * np.arange(11)
    assert np.abs(run.t[:, None] - samples).min(axis=0).max() < 1e-12
    if method == "rk4":
        assert np.diff(run.t).max() < min(dt, 0.03) * (1.0 + 1e-9)


def test_holding_in_compiled_code_is_holding_in_python():
    """Drives make Python answer at every stage; an idle one must not change a sampled run."""
    results = []
    for driven in (False, True):
        spec = sr.MechanismSpec()
        spec.body("arm", joint=sr.Revolute("y"), mass=1.0, com=(0.4, 0.0, 0.0), inertia=(0.1, 0.1, 0.1))
        spec.body("wheel", joint=sr.Revolute("z"), mass=1.0, inertia=(0.1, 0.1, 0.1))
        if driven:
            spec.constrain("still", sr.Drive("wheel", lambda t: 0.0))
        run = sr.simulate(
            spec.compile(),
            (0.0, 0.5),
            [0.0, 0.0],
            [0.0, 0.0],
            control=lambda t, q, v: [-2.0 * q[0] - v[0] + t, 0.0],
            control_dt=0.01,  # steps beside drives are not longer anyway
            method="dopri5",
        )
        results.append(run)
    np.testing.assert_allclose(results[0].q, results[1].q, atol=1e-12)
    np.testing.assert_allclose(results[0].u, results[1].u, atol=1e-12)


def test_where_inputs_jump_the_acceleration_is_that_after_the_jump():
    run = sr.simulate(
        sr.library.pendulum(), (0.0, 0.04), control=lambda t, q, v: [t], control_dt=0.02, dt=1e-3
    )
    mech = sr.library.pendulum()
    i = 20
    np.testing.assert_allclose(
        run.a[i], mech.forward_dynamics(run.q[i], run.v[i], u=[run.t[i]]).a, atol=1e-12
    )


def test_actuators_reach_their_coordinates():
    mech = four_bar_moving()
    run = sr.simulate(mech, (0.0, 0.1), control=lambda t, q, v: 2.5, dt=1e-3)
    assert run.u.shape == (101, 1)
    np.testing.assert_array_equal(run.tau, np.tile([2.5, 0.0, 0.0], (101, 1)))
    same = sr.simulate(mech, (0.0, 0.1), tau=[2.5, 0.0, 0.0], dt=1e-3)
    np.testing.assert_allclose(run.q, same.q, atol=1e-14)


# ---------------------------------------------------------------------- forces and wrenches


def test_a_force_can_be_a_function():
    mech = four_bar_moving()
    constant = sr.simulate(mech, (0.0, 0.1), tau=[0.0, 1.0, 0.0], dt=1e-3)
    function = sr.simulate(mech, (0.0, 0.1), tau=lambda t, q, v: [0.0, 1.0, 0.0], dt=1e-3)
    np.testing.assert_array_equal(constant.q, function.q)


@pytest.mark.parametrize("as_function", [False, True])
def test_an_external_wrench_is_a_constant_wrench(as_function):
    wrench, point = np.array([3.0, -1.0, 0.5, 0.2, 0.1, -0.4]), (0.3, 0.1, 0.0)

    def top(forced):
        spec = sr.MechanismSpec()
        spec.body("top", joint=sr.Free(), mass=1.3, com=(0.1, 0.0, 0.2), inertia=(0.05, 0.09, 0.12))
        if forced:
            spec.force("push", sr.ConstantWrench("top", wrench, point))
        return spec.compile()

    given = (lambda t: wrench, point) if as_function else (wrench, point)
    run = sr.simulate(top(False), (0.0, 0.3), external={"top": given}, dt=1e-3)
    np.testing.assert_allclose(run.q, sr.simulate(top(True), (0.0, 0.3), dt=1e-3).q, atol=1e-12)


def test_a_wrench_of_time_pushes():
    """An impulse of 1 N s on 1.3 kg in free fall."""
    mech = spinning_top()
    half_sine = {"top": lambda t: [math.pi / 2 / 0.2 * math.sin(math.pi * t / 0.2), 0, 0, 0, 0, 0]}
    plain, pushed = (sr.simulate(mech, (0.0, 0.2), external=e) for e in (None, half_sine))
    momentum = []
    for run in (plain, pushed):
        R = mech.pose(run.q[-1], "top").rotation
        momentum.append(R @ (mech.mass_matrix(run.q[-1]) @ run.v[-1])[:3])
    np.testing.assert_allclose(momentum[1] - momentum[0], [1.0, 0.0, 0.0], atol=1e-8)


# ---------------------------------------------------------------------- driven constraints


def driven_four_bar(**functions):
    base = sr.library.four_bar()
    spec = sr.MechanismSpec(gravity=(0.0, -9.81, 0.0), name="driven")
    for body in base.model.bodies[1:]:
        spec.body(
            body.name,
            parent=body.parent,
            joint=body.joint,
            at=body.at,
            mass=body.mass,
            com=body.com,
            inertia=body.inertia,
        )
    for name, constraint in base.model.constraints:
        spec.constrain(name, constraint)
    spec.constrain("motor", sr.Drive("crank", **functions))
    return spec.compile(), base


def test_a_drive_prescribes_the_motion():
    """Positions follow the kinematics of the same mechanism swept by hand; nothing is free any more."""
    turn = {
        "function": lambda t: math.pi / 3 + 2.0 * t + 0.3 * math.sin(5.0 * t),
        "rate": lambda t: 2.0 + 1.5 * math.cos(5.0 * t),
        "acceleration": lambda t: -7.5 * math.sin(5.0 * t),
    }
    mech, base = driven_four_bar(**turn)
    assert mech.mobility(base.default.q).dof == 0
    run = sr.simulate(mech, (0.0, 1.0), base.default.q, dt=5e-3)
    assert run.success and run.drift.max() <= 1e-12
    np.testing.assert_allclose(run.q[:, 0], [turn["function"](t) for t in run.t], atol=1e-12)
    np.testing.assert_allclose(run.v[:, 0], [turn["rate"](t) for t in run.t], atol=1e-11)
    np.testing.assert_allclose(run.a[:, 0], [turn["acceleration"](t) for t in run.t], atol=1e-10)
    path = base.sweep("crank", run.q[::20, 0], q0=base.default.q)
    np.testing.assert_allclose(run.q[::20], path.q, atol=1e-9)


def test_the_force_of_a_drive_is_the_torque_of_a_motor():
    """With the torque that the drive exerts, an undriven crank does the same."""
    turn = {
        "function": lambda t: math.pi / 3 + t * t,
        "rate": lambda t: 2.0 * t,
        "acceleration": lambda t: 2.0,
    }
    mech, base = driven_four_bar(**turn)
    run = sr.simulate(mech, (0.0, 0.8), base.default.q, dt=1e-3)
    torque = run.lam[:, mech.row_names.index("motor")]
    again = sr.simulate(base, (0.0, 0.8), control=lambda t, q, v: np.interp(t, run.t, torque))
    np.testing.assert_allclose(again.q[-1], run.q[-1], atol=2e-5)


def test_a_drive_without_derivatives_is_differentiated():
    given, base = driven_four_bar(
        function=lambda t: math.pi / 3 + math.sin(t), rate=math.cos, acceleration=lambda t: -math.sin(t)
    )
    bare, _ = driven_four_bar(function=lambda t: math.pi / 3 + math.sin(t))
    one, two = (sr.simulate(m, (0.0, 0.5), base.default.q, dt=5e-3) for m in (given, bare))
    np.testing.assert_allclose(one.q, two.q, atol=1e-11)
    np.testing.assert_allclose(one.a, two.a, atol=1e-6)


def test_the_start_of_a_driven_mechanism_follows_the_drive():
    """Without q0 the default pose is brought to the start time; without v0 the drive says how fast."""
    mech, _ = driven_four_bar(
        function=lambda t: 1.0 + 0.5 * t, rate=lambda t: 0.5, acceleration=lambda t: 0.0
    )
    run = sr.simulate(mech, (2.0, 2.1))
    assert run.q[0, 0] == pytest.approx(2.0, abs=1e-12) and run.v[0, 0] == pytest.approx(0.5, abs=1e-12)


# ---------------------------------------------------------------------- rows of the user's own


@pytest.mark.parametrize("how", ["phi", "J", "all"])
def test_a_custom_constraint_is_a_constraint(how):
    """The slider of the slider-crank, as a plane and as a function."""

    def phi(q, t):
        return [math.sin(q[0]) + math.sin(q[0] + q[1])]

    def J(q, t):
        return [[math.cos(q[0]) + math.cos(q[0] + q[1]), math.cos(q[0] + q[1])]]

    def gamma(q, v, t):
        return [math.sin(q[0]) * v[0] ** 2 + math.sin(q[0] + q[1]) * (v[0] + v[1]) ** 2]

    built_in = sr.library.slider_crank()
    spec = sr.MechanismSpec(gravity=(0.0, -9.81, 0.0))
    for body in built_in.model.bodies[1:]:
        spec.body(body.name, body.parent, joint=body.joint, at=body.at, mass=body.mass, com=body.com)
    given = {"phi": {}, "J": {"J": J}, "all": {"J": J, "gamma": gamma}}[how]
    spec.constrain("slider", sr.CustomConstraint(phi, 1, **given))
    mech = spec.compile()
    q, v = built_in.default
    mine, theirs = (sr.simulate(m, (0.0, 0.5), q, v, dt=1e-3) for m in (mech, built_in))
    np.testing.assert_allclose(mine.q, theirs.q, atol=1e-10)
    assert mine.drift.max() <= 1e-12
    np.testing.assert_allclose(mine.lam, theirs.lam, atol=1e-6)

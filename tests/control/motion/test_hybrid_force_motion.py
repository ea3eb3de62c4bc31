"""Hybrid force and motion control: independent errors, measured forces, anti-windup, forces out of reach."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sarrus as sr
from sarrus.control.motion.force_feedback import ForceFeedback

C = sr.control


@pytest.fixture(scope="module")
def crank() -> sr.Mechanism:
    mech = sr.library.slider_crank()
    return mech.with_default(mech.assemble([np.pi / 6, 2 * np.pi - np.pi / 3]).q)


def test_forces_and_motion_are_what_was_asked_for() -> None:
    mech = sr.library.dual_arm()
    rng = np.random.default_rng(2)
    q = np.array(mech.default.q)
    v = mech.consistent_velocity(q, 0.5 * rng.normal(size=mech.nv))
    X = mech.pose(q, "left7")
    lam = rng.normal(size=mech.nc)
    goal = {"outputs": C.BodyPose("left7"), "reference": X}
    by_name = C.HybridForceMotion(mech, **goal, force={"weld": lam}).solve(0.0, q, v)
    by_rows = C.HybridForceMotion(
        mech, **goal, force=dict(zip(mech.row_names, lam.tolist(), strict=True))
    ).solve(0.0, q, v)
    J = mech.terms(q, v).J
    by_force = C.HybridForceMotion(mech, **goal, force=lambda t: J.T @ lam).solve(0.0, q, v)
    for found in (by_name, by_rows, by_force):
        motion = mech.forward_dynamics(q, v, u=found.u)
        np.testing.assert_allclose(motion.lam, lam, atol=1e-8)
        np.testing.assert_allclose(found.lam, lam, atol=1e-8)
        np.testing.assert_allclose(found.constraint_force, J.T @ lam, atol=1e-8)
        assert np.abs(found.missed).max() < 1e-8 and np.abs(found.force_error).max() < 1e-8


def test_decoupled_mechanisms_are_recognized() -> None:
    spec = sr.MechanismSpec(gravity=(0.0, 0.0, 0.0), name="bead")
    spec.body("bead", joint=sr.Planar("z"), mass=2.0, inertia=(1.0, 1.0, 1.0))
    spec.constrain(
        "wall", sr.PointOnPlane("ground", (0.0, 0.0, 0.0), "bead", (0.0, 0.0, 0.0), normal=(1.0, 0.0, 0.0))
    )
    bead = spec.compile()
    now = C.HybridForceMotion(bead, ["bead.y", "bead.angle"], [1.0, 0.3], {"wall": -4.0}).solve(
        0.0, [0.0] * 3, [0.0] * 3
    )
    assert now.decoupled
    np.testing.assert_allclose(now.tau_normal, [4.0, 0.0, 0.0], atol=1e-12)
    crank = sr.library.slider_crank()
    coupled = C.HybridForceMotion(crank, "crank", 1.0, {"slider": 0.0}).solve(0.0, *crank.default)
    assert not coupled.decoupled


def test_the_force_error_decays_as_designed(crank: sr.Mechanism) -> None:
    """(1 + G_F) e' + G_I e = 0 with a measured force and a model that is wrong by a constant force."""
    kf, ki, dt = 1.5, 20.0, 1e-3
    offset = 3.0

    def sensor(t: float, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> np.ndarray:
        return crank.forward_dynamics(q, v, u=u, t=t).lam + offset

    law = C.HybridForceMotion(
        crank, "crank", np.pi / 3, {"slider": -2.0}, kp=25, kd=10, kf=kf, ki=ki, measured=sensor
    )
    run = sr.simulate(crank, (0.0, 0.6), control=law, control_dt=dt, dt=dt)
    e = -2.0 - (run.lam[:, 0] + offset)
    k = 50
    expected = e[k] * np.exp(-ki / (1.0 + kf) * (run.t[k:] - run.t[k]))
    np.testing.assert_allclose(e[k:], expected, atol=0.02 * abs(e[k]))
    motion = np.pi / 3 - run.q[:, 0]
    np.testing.assert_allclose(motion, np.pi / 6 * (1 + 5 * run.t) * np.exp(-5 * run.t), atol=2e-3)


@pytest.mark.parametrize("kf", [0.5, 5.0, 50.0])
def test_a_sampled_force_does_not_feed_back_on_itself(crank: sr.Mechanism, kf: float) -> None:
    """The printed law diverges for kf >= 1 with a sampled force; this one holds for every gain."""
    real = crank.with_(mass={"rod": 1.3})
    law = C.HybridForceMotion(
        crank,
        "crank",
        np.pi / 3,
        {"slider": 0.0},
        kp=25,
        kd=10,
        kf=kf,
        ki=10.0,
        measured=real,
        filter_time=2e-3,
    )
    run = sr.simulate(real, (0.0, 0.5), control=law, control_dt=1e-3, dt=1e-3)
    blind = C.HybridForceMotion(crank, "crank", np.pi / 3, {"slider": 0.0}, kp=25, kd=10)
    other = sr.simulate(real, (0.0, 0.5), control=blind, control_dt=1e-3, dt=1e-3)
    late = run.t > 0.3
    assert np.abs(run.lam[late]).max() < np.abs(other.lam[late]).max() / (1.0 + 0.5 * kf)


def test_the_integral_rests_where_the_force_is_held_back(crank: sr.Mechanism) -> None:
    real = crank.with_(mass={"rod": 1.3})
    common = {"kp": 25, "kd": 10, "kf": 1.0, "ki": 50.0, "measured": real}
    law = C.HybridForceMotion(
        crank, "crank", np.pi / 6, {"slider": -80.0}, **common, limits=[C.TorqueBounds((-60.0, 60.0))]
    )
    sr.simulate(real, (0.0, 0.4), control=law, control_dt=1e-3, dt=1e-3)
    assert law.last is not None and law.last.status == C.Status.LIMITED
    assert "missed: slider.ty by -61.5" in law.last.message and "in their way: torque" in law.last.message
    assert abs(law._feedback.integral[0]) < 0.1  # without anti-windup about 0.4 s times tens of newtons
    clamped = C.HybridForceMotion(crank, "crank", np.pi / 6, {"slider": -5.0}, **common, integral_limit=0.5)
    sr.simulate(real, (0.0, 0.4), control=clamped, control_dt=1e-3, dt=1e-3)
    assert abs(50.0 * clamped._feedback.integral[0]) <= 0.5 + 1e-12


def test_a_new_run_starts_afresh(crank: sr.Mechanism) -> None:
    real = crank.with_(mass={"rod": 1.3})
    law = C.HybridForceMotion(crank, "crank", np.pi / 3, {"slider": 0.0}, ki=20.0, measured=real)
    runs = [sr.simulate(real, (0.0, 0.05), control=law, control_dt=1e-3, dt=1e-3) for _ in range(2)]
    assert np.array_equal(runs[0].q, runs[1].q)


def test_forces_that_the_motors_cannot_reach_are_approached() -> None:
    mech = sr.library.slider_crank()
    q = mech.assemble([0.5, 2 * np.pi - 1.0]).q
    law = C.HybridForceMotion(mech, "crank", 0.5, {"slider": 0.0}, actuated=["crank"])
    found = law.solve(0.0, q, np.zeros(2))
    assert abs(found.force_error[0]) > 1.0 and np.abs(found.missed).max() < 1e-9
    assert found.u[1] == 0.0 and found.status == C.Status.PARTIAL
    assert found.forces_missed == pytest.approx({mech.row_names[0]: found.force_error[0]})


def test_more_wishes_than_motors_are_said_to_be_missed() -> None:
    """Two motors, two motions and two forces: the plant has the forces that the result predicts."""
    mech = sr.library.five_bar("raised")
    q, v, motors = mech.default.q, np.zeros(mech.nv), ["link1", "link4"]
    wishes = {"pin.tx": 20.0, "pin.ty": -30.0}
    law = C.HybridForceMotion(mech, motors, [q[0], q[3]], wishes, kp=50.0, actuated=motors)
    found = law.solve(0.0, q, v)
    lam = mech.forward_dynamics(q, v, u=found.u).lam
    missed = {n: w - lam[list(mech.row_names).index(n)] for n, w in wishes.items()}
    assert found.status == C.Status.PARTIAL and found.forces_missed == pytest.approx(missed)
    assert "forces are met as far as possible, missed: pin.tx by 20.96, pin.ty by -92.69" in found.message
    assert law.events[0][1] == C.Status.PARTIAL
    enough = C.HybridForceMotion(mech, "link1", q[0], {"pin.tx": 20.0}, kp=50.0, actuated=motors)
    both = enough.solve(0.0, q, v)
    assert both.status == C.Status.OK and both.message == "" and not both.forces_missed


def test_a_force_is_missed_least_among_motions_that_come_first() -> None:
    """Three wishes for forces, one free direction: the least-squares miss, against all inputs by lstsq."""
    mech = sr.library.dual_planar_arms("body")
    goals = {"grip_left.tx": -60.0, "grip_left.ty": 25.0, "grip_right.tx": 10.0}
    names = ["object.x", "object.y", "object.angle"]
    law = C.HybridForceMotion(mech, names, [0.0, 0.0, 0.0], goals, kp=400.0, kf=0.0)
    q, v = mech.default.q, np.zeros(mech.nv)
    found = law.solve(0.0, q, v)
    response, least = found._step.response, found._step.least
    rows = [list(mech.row_names).index(n) for n in goals]
    wanted = np.array([*goals.values()]) - response.lam0[rows] - response.Lam[rows] @ least.x
    weight = mech.units.row_unit[rows]
    E = weight[:, None] * (response.Lam[rows] @ least.Z)
    left = wanted - response.Lam[rows] @ least.Z @ np.linalg.lstsq(E, weight * wanted, rcond=1e-9)[0]
    expected = {n: x for n, x in zip(goals, left, strict=True) if abs(x) > 1e-4}
    assert expected and found.forces_missed == pytest.approx(expected, rel=1e-6)


def test_of_a_whole_constraint_force_only_what_constraints_bear_counts() -> None:
    mech = sr.library.five_bar("raised")
    q, v = mech.default.q, np.zeros(mech.nv)
    law = C.HybridForceMotion(mech, ["link1", "link4"], [q[0], q[3]], np.ones(mech.nv), kp=50.0)
    found = law.solve(0.0, q, v)
    J = mech.terms(q, v).J
    normal = np.linalg.pinv(J) @ J @ np.ones(mech.nv)
    np.testing.assert_allclose(found.constraint_force, normal, atol=1e-8)
    assert found.status == C.Status.OK and not found.forces_missed


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"force": {"rail": 0.0}}, "unknown row or constraint 'rail'; existing names: 'slider'"),
        ({"force": {}}, "force names no constraint"),
        ({"force": {"slider": np.nan}}, "desired force at t = 0 s must be finite"),
        ({"force": [1.0, 2.0, 3.0]}, "desired force at t = 0 s must have shape"),
        ({"force": {"slider": lambda t: 1 / t}}, "desired force at t = 0 s: it raised ZeroDivisionError"),
        ({"kf": -1.0}, "kf must be positive semidefinite"),
        ({"ki": [1.0, 2.0]}, r"ki must have shape \(1,\)"),
        ({"filter_time": -1.0}, "filter_time must not be negative"),
        ({"integral_limit": 0.0}, "integral_limit must be positive, got 0"),
        ({"measured": 3}, r"measured must be a function \(t, q, v, u\) -> lam, or a Mechanism; got 3"),
        ({"measured": "five_bar"}, "must have the constraints and actuators of the controlled mechanism"),
    ],
)
def test_bad_input(crank: sr.Mechanism, change: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"force": {"slider": 0.0}, **change}
    if given.get("measured") == "five_bar":
        given["measured"] = sr.library.five_bar()
    with pytest.raises(sr.SarrusError, match=message):
        C.HybridForceMotion(crank, "crank", 0.5, **given)
    with pytest.raises(sr.InputError, match="'pendulum' has no constraints, so no forces to regulate"):
        C.HybridForceMotion(sr.library.pendulum(), "rod", 0.5, {"slider": 0.0})


def test_the_loop_solved_by_hand() -> None:
    """y = y_model + d with y_model = command(): the equation of the integral step by step."""
    feedback = ForceFeedback(1, 2.0, 6.0, 0.0, np.inf)
    desired, d, dt = np.array([1.0]), np.array([0.9]), 1e-3
    errors = []
    for i in range(2000):
        command = feedback.command(i * dt, desired, d)
        errors.append(feedback.settle(desired, command, command)[0])
    assert errors[0] == pytest.approx(-0.9 / 3.0)
    t = dt * np.arange(2000)
    np.testing.assert_allclose(errors, -0.3 * np.exp(-6.0 / 3.0 * t), atol=5e-4)

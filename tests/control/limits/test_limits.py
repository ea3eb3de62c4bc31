"""Limits: bounds, contacts, cables, preload, general rows; what happens where they cannot hold."""

from __future__ import annotations

import numpy as np
import pytest

import sarrus as sr

C = sr.control


@pytest.fixture(scope="module")
def lift() -> sr.Mechanism:
    """The parallelogram with motors at both cranks; holding it takes 67.53 N m together (case U2)."""
    spec = sr.MechanismSpec(gravity=(0.0, -9.81, 0.0), name="lift")
    square = {"inertia": (0.01, 0.16, 0.16)}
    tip, end = sr.Pose((0.6, 0.0, 0.0)), sr.Pose((1.0, 0.0, 0.0))
    spec.body("left", joint=sr.Revolute("z"), mass=5.0, com=(0.3, 0.0, 0.0), **square)
    spec.body(
        "coupler", parent="left", joint=sr.Revolute("z"), at=tip, mass=10.0, com=(0.5, 0.0, 0.0), **square
    )
    spec.body("right", joint=sr.Revolute("z"), at=end, mass=5.0, com=(0.3, 0.0, 0.0), **square)
    spec.close("pin", "coupler", "right", joint=sr.Revolute("z"), at_a=end, at_b=tip)
    spec.actuate("left", limits=(-100.0, 100.0))
    spec.actuate("right", limits=(-20.0, 20.0))
    mech = spec.compile()
    return mech.with_default(mech.assemble([0.7, -0.7, 0.7]).q)


HOLDING = 67.53
ROWS = {"left": [[1.0, 0.0, 0.0]], "right": [[0.0, 0.0, 1.0]]}


def hold(mech: sr.Mechanism, limits: object, **more: object) -> C.Solution:
    law = C.ForceLimits(mech, "left", mech.default.q[0], limits, **more)
    return law.solve(0.0, *mech.default)


def test_torque_bounds_shift_the_load(lift: sr.Mechanism) -> None:
    free = hold(lift, C.TorqueBounds((-1000.0, 1000.0)))
    np.testing.assert_allclose(free.u, 0.5 * HOLDING, rtol=1e-4)
    for law in (C.ProjectedInverseDynamics, C.ForceLimits):  # every law keeps the limits of the description
        more = {"limits": C.Preload({"left": 1}, 0.0)} if law is C.ForceLimits else {}
        bounded = law(lift, "left", lift.default.q[0], **more).solve(0.0, *lift.default)
        np.testing.assert_allclose(bounded.u, [HOLDING - 20.0, 20.0], rtol=1e-4)
    found = hold(lift, C.TorqueBounds())
    np.testing.assert_allclose(found.u, [HOLDING - 20.0, 20.0], rtol=1e-4)
    assert found.status == C.Status.LIMITED and found.active_limits == ("torque right",)
    assert found.margins["torque right"] == pytest.approx(0.0, abs=1e-8)
    assert found.margins["torque left"] == pytest.approx(120.0 - HOLDING, rel=1e-3)
    assert found.qp.variables == 1 and found.qp.rows == 2 and found.qp.iterations >= 1 and found.qp.time > 0.0
    slack = hold(lift, C.TorqueBounds((-1000.0, 1000.0)))
    assert slack.status == C.Status.OK and slack.qp.solver == "" and slack.active_limits == ()


def test_limits_that_cannot_hold_are_violated_least(lift: sr.Mechanism) -> None:
    """Rows on torques that are no bounds of motors give way so that the motion does not have to."""
    wide = C.TorqueBounds((-1000.0, 1000.0))
    both = [C.LinearLimits(f"torque {n}", tau=row, lower=-30.0, upper=30.0) for n, row in ROWS.items()]
    found = hold(lift, [wide, *both])
    assert found.status == C.Status.INFEASIBLE and not found.success
    np.testing.assert_allclose(found.u, 0.5 * HOLDING, rtol=1e-4)  # each too much by the same
    assert found.violations == pytest.approx(
        {"torque left": 0.5 * HOLDING - 30.0, "torque right": 0.5 * HOLDING - 30.0}, rel=1e-2
    )
    assert "cannot all hold with this motion; least violation: torque left exceeded by 3.76" in found.message
    assert np.abs(found.missed).max() < 1e-9
    softly = C.LinearLimits("torque left", tau=ROWS["left"], lower=-10.0, upper=10.0)
    uneven = hold(lift, [wide, softly, C.Preload({"right": -1}, 5.0)])
    total = 10.0 - 5.0 - HOLDING
    np.testing.assert_allclose(uneven.u, [10.0 - total / 2.0, -5.0 - total / 2.0], rtol=1e-3)
    assert set(uneven.violations) == {"torque left", "preload right"}


def test_the_motion_can_give_way_instead(lift: sr.Mechanism) -> None:
    found = hold(lift, C.TorqueBounds((-30.0, 30.0)), gives="motion")
    np.testing.assert_allclose(found.u, 30.0, rtol=1e-7)
    assert (
        found.status == C.Status.PARTIAL
        and "the motion gives way to the limits: torque " in found.message
        and set(found.active_limits) == {"torque left", "torque right"}
    )
    assert found.missed[0] > 0.1 and not found.violations
    law = C.ForceLimits(lift, "left", 0.7, C.TorqueBounds((-30.0, 30.0)), gives="motion")
    run = sr.simulate(lift, (0.0, 0.2), control=law, dt=2e-3)
    assert run.success and run.q[-1, 0] < 0.68 and np.abs(run.u).max() < 30.0 + 1e-6
    assert law.events[0][1] == C.Status.PARTIAL and law.events[0][0] == 0.0


def test_nothing_raises_inside_the_loop(lift: sr.Mechanism) -> None:
    law = C.ForceLimits(lift, "left", 0.7, [C.TorqueBounds((-1e-6, 1e-6)), C.Preload({"left": 1}, 1e-7)])
    run = sr.simulate(lift, (0.0, 0.05), control=law, dt=1e-3)
    assert run.success and law.last is not None and law.last.status == C.Status.PARTIAL
    assert np.abs(run.u).max() <= 1e-6


def test_unilateral_contact_and_general_rows_say_the_same() -> None:
    mech = sr.library.three_r_on_slider()
    q, v = map(np.array, mech.default)
    out = [C.Position("link3", (0.1, 0.0, 0.0), "x"), "link3"]
    goal = [[0.2], 0.5]
    free = C.ProjectedInverseDynamics(mech, out, goal).solve(0.0, q, v)
    sign = -np.sign(free.lam[0])
    row = mech.row_names[0]
    pushing = C.ForceLimits(mech, out, goal, C.Unilateral(row, sign, 2.0)).solve(0.0, q, v)
    assert sign * pushing.lam[0] == pytest.approx(2.0) and pushing.active_limits == (f"contact {row}",)
    np.testing.assert_allclose(pushing.a, free.a, atol=1e-8)
    J = mech.terms(q, v).J
    same = {
        "multipliers": C.LinearLimits("same", lam=[[sign]], lower=2.0),
        "functions": C.LinearLimits("same", lam=lambda t, q, v: [[sign]], lower=lambda t, q, v: 2.0),
        "forces": C.LinearLimits("same", force=sign * np.linalg.pinv(J).T, lower=2.0),
        "equality": C.LinearLimits("same", lam=[sign], lower=2.0, upper=2.0),
        "torques": C.LinearLimits(
            "same", tau=pushing.tau - free.tau, lower=(pushing.tau - free.tau) @ pushing.tau
        ),
    }
    for name, limit in same.items():
        found = C.ForceLimits(mech, out, goal, limit).solve(0.0, q, v)
        np.testing.assert_allclose(found.u, pushing.u, atol=1e-7, err_msg=name)
    faster = C.LinearLimits("slow", a=np.eye(3)[0], upper=free.a[0] - 1.0)
    stuck = C.ForceLimits(mech, out, goal, faster).solve(0.0, q, v)
    assert stuck.status == C.Status.INFEASIBLE and stuck.violations["slow"] == pytest.approx(1.0, rel=1e-6)


def test_cables_pull() -> None:
    mech = sr.library.cable_robot()
    q, v = map(np.array, mech.default)
    out, goal = ["body.x", "body.y", "body.angle"], [0.2, 0.1, 0.05]
    free = C.ProjectedInverseDynamics(mech, out, goal).solve(0.0, q, v)
    assert free.u.max() == 0.0  # the description says that cables pull only
    cables = [f"cable{i}" for i in range(1, 5)]
    found = C.ForceLimits(mech, out, goal, C.CableTension(cables, 5.0, 200.0)).solve(0.0, q, v)
    assert found.u.max() == pytest.approx(-5.0, rel=1e-7) and found.u.min() >= -200.0
    np.testing.assert_allclose(found.a, free.a, atol=1e-8 * (1 + np.abs(free.a).max()))
    assert found.active_limits and all(name.startswith("tension cable") for name in found.active_limits)


def test_a_rod_that_is_a_cable() -> None:
    """A mass on two strings (Distance rows) is held up by its own motor; the strings may not push."""
    spec = sr.MechanismSpec(gravity=(0.0, -9.81, 0.0), name="strings")
    spec.body("mass", joint=sr.Planar("z"), mass=1.0, inertia=(0.1, 0.1, 0.1))
    for name, x in (("one", -1.0), ("two", 1.0)):
        spec.constrain(name, sr.Distance("ground", (x, 1.0, 0.0), "mass", (0.0, 0.0, 0.0), np.sqrt(2.0)))
    mech = spec.compile()
    lift = C.LinearLimits("wind", tau=[[0.0, 1.0, 0.0]], lower=20.0, upper=20.0)
    q, v = np.zeros(3), np.zeros(3)
    pushed = C.ForceLimits(mech, "mass.angle", 0.0, lift).solve(0.0, q, v)
    assert np.all(-pushed.lam < 0.0)  # strings in compression
    rows = [f"{name}.distance" for name in ("one", "two")]
    taut = C.ForceLimits(mech, "mass.angle", 0.0, C.CableTension(rows, 3.0)).solve(0.0, q, v)
    assert np.min(-taut.lam) >= 3.0 - 1e-9
    both = C.ForceLimits(mech, "mass.angle", 0.0, [C.CableTension(rows, 3.0), lift]).solve(0.0, q, v)
    assert both.status == C.Status.INFEASIBLE


def test_preload_keeps_the_teeth_together(lift: sr.Mechanism) -> None:
    found = hold(lift, C.Preload({"left": 1, "right": -1}, 8.0))
    assert found.u[1] == pytest.approx(-8.0) and found.u[0] == pytest.approx(HOLDING + 8.0, rel=1e-3)


def test_multipliers_that_redundancy_leaves_open_are_mentioned(lift: sr.Mechanism) -> None:
    """Of the five rows of a hinge that closes a planar loop, tz, rx and ry are redundant."""
    assert hold(lift, C.Unilateral("pin.ty", -1, -1e3)).message == ""
    found = hold(lift, C.Unilateral("pin.rx", 1, -1.0))
    assert "multipliers undetermined, limits are judged by what is possible: pin.rx" in found.message
    for row, doubtful in (("pin.tx", False), ("pin.tz", True)):
        now = C.HybridForceMotion(lift, "left", 0.7, {row: 0.0}).solve(0.0, *lift.default)
        assert (f"the least ones are meant: {row}" in now.message) == doubtful


def test_contradictions_are_named(lift: sr.Mechanism) -> None:
    with pytest.raises(
        sr.InputError,
        match=r"contradict each other whatever the motion: 'torque left', 'preload left'\. Loosen",
    ):
        hold(lift, [C.TorqueBounds({"left": (-5.0, 5.0), "right": (-1.0, 1.0)}), C.Preload({"left": 1}, 6.0)])
    mech = sr.library.dual_arm_box()
    grips = [C.Friction("grip_left", 0.5, "-z", least=20.0), C.Unilateral("grip_left.tz", -1, -5.0)]
    C.ForceLimits(mech, C.BodyPose("box"), sr.Pose(), grips)
    pull = C.LinearLimits("pull", lam=np.eye(12)[2], lower=1.0)
    with pytest.raises(sr.InputError, match="'friction grip_left', 'pull'"):
        C.ForceLimits(mech, C.BodyPose("box"), sr.Pose(), [*grips, pull])


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ([], "ForceLimits without limits"),
        ([3], "limits must be limits, such as TorqueBounds"),
        (C.TorqueBounds({"middle": (0, 1)}), "unknown actuator 'middle'; existing names: 'left', 'right'"),
        (C.TorqueBounds((2.0, 1.0)), r"lower bound must not exceed the upper one, got \(2, 1\)"),
        (C.TorqueBounds({"left": 4.0}), "must be a pair"),
        (C.Friction("pin", -0.2), "mu of Friction.'pin'. must be positive, got -0.2"),
        (C.Friction("loop", 0.2), "unknown loop with rows tx, ty, tz 'loop'; existing names: 'pin'"),
        (C.Friction("pin", 0.2, "w"), "unknown normal 'w'; existing names: 'x', '-x'"),
        (C.Friction("pin", 0.2, edges=2), "edges of Friction.'pin'. must be a whole number of at least 3"),
        (C.Friction("pin", 0.2, least=-1.0), "least of Friction.'pin'. must not be negative"),
        (C.Unilateral("pin.tw"), "unknown row 'pin.tw'; existing names: 'pin.tx'"),
        (C.Unilateral("pin.tx", 2.0), r"must be \+1 or -1, got 2.0"),
        (C.CableTension([], 1.0), "at least one cable"),
        (C.CableTension("left", 3.0, 2.0), "lower bound must not exceed"),
        (C.Preload({"left": 1}, -2.0), "least of Preload must not be negative"),
        (C.LinearLimits("x"), "limit 'x' says nothing"),
        (C.LinearLimits("x", lam=np.ones((1, 3))), r"lam rows of limit 'x' must have shape \(5,\)"),
        (C.LinearLimits("x", tau=np.ones((2, 3)), a=np.ones((1, 3))), "same number of rows, got 2 and 1"),
        (
            C.LinearLimits("x", tau=np.ones((2, 3)), upper=[1.0, 2.0, 3.0]),
            r"upper of limit 'x' must be a number or \(2,\)",
        ),
        (C.LinearLimits("x", tau=np.ones((2, 3)), upper=np.nan), "upper of limit 'x' must not be NaN"),
        (C.LinearLimits("x", tau=np.ones((1, 3)), lower=2.0, upper=1.0), "got 2 and 1 in row 0"),
    ],
)
def test_bad_limits_are_refused(lift: sr.Mechanism, limits: object, message: str) -> None:
    with pytest.raises(sr.SarrusError, match=message):
        hold(lift, limits)


def test_bad_choices_are_refused(lift: sr.Mechanism) -> None:
    with pytest.raises(sr.InputError, match="gives must be of 'contacts', 'limits', 'motion', or a list"):
        hold(lift, C.TorqueBounds(), gives="up")
    with pytest.raises(sr.InputError, match="solver must be one of 'auto', 'kernel', 'daqp'"):
        hold(lift, C.TorqueBounds(), solver="magic")
    mech, cone = sr.library.dual_arm_box(), C.Friction("grip_left", 0.5, edges=None)
    with pytest.raises(sr.InputError, match='solver="daqp" knows no cones'):
        C.ForceLimits(mech, C.BodyPose("box"), sr.Pose(), cone, solver="daqp")
    with pytest.raises(sr.InputError, match="no actuator of 'slider_crank' has limits"):
        C.ForceLimits(sr.library.slider_crank(), "crank", 0.0, C.TorqueBounds())


def test_missing_solvers_are_named(lift: sr.Mechanism, monkeypatch: pytest.MonkeyPatch) -> None:
    from sarrus.control.limits import quadratic_program as qp

    monkeypatch.setattr(qp, "find_spec", lambda name: None)
    with pytest.raises(sr.InputError, match=r"package daqp is needed .* pip install 'sarrus\[qp\]'"):
        hold(lift, C.TorqueBounds(), solver="daqp")
    mech, cone = sr.library.dual_arm_box(), C.Friction("grip_left", 0.5, edges=None)
    with pytest.raises(sr.InputError, match=r"package clarabel is needed .* pip install 'sarrus\[qp\]'"):
        C.ForceLimits(mech, C.BodyPose("box"), sr.Pose(), cone)

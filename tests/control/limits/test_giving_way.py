"""What gives way where not everything can be had, in which order; bounds of motors never do."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import sarrus as sr

from ..motion.test_optimality import random_case

C = sr.control
FEET = ("front_left", "front_right", "rear_left", "rear_right")
CONFLICT = "the limits cannot all hold with this motion; least violation: "


def trotting(speed: float) -> tuple[sr.Mechanism, np.ndarray, np.ndarray]:
    """The quadruped on four feet that cannot push it so fast without pulling."""
    mech = sr.library.quadruped()
    q = np.array(mech.default.q)
    v = mech.consistent_velocity(q, np.r_[speed, np.zeros(mech.nv - 1)])
    return mech, q, v


def levels(mech: sr.Mechanism, limits: list) -> C.TaskHierarchy:
    trunk = mech.pose(mech.default.q, "trunk")
    return C.TaskHierarchy(mech, [C.PriorityTask(C.BodyPose("trunk"), trunk, kp=200)], limits=limits)


def tracked(mech: sr.Mechanism, limits: list) -> C.ForceLimits:
    trunk = mech.pose(mech.default.q, "trunk")
    return C.ForceLimits(mech, C.BodyPose("trunk"), trunk, limits, kp=200)


def squeezed(mech: sr.Mechanism, limits: list) -> C.HybridForceMotion:
    trunk = mech.pose(mech.default.q, "trunk")
    force = {f"{FEET[0]}.tz": 30.0}
    return C.HybridForceMotion(mech, C.BodyPose("trunk"), trunk, force, limits=limits, kp=200)


@pytest.mark.parametrize("law", [levels, tracked, squeezed])
@pytest.mark.parametrize("speed", [0.0, 3.0, 30.0, 3e3, 3e7])
@pytest.mark.parametrize("edges", [8, None])
def test_motors_are_never_asked_for_more(law: Callable, speed: float, edges: int | None) -> None:
    mech, q, v = trotting(speed)
    grips = [C.Friction(foot, 0.6, least=5.0, edges=edges) for foot in FEET]
    found = law(mech, [C.TorqueBounds((-20.0, 20.0)), *grips]).solve(0.0, q, v)
    assert np.abs(found.u).max() <= 20.0
    if speed >= 3.0:
        assert found.status in (C.Status.PARTIAL, C.Status.INFEASIBLE, C.Status.FAILED) and found.message
    if found.status == C.Status.INFEASIBLE:
        assert found.violations and not any(name.startswith("torque") for name in found.violations)


@pytest.mark.parametrize("law", [levels, tracked, squeezed])
def test_a_plant_that_runs_away_does_not_raise_bounds(law: Callable) -> None:
    """States between 1e-3 and 1e12 times ordinary ones, and NaN: whatever the status, |u| stays."""
    mech = sr.library.quadruped()
    one = law(mech, [C.TorqueBounds((-20.0, 20.0)), *(C.Friction(foot, 0.6, least=5.0) for foot in FEET)])
    rng = np.random.default_rng(1)
    for k in range(40):
        size = 10.0 ** rng.uniform(-3.0, 12.0)
        q = mech.integrate(mech.default.q, 0.2 * rng.normal(size=mech.nv) * min(size, 1.0))
        v = size * rng.normal(size=mech.nv)
        if k % 10 == 9:
            v[3] = np.nan
        found = one.solve(0.01 * k, q, v)
        assert np.isfinite(found.u).all() and np.abs(found.u).max() <= 20.0


def test_bounds_of_the_description_hold_without_being_asked_for() -> None:
    """Of every law, also of those that take no limits."""
    spec = sr.MechanismSpec(gravity=(0.0, -9.81, 0.0), name="arm")
    spec.body("one", joint=sr.Revolute("z"), mass=2.0, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1))
    at = sr.Pose((1.0, 0, 0))
    spec.body("two", "one", joint=sr.Revolute("z"), at=at, mass=1.0, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1))
    spec.constrain("wall", sr.PointOnLine("ground", (1.5, 0, 0), "two", (1.0, 0, 0), "y"))
    spec.actuate("one", limits=(-15.0, 15.0))
    spec.actuate("two", limits=(-5.0, 5.0))
    mech = spec.compile()
    mech = mech.with_default(mech.assemble([0.6, -1.2]).q)
    laws = [
        C.ProjectedInverseDynamics(mech, "one", 3.0, kp=400.0),
        C.HybridForceMotion(mech, "one", 3.0, {mech.row_names[0]: 500.0}, kp=400.0),
        C.TaskHierarchy(mech, C.PriorityTask("one", 3.0, kp=400.0)),
        C.ForceLimits(mech, "one", 3.0, C.Unilateral(mech.row_names[0], 1, 500.0), kp=400.0),
    ]
    for law in laws:
        found = law.solve(0.0, *mech.default)
        assert np.all(np.abs(found.u) <= [15.0, 5.0]), type(law).__name__
        assert found.status in (C.Status.PARTIAL, C.Status.INFEASIBLE)
        assert "limits" in found.message and {"torque one", "torque two"} & set(found.active_limits)
    wider = C.ForceLimits(
        mech, "one", 3.0, C.TorqueBounds({"one": (-1e4, 1e4), "two": (-1e4, 1e4)}), kp=400.0
    )
    assert np.abs(wider.solve(0.0, *mech.default).u).max() > 15.0  # bounds given to the law count instead


@pytest.fixture(scope="module")
def lift() -> sr.Mechanism:
    """The parallelogram of case U2 with motors at both cranks."""
    spec = sr.MechanismSpec(gravity=(0.0, -9.81, 0.0), name="lift")
    bar = {"inertia": (0.01, 0.16, 0.16)}
    tip, end = sr.Pose((0.6, 0.0, 0.0)), sr.Pose((1.0, 0.0, 0.0))
    spec.body("left", joint=sr.Revolute("z"), mass=5.0, com=(0.3, 0, 0), **bar)
    spec.body("coupler", "left", joint=sr.Revolute("z"), at=tip, mass=10.0, com=(0.5, 0, 0), **bar)
    spec.body("right", joint=sr.Revolute("z"), at=end, mass=5.0, com=(0.3, 0, 0), **bar)
    spec.close("pin", "coupler", "right", joint=sr.Revolute("z"), at_a=end, at_b=tip)
    spec.actuate("left", "right")
    mech = spec.compile()
    return mech.with_default(mech.assemble([0.7, -0.7, 0.7]).q)


CONTACT, PRELOAD = C.Unilateral("pin.tx", 1, 60.0), C.Preload({"left": 1}, 25.0)


def settle(lift: sr.Mechanism, gives: object, *more: object) -> C.Solution:
    """A contact that needs left <= 10.6 N m without motion, and a preload of 25 N m there."""
    law = C.ForceLimits(lift, "left", lift.default.q[0], [CONTACT, PRELOAD, *more], gives=gives)
    return law.solve(0.0, *lift.default)


def test_contacts_give_way_first(lift: sr.Mechanism) -> None:
    found = settle(lift, "limits")
    assert set(found.violations) == {"contact pin.tx"} and np.abs(found.a).max() < 1e-8
    assert found.u[0] == pytest.approx(25.0) and found.status == C.Status.INFEASIBLE
    assert found.message.startswith(CONFLICT + "contact pin.tx exceeded by 37.33")
    assert settle(lift, ["contacts"]).u == pytest.approx(found.u)
    assert settle(lift, ["limits"]).violations == pytest.approx(found.violations)


def test_the_order_can_be_chosen(lift: sr.Mechanism) -> None:
    named = settle(lift, ["preload left"])
    assert set(named.violations) == {"preload left"} and named.lam[0] == pytest.approx(60.0)
    moved = settle(lift, "motion")
    assert not moved.violations and moved.status == C.Status.PARTIAL and moved.missed[0] < -1.0
    assert moved.message == "the motion gives way to the limits: contact pin.tx, preload left"
    assert moved.lam[0] == pytest.approx(60.0) and moved.u[0] == pytest.approx(25.0)


def test_motors_come_before_everything_in_every_order(lift: sr.Mechanism) -> None:
    weak = C.TorqueBounds((-40.0, 40.0))
    orders = [
        "limits",
        "motion",
        ["contacts"],
        ["preload left"],
        ["motion", "preload left"],
        ["limits", "motion"],
    ]
    found = {str(gives): settle(lift, gives, weak) for gives in orders}
    for one in found.values():
        assert np.abs(one.u).max() <= 40.0 and one.status == C.Status.INFEASIBLE
    first = found["limits"]
    assert np.abs(first.a).max() < 1e-7 and set(first.violations) == {"contact pin.tx"}
    assert first.u[1] == pytest.approx(
        40.0, rel=1e-7
    )  # as little violation of the contact as motors and motion allow
    last = found["['motion', 'preload left']"]
    assert set(last.violations) == {"preload left"} and last.lam[0] == pytest.approx(60.0)
    assert "the motion gives way to the limits" in last.message


def test_the_motion_gives_way_to_motors_alone(lift: sr.Mechanism) -> None:
    """Holding takes 67.53 N m; what two motors of 30 lack is missing, and said."""
    law = C.ForceLimits(lift, "left", lift.default.q[0], C.TorqueBounds((-30.0, 30.0)))
    found = law.solve(0.0, *lift.default)
    np.testing.assert_allclose(found.u, 30.0, rtol=1e-9)
    assert np.abs(found.u).max() <= 30.0
    assert found.status == C.Status.PARTIAL and found.success and not found.violations
    assert found.message == "the motion gives way to the limits: torque left, torque right"
    expected = lift.forward_dynamics(*lift.default, u=found.u).a
    np.testing.assert_allclose(found.a, expected, atol=1e-9)


def test_what_never_gives_way_cannot_be_named(lift: sr.Mechanism) -> None:
    with pytest.raises(sr.InputError, match="bounds of motors never give way, got 'torque left'"):
        settle(lift, ["torque left"], C.TorqueBounds((-40.0, 40.0)))
    with pytest.raises(sr.InputError, match=r"gives must be of .*'preload left', or a list, got .'pin'"):
        settle(lift, ["pin"])
    with pytest.raises(sr.InputError, match="gives must be"):
        settle(lift, 3)


def test_limits_of_a_hierarchy_give_way_in_the_same_order() -> None:
    """A box of 60 kg is too heavy for motors of 40 N m: tasks first, then contacts; motors stay."""
    mech = sr.library.dual_arm_box().with_(mass={"box": 60.0})
    box = mech.pose(mech.default.q, "box")
    grips = [C.Friction(f"grip_{side}", 0.5, "-z", least=2000.0) for side in ("left", "right")]
    weak = C.TorqueBounds((-40.0, 40.0))
    task = C.PriorityTask(C.BodyPose("box"), box)
    found = C.TaskHierarchy(mech, task, limits=[weak, *grips]).solve(0.0, *mech.default)
    assert found.status == C.Status.INFEASIBLE and np.abs(found.u).max() <= 40.0
    assert {name.split()[0] for name in found.violations} <= {"contact", "friction"}
    grip = C.Preload({"left1": 1}, 5.0)
    order = ["preload left1"]
    kept = C.TaskHierarchy(mech, task, limits=[*grips, weak, grip], gives=order).solve(0.0, *mech.default)
    assert np.abs(kept.u).max() <= 40.0 and sum(kept.violations.values()) > 0.0


def test_an_object_too_heavy_for_the_motors() -> None:
    mech = sr.library.dual_arm_box().with_(mass={"box": 60.0})
    hands = [
        C.Patch(g, 0.5, torsion=0.03, half=(0.05, 0.05), least=10.0) for g in ("grip_left", "grip_right")
    ]
    law = C.ObjectImpedance(mech, C.Grasp(mech, "box", hands), limits=C.TorqueBounds((-60.0, 60.0)))
    found = law.solve(0.0, *mech.default)
    assert np.abs(found.u).max() <= 60.0
    assert found.status in (C.Status.PARTIAL, C.Status.INFEASIBLE) and "gives way" in found.message


@pytest.mark.parametrize("seed", range(12))
def test_random_mechanisms_noise_and_conflicts(seed: int) -> None:
    """Of every law: |u| within the bounds; OK or LIMITED mean that motion, forces and limits are met."""
    mech, q, v, output, goal = random_case(seed)
    rng = np.random.default_rng(200 + seed)
    for noise in (0.0, 1e-4, 1e-2):
        pose = mech.integrate(q, noise * rng.normal(size=mech.nv))
        speed = v * 10.0 ** rng.uniform(-1.0, 2.0) + noise * rng.normal(size=mech.nv)
        bound = 10.0 ** rng.uniform(-1.0, 2.0)
        limits = [
            C.TorqueBounds((-bound, bound)),
            C.LinearLimits("forces", lam=rng.normal(size=(3, mech.nc)), lower=-5.0, upper=5.0),
            C.LinearLimits("motion", a=rng.normal(size=(1, mech.nv)), upper=1.0),
        ]
        laws = [
            C.ForceLimits(mech, output, goal, limits, kp=20.0),
            C.ForceLimits(mech, output, goal, limits, kp=20.0, gives="motion"),
            C.TaskHierarchy(mech, C.PriorityTask(output, goal, kp=20.0), limits=limits),
            C.HybridForceMotion(mech, output, goal, {mech.row_names[0]: 7.0}, limits=limits, kp=20.0),
        ]
        for law in laws:
            found = law.solve(0.0, pose, speed)
            assert np.abs(found.u).max() <= bound
            if found.status not in (C.Status.OK, C.Status.LIMITED):
                assert found.message
                continue
            size = 1.0 + np.abs(found._task.wanted).max()
            assert np.abs(found.missed).max() < 1e-6 * size
            assert min(found.margins.values()) > -1e-6 * (1.0 + np.abs(found.lam).max())


@pytest.mark.parametrize("noise", [0.0, 1e-7, 1e-5, 1e-3])
def test_bounds_hold_where_the_rank_changes(noise: float) -> None:
    """The slider-crank with two motors through the pose where its rank changes, with noise."""
    mech = sr.library.slider_crank()
    way = C.MinimumJerk(np.pi / 3, 2 * np.pi / 3, 0.5)
    rng = np.random.default_rng(5)
    laws = [
        C.ForceLimits(mech, "crank", way, C.TorqueBounds((-60.0, 60.0)), kp=100.0),
        C.TaskHierarchy(mech, C.PriorityTask("crank", way, kp=100.0), limits=C.TorqueBounds((-60.0, 60.0))),
    ]
    for law in laws:
        for t in np.linspace(0.0, 0.5, 101):
            q = mech.assemble(fixed={"crank": float(way(t).x[0])}).q
            q = mech.integrate(q, noise * rng.normal(size=mech.nv))
            v = mech.consistent_velocity(q, rng.normal(size=mech.nv)) + noise * rng.normal(size=mech.nv)
            assert np.abs(law.solve(float(t), q, v).u).max() <= 60.0

"""Feet and grips that hold elsewhere than declared, that slip and that lift off."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import sarrus as sr
from sarrus.control.core.fading import ENCODERS
from sarrus.control.state.footing import NOISES

C = sr.control
SIDES = {"l": 0.1, "r": -0.1}


def biped(joint: object) -> sr.Mechanism:
    """Two legs of five hinges on a floating trunk, feet held to the ground by a joint."""
    spec = sr.MechanismSpec(name="biped")
    at = sr.Pose((0, 0, 0.8))
    spec.body("trunk", joint=sr.Free(), at=at, mass=10.0, inertia=(0.1, 0.1, 0.1))
    light, shank = (
        {"mass": 0.3, "inertia": (0.01,) * 3},
        {"mass": 1.0, "com": (0, 0, -0.2), "inertia": (0.01,) * 3},
    )
    for side, y in SIDES.items():
        spec.body(f"roll{side}", "trunk", joint=sr.Revolute("x"), at=sr.Pose((0, y, 0)), **light)
        spec.body(f"hip{side}", f"roll{side}", joint=sr.Revolute("y"), **shank)
        spec.body(f"knee{side}", f"hip{side}", joint=sr.Revolute("y"), at=sr.Pose((0, 0, -0.4)), **shank)
        spec.body(f"ankle{side}", f"knee{side}", joint=sr.Revolute("y"), at=sr.Pose((0, 0, -0.4)), **light)
        spec.body(f"foot{side}", f"ankle{side}", joint=sr.Revolute("x"), **light)
        spec.close(f"sole{side}", "ground", f"foot{side}", joint, at_a=sr.Pose((0, y, 0)))
    spec.actuate(*[f"{part}{side}" for side in SIDES for part in ("roll", "hip", "knee", "ankle", "foot")])
    return spec.compile()


def stepped(mech: sr.Mechanism, x: float, turn: float) -> tuple[sr.Mechanism, np.ndarray]:
    """The same with the left foot declared x ahead and turned about the vertical, and its pose. With feet in
    parallel a row is about to be lost, so that forces are a matter of rounding."""
    one = dict(mech.model.constraints)["solel"]
    at = sr.Pose((x, 0, 0)) @ one.at_a @ sr.Pose(rpy=(0, 0, turn))
    other = mech.with_constraints(replaced={"solel": replace(one, at_a=at)})
    guess = mech.neutral()
    for side in SIDES:
        for part, angle in (("hip", -0.4), ("knee", 0.8), ("ankle", -0.4)):
            guess[mech.index(f"{part}{side}").q] = angle
    guess[2] = -0.06
    return other, other.assemble(guess).q


def standing(mech: sr.Mechanism, q: np.ndarray, **more: object) -> C.TaskHierarchy:
    trunk = mech.pose(q, "trunk")
    tasks = [C.PriorityTask(C.CenterOfMass(), mech.center_of_mass(q), kp=100.0)]
    return C.TaskHierarchy(mech, [*tasks, C.PriorityTask(C.Orientation("trunk"), trunk, priority=2)], **more)


@pytest.mark.parametrize(("x", "turn"), [(0.06, 0.2), (0.036, -0.2), (-0.02, 0.3), (0.002, 0.1)])
@pytest.mark.parametrize("joint", [sr.Fixed(), sr.Spherical()])
def test_footholds_are_where_feet_are_measured(joint: object, x: float, turn: float) -> None:
    """A law for feet declared elsewhere is the law for the feet where they stand."""
    home = biped(joint)
    there, q = stepped(home, x, turn)
    v = np.zeros(home.nv)
    near, far = standing(there, q).solve(0.0, q, v), standing(home, q).solve(0.0, q, v)
    np.testing.assert_allclose(far.u, near.u, atol=1e-7 * np.abs(near.u).max())
    np.testing.assert_allclose(far.a, near.a, atol=1e-7)
    assert far.status == near.status and far.message == near.message and far.gap < 1e-9


def test_a_fixed_foot_that_steps_on() -> None:
    """In the air and down again elsewhere, by `active`: no word of slipping, and the law of the new place."""
    home = biped(sr.Fixed())
    there, q = stepped(home, 0.05, -0.2)
    on: list[tuple[str, ...]] = [("solel", "soler")]
    law = standing(home, q, active=lambda t, q, v: on[0])
    _, at_home = stepped(home, 0.0, 0.2)
    v = np.zeros(home.nv)
    law.solve(0.0, at_home, v)
    on[0] = ("soler",)
    law.solve(0.1, at_home, v)
    on[0] = ("solel", "soler")
    found = law.solve(0.2, q, v)
    expected = standing(there, q).solve(0.0, q, v)
    np.testing.assert_allclose(found.u, expected.u, atol=1e-7 * np.abs(expected.u).max())
    assert found.status != C.Status.SLIPPING
    law.reset()
    again = law.solve(0.0, at_home, v)
    np.testing.assert_allclose(again.u, standing(home, q).solve(0.0, at_home, v).u, atol=1e-7)


@pytest.mark.parametrize("joint", [sr.Fixed(), sr.Spherical()])
def test_a_foot_that_slides_is_reported(joint: object) -> None:
    home = biped(joint)
    _, q = stepped(home, 0.0, 0.2)
    law = standing(home, q)
    assert law.solve(0.0, q, np.zeros(home.nv)).status != C.Status.SLIPPING
    v = sliding(home, q, 0.2)
    found = law.solve(0.01, q, v)
    assert found.status == C.Status.SLIPPING and set(found.slips) == {"solel"} and not found.lifts
    assert found.slips["solel"] == pytest.approx(0.2, rel=1e-6) and "solel slips at 0.2 m/s" in found.message
    there, away = stepped(home, 0.08, 0.2)
    later = law.solve(0.41, away, np.zeros(home.nv))
    assert later.status == C.Status.SLIPPING and "solel has moved by 0.08 m" in later.message
    rests = law.solve(0.42, away, np.zeros(home.nv))
    assert rests.status != C.Status.SLIPPING and "moved" not in rests.message
    expected = standing(there, q).solve(0.0, away, np.zeros(home.nv))
    np.testing.assert_allclose(rests.u, expected.u, atol=1e-6 * np.abs(expected.u).max())


@pytest.mark.parametrize("speed", [1e-5, 1e-3, 2e-2])
def test_what_counts_as_moving_follows_from_the_accuracy_of_speeds(speed: float) -> None:
    """A foot slips at 3 mm/s: certain where speeds are known to 1e-5, not where to 1e-3 or 0.02. Before, 0.1
    lengths per second were the bound whatever was declared: good sensors were not believed, and noise of bad
    ones was called slipping."""
    home = biped(sr.Fixed())
    _, q = stepped(home, 0.0, 0.2)
    law = standing(home, q, measurement=(1e-5, speed))
    law.solve(0.0, q, np.zeros(home.nv))
    assert (law.solve(0.01, q, sliding(home, q, 3e-3)).status == C.Status.SLIPPING) == (speed < 1e-4)
    rng = np.random.default_rng(0)
    for k in range(100):
        noise = speed * np.asarray(home.units.unit) * rng.normal(size=home.nv)
        assert law.solve(0.02 + 0.01 * k, q, noise).status != C.Status.SLIPPING
    law.reset()
    law.solve(0.0, q, np.zeros(home.nv))
    found = law.solve(0.01, q, sliding(home, q, 50.0 * speed * home.length))
    assert found.status == C.Status.SLIPPING and set(found.slips) == {"solel"}


def sliding(mech: sr.Mechanism, q: np.ndarray, speed: float, axis: int = 0) -> np.ndarray:
    """Velocity with the left foot at this speed along an axis, the right one at rest."""
    J = np.concatenate([mech.jacobian(q, "footl"), mech.jacobian(q, "footr")])
    goal = np.zeros(12)
    goal[axis] = speed
    return np.linalg.lstsq(J, goal, rcond=1e-9)[0]


def test_a_foot_that_lifts_off_is_told_from_one_that_slides() -> None:
    home = biped(sr.Fixed())
    _, q = stepped(home, 0.0, 0.2)
    limits = [C.Friction(f"sole{side}", 0.5) for side in SIDES]
    law = standing(home, q, limits=limits)
    law.solve(0.0, q, np.zeros(home.nv))
    found = law.solve(0.01, q, sliding(home, q, 0.3, axis=2))
    assert set(found.lifts) == {"solel"} and found.lifts["solel"] == pytest.approx(0.3, rel=1e-6)
    assert "solel lifts off at 0.3 m/s" in found.message and found.status in (
        C.Status.SLIPPING,
        C.Status.INFEASIBLE,
    )
    down = law.solve(0.02, q, sliding(home, q, -0.3, axis=2))
    assert not down.lifts


@pytest.mark.parametrize("damping", [0.0, 25.0])
def test_contacts_that_slip_are_brought_to_rest(damping: float) -> None:
    """J a = gamma - damping (J v - b): the foot decelerates in what the law predicts."""
    home = biped(sr.Fixed())
    _, q = stepped(home, 0.0, 0.2)
    law = standing(home, q, contact_damping=damping)
    law.solve(0.0, q, np.zeros(home.nv))
    for t in (0.01, 0.02):  # seen, then damped
        found = law.solve(t, q, sliding(home, q, 0.2))
    now = found._step.now
    terms = law._compiled.system.terms(now.q, now.v)
    slowed = (terms.J @ found.a - terms.gamma)[:3]  # in the axes of the foot
    np.testing.assert_allclose(np.linalg.norm(slowed), damping * 0.2, atol=1e-6)
    assert damping == 0.0 or slowed[0] < -0.9 * damping * 0.2


def test_states_at_one_time_are_no_motion() -> None:
    """A law that is asked about many poses at one time has seen nothing move."""
    robot = sr.library.quadruped()
    task = C.PriorityTask(C.Position("trunk"), robot.pose(robot.default.q, "trunk").xyz)
    law = C.TaskHierarchy(robot, task)
    rng = np.random.default_rng(0)
    for _ in range(5):
        q = robot.integrate(robot.default.q, 0.2 * rng.normal(size=robot.nv))
        assert law.solve(0.0, q, np.zeros(robot.nv)).status != C.Status.SLIPPING


def test_a_plant_on_three_feet_under_a_law_that_counts_on_four() -> None:
    """The fourth foot moves, and the law says so within ten milliseconds."""
    robot = sr.library.quadruped()
    feet = ("front_left", "front_right", "rear_left")
    plant = robot.with_constraints(active=feet)
    trunk = robot.pose(robot.default.q, "trunk")
    limits = [C.Friction(foot, 0.6) for foot in (*feet, "rear_right")]
    law = C.TaskHierarchy(robot, [C.PriorityTask(C.BodyPose("trunk"), trunk, kp=50.0)], limits=limits)
    run = sr.simulate(plant, (0.0, 0.1), robot.default.q, control=law, control_dt=2e-3, dt=1e-3)
    assert run.success
    moved = [robot.pose(q, "rear_right_shank").apply((0.0, 0.0, -0.2)) for q in run.q]
    speed = np.linalg.norm(np.gradient(moved, run.t, axis=0), axis=1)
    first = run.t[np.argmax(speed > 2.0 * NOISES * ENCODERS[1] * robot.length)]
    said = [t for t, status, _ in law.events if status == C.Status.SLIPPING]
    assert said and abs(said[0] - first) < 0.01


def test_noise_on_loops_that_stay_closed_is_projected_as_before() -> None:
    """Only what can be put down elsewhere is: the loops of a platform are where they were declared."""
    mech = sr.library.stewart()
    law = C.ProjectedInverseDynamics(mech, C.BodyPose("platform"), mech.pose(mech.default.q, "platform"))
    noisy = mech.integrate(mech.default.q, 5e-3 * np.random.default_rng(1).normal(size=mech.nv))
    found = law.solve(0.0, noisy, np.zeros(mech.nv))
    exact = mech.project(noisy)
    assert found.gap > 1e-4 and law._compiled.system is law.system
    np.testing.assert_allclose(found._step.now.q, exact.q, atol=1e-9)


def test_a_grip_that_takes_hold_elsewhere() -> None:
    """Opened and latched two centimetres aside: forces and torques are those of a law for the new place."""
    mech = sr.library.dual_arm_box()
    one = dict(mech.model.constraints)["grip_right"]
    moved = replace(one, at_a=one.at_a @ sr.Pose((0.02, 0.01, 0.0), rpy=(0, 0, 0.1)))
    there = mech.with_constraints(replaced={"grip_right": moved})
    q0 = np.array(mech.default.q)
    q, v = there.project(q0).q, np.zeros(mech.nv)
    X = mech.pose(q, "box")
    limits = [C.Friction(f"grip_{side}", 0.4, "-z", least=20.0) for side in ("left", "right")]
    on: list[tuple[str, ...]] = [("grip_left", "grip_right")]
    law = C.ForceLimits(mech, C.BodyPose("box"), X, limits, active=lambda t, q, v: on[0])
    law.solve(0.0, q0, v)
    on[0] = ("grip_left",)
    law.solve(0.1, q, v)
    on[0] = ("grip_left", "grip_right")
    found = law.solve(0.2, q, v)
    expected = C.ForceLimits(there, C.BodyPose("box"), X, limits).solve(0.0, q, v)
    np.testing.assert_allclose(found.u, expected.u, atol=1e-6 * np.abs(expected.u).max())
    np.testing.assert_allclose(found.lam, expected.lam, atol=1e-6 * np.abs(expected.lam).max())
    plant = there.forward_dynamics(q, v, u=found.u)
    np.testing.assert_allclose(found.lam, plant.lam, atol=1e-6 * np.abs(plant.lam).max())


def test_the_object_follows_its_path_after_a_grip_latched_elsewhere() -> None:
    """Simulated: the right arm lets go for 0.3 s, drifts, and holds where it finds itself."""
    mech = sr.library.dual_planar_arms("body")
    names = ["object.x", "object.y", "object.angle"]
    path = C.Sinusoid(0.0, [0.05, 0.05, 0.1], [3.0, 4.0, 2.0])
    right = ("grip_right", "grip_right.angle")
    every = tuple(name for name, _ in mech.model.constraints)

    def active(t: float, q: np.ndarray, v: np.ndarray) -> tuple[str, ...]:
        return tuple(name for name in every if name not in right) if 0.2 <= t <= 0.5 else every

    law = C.ProjectedInverseDynamics(mech, names, path, kp=400.0, active=active, leftover_damping=5.0)
    start = path(0.0)
    v0 = mech.consistent_velocity(mech.default.q, fixed=dict(zip(names, start.v, strict=True)))
    switches = [sr.Switch(name, off=0.2, on=0.5, latch=True, closed=True) for name in right]
    run = sr.simulate(mech, (0.0, 1.5), v0=v0, control=law, control_dt=1e-3, dt=1e-3, switches=switches)
    assert run.success
    at = [list(mech.names).index(name) for name in names]
    late = run.t > 1.2
    wanted = np.array([path(t).x for t in run.t[late]])
    gap = np.abs(mech.terms(run.q[-1], run.v[-1]).phi).max()
    assert gap > 1e-3  # it does hold elsewhere
    np.testing.assert_allclose(run.q[late][:, at], wanted, atol=2e-4)

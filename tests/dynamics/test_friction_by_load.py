"""The kernel's friction by load against the same rule in NumPy, with reactions of `Motion.reaction`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

import sarrus as sr
from sarrus.dynamics.bearing_friction import fixed_point
from sarrus.mechanism.describe.compile import build_model

from .test_bearing_friction import four_bar

Array = npt.NDArray[np.float64]
START = {"driven": np.array([0.7, -0.9, 0.7])}  # where its loop is nearly closed


def without_friction(mech: sr.Mechanism) -> sr.Mechanism:
    others = [(name, force) for name, force in mech.model.forces if not isinstance(force, sr.BearingFriction)]
    return sr.Mechanism(build_model(**{**mech.model.declared, "forces": tuple(others)}))


def by_reactions(mech: sr.Mechanism, q: Array, v: Array, tau: Array, t: float = 0.0) -> Array:
    """Friction (nv,) of a state that slides: f -> motion of the mechanism without friction -> mu R -> f."""
    plain, names = without_friction(mech), list(mech.names)
    bearings = [force for _, force in mech.model.forces if isinstance(force, sr.BearingFriction)]

    def bound(given: sr.BearingFriction, motion: sr.Motion) -> float:
        wrench = motion.reaction(given.coordinate, "B")
        joint = mech.model.joint_of(given.coordinate)
        e = np.array({"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1)}[joint.axis], dtype=float)
        force, moment = wrench[:3] - (e @ wrench[:3]) * e, wrench[3:]
        if given.radius:
            return float(given.mu * given.radius * np.linalg.norm(force))
        couple = np.cross(e, moment) / given.length if given.length else np.zeros(3)
        return float(given.mu * sum(np.linalg.norm(force / 2 + s * couple) for s in (1, -1)))

    def friction(bounds: Array) -> Array:
        out = np.zeros(mech.nv)
        for size, given in zip(bounds, bearings, strict=True):
            k = names.index(given.coordinate)
            out[k] -= np.sign(v[k]) * size
        return out

    def rule(bounds: Array) -> Array:
        motion = plain.forward_dynamics(q, v, tau + friction(bounds), t=t)
        return np.array([bound(given, motion) for given in bearings])

    found = fixed_point(rule, np.zeros(len(bearings)))
    assert found is not None
    return friction(found)


def wrist() -> sr.Mechanism:
    """An open arm: hinge, slide with a guide and a journal of another body on it, spring and load."""
    spec = sr.MechanismSpec(gravity=(0.3, -1.0, -9.81), name="wrist")
    spec.body("arm", joint=sr.Revolute("y"), mass=2.0, com=(0.2, 0.1, 0), inertia=(0.1, 0.2, 0.15))
    spec.body("rod", parent="arm", joint=sr.Prismatic("x"), at=sr.Pose((0.3, 0, 0.1), rpy=(0.2, 0, 0.4)),
              mass=1.0, com=(0.1, 0.05, 0), inertia=(0.02, 0.03, 0.04))  # fmt: skip
    spec.body("hand", parent="rod", joint=sr.Revolute("z"), at=sr.Pose((0.4, 0.1, 0)), mass=0.7,
              com=(0.1, 0, 0.2), inertia=(0.01, 0.02, 0.01), armature=0.05)  # fmt: skip
    spec.force("spring", sr.PointSpring("ground", (1, 0, 1), "hand", (0, 0, 0.1), 40.0, 0.3, 2.0))
    spec.force("load", sr.ConstantWrench("rod", [5, -8, 3, 0.4, 0.2, -0.6], point=(0.2, 0, 0)))
    spec.force("f1", sr.BearingFriction("arm", 0.3, 0.05)).force("f2", sr.BearingFriction("hand", 0.2, 0.03))
    return spec.force("f3", sr.BearingFriction("rod", 0.2, length=0.25)).compile()


def driven() -> sr.Mechanism:
    """A slider-crank whose crank is driven; its loop is closed by a joint of three dimensions."""
    spec = sr.MechanismSpec(gravity=(0, 0, -9.81), name="driven")
    spec.body("crank", joint=sr.Revolute("y"), mass=1.0, com=(0.1, 0, 0), inertia=(0.01,) * 3)
    spec.body("rod", parent="crank", joint=sr.Revolute("y"), at=sr.Pose((0.2, 0, 0)), mass=2.0,
              com=(0.3, 0, 0), inertia=(0.02, 0.06, 0.06))  # fmt: skip
    spec.body("piston", joint=sr.Prismatic("x"), mass=1.5, inertia=(0.01,) * 3)
    spec.close("pin", "rod", "piston", joint=sr.Revolute("y"), at_a=sr.Pose((0.6, 0, 0)))
    spec.constrain("drive", sr.Drive("crank", lambda t: 0.7 + 3 * t + 0.4 * np.sin(2 * t)))
    spec.force("f1", sr.BearingFriction("rod", 0.1, 0.03))
    return spec.force("f2", sr.BearingFriction("piston", 0.15)).compile()


@pytest.mark.parametrize("make", [four_bar, wrist, driven])
def test_kernel_agrees_with_reactions(make: Callable[[], sr.Mechanism]) -> None:
    mech, random = make(), np.random.default_rng(7)
    for t in random.uniform(0.0, 0.3, 8):
        near = START.get(mech.name, mech.neutral()) + 0.2 * random.standard_normal(mech.nq)
        q, v = mech.project(near, random.standard_normal(mech.nv), t)
        tau = random.standard_normal(mech.nv)
        found = mech.forward_dynamics(q, v, tau, t=t)
        expected = by_reactions(mech, q, v, tau, t)
        scale = np.max(np.abs(expected))
        np.testing.assert_allclose(found.friction, expected, rtol=0, atol=1e-10 * scale)


@pytest.mark.parametrize("make", [four_bar, wrist])
def test_stages_of_runs_agree_with_reactions(make: Callable[[], sr.Mechanism]) -> None:
    """The accelerations of a run are those of the friction that reactions ask for."""
    mech = make()
    q, v = mech.project(mech.neutral(), 2.0 * np.cos(np.arange(mech.nv)) + 0.1, 0.0)
    run = sr.simulate(mech, (0, 0.02), q, v, dt=2e-3)
    assert run.success and not run.events and len(run.t) == 11
    for i in range(len(run.t)):
        friction = by_reactions(mech, run.q[i], run.v[i], np.zeros(mech.nv))
        scale = np.max(np.abs(friction))
        np.testing.assert_allclose(run.friction[i], friction, rtol=0, atol=1e-10 * scale)
        a = without_friction(mech).acceleration(run.q[i], run.v[i], friction)
        np.testing.assert_allclose(run.a[i], a, rtol=0, atol=1e-9 * np.max(np.abs(a)))


def test_copies_and_single_states_have_the_same_friction() -> None:
    mech = four_bar()
    q = mech.neutral()
    N = mech.decompose(q).N[:, 0]
    v = np.array([3.0, -2.0, 0.0])[:, None] * N  # the last one at rest
    batch = mech.forward_dynamics(np.tile(q, (3, 1)), v)
    for i in range(3):
        alone = mech.forward_dynamics(q, v[i])
        np.testing.assert_array_equal(batch.friction[i], alone.friction)
        np.testing.assert_array_equal(batch.a[i], alone.a)


def gears(mu: float) -> sr.Mechanism:
    """A pair of gears in journals, one braked."""
    spec = sr.MechanismSpec(gravity=(0, 0, 0), name="gears")
    spec.body("a", joint=sr.Revolute("z"), mass=1.0, inertia=(0.1, 0.1, 0.02))
    spec.body("b", joint=sr.Revolute("z"), at=sr.Pose((0.3, 0, 0)), mass=1.0, inertia=(0.1, 0.1, 0.05))
    spec.constrain("mesh", sr.Gear("a", "b", 20, 40, 0.01))
    for name in "ab":
        spec.force(f"journal {name}", sr.BearingFriction(name, mu, 0.01))
    return spec.compile()


@pytest.mark.parametrize("torque", [3.0, -3.0, 1e-3])
def test_gears_load_their_journals(torque: float) -> None:
    """The force of the teeth pushes them apart whatever its sign: it is no linear function of forces."""
    mech = gears(0.3)
    q, v = mech.project(mech.neutral(), np.array([4.0, -2.0]), 0.0)
    tau = np.array([torque, 0.0])
    found, expected = mech.forward_dynamics(q, v, tau).friction, by_reactions(mech, q, v, tau)
    np.testing.assert_allclose(found, expected, rtol=1e-10)
    run = sr.simulate(mech, (0, 0.01), q, v, tau=tau, dt=1e-3)
    assert run.success
    np.testing.assert_allclose(run.friction[0], expected, rtol=1e-10)
    np.testing.assert_allclose(run.friction[-1], by_reactions(mech, run.q[-1], run.v[-1], tau), rtol=1e-9)


def test_a_run_that_jams_says_so() -> None:
    """A sleeve whose sideways load grows: it slides until no friction belongs to its motion."""
    spec = sr.MechanismSpec(gravity=(1.0, 0, -9.81), name="sleeve")
    spec.body("sleeve", joint=sr.Prismatic("z"), mass=2.0, inertia=(0.1,) * 3)
    spec.body("bob", parent="sleeve", joint=sr.Prismatic("x"), mass=2.0, inertia=(0.1,) * 3)
    spec.force("guide", sr.BearingFriction("sleeve", 0.25, length=0.1))
    run = sr.simulate(spec.compile(), (0, 3), v0=[-1.0, 1.0])
    assert run.status == -1 and "friction by load of 'sleeve' finds no force" in run.message
    assert 0.0 < run.t[-1] < 3.0 and "Take a smaller mu" in run.message

"""Wrenches of tree joints: against loops cut at the same joint, and by virtual work along coordinates."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import sarrus as sr
from sarrus.dynamics.forward import Motion
from tests.dynamics.test_reactions import JOINTS
from tests.oracles.description import to_spec
from tests.oracles.every_constraint import CLOSING, DECLARED, constrained

FRAMES = ("A", "B", "a", "b", "world")
BOX: dict[str, Any] = {"mass": 1.3, "com": (0.1, 0.05, -0.02), "inertia": (0.1, 0.2, 0.25)}
AT = sr.Pose((0.3, -0.2, 0.4), rpy=(0.4, 0.2, -0.3))
AXIS = (1.0, 2.0, -2.0)


def chain(joint: Any, cut: bool) -> sr.MechanismSpec:
    """Base, middle and tip, loaded in every way; the joint of the middle body in the tree, or as a loop."""
    spec = sr.MechanismSpec()
    spec.body("base", joint=sr.Revolute(AXIS), at=AT, **BOX)
    if cut:
        spec.body("middle", joint=sr.Free(), **BOX)
        spec.close("cut", "base", "middle", joint, at_a=AT)
    else:
        spec.body("middle", "base", joint=joint, at=AT, **BOX)
    spec.body("plate", "middle", joint=sr.Fixed(), at=AT, **BOX)
    spec.body("tip", "plate", joint=sr.Universal("x", "y"), at=AT, damping=0.3, armature=0.2, **BOX)
    spec.constrain("rod", sr.Distance("ground", (0, 0, 2.0), "tip", (0.1, 0.2, 0.3), 2.2))
    spec.force("spring", sr.PointSpring("base", (0.5, 0, 0), "tip", (0, 0.2, 0), 30.0, 0.2, 2.0))
    spec.force("dead", sr.ConstantWrench("plate", (1, 2, 3, 0.1, 0.2, 0.3), (0.1, 0, 0.2)))
    spec.force("thrust", sr.ConstantWrench("middle", (3, 2, 1, 0.3, 0.2, 0.1), (0, 0.1, 0.2), "body"))
    return spec.force("twist", sr.JointSpring("tip.angle1", 4.0, 0.2))


def both(joint: Any, seed: int = 3) -> tuple[Motion, Motion]:
    """The same motion twice: the joint in the tree, the joint as a loop."""
    tree, loop = chain(joint, False).compile(), chain(joint, True).compile()
    rng = np.random.default_rng(seed)
    guess = tree.integrate(tree.neutral(), 0.5 * rng.normal(size=tree.nv))
    q = tree.assemble(guess).q
    v = tree.consistent_velocity(q, rng.normal(size=tree.nv))
    X = tree.pose(q, "middle")
    q_loop = np.concatenate([q[:1], X.xyz, X.quat, q[-2:]])
    v_loop = np.concatenate([v[:1], tree.velocity(q, v, "middle", frame="local"), v[-2:]])
    external = {"plate": ((4, 5, 6, 1, 2, 3), (0.1, 0.2, 0.3)), "tip": (1, 0, 2, 0, 1, 0)}
    u = {"base": 0.7, "tip.angle1": -0.4, "tip.angle2": 0.9}
    motions = []
    for mech, at, speed in ((tree, q, v), (loop, q_loop, v_loop)):
        tau = np.array([u.get(name, 0.0) for name in mech.names])
        motions.append(mech.forward_dynamics(at, speed, tau, external=external))
    return motions[0], motions[1]


@pytest.mark.parametrize("joint", [j for j in JOINTS if not isinstance(j, sr.Fixed)], ids=lambda j: j.label())
def test_a_joint_transmits_what_a_loop_cut_there_would(joint: Any) -> None:
    tree, loop = both(joint)
    assert np.all(loop.lam_unique)
    for frame in FRAMES:
        expected = loop.reaction("cut", frame)
        assert np.linalg.norm(expected) > 1.0
        np.testing.assert_allclose(tree.reaction("middle", frame), expected, atol=1e-8)


def test_the_other_end_of_springs_and_loops_counts() -> None:
    """What acts between two carried bodies cancels; along the axis of the base goes its motor alone."""
    for motion in both(sr.Revolute("z")):
        wrench = motion.reaction("base", "B")
        assert wrench[3:] @ np.array(AXIS) / 3.0 == pytest.approx(0.7, abs=1e-8)


def test_a_weld_transmits_too() -> None:
    """What the weld of the plate passes on is what the middle body passes on, less its own balance."""
    tree, _ = both(sr.Revolute("z"))
    spec = chain(sr.Revolute("z"), False)
    mech = spec.compile()
    q, v = tree._loaded.q, tree._loaded.v
    own = tree.reaction("middle", "world")[:3] - tree.reaction("plate", "world")[:3]
    c = mech.body_acceleration(q, v, tree.a, "middle", BOX["com"])[:3]
    thrust = mech.pose(q, "middle").rotation @ np.array([3.0, 2.0, 1.0])
    np.testing.assert_allclose(own + thrust, 1.3 * (c + np.array([0, 0, 9.81])), atol=1e-9)


def test_a_four_bar_cut_at_either_pin() -> None:
    """The reaction of a loop that closes at one pin is the bearing force of a tree that has it inside."""

    def rod(length: float) -> dict[str, Any]:
        return {"mass": length, "com": (length / 2, 0, 0), "inertia": (0.01, 0.02, 0.03)}

    specs = [sr.MechanismSpec(gravity=(0, -9.81, 0)) for _ in range(2)]
    for spec in specs:
        spec.body("crank", joint=sr.Revolute("z"), **rod(0.3))
        spec.body("coupler", "crank", joint=sr.Revolute("z"), at=sr.Pose((0.3, 0, 0)), **rod(0.9))
    specs[0].body("rocker", "coupler", joint=sr.Revolute("z"), at=sr.Pose((0.9, 0, 0)), **rod(0.7))
    pivot, end = sr.Pose((0.8, 0, 0)), sr.Pose((0.7, 0, 0))
    specs[0].close("pin", "ground", "rocker", sr.Spherical(), at_a=pivot, at_b=end)
    specs[1].body("rocker", joint=sr.Revolute("z"), at=pivot, **rod(0.7))
    specs[1].close("pin", "coupler", "rocker", sr.Spherical(), at_a=sr.Pose((0.9, 0, 0)), at_b=end)
    first, second = (spec.compile() for spec in specs)
    q = first.assemble([1.0, -0.5, -2.0], fixed={"crank": 1.0}).q
    v = first.consistent_velocity(q, fixed={"crank": 4.0})
    one = first.forward_dynamics(q, v, u=[2.0, 0, 0])
    two = second.forward_dynamics([q[0], q[1], q.sum() + np.pi], [v[0], v[1], v.sum()], u=[2.0, 0, 0])
    # out of the plane the pins share a load as they like
    assert np.linalg.norm(two.reaction("pin", "world")) > 1.0
    np.testing.assert_allclose(
        one.reaction("rocker", "world")[:2], two.reaction("pin", "world")[:2], atol=1e-9
    )
    np.testing.assert_allclose(
        two.reaction("rocker", "world")[:2], one.reaction("pin", "world")[:2], atol=1e-9
    )
    for name in ("crank", "coupler"):
        np.testing.assert_allclose(one.reaction(name)[:2], two.reaction(name)[:2], atol=1e-9)


@pytest.mark.parametrize("kind", [*CLOSING, *DECLARED])
@pytest.mark.parametrize("seed", [0, 1])
def test_along_every_coordinate_goes_what_acts_along_it(kind: str, seed: int) -> None:
    """Virtual work of a joint: actuators and the rows of couplings, drives and users, nothing else."""
    d = constrained(kind, seed)
    mech = to_spec(d).compile()
    rng = np.random.default_rng([seed, 5])
    v = mech.consistent_velocity(d.q, rng.normal(size=mech.nv))
    tau = rng.normal(size=mech.nv)
    motion = mech.forward_dynamics(d.q, v, tau, external={"b3": rng.normal(size=6)})
    terms = mech.terms(d.q, v)
    through = tau - mech.model.damping * v - mech.model.armature * motion.a
    if kind in ("coupling", "drive", "custom"):
        through = through + terms.J.T @ motion.lam
    for body in mech.model.bodies[1:]:
        own = mech.model.v_slices[mech.model.body_index(body.name)]
        J = mech.jacobian(d.q, body.name)[:, own]
        power = J.T @ motion.reaction(body.name, "world")
        np.testing.assert_allclose(power, through[own], atol=1e-8, err_msg=body.name)


def test_batches_and_pickles() -> None:
    mech = sr.library.four_bar()
    q, v = mech.default
    one = mech.forward_dynamics(q, v)
    many = mech.forward_dynamics(np.stack([q, q]), v, external={mech.body_names[1]: np.ones(6)})
    again = pickle.loads(pickle.dumps(many))
    for name in mech.body_names[1:]:
        assert many.reaction(name).shape == (2, 6) and one.reaction(name).shape == (6,)
        np.testing.assert_array_equal(many.reaction(name), again.reaction(name))
        assert not np.allclose(many.reaction(name)[0], one.reaction(name))


def test_unknown_names_list_loops_and_joints() -> None:
    mech = sr.library.four_bar()
    motion = mech.forward_dynamics(*mech.default)
    with pytest.raises(sr.UnknownNameError, match="unknown loop or joint 'nope'") as error:
        motion.reaction("nope")
    assert mech.body_names[1] in str(error.value)
    with pytest.raises(sr.InputError, match="frame"):
        motion.reaction(mech.body_names[1], "C")

"""URDF written by save: the tree as Pinocchio reads it, loops and the default state as we do."""

from __future__ import annotations

import warnings
from pathlib import Path

import mujoco
import numpy as np
import pinocchio as pin
import pytest

import sarrus as sr
from tests.oracles.description import to_spec
from tests.oracles.every_constraint import CLOSING, constrained


def again(mech: sr.Mechanism, folder: Path, **options: bool) -> sr.Mechanism:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.SarrusWarning)
        return sr.load(sr.save(mech, folder / "robot.urdf", **options))


def assert_same_motion(mech: sr.Mechanism, copy: sr.Mechanism) -> None:
    """The same accelerations; the copy has a coordinate more for each screw."""
    rng = np.random.default_rng(0)
    where = [copy.names.index(name) for name in mech.names]
    extra = [k for k in range(copy.nv) if k not in where]
    q, v = copy.default.q, copy.consistent_velocity(copy.default.q, 0.5 * rng.standard_normal(copy.nv))
    assert len(extra) == copy.nv - mech.nv
    ours = bridge_q(mech, copy, q)
    a = mech.forward_dynamics(ours, v[where]).a
    np.testing.assert_allclose(copy.forward_dynamics(q, v).a[where], a, atol=1e-10 * (1 + np.abs(a).max()))


def bridge_q(mech: sr.Mechanism, copy: sr.Mechanism, q: np.ndarray) -> np.ndarray:
    ours = np.array(mech.neutral())
    for body, at in zip(mech.model.bodies[1:], mech.model.q_slices[1:], strict=True):
        for k, name in enumerate(body.coordinate_names):
            if body.joint.has_quaternion:
                ours[at] = q[copy.model.q_slices[copy.model.body_index(body.name)]]
            else:
                ours[at.start + k] = q[copy.model.tree.scalar(name)[0]]
    return ours


@pytest.mark.parametrize("kind", [*CLOSING, "coupling"])
def test_every_joint_and_loop(kind: str, tmp_path: Path) -> None:
    described = constrained(kind, 0)
    mech = to_spec(described).compile().with_default(described.q)
    moving = [body.name for body in mech.model.bodies[1:] if body.joint.nv]
    nothing = dict.fromkeys(
        moving, 0.0
    )  # of what URDF has no word for, or one for all coordinates of a joint
    mech = mech.with_(armature=nothing, damping=nothing, friction=nothing, gravity=(0, 0, -9.81))
    copy = again(mech, tmp_path)
    np.testing.assert_allclose(bridge_q(mech, copy, copy.default.q), mech.default.q, atol=1e-9)
    assert_same_motion(mech, copy)


@pytest.mark.parametrize("name", ["robot_arm", "quadruped", "four_bar", "loader"])
def test_other_readers_see_the_tree(name: str, tmp_path: Path) -> None:
    """Pinocchio and MuJoCo ignore the extension. MuJoCo refuses links without rotational inertia."""
    mech = sr.library.MECHANISMS[name]()
    copy = again(mech, tmp_path)
    assert copy.actuators == mech.actuators
    assert copy.mobility().dof == mech.mobility().dof or name == "loader"  # points on lines are not written
    if name in ("robot_arm", "quadruped"):
        assert mujoco.MjModel.from_xml_path(str(tmp_path / "robot.urdf")).nv == mech.nv
    model = pin.buildModelFromUrdf(str(tmp_path / "robot.urdf"))
    bridge, q = sr.bridge.pinocchio(mech, model), mech.default.q
    T, M = bridge.velocity_map(q), pin.crba(model, model.createData(), bridge.to_pinocchio(q)[0])
    expected = T.T @ (np.triu(M) + np.triu(M, 1).T) @ T
    np.testing.assert_allclose(mech.mass_matrix(q), expected, atol=1e-12 * np.abs(expected).max())


def test_what_urdf_cannot_say(tmp_path: Path) -> None:
    mech = sr.library.slider_crank()
    with pytest.raises(sr.FormatError, match=r"strict=True, but .* not written: constraint of type PointOn"):
        sr.save(mech, tmp_path / "robot.urdf", strict=True)
    with pytest.warns(sr.SarrusWarning, match="only sarrus will read: constraint of type PointOn"):
        sr.save(mech, tmp_path / "robot.urdf")
    text = (tmp_path / "robot.urdf").read_text()
    state = '<default_state><position joint="x" value="1"/></default_state>'
    with pytest.raises(sr.FormatError, match="unknown joint 'x'"):
        sr.load(text[: text.index("<default_state")] + state + "</robot>")


@pytest.mark.parametrize("value", ["1", "1 2 3", "0 0 0 1 5"])
def test_positions_have_as_many_numbers_as_their_joint(value: str, tmp_path: Path) -> None:
    """One number was taken for all four of a quaternion."""
    spec = sr.MechanismSpec()
    spec.body("ball", joint=sr.Spherical(), mass=1.0, inertia=(1, 1, 1))
    mech = spec.compile()
    mech = mech.with_default(mech.integrate(mech.default.q, [0.1, 0.2, 0.3]))
    with pytest.warns(sr.SarrusWarning, match="only sarrus will read"):
        sr.save(mech, tmp_path / "robot.urdf")
    start, quote, rest = (tmp_path / "robot.urdf").read_text().partition('<position joint="ball" value="')
    count = len(value.split())
    with pytest.raises(sr.FormatError, match=f"position of 'ball' must be 4 numbers, .* got {count}"):
        sr.load(start + quote + value + rest[rest.index('"') :])


def test_shapes_and_limits_survive(tmp_path: Path) -> None:
    spec = sr.MechanismSpec()
    arm = {"mass": 1.0, "com": (0.1, 0, 0), "inertia": (0.1, 0.1, 0.1)}
    spec.body("a", joint=sr.Revolute((0.6, 0.8, 0)), limits=(-1, 2), damping=0.3, friction=0.1, **arm)
    spec.body("b", "a", joint=sr.Prismatic("x"), at=sr.Pose((1, 2, 3), rpy=(0.1, 0.2, 0.3)), **arm)
    spec.actuate("a", limits=(-5, 5))
    spec.visuals = [
        sr.Visual("a", "box", (0.1, 0.2, 0.3), sr.Pose((0, 0, 1))),
        sr.Visual("b", "cylinder", (0.1, 0.5), rgba=(1, 0, 0, 1)),
        sr.Visual("ground", "sphere", (0.2,)),
        sr.Visual("b", "mesh", (1, 2, 1), file="part.stl"),
    ]
    mech = spec.compile()
    copy = again(mech, tmp_path)
    body = copy.model.bodies[copy.model.body_index("a")]
    assert (body.limits, body.damping, body.friction) == (((-1.0, 2.0),), (0.3,), (0.1,))
    assert copy.actuators == ("a",) and copy.model.actuators[0].upper == 5.0
    assert {(x.body, x.shape, x.size, x.rgba, x.file) for x in copy.visuals} == {
        (x.body, x.shape, x.size, x.rgba, x.file) for x in mech.visuals
    }


def test_loops_beside_the_file(tmp_path: Path) -> None:
    mech = sr.library.four_bar()
    copy = again(mech, tmp_path, sidecar=True)
    assert (tmp_path / "robot.loops.xml").exists() and "loop_joint" not in (
        tmp_path / "robot.urdf"
    ).read_text()
    assert copy.mobility().dof == 1 and copy.default.q == pytest.approx(mech.default.q, abs=1e-9)
    again(mech, tmp_path)
    assert not (tmp_path / "robot.loops.xml").exists()
    with pytest.raises(sr.InputError, match="sidecar=True is for URDF"):
        sr.save(mech, tmp_path / "robot.xml", sidecar=True)

"""Frames on bodies and parts, and the floor that pictures show."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

import sarrus as sr
from sarrus.viz.scenes.scene import Scene


def arm() -> sr.MechanismSpec:
    spec = sr.MechanismSpec(name="arm")
    spec.body("upper", joint=sr.Revolute("y"), mass=1.0, com=(0, 0, -0.2), inertia=(0.01,) * 3)
    at = sr.Pose((0, 0, -0.5))
    spec.body("lower", "upper", joint=sr.Universal("x", "y"), at=at, mass=0.5, com=(0, 0, -0.1))
    return spec


def test_a_frame_has_the_pose_and_the_jacobian_of_a_point_of_its_body() -> None:
    at = sr.Pose((0.1, -0.2, -0.4), rpy=(0.3, -0.5, 0.7))
    mech = arm().frame("tool", "lower", at).frame("camera", "tool", sr.Pose((0, 0, 0.1))).compile()
    q, v = np.array([0.4, -0.3, 0.8]), np.array([1.0, -2.0, 0.5])
    X = mech.pose(q, "lower") @ at
    np.testing.assert_allclose(mech.pose(q, "tool").matrix, X.matrix, atol=1e-15)
    np.testing.assert_allclose(mech.position(q, "camera"), X.apply((0, 0, 0.1)), atol=1e-15)
    J = mech.jacobian(q, "lower", at.xyz)
    np.testing.assert_allclose(mech.jacobian(q, "tool"), J, atol=1e-15)
    turned = np.kron(np.eye(2), X.rotation.T)
    np.testing.assert_allclose(mech.jacobian(q, "tool", frame="local"), turned @ J, atol=1e-15)
    np.testing.assert_allclose(mech.velocity(q, v, "tool", frame="local"), turned @ J @ v, atol=1e-14)
    assert list(mech.frames) == ["tool", "camera"]
    assert mech.frames["camera"].body == "lower"
    np.testing.assert_allclose(mech.frames["camera"].at.xyz, at.apply((0, 0, 0.1)), atol=1e-15)


def test_frames_change_nothing_else() -> None:
    plain, mech = arm().compile(), arm().frame("tool", "lower", sr.Pose((0, 0, -9.0))).compile()
    q, v = np.array([0.4, -0.3, 0.8]), np.array([1.0, -2.0, 0.5])
    assert (mech.names, mech.length) == (plain.names, plain.length)
    np.testing.assert_array_equal(mech.acceleration(q, v, 0 * v), plain.acceleration(q, v, 0 * v))


def test_frames_of_a_drawing_are_placed_in_the_world() -> None:
    spec = sr.MechanismSpec(name="drawn").point("A", (1, 0, 1)).point("B", (1, 0, 2))
    spec.link("rod", "A", "B").joint("pin", "ground", "rod", sr.Revolute("y"), "A")
    turned = sr.Pose((1, 0, 1.5), rpy=(0, 0, 0.4))
    spec.frame("end", "rod", "B").frame("corner", "rod", (1.2, 0, 2)).frame("middle", "rod", turned)
    spec.frame("own", "rod").frame("stand", "ground", sr.Pose((0, 1, 0)))
    mech = spec.compile()
    drawn = mech.neutral()
    for name, xyz in {"end": (1, 0, 2), "corner": (1.2, 0, 2), "own": (1, 0, 1), "stand": (0, 1, 0)}.items():
        np.testing.assert_allclose(mech.pose(drawn, name).xyz, xyz, atol=1e-15)
    np.testing.assert_allclose(mech.pose(drawn, "end").rotation, np.eye(3), atol=1e-15)
    np.testing.assert_allclose(mech.pose(drawn, "middle").matrix, turned.matrix, atol=1e-15)
    np.testing.assert_allclose(mech.position([np.pi / 2], "end"), (2, 0, 1), atol=1e-15)
    assert {name: frame.body for name, frame in mech.frames.items()} == {
        "end": "rod", "corner": "rod", "middle": "rod", "own": "rod", "stand": "ground",
    }  # fmt: skip


def test_what_takes_a_body_takes_a_frame() -> None:
    spec = arm().frame("tool", "lower", sr.Pose((0, 0, -0.3), rpy=(0, 0.4, 0)))
    spec.measure("tip", sr.Position("tool", (0.1, 0, 0))).measure("tilt", sr.Angle("upper", "tool", "y"))
    mech = spec.compile()
    q = np.array([0.3, 0.1, -0.2])
    tip = mech.pose(q, "tool").apply((0.1, 0, 0))
    np.testing.assert_allclose(mech.measure(q)["tip"], tip, atol=1e-15)
    found = mech.reach("tool", (0.1, 0, 0), tip, q_guess=q + 0.2)
    np.testing.assert_allclose(mech.pose(found.q, "tool").apply((0.1, 0, 0)), tip, atol=1e-9)
    pushed = mech.forward_dynamics(q, [0, 0, 0], external={"tool": [0, 0, 5.0, 0, 0, 0]}).a
    arm_of = mech.jacobian(q, "tool").T @ [0, 0, 5.0, 0, 0, 0]
    np.testing.assert_allclose(pushed, mech.acceleration(q, [0, 0, 0], arm_of), atol=1e-12)


def test_frames_follow_parameters() -> None:
    spec = sr.MechanismSpec()
    reach = spec.parameter("reach", 0.5)
    spec.body("a", joint=sr.Revolute("y"), mass=1.0, com=(0, 0, -0.1))
    spec.frame("tip", "a", sr.Pose((0, 0, -reach))).floor(-reach).measure("x", sr.Position("tip"))
    mech = spec.compile()
    q = np.array([0.4])
    longer = mech.with_(reach=0.8)
    np.testing.assert_allclose(longer.position(q, "tip"), 1.6 * mech.position(q, "tip"), atol=1e-15)
    assert longer.frames["tip"].at.xyz[2] == -0.8
    assert longer.floor is not None
    assert longer.floor.height == -0.8
    slope = mech.parameter_derivatives(q).measures["reach"]["x"]
    np.testing.assert_allclose(slope, mech.position(q, "tip") / 0.5, atol=1e-12)


def test_bad_frames_and_floors_say_why() -> None:
    with pytest.raises(sr.UnknownNameError, match=r"frame 'tool': unknown body 'elbow'.*'ground', 'upper'"):
        arm().frame("tool", "elbow")
    with pytest.raises(sr.ModelError, match="a body called 'upper' exists already"):
        arm().frame("upper", "lower")
    with pytest.raises(sr.UnknownNameError, match="at of frame 'tool': unknown point 'T'"):
        arm().frame("tool", "lower", "T")
    with pytest.raises(sr.InputError, match="height of the floor must be"):
        arm().floor("low")  # type: ignore[arg-type]
    with pytest.raises(sr.InputError, match="normal of the floor must be 'x', 'y', 'z'"):
        arm().floor(0.0, "up")


def test_pictures_show_the_floor_where_it_is_declared() -> None:
    spec = arm().floor(-2.5)
    mech = spec.compile()
    assert mech.floor is not None
    scene = Scene(mech, mech.neutral())
    assert scene.floor[2] == pytest.approx(-2.5)
    tilted = arm().floor(-1.0, (0, 1, 1)).compile()
    scene = Scene(tilted, tilted.neutral())
    assert scene.floor @ scene.up == pytest.approx(-1.0)
    np.testing.assert_allclose(scene.up, np.array([0, 1, 1]) / np.sqrt(2.0))


def everything() -> sr.MechanismSpec:
    """A description that says something in every field."""
    spec = sr.MechanismSpec(gravity=(0, 0, -1.6), name="all of it", length=0.7).point("A", (0, 0, 1))
    spec.body("a", joint=sr.Revolute("y"), mass=1.0, com=(0, 0, -0.2), friction=0.1, friction_model="coulomb")
    spec.body("b", "a", joint=sr.Free(), mass=1.0, inertia=(0.1,) * 3, at=sr.Pose((0, 0, 2), rpy=(0, 0, 1)))
    spec.close("tie", "a", "b", sr.Spherical()).force("s", sr.JointSpring("a", 3.0))
    spec.actuate("a", limits=(-1, None)).measure("m", sr.Coordinate("a"))
    spec.frame("tool", "b", sr.Pose((1, 2, 3))).floor(-1.0, "y")
    spec.laws["a"] = (sr.ActuatorLaw("servo", gear=2.0),)
    spec.visuals.append(sr.Visual("b", "sphere", (0.1,)))
    spec.omitted = ("contact of geoms (3)",)
    return spec


def test_json_and_pickles_keep_every_field(tmp_path: Path) -> None:
    mech = everything().compile()
    q = mech.integrate(mech.neutral(), np.linspace(-0.2, 0.3, mech.nv))
    mech = mech.with_default(q, np.linspace(0, 1, mech.nv))
    read = sr.load_spec(sr.save(mech, tmp_path / "m.json"))
    again = sr.load_spec(sr.save(read, tmp_path / "again.json")).compile()
    for back in (sr.load(tmp_path / "m.json"), read.compile(), again, pickle.loads(pickle.dumps(mech))):
        ours, theirs = back.model.declared, mech.model.declared
        assert ours.keys() == theirs.keys()
        for field in theirs:
            assert repr(ours[field]) == repr(theirs[field]), field
        np.testing.assert_array_equal(back.default.q, mech.default.q)
        np.testing.assert_array_equal(back.default.v, mech.default.v)


def test_a_description_that_grows_starts_near_the_state_of_its_file(tmp_path: Path) -> None:
    mech = sr.library.four_bar()
    q = mech.assemble(fixed={mech.names[0]: 1.1}).q
    spec = sr.load_spec(sr.save(mech.with_default(q, [0.0] * 3), tmp_path / "m.json"))
    spec.body("flag", mech.body_names[1], joint=sr.Revolute("z"), mass=0.1, com=(0.1, 0, 0))
    grown = spec.compile()
    start = grown.default
    np.testing.assert_allclose(start.q[grown.index(mech.names[0]).q], q[:1], atol=1e-12)
    assert "default" not in spec.to_dict()
    assert np.abs(grown.terms(*start).phi).max() < 1e-12

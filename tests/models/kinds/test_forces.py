"""Lowering of forces, against energies and forces written down by hand, evaluated by the NumPy twin."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sarrus.errors import InputError, UnknownNameError
from sarrus.mechanism.spec import MechanismSpec
from sarrus.models.base.pose import Pose
from sarrus.models.kinds.forces import ConstantWrench, JointDamper, JointSpring, PointSpring
from sarrus.models.model import Model
from sarrus.models.tree.joints import Cylindrical, Fixed, Prismatic, Revolute, Spherical
from tests.oracles.twin import Twin


def arm() -> MechanismSpec:
    """A hinge about y with a plate fixed to it, without gravity."""
    spec = MechanismSpec(gravity=(0, 0, 0)).body("arm", joint=Revolute("y"), mass=1.0, inertia=(1, 1, 1))
    return spec.body("plate", "arm", joint=Fixed(), at=Pose((0.5, 0, 0), rpy=(0, 0, np.pi / 2)))


def generalized_force(model: Model, q: list[float], v: list[float]) -> np.ndarray:
    """Forces on the coordinates: -h of the same arm without inertia forces (v enters linearly here)."""
    twin = Twin(model.sizes, model.fields)
    rest = np.zeros((1, model.nv))
    return -np.asarray(twin.rnea(np.array([q]), np.array([v]), rest))[0]


def test_a_point_spring_pulls_along_its_line() -> None:
    spec = arm().force("s", PointSpring("plate", (0, -0.5, 0), "ground", (1, 0, 1), 10.0, 0.2, damping=3.0))
    model = spec.model()
    angle, speed = 0.3, 0.7
    p = np.array(
        [np.cos(angle), 0, -np.sin(angle)]
    )  # the point (0, -0.5, 0) of the plate is (1, 0, 0) of the arm
    arm_of_p = np.array([-np.sin(angle), 0, -np.cos(angle)])
    line = np.array([1, 0, 1]) - p
    length = np.linalg.norm(line)
    pull = 10.0 * (length - 0.2) - 3.0 * speed * (arm_of_p @ line) / length
    expected = pull * (arm_of_p @ line) / length
    assert generalized_force(model, [angle], [speed]) == pytest.approx([expected])
    energy = Twin(model.sizes, model.fields).energy(np.array([[angle]]), np.array([[0.0]]))[0, 1]
    assert energy == pytest.approx(0.5 * 10.0 * (length - 0.2) ** 2)


def test_a_joint_spring_and_dampers_act_on_their_coordinate() -> None:
    spec = MechanismSpec(gravity=(0, 0, 0))
    spec.body("c", joint=Cylindrical(), mass=1.0, inertia=(1, 1, 1), damping=(0.5, 0.25))
    spec.force("s", JointSpring("c.angle", 4.0, rest=0.1)).force("d", JointDamper("c.slide", 2.0))
    force = generalized_force(spec.model(), [0.3, 0.6], [1.0, 2.0])
    assert force == pytest.approx([-2.5, -4.0 * 0.5 - 0.5])


def test_friction_is_smoothed() -> None:
    spec = MechanismSpec(gravity=(0, 0, 0))
    spec.body("s", joint=Prismatic(), mass=1.0, friction=3.0, friction_speed=0.1)
    assert generalized_force(spec.model(), [0.0], [0.05]) == pytest.approx([-3.0 * np.tanh(0.5)])


def test_stops_push_back_beyond_limits_only() -> None:
    spec = MechanismSpec(gravity=(0, 0, 0))
    spec.body("s", joint=Prismatic(), mass=1.0, limits=(None, 0.5), stop_stiffness=100.0, stop_damping=1.0)
    model = spec.model()
    assert generalized_force(model, [0.6], [0.2]) == pytest.approx([-10.2])
    assert generalized_force(model, [0.4], [0.2]) == pytest.approx([0.0])
    assert generalized_force(model, [-1e6], [0.2]) == pytest.approx([0.0])
    assert np.isfinite(model.cf_values).all()
    assert model.limits.tolist() == [[-np.inf, 0.5]]


@pytest.mark.parametrize("frame", ["world", "body"])
def test_a_wrench_acts_at_its_point_in_its_axes(frame: str) -> None:
    wrench = np.array([1.0, 2.0, 3.0, 0.1, 0.2, 0.3])
    model = arm().force("w", ConstantWrench("plate", wrench, (0, -0.5, 0), frame)).model()
    angle = 0.3
    R_arm = Pose(rpy=(0, angle, 0)).rotation
    R = R_arm @ Pose(rpy=(0, 0, np.pi / 2)).rotation if frame == "body" else np.eye(3)
    force, moment = R @ wrench[:3], R @ wrench[3:]
    expected = (np.cross(R_arm @ [1.0, 0, 0], force) + moment)[1]
    assert generalized_force(model, [angle], [0.0]) == pytest.approx([expected])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: PointSpring("a", (0, 0, 0), "b", (0, 0, 0), -1.0, 0.0),
            "stiffness of PointSpring must not be negative",
        ),
        (
            lambda: PointSpring("a", (0, 0, 0), "b", (0, 0, 0), 1.0, -0.1),
            "rest of PointSpring must not be negative",
        ),
        (
            lambda: PointSpring("a", (0, 0), "b", (0, 0, 0), 1.0, 0.1),
            r"p_a of PointSpring must have shape \(3,\)",
        ),
        (
            lambda: PointSpring("a", (0, 0, 0), "a", (0, 0, 0), 1.0),
            "a PointSpring must join two different bodies, got 'a'",
        ),
        (
            lambda: PointSpring("a", (0, 0, 0), 3, (0, 0, 0), 1.0),
            "body b of a PointSpring must be a non-empty string",
        ),  # type: ignore[arg-type]
        (lambda: JointSpring("a", -1.0), "stiffness of JointSpring must not be negative, got -1"),
        (lambda: JointSpring("a", 1.0, float("nan")), "rest of JointSpring must be a finite number"),
        (lambda: JointSpring(None, 1.0), "coordinate of JointSpring must be a non-empty string"),  # type: ignore[arg-type]
        (lambda: JointDamper("a", -1.0), "damping of JointDamper must not be negative"),
        (lambda: ConstantWrench("a", (1, 2, 3)), r"wrench of ConstantWrench must have shape \(6,\)"),
        (
            lambda: ConstantWrench("a", (0,) * 6, frame="local"),
            "frame of ConstantWrench must be 'world' or 'body', got 'local'",
        ),
    ],
)
def test_bad_forces_say_what_is_wrong(make: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()


def test_forces_on_unknown_parts_list_those_that_exist() -> None:
    spec = arm().body("ball", joint=Spherical(), mass=1.0, inertia=(1, 1, 1))
    with pytest.raises(
        UnknownNameError, match="force 's': unknown body 'leg'; existing names: 'ground', 'arm', 'plate'"
    ):
        spec.force("s", PointSpring("leg", (0, 0, 0), "arm", (0, 0, 0), 1.0))
    with pytest.raises(
        UnknownNameError, match=r"force 's': unknown coordinate 'leg'; existing names: 'arm', 'ball\.wx'"
    ):
        spec.force("s", JointSpring("leg", 1.0))
    with pytest.raises(
        InputError, match=r"force 's': 'ball\.wx' belongs to a Spherical joint, whose position has no"
    ):
        spec.force("s", JointSpring("ball.wx", 1.0))
    with pytest.raises(
        InputError, match="force 's': 'plate' is Fixed and has no coordinate; existing names: 'arm'"
    ):
        spec.force("s", JointSpring("plate", 1.0))
    spec.force("s", JointDamper("ball.wx", 1.0))
    assert spec.model().damping.tolist() == [0.0, 1.0, 0.0, 0.0]

"""Descriptions as data: the same model after a trip through JSON, and no crash on mutilated files."""

from __future__ import annotations

import copy
import json
import math
import warnings
from typing import Any

import numpy as np
import pytest

from sarrus.constraints.couplings import Coupling, Drive
from sarrus.constraints.custom import CustomConstraint
from sarrus.constraints.points import Distance, PointOnLine, PointOnPlane
from sarrus.constraints.rolling import Rolling
from sarrus.errors import InputError, SarrusError, UnknownNameError
from sarrus.mechanism.spec import MechanismSpec
from sarrus.models.base.pose import Pose
from sarrus.models.kinds.forces import ConstantWrench, JointDamper, JointSpring, PointSpring
from sarrus.models.tree.joints import (
    Cylindrical,
    Fixed,
    Free,
    Helical,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
)


def everything() -> MechanismSpec:
    """One of every joint, constraint and force that data can hold."""
    spec = MechanismSpec(gravity=(0, -9.81, 0), name="zoo", length=0.7)
    joints = [
        Revolute((1, 2, 3)),
        Prismatic("x"),
        Helical("y", 0.1),
        Cylindrical(),
        Universal("z", (1, 1, 0)),
    ]
    joints += [Spherical(), Planar((0, 1, 1)), Free(), Fixed()]
    inertia = [[2, 0.1, 0], [0.1, 2, 0], [0, 0, 2]]
    for i, joint in enumerate(joints):
        at = Pose((0.1 * i, 0.2, 0), rpy=(0.1 * i, 0.3, 0))
        spec.body(
            f"b{i}",
            f"b{i - 1}" if i % 3 else "ground",
            joint=joint,
            at=at,
            mass=1 / 3,
            com=(0, 0, 0.1),
            inertia=inertia,
        )
    values: dict[str, Any] = {
        "limits": (None, 1.0),
        "stop_stiffness": 5.0,
        "friction": 0.1,
        "friction_speed": 0.2,
    }
    spec.body("b9", joint=Revolute(), armature=0.1, damping=0.2, **values)
    for k in (0, 1, 2, 3, 4, 5, 6, 8):
        spec.close(f"loop{k}", "b7", "b2", joint=joints[k], at_a=Pose((k, 0, 0), quat=(0.1, 0.2, 0.3, 0.4)))
    spec.constrain("gear", Coupling({"b0": 1.0, "b3.angle": -1 / 3}, offset=0.1))
    spec.constrain("rod", Distance("b0", (0, 0, 1), "ground", (1, 0, 1), 1.5))
    spec.constrain("line", PointOnLine("b0", (0, 0, 1), "b7", (1, 0, 1), "x"))
    spec.constrain("plane", PointOnPlane("b0", (0, 0, 1), "b7", (1, 0, 1), (1, 1, 1)))
    spec.constrain("wheel", Rolling("b7", 0.3, "y", (0, 0, 1), (0, 0, 0.1), (0, 0, -1)))
    spec.force("spring", PointSpring("b0", (0, 0, 0), "b1", (1, 0, 0), 10.0, 0.5, 0.1))
    spec.force("coil", JointSpring("b1", 2.0, 0.1)).force("pot", JointDamper("b5.wx", 2.0))
    spec.force("load", ConstantWrench("b7", (1, 2, 3, 4, 5, 6), (0, 0, 1), "body"))
    return spec.actuate("b0", limits=(-5, None)).actuate("b3")


def assert_same_model(first: MechanismSpec, second: MechanismSpec) -> None:
    a, b = first.model(), second.model()
    for name, array in a.fields.items():
        np.testing.assert_array_equal(getattr(b, name), array, err_msg=name)
    assert (a.row_names, a.actuators, a.groups, a.name) == (b.row_names, b.actuators, b.groups, b.name)


def test_json_keeps_every_bit() -> None:
    spec = everything()
    data = spec.to_dict()
    again = MechanismSpec.from_dict(json.loads(json.dumps(data, allow_nan=False)))
    assert again.to_dict() == data
    assert_same_model(spec, again)


def test_a_model_remembers_its_description() -> None:
    spec = everything()
    assert_same_model(spec, MechanismSpec.from_model(spec.model()))
    plain = MechanismSpec().body("b", joint=Revolute(), mass=1.0, com=(1, 0, 0))
    assert MechanismSpec.from_model(plain.model()).actuated is None


def test_data_is_short_where_values_are_defaults() -> None:
    spec = MechanismSpec().body("b", joint=Revolute("x"), mass=1.0, com=(1, 0, 0))
    assert spec.to_dict() == {
        "format": "sarrus",
        "version": 1,
        "name": "mechanism",
        "gravity": [0.0, 0.0, -9.81],
        "bodies": [
            {
                "name": "b",
                "parent": "ground",
                "joint": {"type": "Revolute", "axis": "x"},
                "mass": 1.0,
                "com": [1.0, 0.0, 0.0],
            }
        ],
        "constraints": [],
        "forces": [],
    }


def test_poses_may_be_written_in_any_way() -> None:
    data = MechanismSpec().body("b", joint=Revolute("x"), mass=1.0, com=(0, 1, 0)).to_dict()
    data["bodies"][0]["at"] = {"xyz": [1, 2, 3], "rpy": [0.1, 0.2, 0.3]}
    assert MechanismSpec.from_dict(data).bodies[0].at == Pose((1, 2, 3), rpy=(0.1, 0.2, 0.3))


def test_functions_cannot_be_written() -> None:
    for constraint in (Drive("b", math.sin), CustomConstraint(math.sin, 1)):
        spec = MechanismSpec().body("b", joint=Revolute(), armature=1.0).constrain("c", constraint)
        with pytest.raises(
            InputError, match=r"constraint 'c' \(.*\) holds Python functions and cannot be written"
        ):
            spec.to_dict()


def changed(path: str, value: Any) -> dict[str, Any]:
    data: Any = copy.deepcopy(everything().to_dict())
    *keys, last = (int(key) if key.isdigit() else key for key in path.split("."))
    inner = data
    for key in keys:
        inner = inner[key]
    inner[last] = value
    return dict(data)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("format", "urdf", "a description must say \"format\": 'sarrus', got 'urdf'"),
        ("version", 2, "this release reads version 1 of the format, got 2"),
        ("version", True, "this release reads version 1 of the format, got True"),
        ("colour", "red", "a description: unknown key 'colour'; existing names: 'format', 'version'"),
        ("gravity", None, r"gravity must be an array of finite numbers with shape \(3,\), got None"),
        ("bodies", 3, "bodies must be a list, got 3"),
        ("bodies.0", "b0", "a body must be a mapping, got 'b0'"),
        ("bodies.0", {"name": "b"}, "a body needs 'parent', got 'name'"),
        ("bodies.0.weight", 3, "a body: unknown key 'weight'; existing names: 'name', 'parent'"),
        ("bodies.0.mass", "x", "mass of body 'b0' must be a finite number, got 'x'"),
        ("bodies.0.mass", math.nan, "mass of body 'b0' must be a finite number, got nan"),
        ("bodies.0.joint", "Revolute", "joint of a body must be a mapping with a \"type\", got 'Revolute'"),
        ("bodies.0.joint.type", "Hinge", "joint of a body: unknown type 'Hinge'; existing names: 'Revolute'"),
        ("bodies.0.joint.type", ["Revolute"], r"joint of a body: unknown type \['Revolute'\]"),
        ("bodies.0.joint.axis", [0, 0, 0], "axis of Revolute must not be zero"),
        ("bodies.0.joint.pitch", 1, r"joint of a body \(Revolute\): unknown key 'pitch'"),
        ("bodies.0.at", [1, 2, 3], "at of a body must be a mapping"),
        ("bodies.0.at.quat", [0, 0, 0, 0], "at most one of rpy, quat, matrix, got quat and matrix"),
        ("bodies.1.name", "b0", "a body called 'b0' exists already"),
        ("constraints.0.type", "Weld", "constraint 'loop0': unknown type 'Weld'; existing names: 'Closure'"),
        ("constraints.0.name", None, 'a constraint must be a mapping with a "name"'),
        ("constraints.0.a", "nobody", "constraint 'loop0': unknown body 'nobody'"),
        ("constraints.8.terms", [1], "Coupling must be a mapping"),
        ("forces.0.stiffness", -1, "stiffness of PointSpring must not be negative"),
        ("forces.0", [], "a force must be a mapping"),
        ("actuators.0.name", "motor", "actuate: unknown coordinate 'motor'"),
        ("actuators.0", {}, "actuate: unknown coordinate None"),
        ("actuators", "all", "actuators must be a list, got 'all'"),
    ],
)
def test_bad_data_says_where(path: str, value: Any, message: str) -> None:
    with pytest.raises(SarrusError, match=message):
        MechanismSpec.from_dict(changed(path, value))


def test_data_must_be_a_mapping() -> None:
    with pytest.raises(InputError, match="a description must be a mapping, got 3"):
        MechanismSpec.from_dict(3)  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError, match="unknown key 1"):
        MechanismSpec.from_dict({1: 2})  # type: ignore[dict-item]


JUNK = [
    None,
    True,
    -1,
    0,
    3,
    1e300,
    math.nan,
    math.inf,
    10**400,
    "",
    "x",
    "b0",
    [],
    [[]],
    [1, [2]],
    {},
    {"type": "Fixed"},
]


def mutate(value: Any, rng: np.random.Generator) -> Any:
    """Replace, drop or repeat something, somewhere."""
    if isinstance(value, (dict, list)) and value and rng.random() < 0.9:
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        key = keys[rng.integers(len(keys))]
        action = rng.random()
        if action < 0.1:
            del value[key]
        elif action < 0.15 and isinstance(value, list):
            value.append(copy.deepcopy(value[key]))
        else:
            value[key] = mutate(value[key], rng)
        return value
    return copy.deepcopy(JUNK[rng.integers(len(JUNK))])


def test_mutilated_data_gives_a_clear_error_or_a_mechanism() -> None:
    rng = np.random.default_rng(7)
    original = everything().to_dict()
    refused = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(400):
            data = mutate(copy.deepcopy(original), rng)
            try:
                MechanismSpec.from_dict(data).model()
            except SarrusError:
                refused += 1
    assert 100 < refused < 400

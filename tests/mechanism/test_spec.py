"""MechanismSpec: refusals leave nothing half built; actuators; what compile() hands on."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from sarrus.constraints.couplings import Coupling
from sarrus.errors import InputError, ModelError, SarrusError, UnknownNameError
from sarrus.mechanism.spec import MechanismSpec
from sarrus.models.base.pose import Pose
from sarrus.models.kinds.forces import JointSpring
from sarrus.models.tree.joints import Cylindrical, Fixed, Free, Revolute, Spherical

BAR = {"mass": 1.0, "com": (0.5, 0, 0), "inertia": (0.01, 0.1, 0.1)}


def four_bar() -> MechanismSpec:
    spec = MechanismSpec(name="four bar")
    spec.body("crank", joint=Revolute("y"), **BAR)
    spec.body("rod", "crank", joint=Revolute("y"), at=Pose((1, 0, 0)), **BAR)
    spec.body("rocker", joint=Revolute("y"), at=Pose((2, 0, 0)), **BAR)
    spec.close("loop", "rod", "rocker", joint=Revolute("y"), at_a=Pose((1, 0, 0)), at_b=Pose((1, 0, 0)))
    return spec.force("spring", JointSpring("crank", 1.0))


def test_methods_chain_and_remember() -> None:
    spec = four_bar()
    assert [body.name for body in spec.bodies] == ["crank", "rod", "rocker"]
    assert [name for name, _ in spec.constraints] == ["loop"]
    assert [name for name, _ in spec.forces] == ["spring"]
    assert (spec.name, spec.gravity, spec.length, spec.actuated) == (
        "four bar",
        (0.0, 0.0, -9.81),
        None,
        None,
    )


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda s: s.body("crank", joint=Revolute()),
            ModelError,
            "a body called 'crank' exists already; names must differ",
        ),
        (lambda s: s.body("ground", joint=Revolute()), ModelError, "'ground' is the name of the fixed world"),
        (lambda s: s.body("x", "x", joint=Revolute()), ModelError, "body 'x' is its own ancestor"),
        (
            lambda s: s.body("x", joint=Revolute(), mass=-1),
            InputError,
            "mass of body 'x' must not be negative",
        ),
        (
            lambda s: s.body("x", joint=None),
            InputError,
            "joint of body 'x' must be one of Revolute, Prismatic",
        ),
        (
            lambda s: s.body(3, joint=Revolute()),
            InputError,
            "the name of a body must be a non-empty string, got 3",
        ),
        (
            lambda s: s.close("loop", "rod", "ground", joint=Fixed()),
            ModelError,
            "a constraint called 'loop' exists already",
        ),
        (
            lambda s: s.close("l", "rod", "rod", joint=Fixed()),
            InputError,
            "must join two different bodies, got 'rod' twice",
        ),
        (
            lambda s: s.close("l", "rud", "rod", joint=Fixed()),
            UnknownNameError,
            "'l': unknown body 'rud'; existing names: 'ground', 'crank', 'rod'",
        ),
        (
            lambda s: s.constrain("c", Coupling({"crnk": 1})),
            UnknownNameError,
            "unknown coordinate 'crnk'; existing names: 'crank'",
        ),
        (
            lambda s: s.constrain("c", JointSpring("crank", 1)),
            InputError,
            "must be an instance of a constraint class",
        ),
        (
            lambda s: s.force("spring", JointSpring("rod", 1)),
            ModelError,
            "a force called 'spring' exists already",
        ),
        (lambda s: s.force("f", Coupling({"crank": 1})), InputError, "must be an instance of a force class"),
        (
            lambda s: s.force(None, JointSpring("rod", 1)),
            InputError,
            "the name of a force must be a non-empty string",
        ),
        (
            lambda s: s.actuate("crank", "motor"),
            UnknownNameError,
            "actuate: unknown coordinate 'motor'; existing names",
        ),
        (
            lambda s: s.actuate("crank", limits=(1, -1)),
            InputError,
            "limits of actuate must have lower < upper",
        ),
        (
            lambda s: s.actuate("crank", limits=5),
            InputError,
            r"limits of actuate must be a pair \(lower, upper\), got 5",
        ),
    ],
)
def test_what_is_refused_changes_nothing(call: Any, error: type[SarrusError], message: str) -> None:
    spec = four_bar()
    before = copy.deepcopy(spec.to_dict())
    with pytest.raises(error, match=message):
        call(spec)
    assert spec.to_dict() == before


def test_coordinate_names_must_differ() -> None:
    spec = MechanismSpec().body("a", joint=Cylindrical(), mass=1.0, inertia=(1, 1, 1))
    with pytest.raises(ModelError, match=r"body 'a\.slide' would add a second coordinate called 'a\.slide'"):
        spec.body("a.slide", joint=Revolute())
    assert len(spec.bodies) == 1
    spec.body("a.slide", joint=Fixed())


def test_a_mechanism_needs_a_coordinate() -> None:
    for spec in (
        MechanismSpec(name="rock"),
        MechanismSpec(name="rock").body("stone", joint=Fixed(), mass=1.0),
    ):
        with pytest.raises(
            ModelError, match="mechanism 'rock' has no coordinate: give some body a joint other"
        ):
            spec.model()


def test_bad_heads_say_what_is_wrong() -> None:
    with pytest.raises(InputError, match=r"gravity must have shape \(3,\), got shape \(\)"):
        MechanismSpec(gravity=9.81)
    with pytest.raises(InputError, match="gravity must be finite"):
        MechanismSpec(gravity=(0, 0, np.nan))
    with pytest.raises(InputError, match="length must be positive, got 0"):
        MechanismSpec(length=0.0)
    with pytest.raises(InputError, match="the name of a mechanism must be a non-empty string"):
        MechanismSpec(name="")


def test_everything_but_free_joints_is_actuated_by_default() -> None:
    spec = MechanismSpec().body("base", joint=Free(), mass=1.0, inertia=(1, 1, 1))
    spec.body("arm", "base", joint=Cylindrical(), mass=1.0, inertia=(1, 1, 1))
    assert [a.name for a in spec.model().actuators] == ["arm.slide", "arm.angle"]


def test_actuators_keep_the_order_of_the_calls() -> None:
    spec = four_bar().body("wrist", "rod", joint=Spherical(), mass=1.0, inertia=(1, 1, 1))
    spec.actuate("rocker", limits=(-5, None)).actuate("wrist.wy", "crank")
    actuators = spec.model().actuators
    assert [(a.name, a.index) for a in actuators] == [("rocker", 2), ("wrist.wy", 4), ("crank", 0)]
    assert (actuators[0].lower, actuators[0].upper) == (-5.0, np.inf)
    spec.actuate("wrist")
    with pytest.raises(ModelError, match=r"coordinate 'wrist\.wy' is actuated twice; name it once"):
        spec.model()


def test_nothing_need_be_actuated() -> None:
    assert four_bar().actuate().model().actuators == ()


def test_actuate_without_names_forgets_earlier_ones() -> None:
    """Of a file, for instance, whose actuators are not those of the machine."""
    spec = MechanismSpec()
    for name in ("one", "two"):
        spec.body(name, joint=Revolute("z"), mass=1.0, inertia=(1, 1, 1))
    spec.actuate("one", limits=(-1.0, 1.0))
    assert spec.actuate().actuate("two", "one").compile().actuators == ("two", "one")


def test_a_spec_may_go_on_after_compiling() -> None:
    spec = four_bar()
    first = spec.model()
    spec.body("extra", joint=Revolute(), **BAR)
    assert (first.nv, spec.model().nv) == (3, 4)


def test_compile_makes_a_mechanism() -> None:
    mech = four_bar().compile()
    assert (mech.nq, mech.nv, mech.nc) == (3, 3, 5)


def test_large_mechanisms_are_described_quickly() -> None:
    spec = MechanismSpec()
    for i in range(300):
        spec.body(f"b{i}", f"b{i - 1}" if i else "ground", joint=Revolute("y"), at=Pose((1, 0, 0)), **BAR)
    assert spec.model().nv == 300

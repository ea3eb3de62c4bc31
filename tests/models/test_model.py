"""Model: changed copies, pickles, names, length."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import sarrus as sr
from sarrus import _kernel
from sarrus.constraints.points import Distance
from sarrus.errors import InputError, ModelError, UnknownNameError
from sarrus.mechanism.spec import MechanismSpec
from sarrus.models.base.pose import Pose
from sarrus.models.kinds.forces import JointDamper, JointSpring, PointSpring
from sarrus.models.tree.joints import Fixed, Free, Prismatic, Revolute, Spherical, Universal


def leg(mass: float = 1.0, stiffness: float = 10.0, gravity: float = -9.81) -> MechanismSpec:
    spec = MechanismSpec(gravity=(0, 0, gravity), name="leg")
    spec.body("thigh", joint=Revolute("y"), at=Pose((0, 0, 2)), mass=1.0, com=(0, 0, -0.5), inertia=(1, 1, 1))
    spec.body("shank", "thigh", joint=Revolute("y"), at=Pose((0, 0, -1)), mass=mass, com=(0, 0, -0.4))
    spec.body("foot", "shank", joint=Fixed(), at=Pose((0, 0, -0.8)), mass=0.2, inertia=(0.1, 0.1, 0.1))
    spec.force("knee", JointSpring("shank", stiffness)).force("pad", JointDamper("shank", 0.5))
    return spec.close("floor", "foot", "ground", joint=Prismatic("z"))


def test_a_changed_copy_equals_a_new_description() -> None:
    changed = leg().model().replace(mass={"shank": 2.0}, stiffness={"knee": 7.0}, gravity=(0, 0, -1.62))
    expected = leg(2.0, 7.0, -1.62).model()
    for name, array in expected.fields.items():
        np.testing.assert_array_equal(getattr(changed, name), array, err_msg=name)
        assert not getattr(changed, name).flags.writeable
    assert MechanismSpec.from_model(changed).to_dict()["bodies"] == leg(2.0).to_dict()["bodies"]


def test_every_parameter_can_be_changed() -> None:
    model = leg().model()
    new = model.replace(
        com={"shank": (0, 0, -0.3)},
        inertia={"thigh": (2, 2, 2)},
        armature={"thigh": 0.1},
        damping={"thigh": 0.2, "pad": 0.7},
        friction={"shank": 0.3},
    )
    assert new.armature.tolist() == [0.1, 0.0]
    assert new.damping.tolist() == [0.2, 0.7]
    assert new.friction.tolist() == [0.0, 0.3]
    assert new.inertia[1, 0] == 2.0
    np.testing.assert_allclose(new.com[2], [-(0.3 + 0.2 * 0.8) / 1.2, 0, 0])  # body z is x of the turned node
    assert model.armature.tolist() == [0.0, 0.0]


def test_bad_changes_say_what_is_wrong() -> None:
    model = leg().model()
    with pytest.raises(
        UnknownNameError, match="unknown owner of mass 'shin'; existing names: 'thigh', 'shank', 'foot'"
    ):
        model.replace(mass={"shin": 1.0})
    with pytest.raises(UnknownNameError, match="unknown owner of stiffness 'shank'; existing names: 'knee'"):
        model.replace(stiffness={"shank": 1.0})
    with pytest.raises(
        UnknownNameError, match="unknown parameter 'colour'; existing names: 'gravity', 'mass'"
    ):
        model.replace(colour={"shank": 1.0})
    with pytest.raises(InputError, match=r"mass must be a mapping from names to values, got 2\.0"):
        model.replace(mass=2.0)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="mass of body 'shank' must not be negative"):
        model.replace(mass={"shank": -1.0})
    with pytest.raises(InputError, match="stiffness of JointSpring must not be negative"):
        model.replace(stiffness={"knee": -1.0})
    with pytest.raises(InputError, match=r"gravity must have shape \(3,\)"):
        model.replace(gravity=9.81)
    with pytest.raises(UnknownNameError, match="unknown owner of mass 'ground'"):
        model.replace(mass={"ground": 1.0})
    both = MechanismSpec().body("a", joint=Revolute(), armature=1.0).force("a", JointDamper("a", 1.0)).model()
    with pytest.raises(InputError, match="damping of 'a' is ambiguous: a joint and a force have that name"):
        both.replace(damping={"a": 2.0})
    with pytest.raises(ModelError, match="body 'a' has no inertia along its coordinate 'a'"):
        both.replace(armature={"a": 0.0})


def test_pickles_are_read_only_too() -> None:
    model = leg().model()
    copy = pickle.loads(pickle.dumps(model))
    assert not copy.mass.flags.writeable and not copy.row_holonomic.flags.writeable
    for name, array in model.fields.items():
        np.testing.assert_array_equal(getattr(copy, name), array)
    assert copy.groups == model.groups and copy.tree == model.tree


def test_models_cannot_be_changed_in_place() -> None:
    model = leg().model()
    with pytest.raises(AttributeError):
        model.name = "other"  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        model.mass[1] = 3.0


def test_the_kernel_accepts_the_arrays() -> None:
    model = leg().model()
    kernel = _kernel.Kernel(model.sizes, model.fields)
    assert kernel.mass_matrix(np.zeros((1, 2))).shape == (1, 2, 2)


def test_names_are_found_or_listed() -> None:
    model = leg().model()
    assert model.body_index("shank") == 2
    assert model.tree.coordinate("shank") == 1
    assert model.group("floor").rows == slice(0, 5)
    assert model.group("floor").kind == "Prismatic"
    assert (model.group("floor").a, model.group("floor").b, model.group("floor").element) == (
        "foot",
        "ground",
        0,
    )
    with pytest.raises(
        UnknownNameError, match=r"unknown body 'shnk'; existing names: .* Did you mean 'shank'"
    ):
        model.body_index("shnk")
    with pytest.raises(UnknownNameError, match="unknown coordinate 'foo'; existing names: 'thigh', 'shank'"):
        model.tree.coordinate("foo")
    with pytest.raises(UnknownNameError, match="unknown constraint 'loop'; existing names: 'floor'"):
        model.group("loop")


def test_neutral_has_unit_quaternions() -> None:
    spec = MechanismSpec().body("f", joint=Free(), mass=1.0, inertia=(1, 1, 1))
    model = spec.body("s", "f", joint=Spherical(), mass=1.0, inertia=(1, 1, 1)).model()
    assert model.neutral().tolist() == [0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1]
    assert model.quaternions == (3, 7)
    assert [a.name for a in model.actuators] == ["s.wx", "s.wy", "s.wz"]


def test_length_is_the_mean_distance_between_joints_of_moving_bodies() -> None:
    model = leg().model()
    assert float(model.length) == pytest.approx((1.0 + 0.8) / 2)
    assert model.unit.tolist() == [1.0, 1.0]
    np.testing.assert_allclose(model.row_unit, [0.9, 0.9, 1, 1, 1])
    np.testing.assert_array_equal(model.origin, [0, 0, 2])


def test_length_falls_back_to_centres_of_mass_then_ground_then_one() -> None:
    def length(**values: object) -> float:
        return float(MechanismSpec().body("b", joint=Revolute(), armature=1.0, **values).model().length)  # type: ignore[arg-type]

    assert length(mass=1.0, com=(0.3, 0, 0.4), at=Pose((7, 0, 0))) == pytest.approx(0.5)
    assert length(at=Pose((7, 0, 0))) == 7.0
    assert length() == 1.0
    assert float(MechanismSpec(length=2.5).body("b", joint=Revolute(), armature=1.0).model().length) == 2.5


def test_every_declared_length_counts() -> None:
    """0.1.0 saw joints only: sliders tied by a rod of 1 um or of 10 km had L = 1 m."""

    def sliders() -> MechanismSpec:
        spec = MechanismSpec(gravity=(0, 0, 0))
        spec.body("x", joint=sr.Prismatic("x"), mass=1.0)
        return spec.body("y", joint=sr.Prismatic("y"), mass=2.0)

    for l in (1e-12, 1e-6, 1e4):
        spec = sliders().constrain("rod", sr.Distance("x", (0, 0, 0), "y", (0, 0, 0), l))
        assert float(spec.model().length) == pytest.approx(l)
        spec.force("k", sr.JointSpring("y", 2.0, 0.2 * l))
        assert float(spec.model().length) == pytest.approx(l)
        pin = sliders().constrain("pin", sr.PointOnCylinder("x", (0, 0, 0), "y", (0, 0, 0), "z", l))
        assert float(pin.model().length) == pytest.approx(l)
        assert float(sliders().force("k", sr.JointSpring("x", 1.0, -l)).model().length) == pytest.approx(l)
        spring = sr.PointSpring("x", (0, 0, 0), "y", (0, 0, 0), 1.0, l)
        assert float(sliders().force("k", spring).model().length) == pytest.approx(l)
        stop = MechanismSpec().body("s", joint=sr.Prismatic("x"), mass=1.0, limits=(-l, 2 * l))
        assert float(stop.model().length) == pytest.approx(3 * l)
        one_sided = MechanismSpec().body("s", joint=sr.Prismatic("x"), mass=1.0, limits=(None, l))
        assert float(one_sided.model().length) == pytest.approx(l)
        wheel = MechanismSpec().body("w", joint=sr.Free(), mass=1.0, inertia=(l * l,) * 3)
        wheel.constrain("roll", sr.Rolling("w", l, "y"))
        assert float(wheel.model().length) == pytest.approx(l)
    angle = MechanismSpec().body("a", joint=Revolute(), armature=1.0, limits=(-3, 3))
    assert float(angle.force("k", sr.JointSpring("a", 1.0, 0.3)).model().length) == 1.0


def test_length_ignores_coincident_joints_and_counts_rods() -> None:
    spec = MechanismSpec().body("b", joint=Universal(), mass=1.0, com=(0, 0, 1), inertia=(1, 1, 1))
    spec.constrain("rod", Distance("b", (0, 0, 3), "ground", (1, 0, 3), 1.0))
    assert float(spec.model().length) == pytest.approx((3.0 + 1.0) / 2)


def test_springs_do_not_count_as_joints() -> None:
    spec = MechanismSpec().body("b", joint=Revolute(), mass=1.0, com=(0.5, 0, 0))
    spec.force("s", PointSpring("b", (9, 0, 0), "ground", (0, 9, 0), 1.0))
    assert float(spec.model().length) == 0.5


@pytest.mark.parametrize("seed", range(8))
def test_pickles_have_the_same_bits(seed: int) -> None:
    """Axes of a Universal were made perpendicular again, in the last digits, at each pickle."""
    rng = np.random.default_rng(seed)
    axes = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    spec = sr.MechanismSpec()
    rod = {"mass": 1.0, "com": rng.normal(size=3), "inertia": (1.0, 1.2, 1.4)}
    place = lambda: sr.Pose(rng.normal(size=3), rpy=rng.normal(size=3))  # noqa: E731
    spec.body("a", joint=sr.Universal(axes[0], axes[1] + 1e-8 * axes[0]), at=place(), **rod)
    spec.body("b", "a", joint=sr.Revolute(axes[2]), at=place(), **rod)
    spec.close("loop", "ground", "b", joint=sr.Universal(axes[1], axes[2]), at_a=place(), at_b=place())
    mech = again = spec.compile()
    for _ in range(3):
        again = pickle.loads(pickle.dumps(again))
        for name, array in vars(mech.model).items():
            if isinstance(array, np.ndarray):
                np.testing.assert_array_equal(array, getattr(again.model, name), err_msg=name)

"""Variants made together against the same variants made one by one, and what users do with them."""

import pickle

import numpy as np
import pytest

import sarrus as sr
from sarrus.mechanism.variants import design_variants
from sarrus.models.variant_model import VariantModel

SPREAD = 1.0 + 0.02 * np.array([-1.0, -0.3, 0.2, 0.7, 1.0])


def machines() -> list[sr.Mechanism]:
    named = ("peaucellier", "double_wishbone", "excavator", "landing_gear", "folding_chair")
    return [*(getattr(sr.library, name)() for name in named), sr.library.scissor_lift(2)]


def four_bar() -> sr.Mechanism:
    spec = sr.MechanismSpec(gravity=(0, -9.81, 0), name="four_bar")
    a, d = spec.parameter("a", 0.1), spec.parameter("d", 0.4)
    spec.point("A", (0, 0, 0)).point("B", (0, a, 0)).point("C", (0.35, 0.3, 0)).point("D", (d, 0, 0))
    spec.point("P", (0.2, 0.35, 0))
    spec.link("crank", "A", "B", mass=1.0).link("coupler", "B", "C", mass=1.0).link(
        "rocker", "D", "C", mass=1.0
    )
    for name, *ends in (("A", "ground", "crank"), ("B", "crank", "coupler"), ("C", "coupler", "rocker")):
        spec.joint(name, *ends, sr.Revolute("z"), at=name)
    spec.joint("D", "ground", "rocker", sr.Revolute("z"), at="D")
    spec.measure("transmission", sr.Angle("coupler", "rocker"))
    spec.measure("gap", sr.Length("coupler", "P", "ground", "D"))
    return spec.compile()


def by_calls(mech: sr.Mechanism, **changes: object) -> sr.Mechanism:
    """A variant made by the calls of the description, without a template."""
    recipe = mech.model.recipe
    if recipe is None or not set(changes) <= set(recipe.parameters):
        return mech.with_(**changes)
    return sr.Mechanism(recipe.with_values(changes).model(), near=mech.default.q)


def together(mech: sr.Mechanism, **parameters: object) -> list[sr.Mechanism]:
    """Variants made at once; none of them by its calls."""
    found = mech.variants(parameters)
    assert all(isinstance(copy.model, VariantModel) for copy in found)
    return list(found)


def assert_same(one: sr.Mechanism, other: sr.Mechanism) -> None:
    for name, array in other.model.fields.items():
        size = np.max(np.abs(array), initial=0.0)
        np.testing.assert_allclose(getattr(one.model, name), array, rtol=0.0, atol=1e-13 * size, err_msg=name)


def assert_same_bits(one: sr.Mechanism, other: sr.Mechanism) -> None:
    for name, array in other.model.fields.items():
        np.testing.assert_array_equal(getattr(one.model, name), array, err_msg=name)


@pytest.mark.parametrize("mech", machines(), ids=lambda mech: mech.name)
def test_the_bits_of_a_variant_do_not_depend_on_the_others(mech: sr.Mechanism) -> None:
    for name, value in mech.parameters.items():
        several = mech.variants({name: value * SPREAD})
        assert_same_bits(several[3], mech.variants({name: value * SPREAD[3:4]})[0])
        assert_same_bits(several[3], mech.variants({name: value * np.tile(SPREAD[::-1], 7)})[1])


@pytest.mark.parametrize("mech", machines(), ids=lambda mech: mech.name)
def test_every_parameter_of_the_machines_gives_the_tables_that_with_gives(mech: sr.Mechanism) -> None:
    for name, value in mech.parameters.items():
        for copy, factor in zip(together(mech, **{name: value * SPREAD}), SPREAD, strict=True):
            one = mech.with_(**{name: value * factor})
            assert_same_bits(copy, one)
            assert copy.parameters == one.parameters
            assert_same(copy, by_calls(mech, **{name: value * factor}))


@pytest.mark.parametrize(
    "changes",
    [
        {"mass": {"link2": 2.0 * SPREAD}, "gravity": np.outer(SPREAD, [0.0, 0.0, -9.81])},
        {"com": {"link1": np.outer(SPREAD, [0.1, 0.02, 0.0])}, "damping": {"link3": SPREAD}},
        {"inertia": {"link1": np.outer(SPREAD, [0.1, 0.2, 0.25])}, "armature": {"link4": SPREAD}},
        {"inertia": {"link1": SPREAD[:, None, None] * np.array([[0.2, 0.1, 0], [0.1, 0.2, 0], [0, 0, 0.3]])}},
    ],
)
def test_other_keywords_of_with_vary_as_well(changes: dict) -> None:
    mech = sr.library.five_bar()
    for i, copy in enumerate(together(mech, **changes)):
        assert_same(copy, by_calls(mech, **design_variants._changes(changes, i)))


def test_kinds_of_declarations_with_parameters() -> None:
    """Axes, poses by every constructor, shapes, springs, rods, limits with stops, wrenches."""
    spec = sr.MechanismSpec(name="everything")
    p = spec.parameter("p", 0.3)
    solid = [
        sr.Box((p, 0.2, 0.1), at=sr.Pose((0, 0, p), rpy=(p, 0.1, 0))),
        sr.Tube(p, 0.05, 2 * p),
        sr.Sphere(p / 3),
    ]
    spec.part("arm", at=sr.Pose((p, 0, 0), quat=(0, 0, np.sin(p), np.cos(p))), shape=solid)
    spec.part(
        "plate", at=sr.Pose.looking_at((0, p, 1), (1, p, 0)), shape=sr.Plate([(0, 0), (p, 0), (0, 1)], 0.01)
    )
    spec.link("rod", (p, 0, 0), (1, 0, p), (1, 1, p), diameter=p / 10)
    spec.joint(
        "hinge", "ground", "arm", sr.Revolute((p, 0, 1)), at=(p, 0, 0), limits=(-p, p), stop_stiffness=10.0
    )
    spec.joint(
        "slide", "arm", "plate", sr.Prismatic("x"), at=sr.Pose.from_points((0, 0, 0), (1, p, 0), (0, 1, p))
    )
    spec.joint("ball", "plate", "rod", sr.Spherical(), at=(p, p, p), damping=p)
    spring = sr.PointSpring("arm", (p, 0, 0), "ground", (0, 0, 1), stiffness=100 * p, rest=p)
    spec.force("spring", spring, frame="body")
    load = sr.ConstantWrench("rod", (p, 0, 0, 0, 0, p), point=(0, p, 0), frame="body")
    spec.force("load", load, frame="body")
    spec.constrain("tie", sr.Distance("rod", (0, 0, 0), "ground", (0, 0, 0), length=1.1 + p))
    mech = spec.compile()
    for copy, factor in zip(together(mech, p=0.3 * SPREAD), SPREAD, strict=True):
        other = by_calls(mech, p=0.3 * factor)
        assert_same(copy, other)
        np.testing.assert_allclose(copy.model.limits, other.model.limits)  # made when asked for
        for one, two in zip(copy.visuals, other.visuals, strict=True):
            np.testing.assert_allclose(one.size, two.size, rtol=1e-14)
            np.testing.assert_allclose(one.at.matrix, two.at.matrix, atol=1e-14)


def gears() -> sr.Mechanism:
    """All kinds of gears on one plate, their places following the module; a planet on a carrier; a belt."""
    spec = sr.MechanismSpec(name="gears")
    m = spec.parameter("m", 0.004)
    solid = {"mass": 1.0, "inertia": (0.01, 0.01, 0.02)}
    spec.body("a", joint=sr.Revolute("z"), **solid)
    spec.body("b", joint=sr.Revolute("z"), at=sr.Pose((30 * m, 0, 0)), **solid)
    spec.body("rack", joint=sr.Prismatic("x"), at=sr.Pose((0, -10 * m, 0)), **solid)
    spec.body("bevel", joint=sr.Revolute("x"), at=sr.Pose((-m, 0, 10 * m)), **solid)
    spec.body("wheel", joint=sr.Revolute("x"), at=sr.Pose((0, 0.03 + 15 * m, 0)), **solid)
    spec.body("arm", joint=sr.Revolute("z"), **solid)
    spec.body("planet", "arm", joint=sr.Revolute("z"), at=sr.Pose((0, 15 * m, 0)), **solid)
    spec.constrain("spur", sr.Gear("a", "b", 20, 40, m, offset=0.1 * m))
    spec.constrain("rows", sr.Gear("a", "rack", 20, 1, m, kind="rack", pressure_angle=80 * m))
    spec.constrain("cone", sr.Gear("a", "bevel", 20, 20, m, kind="bevel"))
    spec.constrain("sun", sr.Gear("a", "planet", 20, 10, m))
    spec.constrain("worm", sr.Gear("a", "wheel", 2, 30, m, kind="worm", diameter=0.06))
    spec.constrain("belt", sr.Belt("a", "b", 0.02 + m, 0.05, pretension=10.0 * m))
    return spec.compile()


def test_gears_and_belts_whose_places_follow_a_parameter() -> None:
    mech = gears()
    for copy, factor in zip(together(mech, m=0.004 * SPREAD), SPREAD, strict=True):
        assert_same(copy, by_calls(mech, m=0.004 * factor))
    with pytest.raises(sr.InputError, match="copy 1: parameter 'm' must be a finite number"):
        mech.variants({"m": [0.004, np.nan]})


def test_a_cam_and_limits_of_actuators_of_each_variant() -> None:
    """Rows that Python computes and limits are no arrays of the kernel, and are varied with them."""
    spec = sr.MechanismSpec(gravity=(0, 0, 0))
    lift, limit = spec.parameter("lift", 0.01), spec.parameter("limit", 5.0)
    spec.body("cam", joint=sr.Revolute("z"), mass=1.0, inertia=(0.01, 0.01, 0.01))
    spec.body("follower", joint=sr.Prismatic("y"), mass=1.0)
    angles = np.linspace(0.0, 2 * np.pi, 8, endpoint=False)
    spec.constrain("profile", sr.Cam("follower", "cam", angles, [lift * (1 - np.cos(x)) for x in angles]))
    spec.actuate("cam", limits=(-limit, limit))
    mech = spec.compile()
    for copy, scale in zip(together(mech, lift=0.01 * SPREAD, limit=5.0 * SPREAD), SPREAD, strict=True):
        risen = copy.assemble(mech.neutral(), {"cam": np.pi}).q[1]
        assert risen == pytest.approx(0.02 * scale, rel=1e-12)
        assert copy.model.actuators[0].upper == pytest.approx(5.0 * scale, rel=1e-15)


def test_descriptions_from_files_and_models_have_parameters() -> None:
    """What they begin with is no call; visuals, laws and omissions stay."""
    spec = sr.MechanismSpec.from_model(four_bar().model)
    spec.force("brake", sr.JointDamper("A", spec.parameter("c", 0.1)))
    mech = spec.compile()
    twice = mech.with_(c=0.2)
    assert twice.model.damping[0] == 0.2 and twice.names == mech.names
    assert_same(by_calls(mech, c=0.2), twice)
    again = pickle.loads(pickle.dumps(twice)).with_(c=0.3)
    assert again.model.damping[0] == 0.3 and again.parameters == {"c": 0.3}


def test_variants_that_branch_otherwise_are_made_after_the_others() -> None:
    """A link that becomes vertical takes its frame from other axes."""
    spec = sr.MechanismSpec()
    x = spec.parameter("x", 0.5)
    spec.link("rod", (0, 0, 0), (x, 0, 1), mass=1.0).joint(
        "pin", "ground", "rod", sr.Revolute("y"), at=(0, 0, 0)
    )
    mech = spec.compile()
    values = np.array([0.5, 0.1, 0.0, 0.2, 0.3])
    for copy, value in zip(mech.variants({"x": values}), values, strict=True):
        assert_same(copy, by_calls(mech, x=value))
        assert_same_bits(copy, mech.variants({"x": [value]})[0])
        assert_same_bits(copy, mech.with_(x=value))
    assert len(mech.model.recipe.templates) == 2


def test_a_refused_value_names_its_copy() -> None:
    spec = sr.MechanismSpec()
    r = spec.parameter("r", 0.01)
    spec.link("rod", (0, 0, 0), (1, 0, 0), diameter=r)
    spec.joint("pin", "ground", "rod", sr.Revolute(), at=(0, 0, 0))
    mech = spec.compile()
    with pytest.raises(sr.InputError, match=r"parameters of copy 3: diameter of link 'rod' must be positive"):
        mech.variants({"r": [0.01, 0.02, 0.03, -0.01, 0.02]})
    for given, message in (({"a": 0.1}, "leading axis"), ({"b": [1.0, 2.0]}, "unknown"), ([1], "mapping")):
        with pytest.raises(sr.InputError, match=message):
            four_bar().variants(given)
    with pytest.raises(sr.InputError, match="same number of copies"):
        four_bar().variants({"a": [0.1, 0.11], "d": [0.4, 0.41, 0.42]})
    with pytest.raises(sr.InputError, match="at least one value"):
        four_bar().variants({"a": []})
    with pytest.raises(sr.InputError, match="must name what differs"):
        four_bar().sweep("A", [0.0], parameters={})
    mech = four_bar()
    with pytest.raises(sr.InputError, match=r"belong to the 3 variants, got batch axes \(2,\)"):
        mech.sweep("A", [0.0], np.tile(mech.default.q, (2, 1)), parameters={"a": [0.1, 0.11, 0.12]})
    with pytest.raises(sr.InputError, match="q must have one entry for each of the 2 variants"):
        mech.measure(np.tile(mech.default.q, (3, 1)), parameters={"a": [0.1, 0.11]})
    with pytest.raises(sr.SarrusError, match="unknown parameter 'b'; existing names: 'a', 'd', 'gravity'"):
        mech.with_(b=0.1)


def test_sweeps_assemblies_and_measures_of_variants_are_those_of_each() -> None:
    mech, a = four_bar(), np.linspace(0.08, 0.12, 7)
    turn = np.linspace(0.0, 2.0 * np.pi, 9)
    swept = mech.sweep("A", turn, parameters={"a": a})
    assembled = mech.assemble(mech.default.q, {"A": 0.2}, parameters={"a": a})
    measured = mech.measure(swept.q, parameters={"a": a})
    assert swept.q.shape == (7, 9, 4) and swept.success.all() and assembled.success.all()
    for i, value in enumerate(a):
        one = mech.with_(a=value)
        path = one.sweep("A", turn)
        np.testing.assert_allclose(swept.q[i], path.q, atol=1e-12)
        np.testing.assert_allclose(assembled.q[i], one.assemble(mech.default.q, {"A": 0.2}).q, atol=1e-12)
        np.testing.assert_allclose(measured["gap"][i], one.measure(path.q)["gap"], atol=1e-12)
        np.testing.assert_allclose(swept["gap"][i], path["gap"], atol=1e-12)
        np.testing.assert_allclose(swept.curve("coupler", "P")[i], path.curve("coupler", "P"), atol=1e-12)
        assert swept[i].message == path.message


def test_a_variant_that_does_not_close_is_said_and_the_others_go_on() -> None:
    mech = four_bar()
    swept = mech.sweep("A", [0.3, 0.4], parameters={"a": [0.1, 5.0, 0.11, 0.12]})
    assert swept.success.tolist() == [True, False, True, True] and np.isnan(swept.q[1]).all()
    assert "No start" in swept.message[1] and np.isnan(swept["gap"][1]).all()
    found = mech.assemble(fixed={"A": 0.3}, parameters={"a": [0.1, 5.0, 0.11, 0.12]})
    assert found.success.tolist() == [True, False, True, True] and "stays open" in found.message[1]
    assert found.gaps["C.weld"][1] > 0.1 > found.gaps["C.weld"][0]


def test_a_variant_is_a_mechanism_like_others() -> None:
    mech = four_bar()
    copy, same = mech.variants({"a": np.linspace(0.1, 0.12, 5)})[3], by_calls(four_bar(), a=0.115)
    q, v = same.default.q, same.consistent_velocity(same.default.q, np.ones(4))
    np.testing.assert_allclose(copy.default.q, q, atol=1e-13)
    np.testing.assert_allclose(copy.acceleration(q, v, np.zeros(4)), same.acceleration(q, v, np.zeros(4)))
    np.testing.assert_allclose(
        copy.forward_dynamics(q, v).reaction("B"), same.forward_dynamics(q, v).reaction("B"), atol=1e-10
    )
    assert str(copy) == str(same) and copy.with_(a=0.1).parameters == {"a": 0.1, "d": 0.4}
    again = pickle.loads(pickle.dumps(copy))
    assert_same(again, same)
    heavier = copy.with_(mass={"rocker": 3.0})
    assert_same(heavier, same.with_(mass={"rocker": 3.0}))


def test_rollouts_take_variants_of_the_geometry() -> None:
    mech, a = four_bar(), np.linspace(0.09, 0.11, 5)
    q0 = mech.assemble(mech.default.q, parameters={"a": a}).q
    run = sr.rollout(mech, q0, dt=1e-3, steps=20, parameters={"a": a})
    for i, value in enumerate(a):
        alone = sr.rollout(mech.with_(a=value), q0[i], dt=1e-3, steps=20)
        np.testing.assert_allclose(run.q[i], alone.q[0], atol=1e-12)


def test_a_cylinder_driven_by_length_keeps_the_length_of_each_variant() -> None:
    """The drive is a function that knows how long the cylinder is drawn: no array of the kernel."""
    spec = sr.MechanismSpec()
    h = spec.parameter("h", 0.5)
    spec.link("arm", (0, 0, 0), (1, 0, h), mass=2.0)
    spec.joint("hinge", "ground", "arm", sr.Revolute("y"), at=(0, 0, 0))
    spec.cylinder(
        "lift", "ground", (0.6, 0, -0.4), "arm", (0.6, 0, 0.6 * h), axis="y", length=lambda t: 0.75 + 0.1 * t
    )
    mech = spec.compile()
    values = np.array([0.5, 0.52, 0.48, 0.55, 0.6])
    for copy, value in zip(mech.variants({"h": values}), values, strict=True):
        drawn = 0.4 + 0.6 * value
        assert copy.model.drive_values(1.0)[0, 0] == pytest.approx(0.85 - drawn, abs=1e-12)


def test_what_a_mechanism_has_computed_is_not_that_of_its_variants() -> None:
    """Centre of mass, friction at rest and steps, asked of the mechanism first and then of its variant."""

    def build(mass: float, friction: float) -> sr.Mechanism:
        spec = sr.MechanismSpec(gravity=(0, 0, -9.81), name="slope")
        m, c = spec.parameter("m", mass), spec.parameter("c", friction)
        spec.link("beam", (0, 0, 0), (1, 0, 0), mass=m)
        spec.part("block", at=sr.Pose((0.5, 0, 1)), mass=1.0, inertia=(1e-3,) * 3)
        spec.joint("rail", "ground", "beam", sr.Prismatic("z"), at=(0, 0, 0))
        spec.joint("hinge", "beam", "block", sr.Revolute("y"), at=(0.2, 0, 0))
        spec.force("dry", sr.CoulombFriction("rail", c))
        return spec.compile()

    mech, (q, v) = build(1.0, 3.0), (np.zeros(2), np.zeros(2))
    mech.center_of_mass(q), mech.forward_dynamics(q, v), mech.step(q, v, dt=1e-3)
    for _ in range(2):  # the second one comes from the template of the first
        other, fresh = mech.with_(m=4.0, c=90.0), build(4.0, 90.0)
        np.testing.assert_allclose(other.center_of_mass(q), fresh.center_of_mass(q), rtol=1e-14)
        np.testing.assert_allclose(other.forward_dynamics(q, v).a, fresh.forward_dynamics(q, v).a, atol=1e-12)
        np.testing.assert_allclose(other.step(q, v, dt=1e-3).v, fresh.step(q, v, dt=1e-3).v, atol=1e-12)
        mech = other.with_(m=1.0, c=3.0)

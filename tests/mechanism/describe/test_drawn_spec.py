"""Descriptions as drawn: the same motion as of a tree, whatever was declared first; names, bad input."""

from __future__ import annotations

import itertools
import pickle
from typing import Any

import numpy as np
import pytest

import sarrus as sr

POINTS = {"A": (0.0, 0.0, 0.0), "B": (0.1, 0.15, 0.0), "C": (0.45, 0.3, 0.0), "D": (0.4, 0.0, 0.0)}
LINKS = {"crank": "AB", "coupler": "BC", "rocker": "CD"}
PINS = {
    "A": ("ground", "crank"),
    "B": ("crank", "coupler"),
    "C": ("coupler", "rocker"),
    "D": ("rocker", "ground"),
}


def drawn(links: Any = tuple(LINKS), pins: Any = tuple(PINS), **options: Any) -> sr.MechanismSpec:
    spec = sr.MechanismSpec(gravity=(0, -9.81, 0))
    for name, xyz in POINTS.items():
        spec.point(name, xyz)
    for name in links:
        spec.link(name, *LINKS[name], mass=1.0)
    for name in pins:
        spec.joint(name, *PINS[name], sr.Revolute("z"), at=name, **options)
    return spec


def tree() -> sr.Mechanism:
    """The same four-bar with a tree chosen by hand."""
    spec = sr.MechanismSpec(gravity=(0, -9.81, 0))
    P = {name: np.array(xyz) for name, xyz in POINTS.items()}

    def bar(name: str, parent: str, ends: str, at: Any, turned: float) -> float:
        along = P[ends[1]] - P[ends[0]]
        length, angle = float(np.linalg.norm(along)), float(np.arctan2(along[1], along[0]))
        inertia = (length**2 / 3200, length**2 / 12, length**2 / 12)
        pose = sr.Pose(at, rpy=(0, 0, angle - turned))
        spec.body(
            name, parent, joint=sr.Revolute("z"), at=pose, mass=1.0, com=(length / 2, 0, 0), inertia=inertia
        )
        return length

    turned = float(np.arctan2(0.15, 0.1))
    crank = bar("crank", "ground", "AB", (0, 0, 0), 0.0)
    coupler = bar("coupler", "crank", "BC", (crank, 0, 0), turned)
    rocker = bar("rocker", "ground", "DC", P["D"], 0.0)
    at_a, at_b = sr.Pose((coupler, 0, 0)), sr.Pose((rocker, 0, 0))
    return spec.close("C", "coupler", "rocker", sr.Revolute("z"), at_a=at_a, at_b=at_b).compile()


def test_the_same_motion_as_of_a_tree() -> None:
    """1e-10: both are integrated with rtol 1e-12."""
    one, other = drawn().compile(), tree()
    runs = [sr.simulate(mech, (0.0, 0.5), rtol=1e-12) for mech in (one, other)]
    for t in np.linspace(0.0, 0.5, 6):
        a, b = (run.at(t).q for run in runs)
        for name in LINKS:
            tip = [m.pose(q, name).xyz for m, q in ((one, a), (other, b))]
            if name == "rocker":  # its frame stands at C in one, at D in the other
                tip[1] = other.pose(b, name).apply(
                    (np.linalg.norm(np.subtract(POINTS["C"], POINTS["D"])), 0, 0)
                )
            np.testing.assert_allclose(*tip, atol=1e-10)
        assert a[one.index("A").q] == pytest.approx(b[other.index("crank").q], abs=1e-10)
        assert a[one.index("D").q] == pytest.approx(
            -b[other.index("rocker").q], abs=1e-10
        )  # ground in rocker


def test_reactions_are_those_on_b() -> None:
    one, other = drawn().compile(), tree()
    found, known = (m.forward_dynamics(m.default.q, m.default.v) for m in (one, other))
    pairs = {"A": known.reaction("crank", "world"), "B": known.reaction("coupler", "world"),
             "C": known.reaction("C", "world"), "D": -known.reaction("rocker", "world")}  # fmt: skip
    for name, wrench in pairs.items():
        np.testing.assert_allclose(found.reaction(name, "world"), wrench, atol=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_the_order_of_declaration_changes_nothing(seed: int) -> None:
    order = np.random.default_rng(seed)
    mech = drawn(order.permutation(list(LINKS)), order.permutation(list(PINS))).compile()
    base = drawn().compile()
    a, b = (m.forward_dynamics(m.default.q, m.default.v).a for m in (mech, base))
    for name in PINS:
        assert a[mech.index(name).v] == pytest.approx(b[base.index(name).v], rel=1e-10)


@pytest.mark.parametrize("cut", list(PINS))
def test_every_joint_has_its_coordinate_whichever_is_cut(cut: str) -> None:
    """Swept, actuated, limited and driven by its name; what is needed is in the tree."""
    pins = [cut, *(name for name in PINS if name != cut)][::-1]
    base = drawn().compile()
    mech = drawn(pins=pins).actuate(*[name for name in pins if name != cut]).compile()
    assert f"{cut}.weld" in dict(mech.model.constraints)  # the three others are needed
    values = np.linspace(0.0, -0.2, 5)
    for name in PINS:
        swept, known = mech.sweep(name, values), base.sweep(name, values)
        assert swept.success and known.success
        for other in PINS:
            np.testing.assert_allclose(
                swept.q[:, mech.index(other).q], known.q[:, base.index(other).q], atol=1e-9
            )
    driven = drawn(pins=pins).constrain("turn", sr.Drive(cut, lambda t: 0.1 * t)).actuate(cut, limits=(-1, 1))
    run = sr.simulate(driven.compile(), (0.0, 0.5))
    assert run.success
    assert run.q[-1][driven.compile().index(cut).q] == pytest.approx(0.05, abs=1e-9)
    limited = drawn(pins=[p for p in pins if p != cut]).joint(
        cut, *PINS[cut], sr.Revolute("z"), at=cut, limits=(-0.1, 0.1)
    )
    assert limited.compile().model.limits[limited.compile().index(cut).v].tolist() == [[-0.1, 0.1]]


JOINTS = [
    sr.Revolute((1, 2, 2)), sr.Prismatic("y"), sr.Helical("z", 0.2), sr.Cylindrical("x"),
    sr.Universal("x", "z"), sr.Planar((0, 1, 1)),
]  # fmt: skip


@pytest.mark.parametrize("joint", JOINTS, ids=lambda joint: type(joint).__name__)
def test_coordinates_are_those_of_b_relative_to_a_either_way_round(joint: Any) -> None:
    """The tree must run from the ground; a joint declared from the part to the ground is turned around."""
    at, frame = sr.Pose((0.3, 0.1, -0.2), rpy=(0.3, -0.4, 0.9)), sr.Pose((0.5, 0, 0), rpy=(0, 0.2, 0))
    solid: dict[str, Any] = {"at": frame, "mass": 1.0, "inertia": (0.1, 0.1, 0.1)}
    there, back = (
        sr.MechanismSpec().part("p", **solid).joint("j", *ends, joint, at=at, damping=0.1).compile()
        for ends in (("ground", "p"), ("p", "ground"))
    )
    rng = np.random.default_rng(1)
    q = rng.uniform(-0.5, 0.5, there.nq)
    values = dict(zip(there.names, q, strict=True))
    moved = at.inverse() @ there.pose(q, "p") @ frame.inverse() @ at  # X_AB of the joint
    turned = at.inverse() @ back.pose([values[name] for name in back.names], "p") @ frame.inverse() @ at
    np.testing.assert_allclose((moved @ turned).matrix, np.eye(4), atol=1e-12)
    assert sorted(back.model.tree.each("damping")) == [0.1] * back.nv


def test_a_spatial_loop_with_balls() -> None:
    """An RSSR linkage: the coupler may spin about its own axis."""
    spec = sr.MechanismSpec()
    spec.link("crank", (0, 0, 0), (0.1, 0, 0.05), mass=1.0).link(
        "rocker", (0.5, 0.4, 0), (0.5, 0.4, 0.3), mass=1.0
    )
    spec.link("coupler", (0.1, 0, 0.05), (0.5, 0.4, 0.3), mass=0.5)
    spec.joint("in", "ground", "crank", sr.Revolute("z"), at=(0, 0, 0))
    spec.joint("out", "rocker", "ground", sr.Revolute("x"), at=(0.5, 0.4, 0))
    spec.joint("p", "crank", "coupler", sr.Spherical(), at=(0.1, 0, 0.05))
    spec.joint("q", "coupler", "rocker", sr.Spherical(), at=(0.5, 0.4, 0.3))
    mech = spec.compile()
    assert mech.mobility(mech.default.q).dof == 2
    swept = mech.sweep("in", np.linspace(0, 1, 11))
    assert swept.success
    for q in swept.q:
        ends = [
            mech.pose(q, name).apply(tip)
            for name, tip in (("crank", (np.hypot(0.1, 0.05), 0, 0)), ("rocker", (0.3, 0, 0)))
        ]
        assert np.linalg.norm(ends[1] - ends[0]) == pytest.approx(np.linalg.norm([0.4, 0.4, 0.25]), abs=1e-9)


def scissor(n: int) -> sr.MechanismSpec:
    spec = sr.MechanismSpec(gravity=(0, 0, -9.81))
    spec.part("foot", mass=1.0, inertia=(1, 1, 1), at=sr.Pose((0.3, 0, 0)))
    spec.joint("slide", "ground", "foot", sr.Prismatic("x"), at=(0.3, 0, 0))
    for k in range(n):
        low, high = 0.4 * k, 0.4 * (k + 1)
        spec.link(f"a{k}", (0, 0, low), (0.3, 0, high), mass=1.0).link(
            f"b{k}", (0.3, 0, low), (0, 0, high), mass=1.0
        )
        below = ("ground", "foot") if k == 0 else (f"b{k - 1}", f"a{k - 1}")
        spec.joint(f"left{k}", below[0], f"a{k}", sr.Revolute("y"), at=(0, 0, low))
        spec.joint(f"right{k}", below[1], f"b{k}", sr.Revolute("y"), at=(0.3, 0, low))
        spec.joint(f"middle{k}", f"a{k}", f"b{k}", sr.Revolute("y"), at=(0.15, 0, 0.5 * (low + high)))
    return spec


def test_a_scissor_lift_of_20_stages_stands_upright_as_drawn() -> None:
    """Declared as a tree it was assembled folded."""
    mech = scissor(20).compile()
    assert mech.mobility(mech.default.q).dof == 1
    np.testing.assert_allclose(mech.default.q, 0.0, atol=1e-12)
    np.testing.assert_allclose(mech.pose(mech.default.q, "a19").apply((0.5, 0, 0)), (0.3, 0, 8.0), atol=1e-9)
    lower = mech.assemble(fixed={"slide": 0.1})  # 0.4 m wide: 0.3 m high each
    assert lower.success
    assert mech.pose(lower.q, "a19").apply((0.5, 0, 0))[2] == pytest.approx(20 * 0.3, abs=1e-9)


def test_parts_and_trees_mix() -> None:
    """A tree body on a part, a part on a tree body, a loop between them."""
    spec = sr.MechanismSpec(gravity=(0, -9.81, 0))
    spec.body("crank", joint=sr.Revolute("z"), mass=1.0, com=(0.1, 0, 0), inertia=(0.01, 0.01, 0.01))
    spec.link("rod", (0.2, 0, 0), (0.6, 0, 0), mass=0.5)
    spec.joint("pin", "crank", "rod", sr.Revolute("z"), at=(0.2, 0, 0))
    spec.body(
        "tool", "rod", joint=sr.Revolute("z"), at=sr.Pose((0.4, 0, 0)), mass=0.1, inertia=(0.01, 0.01, 0.01)
    )
    spec.part("slider", at=sr.Pose((0.6, 0, 0)), mass=1.0)
    spec.joint("guide", "ground", "slider", sr.Prismatic("x"), at=(0.6, 0, 0))
    spec.joint("end", "slider", "rod", sr.Revolute("z"), at=(0.6, 0, 0))
    mech = spec.compile()
    assert mech.mobility(mech.assemble(fixed={"crank": 0.5}).q).dof == 2
    q = mech.assemble(fixed={"crank": 0.5}).q
    reach = 0.2 * np.cos(0.5) + np.sqrt(0.4**2 - (0.2 * np.sin(0.5)) ** 2)
    assert q[mech.index("guide").q][0] == pytest.approx(reach - 0.6, abs=1e-9)
    assert mech.pose(q, "tool").xyz[0] == pytest.approx(reach, abs=1e-9)


def test_points_by_name_in_forces_and_constraints() -> None:
    by_name, by_hand = drawn(), drawn()
    by_name.force("s", sr.PointSpring("coupler", "C", "ground", "A", 100.0, 0.1))
    by_name.constrain("rod", sr.Distance("crank", "B", "ground", "D", 0.4))
    long = float(np.linalg.norm(np.subtract(POINTS["C"], POINTS["B"])))
    by_hand.force("s", sr.PointSpring("coupler", (long, 0, 0), "ground", (0, 0, 0), 100.0, 0.1), frame="body")
    rod = sr.Distance("crank", (np.hypot(0.1, 0.15), 0, 0), "ground", POINTS["D"], 0.4)
    by_hand.constrain("rod", rod, frame="body")
    a, b = (spec.compile() for spec in (by_name, by_hand))
    q = a.default.q
    np.testing.assert_allclose(a.bias(q, 0 * q), b.bias(q, 0 * q), atol=1e-12)
    np.testing.assert_allclose(a.terms(q, 0 * q).phi, b.terms(q, 0 * q).phi, atol=1e-12)
    with pytest.raises(sr.UnknownNameError, match=r"force 't': .*'Z'"):
        by_name.force("t", sr.PointSpring("coupler", "Z", "ground", "A", 100.0, 0.1))


def test_masses_of_copied_parts_change_together() -> None:
    spec = drawn()
    mech = spec.compile().with_(mass={"rocker": 3.0}, inertia={"rocker": (0.1, 0.2, 0.3)})
    heavy = sum(body.mass for body in mech.model.bodies if body.name.startswith("rocker"))
    assert heavy == pytest.approx(3.0)
    copy = pickle.loads(pickle.dumps(mech))
    assert copy.names == mech.names
    back = sr.MechanismSpec.from_dict(spec.to_dict()).compile()
    q = back.default.q
    np.testing.assert_allclose(back.mass_matrix(q), spec.compile().mass_matrix(q), rtol=1e-14)


def test_coordinates_come_in_the_order_of_declaration() -> None:
    assert drawn().compile().names == ("A", "B", "C", "D")
    assert drawn(limits=(-2, 2)).compile().names == ("A", "B", "C", "D")
    assert drawn().actuate("D").compile().names == ("A", "B", "C", "D")


def test_joints_without_a_coordinate_save_rows() -> None:
    short, full = drawn(coordinate=False).compile(), drawn().compile()
    assert (short.nv, short.nc, full.nv, full.nc) == (3, 5, 4, 6)
    names = set(full.names) & set(short.names)
    a, b = (m.forward_dynamics(m.default.q, m.default.v).a for m in (short, full))
    for name in names:
        assert a[short.index(name).v] == pytest.approx(b[full.index(name).v], rel=1e-10)


def test_welded_and_free_parts() -> None:
    spec = sr.MechanismSpec()
    spec.part("hull", mass=2.0, inertia=(1, 1, 1)).part(
        "mast", at=sr.Pose((0, 0, 1)), mass=1.0, inertia=(1, 1, 1)
    )
    spec.joint("sea", "ground", "hull", sr.Free(), at=(0, 0, 0)).joint(
        "bolt", "mast", "hull", sr.Fixed(), at=(0, 0, 0.5)
    )
    mech = spec.compile()
    assert (mech.nq, mech.nv, mech.nc, mech.nu) == (7, 6, 0, 0)
    np.testing.assert_allclose(mech.pose(mech.default.q, "mast").xyz, (0, 0, 1))
    assert mech.mass_matrix(mech.default.q)[0, 0] == pytest.approx(3.0)


def refused(message: str, *calls: Any, error: type[Exception] = sr.SarrusError) -> None:
    spec = drawn()

    def build() -> None:
        for call in calls:
            call(spec)
        spec.compile()

    with pytest.raises(error, match=message):
        build()
    if len(calls) == 1:
        assert spec.compile().nq == 4  # nothing was half done


def test_bad_input() -> None:
    pin: Any = sr.Revolute("z")
    refused("part 'x' is tied to the ground by no joint", lambda s: s.part("x", mass=1.0), lambda s: s)
    refused("unknown.*'nothing'", lambda s: s.joint("E", "crank", "nothing", pin, at="A"))
    refused("unknown.*'E'", lambda s: s.joint("E", "crank", "ground", pin, at="E"))
    refused("two different bodies", lambda s: s.joint("E", "crank", "crank", pin, at="A"))
    refused("exists already", lambda s: s.joint("A", "crank", "ground", pin, at="A"))
    refused("exists already", lambda s: s.point("A", (0, 0, 0)))
    refused("exists already", lambda s: s.part("crank"))
    refused("points 'A' and .* coincide", lambda s: s.link("x", "A", (0, 0, 0)))
    refused("takes a mass or a density", lambda s: s.link("x", "A", "B", mass=1.0, density=1.0))
    refused("limits of joint 'E'", lambda s: s.joint("E", "crank", "ground", pin, at="A", limits=(2, 1)))
    refused("needs two points", lambda s: s.link("x", "A"))
    refused("must not be zero", lambda s: s.joint("E", "crank", "ground", sr.Revolute((0, 0, 0)), at="A"))
    refused("a shape or mass data, not both", lambda s: s.part("x", mass=1.0, shape=sr.Sphere(0.1)))
    refused("shape of part 'x' must be one of Capsule", lambda s: s.part("x", shape="box"))
    refused("must be an instance", lambda s: s.joint("E", "crank", "ground", sr.Revolute, at="A"))
    refused("'@'", lambda s: s.part("a@b"))
    refused(
        "'E' is Free and ties two bodies that are joined",
        lambda s: s.joint("E", "crank", "rocker", sr.Free(), at="A"),
        lambda s: s,
    )
    refused("none has mass", lambda s: s.part("x"), lambda s: s.joint("E", "ground", "x", pin, at="A"),
            lambda s: s.joint("F", "x", "ground", pin, at="D"))  # fmt: skip


def test_frames_of_drawings() -> None:
    frame = sr.Pose.from_points((1, 2, 3), (1, 4, 3), (0, 2, 3))
    np.testing.assert_allclose(frame.rotation, [[0, -1, 0], [1, 0, 0], [0, 0, 1]], atol=1e-15)
    for target, axis in itertools.product([(1, 1, 1), (0, 0, 2), (0, 0, -2), (1, 0, 0)], "xyz"):
        pose = sr.Pose.looking_at((0.0, 0, 0), target, axis)
        along = pose.rotation[:, "xyz".index(axis)]
        np.testing.assert_allclose(along, np.array(target) / np.linalg.norm(target), atol=1e-15)
        assert np.linalg.det(pose.rotation) == pytest.approx(1.0)
    with pytest.raises(sr.InputError, match="coincide"):
        sr.Pose.looking_at((1, 1, 1), (1, 1, 1))
    with pytest.raises(sr.InputError, match="coincide or are parallel"):
        sr.Pose.from_points((0, 0, 0), (1, 0, 0), (2, 0, 0))


def test_copies_of_parts_cannot_be_changed_by_half() -> None:
    mech = sr.library.peaucellier()
    copy = next(name for name in mech.body_names if "@" in name)
    part = copy.partition("@")[0]
    with pytest.raises(sr.InputError, match=f"{copy!r} is a copy of part {part!r}.*change {part!r}"):
        mech.with_(mass={copy: 2.0})
    with pytest.raises(sr.SarrusError) as caught:
        mech.with_(mass={"nobody": 2.0})
    assert "@" not in str(caught.value)


def test_a_part_without_mass_is_named_with_its_joint() -> None:
    spec = sr.MechanismSpec()
    spec.part("arm").joint("hinge", "ground", "arm", sr.Revolute("z"), at=(0, 0, 0))
    with pytest.raises(
        sr.ModelError,
        match=r"part 'arm' has no inertia along the coordinate 'hinge' \(Revolute z\) of joint 'hinge'",
    ):
        spec.compile()

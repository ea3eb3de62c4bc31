"""Parts and joints of a drawing, read back from the tree that was made of it."""

from __future__ import annotations

import pytest

import sarrus as sr
from sarrus.models.tree.parts import joints_of, parts_of


def test_an_excavator_has_the_parts_that_were_drawn() -> None:
    """One boom of 1500 kg, not two of 750 kg, and every pin between two parts."""
    bodies = sr.library.excavator().model.bodies
    masses = dict(parts_of(bodies))
    arms = {f"{arm}_cylinder_{end}" for arm in ("boom", "stick", "bucket") for end in ("barrel", "rod")}
    assert set(masses) == {"boom", "stick", "bucket", "rocker", "link"} | arms
    assert masses["boom"] == pytest.approx(1500.0) and masses["bucket"] == pytest.approx(600.0)
    ends = {joint.name: (joint.a, joint.b) for joint in joints_of(bodies)}
    assert ends["boom_pin"] == ("ground", "boom") and ends["ear_pin"] == ("link", "bucket")
    assert ends["boom_cylinder"] == ("boom_cylinder_barrel", "boom_cylinder_rod")
    assert ends["boom_cylinder_eye"] == ("boom_cylinder_rod", "boom")


@pytest.mark.parametrize("name", ["four_bar", "stewart", "quadruped"])
def test_bodies_of_a_tree_are_parts(name: str) -> None:
    mech = sr.library.MECHANISMS[name]()
    parts = dict(parts_of(mech.model.bodies))
    assert sum(parts.values()) == pytest.approx(sum(body.mass for body in mech.model.bodies))
    assert {body.name for body in mech.model.bodies if body.mass} <= set(parts)
    assert sum(len(joint.coordinates) for joint in joints_of(mech.model.bodies)) == mech.nv


def test_joints_that_were_turned_around_keep_their_ends() -> None:
    """A universal joint hung from b to a is a chain in the tree, and one joint between a and b."""
    spec = sr.MechanismSpec(name="shaft")
    spec.part("a", mass=1.0, inertia=(1, 1, 1)).part("b", mass=2.0, inertia=(1, 1, 1))
    spec.joint("hinge", "ground", "b", sr.Revolute("z"), at=(0, 0, 0))
    spec.joint("cross", "a", "b", sr.Universal("x", "y"), at=(1, 0, 0))
    bodies = spec.compile().model.bodies
    assert dict(parts_of(bodies)) == {"a": 1.0, "b": 2.0}
    assert {(one.a, one.b) for one in joints_of(bodies)} >= {("ground", "b"), ("a", "b")}

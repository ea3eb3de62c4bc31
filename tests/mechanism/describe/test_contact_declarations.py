"""Surfaces and contacts of descriptions: names, patterns, drawings, laws of pairs, files, what is refused."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sarrus as sr


def described() -> sr.MechanismSpec:
    spec = sr.MechanismSpec(name="feet")
    spec.surface("floor", "ground", sr.HalfSpace(), friction=0.8, restitution=0.1)
    for side in ("left", "right"):
        spec.body(side, joint=sr.Free(), mass=1.0, inertia=(0.1, 0.1, 0.1))
        spec.surface(f"foot {side}", side, sr.Sphere(0.1), friction=0.5, torsion=0.01)
        spec.surface(f"heel {side}", side, sr.Sphere(0.1), at=sr.Pose((-0.1, 0, 0)), rolling=0.002)
    return spec


def test_names_and_patterns() -> None:
    spec = described().contact("foot*", "floor").contact("heel left", "floor", name="left heel")
    assert [one.name for one in spec.contacts] == ["foot left/floor", "foot right/floor", "left heel"]
    mech = spec.contact("*left", "*right", friction=0.3).compile()
    names = [one.name for one in mech.model.contacts[3:]]
    assert names == [f"{a} left/{b} right" for a in ("foot", "heel") for b in ("foot", "heel")]
    assert mech.contacts(mech.neutral()).names[:3] == (
        "foot left/floor.0",
        "foot right/floor.0",
        "left heel.0",
    )
    every = described().contact("*", "*").contacts
    assert len(every) == 4 + 4  # each pair once, none on one body


def test_laws_of_pairs() -> None:
    """The smaller friction, the larger restitution, torsion and rolling; the pair's own replace them."""
    spec = (
        described().contact("foot left", "floor").contact("heel left", "floor", friction=2.0, restitution=0.0)
    )
    laws = spec.contact("floor", "heel right").compile().model.pair_law
    np.testing.assert_array_equal(laws, [[0.5, 0.1, 0.01, 0], [2.0, 0.0, 0, 0.002], [0.8, 0.1, 0, 0.002]])


def test_report() -> None:
    spec = described().contact("foot*", "floor")
    for text in (str(spec.compile()), str(spec)):
        assert "Surfaces (5)" in text and "Contacts (2)" in text and "HalfSpace" in text
    assert "foot left/floor   0.5       0.1          1       torsion 0.01 m" in str(spec.compile())


def test_drawings() -> None:
    """Places by name, as points and as poses in the world; parts that close loops."""
    spec = sr.MechanismSpec().point("A", (0, 0, 0)).point("B", (1, 0, 0.5)).point("C", (2, 0, 0))
    spec.link("rod", "A", "B", mass=1.0).link("slide", "B", "C", mass=1.0)
    spec.joint("a", "ground", "rod", sr.Revolute("y"), at="A").joint(
        "b", "rod", "slide", sr.Revolute("y"), at="B"
    )
    spec.joint("c", "ground", "slide", sr.Revolute("y"), at="C")
    spec.surface("tip", "rod", sr.Sphere(0.1), at="B")
    spec.surface("wall", "ground", sr.HalfSpace("x"), at="A", friction=0.1)
    spec.surface("pose", "slide", sr.Sphere(0.2), at=sr.Pose((1.5, 0, 0.25)))
    mech = spec.contact("wall", "*").compile()
    found = mech.contacts(mech.default.q)
    np.testing.assert_allclose(found.gap, [0.9, 1.3], atol=1e-12)
    np.testing.assert_allclose(found.point_b, [[0.9, 0, 0.5], [1.3, 0, 0.25]], atol=1e-12)


SHAPES: dict[str, Any] = {
    "Box": sr.Box((1, 2, 3), at=sr.Pose((0, 0, 1))), "Capsule": sr.Capsule(0.1, 1.0),
    "ConvexMesh": sr.ConvexMesh([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]),
    "Cylinder": sr.Cylinder(0.1, 1.0),
    "Ellipsoid": sr.Ellipsoid((1, 2, 3)), "HalfSpace": sr.HalfSpace((0, 0.6, 0.8)), "Sphere": sr.Sphere(0.3),
    "Plate": sr.Plate([(0, 0), (1, 0), (0, 1)], 0.1),
    "Profile": sr.Profile([(0, 0, 0.3), (1, 0), (0, 1)], 0.1),
}  # fmt: skip


@pytest.mark.parametrize("name", SHAPES)
def test_files_and_pickles(name: str, tmp_path: Path) -> None:
    spec = described().surface(
        "more", "left", SHAPES[name], sr.Pose((1, 0, 0), rpy=(0.1, 0, 0)), friction=0.25
    )
    spec.contact("foot*", "floor", restitution=0.75).contact("heel right", "foot left", name="kick")
    mech = spec.compile()
    sr.save(mech, tmp_path / "feet.json")
    copies = [sr.load(tmp_path / "feet.json"), pickle.loads(pickle.dumps(mech))]
    copies += [sr.MechanismSpec.from_dict(spec.to_dict()).compile(), mech.with_(gravity=(0, 0, -1.0))]
    for copy in copies:
        assert copy.model.contacts == mech.model.contacts and copy.model.slots == mech.model.slots
        for field in ("sf_R", "sf_p", "sf_values", "pair_law", "sf_ball"):
            np.testing.assert_array_equal(getattr(copy.model, field), getattr(mech.model, field))


@pytest.mark.parametrize(
    ("ending", "lost"),
    [
        ("xml", "not written: restitution of a contact .'foot left/floor'"),
        ("urdf", "only sarrus will read: surface of the shape HalfSpace .'floor'.; which surfaces touch"),
        ("sdf", "only sarrus will read: surface of the ground .'floor'.; which surfaces touch"),
    ],
)
def test_files_of_others_say_what_they_lose_of_contacts(ending: str, lost: str, tmp_path: Path) -> None:
    mech = described().contact("foot left", "floor").compile()
    with pytest.warns(sr.SarrusWarning, match=lost):
        sr.save(mech, tmp_path / f"feet.{ending}")


def test_parameters() -> None:
    """Sizes, places and coefficients change with parameters, one by one and in a template."""
    spec = sr.MechanismSpec().body("ball", joint=sr.Free(), mass=1.0, inertia=(0.1, 0.1, 0.1))
    r, mu = spec.parameter("r", 0.1), spec.parameter("mu", 0.5)
    spec.surface("floor", "ground", sr.HalfSpace(), at=sr.Pose((0, 0, r)), friction=mu)
    spec.surface("ball", "ball", sr.Sphere(r)).surface("box", "ball", sr.Box((r, 2 * r, r)))
    mech = spec.contact("floor", "*").compile()
    q = mech.neutral()
    for copy in (mech.with_(r=0.2, mu=0.25), mech.variants({"r": [0.2], "mu": [0.25]})[0]):
        np.testing.assert_allclose(copy.contacts(q).gap[:2], [-0.4, -0.3], atol=1e-15)
        assert copy.model.pair_law[0, 0] == 0.25 and copy.contacts(q).names == mech.contacts(q).names
    assert mech.contacts(q).gap[0] == pytest.approx(-0.2)


def test_parameters_of_outlines_and_hulls() -> None:
    """Made one by one: which corners there are depends on them."""
    spec = sr.MechanismSpec().body("cam", joint=sr.Planar("z"), mass=1.0, inertia=(0.1, 0.1, 0.1))
    r = spec.parameter("r", 0.1)
    spec.surface("floor", "ground", sr.HalfSpace("y"), friction=0.5)
    spec.surface("cam", "cam", sr.Profile([(-r, 0, 1), (r, 0, 1)]))
    spec.surface("hull", "cam", sr.ConvexMesh([(0, -r, 0), (r, 0, 0), (-r, 0, 0), (0, 0, r)]))
    mech = spec.contact("floor", "*").compile()
    for copy in (mech.with_(r=0.2), mech.variants({"r": [0.2]})[0]):
        assert copy.contacts([0, 1.0, 0]).gap.min() == pytest.approx(0.8)


def ball(spec: sr.MechanismSpec, **law: Any) -> sr.MechanismSpec:
    return spec.surface("x", "left", sr.Sphere(1.0), **law)


REFUSED: dict[str, tuple[Any, str]] = {
    "unknown body": (lambda s: s.surface("x", "leg", sr.Sphere(0.1)), "surface 'x': unknown body 'leg'"),
    "name taken": (lambda s: s.surface("floor", "left", sr.Sphere(0.1)), "'floor' exists"),
    "star in a name": (lambda s: s.surface("a*", "left", sr.Sphere(0.1)), "has no '\\*' and no '/'"),
    "no name": (lambda s: s.surface("", "left", sr.Sphere(0.1)), "the name of a surface"),
    "no shape": (lambda s: s.surface("x", "left", "ball"), "shape of surface 'x' must be one of"),
    "no pose": (lambda s: s.surface("x", "left", sr.Sphere(0.1), at="A"), "unknown point 'A'"),
    "tube": (lambda s: s.surface("x", "left", sr.Tube(0.2, 0.1, 1)), "Tube is hollow and cannot be"),
    "friction": (lambda s: ball(s, friction=-1), "friction of surface 'x' must not be"),
    "restitution": (lambda s: ball(s, restitution=1.5), "restitution of surface 'x' must be"),
    "torsion": (lambda s: ball(s, torsion=-1), "torsion of surface 'x' must not be"),
    "unknown surface": (lambda s: s.contact("floor", "hand"), "contact: unknown surface 'hand'"),
    "no such names": (lambda s: s.contact("floor", "hand*"), "contact: unknown surface 'hand\\*'"),
    "one body": (lambda s: s.contact("foot left", "heel left"), "both are on 'left'"),
    "many on one body": (lambda s: s.contact("foot left", "*left"), "all on one body"),
    "one name for many": (lambda s: s.contact("foot*", "floor", name="x"), "are 2 pairs"),
    "twice": (lambda s: s.contact("foot*", "floor").contact("floor", "foot left"), "may touch already"),
    "of a pair": (lambda s: s.contact("foot left", "floor", restitution=-0.1), "restitution of contact"),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_refused_declarations_change_nothing(what: str) -> None:
    declare, message = REFUSED[what]
    spec = described()
    before = len(spec.surfaces), len(spec.contacts)
    with pytest.raises(sr.SarrusError, match=message):
        declare(spec)
    assert len(spec.surfaces) == before[0] and len(spec.contacts) in (0, 2)


def test_refused_when_compiled() -> None:
    smooth = described().surface("bare", "ground", sr.HalfSpace())
    with pytest.raises(sr.InputError, match="neither 'bare' nor 'heel left' has a friction; give it"):
        smooth.contact("bare", "heel left").compile()
    with pytest.raises(sr.ModelError, match="both are on 'ground'"):
        described().surface("bare", "ground", sr.HalfSpace()).contact("floor", "bare").compile()
    fixed = described().frame("toe", "left").surface("toe", "toe", sr.Sphere(0.1))
    with pytest.raises(sr.ModelError, match="'toe' and 'foot left' never move against each other"):
        fixed.contact("toe", "foot left").compile()
    with pytest.raises(sr.ModelError, match="a HalfSpace and a HalfSpace cannot touch"):
        described().surface("lid", "left", sr.HalfSpace()).contact("lid", "floor").compile()


def test_a_half_space_is_no_mass() -> None:
    with pytest.raises(sr.InputError, match="a HalfSpace has no mass"):
        sr.MechanismSpec().part("wall", shape=sr.HalfSpace())

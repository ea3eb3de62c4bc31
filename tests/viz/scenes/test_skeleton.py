"""Stick figures: what is joined to what, checked by hand on small mechanisms and by laws on the library."""

from __future__ import annotations

import numpy as np
import pytest

import sarrus as sr
from sarrus.models.tree.joints import Fixed
from sarrus.viz.scenes.boxes import body_boxes
from sarrus.viz.scenes.shown_parts import body_colors
from sarrus.viz.scenes.skeleton import Part, skeleton
from sarrus.viz.scenes.view import Placed

MASS = {"mass": 1.0, "inertia": (0.1, 0.1, 0.1)}


def points(part: Part) -> list[list[float]]:
    return [np.round(p, 12).tolist() for _, p in part.anchors]


def test_a_bar_runs_between_its_joints() -> None:
    found = skeleton(sr.library.four_bar(closure="revolute"))
    bars = {part.owner: points(part) for part in found.parts}
    assert bars == {
        "crank": [[0, 0, 0], [0.3, 0, 0]],
        "coupler": [[0, 0, 0], [0.9, 0, 0]],
        "rocker": [[0, 0, 0], [0.7, 0, 0]],
    }
    assert [(body, p.tolist()) for body, p in found.supports] == [
        ("ground", [0, 0, 0]),
        ("ground", [1, 0, 0]),
    ]
    assert len(found.pins) == 4 and not found.rails


def test_a_pendulum_reaches_out_to_its_mass() -> None:
    (part,) = skeleton(sr.library.pendulum()).parts
    assert part.kind == "link" and points(part) == [[0, 0, 0], [1, 0, 0]]


def test_three_places_make_a_plate_and_four_in_space_a_star() -> None:
    kinds = {}
    for n, corners in {3: [(1, 0, 0), (0, 1, 0)], 4: [(1, 0, 0), (0, 1, 0), (0, 0, 1)]}.items():
        spec = sr.MechanismSpec()
        spec.body("hub", joint=sr.Spherical(), **MASS)
        for i, corner in enumerate(corners):
            spec.body(f"arm{i}", "hub", joint=sr.Spherical(), at=sr.Pose(corner), **MASS)
        parts = [part for part in skeleton(spec.compile()).parts if part.owner == "hub"]
        kinds[n] = [(part.kind, len(part.anchors)) for part in parts]
    assert kinds[3] == [("plate", 3)]
    assert kinds[4] == [("link", 2)] * 3


def test_a_plate_is_the_hull_of_its_places() -> None:
    spec = sr.MechanismSpec()
    spec.body("plate", joint=sr.Revolute("z"), **MASS)
    for i, corner in enumerate([(1, 0, 0), (1, 1, 0), (0, 1, 0), (0.5, 0.5, 0)]):
        spec.body(f"arm{i}", "plate", joint=sr.Revolute("z"), at=sr.Pose(corner), **MASS)
    (plate,) = (part for part in skeleton(spec.compile()).parts if part.owner == "plate")
    assert plate.kind == "plate"
    assert sorted(points(plate)) == [[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 0]]


def test_fixed_bodies_are_drawn_with_what_carries_them() -> None:
    spec = sr.MechanismSpec()
    spec.body("mast", joint=sr.Fixed(), at=sr.Pose((0, 0, 2.0)))
    spec.body("arm", "mast", joint=sr.Revolute("x"), com=(0, 0.5, 0), **MASS)
    spec.body("hand", "arm", joint=sr.Fixed(), at=sr.Pose((0, 1.0, 0)), com=(0, 0.2, 0), **MASS)
    spec.body("tool", "hand", joint=sr.Revolute("x"), at=sr.Pose((0, 0.5, 0)), com=(0, 0, 0.1), **MASS)
    found = skeleton(spec.compile())
    arm = next(part for part in found.parts if part.owner == "arm")
    assert points(arm)[0] == [0, 0, 0] and points(arm)[-1] == [0, 1.5, 0]
    assert not any(part.owner in ("mast", "hand") for part in found.parts)
    assert [(body, p.tolist()) for body, p in found.supports] == [("mast", [0, 0, 0])]


def test_a_mass_beside_its_bar_hangs_on_a_stem() -> None:
    spec = sr.MechanismSpec()
    spec.body("crank", joint=sr.Revolute("z"), com=(0.5, 0.2, 0), **MASS)
    spec.body("rod", "crank", joint=sr.Revolute("z"), at=sr.Pose((1, 0, 0)), com=(1, 0, 0), **MASS)
    parts = [part for part in skeleton(spec.compile()).parts if part.owner == "crank"]
    assert [part.kind for part in parts] == ["link", "stem"]
    assert points(parts[1])[1] == [0.5, 0.2, 0]


def test_rails_springs_rods_and_discs() -> None:
    spec = sr.MechanismSpec()
    spec.body("cart", joint=sr.Prismatic("x"), **MASS)
    spec.body("ball", joint=sr.Free(), **MASS)
    spec.body("wheel", joint=sr.Free(), **MASS)
    spec.constrain("rod", sr.Distance("cart", (0, 0, 0), "ball", (0, 0, 0.1), 1.0))
    spec.constrain("table", sr.PointOnPlane("ground", (0, 0, 0), "ball", (0, 0, 0), "z"))
    spec.constrain("roll", sr.Rolling("wheel", 0.25, "y", "z"))
    spec.force("spring", sr.PointSpring("ground", (0, 0, 0), "cart", (0, 0, 0), 10.0))
    found = skeleton(spec.compile())
    kinds = {part.kind: part for part in found.parts}
    assert kinds["rod"].anchors[1][0] == "ball" and kinds["spring"].anchors[0][0] == "ground"
    rim = np.array(points(kinds["disc"]))[1:]
    np.testing.assert_allclose(np.linalg.norm(rim, axis=1), 0.25, atol=1e-12)
    np.testing.assert_allclose(rim[:, 1], 0.0, atol=1e-12)
    assert [(rail.is_plane, rail.is_block) for rail in found.rails] == [(False, True), (True, False)]


@pytest.mark.parametrize("kind", ["Prismatic", "Cylindrical", "Planar"])
def test_loops_that_slide_have_rails(kind: str) -> None:
    spec = sr.MechanismSpec()
    spec.body("ball", joint=sr.Free(), **MASS)
    spec.close("guide", "ground", "ball", getattr(sr, kind)("x"))
    (rail,) = skeleton(spec.compile()).rails
    assert rail.direction.tolist() == [1, 0, 0]
    assert rail.is_plane == (kind == "Planar") != rail.is_block


@pytest.mark.parametrize("name", sr.library.MECHANISMS)
def test_every_body_of_the_library_is_shown(name: str) -> None:
    mech = sr.library.MECHANISMS[name]()
    found = skeleton(mech)
    shown = {part.owner for part in found.parts}
    heavy = [b for b in mech.model.bodies[1:] if b.mass > 0.0 and not isinstance(b.joint, Fixed)]
    assert {b.name for b in heavy if np.any(b.com)} <= shown
    assert sum(mass for _, mass in found.masses) == pytest.approx(sum(b.mass for b in mech.model.bodies))
    placed = Placed(mech, mech.default.q)
    for part in found.parts:
        assert np.all(np.isfinite(placed.points(part.anchors)))


def drawn() -> sr.MechanismSpec:
    spec = sr.MechanismSpec(gravity=(0, -9.81, 0))
    for name, xyz in {
        "A": (0, 0, 0),
        "B": (0, 1, 0),
        "C": (2, 1.5, 0),
        "D": (2, 0, 0),
        "P": (1, 2, 0),
    }.items():
        spec.point(name, xyz)
    spec.link("crank", "A", "B", mass=1.0).link("coupler", "B", "C", mass=2.0).link(
        "rocker", "C", "D", mass=3.0
    )
    for name, a, b in (("A", "ground", "crank"), ("B", "crank", "coupler"), ("C", "coupler", "rocker")):
        spec.joint(name, a, b, sr.Revolute("z"), at=name)
    spec.joint("D", "ground", "rocker", sr.Revolute("z"), at="D")
    return spec.measure("pen", sr.Position("coupler", "P"))


def test_parts_of_a_drawing_are_shown_once_and_by_name() -> None:
    """Three bars, an arm to the point that is measured, four pins; no copies, no bodies of joints."""
    mech = drawn().compile()
    found, placed = skeleton(mech), Placed(mech, mech.default.q)
    bars = [
        (part.owner, np.round(placed.points(part.anchors)[0, :, :2], 12).tolist()) for part in found.parts
    ]
    assert sorted(bars) == [
        ("coupler", [[0, 1], [2, 1.5]]),
        ("coupler", [[1.176470588235, 1.294117647059], [1, 2]]),
        ("crank", [[0, 0], [0, 1]]),
        ("rocker", [[2, 1.5], [2, 0]]),
    ]
    assert {body: mass for (body, _), mass in found.masses} == {"crank": 1.0, "coupler": 2.0, "rocker": 3.0}
    pins = np.round(placed.points(found.pins)[0, :, :2], 12).tolist()
    assert sorted(pins) == [[0, 0], [0, 1], [2, 0], [2, 1.5]]
    colors = body_colors(mech)
    assert colors["rocker@C"] == colors["rocker"] == colors["D"] != colors["crank"] == colors["A"]


def test_a_part_welded_to_a_link_hangs_on_it() -> None:
    spec = drawn().part("weight", at=sr.Pose((-0.5, 0, 0)), mass=5.0)
    found = skeleton(spec.joint("bolt", "crank", "weight", sr.Fixed(), at="A").compile())
    assert [part.owner for part in found.parts].count("crank") == 2


def test_a_free_part_of_a_drawing_is_a_box() -> None:
    spec = sr.MechanismSpec().part("crate", shape=sr.Box((1, 2, 3)))
    mech = spec.joint("free", "ground", "crate", sr.Free(), at=(0, 0, 0)).compile()
    (box,) = body_boxes(mech).values()
    assert box.body == "crate"
    np.testing.assert_allclose(sorted(box.half), [0.5, 1.0, 1.5])


def test_a_coordinate_without_a_body_is_not_drawn() -> None:
    """The slide of an actuator along a line is no rail with a block."""
    spec = sr.MechanismSpec(gravity=(0, -9.81, 0))
    spec.link("boom", (0, 0, 0), (2, 0, 0), mass=100.0)
    spec.joint("foot", "ground", "boom", sr.Revolute("z"), at=(0, 0, 0))
    spec.actuator("lift", "ground", (0.8, -0.6, 0), "boom", (1, 0, 0), armature=0.5)
    found = skeleton(spec.compile())
    assert found.rails == [] and {part.owner for part in found.parts} == {"boom", "lift_line"}

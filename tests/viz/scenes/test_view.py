"""The plane of a mechanism: found where there is one, seen the right way up; points placed by its poses."""

from __future__ import annotations

import numpy as np
import pytest

import sarrus as sr
from sarrus.viz.scenes.view import Placed, Plane, find_plane

FLAT = """
    pendulum double_pendulum slider_crank four_bar parallelogram five_bar n_four_bar andrews scott_russell
    jansen_leg three_rrr three_r_on_slider loader cable_robot pantograph_leg dual_planar_arms
    net scissor deployable_ring peaucellier scissor_lift folding_chair excavator landing_gear
planetary_gearbox cam_follower wiper toggle_clamp six_bar_press
    geneva_drive flying_follower ratchet spring_latch escapement
    hydraulic_lift tyre_car tackle v_belt freewheel overhung_gearbox
""".split()
MASS = {"mass": 1.0, "inertia": (0.1, 0.1, 0.1)}


def plane_of(mech: sr.Mechanism) -> Plane:
    plane = find_plane(mech, mech.default.q)
    assert plane is not None
    return plane


@pytest.mark.parametrize("name", sr.library.MECHANISMS)
def test_which_mechanisms_are_planar(name: str) -> None:
    mech = sr.library.MECHANISMS[name]()
    assert (find_plane(mech, mech.default.q) is not None) == (name in FLAT)


def test_the_library_is_seen_with_x_to_the_right_and_y_up() -> None:
    plane = plane_of(sr.library.four_bar())
    assert plane.right.tolist() == [1, 0, 0] and plane.up.tolist() == [0, 1, 0]
    assert plane.labels() == ("x [m]", "y [m]")


@pytest.mark.parametrize(
    ("axis", "gravity", "labels"),
    [
        ("y", (0, 0, -9.81), ("x [m]", "z [m]")),
        ("x", (0, 0, -9.81), ("y [m]", "z [m]")),
        ("z", (0, 0, -9.81), ("x [m]", "y [m]")),
        ("z", (-9.81, 0, 0), ("y [m]", "x [m]")),
        ("z", (0, 9.81, 0), ("x [m]", "-y [m]")),
        ((1.0, 1.0, 0.0), (0, 0, -9.81), ("along [m]", "z [m]")),
        ("y", (0, 0, 0), ("x [m]", "z [m]")),
    ],
)
def test_gravity_points_down(axis: object, gravity: tuple[float, ...], labels: tuple[str, str]) -> None:
    spec = sr.MechanismSpec(gravity=gravity)
    spec.body("arm", joint=sr.Revolute(axis), com=(0, 0, 0.5), **MASS)
    plane = plane_of(spec.compile())
    assert plane.labels() == labels
    assert plane.up @ np.array(gravity) <= 1e-12
    np.testing.assert_allclose(np.linalg.norm([plane.right, plane.up, plane.normal], axis=1), 1.0)


def test_slides_must_lie_in_the_plane() -> None:
    planes = {}
    for axis in "xyz":
        spec = sr.MechanismSpec()
        spec.body("cart", joint=sr.Prismatic(axis), **MASS)
        spec.body("pole", "cart", joint=sr.Revolute("y"), com=(0, 0, 0.5), **MASS)
        mech = spec.compile()
        planes[axis] = find_plane(mech, mech.default.q)
    assert planes["x"] is not None and planes["z"] is not None and planes["y"] is None


@pytest.mark.parametrize(
    ("slides", "normal"),
    [("x", (0, 0, 1)), ("z", (0, 1, 0)), ("xz", (0, 1, 0)), ("yz", (1, 0, 0)), ("xyz", None)],
)
def test_slides_alone_span_a_plane(slides: str, normal: tuple[float, ...] | None) -> None:
    spec = sr.MechanismSpec()
    parent = "ground"
    for axis in slides:
        spec.body(axis, parent, joint=sr.Prismatic(axis), **MASS)
        parent = axis
    mech = spec.compile()
    plane = find_plane(mech, mech.default.q)
    if normal is None or plane is None:
        assert normal is None and plane is None
    else:
        np.testing.assert_allclose(np.abs(plane.normal), normal)


def test_oblique_slides_span_a_plane_too() -> None:
    spec = sr.MechanismSpec()
    spec.body("a", joint=sr.Prismatic((1, 1, 1)), **MASS)
    spec.body("b", "a", joint=sr.Prismatic((1, -1, 1)), **MASS)
    plane = plane_of(spec.compile())
    np.testing.assert_allclose(np.abs(plane.normal), np.array([1, 0, 1]) / np.sqrt(2), atol=1e-12)


def test_a_mechanism_that_cannot_move_has_no_plane() -> None:
    spec = sr.MechanismSpec()
    spec.body("post", joint=sr.Fixed(), **MASS)
    spec.body("arm", "post", joint=sr.Revolute("z"), **MASS)
    mech = spec.compile()
    assert find_plane(mech, [0.0]) is not None
    spec = sr.MechanismSpec()
    spec.body("ball", joint=sr.Spherical(), **MASS)
    assert find_plane(spec.compile(), [0, 0, 0, 1]) is None


def test_points_are_where_the_poses_say() -> None:
    mech = sr.library.stewart()
    q = np.stack([mech.default.q, mech.assemble(fixed={"piston1": 0.1}).q])
    placed = Placed(mech, q)
    anchors = [("platform", np.array([0.1, 0.2, 0.3])), ("piston1", np.array([0.0, 0.0, -0.1]))]
    found = placed.points(anchors)
    assert found.shape == (2, 2, 3)
    for i, pose in enumerate(q):
        for k, (body, point) in enumerate(anchors):
            np.testing.assert_allclose(found[i, k], mech.pose(pose, body).apply(point), atol=1e-14)
        turned = placed.along("piston1", np.array([0.0, 0.0, 1.0]))[i]
        np.testing.assert_allclose(turned, mech.pose(pose, "piston1").rotation[:, 2])
    assert placed.points([]).shape == (2, 0, 3)

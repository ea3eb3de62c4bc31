"""Cams that press on their followers where they touch: bearing loads against formulas of textbooks."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import sarrus as sr

PUSH = 1000.0
ANGLES = np.linspace(0, 2 * np.pi, 73)[:-1]


def lift(x: Any) -> Any:
    return 0.01 * (1 - np.cos(x))


def slope(mech: sr.Mechanism, q: np.ndarray, follower: str, cam: str) -> float:
    """Of the spline, from the constraint Jacobian."""
    J = mech.terms(q, np.zeros(mech.nv)).J[0]
    return float(-J[mech.names.index(cam)] / J[mech.names.index(follower)])


def valve(**touch: Any) -> sr.Mechanism:
    """A valve that a spring presses on a cam with 1000 N, its joint 0.05 m over the shaft."""
    spec = sr.MechanismSpec(gravity=(0, 0, 0), name="valve")
    spec.body("shaft", joint=sr.Revolute("z"), mass=1, inertia=(0.01,) * 3)
    at = sr.Pose((touch.pop("aside", 0.0), 0.05, 0))
    spec.body("valve", joint=sr.Prismatic("y"), at=at, mass=0.2)
    spec.force("spring", sr.ConstantWrench("valve", (0, -PUSH, 0, 0, 0, 0)))
    spec.constrain("cam", sr.Cam("valve", "shaft", ANGLES, lift(ANGLES), **touch)).actuate("shaft")
    if touch:
        spec.measure("pressure angle", sr.PressureAngle("cam"))
    return spec.measure("contact", sr.ForceIn("cam")).compile()


@pytest.mark.parametrize("aside", [0.0, 0.008])
@pytest.mark.parametrize("angle", [0.3, 1.0, 2.5, 4.0])
def test_roller_follower_and_its_pressure_angle(angle: float, aside: float) -> None:
    """tan(pressure angle) = (s' - e) / (s + sqrt(r_p^2 - e^2)), [Norton2008] eq. (8.31d)."""
    mech = valve(point=(0, 0, 0), radius=0.012, aside=aside)
    q = mech.assemble(fixed={"shaft": angle}).q
    s = float(q[mech.index("valve").q][0])
    # of a cam that turns counterclockwise e counts to the right
    tangent = (slope(mech, q, "valve", "shaft") - aside) / (s + 0.05)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        held = mech.hold(q, frame="world")
    side = held.reactions["shaft"][0]
    assert side[1] == pytest.approx(PUSH, rel=1e-9)
    assert abs(side[0]) == pytest.approx(PUSH * abs(tangent), rel=1e-9, abs=1e-7)
    assert held.reactions["valve"][0, 0] == pytest.approx(-side[0], rel=1e-9, abs=1e-7)
    assert held["pressure angle"][0] == pytest.approx(np.arctan(abs(tangent)), rel=1e-9, abs=1e-9)
    assert held.motors["shaft"][0] == pytest.approx(PUSH * slope(mech, q, "valve", "shaft"), rel=1e-9)
    assert held["contact"][0] == pytest.approx(PUSH, rel=1e-12)


@pytest.mark.parametrize("angle", [0.3, 1.0, 4.0])
def test_flat_follower_tilts_its_guide(angle: float) -> None:
    """A flat face is pressed at the distance s' beside its axis, and has no side force."""
    mech = valve(point=(0, 0, 0), face="y")
    q = mech.assemble(fixed={"shaft": angle}).q
    held = mech.hold(q, frame="world")
    np.testing.assert_allclose(held.reactions["shaft"][0, :2], [0, PUSH], atol=1e-9 * PUSH)
    guide, away = held.reactions["valve"][0], slope(mech, q, "valve", "shaft")
    assert guide[0] == pytest.approx(0.0, abs=1e-9) and abs(guide[5]) == pytest.approx(
        PUSH * abs(away), rel=1e-9
    )
    assert held["pressure angle"][0] == 0.0


def rocker(**touch: Any) -> sr.Mechanism:
    """An oscillating follower on a pin 0.1 m beside the cam, with a moment of 20 N m on it."""
    spec = sr.MechanismSpec(gravity=(0, 0, 0), name="rocker")
    spec.body("cam", joint=sr.Revolute("z"), mass=1, inertia=(0.01,) * 3)
    spec.body("rocker", joint=sr.Revolute("z"), at=sr.Pose((0.1, 0.05, 0)), mass=0.2, inertia=(1e-3,) * 3)
    spec.force("load", sr.ConstantWrench("rocker", (0, 0, 0, 0, 0, 20.0)))
    spec.constrain("profile", sr.Cam("rocker", "cam", ANGLES, -0.1 * lift(ANGLES) / 0.01, **touch)).actuate(
        "cam"
    )
    return spec.measure("pressure angle", sr.PressureAngle("profile")).compile()


@pytest.mark.parametrize(
    "touch", [{"radius": 0.01}, {"radius": 0.0}, {"face": "y"}], ids=["roller", "tip", "flat"]
)
@pytest.mark.parametrize("angle", [0.4, 1.3, 3.9])
def test_oscillating_followers(touch: dict[str, Any], angle: float) -> None:
    """The normal is that of the profile in the cam's frame, moments balance on both bodies."""
    mech = rocker(point=(-0.1, 0.0, 0.0), **touch)
    q = mech.assemble(fixed={"cam": angle}).q
    held = mech.hold(q, frame="world")
    on_cam, on_rocker = (held.reactions[name][0] for name in ("cam", "rocker"))
    force = on_cam[:3]  # the bearing carries what presses on the cam: the force on the rocker
    np.testing.assert_allclose(on_rocker[:3], -force, atol=1e-9 * np.linalg.norm(force))
    psi = slope(mech, q, "rocker", "cam")
    assert held.motors["cam"][0] == pytest.approx(on_cam[5], rel=1e-9)
    assert on_cam[5] == pytest.approx(-20.0 * psi, rel=1e-9)
    if "face" in touch:
        normal = mech.pose(q, "rocker").rotation[:, 1]
        np.testing.assert_allclose(np.cross(force, normal), 0, atol=1e-9 * np.linalg.norm(force))
        return

    def centre(x: float) -> np.ndarray:
        """Of the roller, in the frame of the cam."""
        at = mech.assemble(q, fixed={"cam": x}).q
        return mech.pose(at, "cam").inverse().apply(mech.position(at, "rocker", (-0.1, 0, 0)))

    h = 1e-4
    tangent = (
        8 * (centre(angle + h) - centre(angle - h)) - centre(angle + 2 * h) + centre(angle - 2 * h)
    ) / (12 * h)
    tangent = mech.pose(q, "cam").rotation @ tangent
    assert abs(force @ tangent) < 1e-8 * np.linalg.norm(force) * np.linalg.norm(tangent)
    arm = mech.position(q, "rocker", (-0.1, 0, 0)) - [0.1, 0.05, 0]
    assert np.cross(arm, force)[2] == pytest.approx(-20.0, rel=1e-9)


def test_library_cam_loads_its_shaft() -> None:
    """Shaft bearing = weight of the cam + push + side force; the guide carries the side force."""
    mech = sr.library.cam_follower()
    weight = float(mech.masses["cam"]) * 9.81
    for angle in (0.5, 1.0, 3.0):
        q = mech.assemble(fixed={"shaft": angle}).q
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            held = mech.hold(q, frame="world")
        shaft, push = held.reactions["shaft"][0], held["contact"][0]
        away = slope(mech, q, "guide", "shaft") / held["height"][0, 1]
        assert shaft[1] == pytest.approx(weight + push, rel=1e-9)
        assert shaft[0] == pytest.approx(-push * away, rel=1e-9)
        assert held.reactions["guide"][0, 0] == pytest.approx(push * away, rel=1e-9)
    run = sr.simulate(mech, (0, 0.05))
    assert np.isfinite(run.reaction("shaft")).all()


def test_bearing_friction_beside_a_cam_warns() -> None:
    spec = sr.MechanismSpec(gravity=(0, 0, 0), name="valve")
    spec.body("shaft", joint=sr.Revolute("z"), mass=1, inertia=(0.01,) * 3)
    spec.body("valve", joint=sr.Prismatic("y"), at=sr.Pose((0, 0.05, 0)), mass=0.2)
    spec.constrain("cam", sr.Cam("valve", "shaft", ANGLES, lift(ANGLES), (0, 0, 0)))
    spec.force("journal", sr.BearingFriction("shaft", 0.1, radius=0.01))
    with pytest.warns(sr.SarrusWarning, match="'journal': .* lacks the load of 'cam'"):
        spec.compile()


def test_bad_cams() -> None:
    with pytest.raises(sr.InputError, match="give point= too"):
        sr.Cam("a", "b", ANGLES, lift(ANGLES), radius=0.01)
    with pytest.raises(sr.InputError, match="not both"):
        sr.Cam("a", "b", ANGLES, lift(ANGLES), (0, 0, 0), radius=0.01, face="y")
    spec = sr.MechanismSpec().body("cam", joint=sr.Revolute("z"), mass=1, inertia=(1, 1, 1))
    spec.body("along", joint=sr.Prismatic("z"), mass=1).body("on", "cam", joint=sr.Prismatic("y"), mass=1)
    with pytest.raises(sr.ModelError, match="must slide at right angles to its axis"):
        spec.constrain("c", sr.Cam("along", "cam", ANGLES, lift(ANGLES), (0, 0, 0))).compile()
    other = sr.MechanismSpec().body("cam", joint=sr.Revolute("z"), mass=1, inertia=(1, 1, 1))
    other.body("on", "cam", joint=sr.Prismatic("y"), mass=1)
    with pytest.raises(sr.ModelError, match="one body must carry"):
        other.constrain("c", sr.Cam("on", "cam", ANGLES, lift(ANGLES), (0, 0, 0))).compile()
    bare = valve()
    with pytest.raises(sr.UnknownNameError, match="Cam with point="):
        sr.MechanismSpec.from_model(bare.model).measure("p", sr.PressureAngle("cam")).compile()

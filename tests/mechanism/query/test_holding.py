"""Statics: motors and joint forces of machines that are held, against forces by hand."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import sarrus as sr

G = 9.81


def crane(actuate: bool = True) -> sr.Mechanism:
    """A boom of 100 kg on a foot, held by a hydraulic cylinder without mass."""
    spec = sr.MechanismSpec(gravity=(0, -G, 0), name="crane")
    spec.link("boom", (0, 0, 0), (2, 0, 0), mass=100.0)
    spec.joint("foot", "ground", "boom", sr.Revolute("z"), at=(0, 0, 0))
    spec.cylinder("lift", "ground", (0.8, -0.6, 0), "boom", (1, 0, 0), axis="z", mass=(0, 0))
    spec.measure("foot force", sr.Reaction("foot", "world")).measure("cylinder", sr.ForceIn("lift"))
    return spec.compile()


ANGLES = np.radians([0.0, 20.0, 40.0, 55.0])


def by_hand() -> tuple[np.ndarray, np.ndarray]:
    """Cylinder force and foot force of the crane: moments about the foot."""
    base, weight, F, foot = np.array([0.8, -0.6]), 100 * G, [], []
    for a in ANGLES:
        eye = np.array([np.cos(a), np.sin(a)])
        d = (eye - base) / np.linalg.norm(eye - base)
        F.append(weight * np.cos(a) / (eye[0] * d[1] - eye[1] * d[0]))
        foot.append(np.array([0.0, weight]) - F[-1] * d)
    return np.array(F), np.array(foot)


def test_crane_over_its_stroke() -> None:
    mech = crane()
    force, foot = by_hand()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        held = mech.hold(mech.sweep("foot", ANGLES), frame="world")
        assert held.success and len(held) == 4 and held.message == "Held at 4 of 4 poses."
        np.testing.assert_allclose(held.motors["lift"], force, rtol=1e-9)
        np.testing.assert_allclose(held.reactions["foot"][:, :2], foot, atol=1e-9 * 981)
        np.testing.assert_allclose(held["foot force"][:, :2], foot, atol=1e-9 * 981)
        np.testing.assert_allclose(held["cylinder"], force, rtol=1e-9)
    assert list(held.reactions) == ["foot", "lift_base", "lift", "lift_eye"]
    once = mech.hold(mech.sweep("foot", ANGLES).q[1])
    np.testing.assert_allclose(once.motors["lift"], force[1:2], rtol=1e-9)
    assert once.reactions["foot"].shape == (1, 6)


def test_table_and_plot() -> None:
    pytest.importorskip("pandas")
    mech = crane()
    held = mech.hold(mech.sweep("foot", ANGLES))
    table = held.to_dataframe()
    np.testing.assert_allclose(table["lift"], held.motors["lift"])
    assert table.index.name == "foot" and "foot[fy]" in table and "foot force[1]" in table
    assert "q.foot" in mech.hold(mech.default.q).to_dataframe()
    pytest.importorskip("matplotlib")
    assert len(np.ravel(held.plot())) == 3
    assert held.plot("motors").get_ylabel() == "motors [N m, N]"
    assert mech.hold(mech.default.q).plot("forces") is not None


def press(**options: Any) -> sr.MechanismSpec:
    """A slider-crank press under 1000 N, its crank of 0.1 m upright."""
    spec = sr.MechanismSpec(gravity=(0, 0, 0), name="press")
    spec.point("O", (0, 0, 0)).point("B", (0, 0.1, 0)).point("C", (np.sqrt(0.3**2 - 0.1**2), 0, 0))
    spec.link("crank", "O", "B", mass=1).link("rod", "B", "C", mass=1)
    spec.part("ram", at=sr.Pose((0.3, 0, 0)), mass=1, inertia=(0.1,) * 3)
    for name, a, b in (("O", "ground", "crank"), ("B", "crank", "rod"), ("C", "rod", "ram")):
        spec.joint(name, a, b, sr.Revolute("z"), at=name, **(options if name == "O" else {}))
    spec.joint("slide", "ground", "ram", sr.Prismatic("x"), at="C")
    return spec.force("work", sr.ConstantWrench("ram", (-1000, 0, 0, 0, 0, 0)))


def test_what_holds_is_declared_or_named_and_never_guessed() -> None:
    mech = press().compile()
    with pytest.raises(sr.InputError, match=r"'press' does not say which joints have motors.*by=\['O'\]"):
        mech.hold(mech.neutral())
    assert mech.hold(mech.neutral(), by=["O"]).motors["O"] == pytest.approx(-100.0, rel=1e-9)
    assert mech.hold(mech.neutral(), by="slide").motors["slide"] == pytest.approx(1000.0, rel=1e-9)
    assert press().actuate("O").compile().hold(mech.neutral()).motors["O"] == pytest.approx(-100.0, rel=1e-9)
    with pytest.raises(sr.SarrusError, match="'crank' is Fixed and has no coordinate"):
        mech.hold(mech.neutral(), by=["crank"])
    with pytest.raises(sr.UnknownNameError, match="'motor'"):
        mech.hold(mech.neutral(), by=["motor"])


def test_a_drive_holds_by_its_own_force() -> None:
    spec = press().actuate()
    mech = spec.constrain("motor", sr.Drive("O", lambda t: 2.0 * t)).compile()
    held = mech.hold(mech.neutral())
    assert held.motors == {} and held.multipliers["motor"][0, 0] == pytest.approx(-100.0, rel=1e-9)


def test_motors_that_cannot_hold_leave_gaps_and_limits_are_named() -> None:
    spec = sr.MechanismSpec(gravity=(0, -G, 0), name="arm")
    spec.link("upper", (0, 0, 0), (1, 0, 0), mass=1.0).link("lower", (1, 0, 0), (2, 0, 0), mass=1.0)
    spec.joint("shoulder", "ground", "upper", sr.Revolute("z"), at=(0, 0, 0))
    spec.joint("elbow", "upper", "lower", sr.Revolute("z"), at=(1, 0, 0)).actuate(
        "shoulder", limits=(-20, 20)
    )
    mech = spec.compile()
    held = mech.hold([[0.0, 0.0], [0.0, -np.pi / 2]])
    assert not held.success and held.held.tolist() == [False, True]
    assert np.isnan(held.motors["shoulder"][0]) and np.isnan(held.reactions["elbow"][0]).all()
    assert held.motors["shoulder"][1] == pytest.approx(1.5 * G, rel=1e-9)
    assert "4.905" in held.message and "Held at 1 of 2" in held.message
    assert "Beyond the limits" not in mech.hold([[0.0, -np.pi / 2]]).message
    heavy = mech.with_(mass={"upper": 4.0}).hold([[0.0, -np.pi / 2]])
    assert heavy.success and "Beyond the limits" in heavy.message


def test_a_prescribed_motion_needs_what_newton_says() -> None:
    spec = sr.MechanismSpec(gravity=(0, -G, 0), name="lift")
    spec.body("cage", joint=sr.Prismatic("y"), mass=50.0).actuate("cage")
    held = spec.compile().hold([[0.0], [1.0]], v=[[0.0], [2.0]], a=[[1.5], [-0.5]])
    np.testing.assert_allclose(held.motors["cage"], 50 * (G + np.array([1.5, -0.5])), rtol=1e-12)
    with pytest.raises(sr.InputError, match="v must have shape"):
        spec.compile().hold([[0.0], [1.0]], v=[[0.0], [1.0], [2.0]])


def test_dry_friction_is_left_out_and_said() -> None:
    mech = press(friction=30.0, friction_model="coulomb").actuate("O").compile()
    held = mech.hold(mech.neutral())
    assert held.motors["O"] == pytest.approx(-100.0, rel=1e-9) and "Dry friction is left out" in held.message


# ---------------------------------------------------------------------- shared loads


def beam(supports: dict[str, float]) -> sr.Mechanism:
    """A rigid beam of 30 kg and 3 m on vertical supports at these places [m], and a guide along x."""
    spec = sr.MechanismSpec(gravity=(0, -G, 0), name="beam")
    spec.body("beam", joint=sr.Planar(), mass=30.0, com=(1.5, 0, 0), inertia=(1, 1, 1))
    spec.constrain("stop", sr.Coupling({"beam.x": 1.0}))
    for name, x in supports.items():
        spec.constrain(name, sr.PointOnPlane("ground", (x, 0, 0), "beam", (x, 0, 0), "y"))
    return spec.actuate().compile()


def test_three_supports_share_a_beam_by_their_compliances() -> None:
    """Three springs under a rigid beam: vertical and moment balance, and deflections on a line."""
    at, compliance = {"left": 0.0, "middle": 1.0, "right": 3.0}, {"left": 1e-6, "middle": 3e-6, "right": 2e-6}
    mech = beam(at)
    held = mech.hold(mech.neutral(), compliance=compliance, frame="world")
    x, c = (np.array(list(each.values())) for each in (at, compliance))
    k = 1 / c  # deflection w0 + w1 x of the rigid beam on springs
    w = np.linalg.solve([[k.sum(), k @ x], [k @ x, k @ x**2]], [30 * G, 30 * G * 1.5])
    found = [held.reactions[name][0, 1] for name in at]
    np.testing.assert_allclose(found, k * (w[0] + w[1] * x), rtol=1e-9)
    assert held.unique["middle"].all()
    bare = mech.hold(mech.neutral(), frame="world")
    assert not bare.unique["middle"].all() and bare.reactions["middle"][0, 1] != pytest.approx(
        found[1], rel=1e-3
    )
    assert sum(bare.reactions[name][0, 1] for name in at) == pytest.approx(30 * G, rel=1e-9)


def test_two_hinges_of_a_door_share_its_weight_as_they_give_way() -> None:
    """Axial stiffness 1 : 3 of the hinges, one of which the library made part of the tree."""
    spec = sr.MechanismSpec(gravity=(0, 0, -G), name="door")
    spec.part("door", mass=20.0, com=(0.4, 0, 1.0), inertia=(1, 1, 1))
    for name, z in {"low": 0.2, "high": 1.8}.items():
        spec.joint(name, "ground", "door", sr.Revolute("z"), at=(0, 0, z))
    mech = spec.actuate("low").compile()
    six = {"low": [1e-7, 1e-7, 3e-6, 1e-3, 1e-3, 0], "high": [1e-7, 1e-7, 1e-6, 1e-3, 1e-3, 0]}
    held = mech.hold(mech.neutral(), compliance=six, frame="world")
    low, high = (held.reactions[name][0] for name in ("low", "high"))
    np.testing.assert_allclose([low[2], high[2]], [0.25 * 20 * G, 0.75 * 20 * G], rtol=1e-9)
    total = low[3:] + high[3:] + np.cross([0, 0, 0.2], low[:3]) + np.cross([0, 0, 1.8], high[:3])
    np.testing.assert_allclose(total, np.cross([0.4, 0, 1.0], [0, 0, 20 * G]), atol=1e-9)
    # a hinge turned by a moment M at its seat: 1e-3 M, against the couple of forces over 1.6 m
    couple, seat = abs(low[0]) * 1.6, abs(low[4]) + abs(high[4])
    assert couple + seat == pytest.approx(0.4 * 20 * G, rel=1e-9)
    assert (2 * 1e-7 * abs(low[0])) / 1.6 == pytest.approx(1e-3 * seat / 2, rel=1e-9)


def test_compliances_that_leave_something_open_say_so() -> None:
    mech = beam({"left": 0.0, "middle": 1.0, "right": 2.0, "end": 3.0})
    held = mech.hold(mech.neutral(), compliance={"left": 1e-6})
    assert not held.unique["middle"].all()
    with pytest.raises(sr.UnknownNameError, match="compliance"):
        mech.hold(mech.neutral(), compliance={"lefd": 1e-6})
    with pytest.raises(sr.InputError, match="must not be negative"):
        mech.hold(mech.neutral(), compliance={"left": -1e-6})


@pytest.mark.parametrize("name", ["excavator", "stewart", "scissor_lift", "six_bar_press", "landing_gear"])
def test_library_machines_at_rest_balance(name: str) -> None:
    """Motors do the virtual work of weights; reactions of joints are those of a motion that stands still."""
    mech = getattr(sr.library, name)()
    q = mech.default.q
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        held = mech.hold(q)
    assert held.success
    motion = mech.forward_dynamics(q, np.zeros(mech.nv), tau=held.tau[0])
    assert np.abs(motion.a).max() < 1e-8 * G / mech.length
    for joint, wrench in held.reactions.items():
        again, size = motion.reaction(joint), np.abs(wrench).max()
        unique = motion.reaction_unique(joint)
        np.testing.assert_allclose(wrench[0][unique], again[unique], atol=1e-6 * max(size, 1.0))

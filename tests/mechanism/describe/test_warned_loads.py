"""Loads that a description does not carry, forces that nobody holds, motors and points that nobody names."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import sarrus as sr
from sarrus.models.variant_model import VariantModel

G = 9.81


@contextmanager
def silence() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error", sr.SarrusWarning)
        yield


# ---------------------------------------------------------------------- couplings


def hoist() -> sr.Mechanism:
    """A drum whose rope is a Coupling, with a brake on the drum, on the carriage of a crane."""
    spec = sr.MechanismSpec(gravity=(0, -G, 0), name="hoist")
    spec.body("carriage", joint=sr.Prismatic("x"), mass=20.0)
    spec.body("drum", "carriage", joint=sr.Revolute("z"), mass=3, inertia=(0.1, 0.1, 0.06))
    spec.body("load", "carriage", joint=sr.Prismatic("y"), at=sr.Pose((-0.2, -1, 0)), mass=500)
    spec.constrain("rope", sr.Coupling({"load": 1.0, "drum": 0.2}))
    spec.constrain("brake", sr.Coupling({"drum": 1.0}))
    spec.actuate("carriage").measure("bearing", sr.Reaction("drum", "world"))
    return spec.compile()


def test_reactions_beside_a_coupling_warn_and_others_do_not() -> None:
    mech = hoist()
    held = mech.forward_dynamics(mech.neutral(), np.zeros(3), u=[0.0])
    for joint in ("drum", "load"):
        with pytest.warns(
            sr.SarrusWarning, match=f"reaction of {joint!r} lacks the load of 'rope'.*Gear, Belt"
        ):
            held.reaction(joint)
    with silence():  # the rope is within what the carriage carries
        assert held.reaction("carriage", "world")[1] == pytest.approx(523 * G, rel=1e-12)
    with pytest.warns(sr.SarrusWarning, match="'drum' lacks the load of 'rope'"):
        mech.measure(mech.neutral(), u=[0.0])


def test_a_coupling_without_force_says_nothing() -> None:
    spec = sr.MechanismSpec(gravity=(0, 0, 0), name="free")
    for name in "ab":
        spec.body(name, joint=sr.Revolute("z"), mass=1, com=(0.1, 0, 0), inertia=(0.1, 0.1, 0.1))
    spec.constrain("shaft", sr.Coupling({"a": 1.0, "b": -1.0}))
    with silence():
        spec.compile().forward_dynamics([0.0, 0.0], [0.0, 0.0]).reaction("a")


@pytest.mark.parametrize("kind", ["coupling", "cam", "polynomial", "custom", "drive", "function"])
def test_every_relation_between_coordinates_warns(kind: str) -> None:
    spec = sr.MechanismSpec(gravity=(0, -G, 0), name=kind)
    spec.body("a", joint=sr.Revolute("z"), mass=1, com=(0.1, 0, 0), inertia=(0.1,) * 3)
    spec.body("b", joint=sr.Revolute("z"), at=sr.Pose((1, 0, 0)), mass=2, com=(0.2, 0, 0), inertia=(0.1,) * 3)
    angles = np.linspace(0, 2 * np.pi, 13)[:-1]
    relation: Any = {
        "coupling": sr.Coupling({"a": 1.0, "b": -2.0}),
        "cam": sr.Cam("a", "b", angles, 0.1 * (1 - np.cos(angles - 0.4))),
        "polynomial": sr.PolynomialCoupling("a", "b", (0.0, 0.5, 0.1)),
        "custom": sr.CustomConstraint(lambda q, t: [q[0] - 0.5 * q[1]], 1),
        "drive": sr.Drive({"a": 1.0, "b": -2.0}, lambda t: 0.0 * t),
        "function": sr.UserForce(lambda t, x, rate: [-5 * x[0] + x[1], 3.0 - x[1]], ("a", "b")),
    }
    add = spec.force if kind == "function" else spec.constrain
    add("tie", relation[kind])
    mech = spec.compile()
    q = mech.assemble([0.1, 0.2]).q
    with pytest.warns(sr.SarrusWarning, match="'b' lacks the load of 'tie'"):
        mech.forward_dynamics(q, np.zeros(2)).reaction("b")


def test_gears_and_belts_load_their_bearings_and_say_nothing() -> None:
    spec = sr.MechanismSpec(gravity=(0, -G, 0), name="gears")
    for name, x in {"a": 0.0, "b": 0.12}.items():
        spec.body(
            name, joint=sr.Revolute("z"), at=sr.Pose((x, 0, 0)), mass=1, com=(0.01, 0, 0), inertia=(1e-3,) * 3
        )
    spec.constrain("mesh", sr.Gear("a", "b", teeth_a=20, teeth_b=40, module=0.004))
    with silence():
        spec.compile().forward_dynamics([0.0, 0.0], [1.0, -0.5]).reaction("b")


def test_bearings_whose_load_is_unknown_warn_at_compile() -> None:
    spec = sr.MechanismSpec(gravity=(0, -G, 0), name="winch")
    spec.body("drum", joint=sr.Revolute("z"), mass=3, inertia=(0.1, 0.1, 0.06))
    spec.body("load", joint=sr.Prismatic("y"), mass=500)
    spec.constrain("rope", sr.Coupling({"load": 1.0, "drum": 0.2}))
    spec.force("journal", sr.BearingFriction("drum", 0.1, radius=0.02))
    with pytest.warns(sr.SarrusWarning, match="force 'journal': .* lacks the load of 'rope'"):
        spec.compile()


# ---------------------------------------------------------------------- nobody holds


def crane() -> sr.Mechanism:
    spec = sr.MechanismSpec(gravity=(0, -G, 0), name="crane")
    spec.link("boom", (0, 0, 0), (2, 0, 0), mass=100.0)
    spec.joint("foot", "ground", "boom", sr.Revolute("z"), at=(0, 0, 0))
    spec.cylinder("lift", "ground", (0.8, -0.6, 0), "boom", (1, 0, 0), axis="z", mass=(1e-6, 1e-6))
    return spec.measure("foot force", sr.Reaction("foot", "world")).compile()


def test_reactions_of_a_sweep_say_that_nothing_holds_it() -> None:
    mech = crane()
    sweep = mech.sweep("foot", np.radians([0, 20, 40]))
    with pytest.warns(sr.SarrusWarning, match=r"'foot force': nothing holds .* 3 of 3 .*mech.hold"):
        sweep["foot force"]
    held = mech.inverse_dynamics(sweep.q, np.zeros((3, mech.nv)), np.zeros((3, mech.nv))).u
    with silence():
        mech.measure(sweep.q, u=held)
        mech.measure(sweep.q[0])  # a state of its own, with the inputs that are given


def test_springs_and_machines_in_balance_say_nothing() -> None:
    spec = sr.MechanismSpec(gravity=(0, 0, 0), name="lever")
    spec.link("lever", (0, 0, 0), (1, 0, 0), mass=1.0)
    spec.joint("pin", "ground", "lever", sr.Revolute("z"), at=(0, 0, 0)).actuate("pin")
    spec.force("spring", sr.PointSpring("ground", (1, 1, 0), "lever", (1, 0, 0), 100.0, rest="drawn"))
    spec.measure("spring", sr.ForceIn("spring")).measure("pin", sr.Reaction("pin"))
    mech = spec.compile()
    with silence():
        assert mech.measure([0.0])["spring"] == pytest.approx(0.0, abs=1e-12)
        mech.sweep("pin", [0.0, 0.1])["spring"]
    with pytest.warns(sr.SarrusWarning, match="nothing holds the machine at 1 of 2 poses"):
        mech.sweep("pin", [0.0, 0.1])["pin"]


# ---------------------------------------------------------------------- nobody declares


def press(actuate: bool) -> sr.Mechanism:
    spec = sr.MechanismSpec(gravity=(0, 0, 0), name="press")
    spec.point("O", (0, 0, 0)).point("B", (0, 0.1, 0)).point("C", (np.sqrt(0.3**2 - 0.1**2), 0, 0))
    spec.link("crank", "O", "B", mass=1).link("rod", "B", "C", mass=1)
    spec.part("ram", at=sr.Pose((0.3, 0, 0)), mass=1, inertia=(0.1,) * 3)
    for name, a, b in (("O", "ground", "crank"), ("B", "crank", "rod"), ("C", "rod", "ram")):
        spec.joint(name, a, b, sr.Revolute("z"), at=name)
    spec.joint("slide", "ground", "ram", sr.Prismatic("x"), at="C")
    spec.force("work", sr.ConstantWrench("ram", (-1000, 0, 0, 0, 0, 0)))
    return (spec.actuate("O") if actuate else spec).compile()


def test_motors_that_nobody_declared_warn() -> None:
    mech = press(False)
    z = np.zeros(mech.nv)
    with pytest.warns(
        sr.SarrusWarning, match=r"'press' does not say which joints have motors.*spec.actuate\("
    ):
        mech.inverse_dynamics(mech.neutral(), z, z)
    with pytest.warns(sr.SarrusWarning, match="does not say which joints have motors"):
        sr.control.ProjectedInverseDynamics(mech, "O", 0.0)
    with silence():
        named = mech.inverse_dynamics(mech.neutral(), z, z, actuated=["O"])
        declared = press(True).inverse_dynamics(mech.neutral(), z, z)
        arm = sr.MechanismSpec().body("arm", joint=sr.Revolute("z"), mass=1.0, inertia=(1, 1, 1)).compile()
        arm.inverse_dynamics([0.0], [0.0], [1.0])  # open: as many motors as freedoms
    assert named.u[0] == declared.u[0] == pytest.approx(-100.0, rel=1e-9)


def test_what_is_declared_stays_so_in_copies_and_files() -> None:
    mech = press(True)
    again = sr.MechanismSpec.from_dict(sr.MechanismSpec.from_model(mech.model).to_dict()).compile()
    assert again.model.actuators_declared and mech.with_(mass={"rod": 2.0}).model.actuators_declared
    bare = press(False)
    again = sr.MechanismSpec.from_dict(sr.MechanismSpec.from_model(bare.model).to_dict()).compile()
    assert not again.model.actuators_declared and again.nu == bare.nu


# ---------------------------------------------------------------------- nobody names


def boom() -> sr.MechanismSpec:
    spec = sr.MechanismSpec(gravity=(0, -G, 0), name="boom")
    spec.point("eye", (2, 1, 0)).link("boom", (1, 1, 0), (3, 1, 0), mass=100.0)
    return spec.joint("foot", "ground", "boom", sr.Revolute("z"), at=(1, 1, 0))


BASE, EYE, DRAWN = (1.8, 0.4, 0), (2, 1, 0), np.hypot(0.2, 0.6)


@pytest.mark.parametrize("frame", ["world", "point"])
def test_points_of_the_world_as_drawn(frame: str) -> None:
    eye: Any = "eye" if frame == "point" else EYE
    said: Any = {} if frame == "point" else {"frame": "world"}
    spec = boom()
    with silence():
        spec.measure("L", sr.Length("ground", BASE, "boom", eye), **said)
        spec.constrain("lift", sr.Distance("ground", BASE, "boom", eye, length=DRAWN), **said)
        spec.force("spring", sr.PointSpring("ground", BASE, "boom", eye, 1e4, rest="drawn"), **said)
        spec.measure("F", sr.ForceIn("spring"))
        found = spec.compile().measure([0.0])
    assert found["L"] == pytest.approx(DRAWN, rel=1e-12) and abs(found["F"]) < 1e-9


def test_points_whose_frame_nobody_says_are_refused() -> None:
    tell = r"the point \(2.0, 1.0, 0.0\) of 'boom' may be meant in the frame of 'boom', which stands at"
    spec = boom()
    with pytest.raises(sr.InputError, match="measure 'L': " + tell):
        spec.measure("L", sr.Length("ground", BASE, "boom", EYE))
    with pytest.raises(sr.InputError, match="constraint 'lift': " + tell):
        spec.constrain("lift", sr.Distance("ground", BASE, "boom", EYE, length=DRAWN))
    with pytest.raises(sr.InputError, match="force 'spring': " + tell):
        spec.force("spring", sr.PointSpring("ground", BASE, "boom", EYE, 1e4, rest=DRAWN))
    with pytest.raises(sr.InputError, match="force 'push': the point"):
        spec.force("push", sr.ConstantWrench("boom", (0, 1, 0, 0, 0, 0), (0.5, 0, 0)))
    with silence():  # said, at the origin, or of a body whose place is given by its joint
        spec.measure("M", sr.Length("ground", BASE, "boom", (1, 0, 0)), frame="body")
        spec.measure("O", sr.Position("boom"))
        spec.body("hook", "boom", joint=sr.Revolute("z"), at=sr.Pose((2, 0, 0)), mass=1.0, inertia=(1, 1, 1))
        spec.measure("tip", sr.Position("hook", (0.1, 0, 0)))
        spec.actuator("cylinder", "ground", BASE, "boom", "eye", armature=1e-6)
    with pytest.raises(sr.InputError, match="frame of measure 'N'"):
        spec.measure("N", sr.Position("boom", EYE), frame="boom")


def test_springs_of_a_drawing_say_their_rest_length() -> None:
    spec = boom()
    with pytest.warns(
        sr.SarrusWarning, match="taken as drawn, 0.632456 m. Before version 0.2 it was 0, and the spring"
    ):
        spec.force("spring", sr.PointSpring("ground", BASE, "boom", "eye", 1e4))
    with silence():
        spec.force("zero", sr.PointSpring("ground", BASE, "boom", "eye", 1e4, rest=0.0))
        plain = sr.MechanismSpec().body("arm", joint=sr.Revolute("y"), mass=1.0, inertia=(1, 1, 1))
        plain.force("balance", sr.PointSpring("ground", (0, 0, 0.4), "arm", (0.4, 0, 0), 61.3))
    assert dict(plain.forces)["balance"].rest == 0.0  # type: ignore[attr-defined]
    with pytest.raises(sr.InputError, match="rest of PointSpring"):
        sr.PointSpring("ground", BASE, "boom", "eye", 1e4, rest="relaxed")


def test_variants_are_made_without_saying_it_again() -> None:
    spec = boom()
    k = spec.parameter("k", 1e4)
    with pytest.warns(sr.SarrusWarning, match="taken as drawn"):
        spec.force("spring", sr.PointSpring("ground", BASE, "boom", (1, 0, 0), k), frame="body")
    mech = spec.compile()
    with silence():
        assert isinstance(mech.with_(k=2e4).model, VariantModel)  # by a recorded template, not one by one

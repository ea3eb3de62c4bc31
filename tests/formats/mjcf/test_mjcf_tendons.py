"""Tendons, polynomial equalities and actuator laws of MJCF, against MuJoCo's own forces; from_mujoco."""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path

import mujoco
import numpy as np
import pytest

import sarrus as sr
from bench.twins.mujoco_terms import terms

HAND = """<mujoco model="hand"><compiler angle="radian"/><worldbody>
  <body name="l"><joint name="left" axis="0 1 0" range="-2 2" damping="0.1"/><geom size=".1" pos=".2 0 0"/>
    <body name="tip" pos="0.4 0 0"><joint name="bend" axis="0 1 0" ref="0.3"/><geom size=".05" pos=".1 0 0"/>
      <site name="eye" pos="0.1 0 0.05"/></body></body>
  <body name="r" pos="1 0 0"><joint name="right" axis="0 1 0"/><geom size=".1" pos=".2 0 0.1"/>
    <site name="hook" pos="0 0 0.2"/></body>
  <body name="drone" pos="0 0 2"><freejoint name="air"/><geom size=".1"/></body></worldbody>
  <tendon>
    <fixed name="cord" stiffness="7" springlength="0.2" damping="0.3" range="-1 1">
      <joint joint="left" coef="0.5"/><joint joint="right" coef="-1.5"/></fixed>
    <fixed name="sum"><joint joint="left" coef="1"/><joint joint="bend" coef="2"/></fixed>
    <spatial name="rubber" stiffness="20" springlength="0.3" damping="0.4">
      <site site="eye"/><site site="hook"/></spatial>
    <fixed name="idle"><joint joint="left" coef="1"/></fixed>
  </tendon>
  <equality>EQUALITY</equality>
  <actuator>
    <position name="grip" tendon="cord" kp="40" kv="3" gear="2" ctrlrange="-1 1" forcerange="-30 30"/>
    <velocity name="spin" joint="bend" kv="2" gear="-3"/>
    <motor name="push" joint="right" gear="4" ctrlrange="-5 5"/>
    <motor name="pull" joint="right" gear="2" ctrlrange="-1 3"/>
  </actuator></mujoco>"""
EQUALITIES = {
    "none": "",
    "tendon": '<tendon tendon1="sum" polycoef="0.1 0 0 0 0"/>',
    "tendons": '<tendon tendon1="sum" tendon2="idle" polycoef="0.1 -0.7 0 0 0"/>',
    "distance": '<tendon tendon1="rubber"/>',
    "polynomial": '<joint joint1="right" joint2="bend" polycoef="0.1 0.7 0.3 -0.2 0.1"/>',
}


def quiet(text: str) -> sr.Mechanism:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.SarrusWarning)
        return sr.load(text)


@pytest.mark.parametrize("name", EQUALITIES)
def test_accelerations_are_those_of_mujoco(name: str) -> None:
    """Servos, springs and dampers of tendons included: ctrl goes to MuJoCo, the laws give our u."""
    text = HAND.replace("EQUALITY", EQUALITIES[name])
    mech, model = quiet(text), mujoco.MjModel.from_xml_string(text)
    bridge, rng = sr.bridge.mujoco(mech, model), np.random.default_rng(2)
    ctrl = np.array([0.4, -0.7, 1.5, 0.5])
    found = mech.assemble(mech.integrate(mech.default.q, 0.1 * rng.standard_normal(mech.nv)))
    assert found.success, found.message
    v = mech.consistent_velocity(found.q, rng.standard_normal(mech.nv))
    there = terms(bridge, found.q, v, ctrl)
    np.testing.assert_allclose(there.phi, 0.0, atol=1e-11)
    a = mech.forward_dynamics(found.q, v, u=bridge.to_u(ctrl, found.q, v)).a
    # the coordinate of the tendon weighs 1e-12 of a joint
    assert there.difference(a) < 1e-10


def test_names_limits_and_laws() -> None:
    mech = quiet(HAND.replace("EQUALITY", ""))
    assert mech.actuators == ("cord", "bend", "right")
    assert mech.names[-1] == "cord" and "drone.vx" in mech.names and "air" not in mech.body_names
    assert mech.mobility().dof == 9
    grip, spin = mech.laws["cord"][0], mech.laws["bend"][0]
    assert grip == sr.ActuatorLaw("grip", 2.0, 40.0, (0, -40, -3), (-1, 1), (-30, 30))
    assert spin == sr.ActuatorLaw("spin", -3.0, 2.0, (0, 0, -2))
    assert [law.name for law in mech.laws["right"]] == ["push", "pull"]
    ranges = [(a.lower, a.upper) for a in mech.model.actuators]
    assert ranges == [(-60.0, 60.0), (-np.inf, np.inf), (-22.0, 26.0)]
    assert any(one.startswith("tendon without any force") for one in mech.omitted) is False  # equalities only
    assert pickle.loads(pickle.dumps(mech)).laws == mech.laws


def test_laws_and_polynomials_survive_json(tmp_path: Path) -> None:
    mech = quiet(HAND.replace("EQUALITY", EQUALITIES["polynomial"]))
    again = sr.load(sr.save(mech, tmp_path / "hand.json"))
    assert again.laws == mech.laws and again.names == mech.names
    q, v = mech.default
    np.testing.assert_array_equal(again.forward_dynamics(q, v).a, mech.forward_dynamics(q, v).a)


def test_servos_hold_their_targets_in_a_simulation() -> None:
    """Without gravity the position servo of a pendulum ends at its target."""
    spec = sr.MechanismSpec(gravity=(0, 0, 0))
    spec.body("arm", joint=sr.Revolute("y"), mass=1.0, com=(0.3, 0, 0), inertia=(0.01, 0.01, 0.01))
    spec.actuate("arm")
    spec.laws["arm"] = (sr.ActuatorLaw("servo", 2.0, 30.0, (0.0, -30.0, -5.0), (-4.0, 4.0)),)
    mech = spec.compile()
    servos = sr.bridge.servos(mech)
    assert servos.names == ("servo",)
    run = sr.simulate(mech, (0.0, 4.0), control=lambda t, q, v: servos.force([1.4], q, v))
    np.testing.assert_allclose(run.q[-1], [0.7], atol=1e-4)
    np.testing.assert_allclose(
        servos.ctrl(servos.force([1.4], [0.2], [0.3]), [0.2], [0.3]), [1.4], atol=1e-12
    )
    with pytest.raises(sr.InputError, match="ctrl"):
        servos.force([1.0, 2.0], [0.2], [0.3])


@pytest.mark.parametrize("kind", ["model", "spec"])
def test_from_mujoco(kind: str) -> None:
    text = HAND.replace("EQUALITY", "")
    source = mujoco.MjModel.from_xml_string(text) if kind == "model" else mujoco.MjSpec.from_string(text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.SarrusWarning)
        mech = sr.from_mujoco(source)
    assert mech.name == "hand" and mech.names == quiet(text).names
    q = mech.default.q
    np.testing.assert_array_equal(mech.mass_matrix(q), quiet(text).mass_matrix(q))


def test_from_mujoco_refusals() -> None:
    with pytest.raises(
        sr.FormatError, match=r"from_mujoco takes a mujoco.MjModel or a mujoco.MjSpec, got str"
    ):
        sr.from_mujoco(HAND)
    spec = mujoco.MjSpec()
    spec.worldbody.add_body(name="a").add_joint()
    with pytest.raises(sr.FormatError, match="MjSpec: MuJoCo cannot compile it"):
        sr.from_mujoco(spec)
    with pytest.raises(sr.UnknownNameError, match="option for MJCF"):
        sr.from_mujoco(mujoco.MjSpec(), root="free")


def test_polynomial_couplings_are_checked() -> None:
    with pytest.raises(sr.InputError, match="coefficients of PolynomialCoupling must be two or more"):
        sr.PolynomialCoupling("a", "b", (1.0,))
    with pytest.raises(sr.InputError, match="must relate two coordinates"):
        sr.PolynomialCoupling("a", "a", (1.0, 2.0))
    with pytest.raises(sr.InputError, match="gear of actuator 'm' must not be zero"):
        sr.ActuatorLaw("m", gear=0.0)


@pytest.mark.parametrize("name", EQUALITIES)
def test_tendons_are_written_as_tendons(name: str, tmp_path: Path) -> None:
    """The copy has as many bodies and joints as the file, and MuJoCo's tendon the same properties."""
    text = HAND.replace("EQUALITY", EQUALITIES[name]).replace(
        'range="-1 1">', 'range="-1 1" frictionloss="0.2">'
    )
    mech, model = quiet(text), mujoco.MjModel.from_xml_string(text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.SarrusWarning)
        file = sr.save(mech, tmp_path / "hand.xml")
        again, copy = sr.load(file), mujoco.MjModel.from_xml_path(str(file))
    assert (copy.nbody, copy.nv, copy.nu) == (model.nbody, model.nv, model.nu)
    one, two = model.tendon("cord").id, copy.tendon("cord").id
    for what in ("stiffness", "damping", "frictionloss", "range", "limited", "lengthspring"):
        there, here = getattr(model, f"tendon_{what}")[one], getattr(copy, f"tendon_{what}")[two]
        np.testing.assert_allclose(here, there, rtol=1e-15, err_msg=what)
    assert again.names == mech.names and again.actuators == mech.actuators and again.laws == mech.laws
    assert again.mobility().dof == mech.mobility().dof
    bridge, ctrl = sr.bridge.mujoco(mech, copy), np.array([0.4, -0.7, 1.5, 0.5])
    smooth = mech.with_(friction={"cord": 0.0})
    q = mech.assemble(
        mech.integrate(mech.default.q, 0.1 * np.random.default_rng(2).standard_normal(mech.nv))
    ).q
    v = mech.consistent_velocity(q, np.random.default_rng(3).standard_normal(mech.nv))
    a = smooth.forward_dynamics(q, v, u=bridge.to_u(ctrl, q, v)).a
    assert terms(bridge, q, v, ctrl).difference(a) < 1e-9


def test_sums_that_no_tendon_can_say_stay_bodies(tmp_path: Path) -> None:
    """With an offset, with mass, or without anything that pulls."""
    bar = {"mass": 1.0, "com": (0.2, 0, 0), "inertia": (0.01,) * 3}
    for offset, mass, actuated in ((0.1, 0.0, True), (0.0, 0.3, True), (0.0, 0.0, False)):
        spec = sr.MechanismSpec(gravity=(0, 0, -9.81))
        spec.body("a", joint=sr.Revolute("y"), **bar)
        spec.body("b", "a", joint=sr.Revolute("y"), at=sr.Pose((0.4, 0, 0)), **bar)
        spec.body("sum", joint=sr.Prismatic("z"), mass=mass, armature=1e-3)
        spec.constrain("sum", sr.Coupling({"sum": 1.0, "a": -1.0, "b": -2.0}, offset=offset))
        spec.actuate(*(("sum",) if actuated else ()))
        mech = spec.compile()
        model = mujoco.MjModel.from_xml_path(str(sr.save(mech, tmp_path / "sum.xml")))
        assert model.nbody == 4
        bridge, v = sr.bridge.mujoco(mech, model), np.zeros(3)
        a = mech.forward_dynamics(mech.default.q, v).a
        assert terms(bridge, mech.default.q, v, np.zeros(model.nu)).difference(a) < 1e-10


DIFFERENTIAL = """<mujoco><worldbody><body name="a" pos="0 0 1"><joint name="j1" axis="0 1 0"/>
<geom size=".05" pos=".3 0 0"/><body name="b" pos=".3 0 0"><joint name="j2" axis="0 1 0"/>
<geom size=".05" pos=".2 0 0"/></body></body>
<body name="c" pos="0 1 1"><joint name="j3" axis="0 1 0"/><geom size=".05" pos=".1 0 .1"/></body></worldbody>
<tendon><fixed name="play" limited="true" range="-{0} {0}"><joint joint="j1" coef="1"/>
<joint joint="j2" coef="-0.5"/><joint joint="j3" coef="-0.7"/></fixed></tendon></mujoco>"""


def test_a_limit_that_couples_joints_holds_with_stops() -> None:
    """The waist of ToddlerBot: a tendon with a narrow range. Without play it is a coupling."""
    with pytest.warns(sr.SarrusWarning, match="limits of tendons that couple joints act in runs"):
        mech = sr.load(DIFFERENTIAL.format(1e-4))
    place = mech.names.index("play")
    run = sr.simulate(mech, (0.0, 1.0), stops=True)
    assert run.success and np.max(np.abs(run.q[:, place])) < 1.0001e-4
    spec = sr.load_spec(DIFFERENTIAL.format(1e-4))
    spec.constrain("no play", sr.Coupling({"play": 1.0}))
    tight = sr.simulate(spec.compile(), (0.0, 1.0))
    assert np.max(np.abs(run.q[-1] - tight.q[-1])) < 1e-3
    free = sr.simulate(mech, (0.0, 1.0))
    assert np.max(np.abs(free.q[:, place])) > 0.1 and "Beyond their limits" in free.message

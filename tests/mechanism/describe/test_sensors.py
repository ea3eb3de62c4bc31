"""Sensors as measures: what MuJoCo's read, statics by hand, files there and back."""

from __future__ import annotations

import warnings
from pathlib import Path

import mujoco
import numpy as np
import pytest

import sarrus as sr

MJCF = """<mujoco><option gravity="0.3 -0.2 -9.81"/><worldbody>
 <body name="a" pos="0 0 1"><joint name="ja" axis="0 1 0" armature="0.1"/>
  <geom type="capsule" fromto="0 0 0 .3 0 0" size=".03" contype="0" conaffinity="0"/>
  <site name="sa" pos=".1 0.02 .03" euler="10 20 30"/>
  <body name="b" pos=".3 0 0"><joint name="jb" axis="0 0.6 0.8" damping=".3"/>
   <geom type="box" size=".1 .05 .02" pos=".1 0 0" contype="0" conaffinity="0"/>
   <site name="sb" pos=".2 .01 -.02" euler="40 20 30"/></body></body></worldbody>
 <actuator><motor joint="ja"/><motor joint="jb"/></actuator>
 <sensor><accelerometer name="acc" site="sb"/><gyro name="gyro" site="sb"/>
  <force name="force b" site="sb"/><torque name="torque b" site="sb"/><force name="force a" site="sa"/>
  <torque name="torque a" site="sa"/><framepos name="place" objtype="site" objname="sb"/>
  <framepos name="of body" objtype="xbody" objname="b"/><jointpos name="angle" joint="jb"/>
  <velocimeter name="none here" site="sb"/></sensor></mujoco>"""


def loaded(what: object) -> sr.Mechanism:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.SarrusWarning)
        return sr.load(what)  # type: ignore[arg-type]


def test_sensors_read_what_mujoco_s_read(tmp_path: Path) -> None:
    """At random states and inputs, with armature and damping; and again after a file was written."""
    with pytest.warns(sr.SarrusWarning, match=r"sensor \(1\)"):
        mech = sr.load(MJCF)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.SarrusWarning)
        path = sr.save(mech, tmp_path / "arm.xml")
    again = loaded(path)
    assert {n for n, _ in again.model.measures} == {n for n, _ in mech.model.measures} - {"of body"}
    rng = np.random.default_rng(0)
    for model in (mujoco.MjModel.from_xml_string(MJCF), mujoco.MjModel.from_xml_path(str(path))):
        data, bridge = mujoco.MjData(model), sr.bridge.mujoco(mech, model)
        for _ in range(3):
            q, v, u = (rng.standard_normal(2) for _ in range(3))
            bridge.to_mujoco(data, q, v)
            data.ctrl[:] = u
            mujoco.mj_forward(model, data)
            names = {model.sensor(i).name for i in range(model.nsensor)} - {"none here"}
            for name, value in mech.measure(q, v, u=u).items():
                if name in names:
                    np.testing.assert_allclose(value, data.sensor(name).data, atol=1e-12, err_msg=name)


def pendulum(**more: object) -> sr.MechanismSpec:
    """A bar of 2 kg that hangs on a pin along y, with a sensor frame on it."""
    spec = sr.MechanismSpec()
    spec.body("bar", joint=sr.Revolute("y"), mass=2.0, com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.0))
    spec.frame("imu", "bar", sr.Pose((0, 0, -1.0), rpy=(0.0, 0.0, 0.4)))
    for name, measure in more.items():
        spec.measure(name, measure)  # type: ignore[arg-type]
    return spec


def test_at_rest_and_turning() -> None:
    spec = pendulum(
        acc=sr.Accelerometer("imu"), gyro=sr.Gyroscope("imu"), wrench=sr.ForceTorque("bar", frame="imu")
    )
    found = spec.compile().measure([0.0])
    np.testing.assert_allclose(found["acc"], [0.0, 0.0, 9.81], atol=1e-12)
    np.testing.assert_allclose(found["wrench"], [0.0, 0.0, 2.0 * 9.81, 0.0, 0.0, 0.0], atol=1e-12)
    turning = spec.compile().measure([0.0], [3.0])
    np.testing.assert_allclose(turning["acc"], [0.0, 0.0, 9.81 + 9.0], atol=1e-12)  # omega^2 r upwards
    np.testing.assert_allclose(turning["gyro"], [3.0 * np.sin(0.4), 3.0 * np.cos(0.4), 0.0], atol=1e-12)
    np.testing.assert_allclose(turning["wrench"][:3], [0.0, 0.0, 2.0 * (9.81 + 4.5)], atol=1e-12)


def test_a_force_sensor_between_welded_parts() -> None:
    """A tool of 0.5 kg bolted to an arm: its weight and the moment of its lever in the flange's axes."""
    spec = sr.MechanismSpec()
    spec.body("arm", joint=sr.Revolute("z"), mass=5.0, inertia=(1.0, 1.0, 1.0))
    spec.body("tool", "arm", joint=sr.Fixed(), at=sr.Pose((1, 0, 0)), mass=0.5, com=(0.2, 0, 0))
    spec.frame("flange", "arm", sr.Pose((1, 0, 0), rpy=(np.pi / 2, 0, 0)))
    for part in ("wrench", "force", "moment"):
        spec.measure(part, sr.ForceTorque("tool", "flange", part))
    found = spec.compile().measure([0.3])
    weight = 0.5 * 9.81
    np.testing.assert_allclose(found["force"], [0.0, weight, 0.0], atol=1e-12)
    np.testing.assert_allclose(found["moment"], [0.0, 0.0, 0.2 * weight], atol=1e-12)
    np.testing.assert_allclose(found["wrench"], [*found["force"], *found["moment"]])


def test_along_runs_with_pushes_from_outside() -> None:
    """Accelerations are those of the run, external wrenches included; forces through joints are refused."""
    spec = pendulum(acc=sr.Accelerometer("imu"), wrench=sr.ForceTorque("bar"))
    push = {"bar": np.array([4.0, 0.0, 0.0, 0.0, 0.0, 0.0])}
    run = sr.simulate(spec.compile(), (0.0, 0.2), external=push)
    slope = np.gradient(run.v[:, 0], run.t)
    np.testing.assert_allclose(run.a[1:-1, 0], slope[1:-1], atol=0.2)
    R = np.array([[np.cos(0.4), np.sin(0.4)], [-np.sin(0.4), np.cos(0.4)]])
    along = np.array([-run.a[:, 0] * 1.0 - 9.81 * -np.sin(run.q[:, 0]) * -1.0, np.zeros(len(run.t))])
    np.testing.assert_allclose(run["acc"][:, :2], (R @ along).T, atol=1e-9)
    with pytest.raises(sr.InputError, match="a run with external wrenches does not keep them"):
        _ = run["wrench"]


def test_redundant_supports_warn() -> None:
    mech = sr.library.four_bar()
    spec = sr.MechanismSpec.from_model(mech.model).measure("load", sr.ForceTorque("coupler"))
    skew = spec.compile().with_(gravity=(0.0, -9.81, 3.0))
    with pytest.warns(sr.SarrusWarning, match="redundant rows leave open how joints share this load"):
        skew.measure(mech.default.q)


def test_what_is_refused() -> None:
    with pytest.raises(sr.InputError, match="'imu' is a frame without mass, through which nothing goes"):
        pendulum(f=sr.ForceTorque("imu")).compile()
    with pytest.raises(sr.InputError, match="nothing holds the ground"):
        pendulum(f=sr.ForceTorque("ground")).compile()
    with pytest.raises(sr.InputError, match="part of ForceTorque must be one of"):
        sr.ForceTorque("bar", part="torque")
    with pytest.raises(sr.SarrusError, match="unknown body 'imo'"):
        pendulum(f=sr.Gyroscope("imo")).compile()

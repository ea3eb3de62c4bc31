"""The laws drive MuJoCo, which knows nothing of this library: another integrator, soft constraints.

Both read the same file. MuJoCo's loops give way a little (solref 2 ms): errors are of that size.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest

import sarrus as sr

C = sr.control

FIVE_BAR = """
<mujoco model="five_bar">
  <option gravity="0 -9.81 0" timestep="0.001" integrator="implicitfast"/>
  <default><joint type="hinge" axis="0 0 1"/><equality solref="0.002 1" solimp="0.99 0.999 0.001"/></default>
  <worldbody>
    <body name="left1"><joint name="left1"/><inertial pos="0.2 0 0" mass="1.5" diaginertia="0.01 0.03 0.03"/>
      <body name="left2" pos="0.4 0 0"><joint name="left2"/>
        <inertial pos="0.25 0 0" mass="1.0" diaginertia="0.01 0.03 0.03"/>
      </body>
    </body>
    <body name="right1" pos="0.3 0 0"><joint name="right1"/>
      <inertial pos="0.2 0 0" mass="1.5" diaginertia="0.01 0.03 0.03"/>
      <body name="right2" pos="0.4 0 0"><joint name="right2"/>
        <inertial pos="0.25 0 0" mass="1.0" diaginertia="0.01 0.03 0.03"/>
      </body>
    </body>
  </worldbody>
  <equality><connect name="tip" body1="left2" body2="right2" anchor="0.5 0 0"/></equality>
  <actuator>
    <motor joint="left1" ctrlrange="-20 20"/><motor joint="right1" ctrlrange="-20 20"/>
  </actuator>
</mujoco>
"""


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> tuple[sr.Mechanism, Any, np.ndarray]:
    path: Path = tmp_path_factory.mktemp("mjcf") / "five_bar.xml"
    path.write_text(FIVE_BAR)
    model = mujoco.MjModel.from_xml_path(str(path))
    mech = sr.load(path)
    found = mech.assemble([2.2, -1.2, 0.9, 1.2])
    assert found.success
    return mech, model, found.q


def drive(model: Any, law: Any, q: np.ndarray, seconds: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """States of MuJoCo under a law that sees only q and v: times, positions, inputs."""
    data = mujoco.MjData(model)
    data.qpos[:] = q
    times, poses, inputs = [], [], []
    while data.time < seconds:
        data.ctrl[:] = law(data.time, data.qpos.copy(), data.qvel.copy())
        mujoco.mj_step(model, data)
        times.append(data.time)
        poses.append(data.qpos.copy())
        inputs.append(data.ctrl.copy())
    return np.array(times), np.array(poses), np.array(inputs)


def test_a_five_bar_with_two_motors_draws_a_line_in_mujoco(
    machine: tuple[sr.Mechanism, Any, np.ndarray],
) -> None:
    mech, model, q = machine
    tip = (0.5, 0.0, 0.0)
    start = mech.pose(q, "left2").apply(tip)[:2]
    way = C.MinimumJerk(start, start + np.array([0.06, -0.08]), 0.5)
    law = C.ProjectedInverseDynamics(mech, C.Position("left2", tip, "xy"), way, kp=900.0)
    times, poses, _ = drive(model, law, q, 0.7)
    places = np.array([mech.pose(p, "left2").apply(tip)[:2] for p in poses])
    wanted = np.array([way(t).x for t in times])
    assert np.abs(places - wanted).max() < 2e-3
    assert np.abs(places[-1] - wanted[-1]).max() < 2e-4
    assert law.last is not None and law.last.status == C.Status.OK and law.events == []


def test_torque_limits_hold_in_mujoco(machine: tuple[sr.Mechanism, Any, np.ndarray]) -> None:
    mech, model, q = machine
    tip = (0.5, 0.0, 0.0)
    start = mech.pose(q, "left2").apply(tip)[:2]
    way = C.MinimumJerk(start, start + np.array([0.05, 0.0]), 0.12)
    law = C.ForceLimits(mech, C.Position("left2", tip, "xy"), way, C.TorqueBounds(), kp=400.0, gives="motion")
    _, poses, inputs = drive(model, law, q, 0.6)
    assert np.abs(inputs).max() <= 20.0 + 1e-9 and np.abs(inputs).max() > 19.0
    end = mech.pose(poses[-1], "left2").apply(tip)[:2]
    assert np.abs(end - start - [0.05, 0.0]).max() < 1e-3

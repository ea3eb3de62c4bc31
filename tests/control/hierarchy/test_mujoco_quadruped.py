"""The standing quadruped in MuJoCo, an independent plant with soft contacts, while being pushed."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

import sarrus as sr
from sarrus.library.mass_properties import bar, cuboid

C = sr.control
FEET = ("front_left", "front_right", "rear_left", "rear_right")
RADIUS = 0.015  # of the balls that are feet [m]
BEND, LINK = 0.6, 0.2
HEIGHT = 2.0 * LINK * np.cos(BEND)


def _inertial(part) -> str:
    pos, inertia = (" ".join(f"{x:.12g}" for x in part[key]) for key in ("com", "inertia"))
    return f'<inertial pos="{pos}" mass="{part["mass"]}" diaginertia="{inertia}"/>'


def _leg(foot: str) -> str:
    x, y = (0.2 if "front" in foot else -0.2), (1.0 if "left" in foot else -1.0)
    thigh, shank = bar(0.6, LINK, "-z", 0.04), bar(0.2, LINK, "-z", 0.02)
    return f"""
      <body pos="{x} {0.1 * y} 0">{_inertial(cuboid(0.5, (0.08, 0.06, 0.06)))}
        <joint name="{foot}_hip" axis="1 0 0"/>
        <body pos="0 {0.05 * y} 0">{_inertial(thigh)}
          <joint name="{foot}_thigh" axis="0 1 0"/>
          <body pos="0 0 {-LINK}">{_inertial(shank)}
            <joint name="{foot}_shank" axis="0 1 0"/>
            <geom name="{foot}" type="sphere" size="{RADIUS}" pos="0 0 {-LINK}" friction="1 0.005 0.0001"/>
          </body>
        </body>
      </body>"""


def plant() -> mujoco.MjModel:
    """The robot over a floor that its feet just touch."""
    joints = [f"{foot}_{part}" for foot in FEET for part in ("hip", "thigh", "shank")]
    motors = "".join(f'<motor joint="{name}"/>' for name in joints)
    return mujoco.MjModel.from_xml_string(f"""
<mujoco><compiler angle="radian"/><option timestep="0.001" integrator="implicitfast" cone="elliptic"/>
  <worldbody><geom type="plane" size="5 5 0.1" pos="0 0 {-RADIUS}"/>
    <body name="trunk" pos="0 0 {HEIGHT}">{_inertial(cuboid(8.0, (0.4, 0.2, 0.1)))}<freejoint/>
      {"".join(_leg(foot) for foot in FEET)}
    </body>
  </worldbody><actuator>{motors}</actuator></mujoco>""")


def test_same_robot():
    """Masses, frames and signs agree: the mass matrix of both."""
    mech, model = sr.library.quadruped(), plant()
    bridge, data = sr.bridge.mujoco(mech, model), mujoco.MjData(model)
    data.qpos[7:] = np.tile([0.0, BEND, -2.0 * BEND], 4)
    mujoco.mj_forward(model, data)
    M = np.zeros((18, 18))
    for row, unit in zip(M, np.eye(18), strict=True):
        mujoco.mj_mulM(model, data, row, unit)
    assert np.allclose(M, mech.mass_matrix(bridge.to_sarrus(data).q), atol=1e-9)


@pytest.mark.parametrize("push", [(40.0, 0.0, 0.0), (0.0, 30.0, 0.0)])
def test_standing_while_being_pushed(push):
    """A push of 0.15 s: the trunk gives way and comes back, the feet stay on the ground."""
    mech, model = sr.library.quadruped(), plant()
    bridge, data = sr.bridge.mujoco(mech, model), mujoco.MjData(model)
    data.qpos[7:] = np.tile([0.0, BEND, -2.0 * BEND], 4)
    trunk = C.PriorityTask(C.BodyPose("trunk"), mech.pose(mech.default.q, "trunk"), kp=100.0, name="trunk")
    law = C.TaskHierarchy(
        mech,
        trunk,
        limits=[*(C.Friction(foot, 0.6, least=2.0) for foot in FEET), C.TorqueBounds((-25.0, 25.0))],
    )
    largest = 0.0
    for step in range(1200):
        if step % 4 == 0:
            data.ctrl[:] = law(step * 1e-3, *bridge.to_sarrus(data))
        data.xfrc_applied[1, :3] = push if 200 <= step < 350 else (0.0, 0.0, 0.0)
        mujoco.mj_step(model, data)
        largest = max(largest, float(np.abs(bridge.to_sarrus(data).q[:2]).max()))
    assert 0.003 < largest < 0.1
    assert np.abs(bridge.to_sarrus(data).q[:3]).max() < 0.01
    assert 2.0 * np.arcsin(np.linalg.norm(data.qpos[4:7])) < 0.02
    assert all(status >= 0 for _, status, _ in law.events)
    assert data.ncon == 4 and np.abs(data.ctrl).max() <= 25.0

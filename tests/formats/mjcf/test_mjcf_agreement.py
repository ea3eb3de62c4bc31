"""MJCF models against MuJoCo itself: same mass matrix, same bias, same poses, same constrained directions.

MuJoCo compiled the file, so this shows that what was read is what it meant; MuJoCo's own dynamics is the
judge of signs, frames, references, gears and passive forces.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import mujoco
import numpy as np
import pytest

import sarrus as sr
from bench.twins.mujoco_terms import row_space, terms
from sarrus.bridge import MujocoBridge

DATA = Path(__file__).parents[2] / "data"

CHAIN = """
<mujoco model="every joint">
  <compiler angle="degree"/>
  <option gravity="0.3 -0.2 -9.7"/>
  <default><geom density="800"/></default>
  <worldbody>
    <body name="cart" pos="0.1 0.2 0.3" euler="10 20 30">
      <joint name="rail" type="slide" axis="1 2 0" pos="0.3 0 0.1" ref="0.2" damping="0.4" armature="0.3"/>
      <geom type="box" size="0.1 0.2 0.05"/>
      <body name="arm" pos="0.2 0 0.1" quat="0.9 0.1 -0.2 0.3">
        <joint name="shoulder" axis="0.3 -1 0.2" pos="0.05 -0.1 0.2" ref="25" springref="-10" stiffness="3"/>
        <geom type="capsule" size="0.03" fromto="0 0 0 0.3 0.1 0.2"/>
        <body name="wrist" pos="0.3 0.1 0.2">
          <joint name="wrist_roll" axis="1 0 0" pos="0.02 0 0"/>
          <joint name="wrist_slide" type="slide" axis="0 1 1" ref="-0.1"/>
          <joint name="wrist_pitch" axis="0 1 0" pos="0 0.04 -0.03" ref="-15" damping="0.1"/>
          <geom type="ellipsoid" size="0.05 0.07 0.1" pos="0.02 0.03 0.04"/>
          <body name="hand" pos="0 0 0.15" euler="0 40 10">
            <joint name="grip" type="ball" pos="0.01 0.02 -0.03" armature="0.02"/>
            <geom type="box" size="0.05 0.08 0.03" pos="0 0.02 0.05"/>
            <body name="plate" pos="0.1 0 0"><geom type="box" size="0.02 0.03 0.01"/></body>
          </body>
        </body>
      </body>
    </body>
    <body name="drone" pos="1 2 3" euler="30 0 50" gravcomp="0.7">
      <freejoint name="air"/>
      <inertial pos="0.01 0.02 0.03" mass="1.7" fullinertia="0.02 0.03 0.025 0.001 -0.002 0.003"/>
      <body name="rotor" pos="0.2 0 0.05"><joint name="spin"/><geom type="cylinder" size="0.1 0.01"/></body>
    </body>
  </worldbody>
  <actuator>
    <motor joint="shoulder" gear="-3" ctrlrange="-2 4" ctrllimited="true"/>
    <motor joint="spin" gear="20" armature="0.001" damping="0.0002"/>
  </actuator>
</mujoco>
"""


def plant(source: str | Path) -> MujocoBridge:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.SarrusWarning)
        mech = sr.load(source)
    compile_ = mujoco.MjModel.from_xml_string if isinstance(source, str) else mujoco.MjModel.from_xml_path
    return sr.bridge.mujoco(mech, compile_(str(source)))


SOURCES = {"every joint": CHAIN, "gripper": DATA / "gripper.xml", "leg": DATA / "leg.xml"}


@pytest.mark.parametrize("name", SOURCES)
def test_mass_matrix_and_bias_are_mujocos(name: str) -> None:
    both = plant(SOURCES[name])
    mech, rng = both.mech, np.random.default_rng(3)
    for _ in range(5):
        q = mech.integrate(mech.neutral(), rng.uniform(-1.0, 1.0, mech.nv))
        v = rng.uniform(-2.0, 2.0, mech.nv)
        there = terms(both, q, v)
        M, h = there.T.T @ there.M @ there.T, there.T.T @ (there.h + there.M @ there.drift)
        np.testing.assert_allclose(mech.mass_matrix(q), M, rtol=0, atol=1e-11 * np.abs(M).max())
        np.testing.assert_allclose(mech.bias(q, v), h, rtol=0, atol=1e-11 * np.abs(h).max())


@pytest.mark.parametrize("name", SOURCES)
def test_bodies_are_where_mujoco_puts_them(name: str) -> None:
    both = plant(SOURCES[name])
    mech, rng = both.mech, np.random.default_rng(4)
    q = mech.integrate(mech.neutral(), rng.uniform(-1.0, 1.0, mech.nv))
    data = mujoco.MjData(both.model)
    both.to_mujoco(data, q)
    for i in range(1, both.model.nbody):
        pose = mech.pose(q, both.model.body(i).name)
        np.testing.assert_allclose(pose.xyz, data.xpos[i], atol=1e-13)
        np.testing.assert_allclose(pose.rotation.ravel(), data.xmat[i], atol=1e-13)


def test_default_is_the_rest_pose_of_the_file() -> None:
    both = plant(CHAIN)
    data = mujoco.MjData(both.model)
    both.to_mujoco(data, both.mech.default.q)
    np.testing.assert_allclose(data.qpos, both.model.qpos0, atol=1e-15)


LOOPS = """
<mujoco>
  <compiler angle="degree"/>
  <worldbody>
    <body name="a" pos="0 0 0.1"><joint name="ja" type="ball"/><geom size="0.1" pos="0.1 0 0"/>
      <body name="b" pos="0.4 0 0" euler="0 10 20"><joint name="jb" type="ball"/>
        <geom size="0.1" pos="0.1 0.1 0"/>
        <site name="sb" pos="0.1 0.2 0.3" euler="10 20 30"/>
        <body name="c" pos="0.3 0 0.1"><joint name="jc" type="ball"/><geom size="0.1" pos="0 0.1 0.1"/></body>
      </body>
    </body>
    <body name="d" pos="0.5 0.3 0.2" quat="1 0.1 0.2 0.3"><freejoint name="jd"/>
      <geom size="0.1" pos="0 0.1 0"/>
      <site name="sd" pos="-0.1 0.1 0.2" euler="-20 10 0"/>
    </body>
    <body name="g" pos="0 1 0"><joint name="jg" axis="1 0 0" ref="20"/><geom size="0.1" pos="0 0.1 0"/></body>
    <body name="s" pos="0 2 0"><joint name="js" type="slide" axis="1 0 0" ref="0.3"/><geom size="0.1"/></body>
  </worldbody>
  <equality>EQUALITY</equality>
</mujoco>
"""
CONNECT = '<connect body1="c" body2="d" anchor="0.1 0.2 0.1"/>'
SECOND, THIRD = (f'<connect body1="d" body2="c" anchor="{x} 0 0.2"/>' for x in ("0", "0.3"))
EQUALITIES = {
    "connect": CONNECT,
    "connect to the world": '<connect body1="c" anchor="0.1 0.2 0.1"/>',
    "connect of sites": '<connect site1="sb" site2="sd"/>',
    "two connects": CONNECT + SECOND,
    "three connects": CONNECT + SECOND + THIRD,
    "weld": '<weld body1="c" body2="d"/>',
    "weld with anchor": '<weld body1="c" body2="d" anchor="0.1 0.2 0.3" relpose="0.1 0 0.2 1 0.2 0 0.1"/>',
    "weld of sites": '<weld site1="sb" site2="sd"/>',
    "joints": '<joint joint1="jg" joint2="js" polycoef="0.1 1.7 0 0 0"/>',
    "one joint": '<joint joint1="jg" polycoef="0.25 0 0 0 0"/>',
    "polynomial": '<joint joint1="jg" joint2="js" polycoef="0.1 0.7 0.3 -0.2 0.1"/>',
}


@pytest.mark.parametrize("name", EQUALITIES)
def test_equalities_close_where_mujocos_do(name: str) -> None:
    """Assembled by us from a pose that is off: MuJoCo's residual vanishes, its rows span the same space."""
    both = plant(LOOPS.replace("EQUALITY", EQUALITIES[name]))
    mech, rng = both.mech, np.random.default_rng(5)
    start = mech.integrate(np.array(mech.default.q), rng.uniform(-0.3, 0.3, mech.nv))
    found = mech.assemble(start)
    assert found.success, found.message
    there = terms(both, found.q, np.zeros(mech.nv))
    np.testing.assert_allclose(there.phi, 0.0, atol=1e-10)
    J = mech.terms(found.q, np.zeros(mech.nv)).J
    np.testing.assert_allclose(row_space(J), row_space(there.J @ there.T), atol=1e-9)


@pytest.mark.parametrize("name", ["gripper", "leg"])
def test_loops_of_real_grippers_and_legs(name: str) -> None:
    both = plant(SOURCES[name])
    there = terms(both, np.array(both.mech.default.q), np.zeros(both.mech.nv))
    np.testing.assert_allclose(there.phi, 0.0, atol=1e-10)
    J = both.mech.terms(both.mech.default.q, both.mech.default.v).J
    np.testing.assert_allclose(row_space(J), row_space(there.J @ there.T), atol=1e-9)

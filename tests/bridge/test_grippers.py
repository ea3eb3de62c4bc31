"""Grippers whose one motor pulls at a tendon: mobility, actuators, and a controller on the MuJoCo plant."""

from __future__ import annotations

import os
import runpy
import warnings
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest

import sarrus as sr

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "grippers_close.py"
TENDON = """<tendon><fixed name="split"><joint joint="right_drive" coef="0.5"/>
  <joint joint="left_drive" coef="0.5"/></fixed></tendon>
  <actuator><general name="fingers" tendon="split" forcerange="-5 5" ctrlrange="0 255"
  gainprm="0.3" biastype="affine" biasprm="0 -100 -10"/></actuator><sensor>"""
SLIDES = """<mujoco><option gravity="0 0 -9.81"/>
  <default><joint type="slide" axis="0 1 0" range="0 0.04" damping="1" armature="0.1"/>
  <geom type="box" size="0.01 0.005 0.02" contype="0" conaffinity="0"/></default>
  <worldbody><body name="hand"><geom pos="0 0 -0.03"/>
  <body name="left" pos="0 0.01 0.05"><joint name="finger1"/><geom/></body>
  <body name="right" pos="0 -0.01 0.05" quat="0 0 0 1"><joint name="finger2"/><geom/></body>
  </body></worldbody>
  <equality><joint joint1="finger1" joint2="finger2" solref="0.005 1"/></equality>
  <tendon><fixed name="split"><joint joint="finger1" coef="0.5"/><joint joint="finger2" coef="0.5"/></fixed>
  </tendon><actuator><general name="hand" tendon="split" forcerange="-100 100" ctrlrange="0 255"
  gainprm="0.0157" biastype="affine" biasprm="0 -100 -10"/></actuator></mujoco>"""
CHANGES = {  # in gripper.xml: parallelograms while the couplers are at zero, where springs press them
    'range="-90 30"': 'range="-90 0" armature="0.001" solreflimit="0.004 1"',
    'springref="4"': 'springref="150"',
    '<geom type="capsule"': '<geom contype="0" conaffinity="0" type="capsule"',
    'fromto="0 0 0 0.032 0 0.040"': 'fromto="0 0 0 0.032 0 0.062"',
    'pos="0.032 0 0.040"': 'pos="0.032 0 0.062"',
    'pos="0.020 0 0.012"': 'pos="0.017 0 -0.005"',
    "<site size": '<equality solref="0.004 1"/><site size',
}


def linkage_gripper() -> str:
    """Two fingers of four links with one motor on a tendon, as in a Robotiq 2F-85."""
    text = (ROOT / "tests" / "data" / "gripper.xml").read_text(encoding="utf-8")
    for old, new in CHANGES.items():
        assert old in text
        text = text.replace(old, new)
    start, end = text.index("<actuator>"), text.index("<sensor>") + len("<sensor>")
    return text[:start] + TENDON + text[end:]


def example() -> dict[str, Any]:
    return runpy.run_path(str(EXAMPLE))


@pytest.mark.parametrize(
    ("text", "fingers", "reach", "mobility"),
    [
        (linkage_gripper(), ("right_drive", "left_drive"), 0.6, (3, 1)),
        (SLIDES, ("finger1", "finger2"), 0.03, (1, 1)),
    ],
    ids=["linkage", "slides"],
)
def test_one_motor_moves_both_fingers_in_mujoco(
    text: str, fingers: tuple[str, str], reach: float, mobility: tuple[int, int], tmp_path: Path
) -> None:
    file = tmp_path / "gripper.xml"
    file.write_text(text, encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.SarrusWarning)
        found = example()["close"](file, fingers, reach)
    assert found.mobility == mobility and found.motors == ("split",)
    assert found.error < 1e-2 * reach  # stops and loops of the plant are soft: couplers give by 3 mrad
    assert found.signals[0] >= 0.0 and found.signals[1] <= 255.0


def test_the_force_of_the_tendon_is_our_input() -> None:
    """u is the tension; MuJoCo's servo makes it, and shares it between the fingers."""
    text = linkage_gripper()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.SarrusWarning)
        mech = sr.load(text)
    plant = sr.bridge.mujoco(mech, mujoco.MjModel.from_xml_string(text))
    data = mujoco.MjData(plant.model)
    q, v = mech.project(mech.sweep("right_drive", [0.3]).q[0], 0.1 * np.ones(mech.nv))
    for u in (-4.0, 0.0, 3.0):
        plant.to_mujoco(data, q, v)
        data.ctrl[:] = plant.to_ctrl([u], q, v)
        mujoco.mj_forward(plant.model, data)
        assert data.actuator_force[0] == pytest.approx(u, abs=1e-11)
        drives = [plant.model.joint(f"{side}_drive").dofadr[0] for side in ("right", "left")]
        np.testing.assert_allclose(data.qfrc_actuator[drives], 0.5 * u, atol=1e-11)


@pytest.mark.slow
def test_grippers_of_the_menagerie() -> None:
    """SARRUS_MENAGERIE: folder of MuJoCo Menagerie."""
    folder, script = Path(os.environ.get("SARRUS_MENAGERIE", "")), example()
    expected = {"Robotiq 2F-85": (3, 1), "Panda hand": (1, 1)}
    for name, (file, fingers, reach) in script["GRIPPERS"].items():
        if not (folder / file).is_file():
            pytest.skip("SARRUS_MENAGERIE does not name a folder with the grippers")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", sr.SarrusWarning)
            found = script["close"](folder / file, fingers, reach)
        assert found.mobility == expected[name] and found.motors == ("split",)
        assert found.error < 2e-3 * reach

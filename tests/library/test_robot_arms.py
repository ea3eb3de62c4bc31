"""The embedded arms are those of the published descriptions: forward kinematics and dynamics of Pinocchio."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

import sarrus as sr
from sarrus.library.robot_arms import ARMS, hand_of

FILES = {
    "panda": ("panda_description/urdf/panda.urdf", "panda_link8"),
    "ur5": ("ur_description/urdf/ur5_robot.urdf", "tool0"),
}
LOOSE = {"panda": 1e-12, "ur5": 2e-11}  # the file of the UR5 prints right angles with eleven digits


def without_hand(path: Path, tip: str) -> str:
    """A URDF as text, without everything beyond the flange and beside the arm."""
    robot = ET.parse(path).getroot()
    joints = [joint for joint in robot.findall("joint") if joint.find("parent") is not None]
    beyond = {tip}
    for joint in joints * len(joints):
        if joint.find("parent").get("link") in beyond and joint.find("child").get("link") != tip:  # type: ignore[union-attr]
            beyond.add(joint.find("child").get("link"))  # type: ignore[union-attr,arg-type]
    gone = beyond - {tip}
    for element in [*robot.findall("link"), *robot.findall("transmission"), *robot.findall("gazebo")]:
        if element.tag != "link" or element.get("name") in gone:
            robot.remove(element)
    for joint in joints:
        if joint.find("child").get("link") in gone:  # type: ignore[union-attr]
            robot.remove(joint)
    return ET.tostring(robot, encoding="unicode")


@pytest.mark.parametrize("kind", FILES)
def test_arms_are_those_of_their_descriptions(kind: str) -> None:
    pin = pytest.importorskip("pinocchio")
    file, tip = FILES[kind]
    folders = (p / "share" / "example-robot-data" / "robots" for p in Path(pin.__file__).resolve().parents)
    path = next((folder / file for folder in folders if folder.is_dir()), None)
    if path is None:
        pytest.skip("example-robot-data is not installed")
    model = pin.buildModelFromXML(without_hand(path, tip))
    data, mech, arm = model.createData(), sr.library.robot_arm(kind), ARMS[kind]
    assert model.nv == mech.nv == len(arm.links)
    limits = np.stack([model.lowerPositionLimit, model.upperPositionLimit], axis=1)
    np.testing.assert_allclose(mech.model.limits, limits, atol=LOOSE[kind])
    np.testing.assert_array_equal([link.torque for link in arm.links], model.effortLimit)
    rng = np.random.default_rng(1)
    for _ in range(5):
        q, v, a = rng.uniform(-2.0, 2.0, (3, mech.nv))
        pin.framesForwardKinematics(model, data, q)
        flange = mech.pose(q, mech.body_names[-1]) @ arm.flange
        wanted = data.oMf[model.getFrameId(tip)].homogeneous
        np.testing.assert_allclose(flange.matrix, wanted, atol=LOOSE[kind])
        np.testing.assert_allclose(hand_of(arm, q).matrix, wanted, atol=LOOSE[kind])
        M = np.triu(pin.crba(model, data, q))
        np.testing.assert_allclose(mech.mass_matrix(q), M + np.triu(M, 1).T, atol=10.0 * LOOSE[kind])
        tau = pin.rnea(model, data, q, v, a)
        np.testing.assert_allclose(mech.rnea(q, v, a), tau, atol=1e2 * LOOSE[kind])


def test_the_lwr_is_as_long_as_published() -> None:
    """Stretched upwards the flange is 0.11 + 0.2005 + 3 * 0.2 + 0.19 + 0.078 m above the foot."""
    assert hand_of(ARMS["lwr"], [0.0] * 7).xyz[2] == pytest.approx(1.1785, abs=1e-12)


@pytest.mark.parametrize("arms", [2, 3, 4, ("lwr", "ur5", "panda", "ur5")])
def test_hands_lie_flat_and_feet_stand_upright(arms: int | tuple[str, ...]) -> None:
    """Frame A of each loop points into the box; the first hinges turn about the vertical."""
    mech = sr.library.arms_around_box(arms, size=(0.2, 0.3, 0.4))
    q = mech.default.q
    faces = [(0.0, 0.15, 0.0), (0.0, -0.15, 0.0), (-0.1, 0.0, 0.0), (0.1, 0.0, 0.0)]
    for face, (_, closure) in zip(faces, mech.model.constraints, strict=False):
        np.testing.assert_allclose(closure.at_a.xyz, face, atol=1e-15)
        np.testing.assert_allclose(closure.at_a.rotation[:, 2], -np.sign(face), atol=1e-15)
        hand = mech.pose(q, closure.b) @ closure.at_b
        np.testing.assert_allclose(hand.xyz, np.add(face, (0.0, 0.0, 0.8)), atol=1e-14)
    for name in mech.body_names:
        if name.endswith("_1"):
            np.testing.assert_allclose(mech.pose(q, name).rotation[:, 2], (0.0, 0.0, 1.0), atol=1e-14)
    limits = mech.model.limits[: mech.nv - 6]
    assert np.all((q[:-7] > limits[:, 0]) & (q[:-7] < limits[:, 1]))

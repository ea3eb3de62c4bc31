"""Loops of URDF files: `<constraint>` as proposed for urdfdom, YAML files beside Pinocchio's robots."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

import sarrus as sr
from sarrus.formats.urdf.loops_yaml import loops_text, read_loops

LINK = """<link name="{}"><inertial><origin xyz="0.1 0 0"/><mass value="1"/>
  <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
JOINT = """<joint name="{0}" type="{4}"><parent link="{1}"/><child link="{2}"/><origin xyz="{3}"/>
  <axis xyz="0 1 0"/><limit effort="{5}" velocity="1" lower="-3" upper="3"/></joint>"""
CONSTRAINT = """<constraint name="pin" type="{0}"><parent link="coupler"/><parent_origin xyz="0.3 0 0"/>{1}
  <child link="rocker"/><child_origin xyz="0 0 0.2"/>{2}</constraint>"""


def four_bar(more: str, kind: str = "revolute") -> str:
    """A parallelogram: crank and rocker 0.2 m on the ground, 0.3 m apart; the coupler hangs on the crank."""
    links = "".join(LINK.format(name) for name in ("base", "crank", "coupler", "rocker"))
    joints = JOINT.format("a", "base", "crank", "0 0 0", "revolute", 5)
    joints += JOINT.format("b", "crank", "coupler", "0 0 0.2", kind, 0)
    joints += JOINT.format("c", "base", "rocker", "0.3 0 0", "revolute", 0)
    return f'<robot name="bars">{links}{joints}{more}</robot>'


def load(text: str | Path) -> sr.Mechanism:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.SarrusWarning)
        return sr.load(text)


def is_a_parallelogram(mech: sr.Mechanism) -> bool:
    q = mech.assemble(mech.default.q, fixed={"a": 0.4}).q
    angles = [q[mech.index(name).q][0] for name in ("a", "b", "c")]
    return bool(np.allclose(angles, [0.4, -0.4, 0.4], atol=1e-10))


@pytest.mark.parametrize("kind", ["revolute", "spherical", "Cylindrical"])
def test_constraints_close_loops(kind: str) -> None:
    axis = '<{}_axis xyz="0 {} 0"/>'
    mech = load(four_bar(CONSTRAINT.format(kind, axis.format("parent", 1), axis.format("child", 1))))
    assert mech.nc == {"revolute": 5, "spherical": 3, "Cylindrical": 4}[kind]
    assert is_a_parallelogram(mech) and mech.actuators == ("a",)


def test_axes_in_frames_that_are_turned() -> None:
    """The child's frame is turned by a quarter about x: the axis is -z there."""
    turned = CONSTRAINT.replace('xyz="0 0 0.2"', 'xyz="0 0 0.2" rpy="1.5707963267948966 0 0"')
    axis = '<parent_axis xyz="0 1 0"/>', '<child_axis xyz="0 0 -1"/>'
    assert is_a_parallelogram(load(four_bar(turned.format("revolute", *axis))))


def test_a_universal_joint_has_an_axis_on_either_link() -> None:
    axes = '<parent_axis xyz="0 1 0"/>', '<child_axis xyz="1 0 0"/>'
    mech = load(four_bar(CONSTRAINT.format("universal", *axes)))
    assert mech.nc == 4 and is_a_parallelogram(mech)
    ((_, loop),) = mech.model.constraints
    child = loop.ends()[1].at.rotation @ np.array(loop.joint.primitives()[1].axis)
    np.testing.assert_allclose(np.abs(child), [1.0, 0.0, 0.0], atol=1e-12)


@pytest.mark.parametrize("kind", ["universal", "revolute", "prismatic", "fixed", "helical", "planar"])
def test_constraints_are_written_and_read(kind: str, tmp_path: Path) -> None:
    made = {
        "universal": sr.Universal("x", "y"), "revolute": sr.Revolute("y"), "prismatic": sr.Prismatic("z"),
        "fixed": sr.Fixed(), "helical": sr.Helical("z", 0.01), "planar": sr.Planar("y"),
    }[kind]  # fmt: skip
    spec = sr.MechanismSpec(name="arms")
    for name in ("one", "two"):
        spec.body(name, joint=sr.Free(), mass=1.0, inertia=(0.1, 0.1, 0.1))
    ends = {
        "at_a": sr.Pose((0.1, 0, 0), rpy=(0.1, 0.2, 0.3)),
        "at_b": sr.Pose((0, 0.1, 0), rpy=(0.3, 0.1, 0.2)),
    }
    spec.close("hold", "one", "two", made, **ends)
    mech = spec.compile()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.SarrusWarning)
        path = sr.save(mech, tmp_path / "arms.urdf", loops="constraint")
    assert "<constraint " in path.read_text() and "<loop_joint" not in path.read_text()
    again, rng = load(path), np.random.default_rng(0)
    assert again.nc == mech.nc
    dv = 0.3 * rng.standard_normal(12)
    ours, theirs = (m.terms(m.integrate(m.neutral(), dv), np.zeros(12)) for m in (mech, again))
    rows = [np.linalg.svd(one.J)[2][: mech.nc] for one in (ours, theirs)]
    np.testing.assert_allclose(rows[0].T @ rows[0], rows[1].T @ rows[1], atol=1e-6)  # the same directions
    np.testing.assert_allclose(np.linalg.norm(ours.phi), np.linalg.norm(theirs.phi), atol=1e-6)


def test_wrong_constraints() -> None:
    with pytest.raises(sr.FormatError, match="unknown constraint type 'magnetic'; known types: revolute"):
        load(four_bar(CONSTRAINT.format("magnetic", "", "")))
    with pytest.raises(sr.FormatError, match="the axis must have a direction"):
        load(four_bar(CONSTRAINT.format("revolute", '<parent_axis xyz="0 0 0"/>', "")))
    with pytest.raises(sr.SarrusError, match="unknown link 'rod'"):
        load(four_bar(CONSTRAINT.format("fixed", "", "").replace('"coupler"', '"rod"')))


FRAMES = """<link name="end_A"/><link name="end_B"/>
<joint name="fa" type="fixed"><parent link="coupler"/><child link="end_A"/><origin xyz="0.3 0 0"/></joint>
<joint name="fb" type="fixed"><parent link="rocker"/><child link="end_B"/><origin xyz="0 0 0.2"/></joint>"""


def test_a_yaml_file_beside_it_closes_loops(tmp_path: Path) -> None:
    (tmp_path / "robot.urdf").write_text(four_bar(FRAMES))
    open_ = load(tmp_path / "robot.urdf")
    (tmp_path / "robot.yaml").write_text(
        "closed_loop: [['end_A', \"end_B\"]]  # one\ntype: ['3d']\nname_mot: [c]\n"
        "joint_name: ['b']\njoint_type: ['SPHERICAL']\n"
    )
    mech = load(tmp_path / "robot.urdf")
    assert (open_.nc, mech.nc, mech.nv) == (0, 3, 5) and mech.actuators == ("c",)
    found = mech.assemble(mech.default.q, fixed={"a": 0.4})
    assert found.success and found.q[mech.index("c").q][0] == pytest.approx(0.4, abs=1e-9)


def test_other_yaml_files_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "robot.urdf").write_text(four_bar(""))
    (tmp_path / "robot.yaml").write_text("rate: 100\nnames: {a: 1}\n")
    assert load(tmp_path / "robot.urdf").nc == 0


def test_yaml_files_are_written_and_read(tmp_path: Path) -> None:
    spec = sr.MechanismSpec.from_model(load(four_bar(CONSTRAINT.format("spherical", "", ""))).model)
    mech = spec.compile()
    path = sr.save(mech, tmp_path / "bars.urdf", loops="yaml")
    assert "closed_loop: [['pin_A', 'pin_B']]" in (tmp_path / "bars.yaml").read_text()
    again = load(path)
    assert again.nc == 3 and again.actuators == mech.actuators and is_a_parallelogram(again)
    assert load(sr.save(mech, path)).nc == 3  # loops are in the URDF again, and the YAML file is gone
    assert not (tmp_path / "bars.yaml").exists()
    hinge = load(four_bar(CONSTRAINT.format("revolute", "", "")))
    with pytest.raises(sr.InputError, match=r"knows Fixed \(6d\) and Spherical \(3d\) only"):
        sr.save(hinge, path, loops="yaml")
    with pytest.raises(sr.InputError, match="is for URDF without sidecar"):
        sr.save(mech, tmp_path / "bars.sdf", loops="yaml")


def test_wrong_yaml_files() -> None:
    file = read_loops("closed_loop: [[a, b],\n  [c, d]]\ntype: [6d, 3d]\n", "x.yaml")
    assert file.pairs == (("a", "b"), ("c", "d")) and file.motors is None
    assert read_loops(loops_text(file), "again").pairs == file.pairs
    for text, message in (
        ("closed_loop: [[a, b]]\ntype: [5d]", "type must say 6d or 3d for each of the 1 pairs"),
        ("closed_loop: [a, b]", "must be pairs of links"),
        ("closed_loop: a", "must be one list"),
        ("closed_loop: [[a, b]", "must be one list"),
        ("closed_loop: []\njoint_name: [a]", "must be of one length"),
        ("closed_loop: ['a", "cannot be read at"),
    ):
        with pytest.raises(sr.FormatError, match=message):
            read_loops(text, "x.yaml")

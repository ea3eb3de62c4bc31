"""SDF written by save and read again: loops as joints between existing links, drawn closed."""

from __future__ import annotations

from pathlib import Path

import pytest

import sarrus as sr
from tests.formats.same_motion import motion_gap, reread
from tests.oracles.description import to_spec
from tests.oracles.every_constraint import CLOSING, constrained

# rolling and sums of many angles have no place in SDF
UNSAID = ("rolling_disk", "dual_planar_arms", "cable_robot")
UNSAID += ("hydraulic_lift", "v_belt", "freewheel")  # states of first order: refused by name


@pytest.mark.parametrize("name", [name for name in sr.library.MECHANISMS if name not in UNSAID])
def test_library_moves_the_same(name: str, tmp_path: Path) -> None:
    mech = sr.library.MECHANISMS[name]()
    copy = reread(mech, tmp_path / "robot.sdf")
    assert copy.mobility().dof == mech.mobility().dof
    said = all(isinstance(force, sr.JointSpring | sr.JointDamper) for _, force in mech.model.forces)
    if said:  # other springs and wrenches have no place in SDF either
        assert motion_gap(mech, copy) < 1e-10


@pytest.mark.parametrize("kind", [*CLOSING, "coupling", "point_on_line", "point_on_plane"])
def test_every_joint_and_constraint(kind: str, tmp_path: Path) -> None:
    described = constrained(kind, 0)
    mech = to_spec(described).compile().with_default(described.q)
    moving = [body.name for body in mech.model.bodies[1:] if body.joint.nv]
    nothing = dict.fromkeys(moving, 0.0)
    mech = mech.with_(armature=nothing, damping=nothing, friction=nothing)
    copy = reread(mech, tmp_path / "robot.sdf")
    assert copy.mobility().dof == mech.mobility().dof
    # links between the axes of a joint weigh 1e-14 kg
    assert motion_gap(mech, copy) < 1e-10


def test_coordinates_and_actuators_keep_names_and_zero(tmp_path: Path) -> None:
    mech = sr.library.four_bar()
    copy = reread(mech, tmp_path / "robot.sdf")
    assert copy.names == mech.names and copy.actuators == mech.actuators
    assert copy.default.q == pytest.approx(mech.default.q, abs=1e-12)
    with pytest.raises(sr.FormatError, match=r"strict=True, but .* not written: constraint of type Rolling"):
        sr.save(sr.library.rolling_disk(), tmp_path / "disk.sdf", strict=True)

"""URDF: what each element becomes, what is listed as left out, and what a bad file sounds like."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

import sarrus as sr
from sarrus.formats import FormatError
from sarrus.models.tree.joints import Planar

MASS = '<inertial><origin xyz="0.1 0 0"/><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial>'


def link(name: str, inside: str = MASS) -> str:
    return f'<link name="{name}">{inside}</link>'


def joint(name: str, kind: str, parent: str, child: str, inside: str = "") -> str:
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="0.3 0 0"/>{inside}</joint>'
    )


def robot(*parts: str) -> str:
    return '<robot name="r">\n' + "\n".join(parts) + "\n</robot>"


def quiet(text: str, **options: object) -> sr.Mechanism:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.SarrusWarning)
        return sr.load(text, **options)


BASE = link("base", "")


def test_joint_types_and_properties() -> None:
    stops = """<axis xyz="0 1 0"/><limit lower="-1" upper="2" effort="7" velocity="1"/>
      <dynamics damping="0.3" friction="0.2"/>"""
    mech = quiet(
        robot(
            BASE,
            *(link(x) for x in "abcdef"),
            joint("ja", "revolute", "base", "a", stops),
            joint("jb", "prismatic", "a", "b", '<axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="0"/>'),
            joint("jc", "continuous", "b", "c", '<axis xyz="1 0 0"/>'),
            joint("jd", "planar", "c", "d", '<axis xyz="0 0 1"/>'),
            joint("je", "floating", "base", "e"),
            joint("jf", "fixed", "e", "f"),
        )
    )
    assert mech.names[:6] == ("ja", "jb", "jc", "jd.x", "jd.y", "jd.angle")
    assert mech.names[6] == "je.vx"
    assert isinstance(mech.model.bodies[mech.model.body_index("jd")].joint, Planar)
    body = mech.model.bodies[1:][mech.body_names[1:].index("ja")]
    assert (body.limits, body.damping, body.friction) == (((-1.0, 2.0),), (0.3,), (0.2,))
    assert mech.actuators == ("ja",)  # the only one with an effort
    assert [a.upper for a in mech.model.actuators] == [7.0]
    assert mech.pose(mech.neutral(), "f").xyz[0] == pytest.approx(0.6)


def test_transmissions_say_what_is_actuated() -> None:
    drive = '<transmission name="t"><joint name="jb"/><actuator name="m"/></transmission>'
    text = robot(
        BASE,
        link("a"),
        link("b"),
        joint("ja", "continuous", "base", "a"),
        joint("jb", "continuous", "a", "b"),
        drive,
    )
    mech = quiet(text)
    assert mech.actuators == ("jb",)
    assert mech.passive == ("ja",)


def test_mimic_is_a_coupling_and_not_actuated() -> None:
    follow = '<mimic joint="ja" multiplier="-2" offset="0.1"/>'
    text = robot(
        BASE,
        link("a"),
        link("b"),
        joint("ja", "continuous", "base", "a", '<limit effort="3" velocity="1"/>'),
        joint("jb", "continuous", "base", "b", follow + '<limit effort="3" velocity="1"/>'),
    )
    mech = quiet(text)
    assert mech.actuators == ("ja",)
    q = mech.assemble(fixed={"ja": 0.4}).q
    np.testing.assert_allclose(q, [0.4, -0.7], atol=1e-12)
    constant = quiet(text.replace('"-2"', '"0"'))
    assert constant.default.q[1] == pytest.approx(0.1)


def test_free_root_and_ground() -> None:
    text = robot(link("hull"), link("arm"), joint("hinge", "continuous", "hull", "arm"))
    assert quiet(text).nv == 1
    mech = quiet(text, root="free", gravity=(0, 0, -1.62))
    assert mech.names[0] == "hull.vx"
    assert mech.actuators == ()
    with pytest.warns(sr.SarrusWarning, match="without a transmission or an effort limit and not actuated"):
        sr.load(text)
    np.testing.assert_allclose(mech.model.gravity.ravel(), (0, 0, -1.62))
    on_ground = robot(link("ground", ""), link("arm"), joint("hinge", "continuous", "ground", "arm"))
    assert quiet(on_ground).body_names == ("ground", "hinge", "arm")
    inner = robot(
        link("world", ""),
        link("ground"),
        link("arm"),
        joint("w", "fixed", "world", "ground"),
        joint("hinge", "continuous", "ground", "arm"),
    )
    with pytest.warns(sr.SarrusWarning, match="link 'ground' is called 'ground_link' here"):
        assert "ground_link" in sr.load(inner).body_names


def test_names_that_links_and_joints_share() -> None:
    text = robot(
        BASE,
        link("a"),
        link("b"),
        joint("a", "continuous", "base", "a"),
        joint("base", "continuous", "a", "b"),
    )
    with pytest.warns(sr.SarrusWarning, match="joint 'base' is called 'base_joint' here"):
        mech = sr.load(text)
    assert mech.names == ("a", "base_joint")


def test_one_warning_lists_everything_left_out() -> None:
    shape = '<visual><geometry><mesh filename="a.stl"/></geometry></visual><collision><geometry/></collision>'
    text = robot(
        BASE,
        link("a", MASS + shape),
        joint(
            "ja",
            "revolute",
            "base",
            "a",
            '<limit lower="0" upper="1" effort="1" velocity="3"/><safety_controller k_velocity="1"/>',
        ),
        '<gazebo reference="a"/>',
        '<ros2_control name="system"/>',
    )
    with pytest.warns(sr.SarrusWarning) as caught:
        sr.load(text)
    said = [str(w.message) for w in caught]
    assert said == [
        "text: not modelled: collision (1); gazebo (1); ros2_control ('system'); "
        "velocity limit (1); safety_controller (1)."
    ]


def test_a_missing_mesh_is_a_warning(tmp_path: Path) -> None:
    shape = '<visual><geometry><mesh filename="{}"/></geometry></visual>'
    inside = "".join(shape.format(name) for name in ("there.stl", "gone.stl", "package://nowhere/gone.stl"))
    file = tmp_path / "r.urdf"
    file.write_text(robot(BASE, link("a", MASS + inside), joint("ja", "continuous", "base", "a")))
    (tmp_path / "there.stl").write_text("")
    with pytest.warns(
        sr.SarrusWarning, match=r"mesh file that was not found \('gone.stl', 'package://nowhere/gone.stl'\)"
    ):
        sr.load(file)


def test_a_mesh_of_no_package_lies_beside_the_file(tmp_path: Path) -> None:
    """As exporters of CAD programs write it: package:///arm.stl."""
    shape = '<visual><geometry><mesh filename="package:///meshes/arm.stl"/></geometry></visual>'
    file = tmp_path / "r.urdf"
    file.write_text(robot(BASE, link("a", MASS + shape), joint("ja", "continuous", "base", "a")))
    (tmp_path / "meshes").mkdir()
    (tmp_path / "meshes" / "arm.stl").write_text("solid\n")
    (visual,) = sr.load(file).model.visuals
    assert Path(visual.file) == tmp_path / "meshes" / "arm.stl"


def test_impossible_inertia_of_a_welded_part_is_lumped() -> None:
    bad = '<inertial><mass value="0.1"/><inertia ixx="-0.001" iyy="0.001" izz="0.001"/></inertial>'
    text = robot(
        BASE,
        link("a"),
        link("lid", bad),
        joint("ja", "continuous", "base", "a"),
        joint("w", "fixed", "a", "lid"),
    )
    with pytest.warns(
        sr.SarrusWarning, match="the inertia of 'lid' is not positive semidefinite: lumped into 'a'"
    ):
        mech = sr.load(text)
    # hinge along x: Ixx of both about the axis
    assert mech.mass_matrix([0.0])[0, 0] == pytest.approx(0.1 - 0.001, abs=1e-15)
    alone = robot(BASE, link("a", bad), joint("ja", "continuous", "base", "a"))
    with pytest.raises(FormatError, match="inertia of body 'a' must be positive semidefinite"):
        sr.load(alone)


def test_a_joint_that_moves_nothing_is_kept_and_said() -> None:
    text = robot(
        BASE,
        link("a"),
        link("tip", ""),
        joint("ja", "continuous", "base", "a"),
        joint("jt", "continuous", "a", "tip"),
    )
    with pytest.warns(sr.SarrusWarning, match="joint that moves nothing with mass .* 'jt'|'jt'"):
        mech = sr.load(text)
    assert mech.mass_matrix([0.0, 0.0])[1, 1] == pytest.approx(1e-13)
    assert np.all(np.isfinite(mech.acceleration([0.1, 0.2], [1.0, 1.0], [0.0, 0.0])))


GOOD = joint("ja", "continuous", "base", "a")
BAD = {
    "unknown joint type 'screw'; known types: revolute": robot(
        BASE, link("a"), joint("ja", "screw", "base", "a")
    ),
    "line 3, <link name='a'>: the name is used twice, first in line 2": robot(link("a"), link("a")),
    "line 4, <joint name='ja'>: the name is used twice": robot(link("base"), link("a") + GOOD, GOOD),
    "link 'a' already hangs on joint 'ja': a loop. Cut it": robot(
        BASE, link("a"), GOOD, joint("jb", "fixed", "base", "a")
    ),
    "every link is the child of some joint": robot(BASE, link("a"), GOOD, joint("jb", "fixed", "a", "base")),
    "form a cycle apart from the root: 'b', 'c'": robot(
        BASE,
        link("a"),
        link("b"),
        link("c"),
        GOOD,
        joint("j2", "fixed", "b", "c"),
        joint("j3", "fixed", "c", "b"),
    ),
    "there must be one root link, got 2: 'base', 'b'": robot(BASE, link("a"), link("b"), GOOD),
    "unknown link 'nope'; existing names: 'base', 'a'": robot(
        BASE, link("a"), joint("ja", "fixed", "base", "nope")
    ),
    "<joint name='ja'>: <joint> needs a <child> inside it": robot(
        BASE, '<joint name="ja" type="fixed"><parent link="base"/></joint>'
    ),
    "the attribute 'name' is missing": robot("<link/>"),
    "xyz must be 3 finite numbers, got '0 1'": robot(
        BASE, link("a"), joint("ja", "continuous", "base", "a", '<axis xyz="0 1"/>')
    ),
    "got '0 nan 1'": robot(BASE, link("a"), joint("ja", "continuous", "base", "a", '<axis xyz="0 nan 1"/>')),
    "the axis must have a direction": robot(
        BASE, link("a"), joint("ja", "continuous", "base", "a", '<axis xyz="0 0 0"/>')
    ),
    "value must be one finite number, got 'heavy'": robot(
        BASE, link("a", '<inertial><mass value="heavy"/></inertial>'), GOOD
    ),
    "mass of body 'a' must not be negative": robot(
        BASE, link("a", '<inertial><mass value="-1"/></inertial>'), GOOD
    ),
    "damping of body 'ja' must not be negative": robot(
        BASE, link("a"), joint("ja", "continuous", "base", "a", '<dynamics damping="-1"/>')
    ),
    "lower must not exceed upper, got 1 and 0": robot(
        BASE, link("a"), joint("ja", "revolute", "base", "a", '<limit lower="1" upper="0"/>')
    ),
    "unknown joint 'x'; existing names: 'ja'": robot(
        BASE, link("a"), joint("ja", "continuous", "base", "a", '<mimic joint="x"/>')
    ),
    "a joint cannot mimic itself": robot(
        BASE, link("a"), joint("ja", "continuous", "base", "a", '<mimic joint="ja"/>')
    ),
    "a robot needs at least one <link>": robot(),
    "load it with root='free'": robot(BASE),
    "expand it with the xacro tool": robot("<xacro:include/>"),
    "unknown link 'z'": robot(
        BASE,
        link("a"),
        GOOD,
        '<loop_joint name="l" type="spherical"><link1 link="a"/><link2 link="z"/></loop_joint>',
    ),
    "must join two different bodies|loop between": robot(
        BASE,
        link("a"),
        GOOD,
        '<loop_joint name="l" type="spherical"><link1 link="a"/><link2 link="a"/></loop_joint>',
    ),
    "neither MJCF": "<scene/>",
    r"line 3, column \d+: not well-formed XML \(mismatched tag\)": "<robot>\n<link name='a'>\n</robot>",
    "not well-formed XML .no element found": "<!-- only a comment -->",
    "nested deeper than 200": "<robot>" + "<a>" * 300 + "</a>" * 300 + "</robot>",
}


@pytest.mark.parametrize("reason", BAD)
def test_bad_files_say_where_and_why(reason: str) -> None:
    with pytest.raises(sr.SarrusError, match=reason):
        quiet(BAD[reason])


def test_entities_are_refused_before_they_expand() -> None:
    bomb = '<!DOCTYPE r [<!ENTITY a "ha">' + "".join(
        f'<!ENTITY {chr(98 + k)} "{f"&{chr(97 + k)};" * 10}">' for k in range(12)
    )
    for text in (bomb + "]><robot name='&m;'/>", '<!DOCTYPE r SYSTEM "file:///etc/passwd"><robot/>'):
        with pytest.raises(FormatError, match="document type declaration"):
            sr.load(text)


def test_bad_arguments_of_load(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="cannot be read: Is a directory"):
        sr.load(tmp_path)
    with pytest.raises(FormatError, match="takes the path of a file, or XML or JSON as text, got int"):
        sr.load(3)  # type: ignore[arg-type]
    with pytest.raises(sr.UnknownNameError, match="unknown option for URDF 'roots'; existing names: 'root'"):
        sr.load(robot(BASE), roots="free")
    with pytest.raises(sr.InputError, match="root must be one of 'fixed', 'free', got 'loose'"):
        sr.load(robot(BASE), root="loose")


def test_the_world_needs_no_link() -> None:
    """Drake's way: a joint to "world" without <link name="world"/>; or with one that has a mass."""
    hinge = joint("j", "revolute", "world", "a", '<axis xyz="0 1 0"/>')
    for parts in ((link("a"), hinge), (link("world"), link("a"), hinge)):
        mech = quiet(robot(*parts))
        assert mech.names == ("j",) and mech.model.bodies[1].parent == "ground"
        assert "world" not in mech.body_names


def test_numbers_that_mean_no_limit() -> None:
    """A slider "limited" to 1e9 m had its mass matrix checked out there, and the body it sits on refused."""
    far = '<axis xyz="0 0 1"/><limit lower="-1000000000" upper="1e16" effort="0" velocity="1"/>'
    mech = quiet(robot(BASE, link("a"), link("b"), joint("f", "floating", "base", "a"),
        joint("s", "prismatic", "a", "b", far)))  # fmt: skip
    assert mech.model.limits[-1].tolist() == [-np.inf, np.inf]


def test_rotors_of_drake_are_armature() -> None:
    drive = """<transmission name="t"><joint name="j"/><actuator name="m"><drake:gear_ratio value="50"/>
      <drake:rotor_inertia value="2e-4"/></actuator></transmission><transmission name="u"/>"""
    text = robot(BASE, link("a"), joint("j", "revolute", "base", "a", '<axis xyz="0 1 0"/>'), drive)
    mech = quiet(text.replace("<robot ", '<robot xmlns:drake="d" '))
    assert mech.model.armature.tolist() == [0.5]


@pytest.mark.parametrize(
    ("mass", "ixx", "said"),
    [
        (-1, 1, r"line 4, <inertial>: mass of body 'a' must not be negative, got -1"),
        (
            1,
            -1,
            r"line 4, <inertial>: inertia of body 'a' must be positive semidefinite, got .* -1, 1, 1",
        ),
    ],
)
def test_the_line_of_an_inertia_that_cannot_be(mass: float, ixx: float, said: str) -> None:
    inside = f'\n<inertial><mass value="{mass}"/><inertia ixx="{ixx}" iyy="1" izz="1"/></inertial>'
    with pytest.raises(FormatError, match=said):
        sr.load(robot(BASE, link("a", inside), joint("j", "continuous", "base", "a")))


def test_limits_that_look_like_degrees() -> None:
    stops = '<axis xyz="0 1 0"/><limit lower="-90" upper="90" effort="1" velocity="1"/>'
    with pytest.warns(sr.SarrusWarning, match="a limit of 'j' is 90 rad; if these are degrees"):
        sr.load(robot(BASE, link("a"), joint("j", "revolute", "base", "a", stops)))

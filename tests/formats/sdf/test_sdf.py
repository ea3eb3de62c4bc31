"""SDF: frames, nested and included models, loops of Gazebo and Drake, what bad files sound like."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

import sarrus as sr

MASS = """<inertial><pose>0.1 0.02 0 0.3 0 0</pose><mass>2</mass>
  <inertia><ixx>0.02</ixx><iyy>0.03</iyy><izz>0.04</izz><ixy>0.001</ixy></inertia></inertial>"""


def sdf(body: str, head: str = "<model name='m'>", tail: str = "</model>") -> str:
    return f"<?xml version='1.0'?>\n<sdf version='1.9' xmlns:drake='d'>\n{head}\n{body}\n{tail}\n</sdf>"


def link(name: str, pose: str = "", more: str = MASS) -> str:
    return f"<link name='{name}'>{pose and f'<pose>{pose}</pose>'}{more}</link>"


def joint(name: str, kind: str, parent: str, child: str, more: str = "<axis><xyz>0 1 0</xyz></axis>") -> str:
    ends = f"<parent>{parent}</parent><child>{child}</child>"
    return f"<joint name='{name}' type='{kind}'>{ends}{more}</joint>"


def quiet(text: str | Path, **options: object) -> sr.Mechanism:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.SarrusWarning)
        return sr.load(text, **options)


def test_frames_axes_inertia_and_limits() -> None:
    """The same arm, described by hand."""
    axis = """<axis><xyz expressed_in='__model__'>0 0 1</xyz><limit><lower>-1</lower><upper>2</upper>
      <effort>7</effort></limit><dynamics><damping>0.3</damping><friction>0.2</friction>
      <spring_stiffness>5</spring_stiffness><spring_reference>0.1</spring_reference></dynamics></axis>"""
    text = sdf(
        "<frame name='f' attached_to='a'><pose degrees='true'>0 0.5 0 0 0 90</pose></frame>"
        + link("a", "0 0 1 0 0 0")
        + "<link name='b'><pose relative_to='f'>0.2 0 0 0.4 0 0</pose>"
        + MASS
        + "</link>"
        + joint("ja", "revolute", "world", "a", "<pose>0 0 -0.3 0 0 0</pose>" + axis)
        + joint(
            "jb",
            "prismatic",
            "f",
            "b",
            "<pose relative_to='a'/><axis><xyz>1 0 0</xyz></axis>",
        )
    )
    mech = quiet(text)
    spec = sr.MechanismSpec(gravity=(0, 0, -9.81))
    turned = sr.Pose(rpy=(0.3, 0, 0)).rotation
    I = np.array([[0.02, 0.001, 0], [0.001, 0.03, 0], [0, 0, 0.04]])
    mass = {"mass": 2.0, "com": (0.1, 0.02, 0), "inertia": turned @ I @ turned.T}
    spec.body(
        "ja", joint=sr.Revolute("z"), at=sr.Pose((0, 0, 0.7)), damping=0.3, friction=0.2, limits=(-1, 2)
    )
    spec.body("a", "ja", joint=sr.Fixed(), at=sr.Pose((0, 0, 0.3)), **mass)
    spec.body("jb", "a", joint=sr.Prismatic("x"))
    place = sr.Pose((0, 0.5, 0), rpy=(0, 0, np.pi / 2)) @ sr.Pose((0.2, 0, 0), rpy=(0.4, 0, 0))
    spec.body("b", "jb", joint=sr.Fixed(), at=place, **mass)
    spec.force("spring", sr.JointSpring("ja", 5.0, 0.1))
    expected, q, v = spec.compile(), [0.3, -0.2], [0.5, 0.7]
    assert mech.names == ("ja", "jb") and mech.actuators == ("ja",) and mech.model.actuators[0].upper == 7.0
    np.testing.assert_allclose(mech.mass_matrix(q), expected.mass_matrix(q), atol=1e-14)
    np.testing.assert_allclose(mech.bias(q, v), expected.bias(q, v), atol=1e-13)
    np.testing.assert_allclose(mech.pose(q, "b").matrix, expected.pose(q, "b").matrix, atol=1e-14)
    assert mech.model.bodies[mech.model.body_index("ja")].limits == ((-1.0, 2.0),)


FOUR_BAR = (
    link("crank", "0 0 0 0 0 0") + link("rod", "1 0 0 0 0 0") + link("rocker", "2 0 0 0 1.5707963267948966 0")
    + joint("j1", "revolute", "world", "crank") + joint("j2", "revolute", "crank", "rod")
    + joint("j3", "revolute", "world", "rocker", "<pose>1 0 0 0 0 0</pose><axis><xyz>0 1 0</xyz></axis>")
)  # fmt: skip
GAZEBO = joint("loop", "revolute", "rod", "rocker")
DRAKE = """<drake:ball_constraint><drake:ball_constraint_body_A>rod</drake:ball_constraint_body_A>
  <drake:ball_constraint_p_AP>1 0 0</drake:ball_constraint_p_AP>
  <drake:ball_constraint_body_B>rocker</drake:ball_constraint_body_B>
  <drake:ball_constraint_p_BQ>0 0 0</drake:ball_constraint_p_BQ></drake:ball_constraint>"""


@pytest.mark.parametrize(("loop", "rows"), [(GAZEBO, 5), (DRAKE, 3)])
def test_loops_of_gazebo_and_drake(loop: str, rows: int) -> None:
    mech = quiet(sdf(FOUR_BAR + loop))
    assert mech.nv == 3 and mech.nc == rows and mech.mobility().dof == 1 and mech.mobility().gap < 1e-12
    assert mech.actuators == ()


def test_free_links_static_models_and_gravity() -> None:
    world = "<world name='w'><gravity>0 0 -3.7</gravity><model name='m'><pose>0 0 2 0 0 1</pose>"
    mech = quiet(sdf(link("a", "1 0 0 0 0 0"), world, "</model></world>"))
    assert mech.names[0] == "a.vx" and mech.model.gravity.tolist() == [0, 0, -3.7]
    np.testing.assert_allclose(mech.default.q[:3], [np.cos(1), np.sin(1), 2], atol=1e-15)
    floating = quiet(sdf(link("a", "", MASS + "<gravity>false</gravity>")))
    np.testing.assert_allclose(floating.forward_dynamics(*floating.default).a, 0.0, atol=1e-14)
    with pytest.raises(sr.FormatError, match="has no coordinate"):
        sr.load(sdf("<static>true</static>" + link("a")))


def test_nested_and_included_models(tmp_path: Path) -> None:
    arm = sdf(link("l", "1 0 0 0 0 0") + joint("j", "revolute", "world", "l"), "<model name='arm'>")
    folder = tmp_path / "arm"
    folder.mkdir()
    (folder / "model.sdf").write_text(arm)
    inner = "<model name='inner'><pose>0 0 1 0 0 0</pose>" + link("l", "1 0 0 0 0 0") + "</model>"
    include = (
        "<include><uri>model://arm</uri><name>left</name><pose>0 3 0 0 0 1.5707963267948966</pose></include>"
    )
    hinge = joint("h", "revolute", "base", "inner::l", "<axis><xyz>1 0 0</xyz></axis>")
    (tmp_path / "robot.sdf").write_text(sdf(link("base") + inner + include + hinge))
    mech = quiet(tmp_path / "robot.sdf", packages=tmp_path)
    assert {"base", "inner::l", "left::l"} <= {*mech.body_names} and "left::j" in mech.names
    np.testing.assert_allclose(mech.pose(mech.default.q, "left::l").xyz, [0, 4, 0], atol=1e-15)
    np.testing.assert_allclose(mech.pose(mech.default.q, "inner::l").xyz, [1, 0, 1], atol=1e-15)


def test_screws_universals_mimics_and_shapes() -> None:
    screw = "<axis><xyz>0 0 1</xyz></axis><screw_thread_pitch>0.5</screw_thread_pitch>"
    cross = "<axis><xyz>1 0 0</xyz></axis><axis2><xyz>0 1 0</xyz></axis2>"
    mimic = """<axis><xyz>0 0 1</xyz><mimic joint='s'><multiplier>2</multiplier><offset>0.1</offset>
      <reference>0.3</reference></mimic></axis>"""
    shape = """<visual name='v'><pose>0 0 1 0 0 0</pose><geometry><box><size>1 2 3</size></box></geometry>
      <material><diffuse>1 0 0</diffuse></material></visual>"""
    text = sdf(
        link("a") + link("b", "", MASS + shape) + link("c")
        + joint("s", "screw", "world", "a", screw) + joint("u", "universal", "a", "b", cross)
        + joint("m", "revolute", "world", "c", mimic)
    )  # fmt: skip
    mech = quiet(text)
    assert mech.names == ("s", "u.angle1", "u.angle2", "m")
    np.testing.assert_allclose(mech.pose([2 * np.pi, 0, 0, 0], "a").xyz, [0, 0, 0.5], atol=1e-15)
    q = mech.assemble(fixed={"s": 0.4}).q
    assert q[3] == pytest.approx(2 * (0.4 - 0.3) + 0.1, abs=1e-12)
    assert mech.visuals[0].size == (1, 2, 3) and mech.visuals[0].rgba == (1, 0, 0, 1)


BAD = {
    "no model": ("<sdf version='1.9'/>", "needs a <model>"),
    "no link": (sdf(""), "at least one <link>"),
    "unknown link": (sdf(link("a") + joint("j", "revolute", "world", "x")), r"line 5.*unknown link 'x'"),
    "unknown type": (sdf(link("a") + joint("j", "spring", "world", "a")), "unknown joint type 'spring'"),
    "itself": (sdf(link("a") + joint("j", "revolute", "a", "a")), "joins link 'a' with itself"),
    "twice": (sdf(link("a") + link("a")), "used twice"),
    "circle": (
        sdf("<frame name='f'><pose relative_to='g'/></frame><frame name='g'><pose relative_to='f'/></frame>"
            + "<link name='a'><pose relative_to='f'/>" + MASS + "</link>"), "relative to itself"),
    "numbers": (sdf(link("a", "1 2 3")), "must be 6 finite numbers"),
    "axis": (
        sdf(link("a") + joint("j", "revolute", "world", "a", "<axis><xyz>0 0 0</xyz></axis>")),
        "direction",
    ),
    "include": (sdf("<include><uri>model://nowhere</uri></include>"), "was not found; packages="),
    "inertia": (sdf(link("a", "", "<inertial><mass>-1</mass></inertial>")), "mass of body 'a'"),
    "limits": (sdf(link("a") + joint("j", "revolute", "world", "a",
        "<axis><xyz>0 0 1</xyz><limit><lower>2</lower><upper>1</upper></limit></axis>")), "must not exceed"),
    "child world": (sdf(link("a") + joint("j", "revolute", "a", "world")), "world cannot be the child"),
    "entity": ("<!DOCTYPE x [<!ENTITY a 'b'>]><sdf version='1.9'><model name='m'/></sdf>", "not accepted"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_files(name: str) -> None:
    text, message = BAD[name]
    with pytest.raises(sr.FormatError, match=message):
        sr.load(text)


def test_an_include_of_itself(tmp_path: Path) -> None:
    (tmp_path / "a.sdf").write_text(sdf("<include><uri>model://a.sdf</uri></include>"))
    with pytest.raises(sr.FormatError, match="includes itself"):
        sr.load(tmp_path / "a.sdf")


def test_bushings_are_listed_and_refused_when_strict() -> None:
    text = sdf(link("a") + "<drake:linear_bushing_rpy/>")
    with pytest.raises(sr.FormatError, match="drake:linear_bushing_rpy"):
        sr.load(text, strict=True)


NESTED_FRAMES = """<sdf version="1.9"><model name="m" placement_frame="inner::b"><pose>0 0 5 0 0 0</pose>
<link name="a"><pose>1 0 0 0 0 0</pose></link>
<model name="inner" canonical_link="c"><pose>0 0 1 0 0 0</pose>
<link name="b"/><link name="c"><pose>0 2 0 0 0 0</pose></link><frame name="f"/>
<joint name="bc" type="revolute"><parent>b</parent><child>c</child>
<axis><xyz>0 0 1</xyz></axis></joint></model>
<joint name="whole" type="fixed"><parent>__model__</parent><child>inner::b</child></joint>
<joint name="slide" type="prismatic"><parent>a</parent><child>{}</child><axis><xyz>1 0 0</xyz>
<limit><lower>-inf</lower><upper>inf</upper><effort>inf</effort></limit></axis></joint>
</model></sdf>"""


@pytest.mark.parametrize("child", ["inner", "inner::__model__", "inner::f", "inner::c"])
def test_frames_of_models_belong_to_their_canonical_link(child: str) -> None:
    """A model, its frame and a frame of it stand for its canonical link, here c; `__model__` for link a."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mech = sr.load(NESTED_FRAMES.format(child))
    assert mech.nc == 5  # the slide from a to c makes a loop of a, b, c
    assert mech.model.constraints[0][1].b == "inner::c"
    np.testing.assert_allclose(mech.pose(mech.default.q, "inner::b").xyz, [0.0, 0.0, 5.0], atol=1e-12)
    assert mech.actuators == ("slide",) and np.all(np.isinf(mech.model.limits))


@pytest.mark.parametrize(
    ("version", "axis"),
    [
        ("1.4", "<axis><xyz>0 1 0</xyz></axis>"),
        ("1.6", "<axis><xyz>0 1 0</xyz><use_parent_model_frame>1</use_parent_model_frame></axis>"),
        ("1.9", "<axis><xyz expressed_in='__model__'>0 1 0</xyz></axis>"),
    ],
)
@pytest.mark.parametrize("placed", ["", "<pose>0 0 0 0 0 0.7</pose>"])
def test_axes_in_the_frame_of_the_model(version: str, axis: str, placed: str) -> None:
    """Before SDF 1.5 all axes; the model may itself be turned, then the axis turns with it."""
    text = sdf(placed + link("a", "0 0 1 1.2 0 0.4") + joint("j", "revolute", "world", "a", axis))
    mech = quiet(text.replace("version='1.9'", f"version='{version}'"))
    turn = 0.7 if placed else 0.0
    moved = mech.jacobian([0.0], "a")[3:, 0]
    np.testing.assert_allclose(moved, [-np.sin(turn), np.cos(turn), 0.0], atol=1e-15)


def test_axes_of_newer_files_are_in_the_frame_of_the_joint() -> None:
    mech = quiet(sdf(link("a", "0 0 1 1.2 0 0") + joint("j", "revolute", "world", "a")))
    np.testing.assert_allclose(mech.jacobian([0.0], "a")[3:, 0], [0, np.cos(1.2), np.sin(1.2)], atol=1e-15)


def gearbox(reference: str, ratio: float = 3.0) -> str:
    inside = f"""<gearbox_ratio>{ratio}</gearbox_ratio>
      <gearbox_reference_body>{reference}</gearbox_reference_body>
      <axis><xyz>0 1 0</xyz></axis><axis2><xyz>0 -1 0</xyz></axis2>"""
    return joint("box", "gearbox", "rotor", "arm", inside)


def test_gearboxes() -> None:
    """theta_2 = -ratio theta_1, angles of child and parent about axis2 and axis, seen from the reference."""
    tree = link("base") + link("rotor") + link("arm") + joint("g", "fixed", "world", "base")
    tree += joint("r", "revolute", "base", "rotor") + joint("a", "revolute", "base", "arm")
    mech = quiet(sdf(tree + gearbox("base")))
    assert mech.row_names == ("box.gearbox",) and mech.mobility().dof == 1
    q = mech.assemble(fixed={"r": 0.2}).q  # the axis of the child is against that of its joint
    assert q[mech.index("a").q][0] == pytest.approx(3.0 * 0.2, abs=1e-12)
    with pytest.raises(sr.FormatError, match="gearbox whose links do not turn about its reference body"):
        sr.load(sdf(tree + gearbox("arm")), strict=True)


def test_rotors_of_drake_are_armature() -> None:
    rotor = "<axis><xyz>0 1 0</xyz></axis><drake:rotor_inertia>2e-4</drake:rotor_inertia>"
    mech = quiet(sdf(link("a") + joint("j", "revolute", "world", "a", rotor)))
    geared = quiet(sdf(link("a") + joint("j", "revolute", "world", "a",
        rotor + "<drake:gear_ratio>50</drake:gear_ratio>")))  # fmt: skip
    assert mech.model.armature.tolist() == [2e-4] and geared.model.armature.tolist() == [0.5]


def test_what_a_model_contains_besides_is_listed(tmp_path: Path) -> None:
    shape = "<visual name='v'><geometry><mesh><uri>model://m/none.stl</uri></mesh></geometry></visual>"
    stops = "<axis><xyz>0 1 0</xyz><limit><lower>-90</lower><upper>90</upper></limit></axis>"
    text = sdf(
        "<mystery name='x'/>"
        + link("a", "", MASS + "<velocity_decay/>" + shape)
        + joint("j", "revolute", "world", "a", stops)
    )
    (tmp_path / "model.sdf").write_text(text)
    with pytest.warns(sr.SarrusWarning, match="a limit of 'j' is 90 rad; if these are degrees"):
        mech = sr.load(tmp_path / "model.sdf")
    listed = " ".join(mech.omitted)
    assert "mystery ('x')" in listed and "velocity_decay (1)" in listed
    assert "mesh file that was not found ('model://m/none.stl')" in listed


def test_meshes_of_a_model_beside_it(tmp_path: Path) -> None:
    """model://NAME/... is the folder of the model itself, as in Gazebo's database."""
    folder = tmp_path / "m"
    folder.mkdir()
    (folder / "part.stl").write_bytes(b"")
    shape = "<visual name='v'><geometry><mesh><uri>model://m/part.stl</uri></mesh></geometry></visual>"
    (folder / "model.sdf").write_text(sdf(link("a", "", MASS + shape) + joint("j", "revolute", "world", "a")))
    assert Path(quiet(folder / "model.sdf").visuals[0].file).is_file()


@pytest.mark.parametrize(
    ("inertial", "said"),
    [
        ("<mass>-1</mass>", r"line 5, <inertial>: mass of body 'a' must not be negative, got -1"),
        (
            "<inertia><ixx>-1</ixx></inertia>",
            "line 5, <inertial>: inertia of body 'a' must be positive",
        ),
    ],
)
def test_the_line_of_an_inertia_that_cannot_be(inertial: str, said: str) -> None:
    text = link("a", "", f"\n<inertial>{inertial}</inertial>")
    with pytest.raises(sr.FormatError, match=said):
        sr.load(sdf(text + joint("j", "revolute", "world", "a")))

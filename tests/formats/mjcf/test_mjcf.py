"""MJCF: names, actuators, what is listed as left out, real parallel robots, what a bad file sounds like."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

import sarrus as sr
from sarrus.formats import FormatError

DATA = Path(__file__).parents[2] / "data"
BALL = '<geom size="0.1" pos="0.2 0 0"/>'


def model(body: str, rest: str = "", head: str = "") -> str:
    return f"<mujoco>\n{head}<worldbody>\n{body}\n</worldbody>\n{rest}\n</mujoco>"


def quiet(source: str | Path, **options: str) -> sr.Mechanism:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.SarrusWarning)
        return sr.load(source, **options)


def said(source: str | Path) -> str:
    with pytest.warns(sr.SarrusWarning) as caught:
        sr.load(source)
    assert len(caught) == 1
    return str(caught[0].message)


# ---------------------------------------------------------------------- names


def test_joints_name_coordinates_and_bodies_keep_theirs() -> None:
    text = model(
        f'<body name="arm"><joint name="hinge"/>{BALL}<body name="hand"><joint name="hand"/>{BALL}'
        f"<body><joint/>{BALL}</body></body></body>"
    )
    mech = quiet(text)
    assert mech.names == ("hinge", "hand", "body3")
    assert mech.body_names == ("ground", "hinge", "arm", "hand", "body3")


def test_a_joint_off_the_origin_leaves_the_body_where_it_is() -> None:
    mech = quiet(model(f'<body name="arm" pos="1 0 0"><joint pos="0 0.5 0" axis="0 0 1"/>{BALL}</body>'))
    assert mech.names == ("arm_joint",)
    np.testing.assert_allclose(mech.pose([0.0], "arm").xyz, [1, 0, 0])
    np.testing.assert_allclose(mech.pose([np.pi / 2], "arm").xyz, [1.5, 0.5, 0], atol=1e-15)


def test_several_joints_on_one_body() -> None:
    slides = '<joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/>'
    mech = quiet(model(f'<body name="cart">{slides}<joint name="yaw"/>{BALL}</body>'))
    assert mech.names == ("cart_joint1", "cart_joint2", "yaw")
    assert mech.body_names[-1] == "cart"


# ---------------------------------------------------------------------- actuators


def test_actuators_say_what_is_driven_and_how_hard() -> None:
    force = 'actuatorfrcrange="-9 9" actuatorfrclimited'
    bodies = [
        f'<body name="b{k}"><joint name="j{k}" {force}="{"true" if k == 1 else "false"}"/>{BALL}</body>'
        for k in range(4)
    ]
    text = model(
        "".join(bodies),
        """<actuator>
             <motor joint="j2" gear="-2" ctrllimited="true" ctrlrange="-1 3"/>
             <motor joint="j1" gear="5" ctrllimited="true" ctrlrange="-1 3"/>
             <motor joint="j0"/>
             <position joint="j3" kp="4" forcelimited="true" forcerange="-2 2"/>
           </actuator>""",
    )
    mech = quiet(text)
    assert mech.actuators == ("j2", "j1", "j0", "j3")
    ranges = [(a.lower, a.upper) for a in mech.model.actuators]
    assert ranges == [(-6.0, 2.0), (-5.0, 9.0), (-np.inf, np.inf), (-2.0, 2.0)]
    laws = [mech.laws[name][0] for name in mech.actuators]
    assert [law.gear for law in laws] == [-2.0, 5.0, 1.0, 1.0]
    assert [law.ctrl_limits for law in laws] == [(-1.0, 3.0), (-1.0, 3.0), None, None]
    assert laws[3].gain == 4.0 and laws[3].bias == (0.0, -4.0, 0.0) and laws[3].force_limits == (-2.0, 2.0)
    assert "actuator" not in said(text)


def test_a_file_without_actuators_has_none_and_says_so() -> None:
    text = model(f'<body name="b"><joint name="j"/>{BALL}</body>')
    assert quiet(text).nu == 0
    assert "it has no actuators; spec.actuate(...) of load_spec declares them" in said(text)


def test_actuators_that_drive_no_coordinate_are_listed() -> None:
    body = f'<body name="b"><joint name="j" type="ball"/>{BALL}</body>'
    text = model(body, '<actuator><motor name="spin" joint="j" gear="0 1 1"/></actuator>')
    assert quiet(text).nu == 0
    assert "actuator that does not act on one hinge, slide or fixed tendon ('spin')" in said(text)


# ---------------------------------------------------------------------- what is left out


def test_one_warning_lists_everything_left_out() -> None:
    text = model(
        f'<body name="b"><joint name="j" type="ball" limited="true" range="0 1"/>{BALL}<camera name="eye"/>'
        f'<site name="s"/></body><body name="m" mocap="true"/><body name="c"><joint name="k"/>{BALL}</body>',
        """<equality><joint joint1="k" joint2="k2" polycoef="0 1 0.5 0 0"/>
             <connect body1="b" anchor="0 0 1" active="false"/></equality>
           <keyframe><key name="home" qpos="1 0 0 0 0.1 0"/></keyframe>
           <sensor><velocimeter site="s"/></sensor>""",
        '<option density="1.2"/>',
    ).replace("</worldbody>", f'<body name="d"><joint name="k2"/>{BALL}</body></worldbody>')
    text = said(text)
    for part in (
        "limit of a ball joint ('j')",
        "inactive equality constraint",
        "contact of geoms (3)",
        "keyframe (1)",
        "sensor (1)",
        "camera (1)",
        "mocap body (fixed where it is) (1)",
        "forces of the surrounding fluid",
    ):
        assert part in text, text


def test_disabled_parts_are_off() -> None:
    text = model(
        f'<body name="b"><joint name="j"/>{BALL}</body>',
        '<equality><joint joint1="j" polycoef="1 0 0 0 0"/></equality>',
        '<option><flag gravity="disable" equality="disable"/></option>',
    )
    mech = quiet(text)
    assert mech.nc == 0
    np.testing.assert_allclose(mech.model.gravity, 0.0)


def test_connects_that_cannot_be_one_hinge_are_kept_apart() -> None:
    text = model(
        f'<body name="a"><freejoint/>{BALL}<site name="a1"/><site name="a2" pos="0 0 1"/></body>'
        f'<body name="b"><freejoint/>{BALL}<site name="b1"/><site name="b2" pos="0 0 1.1"/></body>',
        '<equality><connect name="x" site1="a1" site2="b1"/><connect site1="a2" site2="b2"/></equality>',
    )
    assert [group.kind for group in quiet(text).model.groups] == ["Spherical", "Spherical"]
    assert "are kept apart" in said(text)
    hinge = text.replace("1.1", "1.00001")
    assert [group.kind for group in quiet(hinge).model.groups] == ["Revolute"]
    assert "fit each other to 1.0e-05" in said(hinge)


def test_a_keyframe_may_be_the_rest_pose() -> None:
    text = model(
        f'<body name="a"><joint name="j"/>{BALL}</body><body name="b"><freejoint name="f"/>{BALL}</body>',
        '<keyframe><key name="home" qpos="0.3 1 2 3 0.6 0.8 0 0"/></keyframe>',
    )
    assert "keyframe (1)" in said(text)
    mech = quiet(text, keyframe="home")
    assert not any("keyframe" in one for one in mech.omitted)  # it is there
    np.testing.assert_allclose(mech.default.q, [0.3, 1, 2, 3, 0.8, 0, 0, 0.6], atol=1e-15)
    with pytest.raises(FormatError, match="unknown keyframe 'hme'; existing names: 'home'"):
        sr.load(text, keyframe="hme")


# ---------------------------------------------------------------------- real parallel robots


def test_adaptive_gripper() -> None:
    mech = quiet(DATA / "gripper.xml")
    rest = mech.terms(mech.neutral(), np.zeros(mech.nv)).phi
    assert np.abs(rest).max() > 3e-3
    m = mech.mobility()
    assert (m.dof, m.rank, m.gruebler) == (3, 5, 1)
    assert m.redundant == ("right_loop.ty", "left_loop.ty")
    assert "Gruebler" in m.explain()
    np.testing.assert_allclose(mech.terms(mech.default.q, mech.default.v).phi, 0.0, atol=1e-15)
    assert np.abs(mech.default.q).max() < 0.2
    closed = mech.assemble(fixed={"right_drive": 0.4})
    assert closed.success
    assert closed.q[mech.names.index("left_drive")] == pytest.approx(0.4)


def test_bird_leg() -> None:
    mech = quiet(DATA / "leg.xml")
    found = mech.assemble()
    assert found.success
    m = mech.mobility()
    assert (m.dof, m.rank) == (14, 5)
    assert m.redundant == ("toe_loop.ty",)
    assert "achilles.wz" in m.free
    assert mech.default.q[mech.names.index("knee") + 2] == pytest.approx(np.radians(-60), abs=0.1)
    motion = mech.forward_dynamics(mech.default.q, mech.default.v)
    np.testing.assert_allclose(mech.terms(mech.default.q, mech.default.v).J @ motion.a, 0.0, atol=1e-9)


# ---------------------------------------------------------------------- bad files


BAD = {
    r"line 3, column \d+: not well-formed XML": "<mujoco>\n<worldbody>\n</mujoco>",
    "invalid keyword: 'foo'.*line 3": model('<body><joint type="foo"/></body>'),
    "repeated name 'a' in body": model(f'<body name="a">{BALL}</body><body name="a">{BALL}</body>'),
    "axis too small": model(f'<body name="a"><joint axis="0 0 0"/>{BALL}</body>'),
    "mass and inertia of moving bodies": model('<body name="a"><joint/></body>'),
    "stiffness of JointSpring must not be negative": model(
        f'<body name="a"><joint stiffness="-1"/>{BALL}</body>'
    ),
    "damping of body 'a' must not be negative": model(f'<body name="a"><joint damping="-1"/>{BALL}</body>'),
    "Error opening file 'gone.stl'": model("", '<asset><mesh name="m" file="gone.stl"/></asset>'),
    "unrecognized element": model("<bodyy/>"),
    "has no coordinate": model(f'<body name="a">{BALL}</body>'),
    "it makes 1e.09 copies; at most 10000": model('<replicate count="1000000000"><body/></replicate>'),
    "it makes 1e.08 copies": model(
        '<replicate count="10000"><replicate count="10000"><body/></replicate></replicate>'
    ),
    "nrow='99999999' is too large": model(
        "", '<asset><hfield name="h" nrow="99999999" ncol="2" size="1 1 1 1"/></asset>'
    ),
    "nkey='9000000' is too large; at most 2000": '<mujoco><size nkey="9000000"/></mujoco>',
    "nuser_body='100000' is too large": '<mujoco><size nuser_body="100000"/></mujoco>',
    "width='99999' times height='99999' is too large": model(
        "", '<asset><texture name="t" type="2d" builtin="flat" width="99999" height="99999"/></asset>'
    ),
    "document type declaration": '<!DOCTYPE m [<!ENTITY a "b">]><mujoco/>',
}


def test_refusals_keep_their_own_words(tmp_path: Path) -> None:
    for text in ('<!DOCTYPE m [<!ENTITY a "b">]><mujoco/>', "<mujoco>" + "<a>" * 300):
        with pytest.raises(FormatError) as refused:
            sr.load(text)
        assert "decoded" not in str(refused.value) and str(refused.value).count("text") == 1
    for wrong in (tmp_path, "/dev/zero"):
        with pytest.raises(FormatError, match="cannot be read"):
            sr.load(wrong)


@pytest.mark.parametrize("reason", BAD)
def test_bad_files_say_where_and_why(reason: str) -> None:
    with pytest.raises(FormatError, match=reason):
        quiet(BAD[reason])


def test_includes_are_followed_and_bad_ones_refused(tmp_path: Path) -> None:
    main = tmp_path / "main.xml"
    main.write_text(model('<include file="arm.xml"/>'))
    with pytest.raises(FormatError, match=r"arm\.xml"):
        sr.load(main)
    (tmp_path / "arm.xml").write_text(
        f'<mujocoinclude><body name="arm"><joint/>{BALL}</body></mujocoinclude>'
    )
    assert quiet(main).names == ("arm",)
    (tmp_path / "arm.xml").write_text('<mujocoinclude><replicate count="99999"/></mujocoinclude>')
    with pytest.raises(FormatError, match=r"arm\.xml, line 1, <replicate>"):
        sr.load(main)
    (tmp_path / "arm.xml").write_text('<mujocoinclude><include file="arm.xml"/></mujocoinclude>')
    with pytest.raises(FormatError, match=r"the include of 'arm\.xml' is repeated"):
        sr.load(main)


def test_without_mujoco_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "mujoco", None)
    with pytest.raises(FormatError, match=r"pip install 'sarrus\[mujoco\]'"):
        sr.load(model(f'<body name="a"><joint/>{BALL}</body>'))


def test_what_mujoco_mutters_is_part_of_the_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    text = said(model(f'<body name="a"><joint/>{BALL}</body>', '<statistic meansize="nan"/>'))
    assert "MuJoCo: XML contains a 'NaN'" in text
    assert not list(tmp_path.iterdir())
    assert "NaN" not in capfd.readouterr().err

"""Files of others open nothing outside of their folder, unless the caller says so."""

from __future__ import annotations

from pathlib import Path

import pytest

import sarrus as sr

BODY = '<worldbody><body name="{0}"><joint name="{0}"/><geom size="0.1"/></body></worldbody>'
ARM = "<mujoco>" + BODY.format("arm") + "{}</mujoco>"
SQUARE = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
STAGE = """#usda 1.0
def Xform "arm" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]{})
{{
    float physics:mass = 1
    float3 physics:diagonalInertia = (1, 1, 1)
}}
"""


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """A folder with parts inside, and one with a secret beside it."""
    inside, outside = tmp_path / "robot", tmp_path / "secret"
    for folder in (inside / "parts", outside):
        folder.mkdir(parents=True)
        (folder / "more.xml").write_text("<mujoco>" + BODY.format("leg") + "</mujoco>")
        (folder / "box.obj").write_text(SQUARE)
        (folder / "more.usda").write_text(STAGE.format("").replace('"arm"', '"leg"'))
    return inside, outside


def mjcf(kind: str, folder: str) -> str:
    return {
        "include": f'<include file="{folder}/more.xml"/>',
        "mesh": f'<asset><mesh name="m" file="{folder}/box.obj"/></asset>',
        "meshdir": f'<compiler meshdir="{folder}"/><asset><mesh name="m" file="box.obj"/></asset>',
        "dots": f'<compiler meshdir="{folder}/../{Path(folder).name}"/><asset><mesh file="box.obj"/></asset>',
        "nested": f'<include file="nested.xml"/><!-- {folder} -->',
    }[kind]


@pytest.mark.parametrize("kind", ["include", "mesh", "meshdir", "dots", "nested"])
@pytest.mark.parametrize("way", ["absolute", "relative"])
def test_mjcf(folders: tuple[Path, Path], kind: str, way: str) -> None:
    inside, outside = folders
    file = inside / "arm.xml"
    names = {True: "parts", False: str(outside) if way == "absolute" else "../secret"}
    for within, name in names.items():
        (inside / "nested.xml").write_text("<mujoco>" + mjcf("mesh", name) + "</mujoco>")
        file.write_text(ARM.format(mjcf(kind, name)))
        if within:
            assert sr.load(file).nv >= 1
            continue
        with pytest.raises(sr.SarrusError, match="outside of the folder of the file"):
            sr.load(file)
        with pytest.raises(sr.SarrusError, match="outside of the folder of the file"):
            sr.load(file, outside=inside / "parts")
        for allowed in (True, outside, [outside]):
            assert sr.load(file, outside=allowed).nv == (2 if kind == "include" else 1)


def test_text_refers_to_the_current_folder(
    folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    inside, outside = folders
    monkeypatch.chdir(inside)
    with pytest.raises(sr.SarrusError, match="outside of the folder"):
        sr.load(ARM.format(mjcf("mesh", str(outside))))


@pytest.mark.parametrize("arc", ["references", "payload"])
@pytest.mark.parametrize("way", ["absolute", "relative"])
def test_usd(folders: tuple[Path, Path], arc: str, way: str) -> None:
    pytest.importorskip("pxr")
    inside, outside = folders
    file = inside / "arm.usda"
    file.write_text(STAGE.format(f"\n prepend {arc} = @./parts/more.usda@</leg>"))
    assert sr.load(file).nv == 6
    there = str(outside) if way == "absolute" else "../secret"
    other = inside / "other.usda"
    other.write_text(STAGE.format(f"\n prepend {arc} = @{there}/more.usda@</leg>"))
    with pytest.raises(sr.SarrusError, match="outside of the folder"):
        sr.load(other)
    assert sr.load(other, outside=True).nv == sr.load(other, outside=outside).nv == 6
    through = inside / "through.usda"  # a sublayer that refers to what is outside
    through.write_text("#usda 1.0\n(subLayers = [@./other.usda@])\n")
    with pytest.raises(sr.SarrusError, match="outside of the folder"):
        sr.load(through)


LINKS = """<robot name="r"><link name="a"/><link name="b"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><mesh filename="{}"/></geometry></collision></link>
<joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint></robot>"""
MODEL = "<sdf version='1.9'><model name='m'><link name='{}'/>{}</model></sdf>"


@pytest.mark.parametrize("name", ["{outside}/box.obj", "../secret/box.obj", "package://secret/box.obj"])
def test_meshes_of_a_urdf(folders: tuple[Path, Path], name: str) -> None:
    inside, outside = folders
    file = inside / "robot.urdf"
    file.write_text(LINKS.format(name.format(outside=outside)))
    with pytest.warns(sr.SarrusWarning, match=r"mesh file outside of the folder of the file \(outside=True"):
        assert not sr.load(file, contacts=True).model.surfaces
    for allowed in ({"outside": True}, {"outside": outside}, {"packages": [outside, outside.parent]}):
        assert len(sr.load(file, contacts=True, **allowed).model.surfaces) == 1


def test_meshes_of_packages(folders: tuple[Path, Path]) -> None:
    """One that holds the file, and one that says to be one; not through dots."""
    inside, outside = folders
    file = inside / "urdf" / "robot.urdf"
    file.parent.mkdir()
    file.write_text(LINKS.format("package://robot/parts/box.obj"))
    assert len(sr.load(file, contacts=True).model.surfaces) == 1
    file.write_text(LINKS.format("../parts/box.obj"))
    assert not sr.load(file, contacts=True).model.surfaces
    (inside / "package.xml").write_text("<package/>")
    assert len(sr.load(file, contacts=True).model.surfaces) == 1
    file.write_text(LINKS.format("package://robot/../secret/box.obj"))
    assert not sr.load(file, contacts=True).model.surfaces
    file.write_text(LINKS.format("package://secret/box.obj"))
    assert not sr.load(file, contacts=True).model.surfaces
    (outside / "package.xml").write_text("<package/>")
    assert len(sr.load(file, contacts=True).model.surfaces) == 1


@pytest.mark.parametrize("uri", ["{outside}/model.sdf", "../secret/model.sdf", "file://{outside}/model.sdf"])
def test_includes_of_sdf(folders: tuple[Path, Path], uri: str) -> None:
    inside, outside = folders
    (outside / "model.sdf").write_text(MODEL.format("hidden", ""))
    include = f"<include><uri>{uri.format(outside=outside)}</uri></include>"
    file = inside / "robot.sdf"
    file.write_text(MODEL.format("a", include))
    with pytest.raises(sr.FormatError, match="outside of the folder of the file"):
        sr.load(file)
    for allowed in ({"outside": True}, {"outside": [outside]}, {"packages": outside}):
        assert sr.load(file, **allowed).nv == 12


def test_models_beside_a_model(folders: tuple[Path, Path]) -> None:
    """model://NAME is a model of Gazebo, in the folder of models, where it has a model.config."""
    inside, outside = folders
    (outside / "model.sdf").write_text(MODEL.format("hidden", ""))
    file = inside / "model.sdf"
    file.write_text(MODEL.format("a", "<include><uri>model://secret</uri></include>"))
    with pytest.raises(sr.FormatError, match="outside of the folder of the file"):
        sr.load(file)
    (outside / "model.config").write_text("<model/>")
    assert sr.load(file).nv == 12

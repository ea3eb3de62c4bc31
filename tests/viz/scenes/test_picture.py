"""Pictures of machines: shapes as declared or in files, layers, cylinders, wheels; nothing is cropped."""

from __future__ import annotations

import itertools
import warnings
from pathlib import Path

import numpy as np
import pytest

import sarrus as sr
from sarrus.viz.scenes.scene import Scene
from sarrus.viz.scenes.solids import Solid

MASS = {"mass": 1.0, "inertia": (0.1, 0.1, 0.1)}
TETRAHEDRON = """v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"""


def scene_of(mech: sr.Mechanism) -> Scene:
    return Scene(mech, np.atleast_2d(mech.default.q))


def named(scene: Scene, name: str) -> list[Solid]:
    return [solid for solid in scene.solids if solid.name == name]


def extent(scene: Scene, name: str) -> np.ndarray:
    """Edges of the box around the solids of a name, in the world (3,)."""
    surfaces, chosen = scene.painted(), [k for k, s in enumerate(scene.solids) if s.name == name]
    return np.ptp(surfaces.points[np.isin(surfaces.number, chosen)].reshape(-1, 3), axis=0)


@pytest.mark.parametrize("name", sr.library.MECHANISMS)
def test_nothing_is_cropped(name: str) -> None:
    """The rim of a small picture is empty, its inside is not."""
    pixels = sr.viz.picture(sr.library.MECHANISMS[name](), size=(96, 72), background=None, ground=False)
    seen = pixels[..., 3] > 0
    assert not (seen[0].any() or seen[-1].any() or seen[:, 0].any() or seen[:, -1].any())
    rows, columns = np.nonzero(seen)
    assert np.ptp(rows) > 0.8 * 72 or np.ptp(columns) > 0.8 * 96


def test_parts_look_like_their_shapes(tmp_path: Path) -> None:
    (tmp_path / "t.obj").write_text(TETRAHEDRON)
    shapes = {
        "box": (sr.Box((1, 2, 3)), (1, 2, 3)),
        "cylinder": (sr.Cylinder(0.5, 2), (1, 1, 2)),
        "tube": (sr.Tube(0.5, 0.4, 2), (1, 1, 2)),
        "ball": (sr.Sphere(0.5), (1, 1, 1)),
        "plate": (sr.Plate([(0, 0), (3, 0), (3, 1)], 0.1), (3, 1, 0.1)),
        "mesh": (sr.Mesh(tmp_path / "t.obj", 0.5, at=sr.Pose((1, 0, 0))), (0.5, 0.5, 0.5)),
    }
    spec = sr.MechanismSpec()
    for name, (shape, _) in shapes.items():
        spec.part(name, shape=shape).joint(f"{name}_pin", "ground", name, sr.Revolute("z"), at=(0, 0, 0))
    mech = spec.compile()
    again = sr.MechanismSpec.from_dict(sr.MechanismSpec.from_model(mech.model).to_dict()).compile()
    for one in (mech, again):
        scene = scene_of(one)
        for name, (_, edges) in shapes.items():
            np.testing.assert_allclose(extent(scene, name), edges, rtol=0.02)  # circles have corners


def test_shapes_follow_parameters() -> None:
    spec = sr.MechanismSpec()
    wide = spec.parameter("wide", 1.0)
    spec.part("box", shape=sr.Box((wide, 1, 1))).joint("pin", "ground", "box", sr.Revolute("z"), at=(0, 0, 0))
    assert extent(scene_of(spec.compile().with_(wide=3.0)), "box")[0] == pytest.approx(3.0)


@pytest.mark.parametrize("ending", ["xml", "urdf", "sdf"])
def test_files_keep_shapes_and_meshes(ending: str, tmp_path: Path) -> None:
    """Written and read again, they look the same; plates and tubes become boxes and cylinders."""
    if ending == "xml":
        pytest.importorskip("mujoco")
    (tmp_path / "t.obj").write_text(TETRAHEDRON)
    spec = sr.MechanismSpec()
    spec.part("arm", shape=[sr.Box((1, 0.2, 0.2), at=sr.Pose((0.5, 0, 0))), sr.Tube(0.2, 0.1, 0.4)])
    spec.part("tool", at=sr.Pose((1, 0, 0)), shape=sr.Plate([(0, 0), (1, 0), (1, 0.5), (0, 0.5)], 0.1))
    spec.part("tip", at=sr.Pose((2, 0, 0)), shape=sr.Mesh(tmp_path / "t.obj"))
    for a, b, x in (("ground", "arm", 0), ("arm", "tool", 1), ("tool", "tip", 2)):
        spec.joint(f"{b}_pin", a, b, sr.Revolute("y"), at=(x, 0, 0))
    mech = spec.compile()
    read = sr.load(sr.save(mech, tmp_path / f"robot.{ending}"))
    before, after = scene_of(mech), scene_of(read)
    assert len(read.visuals) == len(mech.visuals) == 4
    np.testing.assert_allclose(after.low, before.low, atol=0.02)
    np.testing.assert_allclose(after.high, before.high, atol=0.02)


def test_a_mesh_that_is_missing_warns_and_the_body_is_drawn_by_itself() -> None:
    spec = sr.MechanismSpec()
    spec.body("arm", joint=sr.Revolute("z"), com=(1, 0, 0), **MASS)
    spec.visuals.append(sr.Visual("arm", "mesh", (1, 1, 1), file="nowhere.stl"))
    with pytest.warns(sr.SarrusWarning, match=r"leave out a shape of body 'arm'.*nowhere.stl"):
        scene = scene_of(spec.compile())
    assert named(scene, "arm")
    spec.visuals.append(sr.Visual("arn", "sphere", (1,)))
    with pytest.raises(sr.SarrusError, match="unknown body 'arn'"):
        scene_of(spec.compile())


def test_links_of_plane_mechanisms_lie_in_layers() -> None:
    """Bodies that overlap in the plane have different heights, so nothing flickers; pins go through."""
    scene = scene_of(sr.library.four_bar())
    heights = {}
    for name in ("crank", "coupler", "rocker"):
        link, *_ = (solid for solid in named(scene, name) if solid.kind == "mesh")
        z = link.surface().points[:, 2]
        heights[name] = z.min(), z.max()
    for a, b in (("crank", "coupler"), ("coupler", "rocker")):
        (low, high), (other_low, other_high) = heights[a], heights[b]
        assert high <= other_low or other_high <= low
    (pin,) = (solid for solid in named(scene, "coupler") if solid.kind == "drum")
    z = pin.surface().points[:, 2]
    assert z.min() < min(heights["crank"][0], heights["coupler"][0])
    assert z.max() > max(heights["crank"][1], heights["coupler"][1])


@pytest.mark.parametrize("name", ["loader", "stewart", "excavator"])
def test_cylinders_are_barrels_and_rods(name: str) -> None:
    """No block sits on an eye, and rods stay in their barrels and out of the far ends, all along a motion."""
    scene = scene_of(sr.library.MECHANISMS[name]())
    assert not any(solid.kind == "box" for solid in scene.solids)
    rods = [solid for solid in scene.solids if solid.kind == "drum" and solid.color == "#8c959e"]
    assert len(rods) == {"loader": 2, "stewart": 6, "excavator": 3}[name]


def test_wheels_and_weights() -> None:
    spec = sr.MechanismSpec()
    spec.body("wheel", joint=sr.Revolute("y"), mass=2.0, inertia=(0.05, 0.09, 0.05))
    spec.body("bob", "wheel", joint=sr.Revolute("y"), at=sr.Pose((0, 0, -1)), com=(0, 0, -1), mass=1.0)
    scene = scene_of(spec.compile())
    assert [solid.kind for solid in named(scene, "bob")].count("ball") == 1
    single = sr.MechanismSpec().body("wheel", joint=sr.Revolute("y"), mass=2.0, inertia=(0.05, 0.09, 0.05))
    edges = sorted(extent(scene_of(single.compile()), "wheel"))
    assert edges[2] == pytest.approx(2.0 * 0.3, rel=0.01)  # m r^2 / 2 = 0.09


def test_springs_know_their_numbers_and_loads_their_values() -> None:
    from sarrus.viz.scenes.loads import given_loads

    scene = scene_of(sr.library.double_wishbone())
    (coil,) = (solid for solid in scene.solids if solid.kind == "coil")
    assert coil.spring == (40e3, 0.555)
    (load,) = given_loads(scene.mech, scene.placed)
    assert load.text() == "road: 3500 N" and load.vectors[0].tolist() == [0.0, 0.0, 3500.0]


def test_a_run_is_seen_at_any_time_in_one_frame(fall: sr.Trajectory) -> None:
    first, last = (sr.viz.picture(fall, t=t, size=(80, 60)) for t in (0.0, 0.8))
    assert np.any(first != last)
    mech = fall.system
    np.testing.assert_array_equal(last, sr.viz.picture(fall, size=(80, 60)))
    assert sr.viz.picture(mech, size=(80, 60), background="dark").mean() < 100


def test_no_display_and_no_matplotlib_is_needed(tmp_path: Path) -> None:
    import subprocess
    import sys

    code = (
        "import sys; sys.modules['matplotlib'] = sys.modules['PIL'] = None; import sarrus as sr;"
        "print(sr.viz.picture(sr.library.bricard(), 'x.png', size=(80, 60)).name)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout == "x.png\n" and (tmp_path / "x.png").read_bytes()[:4] == b"\x89PNG"


def test_names_become_no_markup(tmp_path: Path) -> None:
    name = "</script><img src=x onerror=alert(1)>"
    spec = sr.MechanismSpec(name=name)
    spec.body(name, joint=sr.Revolute("z"), com=(1, 0, 0), **MASS)
    spec.force(f"{name} ", sr.ConstantWrench(name, (1, 0, 0, 0, 0, 1)))
    page = sr.viz.export(spec.compile(), tmp_path / "x.html").read_text()
    assert "<img" not in page and page.count("</script>") == 2


def test_wrong_requests_are_refused(fall: sr.Trajectory, tmp_path: Path) -> None:
    mech = fall.system
    for wrong, message in (
        ({"path": tmp_path / "x.jpg"}, r"written as \.png"),
        ({"size": (0, 10)}, "size must be width and height in pixels"),
        ({"background": "pink"}, "background must be None or one of 'light', 'white', 'dark', got 'pink'"),
        ({"t": 1.0}, "t for a run only"),
    ):
        with pytest.raises(sr.InputError, match=message):
            sr.viz.picture(mech, **wrong)
    with pytest.raises(sr.InputError, match="q for a mechanism only"):
        sr.viz.picture(fall, q=mech.default.q)
    with pytest.raises(sr.InputError, match="size of a plate must be a thickness and three corners or more"):
        sr.Visual("a", "plate", (1.0, 2.0))


def test_pairs_of_bodies_do_not_share_faces() -> None:
    """Over the library: flat links of different bodies whose outlines overlap have different heights."""
    for name in ("peaucellier", "scissor", "jansen_leg", "parallelogram"):
        scene = scene_of(sr.library.MECHANISMS[name]())
        normal = scene.plane.normal
        flat = []
        for k, solid in enumerate(scene.solids):
            if solid.kind == "mesh" and solid.name != "ground":
                b = scene.names.index(solid.body)
                points = scene.surfaces[k].moved(scene.placed.R[0, b], scene.placed.p[0, b]).points
                height = points @ normal
                flat.append((solid.name, height.min(), height.max(), scene.plane.project(points)))
        for (a, low, high, xy), (b, low2, high2, xy2) in itertools.combinations(flat, 2):
            apart = np.any(xy.min(axis=0) > xy2.max(axis=0)) or np.any(xy2.min(axis=0) > xy.max(axis=0))
            pins = [s for s in scene.solids if s.kind == "drum" and s.name in (a, b)]
            if a != b and not apart and pins and _share_a_pin(xy, xy2):
                assert high <= low2 + 1e-9 or high2 <= low + 1e-9, (name, a, b)


def _share_a_pin(xy: np.ndarray, other: np.ndarray) -> bool:
    """Whether a corner of one outline lies well inside the other."""
    from scipy.spatial import Delaunay

    return bool(np.any(Delaunay(other).find_simplex(0.999 * xy + 0.001 * other.mean(axis=0)) >= 0))


def test_no_warning_over_the_library() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in ("andrews", "stewart", "rolling_disk"):
            scene_of(sr.library.MECHANISMS[name]())

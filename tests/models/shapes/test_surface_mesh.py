"""Meshes of files weigh what the same solid weighs by formula. Oracles: Box, Plate, two ways to write it."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import sarrus as sr

Array = npt.NDArray[np.float64]
FACES = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))  # outwards


def box(size: Any = (0.4, 0.2, 0.1), at: Any = (0.0, 0.0, 0.0)) -> Array:
    """Triangles of a cuboid, (12, 3, 3)."""
    corners = np.array(list(itertools.product((-0.5, 0.5), repeat=3))) * size + np.asarray(at)
    return np.array([corners[[f[0], f[k], f[k + 1]]] for f in FACES for k in (1, 2)])


def binary(path: Path, triangles: Array) -> Path:
    facets = np.zeros(len(triangles), dtype=[("xyz", "<f4", (4, 3)), ("attribute", "<u2")])
    facets["xyz"][:, 1:] = triangles
    path.write_bytes(
        b"solid in name only".ljust(80) + len(triangles).to_bytes(4, "little") + facets.tobytes()
    )
    return path


def ascii_stl(path: Path, triangles: Array) -> Path:
    lines = ["solid part"]
    for triangle in triangles:
        lines += ["facet normal 0 0 0", "outer loop"]
        lines += [f"vertex {x:.17g} {y:.17g} {z:.17g}" for x, y, z in triangle]
        lines += ["endloop", "endfacet"]
    path.write_text("\n".join([*lines, "endsolid"]))
    return path


def obj(path: Path, triangles: Array) -> Path:
    """Every triangle has corners of its own, numbered from the last one, with texture numbers."""
    lines = ["# a comment", "vn 0 0 1"]
    for triangle in triangles:
        lines += [f"v {x:.17g} {y:.17g} {z:.17g}" for x, y, z in triangle] + ["f -3/1/1 -2//1 -1"]
    path.write_text("\n".join(lines))
    return path


def same(mesh: sr.Mesh, other: Any, rel: float) -> None:
    mine, yours = mesh.mass_properties(), other.mass_properties()
    assert mine.mass == pytest.approx(yours.mass, rel=rel)
    np.testing.assert_allclose(mine.com, yours.com, atol=rel)
    np.testing.assert_allclose(mine.inertia, yours.inertia, atol=rel * np.abs(yours.inertia).max())


@pytest.mark.parametrize(
    ("write", "name", "rel"), [(binary, "a.stl", 2e-6), (ascii_stl, "a.STL", 1e-12), (obj, "a.obj", 1e-12)]
)
def test_a_box(tmp_path: Path, write: Any, name: str, rel: float) -> None:
    """Binary STL keeps float32: 6e-8 of coordinates of 3 m, against edges of 0.1 m."""
    path = write(tmp_path / name, box(at=(3.0, -1.0, 0.5)))
    same(
        sr.Mesh(path, density=500.0),
        sr.Box((0.4, 0.2, 0.1), density=500.0, at=sr.Pose((3.0, -1.0, 0.5))),
        rel,
    )
    inside_out = write(tmp_path / f"in_{name}", box(at=(3.0, -1.0, 0.5))[:, ::-1])
    same(sr.Mesh(inside_out, density=500.0), sr.Mesh(path, density=500.0), 1e-12)
    where = sr.Pose((0.1, 0.2, 0.3), rpy=(0.3, 0.4, 0.5))
    placed = sr.Mesh(str(path), mass=2.0, at=where, scale=0.5)
    centre = where @ sr.Pose((1.5, -0.5, 0.25))
    same(placed, sr.Box((0.2, 0.1, 0.05), mass=2.0, at=centre), rel)


def test_a_hole_and_a_polygon(tmp_path: Path) -> None:
    """A cavity is bounded by triangles turned towards it; a prism has faces of many corners."""
    solid, cavity = box((1, 1, 1)), box((0.5, 0.5, 0.5))[:, ::-1]
    hollow = ascii_stl(tmp_path / "hollow.stl", np.concatenate([solid, cavity]))
    assert sr.Mesh(hollow, density=1000.0).mass_properties().mass == pytest.approx(875.0)
    outline = [(0.0, 0.0), (2.0, 0.0), (2.5, 1.0), (1.0, 2.0), (0.0, 1.0)]
    lines = [f"v {x} {y} {z}" for z in (-0.05, 0.05) for x, y in outline]
    lines += ["f 5 4 3 2 1", "f 6 7 8 9 10"]
    lines += [f"f {k + 1} {(k + 1) % 5 + 1} {(k + 1) % 5 + 6} {k + 6}" for k in range(5)]
    (tmp_path / "prism.obj").write_text("\n".join(lines))
    same(sr.Mesh(tmp_path / "prism.obj", density=7.0), sr.Plate(outline, 0.1, density=7.0), 1e-12)


def test_corners_that_files_round_differently(tmp_path: Path) -> None:
    noisy = box() + 1e-9 * np.random.default_rng(0).normal(size=(12, 3, 3))
    same(sr.Mesh(ascii_stl(tmp_path / "noisy.stl", noisy)), sr.Box((0.4, 0.2, 0.1)), 1e-6)


def test_a_part_and_a_parameter(tmp_path: Path) -> None:
    path = binary(tmp_path / "arm.stl", 1000.0 * box(at=(0.2, 0.0, 0.0)))  # millimetres
    spec = sr.MechanismSpec(gravity=(0, -9.81, 0))
    spec.part("arm", shape=sr.Mesh(path, density=spec.parameter("density", 500.0), scale=1e-3))
    mech = spec.joint("pin", "ground", "arm", sr.Revolute("z"), at=(0, 0, 0)).compile()
    assert float(np.sum(mech.model.mass)) == pytest.approx(4.0, rel=1e-6)
    assert float(np.sum(mech.with_(density=1000.0).model.mass)) == pytest.approx(8.0, rel=1e-6)


BAD: list[tuple[str, bytes | None, str]] = [
    ("missing.stl", None, "cannot be read: No such file"),
    ("empty.stl", b"", "is no STL file"),
    ("arm.dae", b"<COLLADA/>", r"is a COLLADA file; STL and OBJ are read\. Convert it.*assimp export x\.dae"),
    ("short.stl", b"x" * 80 + (3).to_bytes(4, "little") + b"\0" * 120, "nor has the length"),
    ("none.stl", b"solid x\nendsolid", "has no triangles"),
    ("cut.stl", b"solid x\nfacet\nvertex 0 0 0\nvertex 0 1 0\nendfacet", "three vertices"),
    ("words.stl", b"solid x" + b"\nvertex a b c" * 3 + b"\nendfacet", "three numbers"),
    ("words.obj", b"v 1 2", "three numbers"),
    ("far.obj", b"v 0 0 0\nf 1 2 3", "line 2: corner '2' does not exist"),
    ("zero.obj", b"v 0 0 0\nf 0 1 1", "line 2: corner '0' does not exist"),
    ("two.obj", b"v 0 0 0\nv 1 0 0\nf 1 2", "three corners or more"),
    ("infinite.obj", b"v 0 0 0\nv inf 0 0\nv 0 1 0\nf 1 2 3", "not finite"),
    ("open.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3", "is open: 3 of its edges"),
    ("flat.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\nf 3 2 1", "encloses no volume"),
]


@pytest.mark.parametrize(("name", "content", "message"), BAD, ids=[name for name, *_ in BAD])
def test_bad_files(tmp_path: Path, name: str, content: bytes | None, message: str) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(sr.InputError, match=message):
        sr.Mesh(path)


def test_other_bad_input(tmp_path: Path) -> None:
    turned = box()
    turned[3] = turned[3, ::-1]
    with pytest.raises(sr.InputError, match="turned against each other"):
        sr.Mesh(ascii_stl(tmp_path / "turned.stl", turned))
    with pytest.raises(sr.InputError, match="must be a regular file"):
        sr.Mesh(tmp_path)
    with pytest.raises(sr.InputError, match="must be the path"):
        sr.Mesh(7)  # type: ignore[arg-type]
    with pytest.raises(sr.InputError, match="scale of Mesh must be positive"):
        sr.Mesh(binary(tmp_path / "a.stl", box()), scale=0.0)

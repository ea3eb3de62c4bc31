"""Collision geometry of a compiled MuJoCo model as surfaces and pairs.

Two geoms may touch where their bits of contype and conaffinity say so and neither their bodies, parent and
child, nor an <exclude> forbid it, or where a <pair> names them. Of sliding friction the pair has what MuJoCo
takes: that of the geom of higher priority, else the larger; torsion and rolling are those of surfaces.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from sarrus.errors import SarrusError
from sarrus.formats.collisions.hulls import CORNERS, collision_hull
from sarrus.formats.collisions.read_collisions import surface_name
from sarrus.formats.mjcf.sites import wxyz_pose
from sarrus.formats.reading.messages import Omitted
from sarrus.mechanism.spec import MechanismSpec
from sarrus.models.contacts.table import Touchable
from sarrus.models.shapes.convex_shapes import Capsule, ConvexMesh, Ellipsoid, HalfSpace
from sarrus.models.shapes.shapes import Box, Cylinder, Shape, Sphere

PLANE, SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX, MESH = 0, 2, 3, 4, 5, 6, 7  # mjtGeom
TORSION, ROLLING = 4, 6  # condim from which on these moments act


def add_contacts(
    spec: MechanismSpec, model: Any, bodies: Sequence[str], omitted: Omitted, corners: int | None = CORNERS
) -> int:
    """Declare surfaces and pairs; returns how many geoms that may touch have become surfaces.

    Hulls of meshes keep at most as many `corners`, None: all.
    """
    pairs = {(a, b): (friction, condim) for a, b, friction, condim in _pairs(model)}
    touching = np.flatnonzero(model.geom_contype | model.geom_conaffinity).tolist()
    geoms = sorted({*touching, *(geom for pair in pairs for geom in pair)})
    names = _add_surfaces(spec, model, bodies, geoms, corners, omitted)
    surfaces = {one.name: one for one in spec.surfaces}
    can_touch = Touchable()
    for (a, b), (friction, condim) in pairs.items():
        if a in names and b in names:
            sliding = friction if condim > 1 else 0.0
            ends = surfaces[names[a]], surfaces[names[b]]
            if can_touch(*ends):
                spec.contact(names[a], names[b], friction=sliding)
            else:
                _drop(*ends, omitted)
    return len(names)


def _drop(a: Any, b: Any, omitted: Omitted) -> None:
    """List the contact of two surfaces for whose shapes none is known."""
    kinds = f"{type(a.shape).__name__} and a {type(b.shape).__name__}"
    omitted.drop(f"contact of a {kinds}", f"{a.name}/{b.name}")


def _add_surfaces(
    spec: MechanismSpec,
    model: Any,
    bodies: Sequence[str],
    geoms: Sequence[int],
    corners: int | None,
    omitted: Omitted,
) -> dict[int, str]:
    """Declare the surfaces of geoms; names of those that have one."""
    names: dict[int, str] = {}
    taken: set[str] = set()
    for geom in geoms:
        given = model.geom(geom).name or f"{bodies[int(model.geom_bodyid[geom])]}_geom{geom}"
        name = surface_name(given, taken)
        shape = _shape(model, geom, name, corners, omitted)
        if shape is None:
            omitted.drop("contact of a height field, a signed distance field or a flat mesh", name)
            continue
        at = wxyz_pose(model.geom_pos[geom], model.geom_quat[geom])
        spec.surface(name, bodies[int(model.geom_bodyid[geom])], shape, at, **_moments(model, geom))
        names[geom] = name
    return names


def _pairs(model: Any) -> Iterator[tuple[int, int, float, int]]:
    """Geoms that may touch, of the lower and the higher type, with sliding friction and condim."""
    ends = [model.pair_geom1.tolist(), model.pair_geom2.tolist()]
    named = {frozenset(pair): k for k, pair in enumerate(zip(*ends, strict=True))}
    for pair, k in named.items():
        a, b = sorted(pair, key=lambda g: (int(model.geom_type[g]), g))
        yield a, b, float(model.pair_friction[k, 0]), int(model.pair_dim[k])
    excluded = {int(x) for x in model.exclude_signature}
    touching = np.flatnonzero(model.geom_contype | model.geom_conaffinity).tolist()
    for i, x in enumerate(touching):
        for y in touching[i + 1 :]:
            if frozenset((x, y)) in named or not _may_touch(model, x, y, excluded):
                continue
            a, b = sorted((x, y), key=lambda g: (int(model.geom_type[g]), g))
            leading = _leading(model, a, b)
            yield (
                a,
                b,
                float(np.max(model.geom_friction[leading, 0])),
                int(np.max(model.geom_condim[leading])),
            )


def _may_touch(model: Any, x: int, y: int, excluded: set[int]) -> bool:
    """MuJoCo's filters of pairs of geoms."""
    if not _bits_meet(model, x, y):
        return False
    one, two = int(model.geom_bodyid[x]), int(model.geom_bodyid[y])
    low, high = sorted((one, two))
    weld = int(model.body_weldid[one]), int(model.body_weldid[two])
    if weld[0] == weld[1] or (low << 16) + high in excluded:
        return False
    return not _are_related(model, *weld) or bool(int(model.opt.disableflags) & _filter_parent())


def _bits_meet(model: Any, x: int, y: int) -> bool:
    """Whether the contype of one geom meets the conaffinity of the other."""
    types, affinities = model.geom_contype, model.geom_conaffinity
    return bool(int(types[x]) & int(affinities[y]) or int(types[y]) & int(affinities[x]))


def _are_related(model: Any, one: int, two: int) -> bool:
    """Whether one of two bodies, with all that is welded to it, is the parent of the other; not the world."""
    if 0 in (one, two):
        return False
    parent_of_one, parent_of_two = (int(model.body_weldid[model.body_parentid[w]]) for w in (one, two))
    return one == parent_of_two or two == parent_of_one


def _filter_parent() -> int:
    import mujoco

    return int(mujoco.mjtDisableBit.mjDSBL_FILTERPARENT)


def _leading(model: Any, a: int, b: int) -> list[int]:
    """The geom of higher priority, or both."""
    first, second = int(model.geom_priority[a]), int(model.geom_priority[b])
    return [a, b] if first == second else [a if first > second else b]


def _moments(model: Any, geom: int) -> dict[str, float]:
    """Friction and moments of a surface."""
    sliding, torsion, rolling = model.geom_friction[geom].tolist()
    condim = int(model.geom_condim[geom])
    return {
        "friction": sliding if condim > 1 else 0.0,
        "torsion": torsion if condim >= TORSION else 0.0,
        "rolling": rolling if condim >= ROLLING else 0.0,
    }


def _hull(model: Any, geom: int, name: str, corners: int | None, omitted: Omitted) -> Shape | None:
    """The hull of the mesh of a geom; None where it is flat."""
    mesh = int(model.geom_dataid[geom])
    first, count = int(model.mesh_vertadr[mesh]), int(model.mesh_vertnum[mesh])
    try:
        points, inside = collision_hull(model.mesh_vert[first : first + count].astype(float), corners)
        shape = ConvexMesh(points)
    except SarrusError:
        return None
    if inside > 0.0:
        omitted.simplified(name, inside)
    return shape


def _shape(model: Any, geom: int, name: str, corners: int | None, omitted: Omitted) -> Shape | None:
    kind, (x, y, z) = int(model.geom_type[geom]), model.geom_size[geom].tolist()
    if kind == MESH:
        return _hull(model, geom, name, corners, omitted)
    made: dict[int, Any] = {
        PLANE: lambda: HalfSpace("z"),
        SPHERE: lambda: Sphere(x),
        CAPSULE: lambda: Capsule(x, 2.0 * y),
        ELLIPSOID: lambda: Ellipsoid((x, y, z)),
        CYLINDER: lambda: Cylinder(x, 2.0 * y),
        BOX: lambda: Box((2.0 * x, 2.0 * y, 2.0 * z)),
    }
    return made[kind]() if kind in made else None

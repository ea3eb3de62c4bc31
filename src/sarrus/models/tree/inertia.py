"""Inertia of nodes from that of bodies, and the check that the mass matrix is positive definite.

Bodies that a Fixed joint ties together share a node: masses add, centres of mass average, inertias add by the
parallel axis theorem.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from ..._kernel import Kernel, merge_inertias
from ...errors import ModelError
from ...varied import flat, is_varied, recorded, tape_of
from .bodies import COPY
from .tree import Tree

INERTIA = ("mass", "com", "inertia")
SINGULAR = 1e-13  # smallest pivot of M relative to the inertia that its joint carries


def inertia_arrays(tree: Tree) -> dict[str, Any]:
    """mass (nn), com (nn, 3), inertia (nn, 6: xx xy xz yy yz zz) of the nodes, in node frames.

    Bodies fixed to the ground do not move and are left out.
    """
    bodies, frames = tree.bodies, [place.X_NB for place in tree.places]
    nodes: dict[str, Any] = {
        "node": np.array([place.node for place in tree.places]),
        "nodes": len(tree.nodes),
    }
    given: dict[str, Any] = {
        "R": [frame.rotation for frame in frames],
        "p": [frame.xyz for frame in frames],
        "mass": [body.mass for body in bodies],
        "com": [body.com for body in bodies],
        "inertia": [body.inertia_rows for body in bodies],
    }
    merge = _recorded_inertias if is_varied(list(given.values())) else merge_inertias
    return dict(zip(INERTIA, merge(**nodes, **given), strict=True))


def _recorded_inertias(node: Any, nodes: int, **given: Any) -> list[Any]:
    """What `merge_inertias` gives of numbers of which some are varied."""
    numbers = [x for value in given.values() for x in flat(value)]
    values = {name: recorded(value) for name, value in given.items()}
    plain = merge_inertias(node=node, nodes=nodes, **values)
    start = np.concatenate([x.ravel() for x in plain])
    found = tape_of(numbers).record("merge", numbers, start, len(node), nodes, *node.tolist())
    parts = np.split(np.array(found, dtype=object), np.cumsum([x.size for x in plain])[:-1])
    return [part.reshape(x.shape) for part, x in zip(parts, plain, strict=True)]


def check_mass_matrix(tree: Tree, kernel: Kernel, looped: Collection[str] = ()) -> None:
    """Refuse a tree whose mass matrix is singular at a generic configuration, naming the body.

    Args:
        tree: Bodies and nodes.
        kernel: Of its model.
        looped: Names of the bodies that constraints tie to others, for the way out.
    """
    k = kernel.coordinate_without_inertia(SINGULAR)
    if k < 0:
        return
    body = next(b for b, p in zip(tree.bodies, tree.places, strict=True) if p.v.start <= k < p.v.stop)
    coordinate = f"{tree.coordinate_names[k]!r} ({body.joint.label()})"
    welded = [b.name.partition(COPY)[0] for b in tree.bodies if b.parent == body.name and not b.joint.nv]
    if welded and not body.mass:  # a joint as drawn, and the part on it
        raise ModelError(
            f"part {welded[0]!r} has no inertia along the coordinate {coordinate} of joint {body.name!r}, nor"
            f" has what it carries: the mass matrix would be singular. Give {welded[0]!r} mass and inertia"
            f" (or a shape), or joint {body.name!r} armature.{_rod(welded[0], looped)}"
        )
    raise ModelError(
        f"body {body.name!r} has no inertia along its coordinate {coordinate}, nor has what it carries: the"
        f" mass matrix would be singular. Give {body.name!r} mass or inertia there, or its joint armature."
        f"{_rod(body.name, looped)}"
    )


def _rod(name: str, looped: Collection[str]) -> str:
    """A hint for a massless link of a loop."""
    if name not in looped:
        return ""
    return (
        f" If {name!r} is a rod that only joins two points of other bodies, leave it out and declare"
        " spec.constrain(name, sr.Distance(...)) between them: a massless two-force rod."
    )

"""Inertia of nodes from that of bodies, and the check that the mass matrix is positive definite.

Bodies that a Fixed joint ties together share a node: masses add, centres of mass average, inertias add by the
parallel axis theorem.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from .._kernel import Kernel
from ..errors import ModelError
from .tree import Tree

SINGULAR = 1e-13  # smallest pivot of M relative to the inertia that its joint carries
UPPER = [0, 1, 2, 4, 5, 8]  # entries of the upper triangle of a matrix (3, 3)


def inertia_arrays(tree: Tree) -> dict[str, Any]:
    """mass (nn), com (nn, 3), inertia (nn, 6: xx xy xz yy yz zz) of the nodes, in node frames.

    Bodies fixed to the ground do not move and are left out.
    """
    node = np.array([place.node for place in tree.places])
    R = np.array([place.X_NB.rotation for place in tree.places])
    p = np.array([place.X_NB.xyz for place in tree.places])
    mass = np.array([body.mass for body in tree.bodies])
    com = p + (R @ np.array([body.com for body in tree.bodies])[:, :, None])[:, :, 0]
    inertia = R @ np.array([body.inertia_rows for body in tree.bodies]) @ R.transpose(0, 2, 1)

    total, count = np.zeros(len(tree.nodes)), np.zeros(len(tree.nodes))
    np.add.at(total, node, mass)
    np.add.at(count, node, 1.0)
    share = np.where(count[node] == 1.0, 1.0, mass / np.where(total > 0.0, total, 1.0)[node])
    center = np.zeros((len(total), 3))
    np.add.at(center, node, share[:, None] * com)
    away = com - center[node]
    inertia += mass[:, None, None] * (
        np.sum(away * away, axis=1)[:, None, None] * np.eye(3) - away[:, :, None] * away[:, None, :]
    )
    merged = np.zeros((len(total), 3, 3))
    np.add.at(merged, node, inertia)
    for array in (total, center, merged):
        array[0] = 0.0
    return {"mass": total, "com": center, "inertia": merged.reshape(-1, 9)[:, UPPER]}


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
    raise ModelError(
        f"body {body.name!r} has no inertia along its coordinate {tree.coordinate_names[k]!r} "
        f"({body.joint.label()}), nor has what it carries: the mass matrix would be singular. "
        f"Give {body.name!r} mass or inertia there, or its joint armature.{_rod(body.name, looped)}"
    )


def _rod(name: str, looped: Collection[str]) -> str:
    """A hint for a massless link of a loop."""
    if name not in looped:
        return ""
    return (
        f" If {name!r} is a rod that only joins two points of other bodies, leave it out and declare"
        " spec.constrain(name, sr.Distance(...)) between them: a massless two-force rod."
    )

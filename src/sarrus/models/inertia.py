"""Inertia of nodes from that of bodies, and the check that the mass matrix is positive definite.

Bodies that a Fixed joint ties together share a node: masses add, centres of mass average, inertias add by the
parallel axis theorem.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from ..arrays import Array
from ..errors import ModelError
from .joint import NODE_NV, NodeKind
from .rotation import hat
from .tree import Node, Tree

SINGULAR = 1e-13  # smallest pivot of M relative to the inertia it was reduced from


def inertia_arrays(tree: Tree) -> dict[str, Any]:
    """mass (nn), com (nn, 3), inertia (nn, 6: xx xy xz yy yz zz) of the nodes, in node frames.

    Bodies fixed to the ground do not move and are left out.
    """
    parts: list[list[tuple[float, Array, Array]]] = [[] for _ in tree.nodes]
    for body, place in zip(tree.bodies, tree.places, strict=True):
        R_NB = place.X_NB.rotation
        parts[place.node].append((body.mass, place.X_NB.apply(body.com), R_NB @ body.inertia_matrix @ R_NB.T))
    parts[0] = []
    mass, com, inertia = zip(*(_merge(part) for part in parts), strict=True)
    return {"mass": mass, "com": com, "inertia": [I[np.triu_indices(3)] for I in inertia]}


def _merge(parts: list[tuple[float, Array, Array]]) -> tuple[float, Array, Array]:
    if len(parts) == 1:
        return parts[0]
    mass = sum(m for m, _, _ in parts)
    com = sum((m * c for m, c, _ in parts), np.zeros(3)) / mass if mass > 0.0 else np.zeros(3)
    inertia = np.zeros((3, 3))
    for m, c, I in parts:
        away = hat(c - com)
        inertia += I - m * away @ away
    return mass, com, inertia


def _motion_subspace(node: Node) -> Array:
    """S (6, dof) in the node frame, linear first."""
    spin, slide = np.eye(6)[:, [5]], np.eye(6)[:, [2]]
    return {
        NodeKind.HINGE: spin,
        NodeKind.SLIDE: slide,
        NodeKind.SCREW: spin + node.pitch * slide,
        NodeKind.BALL: np.eye(6)[:, 3:],
        NodeKind.FREE: np.eye(6),
    }[node.kind]


def _generic_step(node: Node, rng: np.random.Generator) -> Array:
    """The 6 x 6 map of twists from a node's parent into the node, at some generic value of its joint."""
    angle, slide = rng.uniform(0.4, 1.1, size=2)
    R, p = np.eye(3), np.zeros(3)
    if node.kind != NodeKind.SLIDE:
        about_z = node.kind in (NodeKind.HINGE, NodeKind.SCREW)
        K = hat(np.array([0.0, 0.0, 1.0]) if about_z else np.full(3, 3**-0.5))
        R = np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * K @ K
    if node.kind in (NodeKind.SLIDE, NodeKind.SCREW, NodeKind.FREE):
        p = np.array([0.0, 0.0, slide if node.kind != NodeKind.SCREW else node.pitch * angle])
    R_PN, p_PN = node.X_PJ.rotation @ R, node.X_PJ.xyz + node.X_PJ.rotation @ p
    X = np.zeros((6, 6))
    X[:3, :3] = X[3:, 3:] = R_PN.T
    X[:3, 3:] = -R_PN.T @ hat(p_PN)
    return X


def check_mass_matrix(
    tree: Tree, columns: dict[str, Any], length: float, looped: Collection[str] = ()
) -> None:
    """Refuse a tree whose mass matrix is singular at a generic configuration, naming the body.

    The pivots of M are the articulated inertias D_i = S_i^T I_i^A S_i + armature, as in
    [Featherstone2008] eq. (7.44): M is singular exactly where one of them vanishes.

    Args:
        tree: Bodies and nodes.
        columns: mass, com, inertia of the nodes, armature of the coordinates.
        length: Characteristic length [m].
        looped: Names of the bodies that constraints tie to others, for the way out.
    """
    rng = np.random.default_rng(1853)
    bodies = zip(columns["mass"], columns["com"], columns["inertia"], strict=True)
    spatial = [_spatial(m, c, I) for m, c, I in bodies]
    carried = [I.copy() for I in spatial]  # not reduced by joints: rounding is relative to these
    armature = np.asarray(columns["armature"], dtype=float)
    for i in range(len(tree.nodes) - 1, 0, -1):
        node = tree.nodes[i]
        S = _motion_subspace(node)
        U = spatial[i] @ S
        D = S.T @ U + np.diag(armature[node.columns.start : node.columns.stop])
        _check_pivot(tree, node, D, carried[i], length, looped)
        X = _generic_step(node, rng)
        articulated = spatial[i] - U @ np.linalg.solve(D, U.T)
        seen = X.T @ articulated @ X
        spatial[node.parent] = spatial[node.parent] + 0.5 * (seen + seen.T)  # kept symmetric along chains
        carried[node.parent] = carried[node.parent] + X.T @ spatial[i] @ X


def _spatial(mass: float, com: Array, inertia: Array) -> Array:
    xx, xy, xz, yy, yz, zz = inertia
    c = hat(com)
    about_com = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return np.block([[mass * np.eye(3), -mass * c], [mass * c, about_com - mass * c @ c]])


def _check_pivot(
    tree: Tree, node: Node, D: Array, carried: Array, length: float, looped: Collection[str]
) -> None:
    """D must be positive definite beyond rounding of `carried`, the inertia from which it was reduced."""
    units = np.where(tree.coordinate_is_angle[node.iv : node.iv + NODE_NV[node.kind]], 1.0, length)
    scaled = D * units[:, None] * units
    size = np.trace(carried[3:, 3:]) + np.trace(carried[:3, :3]) / 3.0 * length**2
    values, vectors = np.linalg.eigh(scaled)
    if values[0] > SINGULAR * size:
        return
    k = node.iv + int(np.argmax(np.abs(vectors[:, 0])))
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

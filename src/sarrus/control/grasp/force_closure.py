"""Force closure: whether contacts can resist any wrench on the object, [Murray1994] proposition 5.3.

They can if G has full rank and some contact forces strictly inside all limits cancel, G f = 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...arrays import Array
from ..limits.limit_rows import friction_pyramid
from .contacts import BoundContact

CLOSED = 1e-7  # least margin per newton of squeeze that counts as inside
EDGES = 16  # of the pyramid that stands for an exact cone


@dataclass(frozen=True)
class ForceClosure:
    """Answer of the test.

    Attributes:
        closed: whether any wrench can be resisted.
        margin: how far inside all limits the best squeeze lies, per newton of summed normal force.
        squeeze: contact forces (m,) of that squeeze; zeros where there is none.
        free: motions of the object that no contact resists (6, k): [linear; angular], in its axes.
        message: the same in words.
    """

    closed: bool
    margin: float
    squeeze: Array
    free: Array
    message: str

    def __bool__(self) -> bool:
        return self.closed


def force_closure(contacts: Sequence[BoundContact], G: Array, length: float) -> ForceClosure:
    """The test for a grasp map G (6, m); moments are divided by `length` [m] wherever they meet forces."""
    sizes = np.array([1.0, 1.0, 1.0, length, length, length])
    U, s, _ = np.linalg.svd(G / sizes[:, None])
    rank = int(np.count_nonzero(s > 1e-9 * s[0]))
    free = U[:, rank:] / sizes[:, None]
    if rank < 6:
        motions = "; ".join(_motion(x) for x in free.T)
        said = f"the contacts leave {6 - rank} motions of the object free: {motions}"
        return ForceClosure(False, 0.0, np.zeros(G.shape[1]), free, said)
    margin, f = _deepest(contacts, G)
    if margin < CLOSED:
        said = (
            "no squeeze keeps all contacts inside their limits: friction is too low, patches too small or"
            " the hands do not oppose each other"
        )
        return ForceClosure(False, margin, f, free, said)
    return ForceClosure(True, margin, f, free, f"closed, {margin:.3g} inside the limits per newton")


def _deepest(contacts: Sequence[BoundContact], G: Array) -> tuple[float, Array]:
    """max t: G f = 0, faces f >= t, sum of normal forces 1."""
    from scipy.optimize import linprog

    faces, _ = all_faces(contacts)
    m = G.shape[1]
    normals, at = np.zeros(m + 1), 0
    for contact in contacts:
        normals[at + contact.normal[0]] = contact.normal[1]
        at += contact.size
    cost = np.zeros(m + 1)
    cost[m] = -1.0
    equal = np.zeros((7, m + 1))
    equal[:6, :m], equal[6] = G, normals
    found = linprog(
        cost,
        np.column_stack([-faces, np.ones(len(faces))]),
        np.zeros(len(faces)),
        equal,
        np.array([0.0] * 6 + [1.0]),
        bounds=(None, None),
    )
    if found.status != 0:
        return 0.0, np.zeros(m)
    return float(found.x[m]), np.asarray(found.x[:m])


def all_faces(contacts: Sequence[BoundContact]) -> tuple[Array, Array]:
    """faces (k, m) and floor (k,) of all contacts; cones by a pyramid inside."""
    from scipy.linalg import block_diag

    blocks: list[Any] = []
    floors = []
    for contact in contacts:
        faces = contact.faces
        if contact.cone is not None:
            (i, j), mu = contact.cone
            k, s = contact.normal
            more = np.zeros((EDGES, contact.size))
            more[:, [k, i, j]] = friction_pyramid(s * mu, EDGES, contact.name)
            faces = np.concatenate([faces, more])
        blocks.append(faces)
        floors.append(np.concatenate([contact.floor, np.zeros(len(faces) - len(contact.floor))]))
    return np.asarray(block_diag(*blocks)), np.concatenate(floors)


def _motion(x: Array) -> str:
    """A free motion in words."""
    x = x / np.max(np.abs(x))
    names = ("x", "y", "z", "turn x", "turn y", "turn z")
    return " ".join(f"{c:+.2g} {name}" for c, name in zip(x, names, strict=True) if abs(c) > 1e-6)

"""The characteristic length L of a mechanism, which makes metres and radians comparable."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..arrays import Array
from .tree import Tree

SAME_POINT = 1e-12  # [m]: distances below this count as zero


def characteristic_length(tree: Tree, com: Iterable[Array], anchors: Iterable[tuple[int, Array]]) -> float:
    """Mean distance [m] between the joint that carries a moving body and the other joints on it.

    Args:
        tree: The nodes.
        com: Centre of mass of each node, in its frame, (nn, 3).
        anchors: Points where loops and point constraints hold on: pairs (node, point in its frame).

    Returns:
        That mean; where no body carries two joints the mean distance of centres of mass from their joints,
        then the mean distance of joints from the ground's origin, then 1.
    """
    placed = [(node.parent, node.X_PJ.xyz) for node in tree.nodes[1:]]
    points = [*placed, *anchors]
    moving = [float(np.linalg.norm(p)) for node, p in points if node > 0]
    centres = [float(np.linalg.norm(c)) for c in com]
    still = [float(np.linalg.norm(p)) for node, p in points if node == 0]
    for distances in (moving, centres, still):
        apart = [d for d in distances if d > SAME_POINT]
        if apart:
            return float(np.mean(apart))
    return 1.0


def ground_origin(tree: Tree) -> Array:
    """Mean position [m] of the joints on the ground, (3,): spatial vectors are taken about this point."""
    roots = [node.X_PJ.xyz for node in tree.nodes[1:] if node.parent == 0]
    return np.mean(roots, axis=0) if roots else np.zeros(3)

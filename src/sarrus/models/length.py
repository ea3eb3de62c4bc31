"""The characteristic length L of a mechanism, which makes metres and radians comparable."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from ..arrays import Array
from ..varied import hypot, largest, total
from .base.kind import Kind
from .kinds.forces import Force
from .tree.tree import Tree

SAME_POINT = 1e-12  # of the largest length: smaller ones come from rounding and count as zero


def characteristic_length(
    tree: Tree,
    com: Iterable[Array],
    anchors: Iterable[tuple[int, Array]],
    constraints: Sequence[tuple[str, Kind]],
    forces: Sequence[tuple[str, Force]],
    balls: Sequence[Sequence[float]] = (),
) -> float:
    """Mean size [m] of the parts of a mechanism.

    Args:
        tree: The nodes.
        com: Centre of mass of each node, in its frame, (nn, 3).
        anchors: Points where loops and point constraints hold on: pairs (node, point in its frame).
        constraints: By name; their `lengths` count.
        forces: By name; their `lengths` count.
        balls: Around surfaces: centre and radius (4,); those of surfaces without end are negative.

    Returns:
        The mean distance between the joint that carries a moving body and the other joints on it, with the
        lengths of rods and the radii of discs and cylinders; where there is none of them the mean distance of
        centres of mass from their joints, then the mean of rest lengths of springs and of travels between the
        limits of sliding joints, then the mean distance of joints from the ground's origin, then the mean
        distance to which surfaces reach from the frames of their bodies, then 1.
    """
    placed = [(node.parent, node.X_PJ.xyz) for node in tree.nodes[1:]]
    points = [*placed, *anchors]
    moving = [hypot(*p.tolist()) for node, p in points if node > 0]
    moving += [abs(getattr(one, name)) for _, one in constraints for name in one.lengths]
    return (
        _mean(moving)
        or _mean([hypot(*c.tolist()) for c in com])
        or _mean(_travels(tree, forces))
        or _mean([hypot(*p.tolist()) for node, p in points if node == 0])
        or _mean([hypot(*ball[:3]) + ball[3] for ball in balls if ball[3] > 0])
        or 1.0
    )


def _mean(lengths: Sequence[float]) -> float:
    """Mean of those that are not zero up to rounding; 0 where there is none."""
    least = SAME_POINT * largest(lengths)
    apart = [d for d in lengths if d > least]
    return total(apart) / len(apart) if apart else 0.0


def _travels(tree: Tree, forces: Sequence[tuple[str, Force]]) -> list[float]:
    """Rest lengths of springs and travels of sliding joints [m]."""
    found = []
    for name, one in forces:
        turns = [tree.coordinate_is_angle[tree.coordinate(c, name)] for c in one.coordinates()]
        if not any(turns):
            found += [abs(getattr(one, field)) for field in one.lengths]
    pairs = zip(tree.coordinate_is_angle, tree.each("limits"), strict=True)
    travels = [_travel(lower, upper) for is_angle, (lower, upper) in pairs if not is_angle]
    return found + [travel for travel in travels if math.isfinite(travel)]


def _travel(lower: float, upper: float) -> float:
    """Between two limits; of a single one from zero to it."""
    limited = math.isfinite(lower) and math.isfinite(upper)
    return upper - lower if limited else min(abs(lower), abs(upper))


def ground_origin(tree: Tree) -> Array:
    """Mean position [m] of the joints on the ground, (3,): spatial vectors are taken about this point."""
    first_order = tree.first_order
    roots = [
        node.X_PJ.xyz.tolist()
        for node in tree.nodes[1:]
        if node.parent == 0 and not (node.columns and first_order[node.iv])
    ]
    return np.array([total(x) / len(roots) for x in zip(*roots, strict=True)] or [0.0, 0.0, 0.0])

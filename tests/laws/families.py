"""Families of mechanisms that every law is held against, each with a consistent pose."""

from __future__ import annotations

from collections.abc import Callable

from tests.oracles import every_constraint as every
from tests.oracles import random_mechanisms as rm
from tests.oracles.description import Description


def _tree(seed: int) -> Description:
    return rm.tree(seed, 5, rm.ALL_JOINTS[:-1])


def _loops(seed: int) -> Description:
    kinds = [("spherical",), ("fixed",), ("revolute", "universal"), ("cylindrical", "planar", "helical")]
    return rm.loops(seed, kinds[seed % 4], n=6, joints=rm.ALL_JOINTS[:-1])


def _twice(seed: int) -> Description:
    return rm.duplicated(_loops(seed))


def _declared(seed: int) -> Description:
    kinds = ("distance", "point_on_line", "point_on_plane", "coupling", "custom")
    return every.constrained(kinds[seed % len(kinds)], seed)


def _rolling(seed: int) -> Description:
    return every.constrained("rolling", seed)


def _four_bar(seed: int) -> Description:
    return rm.planar_loop(seed, 3)


def _five_bar(seed: int) -> Description:
    return rm.planar_loop(seed, 4)


FAMILIES: dict[str, Callable[[int], Description]] = {
    "tree": _tree,
    "massless bodies": rm.massless_between,
    "loops": _loops,
    "every loop twice": _twice,
    "rods, lines, planes, gears": _declared,
    "rolling disc": _rolling,
    "four-bar in space": _four_bar,
    "five-bar in space": _five_bar,
    "clamped": rm.clamped,
}

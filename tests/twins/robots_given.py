"""Robots of the tests of twins with the joints of their trees, and poses of these."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

import sarrus as sr
from sarrus.arrays import Array

from .robots import ankle, knee, slider_ankle

ROBOTS: dict[str, tuple[Callable[[], sr.Mechanism], tuple[str, ...]]] = {
    "ankle": (ankle, ("shank", "foot")),
    "universal rods": (lambda: ankle(balls=False), ("shank", "foot")),
    "floating ankle": (lambda: ankle(base=True), ("foot",)),
    "knee": (knee, ("thigh", "shank")),
    "linear actuators": (slider_ankle, ("foot",)),
    "pantograph leg": (sr.library.pantograph_leg, ("thigh", "shank")),
    "loader": (sr.library.loader, ("boom", "bucket")),
    "stewart": (sr.library.stewart, ("platform",)),
}


@cache
def twin_of(name: str) -> sr.Twin:
    """The twin of one of them."""
    make, serial = ROBOTS[name]
    return sr.twin(make(), serial)


@cache
def poses_of(name: str, count: int = 20, size: float = 0.2) -> tuple[Array, Array]:
    """Poses of its tree that close, and speeds."""
    twin, rng = twin_of(name), np.random.default_rng(3)
    tree, unit = twin.tree, np.asarray(twin.tree.units.unit)
    around = size * unit * rng.uniform(-1, 1, (count, tree.nv))
    q = np.array([tree.integrate(tree.default.q, one) for one in around])
    q = q[twin.status(q) == 0]
    return q, unit * rng.standard_normal((len(q), tree.nv))

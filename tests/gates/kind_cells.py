"""Mechanisms for test_kinds.py: the example of a kind once, and in many copies.

A cell is a chain of hinges on the ground, turned to a generic pose, with the kind between its first and its
last body. The small mechanism is one cell; the large one has as many copies as it takes for more than 32
coordinates, where the kernel eliminates by entries and strides are runtime values. Copies move alike, so that
the large mechanism is checked against the small one too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import sarrus as sr
from sarrus.models.tree.joint import Joint

from .kind_examples import Cell, Example, T, every_example

Array = npt.NDArray[np.float64]

WHEELS = 2  # parallel hinges, 0.12 m apart, on the last body of a chain
LARGE = 33  # coordinates of the large mechanism, at least
STEP = sr.Pose((0.3, 0.05, 0.1))
APART = 1e-3  # of states for differences
EYE = (0.05, -0.1, 0.15)  # of the rod that keeps a cell closed, on its last body

each = pytest.mark.parametrize("key", every_example())
sizes = pytest.mark.parametrize("size", ["small", "large"])


@dataclass(frozen=True)
class Built:
    """A mechanism with copies of one example, at a consistent state."""

    example: Example
    mech: sr.Mechanism
    plain: sr.Mechanism  # without the constraints, or without the forces, of the example
    q: Array
    v: Array
    declared: tuple[Any, ...]  # what the example made, one for each copy

    @property
    def copies(self) -> int:
        """Number of cells."""
        return len(self.declared)


def _chain(spec: sr.MechanismSpec, copy: int, example: Example) -> tuple[str, ...]:
    """Hinges, one more than the rows and one before them, and the joint of the example after the first."""
    hinges: list[Joint] = [sr.Revolute("zxy"[k % 3]) for k in range(max(example.rows, 1) + 2)]
    joints = hinges if example.joint is None else [hinges[0], example.joint, *hinges[1:]]
    names = tuple(f"c{copy}b{k}" for k in range(len(joints)))
    for k, (name, joint) in enumerate(zip(names, joints, strict=True)):
        parent, at = (names[k - 1], STEP) if k else ("ground", sr.Pose((2.5 * copy, 0.3 * copy, 0.0)))
        inertia = {"mass": 1.0 + 0.1 * k, "com": (0.1, 0.02, 0.03), "inertia": (0.01, 0.02, 0.015)}
        spec.body(name, parent, joint=joint, at=at, armature=0.02 * (joint.nv == 1), **inertia)
    for k in range(WHEELS if example.wheels else 0):
        wheel = {"mass": 0.5, "com": (0.01, 0.0, 0.0), "inertia": (0.01, 0.01, 0.02)}
        spec.body(
            f"c{copy}w{k}", names[-1], joint=sr.Revolute("z"), at=sr.Pose((0.12 * k, 0.0, 0.1)), **wheel
        )
    if example.slide:
        on, at = (names[-1], sr.Pose((0.3, -0.05, 0.0))) if example.wheels else ("ground", sr.Pose())
        spec.body(f"c{copy}s", on, joint=sr.Prismatic("x"), at=at, mass=0.4, com=(0.1, 0.0, 0.0))
    return names


def _copies(example: Example) -> int:
    nv = max(example.rows, 1) + 2 + (0 if example.joint is None else example.joint.nv)
    nv += (WHEELS if example.wheels else 0) + example.slide
    return LARGE // nv + 1


@cache
def built(key: str, size: str) -> Built:
    """The example of this key, once ("small") or in many copies ("large")."""
    example = every_example()[key][1]
    copies = 1 if size == "small" else _copies(example)
    spec = sr.MechanismSpec(gravity=(0.3, -9.81, 0.2), name=f"{key}, {size}")
    chains = [_chain(spec, i, example) for i in range(copies)]
    bare = spec.compile()
    rng, per = np.random.default_rng(7), bare.nv // copies
    q = bare.integrate(bare.neutral(), np.tile(rng.uniform(-0.6, 0.6, per), copies))
    if example.rows == 0:  # a force: one row of another kind keeps the cell closed
        for i, names in enumerate(chains):
            at = _cell(bare, q, names).in_a(EYE)
            spec.constrain(f"rod{i}", sr.Distance(names[0], (0, 0, 0), names[-1], EYE, np.linalg.norm(at)))
    plain = spec.compile()
    assert example.make is not None
    declared = [example.make(_cell(bare, q, names)) for names in chains]
    for i, one in enumerate(declared):
        if example.rows:
            spec.constrain(f"kind{i}", one)
        else:
            spec.force(f"kind{i}", one)
    mech = spec.compile()
    v = mech.consistent_velocity(q, np.tile(rng.normal(size=per), copies), T)
    return Built(example, mech, plain, q, v, tuple(declared))


def _cell(mech: sr.Mechanism, q: Array, names: tuple[str, ...]) -> Cell:
    index = {name: mech.names.index(name) for name in names if name in mech.names}
    positions = {name: float(q[mech.model.coordinate_q[k]]) for name, k in index.items()}
    first = index[names[0]]
    wheels = tuple(f"{names[0][:-2]}w{k}" for k in range(WHEELS))
    turned = {w: float(q[mech.model.coordinate_q[mech.names.index(w)]]) for w in wheels if w in mech.names}
    slide = f"{names[0][:-2]}s"
    moved = (slide, float(q[mech.index(slide).q][0])) if slide in mech.names else ("", 0.0)
    pose = lambda body: mech.pose(q, body)  # noqa: E731
    return Cell(names[0], names[-1], positions, first, mech.nv, pose, turned, moved)


def slope(function: Callable[[float], Array]) -> Array:
    """df/ds at zero, error of sixth order in the step."""
    near, middle, far = ((function(k * APART) - function(-k * APART)) / (2 * k * APART) for k in (1, 2, 3))
    return (15 * near - 6 * middle + far) / 10


def close(mine: npt.ArrayLike, theirs: npt.ArrayLike, tol: float, why: str = "") -> None:
    """Equal up to tol of the larger of one and the size of what is expected; `why`: what is wrong if not."""
    mine, theirs = np.asarray(mine), np.asarray(theirs)
    assert mine.shape == theirs.shape
    worst = np.max(np.abs(mine - theirs), initial=0.0)
    assert worst <= tol * max(1.0, np.max(np.abs(theirs), initial=0.0)), f"{why or 'off'}: by {worst:.3g}"

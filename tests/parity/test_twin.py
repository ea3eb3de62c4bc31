"""The compiled kernel against the NumPy twin, on models that the library itself lowered."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from tests.laws.singular import smooth_motion
from tests.oracles import every_constraint as every
from tests.oracles import random_mechanisms as rm
from tests.oracles.description import Description
from tests.oracles.states import mechanism, random_force, relative, tangent_velocity
from tests.oracles.twin import Twin


def pair(d: Description) -> tuple[Any, Twin]:
    mech = mechanism(d)
    return mech, Twin(mech.model.sizes, mech.model.fields)


def inputs(mech: Any, q: np.ndarray, v: np.ndarray, t: float) -> tuple[np.ndarray, np.ndarray]:
    drive = mech.model.drive_values(t)[None]
    assert not mech.model.customs
    return drive, np.zeros((1, 0, 3 + mech.nv))


def compare_everything(d: Description, seed: int, forward: bool = True) -> None:
    mech, twin = pair(d)
    kernel = mech._kernel
    q = d.q[None]
    rng = np.random.default_rng([seed, 40])
    v, a = rng.normal(size=(2, 1, mech.nv))
    drive, user = inputs(mech, q, v, 0.0)
    for mine, theirs in zip(kernel.terms(q, v, drive, user), twin.terms(q, v, drive, user), strict=True):
        assert relative(mine, theirs) < 1e-11
    assert relative(kernel.rnea(q, v, a), twin.rnea(q, v, a)) < 1e-11
    energy = mech.energy(q, v)
    assert relative(np.stack([energy.kinetic, energy.potential], axis=-1), twin.energy(q, v)) < 1e-12
    assert relative(kernel.integrate(q, v), twin.integrate(q, v)) < 1e-13
    moved = kernel.integrate(q, 0.3 * v)
    assert relative(kernel.difference(q, moved), twin.difference(q, moved)) < 1e-12
    for mine, theirs in zip(kernel.poses(q), twin.poses(q), strict=True):
        assert relative(mine, theirs) < 1e-12
    for mine, theirs in zip(kernel.body_motion(q, v, a), twin.body_motion(q, v, a), strict=True):
        assert relative(mine, theirs) < 1e-11
    last = len(mech.model.body_names) - 1
    point = np.array([0.1, -0.2, 0.3])
    assert relative(kernel.jacobian(q, last, point), twin.jacobian(q, last, point)) < 1e-12
    if forward:
        compare_forward(mech, twin, d, seed)


def compare_forward(mech: Any, twin: Twin, d: Description, seed: int) -> None:
    q = d.q[None]
    v = tangent_velocity(mech, d.q, seed)[None]
    tau = random_force(mech, seed)[None]
    drive, user = inputs(mech, q, v, 0.0)
    same_motion(mech._kernel.forward(q, v, tau, drive, user), twin.forward(q, v, tau, drive, user))


def same_motion(mine: tuple[np.ndarray, ...], theirs: tuple[np.ndarray, ...]) -> None:
    a, force, lam, unique, rank, status = mine
    np.testing.assert_array_equal(rank, theirs[4])
    np.testing.assert_array_equal(unique, theirs[3])
    assert not status.any()
    assert relative(a, theirs[0]) < 1e-9
    assert relative(force, theirs[1]) < 1e-9
    assert relative(lam, theirs[2]) < 1e-8


@pytest.mark.parametrize("seed", range(12))
def test_everything_at_once(seed: int) -> None:
    compare_everything(every.everything(seed), seed, forward=False)


@pytest.mark.parametrize("kind", [*every.CLOSING, *every.DECLARED[:-1]])
def test_each_constraint(kind: str) -> None:
    for seed in range(4):
        compare_everything(every.constrained(kind, seed), seed)


@given(rm.tree_strategy())
def test_random_trees(d: Description) -> None:
    if any(body.joint.kind != "fixed" for body in d.bodies):
        compare_everything(d, 1)


@given(rm.loop_strategy())
def test_random_loops(d: Description) -> None:
    if any(body.joint.kind != "fixed" for body in d.bodies):
        compare_everything(d, 1)


@pytest.mark.parametrize("seed", range(6))
def test_planar_loops_with_rows_too_many(seed: int) -> None:
    for closing in ("revolute", "fixed", "spherical"):
        compare_everything(rm.planar_loop(seed, 4, closing), seed)


@pytest.mark.parametrize("seed", range(8))
def test_rows_in_metres_that_depend_on_rows_in_radians(seed: int) -> None:
    compare_everything(rm.clamped(seed), seed)


@pytest.mark.parametrize("seed", [0, 1, 2, 3, 5, 6, 7])
@pytest.mark.parametrize("pose", [rm.stretched, rm.stretched_weld])
def test_singular_poses_in_motion(pose: Callable[[int, int], Description], seed: int) -> None:
    """Stretched loops of unequal links: the rows that replace the lost ones agree as well."""
    d = pose(seed, 5 + seed % 2)
    mech, twin = pair(d)
    v = smooth_motion(mech, d.q, seed)[None]
    tau = random_force(mech, seed)[None]
    drive, user = inputs(mech, d.q, v, 0.0)
    state = (d.q[None], v, tau, drive, user)
    same_motion(mech._kernel.forward(*state), twin.forward(*state))

"""From no constraint and one coordinate to hundreds: the same laws, whatever the size of the workspace."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import sarrus as sr
from tests.oracles import random_mechanisms as rm
from tests.oracles.states import mechanism, random_force, relative, tangent_velocity


def check(mech: Any, q: np.ndarray, seed: int = 0) -> None:
    v, tau = tangent_velocity(mech, q, seed), random_force(mech, seed)
    t, motion = mech.terms(q, v), mech.forward_dynamics(q, v, tau)
    size = max(1.0, *(np.max(np.abs(x)) for x in (t.M @ motion.a, t.h, tau)))
    assert np.max(np.abs(t.M @ motion.a + t.h - tau - t.J.T @ motion.lam)) < 1e-11 * size
    assert relative(t.J @ motion.a, t.gamma) < 1e-10
    assert relative(mech.forward_dynamics(q, v, tau, formulation="svd").a, motion.a) < 1e-9
    assert relative(mech.rnea(q, v, motion.a), t.M @ motion.a + t.h) < 1e-12


@pytest.mark.parametrize("n", [1, 2, 3, 7, 15, 40, 120])
def test_many_coordinates(n: int) -> None:
    """n_four_bar(n) has 2 n + 1 coordinates: every compiled size and the runtime workspace beyond them."""
    mech = sr.library.n_four_bar(n)
    assert (mech.nv, mech.nc) == (2 * n + 1, 2 * n)
    check(mech, mech.default.q)


@pytest.mark.parametrize("n", range(1, 18))
def test_chains_of_every_length(n: int) -> None:
    """Around the edges of the padded strides."""
    d = rm.tree_of(["revolute"] * n, range(-1, n - 1), n)
    check(mechanism(d), d.q)


@pytest.mark.parametrize("copies", [1, 4, 12])
def test_many_more_rows_than_coordinates(copies: int) -> None:
    d = rm.planar_loop(0, 4)
    (loop,) = d.closures
    d = d.with_(closures=tuple(replace(loop, name=f"loop{k}") for k in range(copies)))
    mech = mechanism(d)
    assert mech.nc > mech.nv
    assert mech.mobility(d.q).dof == 2
    check(mech, d.q)


def test_no_states_at_all() -> None:
    mech = sr.library.five_bar()
    q, v = np.zeros((0, mech.nq)), np.zeros((0, mech.nv))
    assert mech.acceleration(q, v, v).shape == (0, mech.nv)
    assert mech.mass_matrix(q).shape == (0, mech.nv, mech.nv)
    assert mech.terms(q, v).J.shape == (0, mech.nc, mech.nv)
    assert mech.forward_dynamics(q, v).lam.shape == (0, mech.nc)


def test_batch_axes_broadcast() -> None:
    mech = sr.library.five_bar()
    rng = np.random.default_rng(0)
    v = rng.normal(size=(2, 3, mech.nv))
    a = mech.acceleration(mech.default.q, v, np.zeros(mech.nv))
    assert a.shape == (2, 3, mech.nv)
    np.testing.assert_array_equal(a[1, 2], mech.acceleration(mech.default.q, v[1, 2], np.zeros(mech.nv)))


def test_without_coordinates_there_is_no_mechanism() -> None:
    with pytest.raises(sr.ModelError, match="no coordinate"):
        mechanism(rm.empty())
    with pytest.raises(sr.ModelError, match="no coordinate"):
        mechanism(rm.tree_of(["fixed", "fixed"], [-1, 0], 0))


def test_holding_the_rank_that_is_there_changes_nothing() -> None:
    """Integrators hold the rank through the stages of a step."""
    for d in (rm.planar_loop(3, 4), rm.duplicated(rm.loops(1, ("spherical",)))):
        mech = mechanism(d)
        q, v = d.q[None], tangent_velocity(mech, d.q, 0)[None]
        tau = random_force(mech, 0)[None]
        inputs = (q, v, tau, np.zeros((1, 0, 3)), np.zeros((1, 0, 3 + mech.nv)))
        free = mech._kernel.forward(*inputs)
        held = mech._kernel.forward(*inputs, rank=int(free[4][0]))
        assert relative(held[0], free[0]) < 1e-13
        assert held[4] == free[4]


def test_holding_the_rank_off_the_manifold() -> None:
    """A drift of 1e-7 makes a redundant row independent; with the rank held the motion hardly notices."""
    mech = sr.library.bricard()
    q = np.array(mech.default.q)
    v = tangent_velocity(mech, q, 0)
    rank = mech.mobility(q).rank
    inputs = (v[None], np.zeros((1, 5)), np.zeros((1, 0, 3)), np.zeros((1, 0, 8)))
    on = mech._kernel.forward(q[None], *inputs)[0]
    drifted = mech.integrate(q, 1e-7 * np.cos(np.arange(5.0)))
    assert mech._kernel.forward(drifted[None], *inputs)[4][0] > rank
    held = mech._kernel.forward(drifted[None], *inputs, rank=rank)
    assert held[4][0] == rank
    assert relative(held[0], on) < 1e-5

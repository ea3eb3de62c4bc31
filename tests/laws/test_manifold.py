"""Plus and minus on the configuration manifold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import random_mechanisms as rm
from tests.oracles.description import Description
from tests.oracles.states import mechanism, relative

TREES = rm.tree_strategy(5, rm.ALL_JOINTS[:-1])


@given(TREES, st.sampled_from([1e-9, 1e-4, 0.05, 0.2, 1.0]), st.integers(0, 99))
def test_difference_undoes_integrate(d: Description, size: float, seed: int) -> None:
    mech = mechanism(d)
    dv = size * np.random.default_rng(seed).uniform(-1.5, 1.5, mech.nv)
    moved = mech.integrate(d.q, dv)
    assert relative(mech.difference(d.q, moved), dv, floor=size) < 1e-12 / min(1.0, size) + 1e-12
    for k in mech.model.quaternions:
        assert abs(np.linalg.norm(moved[k : k + 4]) - 1) < 1e-15


@given(TREES, st.integers(0, 99))
def test_integrate_undoes_difference(d: Description, seed: int) -> None:
    mech = mechanism(d)
    other = rm.random_q(np.random.default_rng(seed), d.bodies)
    back = mech.integrate(d.q, mech.difference(d.q, other))
    for k in mech.model.quaternions:  # the same rotation has two quaternions
        back[k : k + 4] *= np.sign(back[k : k + 4] @ other[k : k + 4])
    assert relative(back, other) < 1e-11


@given(TREES)
def test_a_held_velocity_is_the_rate_of_the_poses(d: Description) -> None:
    """Bodies move with the velocity that the Jacobian says."""
    mech = mechanism(d)
    v = np.random.default_rng(0).normal(size=mech.nv)
    body = d.bodies[-1].name
    step = 1e-4
    ahead, behind = (mech.pose(mech.integrate(d.q, s * v), body) for s in (step, -step))
    V = mech.velocity(d.q, v, body)
    scale = 1 + np.max(np.abs(V)) ** 3
    assert np.max(np.abs((ahead.xyz - behind.xyz) / (2 * step) - V[:3])) < 1e-6 * scale
    spin = (ahead.rotation - behind.rotation) / (2 * step) @ mech.pose(d.q, body).rotation.T
    w = np.array([spin[2, 1], spin[0, 2], spin[1, 0]])
    assert np.max(np.abs(w - V[3:])) < 1e-6 * scale


@pytest.mark.parametrize("angle", [np.pi - 1e-9, np.pi - 1e-3, 3.0, 1e-8, 0.0])
def test_half_turns_and_tiny_turns(angle: float) -> None:
    mech = mechanism(rm.tree_of(["free", "spherical"], [-1, 0], 0))
    axis = np.array([0.6, 0.0, -0.8])
    dv = np.concatenate([[0.1, 0.2, 0.3], angle * axis, angle * axis[::-1]])
    q = mech.neutral()
    assert relative(mech.difference(q, mech.integrate(q, dv)), dv) < 1e-8


def test_quaternions_of_opposite_sign_are_the_same_pose() -> None:
    d = rm.tree_of(["spherical", "free"], [-1, 0], 1)
    mech = mechanism(d)
    flipped = d.q.copy()
    for k in mech.model.quaternions:
        flipped[k : k + 4] *= -1
    assert relative(mech.difference(d.q, flipped), np.zeros(mech.nv)) < 1e-15
    v = np.random.default_rng(0).normal(size=mech.nv)
    assert relative(mech.rnea(flipped, v, v), mech.rnea(d.q, v, v)) < 1e-14

"""Open trees of every joint against Pinocchio: M, h, Jacobians in three frames, accelerations, to 1e-10."""

from __future__ import annotations

import numpy as np
import pytest

from tests.oracles import random_mechanisms as rm
from tests.oracles.description import ALL_JOINTS, Description
from tests.oracles.states import mechanism, relative

adapter = pytest.importorskip("tests.oracles.pinocchio_adapter", exc_type=ImportError)

TOL = 1e-10
MOVING = [kind for kind in ALL_JOINTS if kind != "fixed"]
SEEDS = [range(k, k + 10) for k in range(0, 200, 10)]


def compare(d: Description, seed: int) -> None:
    mech, pin = mechanism(d), adapter.build(d)
    assert (mech.nq, mech.nv) == (pin.model.nq, pin.model.nv)
    rng = np.random.default_rng([seed, 20])
    q, (v, a, tau) = d.q, rng.normal(size=(3, mech.nv))
    M = pin.mass_matrix(q)
    assert relative(mech.mass_matrix(q), M) < TOL
    assert relative(mech.bias(q, v), pin.rnea(q, v, 0 * a)) < TOL
    assert relative(mech.rnea(q, v, a), pin.rnea(q, v, a)) < TOL
    assert relative(mech.acceleration(q, v, tau), pin.aba(q, v, tau)) < TOL
    for body in d.bodies:
        for frame in ("local", "world", "world_aligned"):
            assert relative(mech.jacobian(q, body.name, frame=frame), pin.jacobian(q, body.name, frame)) < TOL
        V, A = pin.motion(q, v, a, body.name)
        assert relative(mech.velocity(q, v, body.name), V) < TOL
        assert relative(mech.body_acceleration(q, v, a, body.name), A) < TOL
        X = mech.pose(q, body.name)
        assert relative(np.append(X.rotation, X.xyz), _flat(pin.pose(q, body.name))) < TOL
    energy = mech.energy(q, v)
    assert relative(np.array([energy.kinetic, energy.potential]), np.array(pin.energy(q, v))) < TOL


def _flat(X: np.ndarray) -> np.ndarray:
    return np.append(X[:3, :3], X[:3, 3])


@pytest.mark.parametrize("seeds", SEEDS, ids=lambda s: f"{s[0]}-{s[-1]}")
def test_random_trees(seeds: range) -> None:
    for seed in seeds:
        d = rm.tree(seed)
        if any(body.joint.kind != "fixed" for body in d.bodies):
            compare(d, seed)


@pytest.mark.parametrize("kind", MOVING)
def test_single_bodies(kind: str) -> None:
    for seed in range(5):
        compare(rm.tree(seed, 1, (kind,)), seed)


@pytest.mark.parametrize("kind", MOVING)
def test_chains_of_one_joint(kind: str) -> None:
    compare(rm.tree_of([kind] * 3, [-1, 0, 1], 5), 5)


def test_massless_bodies_in_between() -> None:
    for seed in range(10):
        compare(rm.massless_between(seed), seed)


def test_children_declared_before_their_parents() -> None:
    """The order of declaration, free in files, does not matter to the physics."""
    from tests.oracles.description import to_spec

    d = rm.tree(3, 6)
    data = to_spec(d).to_dict()
    data["bodies"].reverse()
    mech, other = mechanism(d), type(to_spec(d)).from_dict(data).compile()
    order = [other.names.index(name) for name in mech.names]
    rng = np.random.default_rng(0)
    v = rng.normal(size=mech.nv)
    q, q_other = mech.integrate(mech.neutral(), v), np.empty(other.nq)
    v_other = np.empty(other.nv)
    v_other[order] = v
    q_other = other.integrate(other.neutral(), v_other)
    assert relative(other.mass_matrix(q_other)[np.ix_(order, order)], mech.mass_matrix(q)) < 1e-14
    assert relative(other.bias(q_other, v_other)[order], mech.bias(q, v)) < 1e-13


def test_far_from_the_origin() -> None:
    """A mechanism a kilometre away keeps its digits: M and h do not depend on where the world is."""
    for seed in range(10):
        d = rm.tree_of(["revolute", "spherical", "prismatic", "free"], [-1, 0, 1, -1], seed)
        shift = np.array([300.0, -800.0, 500.0])
        moved = []
        for body in d.bodies:
            X = body.X.copy()
            X[:3, 3] += shift if body.parent == "ground" else 0.0
            moved.append(type(body)(**{**body.__dict__, "X": X}))
        near, far = mechanism(d), mechanism(d.with_(bodies=tuple(moved)))
        v = np.random.default_rng(seed).normal(size=near.nv)
        assert relative(far.mass_matrix(d.q), near.mass_matrix(d.q)) < 1e-10
        assert relative(far.bias(d.q, v), near.bias(d.q, v)) < 1e-10

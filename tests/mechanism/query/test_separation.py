"""Poses without surfaces inside each other: closed forms, optimality, loops; what is near."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import nnls

import sarrus as sr
from sarrus.mechanism.query.separation import least_distance


def test_a_ball_in_a_floor_and_two_balls_in_each_other() -> None:
    """Straight up; the heavier ball moves less, in the ratio of masses."""
    spec = sr.MechanismSpec().surface("floor", "ground", sr.HalfSpace(), friction=0.5)
    for name, mass in (("a", 1.0), ("b", 3.0)):
        spec.body(name, joint=sr.Free(), mass=mass, inertia=(0.1, 0.1, 0.1))
        spec.surface(name, name, sr.Sphere(0.5), friction=0.5)
    mech = spec.contact("floor", "*").contact("a", "b").compile()
    q = mech.neutral()
    q[[2, 9, 7]] = 0.3, 0.5, 3.0
    found = mech.separate(q)
    np.testing.assert_allclose(found.q[:3], [0, 0, 0.5], atol=1e-12)
    np.testing.assert_allclose(found.q[7:10], q[7:10], atol=1e-12)
    q[[2, 9, 7]] = 2.0, 2.0, 0.6
    found = mech.separate(q)
    np.testing.assert_allclose([found.q[0], found.q[7]], [-0.3, 0.7], atol=1e-9)
    assert mech.contacts(found.q).gap.min() > -1e-10 and not found.v.any()
    np.testing.assert_array_equal(mech.separate(found.q).q, found.q)  # nothing to do


def test_loops_stay_closed() -> None:
    """A four-bar whose rod goes through a wall turns back until it touches."""
    spec = sr.MechanismSpec.from_model(sr.library.four_bar().model)
    crank, rod = spec.bodies[0].name, spec.bodies[1].name
    free = sr.library.four_bar()
    q = free.default.q
    at = free.pose(q, rod).xyz
    spec.surface("ball", rod, sr.Sphere(0.05), friction=0.0)
    spec.surface(
        "wall", "ground", sr.HalfSpace("x"), at=sr.Pose((at[0] + 0.1 * free.length, 0, 0)), friction=0.0
    )
    mech = spec.contact("wall", "ball").compile()
    assert mech.contacts(q).gap.min() < 0.0
    found = mech.separate(q)
    assert abs(mech.contacts(found.q).gap.min()) < 1e-9
    assert np.abs(mech.terms(found.q, found.v).phi).max() < 1e-12 and crank in mech.names[0]


def heap(seed: int) -> tuple[sr.Mechanism, np.ndarray]:
    """Three boxes, a little inside each other and the floor."""
    rng = np.random.default_rng(seed)
    spec = sr.MechanismSpec().surface("floor", "ground", sr.HalfSpace(), friction=0.5)
    q = rng.normal(size=21)
    for k in range(3):
        spec.body(f"b{k}", joint=sr.Free(), mass=float(rng.uniform(1, 3)), inertia=(0.1, 0.1, 0.1))
        spec.surface(f"b{k}", f"b{k}", sr.Box(rng.uniform(0.5, 1.0, 3)), friction=0.5)
        q[7 * k : 7 * k + 3] = [0.1 * k, 0.05 * k, 0.45 + 0.75 * k]
        q[7 * k + 3 : 7 * k + 7] = sr.Pose(rpy=0.05 * rng.normal(size=3)).quat
    return spec.contact("floor", "b*").contact("b*", "b*").compile(), q


def test_boxes_in_a_heap() -> None:
    """Nothing is inside anything else; the motion is across active gaps: M d = G.T lam, lam >= 0.

    Where edges take turns (one heap in thirty) the pose is not quite the nearest.
    """
    nearest = 0
    for seed in range(40):
        mech, q = heap(seed)
        found = mech.separate(q)
        gaps = mech.contacts(found.q).gap
        assert gaps.min() > -1e-9, seed
        active = np.flatnonzero(gaps < 1e-6)
        rates = np.array([mech.gap_rates(found.q, e)[0][active] for e in np.eye(mech.nv)])
        push = mech.mass_matrix(found.q) @ mech.difference(q, found.q)
        rest = nnls(rates, push)[1] if len(active) else np.linalg.norm(push)  # nnls aborts without columns
        nearest += rest < 1e-3 * (1e-3 + np.linalg.norm(push))
    assert nearest >= 37


def test_no_way_out_names_the_surfaces() -> None:
    spec = sr.MechanismSpec().surface("left", "ground", sr.HalfSpace("x"), friction=0.0)
    spec.surface("right", "ground", sr.HalfSpace((-1, 0, 0)), at=sr.Pose((0.5, 0, 0)), friction=0.0)
    spec.body("ball", joint=sr.Prismatic("x"), mass=1.0).surface("ball", "ball", sr.Sphere(0.4))
    mech = spec.contact("*t", "ball").compile()
    with pytest.raises(sr.AssemblyError, match=r"'(left|right)/ball.0' is still 1.* mm inside"):
        mech.separate([0.3])


def test_least_distance() -> None:
    G, h = np.array([[1.0, 0.0], [1.0, 1.0]]), np.array([1.0, 3.0])
    np.testing.assert_allclose(least_distance(G, h), [1.5, 1.5], atol=1e-14)
    np.testing.assert_array_equal(least_distance(G, -h), [0, 0])


def test_near_pairs_are_all_that_are_near() -> None:
    """Every pair with a gap below the reach is among them; far ones are not."""
    rng = np.random.default_rng(2)
    shapes = [
        sr.Sphere(0.1),
        sr.Box((0.2, 0.3, 0.1)),
        sr.Capsule(0.1, 0.3),
        sr.Profile([(0, 0), (0.3, 0), (0, 0.2)]),
    ]
    spec = sr.MechanismSpec().surface("floor", "ground", sr.HalfSpace((0.6, 0, 0.8)), friction=0.5)
    for k, shape in enumerate(shapes * 3):
        spec.body(f"b{k}", joint=sr.Planar("z"), mass=1.0, inertia=(0.1, 0.1, 0.1))
        spec.surface(f"b{k}", f"b{k}", shape, friction=0.5)
    planar = [(i, j) for i in range(12) for j in range(i) if i % 4 == 3 and j % 4 in (0, 3)]
    solid = [(i, j) for i in range(12) for j in range(i) if 3 not in (i % 4, j % 4)]
    for i, j in planar + solid:
        spec.contact(f"b{i}", f"b{j}")
    mech = spec.contact("floor", "b*").compile()
    for _ in range(10):
        q = rng.normal(size=mech.nq)
        gaps, near = mech.contacts(q).gap, set(mech.near_contacts(q, 0.3))
        model = mech.model
        least = {
            c.name: gaps[s : s + n].min()
            for c, s, n in zip(model.contacts, model.pair_slot, model.pair_slots, strict=True)
        }
        assert {name for name, gap in least.items() if gap <= 0.3} <= near
        endless = {"floor/b3", "floor/b7", "floor/b11"}  # half spaces and profiles without end are never far
        assert (
            len(near) < 0.7 * len(least) and {name for name in near - endless if least[name] > 1.2} == set()
        )
    with pytest.raises(sr.InputError, match="reach must be positive"):
        mech.near_contacts(mech.neutral(), 0.0)

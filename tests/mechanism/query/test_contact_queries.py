"""Contact points. Oracles: closed forms, coal over random poses, differences along motions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sarrus as sr
from tests.oracles.coal_pairs import COAL, coal_distance

HULL = np.random.default_rng(4).normal(size=(25, 3)) * (0.2, 0.3, 0.15)
SHAPES: dict[str, Any] = {
    "Sphere": sr.Sphere(0.2),
    "Capsule": sr.Capsule(0.1, 0.5),
    "Cylinder": sr.Cylinder(0.15, 0.4),
    "Box": sr.Box((0.3, 0.5, 0.2)),
    "Ellipsoid": sr.Ellipsoid((0.3, 0.1, 0.2)),
    "ConvexMesh": sr.ConvexMesh(HULL),
    "HalfSpace": sr.HalfSpace(),
}
PAIRS = [("HalfSpace", name) for name in SHAPES if name != "HalfSpace"] + [("Sphere", "Sphere")]


def two_bodies(a: str, b: str) -> sr.Mechanism:
    """Two bodies that float, each with a surface."""
    spec = sr.MechanismSpec()
    for name, shape in (("a", SHAPES[a]), ("b", SHAPES[b])):
        spec.body(name, joint=sr.Free(), mass=1.0, inertia=(0.1, 0.1, 0.1))
        spec.surface(name, name, shape, friction=0.5)
    return spec.contact("a", "b").compile()


MECHANISMS = {pair: two_bodies(*pair) for pair in PAIRS}
seeds = st.integers(0, 10**9)


def random_state(mech: sr.Mechanism, seed: int, apart: float = 0.6) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    q, v = rng.normal(size=mech.nq), rng.normal(size=mech.nv)
    q[[0, 1, 2, 7, 8, 9]] *= apart
    for k in (3, 10):
        q[k : k + 4] /= np.linalg.norm(q[k : k + 4])
    return q, v


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
@settings(max_examples=60, deadline=None)
@given(seed=seeds)
def test_the_smallest_gap_is_the_distance(pair: tuple[str, str], seed: int) -> None:
    """Of all slots, outside of each other: by coal."""
    mech = MECHANISMS[pair]
    q, _ = random_state(mech, seed)
    found = mech.contacts(q)
    distance, normal = coal_distance(SHAPES[pair[0]], mech.pose(q, "a"), SHAPES[pair[1]], mech.pose(q, "b"))
    nearest = int(np.argmin(found.gap))
    assert found.gap[nearest] == pytest.approx(distance, abs=COAL)
    np.testing.assert_allclose(found.normal[nearest], normal, atol=1e-3)  # coal's normals are coarse


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
@settings(max_examples=20, deadline=None)
@given(seed=seeds)
def test_points_normals_and_speeds_belong_together(pair: tuple[str, str], seed: int) -> None:
    """point_b - point_a = gap normal; b, a exchanged give the same; speed is that of points of bodies."""
    mech = MECHANISMS[pair]
    q, v = random_state(mech, seed)
    found = mech.contacts(q, v)
    np.testing.assert_allclose(np.linalg.norm(found.normal, axis=1), 1.0, atol=1e-14)
    np.testing.assert_allclose(found.point_b - found.point_a, found.gap[:, None] * found.normal, atol=1e-13)
    for k in range(len(found)):
        ends = [
            (body, mech.pose(q, body).inverse().apply(p[k]))
            for body, p in (("a", found.point_a), ("b", found.point_b))
        ]
        rates = [mech.velocity(q, v, body, p)[:3] for body, p in ends]
        np.testing.assert_allclose(found.speed[k], rates[1] - rates[0], atol=1e-12)
    spec = sr.MechanismSpec.from_model(mech.model)
    spec._contacts.clear()
    other = spec.contact("b", "a").compile().contacts(q, v)
    np.testing.assert_allclose(other.gap, found.gap, atol=1e-14)
    np.testing.assert_allclose(other.normal, -found.normal, atol=1e-14)
    np.testing.assert_allclose(other.point_a, found.point_b, atol=1e-14)


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
@settings(max_examples=20, deadline=None)
@given(seed=seeds)
def test_derivatives_of_gaps(pair: tuple[str, str], seed: int) -> None:
    """Dual numbers twice along a motion of constant velocity: against differences, and speed @ normal."""
    mech = MECHANISMS[pair]
    q, v = random_state(mech, seed)
    rate, acceleration = mech.gap_rates(q, v)
    found = mech.contacts(q, v)
    np.testing.assert_allclose(rate, np.sum(found.normal * found.speed, axis=1), atol=1e-12)
    h = 1e-5

    def rate_at(t: float) -> Any:
        return mech.gap_rates(mech.integrate(q, t * v), v)[0]

    slope = (8 * (rate_at(h) - rate_at(-h)) - (rate_at(2 * h) - rate_at(-2 * h))) / (12 * h)
    np.testing.assert_allclose(acceleration, slope, atol=1e-6 * (1 + np.abs(slope).max()))


def test_a_box_on_a_floor() -> None:
    """Each corner by its height; a floor that is tilted; names of the slots."""
    spec = sr.MechanismSpec().body("box", joint=sr.Free(), mass=1.0, inertia=(0.1, 0.1, 0.1))
    spec.surface("floor", "ground", sr.HalfSpace((0, -0.6, 0.8)), at=sr.Pose((0, 0, 0.5)), friction=0.5)
    spec.surface("box", "box", sr.Box((2, 4, 6), at=sr.Pose((0, 0, 1))), at=sr.Pose((1, 0, 0)))
    mech = spec.contact("floor", "box").compile()
    q = mech.neutral()
    q[:3] = 0.3, 0.2, 5.0
    found = mech.contacts(q)
    corners = np.array([[x, y, z] for z in (-3, 3) for x, y in ((-1, -2), (1, -2), (1, 2), (-1, 2))])
    places = corners + q[:3] + (1, 0, 1)
    np.testing.assert_allclose(found.gap, (places - (0, 0, 0.5)) @ (0, -0.6, 0.8), atol=1e-14)
    np.testing.assert_allclose(found.point_b, places, atol=1e-14)
    assert found.names == tuple(f"floor/box.{k}" for k in range(8))
    assert len(found) == 8 and "floor/box.3" in str(found)


def test_a_cylinder_that_lies_flat() -> None:
    """Upright: the middles of its faces; tilted by any angle: the lowest point of the rim."""
    spec = sr.MechanismSpec().body("can", joint=sr.Free(), mass=1.0, inertia=(0.1, 0.1, 0.1))
    spec.surface("floor", "ground", sr.HalfSpace(), friction=0.5)
    mech = spec.surface("can", "can", sr.Cylinder(0.1, 0.4)).contact("floor", "can").compile()
    q = mech.neutral()
    q[2] = 1.0
    np.testing.assert_allclose(mech.contacts(q).point_b, [[0, 0, 0.8], [0, 0, 1.2]], atol=1e-15)
    for tilt in (1e-7, 0.3, np.pi / 2):
        q[3:] = sr.Pose(rpy=(0, tilt, 0)).quat
        low = 1.0 - 0.2 * np.cos(tilt) - 0.1 * np.sin(tilt)
        assert mech.contacts(q).gap.min() == pytest.approx(low, abs=1e-15)


def test_batches_rest_and_mechanisms_without_surfaces() -> None:
    mech = MECHANISMS["HalfSpace", "Box"]
    states = [random_state(mech, k) for k in range(6)]
    q, v = (np.array(x).reshape(2, 3, -1) for x in zip(*states, strict=True))
    many = mech.contacts(q, v)
    assert many.gap.shape == (2, 3, 8) and many.speed.shape == (2, 3, 8, 3)
    one = mech.contacts(*states[4])
    np.testing.assert_array_equal(many.point_a[1, 1], one.point_a)
    np.testing.assert_array_equal(mech.contacts(q).speed, np.zeros((2, 3, 8, 3)))
    assert "2x3 states" in str(many)
    plain = sr.library.four_bar()
    assert len(plain.contacts(plain.default.q)) == 0 and str(plain.contacts(plain.default.q)) == "no contacts"


def test_far_from_the_origin() -> None:
    """Points come from the reference point of the tree, which goes along: gaps lose no digits."""
    spec = sr.MechanismSpec().body("a", joint=sr.Free(), mass=1.0, inertia=(0.1, 0.1, 0.1))
    spec.body("b", "a", joint=sr.Prismatic("x"), mass=1.0)
    for name in "ab":
        spec.surface(name, name, sr.Sphere(0.25), friction=0.0)
    mech = spec.contact("a", "b").compile()
    q = np.array([1e9, 2e9, -1e9, 0, 0, 0, 1, 0.5 + 1e-6])
    assert mech.contacts(q).gap[0] == pytest.approx(1e-6, rel=1e-9)


RUNS = {
    "simulate": lambda m, **way: sr.simulate(m, (0, 0.01), **way),
    "step": lambda m, **way: m.step(*m.default, **way),
    "step_derivatives": lambda m, **way: m.step_derivatives(*m.default, **way),
    "rollout": lambda m, **way: sr.rollout(m, m.default.q[None], dt=0.01, steps=2, **way),
}


@pytest.mark.parametrize("run", RUNS)
def test_what_does_not_know_contacts_says_so(run: str) -> None:
    mech = MECHANISMS["Sphere", "Sphere"]
    with pytest.raises(sr.InputError, match=f"{run} does not know contacts yet, and 1 pairs.*ignore"):
        RUNS[run](mech)
    RUNS[run](mech, contacts="ignore")
    RUNS[run](sr.library.pendulum())
    with pytest.raises(sr.InputError, match=f"contacts of {run} must be one of"):
        RUNS[run](sr.library.pendulum(), contacts="soft")

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
ROUNDED = ("Sphere", "Capsule", "Box", "ConvexMesh")  # polytopes with a rounding
PAIRS = [("HalfSpace", name) for name in SHAPES if name != "HalfSpace"]
PAIRS += [(ROUNDED[i], ROUNDED[j]) for i in range(4) for j in range(i, 4)]
PAIRS += [("Sphere", "Cylinder"), ("Sphere", "Ellipsoid"), ("Ellipsoid", "Ellipsoid")]
PAIRS += [("Ellipsoid", other) for other in ("Capsule", "Cylinder", "Box", "ConvexMesh")]


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
    """Outside of each other, by coal; b then moved into a by 1 mm along the normal: some gap is negative.

    No gap is then below -1 mm, since distances change by no more than b moves.
    """
    mech = MECHANISMS[pair]
    q, _ = random_state(mech, seed)
    shapes = [SHAPES[name] for name in pair]
    distance, _ = coal_distance(shapes[0], mech.pose(q, "a"), shapes[1], mech.pose(q, "b"))
    found = mech.contacts(q)
    if distance < COAL:
        assert np.nanmin(found.gap) < 2 * COAL
        return
    nearest = int(np.argmin(found.gap))
    assert found.gap[nearest] == pytest.approx(distance, abs=COAL)
    q[7:10] -= (found.gap[nearest] + 1e-3) * found.normal[nearest]
    inside = mech.contacts(q).gap.min()
    assert -1e-3 - 1e-12 < inside < 0.0


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
@settings(max_examples=20, deadline=None)
@given(seed=seeds)
def test_points_normals_and_speeds_belong_together(pair: tuple[str, str], seed: int) -> None:
    """point_b - point_a = gap normal; b, a exchanged give the same; speed is that of points of bodies."""
    mech = MECHANISMS[pair]
    q, v = random_state(mech, seed)
    found = mech.contacts(q, v)
    used = np.isfinite(found.gap)
    for x in (found.normal, found.point_a, found.point_b, found.speed):
        np.testing.assert_array_equal(np.isfinite(x), np.repeat(used[:, None], 3, axis=1))
    np.testing.assert_allclose(np.linalg.norm(found.normal[used], axis=1), 1.0, atol=1e-14)
    apart = (found.gap[:, None] * found.normal)[used]
    np.testing.assert_allclose((found.point_b - found.point_a)[used], apart, atol=1e-13)
    for k in np.flatnonzero(used):
        points = (("a", found.point_a[k]), ("b", found.point_b[k]))
        ends = [(body, mech.pose(q, body).inverse().apply(p)) for body, p in points]
        rates = [mech.velocity(q, v, body, p)[:3] for body, p in ends]
        np.testing.assert_allclose(found.speed[k], rates[1] - rates[0], atol=1e-12)
    spec = sr.MechanismSpec.from_model(mech.model)
    spec._contacts.clear()
    other = spec.contact("b", "a").compile().contacts(q, v)
    if len(set(mech.model.sf_kind.tolist())) == 1:  # other features then; the distance is the same
        assert found.gap.min() < 0.0 or other.gap.min() == pytest.approx(found.gap.min(), abs=1e-14)
        return
    np.testing.assert_allclose(other.gap, found.gap, atol=1e-14)
    np.testing.assert_allclose(other.normal, -found.normal, atol=1e-14)
    np.testing.assert_allclose(other.point_a, found.point_b, atol=1e-14)


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
@settings(max_examples=20, deadline=None, derandomize=True)  # second derivatives jump between features
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

    before, after = rate_at(-2 * h), rate_at(2 * h)
    slope = (8 * (rate_at(h) - rate_at(-h)) - (after - before)) / (12 * h)
    scale = 1 + np.nanmax(np.abs(slope))
    kept = np.abs(after + before - 2 * rate) < 1e-2 * h * scale  # False where features change in between
    assert np.sum(kept) >= 0.5 * np.sum(np.isfinite(rate))
    np.testing.assert_allclose(acceleration[kept], slope[kept], atol=1e-6 * scale)


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


BOX = sr.Box((1, 1, 1))
LYING: dict[str, tuple[Any, Any, Any, Any, int]] = {  # a, b, its place and turn, how many points touch
    "flush": (BOX, BOX, (0, 0, 1), (0, 0, 0), 4),
    "off by less than rounding": (BOX, BOX, (1e-13, -1e-13, 1 + 1e-13), (0, 0, 1e-14), 4),
    "displaced": (BOX, BOX, (0.3, 0.2, 1), (0, 0, 0), 4),
    "small on large": (BOX, sr.Box((0.5, 0.5, 0.5)), (0, 0, 0.75), (0, 0, 0), 4),
    "flush on one side": (BOX, sr.Box((0.5, 0.5, 1)), (0.25, 0, 1), (0, 0, 0), 4),
    "planks across": (sr.Box((3, 1, 1)), sr.Box((1, 3, 1)), (0, 0, 1), (0, 0, 0), 4),
    "turned": (BOX, BOX, (0, 0, 1), (0, 0, 0.3), 8),
    "capsule beyond both sides": (BOX, sr.Capsule(0.1, 3), (0.1, 0.05, 0.6), (0, np.pi / 2, 0.4), 2),
    "capsule within": (BOX, sr.Capsule(0.1, 0.3), (0, 0, 0.6), (0, np.pi / 2, 0), 2),
    "capsules side by side": (sr.Capsule(0.5, 1), sr.Capsule(0.5, 1), (0, 0.3, 1), (0, 0, 0), 0),
    "capsules end to end": (sr.Capsule(0.5, 1), sr.Capsule(0.5, 1), (0, 0, 2), (0, 0, 0), 1),
}


@pytest.mark.parametrize("name", LYING)
def test_what_lies_on_another(name: str) -> None:
    """Faces on faces: the corners of what they have in common, once each, all normals up."""
    a, b, xyz, rpy, count = LYING[name]
    spec = sr.MechanismSpec().surface("a", "ground", a, friction=0.5)
    spec.body("b", joint=sr.Free(), mass=1.0, inertia=(0.1, 0.1, 0.1)).surface("b", "b", b)
    mech = spec.contact("a", "b").compile()
    found = mech.contacts([*xyz, *sr.Pose(rpy=rpy).quat])
    touching = np.abs(found.gap) < 1e-12
    assert np.sum(touching) == count and (count == 0 or np.abs(found.gap.min()) < 1e-12)
    np.testing.assert_allclose(found.normal[touching], np.tile([0.0, 0.0, 1.0], (count, 1)), atol=1e-12)
    places = found.point_b[touching].round(9)
    assert len(np.unique(places, axis=0)) == count


def test_edge_on_edge() -> None:
    """Two boxes on their edges, across each other: one point, its normal along neither face."""
    spec = sr.MechanismSpec().surface("a", "ground", BOX, sr.Pose(rpy=(np.pi / 4, 0, 0)), friction=0.5)
    spec.body("b", joint=sr.Free(), mass=1.0, inertia=(0.1, 0.1, 0.1)).surface("b", "b", BOX)
    mech = spec.contact("a", "b").compile()
    found = mech.contacts([0.1, 0.2, np.sqrt(2) + 0.01, *sr.Pose(rpy=(0, np.pi / 4, 0)).quat])
    nearest = int(np.argmin(found.gap))
    assert found.gap[nearest] == pytest.approx(0.01, abs=1e-15)
    np.testing.assert_allclose(found.normal[nearest], (0, 0, 1), atol=1e-15)
    np.testing.assert_allclose(found.point_a[nearest], (0.1, 0, np.sqrt(0.5)), atol=1e-15)


def test_parallel_capsules() -> None:
    """Side by side: two points, at the ends of the part that they have in common."""
    spec = sr.MechanismSpec().surface("a", "ground", sr.Capsule(0.1, 1), friction=0.5)
    spec.body("b", joint=sr.Free(), mass=1.0, inertia=(0.1, 0.1, 0.1)).surface("b", "b", sr.Capsule(0.2, 1))
    found = spec.contact("a", "b").compile().contacts([0.3, 0, 0.3, 0, 0, 0, 1])
    touching = np.abs(found.gap) < 1e-15
    np.testing.assert_allclose(found.point_a[touching], [[0.1, 0, 0.5], [0.1, 0, -0.2]], atol=1e-15)


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


def test_step_derivatives_with_and_without_contacts() -> None:
    """Spheres inside each other have no step; without contacts they have one."""
    mech = MECHANISMS["Sphere", "Sphere"]
    with pytest.raises(sr.SarrusError, match=r"contact 'a/b.0' is inside by 0.4 m"):
        mech.step_derivatives(*mech.default)
    mech.step_derivatives(*mech.default, contacts="ignore")
    pendulum = sr.library.pendulum()
    pendulum.step_derivatives(*pendulum.default)
    with pytest.raises(sr.InputError, match="contacts of step_derivatives must be one of"):
        pendulum.step_derivatives(*pendulum.default, contacts="soft")


def test_a_start_inside_says_by_how_much_and_where() -> None:
    """Two spheres of radius 0.2 whose centres coincide."""
    mech = MECHANISMS["Sphere", "Sphere"]
    with pytest.raises(sr.SarrusError, match=r"'a/b.0' is inside by 0.4 m, at .* mech.separate\(q\)"):
        mech.step(*mech.default)
    with pytest.raises(sr.SarrusError, match=r"a/b.0.* 0.4.* mech.separate"):
        sr.simulate(mech, (0, 0.1), *mech.default)


def test_too_many_points_for_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything is allocated: how much it would be, and what makes it less."""
    mech = two_bodies("Box", "Box")
    monkeypatch.setattr("os.sysconf", lambda name: 128)  # a machine of 16 KiB
    start = mech.default
    calls = {
        "simulate": lambda: sr.simulate(mech, (0.0, 0.1), start.q),
        "step": lambda: mech.step(start.q, start.v, dt=1e-3),
        "rollout": lambda: sr.rollout(mech, start.q[None], dt=1e-3, steps=2),
    }
    for name, call in calls.items():
        with pytest.raises(sr.InputError, match=f"{name}: the contact problem of .* points.*hull_corners"):
            call()

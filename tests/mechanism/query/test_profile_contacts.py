"""Contact points of profiles. Oracles: many points of one outline, closed forms, differences."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sarrus as sr
from sarrus.models.shapes.outline import Element

QUARTER = math.sqrt(2) - 1


def egg(R: float, r: float, d: float) -> list[tuple[float, ...]]:
    """Two circles, d apart, and their common tangents."""
    s = (R - r) / d
    c = math.sqrt(1 - s * s)
    turn = math.pi - 2 * math.asin(s)  # of the small arc
    bulges = math.tan(turn / 4), math.tan((2 * math.pi - turn) / 4)
    return [(R * s, -R * c), (d + r * s, -r * c, bulges[0]), (d + r * s, r * c), (R * s, R * c, bulges[1])]


def ratchet(teeth: int, inner: float, outer: float) -> list[tuple[float, float]]:
    found = []
    for k in range(teeth):
        angle = 2 * math.pi * k / teeth
        found += [
            (inner * math.cos(angle), inner * math.sin(angle)),
            (outer * math.cos(angle), outer * math.sin(angle)),
        ]
    return found


OUTLINES: dict[str, Any] = {
    "disc": [(-0.2, 0, 1), (0.2, 0, 1)],
    "egg": egg(0.3, 0.1, 0.5),
    "ratchet": ratchet(9, 0.3, 0.45),
    "slot": [
        (-0.4, -0.4),
        (0.4, -0.4),
        (0.4, 0.4),
        (0.15, 0.4),
        (0.15, 0, -1),
        (-0.15, 0),
        (-0.15, 0.4),
        (-0.4, 0.4),
    ],
    "star": [(0.4, 0, -QUARTER), (0, 0.4, -QUARTER), (-0.4, 0, -QUARTER), (0, -0.4, -QUARTER)],
    "rounded": [
        (0.3, -0.2),
        (0.3, 0.2, QUARTER),
        (0.2, 0.3),
        (-0.3, 0.3),
        (-0.3, -0.3),
        (0.2, -0.3, QUARTER),
    ],
}
PAIRS = [(a, b) for i, a in enumerate(OUTLINES) for b in list(OUTLINES)[i:]]
seeds = st.integers(0, 10**9)


def two_profiles(a: Any, b: Any) -> sr.Mechanism:
    spec = sr.MechanismSpec()
    for name, shape in (("a", a), ("b", b)):
        spec.body(name, joint=sr.Planar("z"), mass=1.0, inertia=(0.1, 0.1, 0.1))
        spec.surface(name, name, shape, friction=0.5)
    return spec.contact("a", "b").compile()


MECHANISMS = {pair: two_profiles(*(sr.Profile(OUTLINES[x]) for x in pair)) for pair in PAIRS}


def sampled(elements: list[Element]) -> np.ndarray:
    """Points along an outline (n,), x + i y."""
    return np.array([one.at(k / 100) for one in elements for k in range(100)])


def moved(z: np.ndarray, pose: sr.Pose, back: sr.Pose) -> np.ndarray:
    """Points of the plane of one pose in that of another one."""
    X = back.inverse() @ pose
    return X.xyz[0] + 1j * X.xyz[1] + z * (X.rotation[0, 0] + 1j * X.rotation[1, 0])


def from_elements(z: np.ndarray, elements: list[Element]) -> float:
    """The least distance of points from an outline, without a sign."""
    found = []
    for one in elements:
        if one.angle:
            turned = np.angle((z - one.centre) / (one.start - one.centre)) * np.sign(one.angle) % (2 * np.pi)
            radial = np.abs(np.abs(z - one.centre) - one.radius)
            ends = np.minimum(abs(z - one.start), abs(z - one.end))
            found.append(np.where(turned <= abs(one.angle), radial, ends))
        else:
            along = one.end - one.start
            s = np.clip(((z - one.start) / along).real, 0, 1)
            found.append(np.abs(z - one.start - s * along))
    return float(np.min(found))


def holds(elements: list[Element], z: np.ndarray) -> bool:
    """Whether any of some points lies within an outline."""
    from matplotlib.path import Path

    outline = sampled(elements)
    within = Path(np.array([outline.real, outline.imag]).T).contains_points(np.array([z.real, z.imag]).T)
    return bool(np.any(within))


def middles(elements: list[Element]) -> np.ndarray:
    """Corners and centres of convex arcs."""
    return np.array([one.start for one in elements] + [one.centre for one in elements if one.angle > 0])


def at_corner(elements: list[Element], pose: sr.Pose, point: np.ndarray) -> bool:
    x, y, _ = pose.inverse().apply(point)
    return min(abs(one.start - complex(x, y)) for one in elements) < 1e-9


def random_planar(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    q, v = rng.normal(size=6), rng.normal(size=6)
    q[[0, 1, 3, 4]] *= 0.5
    return q, v


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
@settings(max_examples=20, deadline=None)
@given(seed=seeds)
def test_the_smallest_gap_is_the_distance(pair: tuple[str, str], seed: int) -> None:
    """Outside each other: of many points of either outline from the other, to the square of their spacing.

    Moved 1 um into each other along the normal (tips are thin): some gap is negative, none below -1 um.
    """
    mech = MECHANISMS[pair]
    q, _ = random_planar(seed)
    a, b = (sr.Profile(OUTLINES[x]).elements() for x in pair)
    A, B = (mech.pose(q, x) for x in "ab")
    found = mech.contacts(q)
    if holds(b, moved(sampled(a), A, B)) or holds(a, moved(sampled(b), B, A)):
        if holds(b, moved(middles(a), A, B)) or holds(a, moved(middles(b), B, A)):
            assert found.gap.min() < 1e-3  # polygons stand for the outlines here
        return
    distance = min(from_elements(moved(sampled(a), A, B), b), from_elements(moved(sampled(b), B, A), a))
    assert distance - 4e-4 < found.gap.min() < distance + 1e-12
    nearest = int(np.argmin(found.gap))
    corners = (a, A, found.point_a), (b, B, found.point_b)
    if all(at_corner(e, X, points[nearest]) for e, X, points in corners):
        return  # tips pass each other
    q[3:5] -= (found.gap[nearest] + 1e-6) * found.normal[nearest][:2]
    inside = mech.contacts(q)
    assert -1e-6 - 1e-12 < inside.gap.min() < 0.0


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
@settings(max_examples=8, deadline=None, derandomize=True)
@given(seed=seeds)
def test_points_and_derivatives(pair: tuple[str, str], seed: int) -> None:
    """Points on the normals; the same with a and b exchanged; two derivatives against differences."""
    mech = MECHANISMS[pair]
    q, v = random_planar(seed)
    found = mech.contacts(q, v)
    used = np.isfinite(found.gap)
    apart = (found.gap[:, None] * found.normal)[used]
    np.testing.assert_allclose((found.point_b - found.point_a)[used], apart, atol=1e-13)
    rate, acceleration = mech.gap_rates(q, v)
    np.testing.assert_allclose(rate[used], np.sum(found.normal * found.speed, axis=1)[used], atol=1e-12)
    h = 1e-5

    def rate_at(t: float) -> Any:
        return mech.gap_rates(mech.integrate(q, t * v), v)[0]

    before, after = rate_at(-2 * h), rate_at(2 * h)
    slope = (8 * (rate_at(h) - rate_at(-h)) - (after - before)) / (12 * h)
    scale = 1 + np.max(np.abs(slope), initial=0.0, where=np.isfinite(slope))
    kept = np.abs(after + before - 2 * rate) < 1e-2 * h * scale
    assert np.sum(kept) >= 0.5 * np.sum(used)
    np.testing.assert_allclose(acceleration[kept], slope[kept], atol=1e-6 * scale)
    spec = sr.MechanismSpec.from_model(mech.model)
    spec._contacts.clear()
    other = spec.contact("b", "a").compile().contacts(q)
    if found.gap.min() > 0.0:
        assert other.gap.min() == pytest.approx(found.gap.min(), abs=1e-14)


def test_a_pin_in_a_slot() -> None:
    """Both walls at once, and the round bottom; the pin is a cylinder, a sphere or a disc."""
    for pin in (sr.Cylinder(0.15, 0.2), sr.Sphere(0.15), sr.Profile([(-0.15, 0, 1), (0.15, 0, 1)], 0.2)):
        mech = two_profiles(sr.Profile(OUTLINES["slot"], width=0.1), pin)
        found = mech.contacts([0, 0, 0, 0.0, 0.25, 0.7])
        touching = np.abs(found.gap) < 1e-15
        assert np.sum(touching) == 2
        np.testing.assert_allclose(np.sort(found.normal[touching][:, 0]), [-1, 1], atol=1e-14)
        np.testing.assert_allclose(np.sort(found.point_a[touching][:, 0]), [-0.15, 0.15], atol=1e-14)
        slack = mech.contacts([0, 0, 0, 0.0, 0.0, 0.7])  # at the bottom
        assert np.nanmin(np.abs(slack.gap)) < 1e-15


def test_a_ball_beyond_the_end_of_a_profile() -> None:
    """Above the end of an extruded square: its face, its edge; beside it: its side."""
    square = sr.Profile([(-1, -1), (1, -1), (1, 1), (-1, 1)], width=1.0)
    spec = sr.MechanismSpec().surface("a", "ground", square, friction=0.5)
    spec.body("b", joint=sr.Free(), mass=1.0, inertia=(0.1, 0.1, 0.1)).surface("b", "b", sr.Sphere(0.2))
    mech = spec.contact("a", "b").compile()
    for place, gap, normal in (
        ((0.5, 0.1, 1.0), 0.3, (0, 0, 1)),
        ((1.3, 0.0, 0.9), 0.3, (0.6, 0, 0.8)),
        ((0.1, -1.5, 0.3), 0.3, (0, -1, 0)),
        ((0.3, 0.2, -0.8), 0.1, (0, 0, -1)),
    ):
        found = mech.contacts([*place, 0, 0, 0, 1])
        assert found.gap.min() == pytest.approx(gap, abs=1e-15)
        np.testing.assert_allclose(found.normal[np.argmin(found.gap)], normal, atol=1e-15)


def test_a_profile_on_a_floor() -> None:
    """The lowest place of an egg that rolls: R of the circle that is below."""
    spec = sr.MechanismSpec().surface("floor", "ground", sr.HalfSpace("y"), friction=0.5)
    spec.body("egg", joint=sr.Planar("z"), mass=1.0, inertia=(0.1, 0.1, 0.1))
    for name, width in (("thin", None), ("thick", 0.2)):
        spec.surface(name, "egg", sr.Profile(OUTLINES["egg"], width))
    mech = spec.contact("floor", "*").compile()
    for angle in np.linspace(-3, 3, 41):
        found = mech.contacts([0.0, 1.0, angle])
        centres = 1.0 + 0.5 * math.sin(angle)
        assert found.gap.min() == pytest.approx(min(1.0 - 0.3, centres - 0.1), abs=1e-14)
    depths = found.point_b[np.isfinite(found.gap)][:, 2]
    np.testing.assert_allclose(np.unique(depths.round(12)), [-0.1, 0.0, 0.1])


def test_widths_that_have_nothing_in_common() -> None:
    spec = sr.MechanismSpec().surface("a", "ground", sr.Profile(OUTLINES["egg"], 0.1), friction=0.5)
    spec.body("b", joint=sr.Free(), mass=1.0, inertia=(0.1, 0.1, 0.1))
    spec.surface("b", "b", sr.Profile(OUTLINES["disc"], 0.3))
    mech = spec.contact("a", "b").compile()
    found = mech.contacts([1.0, 0, 0.1, 0, 0, 0, 1])
    np.testing.assert_allclose(found.point_a[np.argmin(found.gap)], [0.6, 0, 0.0], atol=1e-12)
    assert found.gap.min() == pytest.approx(0.2)
    assert np.all(np.isinf(mech.contacts([1.0, 0, 0.25, 0, 0, 0, 1]).gap))
    with pytest.raises(sr.InputError, match="axes of two profiles are not parallel"):
        mech.contacts([1.0, 0, 0.1, *sr.Pose(rpy=(0.1, 0, 0)).quat])

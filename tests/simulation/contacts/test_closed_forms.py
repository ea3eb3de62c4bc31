"""Runs with contacts against closed forms."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import sarrus as sr

from .machines import G, ball, block, kinds


@pytest.mark.parametrize("e", [0.0, 0.5, 0.9])
def test_a_ball_rebounds_until_it_rests(e: float) -> None:
    """From the first impact at v0 to rest: 2 v0 e / (g (1 - e))."""
    mech, q = ball(e, height=1.0)
    v0 = np.sqrt(2 * G)
    first, rest = v0 / G, 2 * v0 * e / (G * (1 - e))
    run = sr.simulate(mech, (0, first + rest + 1), q)
    assert run.success
    hits = [event for event in run.events if event.kind == "impact"]
    assert abs(hits[0].t - first) <= 1e-12
    assert abs(run.events[-1].t - first - rest) <= 1e-9
    assert run.contacts.mode[-1].tolist() == ["stick"]
    assert abs(run.q[-1, 2] - 0.1) <= 1e-12
    assert np.abs(run.v[-1]).max() <= 1e-15
    for k, (one, next_one) in enumerate(pairwise(hits[:8])):
        assert next_one.t - one.t == pytest.approx(2 * v0 * e ** (k + 1) / G, abs=1e-11)


def test_a_ball_that_loses_nothing_rebounds_1000_times() -> None:
    mech, q = ball(1.0, height=1.0)
    flight = 2 * np.sqrt(2 / G)
    run = sr.simulate(mech, (0, 1000 * flight), q)
    assert run.success
    assert kinds(run).count("impact") == 1000
    assert abs(run.q[-1, 2] - 1.1) <= 1e-9
    assert np.ptp(run.energy) <= 1e-9 * run.energy[0]


def test_a_block_at_the_angle_of_friction() -> None:
    for part, slides in ((1 - 1e-6, False), (1 + 1e-6, True)):
        slope = np.arctan(0.5 * part)
        mech, q = block(0.5, slope)
        run = sr.simulate(mech, (0, 1), q)
        a = G * (np.sin(slope) - 0.5 * np.cos(slope)) if slides else 0.0
        assert run.success
        assert set(run.contacts.mode[-1, :4]) == {"slip" if slides else "stick"}
        assert run.q[-1, 0] == pytest.approx(a / 2, abs=1e-10 * mech.length)  # atol of the run
        total = run.contacts.force[-1].sum(axis=0)
        np.testing.assert_allclose(total[2], 2 * G * np.cos(slope), rtol=1e-12)


def test_a_block_slides_and_stops() -> None:
    mech, q = block(0.3)
    run = sr.simulate(mech, (0, 2), q, np.array([1.5, 0.0, 0, 0, 0, 0]))
    assert run.success
    assert run.events[-1].kind == "stick"
    assert run.events[-1].t == pytest.approx(1.5 / (0.3 * G), abs=1e-9)
    assert run.q[-1, 0] == pytest.approx(1.5**2 / (2 * 0.3 * G), abs=1e-9)
    assert run.contacts.work.sum() == pytest.approx(-0.5 * 2 * 1.5**2, rel=1e-6)


def test_a_sphere_slides_and_then_rolls() -> None:
    mech, q = ball(0.0, friction=0.3)
    run = sr.simulate(mech, (0, 1.5), q, np.array([2.0, 0, 0, 0, 0, 0]), rtol=1e-10)
    assert run.success
    assert kinds(run) == ["stick"]
    assert run.events[0].t == pytest.approx(2 * 2.0 / (7 * 0.3 * G), abs=1e-9)
    assert np.linalg.norm(run.v[-1, :3]) == pytest.approx(5 / 7 * 2.0, abs=1e-9)
    assert np.abs(run.q[:, 2] - 0.1).max() <= 1e-12
    lost = run.energy[-1] - run.energy[0]
    assert lost == pytest.approx(-0.5 * 2.0**2 * 2 / 7, rel=1e-8)


def test_a_box_tips_where_it_is_slender_and_slides_where_it_is_not() -> None:
    """On a slope a box tips before it slides where half its width over half its height is below mu."""
    slope = np.arctan(0.55)
    run = sr.simulate(
        block(0.8, slope, size=(0.1, 0.2, 0.3))[0], (0, 0.1), block(0.8, slope, size=(0.1, 0.2, 0.3))[1]
    )
    assert sorted(run.contacts.mode[-1].tolist()).count("stick") == 2
    assert run.v[-1, 4] > 0.1
    mech, q = block(0.5, slope, size=(0.2, 0.2, 0.1))
    run = sr.simulate(mech, (0, 0.1), q)
    assert run.contacts.mode[-1].tolist().count("slip") == 4
    assert abs(run.v[-1, 4]) <= 1e-9


def rocking(angle: float) -> tuple[sr.Mechanism, np.ndarray]:
    """A slender block in the plane, on one of its lower edges, tilted."""
    spec = sr.MechanismSpec(name="rocking block")
    spec.body("x", joint=sr.Prismatic("x"), mass=0.0)
    spec.body("z", "x", joint=sr.Prismatic("z"), mass=0.0)
    b, h = 0.1, 0.4
    spec.body(
        "block", "z", joint=sr.Revolute("y"), mass=1.0, inertia=(1.0, (4 * b * b + 4 * h * h) / 12, 1.0)
    )
    spec.surface("floor", "ground", sr.HalfSpace(), friction=5.0)
    spec.surface("left", "block", sr.Sphere(1e-9), at=sr.Pose((-b, 0, -h)))
    spec.surface("right", "block", sr.Sphere(1e-9), at=sr.Pose((b, 0, -h)))
    spec.contact("floor", "left")
    spec.contact("floor", "right")
    mech = spec.compile()
    q = np.array([0.0, h * np.cos(angle) + b * np.sin(angle) + 1e-9, angle])
    return mech, q


def test_housners_rocking_block() -> None:
    """One impact multiplies the angular velocity by 1 - 3/2 sin^2(alpha), tan(alpha) = b / h."""
    mech, q = rocking(0.05)
    run = sr.simulate(mech, (0, 2), q)
    assert run.success
    hits = [k for k, event in enumerate(run.events) if event.kind == "impact"]
    assert len(hits) > 1
    t = run.events[hits[0]].t
    i = int(np.flatnonzero(run.t == t)[0])
    alpha = np.arctan(0.1 / 0.4)
    ratio = 1 - 1.5 * np.sin(alpha) ** 2
    assert run.v[i + 1, 2] / run.v[i, 2] == pytest.approx(ratio, rel=1e-7)
    energy = run.energy - run.energy[-1]
    assert np.all(np.diff(energy) <= 1e-8 * energy[0])


def test_three_touching_balls() -> None:
    """Newton's law with e = 1 gives (-1/3, 2/3, 2/3); gaps of 1e-6 m let one out."""
    for gap, speeds in ((0.0, (-1 / 3, 2 / 3, 2 / 3)), (1e-6, (0.0, 0.0, 1.0))):
        spec = sr.MechanismSpec(name="balls", gravity=(0, 0, 0))
        for k in range(3):
            spec.body(f"b{k}", joint=sr.Prismatic("x"), mass=1.0)
            spec.surface(f"b{k}", f"b{k}", sr.Sphere(0.1), friction=0.0, restitution=1.0)
        spec.contact("b0", "b1")
        spec.contact("b1", "b2")
        mech = spec.compile()
        run = sr.simulate(mech, (0, 1), [-0.5, 0.2, 0.4 + gap], [1.0, 0.0, 0.0])
        assert run.success
        np.testing.assert_allclose(run.v[-1], speeds, atol=1e-12)


def test_a_rimless_wheel_rolls_down_a_slope() -> None:
    """Inelastic impacts of spokes multiply the angular velocity by (I + m l^2 cos(2 a)) / (I + m l^2)."""
    n, slope, mass, inertia = 8, 0.08, 1.0, 0.5
    a = np.pi / n
    spec = sr.MechanismSpec(name="rimless wheel", gravity=(G * np.sin(slope), 0, -G * np.cos(slope)))
    spec.body("x", joint=sr.Prismatic("x"), mass=0.0)
    spec.body("z", "x", joint=sr.Prismatic("z"), mass=0.0)
    spec.body("wheel", "z", joint=sr.Revolute("y"), mass=mass, inertia=(1.0, inertia, 1.0))
    spec.surface("floor", "ground", sr.HalfSpace(), friction=3.0)
    for k in range(n):
        at = sr.Pose((np.sin(2 * a * k), 0.0, -np.cos(2 * a * k)))
        spec.surface(f"spoke{k}", "wheel", sr.Sphere(1e-9), at=at)
        spec.contact("floor", f"spoke{k}")
    mech = spec.compile()
    run = sr.simulate(mech, (0, 3), [0.0, 1.0 + 1e-9, 0.0], [0.9, 0.0, 0.9])
    assert run.success
    hits = sorted({event.t for event in run.events if event.kind == "impact"})
    assert len(hits) >= 3
    ratio = (inertia + mass * np.cos(2 * a)) / (inertia + mass)
    for t in hits:
        i = int(np.flatnonzero(run.t == t)[0])
        assert run.v[i + 1, 2] / run.v[i, 2] == pytest.approx(ratio, rel=1e-7)


def test_torsion_and_rolling_brake_a_ball() -> None:
    """Rolling: a = 5/7 delta g / r until rest. Spinning: alpha = tau m g / I. All energy is their work."""
    r, delta, tau = 0.1, 0.005, 0.002
    for v, arm in (([1.0, 0, 0, 0, 10.0, 0], {"rolling": delta}), ([0, 0, 0, 0, 0, 3.0], {"torsion": tau})):
        spec = sr.MechanismSpec(name="ball")
        spec.body("ball", joint=sr.Free(), mass=1.0, inertia=(0.4 * r * r,) * 3)
        spec.surface("floor", "ground", sr.HalfSpace(), friction=0.8, **arm)
        spec.surface("ball", "ball", sr.Sphere(r)).contact("floor", "ball")
        mech = spec.compile()
        q = mech.neutral()
        q[2] = r
        run = sr.simulate(mech, (0, 4), q, v)
        assert run.success
        assert np.abs(run.v[-1]).max() <= 1e-10
        assert run.contacts.work.sum() == pytest.approx(run.energy[-1] - run.energy[0], rel=1e-6)
        if "rolling" in arm:
            assert run.q[-1, 0] == pytest.approx(1 / (2 * 5 / 7 * delta / r * G), rel=1e-7)
        stopped = [event for event in run.events if event.kind == "stick"]
        expected = 1 / (5 / 7 * delta / r * G) if "rolling" in arm else 3.0 * 0.4 * r * r / (tau * G)
        assert [event.t for event in stopped] == [pytest.approx(expected, rel=1e-7)]
        assert "turning" in stopped[0].note

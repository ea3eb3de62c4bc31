"""Surfaces beside what else changes the mode of a run: stops, switches, latches, dry friction, sr.Contact."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import sarrus as sr

from .machines import G, kinds

Array = NDArray[np.float64]
TIP = (0.7, 0.0, 0.0)


def arm(surface: bool, friction: float = 0.0, upper: float | None = None) -> sr.Mechanism:
    """Two links whose tip falls on a smooth floor: as a ball on a half space, or as a point on a plane."""
    spec = sr.MechanismSpec(name="arm")
    dry = {"friction": friction, "friction_model": "coulomb"} if friction else {}
    limits = None if upper is None else (-1.0, upper)
    at = sr.Pose((0.0, 0.0, 1.0))
    inertia = (0.01, 0.05, 0.05)
    spec.body(
        "a", joint=sr.Revolute("y"), at=at, mass=1.0, com=(0.4, 0, 0), inertia=inertia, limits=limits, **dry
    )
    at = sr.Pose((0.8, 0, 0))
    spec.body(
        "b", parent="a", joint=sr.Revolute("y"), at=at, mass=0.7, com=(0.35, 0, 0), inertia=inertia, **dry
    )
    if surface:
        spec.surface("floor", "ground", sr.HalfSpace(), friction=0.0)
        spec.surface("tip", "b", sr.Sphere(0.05), at=sr.Pose(TIP)).contact("floor", "tip")
    else:
        spec.constrain("tip", sr.PointOnPlane("ground", (0, 0, 0.05), "b", TIP, (0, 0, 1)))
    return spec.compile()


@pytest.mark.parametrize(
    ("friction", "upper"), [(0.0, None), (0.5, None), (0.0, 0.75), (0.3, 0.75), (2.0, None)]
)
def test_ball_on_a_floor_moves_as_a_declared_contact(friction: float, upper: float | None) -> None:
    """A smooth surface without rebound is an sr.Contact; the solvers are others, and so are the events.

    Joints slide and stick, a stop is hit, the tip lands, slides on and lifts. The bound is what changes of
    mode add to rtol = 1e-9.
    """
    q, v = [0.3, -0.2], [0.0, 1.0]
    stops = upper is not None
    ball = sr.simulate(arm(True, friction, upper), (0, 2), q, v, stops=stops, rtol=1e-9)
    point = sr.simulate(
        arm(False, friction, upper), (0, 2), q, v, stops=stops, rtol=1e-9, switches=sr.Contact("tip")
    )
    assert ball.success and point.success
    np.testing.assert_allclose(ball.q[-1], point.q[-1], rtol=0, atol=3e-9)
    touched = [e.t for e in ball.events if e.kind == "impact"]
    closed = [e.t for e in point.events if "tip" in e.closed]
    np.testing.assert_allclose(touched, closed, rtol=0, atol=1e-8)
    for name in ("slip", "stick"):
        ours = [(e.name, e.t) for e in ball.events if e.kind == name]
        theirs = [(e.name, e.t) for e in point.events if e.kind == name]
        assert [x for x, _ in ours] == [x for x, _ in theirs]
        np.testing.assert_allclose([t for _, t in ours], [t for _, t in theirs], rtol=0, atol=1e-8)


def cart(limits: tuple[float, float] | None = None) -> sr.Mechanism:
    """A cart of 2 kg on a guide with 3 N of dry friction, whose load of 1 kg, free to lift, slides on a floor
    with a coefficient of 0.4."""
    spec = sr.MechanismSpec(name="cart")
    dry = {"friction": 3.0, "friction_model": "coulomb"}
    spec.body("cart", joint=sr.Prismatic("x"), mass=2.0, limits=limits, **dry)
    spec.body("load", parent="cart", joint=sr.Prismatic("z"), mass=1.0)
    spec.surface("floor", "ground", sr.HalfSpace(), friction=0.4)
    spec.surface("load", "load", sr.Sphere(0.1)).contact("floor", "load")
    return spec.compile()


def test_friction_of_joint_and_surface_brake_together() -> None:
    """3 N of the guide and 0.4 m g of the floor: v0 m / F seconds, v0^2 m / 2 F metres; then both stick."""
    force = 3.0 + 0.4 * 1.0 * G
    run = sr.simulate(cart(), (0, 2), [0, 0.1], [1.5, 0])
    stops = [e for e in run.events if e.kind == "stick"]
    assert {e.name for e in stops} == {"cart", "floor/load.0"}
    np.testing.assert_allclose([e.t for e in stops], 1.5 * 3 / force, rtol=1e-9)
    np.testing.assert_allclose(run.q[-1, 0], 1.5**2 * 3 / (2 * force), rtol=1e-9)
    np.testing.assert_allclose(run.friction[0, 0], -3.0, rtol=1e-12)
    np.testing.assert_allclose(run.contacts.force[0, 0], [-0.4 * G, 0, G], rtol=1e-9)


def test_push_that_overcomes_both_frictions() -> None:
    """A force that grows by 2 N/s moves the cart at the sum of both limits, and not before."""
    run = sr.simulate(cart(), (0, 5), [0, 0.1], tau=lambda t, q, v: np.array([2.0 * t, 0.0]))
    force = 3.0 + 0.4 * G
    begins = [e for e in run.events if e.kind == "slip"]
    assert {e.name for e in begins} == {"cart", "floor/load.0"}
    np.testing.assert_allclose([e.t for e in begins], force / 2, rtol=1e-7)
    late = 5 - force / 2
    np.testing.assert_allclose(run.v[-1, 0], late**2 / 3, rtol=1e-7)
    assert np.all(np.abs(run.friction[:, 0]) <= 3.0 * (1 + 2e-6))
    assert np.all(np.abs(run.contacts.force[:, 0, 0]) <= 0.4 * G * (1 + 2e-6))


def test_a_stop_is_hit_while_a_surface_slides() -> None:
    force = 3.0 + 0.4 * G
    run = sr.simulate(cart((-1.0, 0.2)), (0, 2), [0, 0.1], [1.5, 0], stops=True)
    a = force / 3
    hit = (1.5 - np.sqrt(1.5**2 - 2 * a * 0.2)) / a
    assert isinstance(run, sr.SwitchedTrajectory)
    np.testing.assert_allclose(run.impacts[0].v_before[0], 1.5 - a * hit, rtol=1e-9)
    np.testing.assert_allclose([e.t for e in run.events if "cart.upper" in e.closed], hit, rtol=1e-9)
    np.testing.assert_allclose(run.q[-1], [0.2, 0.1], rtol=0, atol=1e-12)
    np.testing.assert_allclose(run.energy_lost, 1.5 * (1.5 - a * hit) ** 2, rtol=1e-9)


def test_joint_that_sticks_and_floor_share_a_load_within_their_limits() -> None:
    """The motion leaves it open who carries: friction of the joint has at most its 2 N."""
    spec = sr.MechanismSpec(name="shared")
    spec.body("load", joint=sr.Prismatic("z"), mass=1.0, friction=2.0, friction_model="coulomb")
    spec.surface("floor", "ground", sr.HalfSpace(), friction=0.4)
    spec.surface("load", "load", sr.Sphere(0.1)).contact("floor", "load")
    run = sr.simulate(spec.compile(), (0, 1), [0.5], [0.0])
    assert kinds(run)[-1] in ("touch", "stick", "impact")
    np.testing.assert_allclose(run.q[-1], 0.1, atol=1e-12)
    np.testing.assert_allclose(run.contacts.force[-1, 0, 2] + run.friction[-1, 0], G, rtol=1e-9)
    assert abs(run.friction[-1, 0]) <= 2.0 * (1 + 1e-9)


def test_a_latch_closes_while_surfaces_touch() -> None:
    """A ball that rolls on a floor is caught by a rod: from then on it swings about its end."""
    spec = sr.MechanismSpec(name="caught", gravity=(0, 0, -G))
    spec.body("ball", joint=sr.Planar("y"), mass=1.0, inertia=(0.004, 0.004, 0.004))
    spec.surface("floor", "ground", sr.HalfSpace(), friction=0.3)
    spec.surface("ball", "ball", sr.Sphere(0.1)).contact("floor", "ball")
    spec.constrain("rod", sr.Distance("ground", (0, 0, 1.0), "ball", (0, 0, 0), 1.0))
    mech = spec.compile()
    q = mech.assemble(fixed={}).q * 0
    q[mech.index("ball").q] = 0
    heights = [mech.pose(q + np.eye(3)[k], "ball").xyz[2] for k in range(3)]
    up = int(np.argmax(np.abs(heights)))
    along = 1 - up
    q[up] = 0.1 / heights[up]
    v = np.zeros(3)
    v[along] = 1.0
    run = sr.simulate(mech, (0, 1), q, v, switches=sr.Switch("rod", on=0.3, latch=True))
    assert run.success, run.message
    assert any("rod" in e.closed for e in run.events)
    closed = run.t > 0.3
    away = [mech.pose(x, "ball").xyz - np.array([0, 0, 1.0]) for x in run.q[closed]]
    lengths = np.linalg.norm(away, axis=1)
    np.testing.assert_allclose(lengths, lengths[0], rtol=0, atol=1e-10)
    gaps = [mech.contacts(x).gap[0] for x in run.q]
    assert min(gaps) > -1e-10


def test_sampled_control_and_terminal_events_beside_stops() -> None:
    """A law that is asked every 10 ms pushes the cart until it has gone 0.1 m."""
    asked: list[float] = []

    def push(t: float, q: Array, v: Array) -> Array:
        asked.append(t)
        return np.array([12.0, 0.0])

    def gone(t: float, q: Array, v: Array) -> float:
        return float(q[0] - 0.1)

    gone.terminal = True  # type: ignore[attr-defined]
    run = sr.simulate(
        cart((-1.0, 0.2)), (0, 2), [0, 0.1], control=push, control_dt=0.01, events=gone, stops=True
    )
    a = (12.0 - 3.0 - 0.4 * G) / 3
    assert run.status == 1
    np.testing.assert_allclose(run.t[-1], np.sqrt(0.2 / a), rtol=1e-9)
    assert asked[:-1] == pytest.approx(0.01 * np.arange(35))  # and at the end of the step in which it ends


def test_resumed_runs_have_the_same_bits() -> None:
    """With stops, dry friction and surfaces; the checkpoint holds the modes of all three."""
    mech = cart((-1.0, 0.2))
    given = {"stops": True, "tau": lambda t, q, v: np.array([8 * np.sin(5 * t), 0.0])}
    whole = sr.simulate(mech, (0, 2), [0, 0.1], [1.5, 0], **given)
    parts = sr.simulate(mech, (0, 0.9), [0, 0.1], [1.5, 0], **given).resume(2, tau=given["tau"])
    assert whole.success and len(whole.events) > 3
    np.testing.assert_array_equal(parts.q, whole.q)
    assert [(e.name, e.t) for e in parts.events] == [(e.name, e.t) for e in whole.events]

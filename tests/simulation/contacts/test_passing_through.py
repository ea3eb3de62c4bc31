"""Fixed steps in which something fast meets something thin: nothing passes through anything."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sarrus as sr


def bullet(thickness: float, shape: Any, restitution: float = 0.0) -> sr.Mechanism:
    """A body without gravity that flies along x against a wall whose face is at x = 0."""
    spec = sr.MechanismSpec(name="bullet", gravity=(0, 0, 0))
    spec.body("bullet", joint=sr.Free(), mass=1.0, inertia=(0.01, 0.01, 0.01))
    at = sr.Pose((thickness / 2, 0, 0))
    spec.surface("wall", "ground", sr.Box((thickness, 3.0, 3.0)), at=at, friction=0.0)
    spec.surface("bullet", "bullet", shape, restitution=restitution)
    spec.contact("wall", "bullet")
    return spec.compile()


def start(mech: sr.Mechanism, x: float, speed: float) -> tuple[Any, Any]:
    q, v = mech.neutral(), np.zeros(6)
    q[0], v[0] = x, speed
    return q, v


@pytest.mark.parametrize("thickness", [0.5, 0.02, 0.005])
@pytest.mark.parametrize("speed", [5.0, 30.0, 90.0])
@pytest.mark.parametrize("shape", [sr.Sphere(0.05), sr.Box((0.1, 0.1, 0.1)), sr.Capsule(0.05, 0.1)])
def test_a_bullet_bounces(shape: Any, speed: float, thickness: float) -> None:
    """It comes back at e times its speed, at the time of the contact to a small part of the step."""
    mech, dt, steps = bullet(thickness, shape, 0.5), 0.01, 6
    x0 = -0.05 - 2.4 * dt * speed  # contact within the third step
    q, v = start(mech, x0, speed)
    many = sr.rollout(mech, q, v, dt=dt, steps=steps)
    run = sr.simulate(mech, (0, steps * dt), q, v, contacts="steps", dt=dt)
    state: Any = q, v
    for _ in range(steps):
        state = mech.step(*state[:2], dt=dt)
    assert many.success and run.success, (many.message, run.message)
    for found in (many.q[0, -1], run.q[-1], state[0]):
        assert found[0] == pytest.approx(-0.05 - 0.5 * speed * 3.6 * dt, abs=0.02 * speed * dt)
        assert mech.contacts(found).gap.min() > 0.0
    assert many.v[0, -1, 0] == pytest.approx(-0.5 * speed, rel=1e-12)


def test_a_spinning_rod_does_not_pass_a_wire() -> None:
    """Half a turn within five steps, past a thin rod that stands in its way."""
    spec = sr.MechanismSpec(name="propeller", gravity=(0, 0, 0))
    spec.body("rod", joint=sr.Revolute("z"), mass=1.0, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1))
    spec.surface("rod", "rod", sr.Capsule(0.01, 1.0), at=sr.Pose((0.5, 0, 0), rpy=(0, np.pi / 2, 0)))
    spec.surface("wire", "ground", sr.Capsule(0.002, 1.0), at=sr.Pose((0, 0.8, 0)), friction=0.0)
    spec.contact("wire", "rod")
    mech = spec.compile()
    many = sr.rollout(mech, [0.0], [60.0], dt=0.01, steps=10)
    assert many.success, many.message
    assert many.q.max() <= np.pi / 2
    assert mech.contacts(many.q[0]).gap.min() >= -1e-9


def test_far_surfaces_leave_the_bits_of_the_method() -> None:
    """What is far away has the bits of the method."""
    mech = bullet(0.02, sr.Sphere(0.05))
    q, v = start(mech, -1.0, 3.0)
    one, other = (mech.step(q, v, dt=0.01, contacts=way) for way in ("steps", "ignore"))
    np.testing.assert_array_equal(one.q, other.q)

"""Motors along a prescribed motion with the friction of what moves, against forward dynamics and by hand."""

from __future__ import annotations

import numpy as np
import pytest

import sarrus as sr


def slide(**friction: float) -> sr.Mechanism:
    spec = sr.MechanismSpec(gravity=(0, 0, -9.81), name="slide")
    spec.body("table", joint=sr.Prismatic("x"), mass=10.0, friction_model="coulomb", **friction)
    spec.force("guide", sr.BearingFriction("table", mu=0.1))
    return spec.actuate("table").compile()


def test_constant_friction_and_friction_by_load() -> None:
    mech = slide(friction=3.0)
    held = mech.hold([[0.0]] * 3, v=[[0.2], [-0.2], [0.0]], a=[[1.0]] * 3)
    by_load = 0.1 * 98.1
    np.testing.assert_allclose(held.motors["table"], [13.0 + by_load, 7.0 - by_load, 10.0], rtol=1e-12)
    assert "Dry friction of what moves is part of it" in held.message
    assert "Dry friction is left out" in mech.hold([0.0]).message


def test_the_fading_part_of_breakaway_counts() -> None:
    mech = slide(friction=3.0, breakaway=5.0, friction_speed=0.2)
    needed = mech.hold([0.0], v=[0.2]).motors["table"][0]
    assert needed == pytest.approx(3.0 + 2.0 * np.exp(-1.0) + 9.81, rel=1e-12)


@pytest.mark.parametrize("name", ["overhung_gearbox", "screw_jack", "worm_hoist"])
def test_the_motor_force_keeps_the_motion(name: str) -> None:
    mech = getattr(sr.library, name)()
    motor = mech.actuators[0]
    for speed in (3.0, -3.0):
        v = mech.consistent_velocity(mech.default.q, fixed={motor: speed})
        held = mech.hold(mech.default.q, v=v)
        motion = mech.forward_dynamics(mech.default.q, v, tau=held.tau[0])
        size = np.abs(held.tau).max() / np.diag(mech.mass_matrix(mech.default.q)).min()
        assert np.abs(motion.a).max() < 1e-9 * max(size, 1.0)
        for joint, wrench in held.reactions.items():
            np.testing.assert_allclose(
                wrench[0], motion.reaction(joint), atol=1e-7 * np.abs(wrench).max() + 1e-9
            )

"""A point on a cylinder: a pendulum against its own equation, refusals, and the kind in words."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import sarrus as sr


def ball_in_a_tube(radius: float = 0.5) -> sr.Mechanism:
    """A free body whose centre stays on a cylinder about y, under gravity along -z."""
    spec = sr.MechanismSpec()
    spec.body("ball", joint=sr.Free(), mass=2.0, inertia=(0.01, 0.01, 0.01))
    spec.constrain("tube", sr.PointOnCylinder("ground", (0, 0, 0), "ball", (0, 0, 0), "y", radius))
    return spec.compile()


def test_it_swings_like_a_pendulum_of_the_radius_and_drifts_along_the_axis() -> None:
    mech = ball_in_a_tube()
    v = np.array([0.8, 0.3, 0.0, 0.0, 0.0, 0.0])
    run = sr.simulate(mech, (0.0, 1.0), [0, 0, -0.5, 0, 0, 0, 1], v, method="dopri5", rtol=1e-11, atol=1e-12)
    swing = solve_ivp(
        lambda _, x: (x[1], -9.81 / 0.5 * np.sin(x[0])), (0, 1), (0, 0.8 / 0.5), rtol=1e-11, atol=1e-12
    )
    angle = swing.y[0, -1]
    np.testing.assert_allclose(run.q[-1, :3], [0.5 * np.sin(angle), 0.3, -0.5 * np.cos(angle)], atol=1e-8)
    assert run.drift.max() < 1e-12


def test_the_wall_carries_weight_and_centrifugal_force() -> None:
    mech = ball_in_a_tube()
    motion = mech.forward_dynamics([0, 0, -0.5, 0, 0, 0, 1], [0.8, 0, 0, 0, 0, 0])
    up = 2.0 * 9.81 + 2.0 * 0.8**2 / 0.5
    np.testing.assert_allclose(motion.reaction("tube", "world"), [0, 0, up, 0, 0, 0], atol=1e-10)


def test_a_latched_copy_takes_the_radius_that_it_finds() -> None:
    latched = ball_in_a_tube().latched("tube", [0.3, 7.0, 0.4, 0, 0, 0, 1])
    assert latched.radius == pytest.approx(0.5)


def test_bad_arguments_and_the_axis_itself_are_refused() -> None:
    with pytest.raises(sr.InputError, match=r"radius of PointOnCylinder .*use PointOnLine"):
        sr.PointOnCylinder("ground", (0, 0, 0), "ball", (0, 0, 0), "y", 0.0)
    with pytest.raises(sr.InputError, match=r"tube\.radial .* lies on its axis"):
        ball_in_a_tube().forward_dynamics([0, 0, 0, 0, 0, 0, 1], np.zeros(6))

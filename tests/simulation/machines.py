"""Small mechanisms that the tests of this room share."""

from __future__ import annotations

import numpy as np

import sarrus as sr


def spinning_top() -> sr.Mechanism:
    """A free asymmetric body, thrown and spinning, with a quaternion in q."""
    spec = sr.MechanismSpec(name="top")
    spec.body("top", joint=sr.Free(), mass=1.3, com=(0.1, -0.05, 0.2), inertia=(0.05, 0.09, 0.12))
    spec.actuate("top")
    q = [0.1, 0.2, 0.3, *np.array([0.1, -0.2, 0.3, 0.9]) / np.sqrt(0.95)]
    return spec.compile().with_default(q, [0.5, -1.0, 2.0, 3.0, 2.0, -1.0])


def spherical_pendulum() -> sr.Mechanism:
    """A heavy asymmetric body on a ball joint."""
    spec = sr.MechanismSpec(name="spherical_pendulum")
    spec.body("bob", joint=sr.Spherical(), mass=1.0, com=(0.0, 0.1, -0.8), inertia=(0.1, 0.2, 0.15))
    return spec.compile().with_default([0.3, 0.0, 0.1, 0.9], [0.4, 1.5, 2.0])


def held_ball() -> sr.Mechanism:
    """The same body, free, held at its pivot by a loop: a quaternion and constraint rows."""
    spec = sr.MechanismSpec(name="held_ball")
    spec.body("bob", joint=sr.Free(), mass=1.0, com=(0.0, 0.1, -0.8), inertia=(0.1, 0.2, 0.15))
    spec.close("pivot", "ground", "bob", joint=sr.Spherical())
    spec.actuate("bob")
    q = [0.0, 0.0, 0.0, 0.3, 0.0, 0.1, 0.9]
    return spec.compile().with_default(q, [0.0, 0.0, 0.0, 0.4, 1.5, 2.0])


def four_bar_moving() -> sr.Mechanism:
    """A four-bar whose crank turns all around, far from singular poses."""
    mech = sr.library.four_bar()
    q = mech.default.q
    return mech.with_default(q, mech.consistent_velocity(q, fixed={"crank": 6.0}))


def shaken_pendulum() -> sr.Mechanism:
    """A pendulum on a slide that is moved to and fro: time enters the dynamics."""
    spec = sr.MechanismSpec(gravity=(0.0, 0.0, -9.81), name="shaken_pendulum")
    spec.body("slide", joint=sr.Prismatic("x"), mass=1.0)
    spec.body("bob", "slide", joint=sr.Revolute("y"), mass=1.0, com=(0.0, 0.0, -0.5), inertia=(0.1, 0.1, 0.0))
    x = (lambda t: 0.1 * np.sin(9 * t), lambda t: 0.9 * np.cos(9 * t), lambda t: -8.1 * np.sin(9 * t))
    spec.constrain("shaker", sr.Drive("slide", *x))
    return spec.compile().with_default([0.0, 0.5], [0.9, 1.0])


def fast_four_bar() -> sr.Mechanism:
    """The library's four-bar with its crank at 800 rad/s."""
    mech = sr.library.four_bar()
    return mech.with_default(mech.default.q, mech.consistent_velocity(mech.default.q, fixed={"crank": 800.0}))


def spinning_body() -> sr.Mechanism:
    """A free body at 3e4 rad/s, without gravity."""
    spec = sr.MechanismSpec(gravity=(0.0, 0.0, 0.0))
    spec.body("top", joint=sr.Free(), mass=1.0, inertia=(0.01, 0.02, 0.03))
    return spec.compile().with_default([0, 0, 0, 0, 0, 0, 1], [0, 0, 0, 3e4, 100.0, 0])


def oscillator(stiffness: float, damping: float = 0.0) -> sr.Mechanism:
    """1 kg on a spring (N/m) and a damper (N s/m), 0.1 m from rest."""
    spec = sr.MechanismSpec(gravity=(0.0, 0.0, 0.0))
    spec.body("mass", joint=sr.Prismatic("x"), mass=1.0, damping=damping)
    spec.force("spring", sr.JointSpring("mass", stiffness, 0.0))
    return spec.compile().with_default([0.1], [0.0])


def error(mech: sr.Mechanism, one: sr.Trajectory, other: sr.Trajectory) -> float:
    """Largest difference of the last states of two trajectories, positions and velocities."""
    dq = mech.difference(one.q[-1], other.q[-1])
    return float(max(np.abs(dq).max(), np.abs(one.v[-1] - other.v[-1]).max()))

"""Poses, velocities, accelerations and Jacobians against differences of poses along a motion."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.spatial.transform import Rotation

import sarrus as sr

Array = npt.NDArray[np.float64]
POINT = np.array([0.2, -0.1, 0.3])


def chain() -> sr.Mechanism:
    """One body of every joint, in a row."""
    spec = sr.MechanismSpec()
    box: dict[str, Any] = {"mass": 1.0, "com": (0.1, 0, 0), "inertia": (0.1, 0.2, 0.25)}
    parent = "ground"
    joints = [
        sr.Free(), sr.Revolute("x"), sr.Spherical(), sr.Prismatic((1, 2, 2)), sr.Helical("y", 0.2),
        sr.Cylindrical("z"), sr.Fixed(), sr.Universal("x", "z"), sr.Planar("y"),
    ]  # fmt: skip
    for i, joint in enumerate(joints):
        at = sr.Pose((0.3, 0.1, -0.2), rpy=(0.1 * i, 0.2, -0.3))
        spec.body(f"b{i}", parent=parent, joint=joint, at=at, **box)
        parent = f"b{i}"
    return spec.compile()


def motion(mech: sr.Mechanism) -> tuple[Array, Array, Array]:
    """A state and an acceleration."""
    rng = np.random.default_rng(6)
    q = mech.integrate(mech.neutral(), 0.5 * rng.normal(size=mech.nv))
    return q, rng.normal(size=mech.nv), rng.normal(size=mech.nv)


def moved(mech: sr.Mechanism, q: Array, v: Array, a: Array, s: float, body: str) -> tuple[Array, Array]:
    """Rotation of a body and position of POINT on it, s seconds later, to second order in s."""
    # v(s) = v + s a along the exponential at constant v: exact to s^2 for the second derivative
    pose = mech.pose(mech.integrate(q, s * v + s * s / 2 * a), body)
    return pose.rotation, pose.apply(POINT)


@pytest.mark.parametrize("body", [f"b{i}" for i in range(9)])
def test_velocity_and_acceleration_are_derivatives_of_the_pose(body: str) -> None:
    mech = chain()
    q, v, a = motion(mech)
    h = 1e-4
    (R0, p0), (R1, p1), (R2, p2) = (moved(mech, q, v, a, s, body) for s in (-h, 0.0, h))
    velocity = mech.velocity(q, v, body, POINT)
    np.testing.assert_allclose(velocity[:3], (p2 - p0) / (2 * h), atol=1e-6)
    np.testing.assert_allclose(velocity[3:], Rotation.from_matrix(R2 @ R0.T).as_rotvec() / (2 * h), atol=1e-6)
    acceleration = mech.body_acceleration(q, v, a, body, POINT)
    np.testing.assert_allclose(acceleration[:3], (p2 - 2 * p1 + p0) / h**2, atol=1e-5)
    forth, back = (Rotation.from_matrix(x).as_rotvec() / h for x in (R2 @ R1.T, R1 @ R0.T))
    np.testing.assert_allclose(acceleration[3:], (forth - back) / h, atol=1e-4)


def test_frames_of_the_jacobian() -> None:
    mech = chain()
    q, v, _ = motion(mech)
    pose = mech.pose(q, "b7")
    aligned = mech.jacobian(q, "b7", POINT)
    local = mech.jacobian(q, "b7", POINT, frame="local")
    np.testing.assert_allclose(local[:3], pose.rotation.T @ aligned[:3], atol=1e-12)
    np.testing.assert_allclose(local[3:], pose.rotation.T @ aligned[3:], atol=1e-12)
    world = mech.jacobian(q, "b7", POINT, frame="world")
    np.testing.assert_allclose(world, mech.jacobian(q, "b7", frame="world"), atol=1e-12)
    twist = world @ v
    at_point = twist[:3] + np.cross(twist[3:], pose.apply(POINT))
    np.testing.assert_allclose(at_point, (aligned @ v)[:3], atol=1e-12)
    acceleration = mech.body_acceleration(q, v, v, "b7", POINT)
    turned = mech.body_acceleration(q, v, v, "b7", POINT, frame="local")
    np.testing.assert_allclose(pose.rotation @ turned[:3], acceleration[:3], atol=1e-12)


def test_energy_and_masses_are_those_of_the_bodies() -> None:
    mech = chain()
    q, v, a = motion(mech)
    M = mech.mass_matrix(q)
    energy = mech.energy(q, v)
    assert energy.kinetic == pytest.approx(v @ M @ v / 2)
    assert energy.total == energy.kinetic + energy.potential
    heights = [mech.pose(q, f"b{i}").apply((0.1, 0, 0))[2] for i in range(9)]
    assert energy.potential == pytest.approx(9.81 * sum(heights))
    np.testing.assert_allclose(mech.rnea(q, v, a), M @ a + mech.bias(q, v), atol=1e-10)


def test_plus_and_minus_are_inverse() -> None:
    mech = chain()
    q, v, _ = motion(mech)
    there = mech.integrate(q, v)
    np.testing.assert_allclose(mech.difference(q, there), v, atol=1e-12)
    np.testing.assert_allclose(mech.difference(q, q), 0.0, atol=1e-15)
    assert mech.neutral().shape == (mech.nq,)

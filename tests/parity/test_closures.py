"""Every lower pair as a closure, by definition: it holds exactly at the poses that the joint can reach."""

from __future__ import annotations

import numpy as np
import pytest

from tests.oracles import random_mechanisms as rm
from tests.oracles.description import Body, Closure, Description, Joint, motion, width_q, width_v
from tests.oracles.every_constraint import CLOSING
from tests.oracles.states import mechanism

AXES = ["x", "y", "z", (0.9, 0.2, -0.1), (0.1, -0.95, 0.3), (-0.2, 0.1, -0.97), (0.6, 0.6, 0.5)]


def unit(axis: str | tuple[float, ...]) -> str | tuple[float, ...]:
    return axis if isinstance(axis, str) else tuple(float(x) for x in np.array(axis) / np.linalg.norm(axis))


def joints(kind: str) -> list[Joint]:
    """The kind with letters and oblique vectors as axes, both directions of travel for the screw."""
    if kind in ("spherical", "fixed"):
        return [Joint(kind)]
    if kind == "universal":
        pairs = [("x", "y"), ("y", "x"), ("z", "x"), ((0.6, 0.8, 0.0), (-0.8, 0.6, 0.0))]
        return [Joint(kind, a, b) for a, b in pairs]
    if kind == "planar":
        return [Joint(kind, axis) for axis in "xyz"]
    pitches = (0.2, -0.07) if kind == "helical" else (0.0,)
    return [Joint(kind, unit(axis), pitch=pitch) for axis in AXES for pitch in pitches]


def closed_pair(joint: Joint, seed: int) -> Description:
    """Two free bodies, B on one held to A on the other; reached through the joint at random coordinates."""
    d = rm.tree_of(["free", "free"], [-1, -1], seed)
    rng = np.random.default_rng([seed, 70])
    X_a, X_b = rm.random_pose(rng), rm.random_pose(rng)
    moved = Body("", "", joint, X_a, 0.0, np.zeros(3), np.zeros((3, 3)))
    reach = motion(joint, rm.random_q(rng, [moved]))
    world_b = _pose(d.q[:7]) @ X_a @ reach @ np.linalg.inv(X_b)
    # a free body's q in its own joint frame; the tree's frames are taken out
    frame = d.bodies[1].X
    local = np.linalg.inv(frame) @ d.bodies[0].X @ world_b
    q = np.concatenate([d.q[:7], local[:3, 3], _quaternion(local[:3, :3])])
    return d.with_(closures=(Closure("loop", "b0", "b1", joint, X_a, X_b),), q=q)


def _pose(q: np.ndarray) -> np.ndarray:
    return motion(Joint("free"), q)


def _quaternion(R: np.ndarray) -> np.ndarray:
    """Eigenvector of the 4 x 4 matrix of a rotation that belongs to its largest eigenvalue."""
    K = np.zeros((4, 4))
    K[:3, :3] = R + R.T - np.trace(R) * np.eye(3)
    K[3, :3] = K[:3, 3] = [R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]
    K[3, 3] = np.trace(R)
    return np.linalg.eigh(K)[1][:, -1]


@pytest.mark.parametrize("kind", CLOSING)
def test_holds_wherever_the_joint_can_go(kind: str) -> None:
    for joint in joints(kind):
        for seed in range(3):
            d = closed_pair(joint, seed)
            mech = mechanism(d)
            phi = mech.terms(d.q, np.zeros(12)).phi
            assert np.max(np.abs(phi)) < 1e-12, (joint, phi)


@pytest.mark.parametrize("kind", CLOSING)
def test_leaves_exactly_the_freedoms_of_the_joint(kind: str) -> None:
    """The null space of J is the motion of both bodies together plus the joint's own coordinates."""
    for joint in joints(kind):
        d = closed_pair(joint, 1)
        mech = mechanism(d)
        J = mech.terms(d.q, np.zeros(12)).J
        freedoms = width_v(joint)
        assert np.linalg.matrix_rank(J, tol=1e-9) == len(J) == 6 - freedoms
        assert mech.mobility(d.q).dof == 6 + freedoms


@pytest.mark.parametrize("kind", CLOSING)
def test_does_not_hold_elsewhere(kind: str) -> None:
    """A small displacement that the joint does not allow shows in phi, at its size."""
    for joint in joints(kind):
        d = closed_pair(joint, 2)
        mech = mechanism(d)
        J = mech.terms(d.q, np.zeros(12)).J
        forbidden = np.linalg.svd(J)[2][: len(J)]
        for direction in forbidden:
            phi = mech.terms(mech.integrate(d.q, 1e-4 * direction), np.zeros(12)).phi
            assert np.max(np.abs(phi)) > 1e-6


def test_screws_find_the_nearest_thread() -> None:
    """Several turns along the thread are closed too, and half a pitch off is half a pitch of gap."""
    joint = Joint("helical", "y", pitch=0.05)
    d = closed_pair(joint, 0)
    mech = mechanism(d)
    assert width_q(joint) == 1
    lead = 2 * np.pi * joint.pitch
    X_a = d.closures[0].X_a
    along = X_a[:3, :3] @ np.array([0.0, 1.0, 0.0])
    start = mech.pose(d.q, "b0").rotation @ along
    direction = np.concatenate([np.zeros(6), mech.pose(d.q, "b1").rotation.T @ start, np.zeros(3)])
    for turns, gap in ((1, 0.0), (-3, 0.0), (0.25, lead / 4), (0.75, lead / 4)):
        phi = mech.terms(mech.integrate(d.q, turns * lead * direction), np.zeros(12)).phi
        assert np.max(np.abs(phi)) == pytest.approx(gap, abs=1e-12)

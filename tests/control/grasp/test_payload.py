"""Payloads: what they ask of their body, and which of them can exist, against NumPy."""

from __future__ import annotations

import numpy as np

import sarrus as sr
from sarrus import control as sc
from sarrus.control.grasp.payload import Payload
from sarrus.models.base.rotation import hat

from .held_box import held

RNG = np.random.default_rng


def regressor(a: np.ndarray, w: np.ndarray, dw: np.ndarray) -> np.ndarray:
    """What a payload asks of its body, (6, 10); a (3,) is the acceleration of its origin less gravity."""
    ax, ay, az = a.tolist()
    p, q, r = w.tolist()
    dp, dq, dr = dw.tolist()
    pp, qq, rr, pq, pr, qr = p * p, q * q, r * r, p * q, p * r, q * r
    return np.array(
        [
            [ax, -qq - rr, pq - dr, pr + dq, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            [ay, pq + dr, -pp - rr, qr - dp, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            [az, pr - dq, qr + dp, -pp - qq, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            [0.0, 0.0, az, -ay, dp, -qr, qr, dq - pr, dr + pq, qq - rr],
            [0.0, -az, 0.0, ax, pr, dq, -pr, dp + qr, rr - pp, dr - pq],
            [0.0, ay, -ax, 0.0, -pq, pq, dr, pp - qq, dp - qr, dq + pr],
        ]
    )


def clamped(pi: np.ndarray, farthest: float) -> np.ndarray:
    """The nearest payload that can exist."""
    if pi[0] <= 0.0:
        return np.zeros(10)
    given = Payload.of(pi)
    com = np.array(given.com) * min(1.0, farthest / max(float(np.linalg.norm(given.com)), 1e-300))
    values, axes = np.linalg.eigh(given.inertia)
    return Payload(pi[0], com, (axes * np.maximum(values, 0.0)) @ axes.T).parameters


def test_a_payload_from_two_samples() -> None:
    """The regressor, mean over the sample, least squares for ten numbers, and those that can exist."""
    mech = sr.library.dual_arm_box()
    own, L, dt = mech.model.bodies[mech.model.body_index("box")], mech.length, 1e-2
    gravity, point = np.asarray(mech.model.gravity), np.array(own.com, dtype=float)
    size, weight = np.array([1.0, L, L, L, *[L * L] * 6]), np.array([1.0] * 3 + [1.0 / L] * 3)
    masses = set()
    for seed in range(20):
        rng = RNG(seed)
        states, turns, twists = [], [], []
        for _ in range(2):
            q = mech.assemble(mech.integrate(np.array(mech.default.q), 0.02 * rng.normal(size=mech.nv))).q
            v = mech.consistent_velocity(q, rng.normal(size=mech.nv))
            states.append((q, v))
            turns.append(mech.pose(q, "box").rotation)
            twists.append(mech.velocity(q, v, "box"))
        estimator = sc.WrenchEstimator(mech, "box", payload=True)
        for k, (q, v) in enumerate(states):
            found = estimator.update(k * dt, q, v, np.zeros(mech.nu))
        a, Y = (twists[1] - twists[0]) / dt, np.zeros((6, 10))
        for R, V in zip(turns, twists, strict=True):
            own_axes = regressor(R.T @ (a[:3] - gravity), R.T @ V[3:], R.T @ a[3:])
            force = R @ own_axes[:3]
            Y += 0.5 * np.concatenate([force, R @ own_axes[3:] - hat(R @ point) @ force])
        rows = weight[:, None] * Y * size
        information = rows.T @ rows
        known = information + 1e-6 * information[0, 0] * np.eye(10)
        pi = clamped(np.linalg.solve(known, rows.T @ (-weight * found.wrench)) * size, 5.0 * L)
        np.testing.assert_allclose(found.parameters, pi, atol=1e-7 * (1.0 + np.abs(pi).max()))
        external = found.wrench + Y @ found.parameters
        np.testing.assert_allclose(found.external, external, atol=1e-9 * (1.0 + np.abs(external).max()))
        masses.add(found.parameters[0] > 0.0)
    assert masses == {True, False}


def test_terms_without_the_mass_of_the_object() -> None:
    """M and h of a law grow by J.T W J and J.T Y pi, W the inertia of the payload in world axes."""
    mech, grasp = held()
    law = sc.ObjectImpedance(mech, grasp, massless=True, external=None)
    q = np.array(mech.default.q)
    v = mech.consistent_velocity(q, 0.5 * RNG(7).normal(size=mech.nv))
    terms, found = mech.terms(q, v), law.solve(0.0, q, v)._step.terms
    pi = -Payload.of_body(mech.model.bodies[mech.model.body_index("box")]).parameters
    R, J = mech.pose(q, "box").rotation, mech.jacobian(q, "box")
    V, A = mech.velocity(q, v, "box"), mech.body_acceleration(q, v, np.zeros(mech.nv), "box")
    own = np.concatenate([R.T @ J[:3], R.T @ J[3:]])
    c, I = hat(pi[1:4]), np.array([[pi[4], pi[7], pi[8]], [pi[7], pi[5], pi[9]], [pi[8], pi[9], pi[6]]])
    W = np.block([[pi[0] * np.eye(3), -c], [c, I]])
    bias = regressor(R.T @ (A[:3] - np.asarray(mech.model.gravity)), R.T @ V[3:], R.T @ A[3:]) @ pi
    M, h = terms.M + own.T @ W @ own, terms.h + own.T @ bias
    np.testing.assert_allclose(found.M, M, atol=1e-12 * np.abs(M).max())
    np.testing.assert_allclose(found.h, h, atol=1e-11 * np.abs(h).max())

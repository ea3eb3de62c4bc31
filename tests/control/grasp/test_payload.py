"""Payloads: what they ask of their body, and which of them can exist, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from sarrus import _kernel
from sarrus.control.grasp.payload import Payload
from sarrus.models.rotation import exp, hat

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


def test_regressor_of_a_payload() -> None:
    rng = RNG(6)
    R, V, dt = [exp(rng.normal(size=3)) for _ in range(2)], rng.normal(size=(2, 6)), 1e-2
    gravity, point = np.array([0.1, 0.2, -9.81]), rng.normal(size=3)
    found = _kernel.payload_regressor(R0=R[0], V0=V[0], R1=R[1], V1=V[1], dt=dt, gravity=gravity, point=point)
    a, mean = (V[1] - V[0]) / dt, np.zeros((6, 10))
    for turn, twist in zip(R, V, strict=True):
        Y = regressor(turn.T @ (a[:3] - gravity), turn.T @ twist[3:], turn.T @ a[3:])
        force = turn @ Y[:3]
        mean += 0.5 * np.concatenate([force, turn @ Y[3:] - hat(turn @ point) @ force])
    np.testing.assert_allclose(found, mean, atol=1e-12 * np.abs(mean).max())


def test_terms_with_a_payload() -> None:
    """M and h grow by J.T W J and J.T Y pi, W the inertia of the payload in world axes."""
    rng, nv = RNG(7), 9
    R, V, A, J = exp(rng.normal(size=3)), *rng.normal(size=(2, 6)), rng.normal(size=(6, nv))
    M, h, gravity = rng.normal(size=(nv, nv)), rng.normal(size=nv), np.array([0.0, 0.0, -9.81])
    pi = Payload(1.3, (0.1, -0.2, 0.3), (0.02, 0.03, 0.04)).parameters
    found = _kernel.loaded_terms(M=M, h=h, R=R, V=V, A=A, J=J, payload=pi, gravity=gravity)
    own = np.concatenate([R.T @ J[:3], R.T @ J[3:]])
    c, I = hat(pi[1:4]), np.array([[pi[4], pi[7], pi[8]], [pi[7], pi[5], pi[9]], [pi[8], pi[9], pi[6]]])
    W = np.block([[pi[0] * np.eye(3), -c], [c, I]])
    bias = regressor(R.T @ (A[:3] - gravity), R.T @ V[3:], R.T @ A[3:]) @ pi
    np.testing.assert_allclose(found[0], M + own.T @ W @ own, atol=1e-13 * np.abs(found[0]).max())
    np.testing.assert_allclose(found[1], h + own.T @ bias, atol=1e-13 * np.abs(found[1]).max())


def test_payloads_that_can_exist() -> None:
    for seed in range(40):
        rng = RNG(seed)
        pi = rng.normal(size=10)
        found = _kernel.possible_payload(pi, 0.5)
        if pi[0] <= 0.0:
            assert not found.any()
            continue
        given, made = Payload.of(pi), Payload.of(found)
        assert made.mass == pytest.approx(pi[0])
        com = np.array(given.com) * min(1.0, 0.5 / np.linalg.norm(given.com))
        np.testing.assert_allclose(made.com, com, atol=1e-14 / pi[0])
        values, axes = np.linalg.eigh(given.inertia)
        want = (axes * np.maximum(values, 0.0)) @ axes.T
        np.testing.assert_allclose(made.inertia, want, atol=1e-12 * max(1.0, np.abs(given.inertia).max()))

"""What control asks of the kernel, each function against the same in NumPy on random matrices."""

from __future__ import annotations

import numpy as np
import pytest

import sarrus as sr
from sarrus.control.grasp.payload import Payload
from sarrus.dynamics import control_kernel as inputs
from sarrus.dynamics.input_response import Response, respond
from sarrus.models.rotation import exp, hat

RNG = np.random.default_rng


def response_of(name: str, seed: int = 0) -> Response:
    mech = getattr(sr.library, name)()
    q = np.array(mech.default.q)
    v = mech.consistent_velocity(q, RNG(seed).normal(size=mech.nv))
    columns = np.array([actuator.index for actuator in mech.model.actuators], dtype=int)
    return respond(mech.terms(q, v), columns, mech.units)


@pytest.mark.parametrize("name", ["dual_arm_box", "quadruped", "delta", "parallelogram", "sarrus"])
def test_what_forces_do_within_the_constraints(name: str) -> None:
    """P M P = P, P J.T = 0, J a = gamma for the prescribed part, M P - 1 = J.T lam; rows redundant or not."""
    r = response_of(name)
    P, J, M = r.inverse_inertia, r.terms.J, r.terms.M
    size = np.abs(P).max()
    np.testing.assert_allclose(P @ M @ P, P, atol=1e-11 * size)
    np.testing.assert_allclose(J @ P, 0.0, atol=1e-11 * size * np.abs(J).max())
    np.testing.assert_allclose(P[:, r.columns], r.B, atol=1e-12 * size)
    gamma = np.abs(r.terms.gamma).max()
    np.testing.assert_allclose(J @ r.prescribed, r.terms.gamma, atol=1e-11 * (1.0 + gamma))
    np.testing.assert_allclose(
        r.prescribed @ (r.N / r.units.unit[:, None] ** 2), 0.0, atol=1e-11 * (1 + gamma)
    )
    lam = r.multipliers_of(np.arange(len(M)))
    np.testing.assert_allclose(M @ P - np.eye(len(M)), J.T @ lam, atol=1e-9 * np.abs(lam).max())
    np.testing.assert_allclose(lam[:, r.columns], r.multipliers[1], atol=1e-10 * np.abs(lam).max())


@pytest.mark.parametrize("metric", ["none", "diagonal", "full"])
@pytest.mark.parametrize("damping", [0.0, 5.0])
def test_least_inputs(metric: str, damping: float) -> None:
    r = response_of("dual_arm_box")
    rng, n, nv = RNG(1), len(r.columns), len(r.a0)
    J, wanted, unit, v = (
        rng.normal(size=(5, nv)),
        rng.normal(size=5),
        rng.random(5) + 0.5,
        rng.normal(size=nv),
    )
    C = {"none": np.eye(n), "diagonal": np.diag(rng.random(n) + 0.5), "full": rng.normal(size=(n, n))}[metric]
    given = {"none": None, "diagonal": np.ascontiguousarray(C.diagonal()), "full": C}[metric]
    G, g, sharp, felt, x, Z = inputs.inputs_for(
        J, wanted, unit, r.N, r.B, r.a0, r.units.unit, v, r.columns, given, None, damping
    )
    more = r.dof - 5 if damping else 0
    assert G.shape == (5 + more, n) and felt == r.dof and Z.shape == (n, n - 5 - more) and 0.0 < sharp < 1.0
    np.testing.assert_allclose(G[:5], (J @ r.B @ C) / unit[:, None], atol=1e-12 * np.abs(G).max())
    np.testing.assert_allclose(g[:5], (wanted - J @ r.a0) / unit, atol=1e-11)
    np.testing.assert_allclose(x, np.linalg.pinv(G) @ g, atol=1e-9 * np.abs(x).max())
    np.testing.assert_allclose(G @ Z, 0.0, atol=1e-12 * np.abs(G).max())
    np.testing.assert_allclose(Z.T @ Z, np.eye(Z.shape[1]), atol=1e-13)
    if damping:  # what the outputs do not see slows down: y' = -c y
        unseen = np.linalg.svd((J @ r.N) / unit[:, None])[2][5:] @ (r.N / r.units.unit[:, None] ** 2).T
        a = r.a0 + r.B @ C @ x
        np.testing.assert_allclose(unseen @ a, -damping * (unseen @ v), atol=1e-8)


def test_outputs_in_doubt_are_left_to_singular_values() -> None:
    r = response_of("dual_arm_box")
    J, n = RNG(2).normal(size=(3, len(r.a0))), len(r.columns)
    J[2] = J[0] + 1e-9 * J[2]
    found = inputs.inputs_for(
        J, J[:, 0], np.ones(3), r.N, r.B, r.a0, r.units.unit, r.a0, r.columns, None, None, 0.0
    )
    assert found[4] is None and found[5] is None and found[0].shape == (3, n)


def test_limits_become_rows() -> None:
    rng = RNG(3)
    lam, u, Lam, lam0 = (rng.normal(size=shape) for shape in ((7, 4), (7, 5), (4, 5), (4,)))
    lower, upper, unknown = -rng.random(7), np.full(7, np.inf), rng.normal(size=(4, 6))
    upper[:2] = 1.0
    R, low, high, reserve = inputs.rows_on_inputs(lam, u, lam0, Lam, lower, upper, unknown)
    np.testing.assert_allclose(R, lam @ Lam + u, atol=1e-14)
    change = np.where(np.isfinite(upper), 0.0, np.linalg.norm(lam @ unknown, axis=1))
    np.testing.assert_allclose(reserve, change, atol=1e-14)
    np.testing.assert_allclose(low, lower - lam @ lam0 + change, atol=1e-14)
    np.testing.assert_allclose(high, upper - lam @ lam0, atol=1e-14)
    plain = inputs.rows_on_inputs(lam, None, lam0, Lam, lower, upper, None)
    np.testing.assert_allclose(plain[0], lam @ Lam, atol=1e-14)
    assert plain[3] is None


def test_inputs_within_rows_are_those_of_the_program() -> None:
    rng = RNG(4)
    x, Z, C = rng.normal(size=6), np.linalg.qr(rng.normal(size=(6, 4)))[0], rng.normal(size=(6, 6))
    R, z = rng.normal(size=(9, 6)), rng.normal(size=4)
    y = R @ C @ (x + Z @ z)
    wide = y - 1.0, y + 1.0
    how, found, u, rows, *_ = inputs.inputs_within(x, Z, z, C, R, *wide, None, 1e-7, 1e-9)
    assert how == 3 and rows == []
    np.testing.assert_allclose((found, u), (x + Z @ z, C @ (x + Z @ z)), atol=1e-12)
    A, at = R @ C @ Z, R @ C @ x
    lower, upper = np.full(9, -np.inf), y + 0.5
    upper[:3] = y[:3] - 0.2
    how, found, u, rows, _, nearest = inputs.inputs_within(x, Z, z, C, R, lower, upper, None, 1e-7, 1e-9)
    best, active, _, status = inputs.nearest_within(z, None, A, lower - at, upper - at, 1e-9)
    assert how == status == 0 and rows == active and len(rows) > 0
    np.testing.assert_allclose(found, x + Z @ best, atol=1e-12)
    np.testing.assert_allclose(nearest, best, atol=1e-12)
    assert (
        inputs.inputs_within(x, Z, z, C, np.vstack([R, -R]), *np.full((2, 18), 1.0), None, 1e-7, 1e-9)[0] == 1
    )


def test_levels_against_pseudoinverses() -> None:
    r = response_of("dual_arm_box")
    rng, nv, M = RNG(5), len(r.a0), r.terms.M
    X, to_x, open_, size = inputs.mass_reach(r.N, M, r.units.unit, r.columns, None, 1e-6)
    np.testing.assert_allclose(X.T @ M @ X, np.eye(r.dof), atol=1e-11)
    np.testing.assert_allclose(r.B @ to_x, X, atol=1e-10 * np.abs(X).max())
    np.testing.assert_allclose(r.B @ open_, 0.0, atol=1e-10 * np.abs(r.B).max())
    assert size == pytest.approx(np.linalg.norm(X / r.units.unit[:, None]))
    counts = (3, 0, 2, 9)  # the last one has more rows than directions left
    J, wanted, unit = rng.normal(size=(14, nv)), rng.normal(size=14), rng.random(14) + 0.5
    ends = np.cumsum(counts)
    A, _, zero, s, Z, left = inputs.descend_levels(J, wanted, unit, ends, X, r.a0, r.units.unit, size)
    mine, open_now = np.zeros(r.dof), np.eye(r.dof)
    for level, (count, end) in enumerate(zip(counts, ends, strict=True)):
        rows = slice(end - count, end)
        bare = J[rows] / unit[rows, None]
        np.testing.assert_allclose(A[rows], bare @ X, atol=1e-12 * np.abs(A).max())
        assert zero[level] == pytest.approx(np.linalg.norm(bare * r.units.unit) * size)
        rest = wanted[rows] / unit[rows] - bare @ r.a0 - A[rows] @ mine
        mine = mine + open_now @ (np.linalg.pinv(A[rows] @ open_now) @ rest)
        open_now = open_now @ left[level]
        np.testing.assert_allclose(A[rows] @ open_now, 0.0, atol=1e-10 * np.abs(A).max())
    np.testing.assert_allclose(s, mine, atol=1e-9 * np.abs(mine).max())
    assert Z.shape == (r.dof, 0) and [one.shape[1] for one in left] == [r.dof - 3, r.dof - 3, r.dof - 5, 0]
    J[4] = J[0]
    assert len(inputs.descend_levels(J, wanted, unit, ends, X, r.a0, r.units.unit, size)[5]) == 2


def test_eigenvalues() -> None:
    for seed in range(50):
        n = 1 + seed % 8
        A = RNG(seed).normal(size=(n, n)) * 10.0 ** RNG(seed).uniform(-6, 6)
        A = A @ A.T if seed % 2 else A + A.T
        values, V = inputs.eigenvalues(A)
        np.testing.assert_allclose(values, np.linalg.eigvalsh(A), atol=1e-13 * np.abs(A).max() * n)
        np.testing.assert_allclose(A @ V, V * values, atol=1e-13 * np.abs(A).max() * n)


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
    found = inputs.payload_regressor(R[0], V[0], R[1], V[1], dt, gravity, point)
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
    found = inputs.loaded_terms(M, h, R, V, A, J, pi, gravity)
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
        found = inputs.possible_payload(pi, 0.5)
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


def test_leftover_motions_that_forces_on_the_outputs_do_not_excite() -> None:
    """K a = -c K v with K X = 1 and K P J.T = 0, X what the outputs do not see."""
    r = response_of("dual_arm_box")
    rng, nv, c = RNG(8), len(r.a0), 3.0
    J, v, one = rng.normal(size=(5, nv)), rng.normal(size=nv), np.ones(5)
    given = (J, J @ r.a0, one, r.N, r.B, r.a0, r.units.unit, v, r.columns, None)
    G, g, *_, x, _ = inputs.inputs_for(*given, r.terms.M, c)
    Z = np.linalg.svd(J @ r.N)[2][5:].T
    X = r.N @ Z
    K = np.linalg.solve(X.T @ r.terms.M @ X, X.T @ r.terms.M)
    np.testing.assert_allclose(K @ r.inverse_inertia @ J.T, 0.0, atol=1e-9 * np.abs(K).max())
    a = r.a0 + r.B @ x
    np.testing.assert_allclose(K @ a, -c * (K @ v), atol=1e-8 * np.abs(K @ v).max())
    assert G.shape[0] == len(g) == 5 + Z.shape[1]


def test_sizes_and_states() -> None:
    assert inputs.largest(np.array([1.0, -3.0, 2.0]), np.array([1.0, 0.5, 1.0])) == 2.0
    assert inputs.largest(np.zeros(0), np.zeros(0)) == 0.0
    q, v = np.zeros(3), np.zeros(2)
    assert inputs.is_state(q, v, 3, 2)
    for bad in (q[:2], np.zeros(3, dtype=int), [0.0] * 3, np.array([0.0, np.nan, 0.0]), None):
        assert not inputs.is_state(bad, v, 3, 2)

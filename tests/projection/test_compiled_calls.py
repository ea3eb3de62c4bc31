"""Consistent velocities, impacts, inverse dynamics and mobility from the kernel, beside NumPy by definition.

The oracles solve the same problems by pseudoinverses of dense matrices; the kernel eliminates.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

import sarrus as sr
from sarrus.errors import InputError

Array = npt.NDArray[np.float64]
L = sr.library
MECHANISMS: dict[str, Callable[[], sr.Mechanism]] = {
    "pendulum": L.pendulum,
    "redundant four-bar": lambda: L.four_bar(closure="revolute"),
    "slider-crank": L.slider_crank,
    "arms": L.dual_arm,
    "box": L.dual_arm_box,
    "stewart": L.stewart,
    "disc": L.rolling_disk,
    "overconstrained": L.bennett,
}
TOL = 1e-10  # relative to the largest entry: both sides round with the condition of J, at most 1e5 here


def cases() -> list[tuple[sr.Mechanism, Array, Array, Array]]:
    rng = np.random.default_rng(7)
    out = []
    for build in MECHANISMS.values():
        mech = build()
        q = np.array(mech.default.q)
        out.append((mech, q, rng.normal(size=mech.nv), rng.normal(size=mech.nv)))
    return out


CASES = cases()
each = pytest.mark.parametrize(("mech", "q", "v", "a"), CASES, ids=list(MECHANISMS))


def close(found: npt.ArrayLike, wanted: npt.ArrayLike) -> None:
    size = float(np.max(np.abs(wanted), initial=1e-3))
    np.testing.assert_allclose(np.asarray(found) / size, np.asarray(wanted) / size, atol=TOL)


def metric_of(mech: sr.Mechanism, q: Array, kind: str) -> tuple[object, Array]:
    if kind == "mass":
        return "mass", mech.mass_matrix(q)
    if kind == "none":
        return None, np.diag(mech.units.unit**-2.0)
    A = np.random.default_rng(mech.nv).normal(size=(mech.nv, mech.nv))
    W = A @ A.T + mech.nv * np.eye(mech.nv)
    return W, W


def nearest(rows: Array, right: Array, W: Array, v0: Array, scale: Array) -> Array:
    """v0 plus the least change in the metric W with rows v = right."""
    C = np.linalg.cholesky(W)
    bare = np.linalg.solve(C, (rows / scale[:, None]).T).T
    change = np.linalg.pinv(bare, rcond=1e-9) @ ((right - rows @ v0) / scale)
    return np.asarray(v0 + np.linalg.solve(C.T, change))


@each
@pytest.mark.parametrize("kind", ["mass", "none", "matrix"])
def test_consistent_velocity(mech: sr.Mechanism, q: Array, v: Array, a: Array, kind: str) -> None:
    terms = mech.terms(q, v)
    metric, W = metric_of(mech, q, kind)
    wanted = nearest(terms.J, terms.b, W, v, mech.units.row_unit)
    close(mech.consistent_velocity(q, v, metric=metric), wanted)


@pytest.mark.parametrize(("name", "held"), [("slider-crank", 0), ("arms", 2), ("arms", 9)])
@pytest.mark.parametrize("kind", ["mass", "none", "matrix"])
def test_a_prescribed_velocity(name: str, held: int, kind: str) -> None:
    mech, q, v, _ = dict(zip(MECHANISMS, CASES, strict=True))[name]
    terms, (metric, W) = mech.terms(q, v), metric_of(mech, q, kind)
    rows, right = np.vstack([terms.J, np.eye(mech.nv)[held]]), np.append(terms.b, 0.7)
    scale = np.append(mech.units.row_unit, mech.units.unit[held])
    found = mech.consistent_velocity(q, v, fixed={mech.names[held]: 0.7}, metric=metric)
    close(found, nearest(rows, right, W, v, scale))
    assert found[held] == 0.7


@each
def test_batches_are_loops(mech: sr.Mechanism, q: Array, v: Array, a: Array) -> None:
    near = mech.integrate(q, np.zeros(mech.nv))
    Q, V = np.stack([q, near, q])[:, None], np.stack([v, -v])
    found, hit = mech.consistent_velocity(Q, V), mech.impact(Q, V)
    forces = mech.inverse_dynamics(Q, V, a)
    assert found.shape == (3, 2, mech.nv) and np.shape(hit.energy) == (3, 2)
    for i, j in np.ndindex(3, 2):
        one, torques = mech.impact(Q[i, 0], V[j]), mech.inverse_dynamics(Q[i, 0], V[j], a)
        close(found[i, j], mech.consistent_velocity(Q[i, 0], V[j]))
        close(hit.lam[i, j], one.lam)
        assert (hit.energy[i, j], hit.rank[i, j]) == (one.energy, one.rank)
        close(forces.u[i, j], torques.u)
        assert bool(forces.controllable[i, j]) == torques.controllable


@each
def test_impact(mech: sr.Mechanism, q: Array, v: Array, a: Array) -> None:
    terms, hit = mech.terms(q, v), mech.impact(q, v)
    after = nearest(terms.J, terms.b, terms.M, v, mech.units.row_unit)
    impulse = terms.M @ (after - v)
    close(hit.v, after)
    close(hit.impulse, impulse)
    close(hit.lam, np.linalg.pinv(terms.J.T, rcond=1e-9) @ impulse)
    close(hit.energy_before, 0.5 * v @ terms.M @ v)
    close(hit.energy, 0.5 * after @ terms.M @ after)
    close(hit.dissipated, 0.5 * (after - v) @ impulse)
    close(hit.momentum - hit.momentum_before, impulse)


@each
@pytest.mark.parametrize("kind", ["mass", "none", "matrix"])
@pytest.mark.parametrize("few", [False, True])
def test_inverse_dynamics(mech: sr.Mechanism, q: Array, v: Array, a: Array, kind: str, few: bool) -> None:
    metric, W = metric_of(mech, q, kind)
    W = np.eye(mech.nv) if kind == "none" else W
    names = mech.names[:1] if few else mech.actuators
    columns = [mech.names.index(name) for name in names]
    v = mech.consistent_velocity(q, v)
    a = mech.acceleration(q, v, a)
    terms = mech.terms(q, v)
    bare = terms.J * mech.units.unit / mech.units.row_unit[:, None]
    s, Vt = np.linalg.svd(bare)[1:]
    N = mech.units.unit[:, None] * Vt[int(np.sum(s > 1e-9)) :].T
    tangent = np.linalg.matrix_rank(N[columns] / mech.units.unit[columns, None], tol=1e-9) if columns else 0
    needed = terms.M @ a + terms.h
    C = np.linalg.cholesky(np.linalg.inv(W)[np.ix_(columns, columns)]) if columns else np.zeros((0, 0))
    G = np.linalg.solve(C, N[columns]).T if columns else np.zeros((N.shape[1], 0))
    u = np.zeros(len(columns))
    if tangent:
        u = np.linalg.solve(C.T, np.linalg.pinv(G, rcond=1e-9) @ (N.T @ needed))
    found = mech.inverse_dynamics(q, v, a, actuated=list(names), metric=metric)
    close(found.u, u)
    tau = np.zeros(mech.nv)
    tau[columns] = u
    close(found.tau, tau)
    assert found.controllable == (tangent == N.shape[1])
    assert len(found.uncontrollable) == N.shape[1] - tangent
    if found.controllable:
        close(found.constraint_force, needed - tau)
        close(terms.J.T @ found.lam, needed - tau)
        assert found.residual <= 1e-9 * max(1.0, float(np.max(np.abs(needed))))


@each
def test_mobility_and_decomposition(mech: sr.Mechanism, q: Array, v: Array, a: Array) -> None:
    J = mech.terms(q, v).J
    bare = J * mech.units.unit / mech.units.row_unit[:, None]
    s = np.linalg.svd(bare, compute_uv=False) if bare.size else np.zeros(0)
    found = mech.mobility(q)
    close(found.singular_values, s)
    assert (found.rank, found.dof) == (int(np.sum(s > 1e-9)), mech.nv - int(np.sum(s > 1e-9)))
    for kind in ("none", "mass", "matrix"):
        metric, W = metric_of(mech, q, kind)
        W = np.eye(mech.nv) if kind == "none" else W
        split = mech.decompose(q, metric)
        C = np.linalg.cholesky(W)
        J_W = np.linalg.solve(C, J.T).T
        close(split.singular_values, np.linalg.svd(J_W, compute_uv=False) if J.size else np.zeros(0))
        close(split.pinv, np.linalg.solve(C.T, np.linalg.pinv(J_W, rcond=1e-9)))
        close(split.N.T @ W @ split.N, np.eye(split.dof))
        close(J @ split.N, np.zeros((mech.nc, split.dof)))
        if kind == "mass":
            close(split.metric, W)


def test_batches_and_metrics_that_are_none() -> None:
    mech, q, v, _ = CASES[3]
    with pytest.raises(InputError, match=r"q must be one state of shape \(14,\) here"):
        mech.branches(np.tile(q, (2, 1)))
    with pytest.raises(InputError, match="`metric` must be positive definite; its smallest eigenvalue"):
        mech.consistent_velocity(q, v, metric=-np.eye(14))
    with pytest.raises(InputError, match="`metric` must be symmetric"):
        mech.decompose(q, np.triu(np.ones((14, 14))))
    with pytest.raises(InputError, match='`metric` must be None, "mass" or a matrix'):
        mech.inverse_dynamics(q, v, v, metric="weight")
    with pytest.raises(InputError, match=r"`metric` must have shape \(14, 14\)"):
        mech.inverse_dynamics(q, v, v, metric=np.eye(3))
    with pytest.raises(InputError, match=r"M a \+ h overflows"):
        mech.inverse_dynamics(q, v, np.full(14, 1e308))

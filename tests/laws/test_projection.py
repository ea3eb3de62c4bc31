"""Laws of the split at the constraint manifold, for bare matrices and for mechanisms, in any metric."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sarrus as sr
from tests.oracles.states import mechanism, relative

from .families import FAMILIES

TOL = 1e-12


@st.composite
def matrices(draw: st.DrawFn) -> np.ndarray:
    """J (nc, nv) of any shape and any rank, also without rows."""
    nv, nc = draw(st.integers(1, 9)), draw(st.integers(0, 12))
    rank = draw(st.integers(0, min(nc, nv)))
    rng = np.random.default_rng(draw(st.integers(0, 2**20)))
    return rng.normal(size=(nc, rank)) @ rng.normal(size=(rank, nv)) if rank else np.zeros((nc, nv))


def metric_of(nv: int, seed: int) -> np.ndarray:
    A = np.random.default_rng(seed).normal(size=(nv, nv))
    return A @ A.T + 0.3 * np.eye(nv)


def check(J: np.ndarray, W: np.ndarray | None) -> None:
    nc, nv = J.shape
    d = sr.decompose(J, metric=W)
    metric = np.eye(nv) if W is None else W
    scale = max(1.0, np.max(np.abs(J), initial=0.0))
    assert d.rank + d.dof == nv
    assert d.rank == (np.linalg.matrix_rank(J, tol=1e-9 * scale) if J.size else 0)
    assert d.N.shape == (nv, d.dof)
    assert relative(d.N.T @ metric @ d.N, np.eye(d.dof)) < TOL
    assert relative(J @ d.N, np.zeros((nc, d.dof))) < TOL * scale * 10
    assert relative(d.P @ d.P, d.P) < 10 * TOL
    assert relative(J @ d.P, np.zeros((nc, nv))) < TOL * scale * 10
    assert relative(metric @ d.P, d.P.T @ metric) < 10 * TOL
    assert relative(d.P + d.pinv @ J, np.eye(nv)) < 100 * TOL
    assert relative(J @ d.pinv @ J, J) < 100 * TOL * scale
    check_vectors(J, metric, d, nv, nc)


def check_vectors(J: np.ndarray, metric: np.ndarray, d: sr.Decomposition, nv: int, nc: int) -> None:
    rng = np.random.default_rng(1)
    v, f, b = rng.normal(size=nv), rng.normal(size=nv), rng.normal(size=nc)
    assert relative(d.tangent(v) + d.normal(v), v) < 10 * TOL
    assert relative(d.tangent(f, kind="force") + d.normal(f, kind="force"), f) < 10 * TOL
    assert relative(d.tangent(v), d.P @ v) < 10 * TOL
    assert relative(d.tangent(f, kind="force"), d.P.T @ f) < 10 * TOL
    assert abs(d.tangent(v) @ d.normal(f, kind="force")) < 100 * TOL
    assert abs(d.normal(v) @ d.tangent(f, kind="force")) < 100 * TOL
    x = d.solve(b)
    assert relative(x, d.pinv @ b) < 100 * TOL
    assert abs(d.tangent(v) @ metric @ x) < 1e-9  # least norm: no tangent part
    assert relative(J.T @ (J @ x - b), np.zeros(nv)) < 1e-9  # least squares


@given(matrices())
def test_euclidean(J: np.ndarray) -> None:
    check(J, None)
    P = sr.decompose(J).P
    assert relative(P, P.T) < TOL


@given(matrices(), st.integers(0, 1000))
def test_any_metric(J: np.ndarray, seed: int) -> None:
    check(J, metric_of(J.shape[1], seed))


@pytest.mark.parametrize("family", FAMILIES)
def test_jacobians_of_mechanisms(family: str) -> None:
    for seed in range(6):
        d = FAMILIES[family](seed)
        mech = mechanism(d)
        J = mech.terms(d.q, np.zeros(mech.nv)).J
        check(J, None)
        check(J, mech.mass_matrix(d.q))
        assert mech.mobility(d.q).rank == sr.decompose(J).rank


def test_row_scaling_keeps_the_tangent_space() -> None:
    rng = np.random.default_rng(0)
    J = rng.normal(size=(4, 7))
    scaled = J * np.array([1e-3, 1.0, 50.0, 1e4])[:, None]
    assert relative(sr.decompose(scaled).P, sr.decompose(J).P) < 1e-10


def test_the_metric_moves_the_split_but_not_the_tangent_space() -> None:
    rng = np.random.default_rng(0)
    J, W = rng.normal(size=(3, 6)), metric_of(6, 3)
    plain, weighted = sr.decompose(J), sr.decompose(J, metric=W)
    assert relative(weighted.P @ plain.P, plain.P) < 1e-12
    assert relative(plain.P @ weighted.P, weighted.P) < 1e-12
    assert relative(weighted.P, plain.P) > 1e-2

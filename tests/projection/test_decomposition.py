"""Laws of the decomposition, for J of any shape and rank; the oracle is the definition of each object."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sarrus as sr

Array = npt.NDArray[np.float64]


@st.composite
def jacobians(draw: st.DrawFn) -> tuple[Array, int]:
    """J (nc, nv) with a known rank, 0 rows and rank 0 included, and entries of very different sizes."""
    nc, nv = draw(st.integers(0, 6)), draw(st.integers(1, 7))
    rank = draw(st.integers(0, min(nc, nv)))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    size = 10.0 ** draw(st.integers(-6, 6))
    return size * rng.normal(size=(nc, rank)) @ rng.normal(size=(rank, nv)), rank


def spd(n: int, seed: int) -> Array:
    """A symmetric positive definite matrix with eigenvalues from 0.1 to 100."""
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.normal(size=(n, n)))[0]
    return np.asarray(Q * 10.0 ** rng.uniform(-1, 2, n) @ Q.T)


@given(jacobians(), st.booleans(), st.integers(0, 1000))
def test_projector_laws(case: tuple[Array, int], weighted: bool, seed: int) -> None:
    J, rank = case
    nv = J.shape[1]
    W = spd(nv, seed) if weighted else None
    metric = np.eye(nv) if W is None else W
    d = sr.decompose(J, metric=W)
    scale = max(np.abs(J).max(initial=0.0), 1e-300)
    assert (d.rank, d.dof) == (rank, nv - rank)
    assert d.N.shape == (nv, d.dof)
    np.testing.assert_allclose(d.P @ d.P, d.P, atol=1e-10)
    np.testing.assert_allclose(J @ d.P / scale, 0.0, atol=1e-10)
    np.testing.assert_allclose(metric @ d.P, (metric @ d.P).T, atol=1e-9)
    np.testing.assert_allclose(d.N.T @ metric @ d.N, np.eye(d.dof), atol=1e-10)
    if W is None:
        np.testing.assert_allclose(d.P, d.P.T, atol=1e-12)


@given(jacobians(), st.booleans(), st.integers(0, 1000))
def test_parts_add_up_and_do_no_work_on_each_other(
    case: tuple[Array, int], weighted: bool, seed: int
) -> None:
    J, _ = case
    nv = J.shape[1]
    d = sr.decompose(J, metric=spd(nv, seed) if weighted else None)
    x, f = np.random.default_rng(seed).normal(size=(2, nv))
    np.testing.assert_allclose(d.tangent(x) + d.normal(x), x, atol=1e-10)
    np.testing.assert_allclose(d.tangent(f, kind="force") + d.normal(f, kind="force"), f, atol=1e-9)
    np.testing.assert_allclose(d.tangent(x), d.P @ x, atol=1e-10)
    np.testing.assert_allclose(d.tangent(f, kind="force"), d.P.T @ f, atol=1e-9)
    assert abs(d.normal(f, kind="force") @ d.tangent(x)) < 1e-9
    assert abs(d.tangent(f, kind="force") @ d.normal(x)) < 1e-9


@given(jacobians(), st.booleans(), st.integers(0, 1000))
def test_pseudoinverse_laws(case: tuple[Array, int], weighted: bool, seed: int) -> None:
    J, rank = case
    nc, nv = J.shape
    W = spd(nv, seed) if weighted else None
    metric = np.eye(nv) if W is None else W
    d = sr.decompose(J, metric=W)
    scale = max(np.abs(J).max(initial=0.0), 1e-300)
    assert d.pinv.shape == (nv, nc)
    # the four conditions of Moore and Penrose, symmetry of pinv(J) J in the metric
    np.testing.assert_allclose(J @ d.pinv @ J / scale, J / scale, atol=1e-8)
    np.testing.assert_allclose(
        d.pinv @ J @ d.pinv * scale, d.pinv * scale, atol=1e-7 * max(1.0, scale_of(d.pinv * scale))
    )
    np.testing.assert_allclose(J @ d.pinv, (J @ d.pinv).T, atol=1e-8)
    np.testing.assert_allclose(metric @ d.pinv @ J, (metric @ d.pinv @ J).T, atol=1e-7)
    b = J @ np.random.default_rng(seed).normal(size=nv)
    np.testing.assert_allclose(J @ d.solve(b) / scale, b / scale, atol=1e-8)
    np.testing.assert_allclose(d.solve(b), d.pinv @ b, rtol=1e-7, atol=1e-7)
    if rank == 0:
        assert not np.any(d.solve(np.ones(nc)))


def scale_of(x: Array) -> float:
    """Largest entry."""
    return float(np.abs(x).max(initial=0.0))


def test_an_empty_jacobian_leaves_everything_free() -> None:
    d = sr.decompose(np.zeros((0, 4)))
    assert (d.rank, d.dof, d.singular_values.size) == (0, 4, 0)
    np.testing.assert_array_equal(d.P, np.eye(4))
    np.testing.assert_array_equal(d.solve(np.zeros(0)), np.zeros(4))
    np.testing.assert_array_equal(d.normal(np.ones(4)), np.zeros(4))


def test_an_empty_jacobian_with_a_metric() -> None:
    W = spd(3, 1)
    d = sr.decompose(np.zeros((0, 3)), metric=W)
    np.testing.assert_allclose(d.N.T @ W @ d.N, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(d.P, np.eye(3), atol=1e-12)


def test_conflicting_rows_are_met_in_the_least_squares_sense() -> None:
    d = sr.decompose([[1.0, 0.0], [1.0, 0.0]])
    np.testing.assert_allclose(d.solve([1.0, 3.0]), [2.0, 0.0])


def test_rank_of_a_bare_matrix_is_relative() -> None:
    J = 1e-12 * np.array([[1.0, 0.0], [0.0, 1.0]])
    assert sr.decompose(J).rank == 2
    assert sr.decompose(J, absolute=True).rank == 0
    assert sr.decompose(np.diag([1.0, 1e-10])).rank == 1
    assert sr.decompose(np.diag([1.0, 1e-10]), rank_tol=1e-11).rank == 2


def test_a_known_rank_is_taken() -> None:
    d = sr.decompose(np.diag([1.0, 1e-3]), rank=1)
    assert d.dof == 1
    np.testing.assert_allclose(np.abs(d.N.ravel()), [0.0, 1.0])


def test_matrices_of_vectors_are_split_column_by_column() -> None:
    J, X = np.array([[1.0, 2.0, 3.0]]), np.arange(6.0).reshape(3, 2)
    d = sr.decompose(J)
    np.testing.assert_allclose(d.tangent(X)[:, 1], d.tangent(X[:, 1]))
    np.testing.assert_allclose(d.solve(np.ones((1, 2)))[:, 0], d.solve([1.0]))


J2 = np.array([[1.0, 0.0]])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sr.decompose([1.0, 2.0]), r"`J` must be a matrix, got an array of shape \(2,\)"),
        (lambda: sr.decompose([[np.nan, 1.0]]), "`J` has entries that are NaN or infinite"),
        (lambda: sr.decompose(J2, metric=np.eye(3)), r"`metric` must have shape \(2, 2\).*got \(3, 3\)"),
        (lambda: sr.decompose(J2, metric=[[1.0, 0.5], [0.0, 1.0]]), "`metric` must be symmetric.*0.5"),
        (lambda: sr.decompose(J2, metric=np.diag([1.0, -1.0])), "positive definite.*eigenvalue is -1.*None"),
        (lambda: sr.decompose(J2, metric=[[np.inf, 0.0], [0.0, 1.0]]), "`metric` has entries that are NaN"),
        (lambda: sr.decompose(J2, rank_tol=1.5), "`rank_tol` must be at least 0 and below 1, got 1.5"),
        (lambda: sr.decompose(J2, rank_tol=np.nan), "`rank_tol` must be at least 0 and below 1, got nan"),
        (lambda: sr.decompose(J2, rank=2), "`rank` of a 1 x 2 matrix must be between 0 and 1, got 2"),
        (lambda: sr.decompose(J2).tangent([1.0]), r"`x` must have 2 entries.*got shape \(1,\)"),
        (lambda: sr.decompose(J2).normal([1.0, 2.0], kind="torque"), '"velocity" or "force", got \'torque\''),
        (
            lambda: sr.decompose(J2).solve([1.0, 2.0]),
            r"`b` must have one entry per row of J, 1; got shape \(2,\)",
        ),
    ],
)
def test_bad_input_is_refused(call: object, message: str) -> None:
    with pytest.raises(sr.InputError, match=message):
        call()  # type: ignore[operator]

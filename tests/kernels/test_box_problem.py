"""The box problem with both kinds of bounds, against a general solver of quadratic programs."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from .conftest import Harness

Array = NDArray[np.float64]


class Box:
    """The box problem of the kernel."""

    harness: Harness

    @classmethod
    def minimum(cls, G: Array, g: Array, low: Array, high: Array) -> tuple[Array, NDArray[np.bool_], Array]:
        """Forces, which of them are unique, and accelerations along their rows (n,)."""
        given = [np.ascontiguousarray(x, dtype=np.float64) for x in (G, g, low, high)]
        f, rate, unique = (np.full(len(g), np.nan) for _ in range(3))
        arrays = (ctypes.c_void_p(x.ctypes.data) for x in (*given, f, rate, unique))
        cls.harness.library.box_minimum(ctypes.c_int(len(g)), *arrays)
        return f, unique == 1.0, rate


@pytest.fixture(autouse=True)
def compiled(harness: Harness) -> None:
    Box.harness = harness


def minimum_by_clarabel(P: Array, p: Array, rows: tuple[Array, Array], low: Array, high: Array) -> Array:
    """x of min x.T P x / 2 + p.T x with A x = b and bounds, by an interior-point solver."""
    import clarabel
    from scipy import sparse

    A, b = rows
    top, n = np.isfinite(high), len(p)
    parts = [A, -np.eye(n), np.eye(n)[top]]
    right = np.concatenate([b, -low, high[top]])
    cones: list[Any] = [clarabel.ZeroConeT(len(b)), clarabel.NonnegativeConeT(n + int(top.sum()))]
    options = clarabel.DefaultSettings()
    options.verbose = False
    options.tol_gap_abs = options.tol_gap_rel = options.tol_feas = 1e-12
    matrices = (sparse.csc_matrix(np.triu(P)), p, sparse.csc_matrix(np.vstack(parts)), right)
    return np.array(clarabel.DefaultSolver(*matrices, cones, options).solve().x)


def problem(seed: int, n: int, rank: int, pushing: int) -> tuple[Array, Array, Array, Array]:
    """G (n, n) of a rank, g that some acceleration of the rank gives, and bounds, some of them one-sided."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, rank))
    c = rng.uniform(0.2, 2.0, n)
    one_sided = np.arange(n) < pushing
    return (
        A @ A.T,
        A @ rng.normal(size=rank) * 2.0,
        np.where(one_sided, 0.0, -c),
        np.where(one_sided, np.inf, c),
    )


@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(1, 6), st.integers(0, 4))
@settings(max_examples=150, deadline=None)
def test_box_minimum_against_a_solver_of_quadratic_programs(
    seed: int, n: int, rank: int, pushing: int
) -> None:
    """The accelerations, and among all forces that give them those of least norm."""
    G, g, low, high = problem(seed, n, min(n, rank), min(n, pushing))
    f, unique, rate = Box.minimum(G, g, low, high)
    none = np.zeros((0, n)), np.zeros(0)
    other = minimum_by_clarabel(G, g, none, low, high)
    size = float(np.max(np.abs(g)) + np.max(np.abs(G)) * np.max(np.abs(other)))
    assert rate == pytest.approx(g + G @ other, abs=1e-5 * size)  # the solver's: the root of its 1e-12
    assert g + G @ f == pytest.approx(rate, abs=1e-8 * size)
    assert np.all((f >= low) & (f <= high * (1 + 1e-12)))
    assert np.all(rate[(f > low) & (f < high)] == 0.0)
    assert np.all(rate[f == low] >= 0.0) and np.all(rate[f == high] <= 0.0)
    least = minimum_by_clarabel(np.eye(n), np.zeros(n), (G, G @ f), low, high)
    assert f @ f <= (least @ least) * (1 + 1e-5) + 1e-9
    if np.linalg.matrix_rank(G, tol=1e-6) == n:
        assert unique.all()


def test_block_that_is_pressed_against_a_stop() -> None:
    """One coordinate at rest and its stop: friction and stop share the load, each within its bounds."""
    G = np.array([[1.0, -1.0], [-1.0, 1.0]])  # friction along x, the stop pushes backwards
    for load, friction, push in ((1.0, -0.5, 0.5), (5.0, -2.0, 3.0), (-1.0, 1.0, 0.0), (0.0, 0.0, 0.0)):
        g, low, high = np.array([load, -load]), np.array([-2.0, 0.0]), np.array([2.0, np.inf])
        f, unique, rate = Box.minimum(G, g, low, high)
        assert f == pytest.approx([friction, push], abs=1e-12) and not unique.any() and not rate.any()
    f, unique, rate = Box.minimum(G, np.array([-3.0, 3.0]), np.array([-2.0, 0.0]), np.array([2.0, np.inf]))
    assert f == pytest.approx([2.0, 0.0]) and rate == pytest.approx([-1.0, 1.0]) and unique.all()


def test_rows_that_others_prescribe_are_not_pushed() -> None:
    """A contact whose acceleration no force changes opens where it is positive."""
    G, infinite = np.diag([1.0, 0.0]), np.full(2, np.inf)
    f, unique, rate = Box.minimum(G, np.array([-1.0, 0.5]), np.zeros(2), infinite)
    assert f == pytest.approx([1.0, 0.0]) and rate == pytest.approx([0.0, 0.5]) and unique.all()
    f, unique, rate = Box.minimum(G, np.array([-1.0, 0.0]), np.zeros(2), infinite)
    assert f == pytest.approx([1.0, 0.0]) and not rate.any() and unique.tolist() == [True, False]


def test_box_minimum_of_singular_matrices() -> None:
    """Optimality: accelerations vanish inside the bounds and oppose the force on them; least norm."""
    rng = np.random.default_rng(21)
    for n, rank in ((1, 1), (3, 1), (4, 2), (6, 6), (5, 0)):
        for _ in range(20):
            A = rng.normal(size=(n, rank))
            G, c = A @ A.T, rng.uniform(0.2, 2.0, n)
            g = A @ rng.normal(size=rank) * 2.0 if rank else rng.normal(size=n)
            f, unique, rate = Box.minimum(G, g, -c, c)
            assert np.all(np.abs(f) <= c * (1 + 1e-12))
            size = np.max(np.abs(g)) + np.max(np.abs(G)) * c.max()
            assert np.allclose(g + G @ f, rate, atol=1e-8 * size)
            moving = rate != 0.0
            assert np.allclose(f[moving], -np.sign(rate[moving]) * c[moving])
            if rank == n:
                assert unique.all()
            if not moving.any() and rank < n and np.all(np.abs(f) < c):
                assert f == pytest.approx(-np.linalg.pinv(G, rcond=1e-10) @ g, abs=1e-8)


def test_no_load_needs_no_friction() -> None:
    f, unique, rate = Box.minimum(np.zeros((2, 2)), np.zeros(2), -np.ones(2), np.ones(2))
    assert not f.any() and not unique.any() and not rate.any()

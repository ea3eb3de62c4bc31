"""Controllable accelerations and levels of priority of the kernel against singular values in NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import sarrus as sr
from sarrus.control.hierarchy.levels import (
    LevelRows,
    TaskRows,
    controllable_basis,
    level_directions,
    solve_levels,
)
from sarrus.dynamics.input_response import respond
from tests.oracles.input_response import library_response

RNG = np.random.default_rng


def test_controllable_accelerations() -> None:
    r = library_response("dual_arm_box")
    basis, M = controllable_basis(r, None, 1e-6), r.terms.M
    E, to_x, internal = basis.E, basis.to_x, basis.internal
    np.testing.assert_allclose(E.T @ M @ E, np.eye(r.dof), atol=1e-11)
    np.testing.assert_allclose(r.B @ to_x, E, atol=1e-10 * np.abs(E).max())
    np.testing.assert_allclose(r.B @ internal, 0.0, atol=1e-10 * np.abs(r.B).max())
    assert basis.size == pytest.approx(np.linalg.norm(E / r.units.unit[:, None])) and basis.dof == r.dof


@pytest.mark.parametrize("metric", ["none", "diagonal", "full"])
def test_motions_that_no_actuator_moves_are_left_out(metric: str) -> None:
    """Two of the arms' fourteen motors and a platform that cannot be turned: fewer motions than freedoms."""
    arms, platform = sr.library.dual_arm(), sr.library.three_rrr(turn=0.0)
    for mech, columns, r_ in ((arms, [0, 5], 2), (platform, None, 2)):
        q, v = map(np.array, mech.default)
        used = [a.index for a in mech.model.actuators] if columns is None else columns
        r = respond(mech.terms(q, v), np.array(used), mech.units)
        n = len(used)
        C = {"none": None, "diagonal": RNG(1).random(n) + 0.5, "full": RNG(1).normal(size=(n, n))}[metric]
        full = np.eye(n) if C is None else np.diag(C) if C.ndim == 1 else C
        basis = controllable_basis(r, C, 1e-6)
        assert basis.E.shape == (mech.nv, r_) and basis.internal.shape == (n, n - r_) and r_ < r.dof
        np.testing.assert_allclose(basis.E.T @ r.terms.M @ basis.E, np.eye(r_), atol=1e-10)
        np.testing.assert_allclose(r.B @ full @ basis.to_x, basis.E, atol=1e-9 * np.abs(basis.E).max())
        np.testing.assert_allclose(r.B @ full @ basis.internal, 0.0, atol=1e-9 * np.abs(r.B).max())
        # of least norm: nothing along the internal inputs
        np.testing.assert_allclose(basis.internal.T @ basis.to_x, 0.0, atol=1e-9)


def levels_by_pseudoinverses(
    A: list[np.ndarray], b: list[np.ndarray], r: int, tol: list[float], damping: float = 0.0
) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """s, the projector on what stays open, and the ranks, level by level."""
    s, Z, ranks = np.zeros(r), np.eye(r), []
    for rows, right, zero in zip(A, b, tol, strict=True):
        U, values, Vt = np.linalg.svd(rows @ Z)
        rank = int(np.count_nonzero(values > zero))
        used, d2 = values[:rank], 0.0
        if damping and rank:
            d2 = max((damping * np.linalg.norm(rows, 2)) ** 2 - used[-1] ** 2, 0.0)
        y = Vt[:rank].T @ (used / (used**2 + d2) * (U[:, :rank].T @ (right - rows @ s)))
        s, Z = s + Z @ y, Z @ Vt[rank:].T
        ranks.append(rank)
    return s, Z @ Z.T, ranks


@pytest.mark.parametrize("damping", [0.0, 0.5])
@pytest.mark.parametrize("conflict", [False, True])
@pytest.mark.parametrize("counts", [(3, 0, 2, 9), (6, 6), (1, 1, 1, 1)])
def test_levels_against_pseudoinverses(counts: tuple[int, ...], conflict: bool, damping: float) -> None:
    """Levels without rows, with more rows than directions left, and rows that a higher level has too."""
    r = library_response("dual_arm_box")
    rng, nv = RNG(5), len(r.a0)
    basis = controllable_basis(r, None, 1e-6)
    J = [rng.normal(size=(count, nv)) for count in counts]
    if conflict:
        J[-1][0] = J[0][0]
    wanted, unit = [rng.normal(size=k) for k in counts], [rng.random(k) + 0.5 for k in counts]
    tasks = [[TaskRows(*one, damping)] for one in zip(J, wanted, unit, strict=True)]
    found = solve_levels(tasks, basis, r, 1e-9)
    zeros = []
    for rows, one, size, right in zip(found.rows, J, unit, wanted, strict=True):
        bare = one / size[:, None]
        np.testing.assert_allclose(rows.A, bare @ basis.E, atol=1e-12 * np.abs(bare @ basis.E).max(initial=1))
        np.testing.assert_allclose(rows.b, right / size - bare @ r.a0, atol=1e-11)
        zeros.append(np.linalg.norm(bare * r.units.unit) * basis.size)
        assert rows.zero == pytest.approx(zeros[-1])
    parts = [rows.A for rows in found.rows], [rows.b for rows in found.rows]
    tol = [1e-9 * zero for zero in zeros]
    s, open_, ranks = levels_by_pseudoinverses(*parts, r.dof, tol, damping)
    assert [split.rank for split in found.splits] == ranks
    np.testing.assert_allclose(found.s, s, atol=1e-9 * np.abs(s).max())
    np.testing.assert_allclose(found.Z @ found.Z.T, open_, atol=1e-9)
    Z = np.eye(r.dof)
    for rows, split in zip(found.rows, found.splits, strict=True):
        Z = Z @ split.left
        np.testing.assert_allclose(rows.A @ Z, 0.0, atol=1e-9 * np.abs(rows.A).max(initial=1.0))


@pytest.mark.parametrize("seed", range(30))
def test_one_level_by_itself(seed: int) -> None:
    rng = RNG(seed)
    k, r = (int(x) for x in rng.integers(1, 9, size=2))
    m = int(rng.integers(0, r + 1))
    A, b, s = rng.normal(size=(k, r)), rng.normal(size=k), rng.normal(size=r)
    A[k // 2 :] = rng.normal(size=(k - k // 2, max(k // 2, 1))) @ A[: max(k // 2, 1)]
    Z = np.linalg.qr(rng.normal(size=(r, r)))[0][:, :m]
    damping = 0.2 if seed % 2 else 0.0
    found = level_directions(LevelRows(A, b, 1.0, damping), s, Z, 1e-9)
    values = np.linalg.svd(A @ Z, compute_uv=False)
    kept = values[values > 1e-9]
    np.testing.assert_allclose(found.values, kept, rtol=1e-11)
    both = np.concatenate([found.used, found.left], axis=1)
    np.testing.assert_allclose(both.T @ both, np.eye(m), atol=1e-13)
    np.testing.assert_allclose(A @ Z @ found.left, 0.0, atol=1e-12)
    weakest = kept[-1] if len(kept) else np.inf
    assert found.damped == pytest.approx(max((damping * np.linalg.norm(A, 2)) ** 2 - weakest**2, 0.0))
    gains = kept / (kept**2 + found.damped)
    y = (found.used * (gains / kept)) @ found.used.T @ (A @ Z).T @ (b - A @ s)
    np.testing.assert_allclose(found.y, y, atol=1e-11 * (1.0 + np.abs(y).max(initial=0.0)))

"""The solvers against each other: kernel, DAQP (both dual active set), Clarabel (interior point), SciPy."""

from __future__ import annotations

import numpy as np
import pytest

from sarrus.control.limits.quadratic_program import Cone, Program, solve, solve_softly


def random_program(seed: int, feasible: bool) -> tuple[Program, float]:
    rng = np.random.default_rng(seed)
    n, m, scale = int(rng.integers(1, 13)), int(rng.integers(2, 50)), float(10 ** rng.uniform(-3, 4))
    A = rng.normal(size=(m, n)) * 10 ** rng.uniform(-2, 2, size=(m, 1))
    inside = rng.normal(size=n) * scale
    width = np.abs(rng.normal(size=m)) * scale * np.linalg.norm(A, axis=1)
    upper = A @ inside + width * rng.random(m)
    lower = np.where(rng.random(m) < 0.5, -np.inf, A @ inside - width * rng.random(m))
    if not feasible:
        A[1] = A[0]
        upper[0], lower[1], upper[1] = 0.0, width[1] + scale, np.inf
        lower[0] = -np.inf
    H = None
    if seed % 3 == 0:
        root = rng.normal(size=(n, n))
        H = root @ root.T + 0.1 * np.eye(n)
    return Program(rng.normal(size=n) * scale, A, lower, upper, H), scale


@pytest.mark.parametrize("solver", ["kernel", "daqp", "scipy"])
@pytest.mark.parametrize("feasible", [True, False])
def test_solvers_agree(solver: str, feasible: bool) -> None:
    for seed in range(60):
        program, scale = random_program(seed, feasible)
        found = solve(program, solver)
        assert found.feasible == feasible and found.solver == solver
        if not feasible:
            continue
        theirs = solve(program, "clarabel")
        y = program.A @ found.z
        size = scale * np.linalg.norm(program.A, axis=1)
        assert np.max(np.maximum(y - program.upper, program.lower - y) / size) < 1e-9
        np.testing.assert_allclose(found.z, theirs.z, atol=1e-4 * scale)


def awkward_program(seed: int) -> Program:
    """Rows twice, equalities that repeat themselves, many rows through the answer, almost no curvature."""
    program, scale = random_program(seed, True)
    rng = np.random.default_rng(seed)
    A, lower, upper, z0, H = program.A, program.lower, program.upper, program.z0, program.H
    (m, n), x = A.shape, scale * rng.normal(size=len(z0))
    if seed % 4 == 0:
        twice = rng.uniform(0.1, 10.0, size=m)
        A = np.concatenate([A, twice[:, None] * A])
        lower, upper = np.append(lower, twice * lower), np.append(upper, twice * upper)
    elif seed % 4 == 1:
        E = rng.normal(size=(min(3, n), n))
        A, width = np.concatenate([E, 2.0 * E[:1], A]), scale * rng.random(m)
        y = A @ x
        lower, upper = y.copy(), y.copy()
        lower[-m:] -= width
        upper[-m:] = np.where(rng.random(m) < 0.5, np.inf, y[-m:] + width)
    elif seed % 4 == 2:
        lower, upper = np.full(m, -np.inf), A @ x
    else:
        rows = rng.normal(size=(max(1, n // 2), n))
        H = rows.T @ rows
        H = H + 1e-8 * float(H.diagonal().max()) * np.eye(n)
    return Program(z0, A, lower, upper, H)


def test_redundant_degenerate_and_flat_programs() -> None:
    for seed in range(400):
        program = awkward_program(seed)
        found, other = solve(program, "kernel"), solve(program, "daqp")
        assert found.feasible and other.feasible, seed
        assert found.iterations < 100
        size = max(1.0, float(np.abs(program.z0).max()))
        y, lengths = program.A @ found.z, np.linalg.norm(program.A, axis=1)
        assert np.max(np.maximum(y - program.upper, program.lower - y) / lengths) < 1.1e-9 * size, seed
        H = np.eye(len(found.z)) if program.H is None else program.H
        mine, theirs = (float((z - program.z0) @ H @ (z - program.z0)) for z in (found.z, other.z))
        assert mine - theirs <= 1e-6 * theirs + 1e-9 * size**2, seed
        assert found.active is not None
        held = np.minimum(np.abs(y - program.lower), np.abs(y - program.upper))[found.active]
        assert np.all(held <= 1.1e-9 * size * lengths[found.active]), seed


@pytest.mark.parametrize("solver", ["kernel", "daqp", "scipy", "clarabel"])
def test_least_violation(solver: str) -> None:
    """x <= 0 against x >= 3 with weights 1 and 2: least squares gives x = 3 * 4 / 5."""
    A = np.array([[1.0, 0.0], [1.0, 0.0]])
    program = Program(np.array([0.0, 0.7]), A, np.array([-np.inf, 3.0]), np.array([0.0, np.inf]))
    found = solve_softly(program, np.array([1.0, 2.0]), solver)
    np.testing.assert_allclose(found.z, [2.4, 0.7], atol=1e-5)
    assert not found.feasible


def test_cones_and_their_violation() -> None:
    cone = Cone(np.eye(2), np.array([3.0, 4.0]), np.zeros(2), 2.0)  # |z + (3, 4)| <= 2
    program = Program(np.zeros(2), np.zeros((0, 2)), np.zeros(0), np.zeros(0), None, [cone])
    assert cone.excess(np.zeros(2)) == pytest.approx(3.0)
    found = solve(program, "clarabel")
    np.testing.assert_allclose(found.z, [-1.8, -2.4], atol=1e-7)
    opposite = Program(np.zeros(2), -np.eye(2)[:1], np.array([-np.inf]), np.array([-5.0]), None, [cone])
    assert not solve(opposite, "clarabel").feasible
    soft = solve_softly(opposite, np.array([1.0, 1.0]), "clarabel")
    # z_x >= 5 against |z + (3, 4)| <= 2: both are missed by the same
    np.testing.assert_allclose(soft.z, [2.0, -4.0], atol=1e-4)


def test_rows_that_say_nothing() -> None:
    A = np.array([[0.0, 0.0], [1.0, 1.0]])
    for solver in ("kernel", "daqp", "scipy"):
        kept = solve(Program(np.zeros(2), A, np.array([-1.0, 1.0]), np.array([1.0, 5.0])), solver)
        np.testing.assert_allclose(kept.z, [0.5, 0.5], atol=1e-9)
        assert not solve(Program(np.zeros(2), A, np.array([1.0, 1.0]), np.array([2.0, 5.0])), solver).feasible
    for solver in ("kernel", "scipy"):
        free = solve(Program(np.ones(2), A, np.full(2, -np.inf), np.full(2, np.inf)), solver)
        assert free.z.tolist() == [1.0, 1.0]
        none = solve(Program(np.ones(2), A[:0], np.zeros(0), np.zeros(0)), solver)
        assert none.feasible and none.z.tolist() == [1.0, 1.0]

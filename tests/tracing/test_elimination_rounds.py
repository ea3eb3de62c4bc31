"""Rounds of updates beside dense solutions, and the order in which they may be done."""

from __future__ import annotations

import numpy as np
import pytest

from sarrus.tracing.elimination_rounds import (
    AHEAD,
    RECIPROCAL,
    Elimination,
    Tasks,
    back_tasks,
    factor_tasks,
    forward_tasks,
    least_degree,
    rounds_of,
)


def constrained(seed: int) -> tuple[np.ndarray, list[list[int]], list[list[int]]]:
    """A sparse positive definite M with rows J, and which unknowns wait for which."""
    rng = np.random.default_rng(seed)
    n, rows = 14, 5
    K = np.zeros((n + rows, n + rows))
    K[:n, :n] = np.diag(rng.uniform(3.0, 4.0, n))
    for k in range(1, n):
        j = int(rng.integers(0, k))
        K[k, j] = K[j, k] = rng.normal()
    waits: list[list[int]] = [[] for _ in range(n)]
    for r in range(n, n + rows):
        columns = rng.choice(n, 4, replace=False)
        K[r, columns] = K[columns, r] = rng.normal(size=4)
        waits.append(columns.tolist())
    return K, [np.flatnonzero(row).tolist() for row in K], waits


def filled(plan: Elimination, K: np.ndarray, b: np.ndarray, width: int) -> np.ndarray:
    x = np.zeros(plan.inverse + 2 * len(K) + width)
    for (i, j), at in plan.place.items():
        x[at] = K[i, j]
    x[plan.inverse + len(K) : plan.inverse + 2 * len(K)] = b
    return x


def rounds(plan: Elimination, width: int) -> np.ndarray:
    entries, n = plan.inverse, len(plan.order)
    factor, back = Tasks(), Tasks()
    factor_tasks(plan, factor)
    forward_tasks(plan, entries + n, factor)
    back_tasks(plan, entries + n, back)
    free = entries + 2 * n
    parts = [rounds_of(one, width, lambda k: (free + k,) * 4) for one in (factor, back)]
    assert all(len(part) % AHEAD == 0 for part in parts)
    return np.concatenate(parts)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("width", [1, 4, 32])
def test_solution(seed: int, width: int) -> None:
    K, neighbours, waits = constrained(seed)
    plan = least_degree(neighbours, waits, least=90)
    b = np.random.default_rng(seed).normal(size=len(K))
    x = filled(plan, K, b, width)
    for one in rounds(plan, width):
        before = x.copy()
        for to, a, c, d in one:
            x[to] = 1 / before[a] if d == RECIPROCAL else before[to] - before[a] * before[c] * before[d]
    entries, n = plan.inverse, len(K)
    found = x[entries + n : entries + 2 * n] * x[entries : entries + n]
    np.testing.assert_allclose(found, np.linalg.solve(K, b), rtol=1e-9, atol=1e-11)


def test_a_round_writes_once_and_reads_what_is_there() -> None:
    K, neighbours, waits = constrained(0)
    plan = least_degree(neighbours, waits)
    free = plan.inverse + 2 * len(K)
    for number, one in enumerate(rounds(plan, 8)):
        assert number % 2 == 0 or not (one[:, 3] == RECIPROCAL).any()
        busy = one[one[:, 0] < free]
        written = set(busy[:, 0].tolist())
        assert len(written) == len(busy)
        for to, *read in busy.tolist():
            assert not written & (set(read) - {to, RECIPROCAL})


def test_unknowns_wait() -> None:
    _, neighbours, waits = constrained(1)
    order = least_degree(neighbours, waits).order
    assert all(order.index(i) > order.index(j) for i, one in enumerate(waits) for j in one)

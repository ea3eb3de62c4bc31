"""Stored problems of contact and friction in the text format of Siconos: which are solved, and how well.

    git clone --depth 1 https://github.com/siconos/siconos
    python -m bench.stored_contacts siconos/numerics/src/FrictionContact/test/data

Such a file has W, q and the coefficients of friction of: u = W r + q, forces r in Coulomb's cones. W is made
symmetric (printed digits differ) and taken apart as A A^T. The residual is that of the natural map with the
stored W and q, relative to the largest force: 1e-8 is asked for.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sarrus import _kernel

from .report import Column, table

Array = NDArray[np.float64]
ASKED = 1e-8
RANK = 1e-13  # of the largest eigenvalue of W: smaller ones are rounding
COLUMNS: tuple[Column, ...] = (
    ("problem", "problem", ""),
    ("contacts", "contacts", ""),
    ("rank of W", "rank", ""),
    ("outcome", "outcome", ""),
    ("residual", "residual", ".1e"),
    ("ms", "ms", ".2f"),
)


@dataclass(frozen=True)
class Stored:
    """A problem: u = W r + q (rows n), each contact a push and `rows` - 1 rows of friction."""

    W: Array
    q: Array
    friction: Array
    rows: int


def read(text: str) -> Stored:
    """A problem from the text of its file; ValueError where it is something else."""
    numbers = iter([float(word) for word in text.split()])
    try:
        rows, contacts, way = [int(next(numbers)) for _ in range(3)]
        if rows not in (2, 3) or contacts < 1 or way not in (0, 1):
            raise ValueError("no problem of contacts whose matrix is dense or in blocks")
        n = rows * contacts
        sizes = (int(next(numbers)), int(next(numbers)))
        if sizes != (n, n):
            raise ValueError("the matrix has another size than the contacts")
        if way == 0:
            W, numbers = dense(numbers, n)
        else:
            W = in_blocks(numbers, n)
        q, friction = take(numbers, n), take(numbers, contacts)
    except StopIteration:
        raise ValueError("it ends early") from None
    return Stored(0.5 * (W + W.T), q, friction, rows)


def take(numbers: Iterator[float], count: int) -> Array:
    """The next numbers."""
    return np.array([next(numbers) for _ in range(count)])


def dense(numbers: Iterator[float], n: int) -> tuple[Array, Iterator[float]]:
    """(n, n), its size written once more by newer versions, and what comes behind it."""
    first = [next(numbers), next(numbers)]
    numbers = numbers if first == [n, n] else itertools.chain(first, numbers)
    return take(numbers, n * n).reshape(n, n), numbers


def in_blocks(numbers: Iterator[float], n: int) -> Array:
    """(n, n) by rows of blocks, each with its number, column by column."""
    _, down, across = [int(next(numbers)) for _ in range(3)]
    ends = [[0, *take(numbers, count).astype(int).tolist()] for count in (down, across)]
    counts = [int(next(numbers)) for _ in range(2)]
    begins, columns = (take(numbers, count).astype(int).tolist() for count in counts)
    W = np.zeros((n, n))
    for i, (first, last) in enumerate(itertools.pairwise(begins)):
        for j in columns[first:last]:
            next(numbers)
            height, width = ends[0][i + 1] - ends[0][i], ends[1][j + 1] - ends[1][j]
            block = take(numbers, height * width).reshape(width, height).T
            W[ends[0][i] : ends[0][i + 1], ends[1][j] : ends[1][j + 1]] = block
    return W


def residual(problem: Stored, force: Array) -> float:
    """r - projection of r - rho (u + mu |u_t| n) onto the cones, relative to the largest force."""
    W, q, mu, rows = problem.W, problem.q, problem.friction, problem.rows
    r, u = force.reshape(-1, rows), (W @ force + q).reshape(-1, rows)
    rho = 1.0 / np.maximum(np.diag(W).reshape(-1, rows).mean(axis=1), 1e-300)
    u[:, 0] += mu * np.linalg.norm(u[:, 1:], axis=1)
    z = r - rho[:, None] * u
    push, size = z[:, 0], np.linalg.norm(z[:, 1:], axis=1)
    onto = np.clip((push + mu * size) / (1.0 + mu**2), 0.0, None)
    share = mu * onto / np.maximum(size, 1e-300)
    outside = np.column_stack([onto, share[:, None] * z[:, 1:]])
    inside, polar = size <= mu * push, mu * size <= -push
    projected = np.where(inside[:, None], z, np.where(polar[:, None], 0.0, outside))
    largest = max(float(np.max(np.abs(r))), float(np.max(np.abs(rho[:, None] * q.reshape(-1, rows)))))
    return float(np.max(np.abs(r - projected))) / max(largest, 1e-300)


def solve(problem: Stored) -> dict[str, Any]:
    """Figures of one problem, from a cold start."""
    values, vectors = np.linalg.eigh(problem.W)
    kept = values > RANK * np.max(values)
    A = np.ascontiguousarray(vectors[:, kept] * np.sqrt(values[kept]))
    rows, count = problem.rows, len(problem.friction)
    pushes = [([0, rows * i, 1, -1], [1, rows * i + 1, rows - 1, rows * i]) for i in range(count)]
    which = np.array([row for pair in pushes for row in pair], dtype=np.int64)
    limits = np.array([row for mu in problem.friction for row in ((0.0, 0.0), (mu, 0.0))])
    begin = time.perf_counter()
    found = _kernel.contact_problem(A, A, problem.q, which, limits, None)
    ms = 1e3 * (time.perf_counter() - begin)
    return {
        "contacts": count, "rank": int(np.sum(kept)), "outcome": found["outcome"],
        "residual": residual(problem, found["lam"]), "ms": ms,
    }  # fmt: skip


def run(folder: Path, most: int) -> list[dict[str, Any]]:
    """All problems of a folder with at most so many contacts, small ones first."""
    found = []
    for path in sorted(folder.glob("*.dat"), key=lambda path: path.stat().st_size):
        try:
            problem = read(path.read_text())
        except ValueError:
            continue
        if len(problem.friction) <= most:
            found.append({"problem": path.stem} | solve(problem))
    return found


def main() -> None:
    """Solve and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.stored_contacts", description=__doc__)
    parser.add_argument("folder", type=Path, help="where the files lie")
    parser.add_argument("--most", type=int, default=100, help="contacts of the largest problem that is tried")
    asked = parser.parse_args()
    rows = run(asked.folder, asked.most)
    good = sum(row["outcome"] == "solved" and row["residual"] <= ASKED for row in rows)
    print(table("Stored problems of contact", COLUMNS, rows, [f"{good} of {len(rows)} to {ASKED:g}"]))


if __name__ == "__main__":
    main()

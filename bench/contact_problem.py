"""Contact problems of random rows: how many are not solved, and how long one takes.

`python -m bench.contact_problem` prints a table: cold starts, tolerance 1e-10 of the largest force. Random
rows are harder than those of machines: contacts jam and wedge in all directions.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sarrus import _kernel

from .report import Column, table

Array = NDArray[np.float64]
# freedoms, contacts, friction on average
FAMILIES = ((6, 4, 0.5), (6, 4, 1.0), (6, 8, 0.7), (12, 8, 0.7), (18, 16, 0.8), (30, 16, 1.0), (30, 40, 0.6))
AT_MOST = 1e-3  # share that is not solved
COLUMNS: tuple[Column, ...] = (
    ("freedoms", "freedoms", ""),
    ("contacts", "contacts", ""),
    ("friction", "friction", ""),
    ("problems", "problems", ""),
    ("not solved", "unsolved", ""),
    ("median, us", "median", ".0f"),
    ("99.9 %, us", "late", ".0f"),
    ("worst, us", "worst", ".0f"),
)


def blocks(rng: np.random.Generator, contacts: int, friction: float) -> tuple[NDArray[np.int64], Array]:
    """A push and a disc of two rows for each contact."""
    shares = friction * rng.uniform(0.5, 1.5, contacts)
    rows = [row for i in range(contacts) for row in ([0, 3 * i, 1, -1], [1, 3 * i + 1, 2, 3 * i])]
    limits = [row for share in shares for row in ([0.0, 0.0], [share, 0.0])]
    return np.array(rows, dtype=np.int64), np.array(limits)


def family(freedoms: int, contacts: int, friction: float, count: int) -> dict[str, Any]:
    """Figures of one family of problems."""
    rng = np.random.default_rng(freedoms + 100 * contacts)
    unsolved, times = 0, []
    for _ in range(count):
        A = rng.normal(size=(3 * contacts, freedoms))
        b = A @ rng.normal(size=freedoms)
        which, limits = blocks(rng, contacts, friction)
        begin = time.perf_counter()
        found = _kernel.contact_problem(A, A, b, which, limits, None)
        times.append(1e6 * (time.perf_counter() - begin))
        unsolved += found["outcome"] != "solved"
    median, late, worst = np.quantile(times, [0.5, 0.999, 1.0])
    return {
        "freedoms": freedoms, "contacts": contacts, "friction": friction, "problems": count,
        "unsolved": unsolved, "median": median, "late": late, "worst": worst,
    }  # fmt: skip


def run(count: int) -> list[dict[str, Any]]:
    """All families."""
    return [family(*numbers, count) for numbers in FAMILIES]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.contact_problem", description=__doc__)
    parser.add_argument("--count", type=int, default=2000, help="problems of each family")
    rows = run(parser.parse_args().count)
    share = sum(row["unsolved"] for row in rows) / sum(row["problems"] for row in rows)
    note = f"{100 * share:.2f} % not solved; at most {100 * AT_MOST:.1f} %"
    print(table("Contact problems of random rows, from a cold start", COLUMNS, rows, [note]))


if __name__ == "__main__":
    main()

"""The law of contacts, written down once more in NumPy: what a solution has to satisfy."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sarrus import _kernel

Array = NDArray[np.float64]


@dataclass
class Disc:
    """Friction of 1 or 2 rows: at most share * push + fixed."""

    rows: list[int]
    push: int
    share: float = 0.0
    fixed: float = 0.0

    def radius(self, lam: Array) -> float:
        """Its limit for given forces."""
        return self.fixed + (self.share * lam[self.push] if self.push >= 0 else 0.0)


@dataclass
class Problem:
    """u = A (B.T lam) + b, with pushes and discs."""

    A: Array
    b: Array
    pushes: list[int]
    discs: list[Disc] = field(default_factory=list)
    B: Array | None = None

    @property
    def forces(self) -> Array:
        """The directions of the forces (n, d)."""
        return self.A if self.B is None else self.B

    def speeds(self, lam: Array) -> Array:
        """u (n,)"""
        return np.asarray(self.A @ (self.forces.T @ lam) + self.b)

    def table(self) -> tuple[NDArray[np.int64], Array]:
        """The blocks as the kernel takes them."""
        rows = [[0, i, 1, -1] for i in self.pushes] + [
            [1, d.rows[0], len(d.rows), d.push] for d in self.discs
        ]
        limits = [[0.0, 0.0] for _ in self.pushes] + [[d.share, d.fixed] for d in self.discs]
        return np.array(rows, dtype=np.int64).reshape(-1, 4), np.array(limits).reshape(-1, 2)

    def solve(self, start: Array | None = None) -> dict[str, Any]:
        """What the kernel finds."""
        return _kernel.contact_problem(self.A, self.forces, self.b, *self.table(), start)

    def impact(self, restitution: float | Array, poisson: bool = False) -> dict[str, Any]:
        """What the kernel finds for an impact with speeds b before it; one coefficient for each push."""
        table, limits = self.table()
        e = np.zeros(len(table))
        e[: len(self.pushes)] = restitution
        return _kernel.contact_impact(self.A, self.b, table, limits, e, poisson)


def errors(p: Problem, lam: Array, u: Array, shift: Array | None = None) -> dict[str, float]:
    """How far forces and speeds are from the law, each part relative to the largest force and speed.

    shift: added to u in the law of pushes (e u-, for Newton's restitution).
    """
    at = u if shift is None else u + shift
    force, speed = max(np.abs(lam).max(initial=0.0), 1e-300), max(np.abs(p.b).max(initial=0.0), 1e-300)
    found = {"motion": np.abs(p.speeds(lam) - u).max(initial=0.0) / speed}
    pushes = np.array(p.pushes, dtype=int)
    found["pulls"] = -lam[pushes].min(initial=0.0) / force
    found["closes"] = -at[pushes].min(initial=0.0) / speed
    found["complementary"] = np.abs(lam[pushes] * at[pushes]).max(initial=0.0) / (force * speed)
    excess = [np.linalg.norm(lam[d.rows]) - d.radius(lam) for d in p.discs]
    found["cone"] = max(excess, default=0.0) / force
    least = [lam[d.rows] @ u[d.rows] + d.radius(lam) * np.linalg.norm(u[d.rows]) for d in p.discs]
    found["dissipation"] = max(np.abs(least), default=0.0) / (force * speed)
    return found


def random_contacts(
    rng: np.random.Generator, freedoms: int, contacts: int, friction: float, tangents: int = 2
) -> Problem:
    """Contacts with random rows, and a free motion that sticking would stop."""
    n = contacts * (1 + tangents)
    A = rng.normal(size=(n, freedoms))
    first = np.arange(contacts) * (1 + tangents)
    shares = friction * rng.uniform(0.5, 1.5, contacts)
    discs = [
        Disc(list(range(i + 1, i + 1 + tangents)), int(i), share)
        for i, share in zip(first, shares, strict=True)
    ]
    return Problem(A, A @ rng.normal(size=freedoms), first.tolist(), discs)

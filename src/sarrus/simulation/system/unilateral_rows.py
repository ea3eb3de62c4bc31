"""Unilateral constraint rows: contacts that push and do not pull.

Of all velocities that penetrate no contact, an inelastic impact leaves the one nearest to the velocity before
it, in the mass metric (Moreau's impact). Of all such accelerations, the motion has the one nearest to the
acceleration without contacts (Gauss' principle). With x_p any vector that satisfies all rows as equations and
M = L L.T, the multipliers solve a bounded least-squares problem, with redundant rows too:

    min |x+ - x|_M   s.t.  J x+ = r,  side (J x+ - r) >= 0 for unilateral rows                         (1)
    min |L^-1 J.T lam - L.T (x_p - x)|   s.t.  side lam >= 0,     M (x+ - x) = J.T lam                 (2)

Dry friction at rest joins contacts in one problem for the acceleration (contact_friction.py). Impacts know no
friction, whose forces are finite.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...arrays import Array
from ...dynamics.terms import Terms
from ...mechanism.mechanism import Mechanism
from ...projection.decomposition import count_above, decompose, full_svd, metric_factor
from .contact_friction import ContactFriction

STANDS = 1e-9  # normal speed up to which a contact does not separate, relative to the speeds, lengths over L
LEAST = 1e-6  # lower bound of the speeds and accelerations that others are compared with, lengths over L
SLACK = 1e-8  # of the largest multiplier: a contact that pulls less than this stays closed
FEASIBLE = 1e-9  # of the force: residual up to which a distribution of the load counts as a solution
REGULAR = 1e-8  # weight of lam in (2), relative
SHARED = 1e-3  # of the largest multiplier: push of a contact that another distribution of the load relieves


@dataclass(frozen=True)
class UnilateralRows:
    """Normal rows of contacts in a mechanism.

    Attributes:
        mech: the mechanism.
        rows: index and side of each row, by the name of its contact.
    """

    mech: Mechanism
    rows: Mapping[str, tuple[int, float]]

    @cached_property
    def dry(self) -> ContactFriction:
        """Dry friction together with these contacts."""
        return ContactFriction(self.mech, self.rows)

    def velocity_after(self, t: float, q: Array, v: Array) -> Array:
        """v+ (nv,) of (1): all rows of the mechanism close, unilateral ones push."""
        terms = self.mech.terms(q, v, t)
        after = self._nearest(terms, terms.b, v)
        return self.dry.friction.stilled(after, v) if self.mech._sticks else after

    def acceleration(
        self, t: float, q: Array, v: Array, tau: Array, gone: Collection[str] = ()
    ) -> tuple[Array, Array]:
        """Acceleration (nv,) of (1) under the applied force tau (nv,), contacts `gone` left out; and the one
        without any constraint (nv,)."""
        terms = self.mech.terms(q, v, t)
        free: Array = np.asarray(np.linalg.solve(terms.M, tau - terms.h), dtype=np.float64)
        if self.mech._sticks:
            return self.dry.solve((t, q, v, tau), gone=gone)[1], free
        return self._nearest(terms, terms.gamma, free, gone), free

    def opening_speeds(self, t: float, q: Array, v: Array, before: Array) -> dict[str, float]:
        """Speed at which each contact opens; rounding relative to the velocity `before` (nv,) counts as 0."""
        _, J, b, _ = self.mech.evaluator.constraints(q, v, t)
        units, rate = self.mech.units, self._sided(J @ v - b)
        least = STANDS * max(float(np.max(np.abs(before / units.unit))), LEAST)
        limits = {name: least * units.row_unit[row] for name, (row, _) in self.rows.items()}
        return {name: x if x > limits[name] else min(x, 0.0) for name, x in rate.items()}

    def pressing(self, t: float, q: Array, v: Array, a: Array) -> dict[str, float]:
        """Acceleration of each contact towards closing, where the coordinates accelerate by a (nv,)."""
        _, J, _, gamma = self.mech.evaluator.constraints(q, v, t)
        return self._sided(gamma - J @ a)

    def lifted(self, t: float, q: Array, v: Array, tau: Array) -> list[str]:
        """Contacts that the applied force tau (nv,) lifts off."""
        if not self.rows:
            return []
        a, free = self.acceleration(t, q, v, tau)
        units = self.mech.units
        least = STANDS * max(float(np.max(np.abs(free / units.unit))), LEAST)
        pressing = self.pressing(t, q, v, a)
        return [name for name, (row, _) in self.rows.items() if -pressing[name] / units.row_unit[row] > least]

    def pushes(self, t: float, q: Array, v: Array, tau: Array) -> dict[str, float]:
        """Force of each contact [N, N m]; negative where it pulls by more than rounding.

        Where rows depend on each other, contacts pull only if no distribution of the load pushes everywhere.
        """
        evaluator = self.mech.evaluator
        drive, user = evaluator.drive(t, 1), evaluator.user(q[None], v[None], t)
        found = evaluator.kernel.forward(q[None], v[None], tau[None], drive, user)
        lam, unique = np.asarray(found[2])[0], bool(np.asarray(found[3])[0].all())
        size = float(np.max(np.abs(lam), initial=0.0))
        plain = self._sided(lam)
        if not unique and not min(plain.values(), default=0.0) >= 0.0:
            shared = self._shared(t, q, v, lam)
            if shared is not None:
                plain = {name: max(x, SHARED * size) for name, x in self._sided(shared).items()}
        return {name: x + SLACK * size for name, x in plain.items()}

    def distributed(self, t: Array, q: Array, v: Array, lam: Array) -> Array:
        """Multipliers (n, nc) of n states with contacts that push, where lam (n, nc) can be so."""
        out = lam.copy()
        pull = np.array([side * lam[:, row] for row, side in self.rows.values()]).reshape(-1, len(lam))
        for i in np.flatnonzero(np.any(pull < -SLACK * np.max(np.abs(lam), axis=1, initial=0.0), axis=0)):
            shared = self._shared(float(t[i]), q[i], v[i], lam[i])
            out[i] = lam[i] if shared is None else shared
        return out

    def _shared(self, t: float, q: Array, v: Array, lam: Array) -> Array | None:
        """Multipliers (nc,) that give the force of lam (nc,) with contacts that push; None: not any."""
        J = self.mech.evaluator.constraints(q, v, t)[1]
        force = J.T @ lam
        shared = _bounded(J.T, force, dict(self.rows.values()))
        miss = float(np.linalg.norm(J.T @ shared - force))
        return None if miss > FEASIBLE * float(np.linalg.norm(force)) else shared

    def _sided(self, values: Array) -> dict[str, float]:
        """side * value of each contact, of values of all rows (nc,)."""
        return {name: side * float(values[row]) for name, (row, side) in self.rows.items()}

    def _nearest(self, terms: Terms, right: Array, x: Array, gone: Collection[str] = ()) -> Array:
        """x+ of (1) with the right side r = `right` (nc,), contacts `gone` left out."""
        from scipy.linalg import solve_triangular

        left_out = np.array([self.rows[name][0] for name in gone], dtype=int)
        kept = np.setdiff1d(np.arange(self.mech.nc), left_out)
        units, J, right = self.mech.units, terms.J[kept], right[kept]
        bare = J * units.unit / units.row_unit[kept, None]
        rank = count_above(full_svd(bare)[1], units.rank_tol, absolute=True)
        L = metric_factor(terms.M, len(terms.M))
        meets_all = decompose(J, terms.M, rank=rank).solve(right - J @ x)
        B = solve_triangular(L, J.T, lower=True)
        signs = dict(self.rows.values())
        sides = {i: signs[int(row)] for i, row in enumerate(kept) if int(row) in signs}
        lam = _bounded(B, L.T @ meets_all, sides)
        return np.asarray(x + solve_triangular(L, B @ lam, trans="T", lower=True))


def _bounded(A: Array, b: Array, signs: Mapping[int, float]) -> Array:
    """lam of least |A lam - b| with the given signs; of several, the one of least norm.

    A small weight on lam makes it unique for redundant columns; its effect on the others is below rounding.
    """
    from scipy.optimize import lsq_linear

    n = A.shape[1]
    if n == 0:
        return np.zeros(0)
    low, high = np.full(n, -np.inf), np.full(n, np.inf)
    for row, side in signs.items():
        (low if side > 0.0 else high)[row] = 0.0
    weight = REGULAR * float(np.linalg.norm(A, 2)) * np.eye(n)
    rows, right = np.vstack([A, weight]), np.concatenate([b, np.zeros(n)])
    return np.asarray(lsq_linear(rows, right, (low, high), method="bvls", max_iter=20 * n + 100).x)

"""ContactFriction: dry friction and contacts that push, in one problem at one state.

Whether a contact opens depends on the friction of coordinates at rest, and that on the pushes of contacts.
Together they are one box problem with a unique acceleration (dynamics/dry_friction.py).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ...arrays import Array
from ...constraints.user_forces import user_wrenches
from ...dynamics.bearing_friction import BearingLoads, fixed_point
from ...dynamics.dry_friction import DryFriction, Friction, Pushing
from ...dynamics.formulations import least_multipliers
from ...dynamics.terms import Terms
from ...mechanism.mechanism import Mechanism
from ...projection.decomposition import count_above, decompose, full_svd

HOLDS = 1e4  # times the largest applied force: friction that holds whatever rests

State = tuple[float, Array, Array, Array]


@dataclass(frozen=True)
class Problem:
    """One state, without dry friction and without the normals of contacts.

    Attributes:
        terms: M, h and all rows.
        others: rows that are no normals.
        N: their tangent directions (nv, dof), N.T M N = 1.
        particular: smallest acceleration (nv,) that these rows allow.
        pushing: the normals.
    """

    terms: Terms
    others: npt.NDArray[np.int64]
    N: Array
    particular: Array
    pushing: Pushing

    def acceleration(self, force: Array) -> Array:
        """Acceleration (nv,) under an applied force (nv,)."""
        return np.asarray(self.particular + self.N @ (self.N.T @ (force - self.terms.h)))

    def motion(self, tau: Array, found: Friction) -> Array:
        """Acceleration (nv,) under tau (nv,), friction and the pushes of contacts."""
        return self.acceleration(tau + found.force + found.push @ self.pushing.J)


@dataclass(frozen=True)
class ContactFriction:
    """Coordinates whose friction sticks, and normal rows of closed contacts.

    Attributes:
        mech: the mechanism.
        rows: index and side of each normal row, by the name of its contact.
    """

    mech: Mechanism
    rows: Mapping[str, tuple[int, float]]

    @cached_property
    def friction(self) -> DryFriction:
        """The coordinates whose friction sticks."""
        return DryFriction(self.mech.model)

    @cached_property
    def normals(self) -> npt.NDArray[np.int64]:
        """Index of each normal row (m,)."""
        return np.array([row for row, _ in self.rows.values()], dtype=np.int64)

    @cached_property
    def sides(self) -> Array:
        """1 or -1 for each normal row (m,): its push is the multiplier times this."""
        return np.array([side for _, side in self.rows.values()], dtype=np.float64)

    @cached_property
    def _slippery(self) -> Mechanism:
        return Mechanism(self.mech._slippery)

    def solve(self, state: State, *, gone: Collection[str] = (), **options: Any) -> tuple[Friction, Array]:
        """Friction and pushes, and their acceleration (nv,).

        Args:
            state: t, q, v and the applied force tau.
            gone: contacts left out.
            options: `least`, the least push of each contact relative to the forces that act, and those of
                `DryFriction.solve`.
        """
        t, q, v, tau = state
        problem, least = self.problem(t, q, v, gone), options.pop("least", 0.0)
        forces = np.concatenate([tau - problem.terms.h, np.zeros(len(tau))])
        forces[len(tau) + self.friction.coordinates] = self.friction.bounds
        size = float(np.max(np.abs(forces) * np.tile(self.mech.units.unit, 2)))
        pushing = problem.pushing._replace(least=least * size / problem.pushing.unit)

        def solve(extra: Array | None) -> Friction:
            options["pushing"] = pushing
            return self.friction.solve(problem.acceleration, problem.N, v, tau, extra=extra, **options)

        extra = None
        if self.mech._bearings:
            resting = options.get("resting")
            resting = self.friction.resting(v) if resting is None else resting
            ample = HOLDS * size / self.mech.units.unit[self.friction.coordinates]
            kept = [name for name in self.rows if name not in gone]
            start = self._loads(state, problem, solve(np.where(resting, ample, 0.0)), kept)
            extra = fixed_point(lambda x: self._loads(state, problem, solve(x), kept), start)
            if extra is None:
                raise BearingLoads(self.friction, self.mech.model).unsettled()
        found = solve(extra)
        return found, problem.motion(tau, found)

    def _loads(self, state: State, problem: Problem, found: Friction, kept: list[str]) -> Array:
        """Friction by load (k,) in the motion with this friction and these pushes of the contacts `kept`."""
        (t, q, v, tau), terms, others = state, problem.terms, problem.others
        a, lam, units = problem.motion(tau, found), np.zeros(self.mech.nc), self.mech.units
        for name, push in zip(kept, found.push, strict=True):
            row, side = self.rows[name]
            lam[row] = side * push
        rest = terms.M @ a + terms.h - tau - found.force - terms.J.T @ lam
        bare = terms.J[others] * units.unit / units.row_unit[others, None]
        rank = self.mech.nv - problem.N.shape[1]
        lam[others] = least_multipliers(bare, rest * units.unit, rank) / units.row_unit[others]
        of_user = user_wrenches(self.mech.evaluator, q[None], v[None], np.array([t]))
        bearings = BearingLoads(self.friction, self.mech.model)
        return np.asarray(bearings.bounds(q[None], v[None], a[None], lam[None], of_user)[0])

    def problem(self, t: float, q: Array, v: Array, gone: Collection[str] = ()) -> Problem:
        """The problem at one state, contacts `gone` left out."""
        terms, units = self._slippery.terms(q, v, t), self.mech.units
        kept = np.array([name not in gone for name in self.rows], dtype=bool)
        rows, sides = self.normals[kept], self.sides[kept]
        others = np.setdiff1d(np.arange(self.mech.nc), self.normals)
        J = terms.J[others]
        bare = J * units.unit / units.row_unit[others, None]
        rank = count_above(full_svd(bare)[1], units.rank_tol, absolute=True)
        split = decompose(J, terms.M, rank=rank)
        signed = sides[:, None] * terms.J[rows], sides * terms.gamma[rows]
        pushing = Pushing(*signed, units.row_unit[rows], np.zeros(len(rows)))
        return Problem(terms, others, split.N, split.solve(terms.gamma[others]), pushing)

"""A mechanism while some coordinates stick and others slide, and the load of those that stick.

Coordinates that stick are velocity rows of the constraints; their multipliers are the friction forces f.
Where these rows depend on each other f is one of many: all stick while some f + Z y is within the bounds,

    load = min_y max_k |f + Z y|_k / c_k <= 1,        Z: null space of the rows' effect on the motion     (1)
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from ...arrays import Array, BoolArray, frozen
from ...constraints.couplings import HeldCoordinate
from ...dynamics.dry_friction import Directions, DryFriction
from ...mechanism.compile import exchange_constraints
from ...mechanism.mechanism import Mechanism
from ..system.system import System

PIECE = 2048  # states at a time
WITHIN = 1e-6  # of a bound: shares of a load that exceed theirs by more are distributed anew


class StuckRows:
    """One stretch of a run.

    Attributes:
        friction: the rows of friction.
        directions: 1, -1 for coordinates that slide, 0 for those that stick (k,).
        stuck: rows that stick.
        system: the mechanism with their constraint rows.
    """

    def __init__(self, mech: Mechanism, friction: DryFriction, directions: Directions) -> None:
        self.friction, self.directions = friction, directions
        self.stuck = np.flatnonzero(directions == 0)
        held = tuple((f"friction of {friction.names[k]}", self._held(int(k))) for k in self.stuck)
        model = exchange_constraints(mech.model, (*mech.model.constraints, *held))
        changed: dict[str, Any] = {"cf_values": frozen(friction.directed(directions))}
        model = dataclasses.replace(model, **changed)
        self.system = System(Mechanism(model, mech._default))
        self._rows = slice(mech.nc, mech.nc + len(held))
        self._plain = mech

    def _held(self, k: int) -> HeldCoordinate:
        return HeldCoordinate(int(self.friction.coordinates[k]))

    def forces(self, t: Array, q: Array, v: Array, tau: Array) -> tuple[Array, BoolArray]:
        """Friction forces (n, number stuck) of n states under tau (n, nv), and which are unique."""
        found = [np.zeros((0, len(self.stuck))), np.zeros((0, len(self.stuck)), dtype=bool)]
        for begin in range(0, len(t), PIECE):
            here = slice(begin, begin + PIECE)
            outside = self._outside(t[here], q[here], v[here])
            each = [np.ascontiguousarray(x[here]) for x in (q, v, tau)]
            _, _, lam, unique, *_ = self.system.kernel.forward(*each, *outside)
            parts = lam[:, self._rows], np.asarray(unique)[:, self._rows].astype(bool)
            found = [np.concatenate(pair) for pair in zip(found, parts, strict=True)]
        return found[0], found[1]

    def loads(self, t: Array, q: Array, v: Array, tau: Array, up_to: float) -> Array:
        """Load (1) of n states (n,); those after the first one above `up_to` are upper bounds only."""
        f, unique = self.forces(t, q, v, tau)
        bounds = self.friction.bounds[self.stuck]
        load = np.max(np.abs(f) / bounds, axis=1, initial=0.0)
        for i in np.flatnonzero((load > up_to) & ~unique.all(axis=1)):
            load[i] = self._least_load(f[i] / bounds, float(t[i]), q[i], v[i])
            if load[i] > up_to:
                break
        return np.asarray(load)

    def _least_load(self, f: Array, t: float, q: Array, v: Array) -> float:
        """(1) for friction forces f relative to their bounds, by a linear program in (load, y)."""
        from scipy.optimize import linprog

        Z = self._shared(t, q, v)
        if Z.shape[1] == 0:
            return float(np.max(np.abs(f)))
        ones = np.ones((len(f), 1))
        rows = np.vstack([np.hstack([-ones, Z]), np.hstack([-ones, -Z])])
        cost = np.concatenate([[1.0], np.zeros(Z.shape[1])])
        found = linprog(cost, rows, np.concatenate([-f, f]), bounds=(None, None), method="highs")
        return float(found.fun) if found.success else float(np.max(np.abs(f)))

    def _shared(self, t: float, q: Array, v: Array) -> Array:
        """Z of (1) (number stuck, n), relative to the bounds, orthonormal."""
        plain, at = self._plain, self.friction.coordinates[self.stuck]
        N = plain.decompose(q, t=t).N if plain.nc else np.eye(plain.nv)
        effect = (N[at] * self.friction.bounds[self.stuck][:, None]).T
        _, values, Vt = np.linalg.svd(effect)
        rank = int(np.sum(values > 1e-9 * max(float(values[0]), 1e-300))) if len(values) else 0
        return np.asarray(Vt[rank:].T)

    def friction_along(self, t: Array, q: Array, v: Array, tau: Array) -> tuple[Array, BoolArray]:
        """Generalized friction force (n, nv) of n states of this stretch, and which entries are unique."""
        rows = self.friction.coordinates
        force, unique = np.zeros_like(v), np.ones(v.shape, dtype=bool)
        force[:, rows] = -self.directions * self.friction.level(v)
        if not len(self.stuck):
            return force, unique
        f, same = self.forces(t, q, v, tau)
        force[:, rows[self.stuck]], unique[:, rows[self.stuck]] = f, same
        beyond = np.abs(f) > (1.0 + WITHIN) * self.friction.bounds[self.stuck]
        for i in np.flatnonzero(np.any(beyond & ~same, axis=1)):
            problem = self._plain._friction_problem(q[i], v[i], float(t[i]))
            force[i] = self.friction.solve(*problem, v[i], tau[i], resting=self.directions == 0).force
        return force, unique

    def _outside(self, t: Array, q: Array, v: Array) -> tuple[Any, Any]:
        """Values of drives and user rows at n states."""
        system = self.system
        if not system.has_drives and not system.has_user_rows:
            return system.no_user_rows(len(t))
        states = zip(q, v, t.tolist(), strict=True)
        each = [system.evaluator.outside(x[None], y[None], time) for x, y, time in states]
        return tuple(np.concatenate(part) for part in zip(*each, strict=True))  # type: ignore[return-value]

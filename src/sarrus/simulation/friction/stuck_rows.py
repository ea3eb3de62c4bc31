"""A mechanism while some coordinates stick and others slide, and the load of those that stick.

Coordinates that stick are velocity rows of the constraints; their multipliers are the friction forces f.
Where these rows depend on each other f is one of many: all stick while some f + Z y is within the bounds,

    load = min_y max_k |f + Z y|_k / c_k <= 1,        Z: null space of the rows' effect on the motion     (1)

Closed contacts take part: they must push, lam + Z y >= 0. Their load is above 1 where they pull.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from ...arrays import Array, BoolArray, frozen
from ...constraints.couplings import HeldCoordinate
from ...constraints.user_forces import user_wrenches
from ...dynamics.bearing_friction import BearingLoads, fixed_point
from ...dynamics.dry_friction import Directions
from ...mechanism.compile import exchange_constraints
from ...mechanism.mechanism import Mechanism
from ..system.contact_friction import ContactFriction, State
from ..system.step_records import Steps
from ..system.system import System
from .load_sharing import ROUNDS, least_load, shared, tangents, without_effect

PIECE = 2048  # states at a time
LEAST = 1e-300  # stands for a bound of zero
PULLS = 1e-8  # of the largest force: contacts that pull by more open
WITHIN = 1e-6  # of a bound: shares of a load that exceed theirs by more are distributed anew


States = tuple[Array, Array, Array, Array]  # t (n,), q (n, nq), v and tau (n, nv)
Pushes = tuple[Array, float]  # of contacts (m,), and the pull at which their load is 2


class StuckRows:
    """One stretch of a run.

    Attributes:
        friction: the rows of friction.
        directions: 1, -1 for coordinates that slide, 0 for those that stick (k,).
        stuck: rows that stick.
        system: the mechanism with their constraint rows.
        contacts: closed contacts, whose rows the mechanism holds.

    Args:
        contacts: the mechanism with its rows of friction and closed contacts.
        directions: of the rows of friction.
        by_kernel: whether steps of the kernel find the friction by load of rows that slide; else Python.
    """

    def __init__(self, contacts: ContactFriction, directions: Directions, by_kernel: bool) -> None:
        mech, friction = contacts.mech, contacts.friction
        self.contacts, self.friction, self.directions = contacts, friction, directions
        self.stuck = np.flatnonzero(directions == 0)
        held = tuple((f"friction of {friction.names[k]}", self._held(int(k))) for k in self.stuck)
        model = exchange_constraints(mech.model, (*mech.model.constraints, *held))
        changed: dict[str, Any] = {"cf_values": frozen(friction.directed(directions, by_kernel))}
        model = dataclasses.replace(model, **changed)
        self.system = System(Mechanism(model, mech._default))
        self._rows = slice(mech.nc, mech.nc + len(held))
        self._plain = mech
        self._bearings = BearingLoads(friction, model) if mech._bearings else None
        self._by_kernel = by_kernel
        if self._bearings is not None and np.any(directions) and not by_kernel:
            self.system.further_force = self.sliding_by_load

    def _held(self, k: int) -> HeldCoordinate:
        return HeldCoordinate(int(self.friction.coordinates[k]))

    def motions(self, t: Array, q: Array, v: Array, tau: Array) -> tuple[Array, Array, BoolArray]:
        """Accelerations (n, nv) and multipliers (n, nc) of n states under tau (n, nv), which are unique."""
        found: list[Any] = []
        for begin in range(0, max(len(t), 1), PIECE):
            here = slice(begin, begin + PIECE)
            outside = self._outside(t[here], q[here], v[here])
            each = [np.ascontiguousarray(x[here]) for x in (q, v, tau)]
            a, _, lam, unique, *_ = self.system.kernel.forward(*each, *outside)
            found.append((a, lam, np.asarray(unique).astype(bool)))
        a, lam, unique = (np.concatenate(part) for part in zip(*found, strict=True))
        return a, lam, unique

    def multipliers(self, t: Array, q: Array, v: Array, a: Array, tau: Array) -> tuple[Array, BoolArray]:
        """Multipliers (n, nc) of n motions with accelerations a under tau (n, nv), and which are unique."""
        found: list[Any] = []
        for begin in range(0, max(len(t), 1), PIECE):
            here = slice(begin, begin + PIECE)
            each = [np.ascontiguousarray(x[here]) for x in (q, v, a, tau)]
            found.append(self.system.kernel.multipliers(*each, *self._outside(t[here], q[here], v[here])))
        lam, unique = (np.concatenate(part) for part in zip(*found, strict=True))
        return lam, unique.astype(bool)

    def _by_load(self, q: Array, v: Array, t: Array, a: Array, lam: Array) -> Array:
        """Friction by load (n, k) of n motions."""
        if self._bearings is None:
            return np.zeros((len(q), len(self.directions)))
        return self._bearings.bounds(q, v, a, lam, user_wrenches(self.system.evaluator, q, v, t))

    def _by_load_of(self, steps: Steps) -> Array:
        """Friction by load (n, k) of n steps, whose loads the kernel knows."""
        states = [np.ascontiguousarray(x) for x in (steps.q, steps.v, steps.a, steps.tau)]
        outside = self._outside(steps.t, steps.q, steps.v)
        return np.asarray(self.system.kernel.motion_bounds(*states, *outside)[:, self.friction.coordinates])

    def sliding_by_load(self, t: float, q: Array, v: Array, tau: Array) -> Array:
        """Generalized force (nv,) of the friction by load of rows that slide, under the applied force tau."""
        bearings, at = self._bearings, self.friction.coordinates
        if bearings is None or not np.any(self.directions):
            return np.zeros(len(v))
        one = np.array([t]), q[None], v[None]
        if self._by_kernel:
            states = (np.ascontiguousarray(x) for x in (*one[1:], tau[None]))
            force = np.asarray(self.system.kernel.sliding_friction(*states, *self._outside(*one))[0])
            if not np.all(np.isfinite(force)):
                raise bearings.unsettled()
            return force
        force = np.zeros(len(v))

        def rule(bounds: Array) -> Array:
            force[at] = -self.directions * bounds
            a, lam, _ = self.motions(*one, (tau + force)[None])
            return np.where(self.directions != 0, self._by_load(q[None], v[None], one[0], a, lam)[0], 0.0)

        found = fixed_point(rule, np.zeros(len(at)))
        if found is None:
            raise bearings.unsettled()
        force[at] = -self.directions * found
        return force

    def loads(self, t: Array, q: Array, v: Array, tau: Array, up_to: float) -> Array:
        """Load (1) of n states (n,); those after the first one above `up_to` are upper bounds only."""
        a, lam, unique = self.motions(t, q, v, tau)
        f, by_load, push = lam[:, self._rows], self._by_load(q, v, t, a, lam), self._pushes(lam)
        bounds = (self.friction.bounds + by_load)[:, self.stuck]
        relative = np.abs(f) / np.where(bounds > 0.0, bounds, LEAST)
        width = np.maximum(PULLS / (up_to - 1.0) * self._sizes(lam, tau), LEAST)
        load = np.max(np.hstack([relative, 1.0 - push / width[:, None]]), axis=1, initial=0.0)
        load = self._with_shared_loads(load, (load > up_to) & ~self._known(unique), (t, q, v, tau), f)
        for i in np.flatnonzero((load > up_to) & ~self._known(unique)):
            state = float(t[i]), q[i], v[i], tau[i]
            pushing = push[i], float(width[i])
            settled = self._settled_bounds(f[i], by_load[i], pushing, state)
            load[i] = self._least_load(f[i], settled, pushing, *state[:2])[0]
            if load[i] > up_to:
                break
        return np.asarray(load)

    def _with_shared_loads(self, load: Array, open_: BoolArray, states: States, force: Array) -> Array:
        """Loads (n,), smaller where `open_` (n,) and bounds allow other shares of the friction (n, stuck)."""
        which = np.flatnonzero(open_)
        if not len(which) or self.contacts.rows:
            return load
        (t, q, v, tau), model = (x[which] for x in states), self._plain.model
        at, fixed = self.friction.coordinates, self.friction.bounds[self.stuck]
        unit, A, best = model.unit[at[self.stuck]], self._along(t, q, v), load[which]
        sliding, bounds = np.zeros_like(v), np.tile(fixed, (len(t), 1))
        sliding[:, at] = -self.directions * self.friction.level(v)
        f = force[which]
        for _ in range(ROUNDS):
            if A is None:
                break
            if self._bearings is not None:
                bounds = fixed + self._bounds_under(t, q, v, tau + sliding, f)
            best = np.minimum(best, np.max(np.abs(f) / np.maximum(bounds, LEAST), axis=1))
            if np.all(best <= 1.0):
                break
            f = shared(A, f * unit, bounds * unit) / unit
        out = load.copy()
        out[which] = best
        return out

    def _along(self, t: Array, q: Array, v: Array) -> Array | None:
        """A (n, number stuck and contacts, dof) of load_sharing.py; None where the rank of J varies."""
        model, normals = self._plain.model, self.contacts.normals
        J = model.kernel.constraints(q, v, *self._outside(t, q, v))[1] * model.unit / model.row_unit[:, None]
        N = tangents(np.delete(J, normals, axis=1), float(model.rank_tol))
        if N is None:
            return None
        along = N[:, self.friction.coordinates[self.stuck]]
        return np.concatenate([along, self.contacts.sides[:, None] * (J[:, normals] @ N)], axis=1)

    def _least_shares(self, states: States, open_: BoolArray, f: Array, push: Array) -> tuple[Array, Array]:
        """Friction (n, stuck) and pushes (n, m), those of least norm where `open_` (n,) tells that others
        would do."""
        which = np.flatnonzero(open_)
        A = self._along(*(x[which] for x in states[:3])) if len(which) else None
        if A is None:
            return f, push
        unit = self._plain.model.unit[self.friction.coordinates[self.stuck]]
        both = np.hstack([f * unit, push])
        both[which] = shared(A, both[which], np.ones_like(both[which]))
        return both[:, : len(unit)] / unit, both[:, len(unit) :]

    def _bounds_under(self, t: Array, q: Array, v: Array, tau: Array, f: Array) -> Array:
        """Bounds by load (n, number stuck) where those that stick have the friction f (n, number stuck)."""
        total = tau.copy()
        total[:, self.friction.coordinates[self.stuck]] += f
        q, v, total = (np.ascontiguousarray(x) for x in (q, v, total))
        a, _, lam, *_ = self._plain._slippery.kernel.forward(q, v, total, *self._outside(t, q, v))
        loads = BearingLoads(self.friction, self._plain.model)
        of_user = user_wrenches(self.system.evaluator, q, v, t)
        return np.asarray(loads.bounds(q, v, a, lam, of_user)[:, self.stuck])

    def _pushes(self, lam: Array) -> Array:
        """Forces of contacts (n, m), of multipliers (n, nc), those in [N] times L; negative: they pull."""
        normals = self.contacts.normals
        return np.asarray(lam[:, normals] * self.contacts.sides * self.system.units.row_unit[normals])

    def pulling(self, t: Array, q: Array, v: Array, tau: Array) -> tuple[str, ...]:
        """The contact that pulls most at one state, if any does."""
        push = self._pushes(self.motions(t, q, v, tau)[1])[0]
        return (list(self.contacts.rows)[int(np.argmin(push))],) if np.any(push < 0.0) else ()

    def _sizes(self, lam: Array, tau: Array) -> Array:
        """The largest force (n,) of n states with lam (n, nc) under tau (n, nv), those in [N] times L."""
        units, at = self.system.units, self.friction.coordinates
        friction = float(np.max(self.friction.bounds * units.unit[at]))
        each = np.hstack([lam * units.row_unit, tau * units.unit])
        return np.asarray(np.maximum(np.max(np.abs(each), axis=1, initial=0.0), friction))

    def _known(self, unique: BoolArray) -> BoolArray:
        """Whether forces of rows that stick and of contacts are unique (n,), of those of all rows (n, nc)."""
        return np.asarray(unique[:, self._rows].all(axis=1) & unique[:, self.contacts.normals].all(axis=1))

    def _settled_bounds(self, f: Array, by_load: Array, pushing: Pushes, state: State) -> Array:
        """Bounds (number stuck) for the distribution of the load f (number stuck) that they allow best."""
        at, fixed = self.friction.coordinates, self.friction.bounds[self.stuck]
        if self._bearings is None:
            return fixed
        t, q, v, tau = state
        force = tau.copy()
        force[at] -= self.directions * self.friction.level(v)

        def rule(extra: Array) -> Array:
            share = self._least_load(f, fixed + extra, pushing, t, q)[1]
            found = self._bounds_under(np.array([t]), q[None], v[None], force[None], share[None])
            return np.asarray(found[0])

        found = fixed_point(rule, by_load[self.stuck])
        return np.asarray(fixed + (by_load[self.stuck] if found is None else found))

    def _least_load(
        self, force: Array, bounds: Array, pushing: Pushes, t: float, q: Array
    ) -> tuple[float, Array]:
        """(1) for friction forces f, their bounds and contacts; and f."""
        bounds, (push, width) = np.where(bounds > 0.0, bounds, LEAST), pushing
        Z = self._shared(np.concatenate([bounds, np.full(len(push), width)]), t, q)
        load, relative = least_load(force / bounds, 1.0 - push / width, Z)
        return load, bounds * relative

    def _shared(self, sizes: Array, t: float, q: Array) -> Array:
        """Z of (1) (number stuck and contacts, n), relative to the sizes of the forces, orthonormal."""
        plain, at = self._plain, self.friction.coordinates[self.stuck]
        if self.contacts.rows:
            problem = self.contacts.problem(t, q, np.zeros(plain.nv))
            along = np.vstack([problem.N[at], problem.pushing.J @ problem.N / problem.pushing.unit[:, None]])
        else:
            along = (plain.decompose(q, t=t).N if plain.nc else np.eye(plain.nv))[at]
        return without_effect(along * sizes[:, None])

    def friction_along(self, steps: Steps) -> tuple[Array, BoolArray, Array]:
        """Of n states of this stretch: generalized friction force (n, nv), which entries are unique, and the
        part of it (n, nv) that tau (n, nv) holds: the friction by load of rows that slide."""
        t, q, v, a, tau = steps.t, steps.q, steps.v, steps.a, steps.tau
        rows = self.friction.coordinates
        force, unique, inside = np.zeros_like(v), np.ones(v.shape, dtype=bool), np.zeros_like(v)
        if not len(self.stuck) and self._bearings is None:
            force[:, rows] = -self.directions * self.friction.level(v)
            return force, unique, inside
        alone = self._by_kernel and not len(self.stuck) and not self.contacts.rows
        which = slice(0, 1) if alone else slice(None)  # multipliers of the first state tell what is unique
        lam, known = self.multipliers(*(x[which] for x in (t, q, v, a, tau)))
        same, push = known[:, self._rows], self._pushes(lam)
        f, push = self._least_shares((t, q, v, tau), np.any(~same, axis=1), lam[:, self._rows], push)
        by_load = self._by_load_of(steps) if alone else self._by_load(q, v, t, a, lam)
        inside[:, rows] = -self.directions * by_load
        force[:, rows] = -self.directions * self.friction.level(v) + inside[:, rows]
        force[:, rows[self.stuck]], unique[:, rows[self.stuck]] = f, same
        if self._bearings is not None and len(t):
            unique[:, rows] &= self._bearings.unique(q[0], v[0], a[0], lam[0])
            if not self.contacts.rows:
                return force, unique, inside
        bounds = (self.friction.bounds + by_load)[:, self.stuck]
        beyond = np.any((np.abs(f) > (1.0 + WITHIN) * bounds) & ~same, axis=1)
        pulled = push < -PULLS * self._sizes(lam, tau)[:, None]
        for i in np.flatnonzero(beyond | (np.any(pulled, axis=1) & ~self._known(known))):
            force[i] = self._distributed((float(t[i]), q[i], v[i], tau[i]))
        return force, unique, inside

    def _distributed(self, state: State) -> Array:
        """Friction (nv,) of least norm within its bounds, with contacts that push."""
        resting = self.directions == 0
        if self.contacts.rows:
            return self.contacts.solve(state, resting=resting)[0].force
        t, q, v, tau = state
        return self.friction.solve(*self._plain._friction_problem(q, v, t), v, tau, resting=resting).force

    def _outside(self, t: Array, q: Array, v: Array) -> tuple[Any, Any]:
        """Values of drives and user rows at n states."""
        system = self.system
        if not system.called_at_every_stage:
            return system.no_user_rows(len(t))
        states = zip(q, v, t.tolist(), strict=True)
        each = [system.evaluator.outside(x[None], y[None], time) for x, y, time in states]
        return tuple(np.concatenate(part) for part in zip(*each, strict=True))  # type: ignore[return-value]

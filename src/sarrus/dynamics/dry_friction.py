"""Dry friction that sticks: the friction forces of one state, from a small convex problem.

Coordinates that slide are braked by a known force. Along the others, at rest, friction takes whatever value
within its bounds c_k is needed: the acceleration minimizes Gauss' function plus the friction power,

    min_a  (a - a_free).T M (a - a_free) / 2 + sum_k c_k |a_k|    with  J a = gamma                        (1)

which has one solution, whatever rows depend on each other. Contacts that push and do not pull add rows with
J_n a >= gamma_n to (1), which stays convex. In the friction forces f of coordinates at rest and the pushes
lam of contacts, with the accelerations a_0 + G f along all of these, it is a box problem (box_problem.py),

    |f_k| <= c_k,    lam_n >= 0                                                                           (2)

Where G is singular (four pins of a linkage with one freedom, a block that rests against a stop), several
forces give the same a: of them those of least norm are taken, lengths divided by L.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..arrays import Array, BoolArray, frozen
from ..models.model import Model
from ..models.parameters import COORDINATE_FORCES, kind_number
from .box_problem import SINGULAR, STILL, box_minimum

ROUNDING = 1e-12  # of the largest acceleration, and of the largest entry of N: less is zero
NO_BOUND = 1e-12  # of the largest bound: smaller ones, by loads that are rounding, hold nothing
AT_REST = 1e-10  # of the largest speed (lengths over L): coordinates that are slower are at rest
HELD = 2.0  # direction of friction that does not act, kernels/tree/forces/coulomb_friction.hpp
COULOMB = kind_number(COORDINATE_FORCES, "CoulombFriction")
BEARING = kind_number(COORDINATE_FORCES, "BearingFriction")
Directions = npt.NDArray[np.int64]


class Friction(NamedTuple):
    """Friction of one state.

    Attributes:
        force: generalized force of friction (nv,) [N m, N].
        unique: which entries the motion determines (nv,).
        directions: of the rows of `DryFriction`: 1 and -1 where it slides that way or begins to, 0 where it
            sticks (k,).
        push: force of each contact (m,) [N, N m].
        opening: acceleration at which each contact opens (m,), lengths over L; 0: it stays closed.
    """

    force: Array
    unique: BoolArray
    directions: Directions
    push: Array
    opening: Array


class Pushing(NamedTuple):
    """Normal rows of closed contacts, signed such that they open where J a > gamma.

    Attributes:
        J: (m, nv).
        gamma: right side (m,).
        unit: L for a length, 1 for an angle (m,).
        least: least force (m,) [N, N m]: zero.
    """

    J: Array
    gamma: Array
    unit: Array
    least: Array


class StatesFriction(NamedTuple):
    """Dry friction of states.

    Attributes:
        force: of friction (..., nv) [N m, N].
        unique: which of it the motion determines (..., nv).
        resting: the part of it that h does not hold, along coordinates at rest or by load (..., nv).
        moving: velocities (..., nv), those at rest exactly zero.
    """

    force: Array
    unique: BoolArray
    resting: Array
    moving: Array


def sticks(model: Model) -> bool:
    """Whether some coordinate has friction that sticks."""
    return len(model.cf_kind) > 0 and bool(np.any(np.isin(model.cf_kind, (COULOMB, BEARING))))


@dataclass(frozen=True)
class DryFriction:
    """The coordinates of a model whose friction sticks: its rows.

    Attributes:
        model: whose.
    """

    model: Model

    @cached_property
    def entries(self) -> npt.NDArray[np.int64]:
        """Declarations of friction among the forces on coordinates, (n,)."""
        return np.flatnonzero(np.isin(self.model.cf_kind, (COULOMB, BEARING)))

    @cached_property
    def _levels(self) -> Array:
        """Coulomb friction, breakaway and Stribeck speed of each declaration, (n, 3); none of bearings."""
        begin = self.model.cf_begin[self.entries].astype(int)
        levels = self.model.cf_values[begin[:, None] + np.arange(1, 4)]
        return np.where((self.model.cf_kind[self.entries] == COULOMB)[:, None], levels, (0.0, 0.0, 1.0))

    @cached_property
    def coordinates(self) -> npt.NDArray[np.int64]:
        """Index into v of each row, (k,)."""
        return np.unique(self.model.cf_v[self.entries]).astype(np.int64)

    @property
    def by_load(self) -> bool:
        """Whether the friction of some joint depends on its load."""
        return any(force.by_load for _, force in self.model.forces)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of these coordinates, (k,)."""
        return tuple(self.model.coordinate_names[k] for k in self.coordinates)

    def level(self, v: Array) -> Array:
        """Friction (..., k) [N m, N] of the rows at velocities v (..., nv)."""
        of_row = np.searchsorted(self.coordinates, self.model.cf_v[self.entries])
        coulomb, breakaway, speed = self._levels.T
        x = v[..., self.coordinates[of_row]] / speed
        each = coulomb + (breakaway - coulomb) * np.exp(-x * x)
        return np.asarray(each @ np.eye(len(self.coordinates))[of_row])

    @cached_property
    def speeds(self) -> Array:
        """Smallest Stribeck speed of each row (k,) [rad/s, m/s]."""
        out = np.full(len(self.coordinates), np.inf)
        np.minimum.at(
            out, np.searchsorted(self.coordinates, self.model.cf_v[self.entries]), self._levels[:, 2]
        )
        return out

    @cached_property
    def bounds(self) -> Array:
        """Largest friction of each row at rest (k,) [N m, N]."""
        return self.level(np.zeros(self.model.nv))

    def directed(self, directions: Directions, bearings: bool = True) -> Array:
        """The parameters `cf_values` of the model for rows that slide in these directions (k,), 0: held.

        Args:
            directions: of the rows.
            bearings: whether the kernel finds the friction of bearings that slide.
        """
        values = self.model.cf_values.copy()
        of_row = np.searchsorted(self.coordinates, self.model.cf_v[self.entries])
        chosen = np.where(directions == 0, HELD, directions)[of_row]
        if not bearings:
            chosen = np.where(self.model.cf_kind[self.entries] == BEARING, HELD, chosen)
        values[self.model.cf_begin[self.entries]] = chosen
        return values

    def without(self) -> Model:
        """The model without this friction."""
        others = np.flatnonzero(~np.isin(self.model.cf_kind, (COULOMB, BEARING)))
        columns = ("cf_kind", "cf_q", "cf_v", "cf_begin")
        changed: dict[str, Any] = {
            name: frozen(getattr(self.model, name)[others], np.int32) for name in columns
        }
        return dataclasses.replace(self.model, **changed)

    def resting(self, v: Array) -> BoolArray:
        """Which rows (..., k) are at rest in states with velocities v (..., nv)."""
        unit = self.model.unit
        speed = AT_REST * np.max(np.abs(v) / unit, axis=-1, initial=0.0)
        return np.asarray(np.abs(v[..., self.coordinates]) <= speed[..., None] * unit[self.coordinates])

    def holding(
        self,
        acceleration: Callable[[Array], Array],
        N: Array,
        v: Array,
        tau: Array,
        resting: BoolArray | None = None,
    ) -> Array:
        """The force (nv,) of least norm that holds all rows at rest; arguments as of `solve`."""
        at = self.coordinates[self.resting(v) if resting is None else resting]
        unit, out = self.model.unit[at], np.zeros(self.model.nv)
        along = N[at] / unit[:, None]
        out[at] = np.linalg.lstsq(along @ along.T, -acceleration(tau)[at] / unit, rcond=SINGULAR)[0] / unit
        return out

    def solve(
        self,
        acceleration: Callable[[Array], Array],
        N: Array,
        v: Array,
        tau: Array,
        *,
        resting: BoolArray | None = None,
        share: float = 1.0,
        extra: Array | None = None,
        pushing: Pushing | None = None,
    ) -> Friction:
        """The friction of one state.

        Args:
            acceleration: (nv,) under an applied force (nv,), without dry friction and contacts that push.
            N: tangent directions (nv, dof) with N.T M N = 1, so that G = N N.T.
            v: velocity (nv,).
            tau: applied generalized force (nv,).
            resting: which rows are at rest (k,); default by their speed.
            share: of the bounds that friction at rest can use.
            extra: further friction of the rows, by load (k,) [N m, N].
            pushing: contacts that may open.
        """
        rows, unit, nv = self.coordinates, self.model.unit, self.model.nv
        more = np.zeros(len(rows)) if extra is None else extra
        if pushing is None:
            pushing = Pushing(np.zeros((0, nv)), np.zeros(0), np.zeros(0), np.zeros(0))
        if resting is None:
            resting = self.resting(v)
        directions = np.where(resting, 0, np.sign(v[rows])).astype(np.int64)
        force, unique = np.zeros(nv), np.ones(nv, dtype=bool)
        force[rows] = -directions * (self.level(v) + more)
        bound = share * (self.bounds + more)
        bound[bound * unit[rows] <= NO_BOUND * np.max(bound * unit[rows])] = 0.0
        loose, resting = resting & (bound == 0.0), resting & (bound > 0.0)
        at, push, opening = rows[resting], pushing.least, np.zeros(len(pushing.least))
        if len(at) + len(push):
            k, a_0, c = len(at), acceleration(tau + force), bound[resting] * unit[at]
            A = np.vstack([np.eye(nv)[at] / unit[at, None], pushing.J / pushing.unit[:, None]])
            right = np.concatenate([np.zeros(k), pushing.gamma / pushing.unit])
            low = np.concatenate([-c, pushing.least * pushing.unit])
            high = np.concatenate([c, np.full(len(push), np.inf)])
            along, g = A @ N, A @ a_0 - right
            along[np.abs(along) <= ROUNDING * np.max(np.abs(N / unit[:, None]), initial=0.0)] = 0.0
            g[np.abs(g) <= ROUNDING * np.max(np.abs(a_0 / unit))] = 0.0  # of coordinates that are held
            y, settled, rate = box_minimum(along @ along.T, g, low, high)
            force[at], unique[at] = y[:k] / unit[at], settled[:k]
            push, opening = y[k:] / pushing.unit, rate[k:]
            directions[resting] = np.sign(rate[:k]).astype(np.int64)
        if np.any(loose):  # nothing holds them
            a = acceleration(tau + force + push @ pushing.J) / unit
            moving = np.abs(a[rows]) > STILL * np.max(np.abs(a))
            directions[loose] = np.where(moving, np.sign(a[rows]), 0.0)[loose].astype(np.int64)
        return Friction(force, unique, directions, push, opening)

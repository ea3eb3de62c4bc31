"""Dry friction that sticks: the friction forces of one state, from a small convex problem.

Coordinates that slide are braked by a known force. Along the others, at rest, friction takes whatever value
within its bounds c_k is needed: the acceleration minimizes Gauss' function plus the friction power,

    min_a  (a - a_free).T M (a - a_free) / 2 + sum_k c_k |a_k|    with  J a = gamma                        (1)

which has one solution, whatever rows depend on each other. In the friction forces f of coordinates at rest,
with their accelerations a_0 + G f, it is

    min_f  f.T G f / 2 + a_0.T f    with  |f_k| <= c_k                                                     (2)

Where G is singular (four pins of a linkage with one freedom), several f give the same a: of them the one of
least norm is taken, lengths divided by L.
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
from ..errors import InputError
from ..models.model import Model
from ..models.parameters import COORDINATE_FORCES, kind_number

AT_REST = 1e-10  # of the largest speed (lengths over L): coordinates that are slower are at rest
STILL = 1e-9  # of the largest acceleration, also that by friction: coordinates at rest with less stick
SINGULAR = 1e-10  # of the largest eigenvalue of G: those below count as zero
REGULAR = 1e-11  # of the same: weight of |f|^2 that selects the solution of least norm
LOOSE = 1e-6  # entry of a null vector of G from which on a force is not unique

HELD = 2.0  # direction of friction that does not act, kernels/tree/forces/coulomb_friction.hpp
COULOMB = kind_number(COORDINATE_FORCES, "CoulombFriction")
Directions = npt.NDArray[np.int64]


class Friction(NamedTuple):
    """Friction of one state.

    Attributes:
        force: generalized force of friction (nv,) [N m, N].
        unique: which entries the motion determines (nv,).
        directions: of the rows of `DryFriction`: 1 and -1 where it slides that way or begins to, 0 where it
            sticks (k,).
    """

    force: Array
    unique: BoolArray
    directions: Directions


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


def refuse_dry_friction(model: Model, what: str) -> None:
    """Refuse a model whose friction sticks; `what` cannot deal with it."""
    if sticks(model):
        names = ", ".join(map(repr, DryFriction(model).names))
        raise InputError(
            f"{what} knows no friction that sticks, which {model.name!r} has along {names}; simulate and"
            " forward_dynamics do. Take friction_model='smooth', or leave friction out:"
            " mech.with_(friction={name: 0}, breakaway={name: 0})."
        )


def refuse_rest(model: Model, v: npt.ArrayLike | None, what: str) -> None:
    """Refuse states v (..., nv), None: at rest, in which dry friction has no direction."""
    if not sticks(model):
        return
    rows = DryFriction(model)
    resting = rows.resting(np.zeros(model.nv) if v is None else np.asarray(v, dtype=np.float64))
    if any(force.by_load for _, force in model.forces):
        raise InputError(
            f"{what} knows no friction that depends on bearing loads, which {model.name!r} has; simulate and"
            " forward_dynamics do. Take a constant friction: CoulombFriction."
        )
    if np.any(resting):
        names = [
            name
            for name, rests in zip(rows.names, resting.reshape(-1, len(rows.names)).T, strict=True)
            if rests.any()
        ]
        raise InputError(
            f"{what}: {', '.join(map(repr, names))} of {model.name!r} are at rest, where friction that sticks"
            " is no smooth function. Take a state that slides, or leave friction out:"
            " mech.with_(friction={name: 0}, breakaway={name: 0})."
        )


def sticks(model: Model) -> bool:
    """Whether some coordinate has friction that sticks."""
    return len(model.cf_kind) > 0 and bool(np.any(model.cf_kind == COULOMB))


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
        return np.flatnonzero(self.model.cf_kind == COULOMB)

    @cached_property
    def _levels(self) -> Array:
        """Coulomb friction, breakaway and Stribeck speed of each declaration, (n, 3)."""
        begin = self.model.cf_begin[self.entries].astype(int)
        return np.asarray(self.model.cf_values[begin[:, None] + np.arange(1, 4)])

    @cached_property
    def coordinates(self) -> npt.NDArray[np.int64]:
        """Index into v of each row, (k,)."""
        return np.unique(self.model.cf_v[self.entries]).astype(np.int64)

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
    def bounds(self) -> Array:
        """Largest friction of each row at rest (k,) [N m, N]."""
        return self.level(np.zeros(self.model.nv))

    def directed(self, directions: Directions) -> Array:
        """The parameters `cf_values` of the model for rows that slide in these directions (k,), 0: held."""
        values = self.model.cf_values.copy()
        of_row = np.searchsorted(self.coordinates, self.model.cf_v[self.entries])
        values[self.model.cf_begin[self.entries]] = np.where(directions == 0, HELD, directions)[of_row]
        return values

    def without(self) -> Model:
        """The model without this friction."""
        held = self.directed(np.zeros(len(self.coordinates), dtype=np.int64))
        changed: dict[str, Any] = {"cf_values": frozen(held)}
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
    ) -> Friction:
        """The friction of one state.

        Args:
            acceleration: (nv,) under an applied force (nv,), without dry friction.
            N: tangent directions (nv, dof) with N.T M N = 1, so that G = N N.T.
            v: velocity (nv,).
            tau: applied generalized force (nv,).
            resting: which rows are at rest (k,); default by their speed.
            share: of the bounds that friction at rest can use.
            extra: further friction of the rows, by load (k,) [N m, N].
        """
        rows, unit = self.coordinates, self.model.unit
        more = np.zeros(len(rows)) if extra is None else extra
        if resting is None:
            resting = self.resting(v)
        directions = np.where(resting, 0, np.sign(v[rows])).astype(np.int64)
        force, unique = np.zeros(self.model.nv), np.ones(self.model.nv, dtype=bool)
        force[rows] = -directions * (self.level(v) + more)
        bound = share * (self.bounds + more)
        loose, resting = resting & (bound == 0.0), resting & (bound > 0.0)
        at = rows[resting]
        if len(at):
            bounds = bound[resting]
            a_0, along = acceleration(tau + force)[at] / unit[at], N[at] / unit[at, None]
            y, settled, rate = box_minimum(along @ along.T, a_0, bounds * unit[at])
            force[at], unique[at] = y / unit[at], settled
            directions[resting] = np.sign(rate).astype(np.int64)
        if np.any(loose):  # nothing holds them
            a = acceleration(tau + force) / unit
            moving = np.abs(a[rows]) > STILL * np.max(np.abs(a))
            directions[loose] = np.where(moving, np.sign(a[rows]), 0.0)[loose].astype(np.int64)
        return Friction(force, unique, directions)


def box_minimum(G: Array, g: Array, c: Array) -> tuple[Array, BoolArray, Array]:
    """f (k,) of (2) of least norm, which entries are the same in every solution, and a_0 + G f (k,).

    Accelerations that are rounding are zero.

    Args:
        G: positive semidefinite (k, k).
        g: a_0 (k,).
        c: bounds (k,), positive.
    """
    from scipy.linalg import solve_triangular
    from scipy.optimize import lsq_linear

    n, size = len(g), float(np.max(np.abs(G)))
    if n == 1 and size > 0.0:
        f = np.clip(-g / G[0], -c, c)
        return (
            f,
            np.ones(1, dtype=bool),
            np.where(np.abs(f) < c, 0.0, _without_rounding(g + G[0] * f, G, g, c)),
        )
    weight = REGULAR * max(size, float(np.max(np.abs(g) / c)))
    if weight == 0.0:
        return np.zeros(n), np.zeros(n, dtype=bool), g
    R = np.linalg.cholesky(G * np.outer(c, c) + weight * np.diag(c * c)).T  # in y = f / c
    b = solve_triangular(R, -c * g, trans="T")
    y = lsq_linear(R, b, (-1.0, 1.0), method="bvls", max_iter=20 * n + 100).x
    f = c * y
    free = np.abs(y) < 1.0
    exact = f.copy()
    if np.any(free):  # without the weight of |f|^2, where this stays within the bounds
        right = -(g + G[:, ~free] @ f[~free])[free]
        exact[free] = np.linalg.lstsq(G[np.ix_(free, free)], right, rcond=SINGULAR)[0]
        if np.all(np.abs(exact) <= c):
            f = exact
    rate = _without_rounding(g + G @ f, G, g, c)
    still = rate == 0.0
    values, vectors = np.linalg.eigh(G[np.ix_(still, still)])
    loose = np.abs(vectors[:, values <= SINGULAR * size]).max(axis=1, initial=0.0) > LOOSE
    unique = np.ones(n, dtype=bool)
    unique[still] = ~loose
    return f, unique, rate


def _without_rounding(rate: Array, G: Array, g: Array, c: Array) -> Array:
    """Accelerations (k,), those within rounding of zero set to it."""
    most = max(float(np.max(np.abs(g))), float(np.max(np.abs(G) @ c)))
    return np.where(np.abs(rate) <= STILL * most, 0.0, rate)

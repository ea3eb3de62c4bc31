"""Dry friction that sticks: its coordinates, bounds and directions.

Coordinates that slide are braked by a known force. Along the others, at rest, friction takes whatever value
within its bounds c_k is needed: the acceleration minimizes Gauss' function plus the friction power,

    min_a  (a - a_free).T M (a - a_free) / 2 + sum_k c_k |a_k|    with  J a = gamma                        (1)

which has one solution, whatever rows depend on each other. Where several forces give it (four pins of a
linkage with one freedom), those of least norm are taken, lengths divided by L. The kernel solves (1),
together with contacts that push (kernels/integrate/modes/unilateral.hpp).
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..arrays import Array, BoolArray, frozen
from ..models.kinds.parameters import COORDINATE_FORCES, kind_number
from ..models.model import Model

AT_REST = 1e-10  # of the largest speed (lengths over L): coordinates that are slower are at rest
HELD = 2.0  # direction of friction that does not act, kernels/tree/forces/coulomb_friction.hpp
COULOMB = kind_number(COORDINATE_FORCES, "CoulombFriction")
BEARING = kind_number(COORDINATE_FORCES, "BearingFriction")
Directions = npt.NDArray[np.int64]


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
    def of_row(self) -> npt.NDArray[np.int64]:
        """Row of each declaration, (n,)."""
        return np.searchsorted(self.coordinates, self.model.cf_v[self.entries])

    @cached_property
    def levels(self) -> Array:
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
        coulomb, breakaway, speed = self.levels.T
        x = v[..., self.coordinates[self.of_row]] / speed
        each = coulomb + (breakaway - coulomb) * np.exp(-x * x)
        return np.asarray(each @ np.eye(len(self.coordinates))[self.of_row])

    @cached_property
    def speeds(self) -> Array:
        """Smallest Stribeck speed of each row (k,) [rad/s, m/s]."""
        out = np.full(len(self.coordinates), np.inf)
        np.minimum.at(
            out, np.searchsorted(self.coordinates, self.model.cf_v[self.entries]), self.levels[:, 2]
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
        chosen = np.where(directions == 0, HELD, directions)[self.of_row]
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

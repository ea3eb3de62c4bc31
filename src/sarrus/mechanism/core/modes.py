"""Modes: which rows of a mechanism act. All of its rows are compiled once; a mode is data of a state.

Rows come in groups, one for each constraint, and one for each coordinate whose dry friction holds it at rest
(kernels/constraints/mode.hpp). A group is closed, and its rows act, or open.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..._kernel import ModePlan
from ...arrays import Array, BoolArray
from ...constraints.couplings import Coupling, HeldCoordinate
from ...dynamics.dry_friction import DryFriction
from ...errors import InputError
from ...models.model import Model
from ..describe.compile import exchange_constraints

OFTEN = 1e-3  # [s] within which a mode may change so often, where no step is known


class GroupKind(IntEnum):
    """GroupKind of kernels/constraints/mode.hpp."""

    ALWAYS = 0
    SWITCHED = 1
    CONTACT = 2
    HELD = 3


class Switched(NamedTuple):
    """A constraint that can be open.

    Attributes:
        closed: whether it is closed at the start; of a contact: at least.
        latch: whether it closes where it is.
        normal: index of its normal row among those of the mechanism; None: it is no contact.
        side: 1 or -1, the sign of phi where a contact is open.
    """

    closed: bool
    latch: bool = False
    normal: int | None = None
    side: float = 1.0


@dataclass(frozen=True, eq=False)
class Mode:
    """Which rows act in a state, or in a batch of them (batch axes in front).

    Attributes:
        modes: what can change.
        numbers: all of it (..., n), as the kernel stores it.
    """

    modes: Modes
    numbers: Array

    @property
    def closed(self) -> dict[str, Any]:
        """Whether each constraint that can open is closed: {name: bool, or array of bools}."""
        part = self.numbers[..., : len(self.modes.names)] != 0.0
        return {
            name: part[..., i][()] for i, name in enumerate(self.modes.names) if name in self.modes.switched
        }

    @property
    def directions(self) -> dict[str, Any]:
        """Of coordinates with dry friction: 1 or -1 where it slides that way, 0 where it sticks."""
        first, rows = len(self.modes.names), self.modes.friction.names
        part = self.numbers[..., first : first + len(rows)].astype(np.int64)
        return {name: part[..., i][()] for i, name in enumerate(rows)}

    def __getitem__(self, i: Any) -> Mode:
        """The mode of some states of a batch."""
        if self.numbers.ndim == 1:
            raise InputError("a mode of one state has no parts to choose from; batches have.")
        return Mode(self.modes, self.numbers[i])

    def __repr__(self) -> str:
        if self.numbers.ndim > 1:
            return f"Mode(of {self.numbers.shape[:-1]} states)"
        closed = [name for name, now in self.closed.items() if now]
        ways = {1: "forwards", -1: "backwards", 0: "sticks"}
        slides = [f"{name} {ways[int(way)]}" for name, way in self.directions.items()]
        return f"Mode(closed: {', '.join(closed) or 'none'}; {', '.join(slides) or 'no dry friction'})"


class Modes:
    """All rows of a mechanism, and which of them can change.

    Attributes:
        model: the mechanism's model with all rows: declared ones, hard stops, held coordinates.
        friction: its coordinates with dry friction.
        switched: what can be open, by the name of its constraint.
        names: names of all groups of rows.
        schedule: (time [s], constraint, closes).
    """

    def __init__(
        self,
        model: Model,
        switched: Mapping[str, Switched] | None = None,
        stops: Mapping[str, Coupling] | None = None,
        schedule: Sequence[tuple[float, str, bool]] = (),
        dt: float = OFTEN,
    ) -> None:
        """
        Args:
            model: of a mechanism.
            switched: constraints that can be open.
            stops: hard stops to add, by name.
            schedule: (time [s], constraint, closes).
            dt: step of the run [s].
        """
        self._given = model, switched, stops, schedule, dt
        self.friction = DryFriction(model)
        self._stops = dict(stops or {})
        self.model = self.complete(model)
        self.switched = dict(switched or {})
        self.names = tuple(group.name for group in self.model.groups)
        self.schedule, self._dt = tuple(schedule), dt

    def __reduce__(self) -> Any:
        return Modes, self._given

    def complete(self, model: Model) -> Model:
        """A model of the same mechanism, with other parameters, with all rows."""
        held = [
            (f"friction of {name}", HeldCoordinate(int(k)))
            for name, k in zip(self.friction.names, self.friction.coordinates, strict=True)
        ]
        more = [*self._stops.items(), *held]
        return exchange_constraints(model, (*model.constraints, *more)) if more else model

    def kind(self, name: str) -> GroupKind:
        """How a group of rows changes."""
        given = self.switched.get(name)
        if given is not None:
            return GroupKind.SWITCHED if given.normal is None else GroupKind.CONTACT
        position = self.names.index(name)
        held = position >= len(self.names) - len(self.friction.coordinates)
        return GroupKind.HELD if held else GroupKind.ALWAYS

    @cached_property
    def plan(self) -> ModePlan:
        """The same for the kernel."""
        given = [self.switched.get(name, Switched(True)) for name in self.names]
        rows = [(group.rows.start, group.rows.stop) for group in self.model.groups]
        when = [(t, self.names.index(name), closes) for t, name, closes in self.schedule]
        return ModePlan(
            rows=np.array(rows, dtype=np.int64).reshape(-1),
            kinds=np.array([self.kind(name) for name in self.names], dtype=np.int64),
            normals=np.array([one.normal or 0 for one in given], dtype=np.int64),
            latches=np.array([one.latch for one in given], dtype=np.int64),
            sides=np.array([one.side for one in given], dtype=np.float64),
            coordinates=self.friction.coordinates,
            schedule=np.array(when, dtype=np.float64).reshape(-1, 3),
            dt=self._dt,
        )

    def begin(self, t: float, models: Sequence[Model]) -> Mode:
        """The modes (n, ...) in which copies begin at time t [s], before they are settled.

        Args:
            t: time [s].
            models: of the mechanism, one for each copy or one for all.
        """
        closed = np.array(
            [self.switched.get(name, Switched(True)).closed for name in self.names], dtype=float
        )
        closed[len(self.names) - len(self.friction.coordinates) :] = 0.0
        for time, name, closes in self.schedule:
            if time <= t:
                closed[self.names.index(name)] = closes
        count, k = len(self.names), len(self.friction.coordinates)
        parameters = len(self.model.el_values) + len(self.model.k_offset)
        sizes = (count, k, parameters, k, k, count, 1, 2, 1)
        numbers = np.zeros((len(models), sum(sizes)))
        numbers[:, :count] = closed
        for i, model in enumerate(models):
            of_rows = [model.el_values, model.k_offset, self.model.k_offset[len(model.k_offset) :]]
            numbers[i, count + k : sum(sizes[:3])] = np.concatenate(of_rows)
        return Mode(self, numbers)

    def acting(self, numbers: Array, model: Model) -> BoolArray:
        """Which rows (nc,) of the mechanism's own model act in the mode of one state, by its numbers."""
        out = np.zeros(model.nc, dtype=bool)
        for group, closed in zip(self.model.groups, numbers[: len(self.names)] != 0.0, strict=True):
            if closed and group.rows.stop <= model.nc:
                out[group.rows] = True
        return out

"""Active constraints: which rows hold now, so that one controller serves a grip that closes and opens."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..._kernel import ActiveSetup, largest
from ...arrays import BoolArray
from ...dynamics.terms import Terms, Units
from ...errors import InputError, require_known
from ...models.tree.bodies import GROUND
from ...projection.nearest_state import CLOSE, KEPT, LEFT_OUT
from .measured_state import MeasuredState

COLLECTIONS = (Sequence, set, frozenset)
CONSISTENT = 1e-11  # gaps and slips below this, without units, are rounding: the state is taken as it is


class ActiveTerms(NamedTuple):
    """A measured state on its active constraints, with terms and units of the active rows only.

    Attributes:
        rows: the active rows (nc,); None is all.
        terms: of the projected state.
        units: of the active rows.
        now: the state, projected onto the active constraints where it was measured off them.
        gap: largest |phi| of the measured pose, lengths divided by L.
    """

    rows: BoolArray | None
    terms: Terms
    units: Units
    now: MeasuredState
    gap: float


class ActiveConstraints:
    """The constraints that hold at a state.

    Args:
        system: whose constraints.
        active: names of the constraints that hold, or a function of (t, q, v) that returns them; None is all.
    """

    def __init__(self, system: Any, active: Any) -> None:
        self._system, self._units = system, system.units
        self._standing = _rows_of_ground_points(system)
        self._weight = np.where(self._standing, 0.0, self._units.per_row)
        self._function: Callable[..., Sequence[str]] | None = active if callable(active) else None
        self._known: dict[tuple[str, ...], tuple[BoolArray | None, Units]] = {}
        self._fixed = None if callable(active) or active is None else self._mask(active)

    @property
    def is_fixed(self) -> bool:
        """Whether the same constraints hold at all states."""
        return self._function is None

    @property
    def fixed(self) -> BoolArray | None:
        """The active rows (nc,) where they do not depend on the state; None is all."""
        return None if self._fixed is None else self._fixed[0]

    def setup(self) -> ActiveSetup:
        """What the kernel needs to take a state onto its constraints."""
        part = np.where(self._standing, KEPT, CLOSE)
        return ActiveSetup(gap_weight=self._weight, per_row=self._units.per_row, part=part)

    def rows(self, now: MeasuredState) -> tuple[BoolArray | None, Units]:
        """The active rows (nc,) of a measured state, None for all, and their units."""
        found = self._fixed if self._function is None else self._mask(self._function(now.t, now.q, now.v))
        return (None, self._units) if found is None else found

    def at(self, now: MeasuredState) -> ActiveTerms:
        """The state on its active constraints. Points that stand on the ground stay where they are."""
        rows, units = self.rows(now)
        weight = self._weight if rows is None else np.where(rows, self._weight, 0.0)
        gap = largest(now.terms.phi, weight)
        if gap > CONSISTENT or self._slips(now, rows):
            part = np.where(self._standing, KEPT, CLOSE)
            now = now.projected(part if rows is None else np.where(rows, part, LEFT_OUT))
        terms = now.terms
        if rows is not None:
            parts = (part[rows] for part in (terms.phi, terms.J, terms.b, terms.gamma))
            terms = Terms(terms.M, terms.h, *parts)
        return ActiveTerms(rows, terms, units, now, gap)

    def _slips(self, now: MeasuredState, rows: BoolArray | None) -> bool:
        """Whether the velocity violates active rows by more than rounding."""
        slip = np.abs(now.terms.J @ now.v - now.terms.b) * self._units.per_row
        if rows is not None:
            slip = slip[rows]
        worst = float(max(slip.tolist(), default=0.0))
        return worst > CONSISTENT * (1.0 + float(np.max(np.abs(now.v) / self._units.unit)))

    def _mask(self, names: Any) -> tuple[BoolArray | None, Units]:
        """Mask (nc,) of constraints given by name, with the units of their rows; remembered."""
        given = tuple(names) if isinstance(names, COLLECTIONS) else ()
        plain = not isinstance(names, str) and all(isinstance(name, str) for name in given)
        key = given if plain else ()
        if not plain or key not in self._known:
            mask = mask_of(names, self._system, "active")
            if mask.all():
                self._known[key] = None, self._units
            else:
                labels = tuple(np.array(self._units.row_names, dtype=object)[mask])
                units = dataclasses.replace(
                    self._units, row_unit=self._units.row_unit[mask], row_names=labels
                )
                self._known[key] = mask, units
        return self._known[key]


def _rows_of_ground_points(system: Any) -> BoolArray:
    """Rows (nc,) that hold a point of a body that may stand elsewhere to a point of the ground; J does not
    depend on that point. Where the tree turns about the ground such rows are guides, and are closed."""
    rows = np.zeros(system.nc, dtype=bool)
    for name, one in getattr(system.model, "constraints", ()):
        if (
            one.is_point_contact
            and one.bodies()[0] == GROUND
            and _can_stand_elsewhere(system, one.bodies()[1])
        ):
            rows[system.evaluator.constraint_rows[name]] = True
    return rows


def _can_stand_elsewhere(system: Any, name: str) -> bool:
    """Whether the joint by which the tree of a body begins lets it move along."""
    bodies = {body.name: body for body in system.model.bodies}
    while bodies[name].parent != GROUND:
        name = bodies[name].parent
    return not bodies[name].joint.only_turns


def mask_of(names: Any, system: Any, what: str) -> BoolArray:
    """Rows (nc,) of constraints given by name; `what` names the argument in messages."""
    if isinstance(names, str) or not isinstance(names, COLLECTIONS):
        raise InputError(f"{what} must be a list of constraint names, or return one; got {names!r}.")
    rows = system.evaluator.constraint_rows
    mask = np.zeros(system.nc, dtype=bool)
    for name in names:
        require_known("constraint", name, rows, what)
        mask[rows[name]] = True
    return mask

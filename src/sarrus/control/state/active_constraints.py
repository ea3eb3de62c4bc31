"""Active constraints: which rows hold now, so that one controller serves a grip that closes and opens."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..._kernel import largest
from ...arrays import BoolArray
from ...dynamics.terms import Terms, Units
from ...errors import InputError, unknown_name
from .measured_state import MeasuredState

COLLECTIONS = (Sequence, set, frozenset)


class ActiveTerms(NamedTuple):
    """Terms and units of a state with the active rows only; `rows` (nc,) are these, None is all."""

    rows: BoolArray | None
    terms: Terms
    units: Units

    @property
    def gap(self) -> float:
        """Largest |phi| of the active rows, lengths divided by L."""
        return largest(self.terms.phi, self.units.per_row)


class ActiveConstraints:
    """The constraints that hold at a state.

    Args:
        system: whose constraints.
        active: names of the constraints that hold, or a function of (t, q, v) that returns them; None is all.
    """

    def __init__(self, system: Any, active: Any) -> None:
        self._system, self._units = system, system.units
        self._function: Callable[..., Sequence[str]] | None = active if callable(active) else None
        self._known: dict[tuple[str, ...], tuple[BoolArray | None, Units]] = {}
        self._fixed = None if callable(active) or active is None else self._mask(active)

    def at(self, now: MeasuredState) -> ActiveTerms:
        """Terms of the active rows."""
        terms = now.terms
        found = self._fixed if self._function is None else self._mask(self._function(now.t, now.q, now.v))
        if found is None or found[0] is None:
            return ActiveTerms(None, terms, self._units)
        rows, units = found
        parts = (part[rows] for part in (terms.phi, terms.J, terms.b, terms.gamma))
        return ActiveTerms(rows, Terms(terms.M, terms.h, *parts), units)

    def _mask(self, names: Any) -> tuple[BoolArray | None, Units]:
        """Mask (nc,) of constraints given by name, with the units of their rows; remembered."""
        key = tuple(names) if isinstance(names, COLLECTIONS) else ()
        if isinstance(names, str) or key not in self._known:
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


def mask_of(names: Any, system: Any, what: str) -> BoolArray:
    """Rows (nc,) of constraints given by name; `what` names the argument in messages."""
    if isinstance(names, str) or not isinstance(names, COLLECTIONS):
        raise InputError(f"{what} must be a list of constraint names, or return one; got {names!r}.")
    rows = system.evaluator.constraint_rows
    mask = np.zeros(system.nc, dtype=bool)
    for name in names:
        if name not in rows:
            raise unknown_name("constraint", name, rows, what)
        mask[rows[name]] = True
    return mask

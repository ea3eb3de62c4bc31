"""Active constraints: which rows hold now, so that one controller serves a grip that closes and opens."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..dynamics.terms import Terms, Units
from ..errors import InputError, unknown_name
from .measured import Measured

Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]


class ActiveRows:
    """Rows of the active constraints at a state.

    Args:
        system: whose constraints.
        active: names of the constraints that hold, or a function of (t, q, v) that returns them; None is all.
    """

    def __init__(self, system: Any, active: Any) -> None:
        self._rows = system.evaluator.constraint_rows
        self._units, self._nc = system.units, system.nc
        self._holonomic = system.model.holonomic
        self._function: Callable[..., Sequence[str]] | None = active if callable(active) else None
        self._known: dict[tuple[str, ...], tuple[Mask | None, Units]] = {}
        self._fixed = None if callable(active) or active is None else self._mask(active)

    def at(self, now: Measured) -> tuple[Mask | None, Terms, Units, float]:
        """Which rows are active (None: all), their terms and units, and the largest gap of them, over L."""
        terms, units = now.terms, self._units
        found = self._fixed if self._function is None else self._mask(self._function(now.t, now.q, now.v))
        rows = None if found is None else found[0]
        if found is not None and rows is not None:
            units = found[1]
            parts = (part[rows] for part in (terms.phi, terms.J, terms.b, terms.gamma))
            terms = Terms(terms.M, terms.h, *parts)
        gap = float(np.max(np.abs(terms.phi) / units.row_unit)) if len(terms.phi) else 0.0
        return rows, terms, units, gap

    def _mask(self, names: Any) -> tuple[Mask | None, Units]:
        """Mask (nc,) of constraints given by name, with the units of their rows; remembered."""
        if isinstance(names, str) or not isinstance(names, (Sequence, set, frozenset)):
            raise InputError(f"active must be a list of constraint names, or return one; got {names!r}.")
        key = tuple(names)
        if key not in self._known:
            mask = np.zeros(self._nc, dtype=bool)
            for name in key:
                if name not in self._rows:
                    raise unknown_name("constraint", name, self._rows, "active")
                mask[self._rows[name]] = True
            if mask.all():
                self._known[key] = None, self._units
            else:
                labels = tuple(np.array(self._units.row_names, dtype=object)[mask])
                units = dataclasses.replace(
                    self._units, row_unit=self._units.row_unit[mask], row_names=labels
                )
                self._known[key] = mask, units
        return self._known[key]

"""RunModes: the modes that a run goes through, and the system that looks at the steps of each.

Steps never need such a system: the kernel chooses the rows that act out of those of the whole mechanism.
It is made once for each mode, for what examines steps: singular poses, states between steps, energies.
"""

from __future__ import annotations

import dataclasses
from itertools import pairwise
from typing import Any

import numpy as np

from ...arrays import Array, BoolArray, frozen
from ...constraints.rows import Constraint
from ...dynamics.dry_friction import Directions
from ...errors import InputError
from ...mechanism.core.access import known_default
from ...mechanism.core.modes import Mode, Modes
from ...mechanism.describe.compile import exchange_constraints
from ...mechanism.mechanism import Mechanism
from ..events.switches import Plan
from ..stepping.options import Options
from ..system.system import System

INSIDE = 1e-6  # of L: largest penetration of a contact at the start


class RunModes:
    """What can change during a run, and what has.

    Attributes:
        plan: switches and contacts.
        modes: all rows, and which of them can change.
        mech: the mechanism with all rows.
        begun: the mode in which the run begins.
    """

    def __init__(self, mech: Mechanism, plan: Plan, options: Options) -> None:
        """
        Args:
            mech: the mechanism, without stops.
            plan: its switches.
            options: of the run.
        """
        self.plan = plan
        self.modes: Modes = plan.modes(mech, options.dt)
        self.mech = Mechanism(self.modes.model, known_default(mech))
        self.begun: Mode = self.modes.begin(options.t0, [mech.model])[0]
        self._systems: dict[bytes, System] = {}
        self._mechanisms: dict[tuple[str, ...], Mechanism] = {}
        model = self.modes.model
        firsts = [*model.el_begin, len(model.el_values)]
        self._parameters = list(pairwise(firsts))

    @property
    def names(self) -> tuple[str, ...]:
        """Constraints that can switch."""
        return tuple(self.modes.switched)

    def closed(self, numbers: Array) -> BoolArray:
        """Which of `names` are closed in a mode, or in several (..., n)."""
        at = [self.modes.names.index(name) for name in self.names]
        return np.asarray(numbers[..., at] != 0.0)

    def of_rows(self, numbers: Array) -> Array:
        """The numbers of a mode without those of surfaces that touch."""
        return numbers[: len(self.begun.numbers)]

    def directions(self, numbers: Array) -> Directions:
        """1 or -1 for coordinates with dry friction that slide, 0 for those that stick (k,)."""
        first = len(self.modes.names)
        return numbers[first : first + len(self.modes.friction.coordinates)].astype(np.int64)

    def changes(self, given: dict[str, bool]) -> Any:
        """The argument of `Run.change_mode` that closes (True) and opens constraints."""
        out = np.zeros(len(self.modes.names), dtype=np.int8)
        for name, closes in given.items():
            out[self.modes.names.index(name)] = 1 if closes else -1
        return out

    # ------------------------------------------------------------------ mechanisms

    def mechanism(self, closed: BoolArray, replaced: dict[str, Constraint] | None = None) -> Mechanism:
        """The mechanism with the constraints that are closed; those of latches `replaced`."""
        if not self.names:
            return self.plan.mech
        opened = {name for name, now in zip(self.names, closed, strict=True) if not now}
        active = tuple(name for name, _ in self.plan.mech.model.constraints if name not in opened)
        exchanged = {name: one for name, one in (replaced or {}).items() if name in active}
        if exchanged:
            return self.plan.mech.with_constraints(active, exchanged)
        if active not in self._mechanisms:
            self._mechanisms[active] = self.plan.mech.with_constraints(active)
        return self._mechanisms[active]

    def system(self, numbers: Array) -> System:
        """The system of a mode: rows that act, held coordinates among them, and friction in its directions.

        Friction of bearings is left out: the recorded forces hold it.
        """
        count, k = len(self.modes.names), len(self.modes.friction.coordinates)
        key = numbers[
            : count + k + len(self.modes.model.el_values) + len(self.modes.model.k_offset)
        ].tobytes()
        if key not in self._systems:
            self._systems[key] = System(Mechanism(self._model(numbers), known_default(self.plan.mech)))
        return self._systems[key]

    def _model(self, numbers: Array) -> Any:
        whole, friction = self.modes.model, self.modes.friction
        act = numbers[: len(self.modes.names)] != 0.0
        kept = [one for one, acts in zip(whole.constraints, act, strict=True) if acts]
        rows = np.concatenate(
            [
                np.zeros(0, dtype=bool),
                *(
                    np.full(group.rows.stop - group.rows.start, acts)
                    for group, acts in zip(whole.groups, act, strict=True)
                ),
            ]
        )
        model = whole if act.all() else exchange_constraints(whole, kept)
        begin = len(act) + len(friction.coordinates)
        values = numbers[begin : begin + len(whole.el_values)]
        offsets = numbers[begin + len(whole.el_values) :][: len(whole.k_offset)]
        elements = [
            values[a:b] for (a, b), row in zip(self._parameters, whole.el_row, strict=True) if rows[row]
        ]
        changed: dict[str, Any] = {
            "el_values": frozen(np.concatenate([np.zeros(0), *elements])),
            "k_offset": frozen(offsets[rows[whole.k_row]]),
        }
        if len(friction.coordinates):
            changed["cf_values"] = frozen(friction.directed(self.directions(numbers), bearings=False))
        return dataclasses.replace(model, **changed)

    # ------------------------------------------------------------------ contacts

    def require_outside(self, t: float, q: Array) -> None:
        """Refuse a start at which an open contact penetrates."""
        phi = self.mech.evaluator.constraints(q, np.zeros(self.mech.nv), t)[0]
        closed = dict(zip(self.names, self.closed(self.begun.numbers), strict=True))
        for name, contact in self.plan.contacts.items():
            gap = contact.side * float(phi[self.plan.normal_row(name)])
            if not closed[name] and gap < -INSIDE * self.mech.length:
                raise InputError(
                    f"contact {name!r} starts inside by {-gap:.3g}; side * phi must not be negative there."
                    " Start at another pose, or, unless it is a stop, turn the side of its Contact around."
                )

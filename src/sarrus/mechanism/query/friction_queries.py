"""Dry friction of a Mechanism: the force at its states, and the mechanism without it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._kernel import friction_of_states
from ...arrays import Array, BoolArray
from ...constraints.user_forces import user_wrenches
from ...dynamics.bearing_friction import BearingLoads
from ...dynamics.bearings import External
from ...dynamics.dry_friction import DryFriction, StatesFriction
from ...dynamics.forward import without_inertia
from ...models.model import Model
from ..core.core import Core, whole

if TYPE_CHECKING:
    from ..mechanism import Mechanism


class FrictionQueries(Core):
    """Dry friction."""

    def _friction(
        self, q: Any, v: Any, tau: Any, t: float, external: Mapping[str, Any] | None
    ) -> StatesFriction:
        """Dry friction of states; where it is one of many, that of least norm."""
        given = np.zeros(self.nv) if tau is None else tau
        states, batch = self._arguments.states([(q, "q", True), (v, "v", False), (given, "tau", False)])
        wrenches = tuple(
            (body, np.broadcast_to(wrench, (*batch, 6)).reshape(-1, 6), point)
            for body, wrench, point in self._external(external)
        )
        resting, unique = self._resting_friction(states, t, wrenches)
        rows, speeds = DryFriction(self.model), states[1].copy()
        held = np.zeros(speeds.shape, dtype=bool)
        held[:, rows.coordinates] = rows.resting(speeds)
        speeds[held] = 0.0
        at, force = rows.coordinates, resting.copy()
        force[:, at] -= np.sign(speeds[:, at]) * rows.level(speeds)
        parts: list[Any] = [force, unique, resting, speeds]
        return StatesFriction(*(part.reshape(*batch, self.nv) for part in parts))

    def _resting_friction(
        self, states: list[Array], t: float, external: tuple[External, ...]
    ) -> tuple[Array, BoolArray]:
        """Friction (n, nv) of what rests and by load of what slides, at states q, v, tau; which is unique."""
        modes, (q, v, tau) = self._modes, (np.ascontiguousarray(x) for x in states)
        assert modes is not None
        drive, user = self.evaluator.outside(q, v, self._time(t))
        rows = modes.friction
        loads = BearingLoads(rows, self.model)
        outer = None
        if rows.by_load:
            outer = loads.outer(q, (*external, *user_wrenches(self.evaluator, q, v, np.full(len(q), t))))
        begun = modes.begin(0.0, [self.model]).numbers[0]
        kernel, given = modes.model.kernel, (q, v, tau, drive, user)
        force, unique, status = friction_of_states(kernel, modes.plan, begun, given, outer)
        if np.any(status == 1):
            raise without_inertia()
        if np.any(status == 2):
            raise loads.unsettled()
        return force, unique

    @cached_property
    def _without_dry_friction(self) -> Mechanism:
        """The mechanism without dry friction: the same one where it has none."""
        mech = whole(self)
        return type(mech)(self._slippery, self._default) if self._modes is not None else mech

    @cached_property
    def _slippery(self) -> Model:
        """The model without dry friction."""
        return DryFriction(self.model).without()

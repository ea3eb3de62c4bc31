"""Dry friction along the steps of a mode: of least norm where coordinates at rest share a load."""

from __future__ import annotations

import numpy as np

from ..._kernel import friction_in_mode
from ...arrays import Array, BoolArray
from ...constraints.user_forces import user_wrenches
from ...dynamics.bearing_friction import BearingLoads, fixed_point
from ...dynamics.dry_friction import Directions
from ..system.step_records import Steps
from ..system.system import System
from .run_modes import RunModes

PIECE = 2048  # states at a time


class ModeFriction:
    """The friction of recorded states, and that of bearings that slide, where the kernel does not know it."""

    def __init__(self, modes: RunModes) -> None:
        self._modes, self._friction = modes, modes.modes.friction
        self._by_load = modes.modes.friction.by_load

    def along(self, numbers: Array, system: System, steps: Steps) -> tuple[Array, BoolArray, Array]:
        """Of n states of one mode: generalized friction force (n, nv), which entries are unique, and the part
        of it (n, nv) that tau of the steps holds: the friction by load of what slides."""
        at, directions = self._friction.coordinates, self._modes.directions(numbers)
        force, unique, inside = (
            np.zeros_like(steps.v),
            np.ones(steps.v.shape, dtype=bool),
            np.zeros_like(steps.v),
        )
        if not len(steps):
            return force, unique, inside
        pieces = [slice(i, i + PIECE) for i in range(0, len(steps), PIECE)]
        held, same, by_load = (
            np.concatenate(x) for x in zip(*(self._of(numbers, steps[p]) for p in pieces), strict=True)
        )
        slides = directions != 0
        inside[:, at] = -directions * by_load
        force[:, at] = np.where(slides, -directions * self._friction.level(steps.v) + inside[:, at], held)
        unique[:, at] = np.where(slides, True, same)
        if self._by_load:
            unique[:, at] &= self._unique_loads(system, steps)
        return force, unique, inside

    def _of(self, numbers: Array, steps: Steps) -> tuple[Array, BoolArray, Array]:
        mech, kernel = self._modes.mech, self._modes.modes.model.kernel
        drive, user = zip(
            *(
                mech.evaluator.outside(q[None], v[None], t)
                for q, v, t in zip(steps.q, steps.v, steps.t.tolist(), strict=True)
            ),
            strict=True,
        )
        states = steps.q, steps.v, steps.a, steps.tau, np.concatenate(drive), np.concatenate(user)
        wrenches = self.wrenches_of(steps.t, steps.q, steps.v) if self.asks_python else None
        found: tuple[Array, BoolArray, Array] = friction_in_mode(
            kernel, self._modes.modes.plan, self._modes.of_rows(numbers), states, wrenches
        )
        return found

    def _unique_loads(self, system: System, steps: Steps) -> BoolArray:
        """Which loads of bearings the motion determines (k,), at the first state."""
        one = [np.ascontiguousarray(x[:1]) for x in (steps.q, steps.v, steps.a, steps.tau)]
        outside = system.evaluator.outside(one[0], one[1], float(steps.t[0]))
        lam = system.kernel.multipliers(*one, *outside)[0]
        loads = BearingLoads(self._friction, system.model)
        q, v, a = (x[0] for x in one[:3])
        return loads.unique(q, v, a, lam[0])

    @property
    def asks_python(self) -> bool:
        """Whether Python functions exert wrenches that load bearings."""
        return self._by_load and not BearingLoads(self._friction, self._modes.mech.model).by_kernel

    def wrenches_of(self, t: Array, q: Array, v: Array) -> Array:
        """Wrenches (n, nb, 6) of Python functions on bodies, at their origins in world axes."""
        loads = BearingLoads(self._friction, self._modes.mech.model)
        found = loads.outer(q, user_wrenches(self._modes.mech.evaluator, q, v, t))
        return np.zeros((len(q), len(self._modes.mech.body_names), 6)) if found is None else found

    def of_sliding(
        self, directions: Directions, system: System, state: tuple[float, Array, Array, Array]
    ) -> Array:
        """Generalized force (nv,) of the friction by load of what slides, at t, q, v under the force tau."""
        (t, q, v, tau), at = state, self._friction.coordinates
        loads, outside = (
            BearingLoads(self._friction, system.model),
            system.evaluator.outside(q[None], v[None], t),
        )
        of_user = user_wrenches(system.evaluator, q[None], v[None], np.array([t]))
        force = np.zeros(len(v))

        def rule(bounds: Array) -> Array:
            force[at] = -directions * bounds
            a, _, lam, *_ = system.kernel.forward(q[None], v[None], (tau + force)[None], *outside)
            return np.where(directions != 0, loads.bounds(q[None], v[None], a, lam, of_user)[0], 0.0)

        if not np.any(directions):
            return force
        found = fixed_point(rule, np.zeros(len(at)))
        if found is None:
            raise loads.unsettled()
        force[at] = -directions * found
        return force

    def wrenches(self, t: float, q: Array, v: Array) -> Array:
        """The same of one state (nb, 6), as the compiled run asks for it."""
        return np.ascontiguousarray(self.wrenches_of(np.array([t]), q[None], v[None])[0])

"""Topology: the constraints that are closed now, their mechanism, and the events that open or close them."""

from __future__ import annotations

from collections.abc import Callable, Collection

import numpy as np
import numpy.typing as npt

from ...arrays import Array
from ...constraints.rows import Constraint
from ...dynamics.impact import Impact
from ...errors import InputError
from ...mechanism.mechanism import Mechanism
from ..events.events import UserEvent
from ..events.switches import Plan
from ..system.unilateral_rows import UnilateralRows

Applied = Callable[[float, Array, Array], Array]

TOUCHES = 1e-9  # of L: contacts this close take part in impacts
INSIDE = 1e-6  # of L: largest penetration of a contact at the start
BELOW = 1e-13  # of L: penetration at which contacts that start on the surface count as touching again


class Topology:
    """The state of all switches of a plan.

    Attributes:
        closed: {constraint: whether it is closed}, for all that can switch.
        names: their names.
        switched_by: {name of an event that ends a segment: the constraint that it closes or opens}.
    """

    def __init__(self, plan: Plan, t: float) -> None:
        self._plan = plan
        states = {name: bool(one.closed) for name, one in plan.switches.items()}
        states |= {name: closes for time, name, closes in plan.schedule if time <= t}
        states |= {name: bool(one.closed) for name, one in plan.contacts.items()}
        self.closed: dict[str, bool] = states
        self.names = tuple(states)
        self.switched_by: dict[str, str] = {}
        self._replaced: dict[str, Constraint] = {}
        self._known: dict[frozenset[str], Mechanism] = {}
        self._margin: dict[str, float] = {}
        rows = {name: (plan.normal_row(name), one.side) for name, one in plan.contacts.items()}
        self._contacts = UnilateralRows(plan.mech, rows)  # the open ones too

    def flags(self) -> npt.NDArray[np.bool_]:
        """Which of `names` are closed."""
        return np.array([self.closed[name] for name in self.names], dtype=bool)

    def mechanism(self) -> Mechanism:
        """The mechanism with the constraints that are closed now."""
        every = [name for name, _ in self._plan.mech.model.constraints]
        active = frozenset(name for name in every if self.closed.get(name, True))
        if active & set(self._replaced):
            return self._plan.mech.with_constraints(active, self._replaced)
        if active not in self._known:
            self._known[active] = self._plan.mech.with_constraints(active)
        return self._known[active]

    def close(self, name: str, q: Array) -> None:
        """Close a constraint; with latch=True at the pose q (nq,), whatever the gap."""
        one = self._plan.switches.get(name) or self._plan.contacts[name]
        if one.latch:
            self._replaced[name] = self._plan.mech.latched(name, q)
        self.closed[name] = True

    def open(self, name: str) -> None:
        """Open a constraint."""
        self._replaced.pop(name, None)
        self.closed[name] = False

    # ------------------------------------------------------------------ contacts

    def gap(self, name: str, t: float, q: Array) -> float:
        """Distance of a contact [m, rad]; negative inside."""
        phi = self._plan.mech.evaluator.constraints(q, np.zeros(self._plan.mech.nv), t)[0]
        row, side = self._contacts.rows[name]
        return side * float(phi[row])

    def require_outside(self, t: float, q: Array) -> None:
        """Refuse a start at which an open contact penetrates."""
        for name in self._plan.contacts:
            gap = self.gap(name, t, q)
            if not self.closed[name] and gap < -INSIDE * self._plan.mech.length:
                raise InputError(
                    f"contact {name!r} starts inside by {-gap:.3g}; side * phi must not be negative there."
                    " Start at another pose, or, unless it is a stop, turn the side of its Contact around."
                )

    def impact(
        self, t: float, q: Array, v: Array, tau: Array, dt: float, let_go: Collection[str] = ()
    ) -> Impact:
        """The impact of the closed constraints and of contacts that touch and approach, which it closes.

        Contacts that separate after the impact open, unless they would touch again within one step: such
        short flights, of which there may be infinitely many, are not resolved.

        Args:
            t, q, v: time and state.
            tau: applied force (nv,).
            dt: step of the run [s].
            let_go: contacts that open now and take no part in the impact.
        """
        for name in self._plan.contacts:
            if not self.closed[name] and name not in let_go and self._arrives(name, t, q, v):
                self.close(name, q)
        contacts = self.closed_contacts()
        if contacts.rows:
            after = contacts.velocity_after(t, q, v)
            speeds = contacts.opening_speeds(t, q, after, v)
            leaving = {name: speed for name, speed in speeds.items() if speed > 0.0}
            if leaving:
                a, _ = contacts.acceleration(t, q, after, tau, leaving)
                pressed = contacts.pressing(t, q, after, a)
                for name, speed in leaving.items():
                    if 2.0 * speed >= pressed[name] * dt:
                        self.open(name)
        return self.mechanism().impact(q, v, t)

    def release(self, t: float, q: Array, v: Array, tau: Array) -> None:
        """Open the contacts that lift off under the applied force tau (nv,)."""
        for name in self.closed_contacts().lifted(t, q, v, tau):
            self.open(name)

    def _arrives(self, name: str, t: float, q: Array, v: Array) -> bool:
        """Whether an open contact touches and does not separate."""
        if self.gap(name, t, q) > TOUCHES * self._plan.mech.length:
            return False
        return self._contacts.opening_speeds(t, q, v, v)[name] <= 0.0

    def closed_contacts(self) -> UnilateralRows:
        """The closed contacts in the mechanism of the closed constraints."""
        mech, names = self.mechanism(), self._plan.mech.row_names
        rows = {
            name: (mech.row_names.index(names[row]), side)
            for name, (row, side) in self._contacts.rows.items()
            if self.closed[name]
        }
        return UnilateralRows(mech, rows)

    # ------------------------------------------------------------------ events

    def watch_from(self, t: float, q: Array) -> None:
        """Start a segment: contacts that touch now count as touching again at penetration BELOW."""
        L = self._plan.mech.length
        near = [name for name in self._plan.contacts if self.gap(name, t, q) <= TOUCHES * L]
        self._margin = dict.fromkeys(self._plan.contacts, 0.0) | dict.fromkeys(near, BELOW * L)

    def events(self, applied: Applied) -> tuple[UserEvent, ...]:
        """Events that end a segment; `switched_by` says what each of them switches."""
        contacts = [self._contact_event(name, applied) for name in self._plan.contacts]
        return (*contacts, *(self._switch_event(*one) for one in self._plan.events))

    def _contact_event(self, name: str, applied: Applied) -> UserEvent:
        """The event of a contact: it touches while open, or pulls while closed.

        With dry friction the friction decides whether it pulls, and FrictionRun finds that.
        """
        dry = self._plan.mech._sticks

        def value(t: float, q: Array, v: Array) -> float:
            if not self.closed[name]:
                return self.gap(name, t, q) + self._margin[name]
            if dry:
                return 1.0
            return self.closed_contacts().pushes(t, q, v, applied(t, q, v))[name]

        label = f"contact {name!r}"
        self.switched_by[label] = name
        return UserEvent(value, label, 1, -1.0, rounded=False)

    def _switch_event(self, event: UserEvent, name: str, closes: bool) -> UserEvent:
        """A user's function that closes or opens a constraint; evaluated only while it can do so."""

        def value(t: float, q: Array, v: Array) -> float:
            return 1.0 if self.closed[name] == closes else event.value(t, q, v)

        self.switched_by[event.name] = name
        return UserEvent(value, event.name, 1, event.direction)

"""Topology: which constraints are closed now, the mechanism they make, and what would change that."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

import numpy as np
import numpy.typing as npt

from ..constraints.rows import Constraint
from ..dynamics.impact import Impact
from ..mechanism.mechanism import Mechanism
from .events import UserEvent
from .plant import Plant
from .switches import Plan
from .touching import nearest, pushes

Array = npt.NDArray[np.float64]
Applied = Callable[[float, Array, Array], Array]

TOUCHES = 1e-9  # of L: contacts this close take part in impacts
STANDS = 1e-9  # normal speed of a contact that does not leave, relative to the speeds, lengths divided by L
SLACK = 1e-8  # of the largest multiplier: contacts that pull less are not let go of yet


class Topology:
    """The state of all switches of a plan.

    Attributes:
        closed: {constraint: whether it is closed}, for all that can switch.
        names: their names.
        meaning: what the end of a run by an internal event means: {event: closed -> (constraint, closes)}.
    """

    def __init__(self, plan: Plan, t: float) -> None:
        self._plan = plan
        states = {name: bool(one.closed) for name, one in plan.switches.items()}
        states |= {name: closes for time, name, closes in plan.schedule if time <= t}
        states |= {name: bool(one.closed) for name, one in plan.contacts.items()}
        self.closed: dict[str, bool] = states
        self.names = tuple(states)
        self.meaning: dict[str, Callable[[dict[str, bool]], tuple[str, bool]]] = {}
        self._replaced: dict[str, Constraint] = {}
        self._known: dict[frozenset[str], Mechanism] = {}
        self._margin: dict[str, float] = {}
        self._rows = {name: plan.normal_row(name) for name in plan.contacts}

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
        """Close a constraint, latched to the pose q (nq,) where that was asked for."""
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
        return self._plan.contacts[name].side * float(phi[self._rows[name]])

    def impact(self, t: float, q: Array, v: Array, let_go: Collection[str] = ()) -> Impact:
        """What closes, closes: the impact of the closed constraints, and of contacts that touch and arrive.

        Contacts that leave after the impact are open then.

        Args:
            t, q, v: time and state.
            let_go: contacts that open now and take no part.
        """
        for name in self._plan.contacts:
            if not self.closed[name] and name not in let_go and self._arrives(name, t, q, v):
                self.close(name, q)
        mech = self.mechanism()
        rows = self._contact_rows(mech)
        if rows:
            terms = mech.terms(q, v, t)
            after = nearest(terms.M, terms.J, terms.b, v, self._signs(rows), self._rank(mech, terms.J))
            for row in rows:
                if self._leaves(mech, row, rows[row], float(terms.J[row] @ after - terms.b[row]), after):
                    self.open(rows[row])
        return self.mechanism().impact(q, v, t)

    def release(self, t: float, q: Array, v: Array, tau: Array) -> None:
        """Open the contacts that the applied forces (nv,) lift off."""
        mech = self.mechanism()
        rows = self._contact_rows(mech)
        if not rows:
            return
        terms = mech.terms(q, v, t)
        free: Array = np.asarray(np.linalg.solve(terms.M, tau - terms.h), dtype=np.float64)
        a = nearest(terms.M, terms.J, terms.gamma, free, self._signs(rows), self._rank(mech, terms.J))
        for row, name in rows.items():
            if self._leaves(mech, row, name, float(terms.J[row] @ a - terms.gamma[row]), free):
                self.open(name)

    def pushing(self, t: float, q: Array, v: Array, tau: Array) -> dict[str, float]:
        """How hard each closed contact pushes [N, N m]; negative where it pulls, by more than rounding."""
        mech = self.mechanism()
        drive, user = mech.evaluator.drive(t, 1), mech.evaluator.user(q[None], v[None], t)
        found = mech.evaluator.kernel.forward(q[None], v[None], tau[None], drive, user)
        lam, unique = np.asarray(found[2])[0], bool(np.asarray(found[3])[0].all())
        rows = self._contact_rows(mech)
        J = mech.evaluator.constraints(q, v, t)[1]
        slack = SLACK * float(np.max(np.abs(lam), initial=0.0))
        return {rows[row]: x + slack for row, x in pushes(J, lam, unique, self._signs(rows)).items()}

    def _arrives(self, name: str, t: float, q: Array, v: Array) -> bool:
        """Whether an open contact touches and is not leaving."""
        mech = self._plan.mech
        if self.gap(name, t, q) > TOUCHES * mech.length:
            return False
        _, J, b, _ = mech.evaluator.constraints(q, v, t)
        row = self._rows[name]
        return not self._leaves(mech, row, name, float(J[row] @ v - b[row]), v)

    def _leaves(self, mech: Mechanism, row: int, name: str, rate: float, x: Array) -> bool:
        """Whether a contact opens at a rate that counts against the vector x (nv,) it belongs to."""
        size = max(float(np.max(np.abs(x / mech.units.unit))), 1e-6)
        return bool(self._plan.contacts[name].side * rate / mech.units.row_unit[row] > STANDS * size)

    def _contact_rows(self, mech: Mechanism) -> dict[int, str]:
        """Normal rows of the closed contacts in a mechanism."""
        names = [name for name in self._plan.contacts if self.closed[name]]
        return {mech.row_names.index(self._plan.mech.row_names[self._rows[name]]): name for name in names}

    def _signs(self, rows: Mapping[int, str]) -> dict[int, float]:
        return {row: self._plan.contacts[name].side for row, name in rows.items()}

    def _rank(self, mech: Mechanism, J: Array) -> int:
        return Plant(mech).rank(J)

    # ------------------------------------------------------------------ events

    def watch_from(self, t: float, q: Array) -> None:
        """A new segment begins: contacts that start on the surface count as touching a little below it."""
        depth = TOUCHES * self._plan.mech.length
        self._margin = {name: 0.0 if self.gap(name, t, q) > depth else depth for name in self._plan.contacts}

    def events(self, applied: Applied) -> tuple[UserEvent, ...]:
        """Events that end a segment; `meaning` says what each of them changes."""
        out = [self._contact_event(name, applied) for name in self._plan.contacts]
        for event, name, closes in self._plan.events:
            out.append(self._switch_event(event, name, closes))
        return tuple(out)

    def _contact_event(self, name: str, applied: Applied) -> UserEvent:
        """Touching while open, pulling while closed."""

        def value(t: float, q: Array, v: Array) -> float:
            if not self.closed[name]:
                return self.gap(name, t, q) + self._margin[name]
            return self.pushing(t, q, v, applied(t, q, v))[name]

        label = f"contact {name!r}"
        self.meaning[label] = lambda closed: (name, not closed[name])
        return UserEvent(value, label, 1, -1.0)

    def _switch_event(self, event: UserEvent, name: str, closes: bool) -> UserEvent:
        """A user's function that closes or opens; it is looked at only while it can."""

        def value(t: float, q: Array, v: Array) -> float:
            return 1.0 if self.closed[name] == closes else event.value(t, q, v)

        self.meaning[event.name] = lambda closed: (name, closes)
        return UserEvent(value, event.name, 1, event.direction)

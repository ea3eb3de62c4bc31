"""Footing: where constraints hold that can be put down elsewhere than declared, and whether they stay there.

Contacts of a floating mechanism with the ground, and constraints that were open before, hold where they were
measured when they began to hold: laws work with their frames there (`Mechanism.latched`). A contact that
moves afterwards slips or lifts; that is said, and the law goes on from where it is, brings it to rest,
J a = gamma - damping (J v - b), and does not believe that it rests already.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._kernel import largest
from ...arrays import Array, BoolArray
from ...constraints.rows import Constraint
from ...models.tree.bodies import GROUND
from ...tracing.cpp_tables import Structs

PLACED = 1e-6  # gap, lengths over L, from which a fixed foot is taken to stand elsewhere than declared
NEAR = 1e-2  # the same for other constraints, and for what has moved since it was put down
NOISES = 20.0  # errors of measurement from which a contact counts as moving: the rate of a foot sums those of
# all joints between two feet and of the trunk, 3 to 4 times that of one, and some chance in 1e4 samples


@dataclass(frozen=True)
class Movement:
    """How contacts moved that should hold, by name.

    Attributes:
        slips, lifts: speed [m/s] along the contact, and away from it.
        shifted: distance [m] since it was put down, where it has just become too large to be ignored.
    """

    slips: Mapping[str, float]
    lifts: Mapping[str, float]
    shifted: Mapping[str, float]

    @property
    def message(self) -> str:
        """In words; empty if nothing moved."""
        said = [f"{name} slips at {speed:.3g} m/s" for name, speed in self.slips.items()]
        said += [f"{name} lifts off at {speed:.3g} m/s" for name, speed in self.lifts.items()]
        said += [f"{name} has moved by {far:.3g} m" for name, far in self.shifted.items()]
        return "; ".join(said)


RESTING = Movement({}, {}, {})


@dataclass(frozen=True)
class _Contact:
    """A constraint that can be put down: its rows, whether it is a point or foot on the ground, or fixed."""

    name: str
    rows: slice
    is_point: bool
    is_foot: bool
    is_fixed: bool


class Footing:
    """The places of the constraints of one law.

    Args:
        system: whose constraints.
        normals: of rows along which a contact only pushes, the sign of the force on its second body (nc,), 0
            for the others; () where nobody says.
        damping: rate [1/s] at which contacts that move are to be brought to rest.
        accuracy: (angle, speed) of measured states [rad], [1/s]; lengths over L.

    Attributes:
        movement: of the last step.
        settling: this rate for the rows (nc,) of contacts that moved in the last step; None where none did.
    """

    def __init__(self, system: Any, normals: Array, damping: float, accuracy: tuple[float, float]) -> None:
        self._system, self._damping = system, damping
        angle, speed = accuracy
        self._near, self._still = max(NEAR, NOISES * angle), NOISES * speed
        self._normals = normals if len(normals) else np.zeros(system.nc)
        self._contacts = _contacts_of(system)
        self._per_row = np.asarray(system.units.per_row)
        self._watched = np.where(self.rows_of(system), self._per_row, 0.0)
        self._length = system.length
        self.reset()

    @staticmethod
    def rows_of(system: Any) -> BoolArray:
        """Rows (nc,) of contacts with the ground."""
        rows = np.zeros(system.nc, dtype=bool)
        for one in _contacts_of(system):
            rows[one.rows] = one.is_point or one.is_foot
        return rows

    def tables(self) -> dict[str, Any]:
        """For laws without Python: members of FootingTables, kernels/control/law/footing.hpp."""
        contacts = [
            {
                "first": one.rows.start,
                "rows": one.rows.stop - one.rows.start,
                "point": one.is_point,
                "foot": one.is_foot,
                "fixed": one.is_fixed,
            }
            for one in self._contacts
        ]
        return {
            "contacts": len(contacts),
            "contact": Structs("Contact", contacts),
            "normals": np.asarray(self._normals, dtype=float),
            "per_row": self._per_row,
            "watched": self._watched,
            "near": self._near,
            "still": self._still,
            "damping": self._damping,
        }

    def reset(self) -> None:
        """Forget the past: everything is where it was declared."""
        self.movement = RESTING
        self.settling: Array | None = None
        self._latched: dict[str, Constraint] = {}
        self._place = np.zeros(len(self._per_row))
        self._rows: BoolArray | str | None = "none yet"
        self._t = -np.inf
        self._held: set[str] = set()
        self._opened: set[str] = set()
        self._fresh: set[str] = set()

    def follow(self, found: Any, t: float, q: Array, rows: BoolArray | None) -> Any | None:
        """A system with constraints where they hold now; None where they have not moved.

        Args:
            found: a step of the kernel, at the present places.
            t: time [s]; where it does not go on, nothing can have moved, and places are taken anew.
            q: as it was measured (nq,).
            rows: that hold (nc,); None is all.
        """
        self.movement, self.settling = RESTING, None
        goes_on, self._t = t > self._t, t
        if not self._contacts or self._rests(found, rows):
            return None
        self._rows = rows
        holding = self._holding(rows)
        self._note_held(holding, goes_on)
        gaps = self._gaps(found.measured)
        due = [one for one in holding if gaps[one.name] > self._allowed(one)]
        shifted = {one.name: gaps[one.name] * self._length for one in due if one.name not in self._fresh}
        self.movement = self._moving(found.slip, holding, shifted)
        return self._put_down(due, found.measured, q)

    def _rests(self, found: Any, rows: BoolArray | None) -> bool:
        """Whether the same constraints hold as before and none of them has moved."""
        return (
            rows is self._rows
            and found.gap <= self._near
            and largest(found.measured - self._place, self._watched) <= self._near
            and largest(found.slip, self._watched) <= self._still
        )

    def _gaps(self, phi: Array) -> dict[str, float]:
        """Distance of each from where it holds, lengths over L; of points, from where they were."""
        size = (phi - self._place) * self._per_row
        return {one.name: float(np.linalg.norm(size[one.rows])) for one in self._contacts}

    def _allowed(self, one: _Contact) -> float:
        """Gap up to which it is where it was."""
        fresh = one.name in self._fresh
        if one.is_point:
            return -1.0 if fresh else self._near
        if one.is_foot:
            return PLACED if fresh and one.is_fixed else self._near
        return self._near if one.name in self._opened else np.inf

    def _put_down(self, due: list[_Contact], phi: Array, q: Array) -> Any | None:
        """The system with these constraints where they are; None where only points moved."""
        for one in due:
            if one.is_point:
                self._place[one.rows] = phi[one.rows]
            else:
                self._latched[one.name] = self._system.latched(one.name, q)
        if all(one.is_point for one in due):
            return None
        return self._system.with_constraints(replaced=self._latched)

    def _holding(self, rows: BoolArray | None) -> list[_Contact]:
        """Contacts whose rows hold; None is all."""
        return [one for one in self._contacts if rows is None or rows[one.rows.start]]

    def _note_held(self, holding: list[_Contact], goes_on: bool) -> None:
        """Keep which contacts hold now, which of them were just put down, and which have been open."""
        names = {one.name for one in holding}
        self._fresh = names - self._held if goes_on else names
        self._opened |= {one.name for one in self._contacts} - names
        self._held = names

    def _moving(self, slip: Array, holding: list[_Contact], shifted: Mapping[str, float]) -> Movement:
        """Contacts with the ground that move, except those that were just put down."""
        slips, lifts = {}, {}
        away = slip * self._per_row
        for one in self._standing(holding):
            speed, normals = away[one.rows], self._normals[one.rows]
            off = float(np.max(np.where(normals != 0.0, normals * speed, 0.0), initial=0.0))
            along = float(np.linalg.norm(np.where(normals == 0.0, speed, 0.0)))
            if off > self._still:
                lifts[one.name] = off * self._length
            elif along > self._still:
                slips[one.name] = along * self._length
        self.settling = self._settled(holding, {*slips, *lifts})
        return Movement(slips, lifts, shifted) if slips or lifts or shifted else RESTING

    def _standing(self, holding: list[_Contact]) -> list[_Contact]:
        """Contacts with the ground that were put down before."""
        return [one for one in holding if (one.is_point or one.is_foot) and one.name not in self._fresh]

    def _settled(self, holding: list[_Contact], moving: set[str]) -> Array | None:
        """Rates (nc,) at which contacts that move are brought to rest."""
        if not moving or self._damping == 0.0:
            return None
        rates = np.zeros(len(self._per_row))
        for one in holding:
            rates[one.rows] = self._damping if one.name in moving else 0.0
        return rates


def _contacts_of(system: Any) -> list[_Contact]:
    """Constraints that can be put down elsewhere than declared."""
    model = getattr(system, "model", None)
    declared = getattr(model, "constraints", ())
    if not declared:
        return []
    floating = _floating(system)
    found = []
    for name, one in declared:
        part = system.evaluator.constraint_rows[name]
        on_ground = bool(one.bodies()) and one.bodies()[0] == GROUND
        point = on_ground and one.is_point_contact
        foot = on_ground and bool(one.frames()) and one.bodies()[1] in floating
        able = type(one).latched is not Constraint.latched
        if point or able:
            fixed = one.is_rigid
            found.append(_Contact(name, part, point, foot and not point, fixed))
    return found


def _floating(system: Any) -> set[str]:
    """Bodies that a Free joint carries."""
    free: set[str] = set()
    for body in system.model.bodies:
        if body.joint.is_free or body.parent in free:
            free.add(body.name)
    return free

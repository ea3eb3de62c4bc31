"""Grasp: several hands on one object, [Lin2018] II-C and III-B.

    w = G f,   G_i = [[1, 0], [S(r_i), 1]] [force; moment],   r_i from the centre of mass to the contact  (1)

f stacks the components of all contacts (`contacts.py`), w is their resultant wrench on the object at its
centre of mass. Contact forces in the null space of G are internal: they squeeze the object and do not move
it. [Lin2018] prints r_i with the opposite direction.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...arrays import Array, positive, state
from ...errors import InputError, require_known
from ...mechanism.mechanism import Mechanism
from ...models.base.rotation import hat
from ..core.solution import Status
from ..limits.quadratic_program import Program, check_solver, solve, solve_softly
from ..state.measured_state import measured_state
from .contacts import BoundContact, ContactLimits, PointContact
from .force_closure import ForceClosure, all_faces, force_closure

AXES = ("fx", "fy", "fz", "mx", "my", "mz")


@dataclass(frozen=True)
class Distribution:
    """Contact forces that carry a wrench.

    Attributes:
        f: components of all contacts (m,) [N, N m].
        internal: the part that only squeezes (m,).
        external: the part that carries the wrench (m,); f = internal + external.
        margins: distance to each limit, {name: amount}, negative where one is exceeded.
        status: OK, LIMITED (limits hold f back) or INFEASIBLE (least violation).
        message: the same in words.
    """

    f: Array
    internal: Array
    external: Array
    margins: Mapping[str, float]
    status: Status
    message: str = ""


class Grasp:
    """Hands on one object.

    Args:
        mech: the arms and the object, the object a Free body, each contact a loop from the object to a hand.
        body: name of the object.
        contacts: `PointContact`, `SoftFinger` or `Patch`, at least one.
        length: what makes N m comparable with N [m]; default the length of the mechanism.

    Attributes:
        contacts: as bound to the mechanism.
        names: of the components, such as "grip.fz" (m).
        size: their number m.
        com: centre of mass of the object in its body frame [m], (3,).
    """

    def __init__(
        self, mech: Mechanism, body: str, contacts: Sequence[PointContact], length: float | None = None
    ) -> None:
        if not isinstance(mech, Mechanism):
            raise InputError(f"Grasp takes a Mechanism, got {type(mech).__name__}.")
        known = {one.name: one for one in mech.model.bodies}
        require_known("body", body, known, "Grasp")
        if not known[body].joint.is_free:
            raise InputError(
                f"Grasp: the object {body!r} must be a Free body, it has the joint"
                f" {known[body].joint.label()}."
            )
        given = _checked_contacts(contacts, body)
        self.system, self.body = mech, body
        self.contacts: tuple[BoundContact, ...] = tuple(one.bind(mech, body) for one in given)
        self.names = tuple(f"{c.name}.{AXES[axis]}" for c in self.contacts for axis in _slots(c))
        self.size = len(self.names)
        self.com = np.array(known[body].com)
        self.length = mech.length if length is None else positive(length, "length of Grasp")
        self._index = mech.model.body_index(body, "Grasp")
        self._rows = np.concatenate([c.rows for c in self.contacts])
        self._sign = np.concatenate([c.sign for c in self.contacts])
        self._scale = np.array([self.length if ".m" in name else 1.0 for name in self.names])
        self._G = np.concatenate([_share(c, self.com) for c in self.contacts], axis=1)
        # G^+ with moments measured by their force at `length`
        self._carry = self._scale[:, None] * np.linalg.pinv(self._G * self._scale, rcond=1e-10)

    # ------------------------------------------------------------------ maps

    def map(self, q: npt.ArrayLike | None = None) -> Array:
        """G (6, m) of (1): in the axes of the object, or of the world where positions q (nq,) are given."""
        if q is None:
            return self._G.copy()
        R = measured_state(self.system, 0.0, q, np.zeros(self.system.nv)).poses[0][self._index]
        return np.concatenate([R @ self._G[:3], R @ self._G[3:]])

    @property
    def internal_projector(self) -> Array:
        """1 - G^+ G (m, m): removes from contact forces the part that moves the object."""
        return np.asarray(np.eye(self.size) - self._carry @ self._G)

    def internal_jacobian(self, q: npt.ArrayLike) -> Array:
        """(1 - G^+ G).T diag(J_1, ..., J_K) (m, nv), [Lin2018] eq. (13); zero at the object's coordinates.

        Velocities of the hands that it maps to zero are those that hands on one rigid object can have.
        Transposed, since G^+ weighs moments with a length: for a length of 1 m it is the paper's.
        """
        own = self.system.model.v_slices[self._index]
        J = self.system.terms(q, np.zeros(self.system.nv)).J[self._rows].copy()
        J[:, own] = 0.0
        return np.asarray(self.internal_projector.T @ (-self._sign[:, None] * J))

    # ------------------------------------------------------------------ forces

    def components(self, lam: npt.ArrayLike) -> Array:
        """Components f (..., m) of the contacts, on the object, from multipliers lam (..., nc)."""
        return np.asarray(self._sign * state(lam, "lam", self.system.nc)[..., self._rows])

    def wrenches(self, f: npt.ArrayLike) -> dict[str, Array]:
        """Force and moment on the object at each contact (6,), in the axes of the contact's frame A."""
        found = {}
        for contact, part in self._by_contact(f):
            found[contact.name] = np.zeros(6)
            found[contact.name][_slots(contact)] = part
        return found

    def split(self, f: npt.ArrayLike) -> tuple[Array, Array]:
        """Internal and external part of contact forces f (m,): G internal = 0, G external = G f."""
        f = self._components(f)
        external = self._carry @ (self._G @ f)
        return f - external, external

    def normal_forces(self, f: npt.ArrayLike) -> Array:
        """Normal force of each contact [N], positive where it pushes, (contacts,)."""
        normals = [(contact.normal, part) for contact, part in self._by_contact(f)]
        return np.array([sign * part[axis] for (axis, sign), part in normals])

    def margins(self, f: npt.ArrayLike) -> dict[str, float]:
        """Distance of contact forces f (m,) to each limit, by name; negative where one is exceeded."""
        parts = [contact.margins(part) for contact, part in self._by_contact(f)]
        return {name: left for part in parts for name, left in part.items()}

    @property
    def limits(self) -> ContactLimits:
        """Limits of all contacts, for `ForceLimits` and other laws."""
        return ContactLimits(self.contacts)

    def force_closure(self) -> ForceClosure:
        """Whether the contacts can resist any wrench by squeezing; see `ForceClosure`."""
        return force_closure(self.contacts, self._G, self.length)

    def distribute(self, wrench: npt.ArrayLike, solver: str = "auto") -> Distribution:
        """Smallest contact forces within all limits that hold the object against a wrench.

        Args:
            wrench: [force; moment] (6,) on the object at its centre of mass, in its axes, such as gravity.
            solver: of the quadratic program.
        """
        load = state(wrench, "wrench", 6)
        f0 = self._carry @ -load
        A = self._G * self._scale  # in f / scale, all in newtons
        Z = np.linalg.svd(A)[2][np.linalg.matrix_rank(A) :].T * self._scale[:, None]
        missed = self._G @ f0 + load
        if np.max(np.abs(missed)) > 1e-9 * (1.0 + np.max(np.abs(load))):
            said = "no contact force balances this wrench: the contacts do not resist every motion"
            return Distribution(f0, 0.0 * f0, f0, self.margins(f0), Status.INFEASIBLE, said)
        faces, floor = self.pyramids()
        at = faces @ f0
        program = Program(np.zeros(Z.shape[1]), faces @ Z, floor - at, np.full(len(floor), np.inf))
        chosen = check_solver(solver, False)
        found = solve(program, chosen)
        status, said = Status.LIMITED, ""
        if not found.feasible:
            status, said = Status.INFEASIBLE, "the limits of the contacts cannot all hold; least violation"
            found = solve_softly(program, np.ones(len(floor)), chosen)
        elif np.all(at >= floor):
            status = Status.OK
        f = f0 + Z @ found.z
        internal, external = self.split(f)
        return Distribution(f, internal, external, self.margins(f), status, said)

    def pyramids(self) -> tuple[Array, Array]:
        """Limits of all contacts as faces @ f >= floor, (k, m) and (k,); cones by a pyramid inside."""
        return all_faces(self.contacts)

    def _components(self, f: npt.ArrayLike) -> Array:
        return state(f, "contact forces f", self.size)

    def _by_contact(self, f: npt.ArrayLike) -> Iterator[tuple[BoundContact, Array]]:
        """The contacts, each with its components of f (m,)."""
        parts = np.split(self._components(f), np.cumsum([contact.size for contact in self.contacts])[:-1])
        return zip(self.contacts, parts, strict=True)


def _share(contact: BoundContact, com: Array) -> Array:
    """G_i of one contact (6, m_i) at the centre of mass, (1)."""
    force, moment = contact.basis[:3], contact.basis[3:]
    return np.concatenate([force, hat(contact.point - com) @ force + moment])


def _slots(contact: BoundContact) -> list[int]:
    """Where the components of a contact stand in a wrench (6,)."""
    moments = {3: [], 4: [3 + contact.normal[0]], 6: [3, 4, 5]}[contact.size]
    return [0, 1, 2, *moments]


def _checked_contacts(contacts: PointContact | Sequence[PointContact], body: str) -> list[PointContact]:
    """Contacts of an object, at least one, each by its own loop."""
    given = [contacts] if isinstance(contacts, PointContact) else list(contacts or ())
    if not given:
        raise InputError(f"Grasp: the object {body!r} has no contacts; give at least one.")
    for one in given:
        if not isinstance(one, PointContact):
            raise InputError(f"contacts of Grasp must be PointContact, SoftFinger or Patch, got {one!r}.")
    loops = [one.loop for one in given]
    if len(set(loops)) != len(loops):
        raise InputError(f"Grasp: every loop makes one contact, got {loops}.")
    return given

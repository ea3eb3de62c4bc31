"""Contacts: forces and moments of a hand on an object at one loop, and their limits; [Lin2018] eq. (17)-(19).

A contact is a loop whose first body is the object: `spec.close("grip", "box", "hand", joint, at_a=...)`. Its
frame A lies on the surface of the object. The components f of a contact are the force and moment on the
object in the axes of A: the multipliers act on the hand, so f = -lam.

    kind          loop that it needs    components
    PointContact  Spherical             force (3)
    SoftFinger    Universal             force (3), moment about the normal
    Patch         Fixed                 force (3), moment (3)

The centre of pressure of a patch with half edges (hx, hy) stays inside where |m_x| <= hy f_z and
|m_y| <= hx f_z, since m_x = y f_z. [Lin2018] eq. (19) prints the two lengths the other way round.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ...arrays import Array, fixed_shape, nonnegative, positive
from ...errors import InputError, require_known, unknown_name
from ..limits.limit_rows import BoundLimit, FrictionCone, cone_rows, friction_pyramid, linear_rows, opposite

NORMALS = ("x", "-x", "y", "-y", "z", "-z")


@dataclass(frozen=True)
class PointContact(FrictionCone):
    """A hard finger: pushes along its normal, and does not slip within the friction cone.

    Args:
        loop: name of the loop, its first body the object.
        mu: coefficient of friction.
        normal: direction in which the object is pushed, an axis of the loop's frame A: "z", "-z", "x", ...
        edges: of the pyramid inside the friction cone; None is the exact cone (needs the extra `qp`).
        least: normal force that must remain at least [N].
        pushes: axis of A along which the hand is pushed, the opposite of `normal`, as `Friction` has it.
    """

    joint: ClassVar[str] = "Spherical"

    def bind(self, system: Any, body: str) -> BoundContact:
        """Bind the contact to a mechanism and check it."""
        return _bound(self, system, body)

    def moments(self) -> list[tuple[str, int, float]]:
        """(name, axis, length) with |m_axis| <= length f_n, axis counted from the normal (0) cyclically."""
        return []


@dataclass(frozen=True)
class SoftFinger(PointContact):
    """A finger that also resists turning about its normal.

    Its loop carries the moment across both axes of the Universal: the one about the normal as long as the
    finger does not tilt against the surface.

    Args:
        torsion: largest moment about the normal per newton of normal force [m].
    """

    torsion: float = 0.0
    joint: ClassVar[str] = "Universal"

    def moments(self) -> list[tuple[str, int, float]]:
        """The torsional limit."""
        return [("torsion", 0, positive(self.torsion, f"torsion of {_who(self)}"))]


@dataclass(frozen=True)
class Patch(PointContact):
    """A flat hand: friction, torsion, and a centre of pressure within a rectangle.

    Args:
        torsion: largest moment about the normal per newton of normal force [m].
        half: half edges of the rectangle [m], (2,), along the two axes after the normal in cyclic order
            (x and y for the normal z).
    """

    torsion: float = 0.0
    half: Any = (0.0, 0.0)
    joint: ClassVar[str] = "Fixed"

    def moments(self) -> list[tuple[str, int, float]]:
        """Torsion and centre of pressure."""
        half = fixed_shape(self.half, f"half of {_who(self)}", (2,))
        if np.any(half <= 0.0):
            raise InputError(
                f"half of {_who(self)} must be two positive half edges [m], got {half.tolist()}: a patch"
                " without size carries no moment; use SoftFinger or PointContact."
            )
        torsion = positive(self.torsion, f"torsion of {_who(self)}")
        return [("torsion", 0, torsion), ("pressure", 1, float(half[1])), ("pressure", 2, float(half[0]))]


@dataclass(frozen=True)
class BoundContact:
    """A contact on one mechanism.

    Attributes:
        name: of its loop.
        kind: "PointContact", "SoftFinger" or "Patch".
        rows: indices into lam (m,).
        sign: f = sign * lam (m,).
        point: in the object's body frame [m], (3,).
        basis: wrench [force; moment] on the object at the point, in the object's axes, per component (6, m).
        normal: index of the normal force and its sign.
        faces: faces @ f >= floor are the limits (k, m); a cone is not among them.
        floor: (k,).
        labels: name of the limit of each face (k).
        cone: (the two tangential indices, mu), or None where a pyramid is among the faces.
    """

    name: str
    kind: str
    rows: npt.NDArray[np.int_]
    sign: Array
    point: Array
    basis: Array
    normal: tuple[int, float]
    faces: Array
    floor: Array
    labels: tuple[str, ...]
    cone: tuple[tuple[int, int], float] | None

    @property
    def size(self) -> int:
        """Number of components."""
        return len(self.rows)

    def limit_rows(self, system: Any) -> list[BoundLimit]:
        """The limits as rows on the multipliers."""
        out = []
        for face, floor, label in zip(self.faces, self.floor, self.labels, strict=True):
            parts = zip(self.rows.tolist(), (face * self.sign).tolist(), strict=True)
            out.append(linear_rows(system, label, lam=[(i, c) for i, c in parts if c], lower=float(floor)))
        if self.cone is not None:
            across, mu = self.cone
            k, s = self.normal
            normal = [(int(self.rows[k]), mu * s * float(self.sign[k]))]
            out.append(
                cone_rows(system, f"friction {self.name}", [int(self.rows[i]) for i in across], normal)
            )
        return out

    def margins(self, f: Array) -> dict[str, float]:
        """Distance to each limit for components f (m,), by name; negative where one is exceeded."""
        found: dict[str, float] = {}
        for label, value in zip(self.labels, (self.faces @ f - self.floor).tolist(), strict=True):
            found[label] = min(found.get(label, math.inf), value)
        if self.cone is not None:
            (i, j), mu = self.cone
            k, s = self.normal
            found[f"friction {self.name}"] = mu * s * float(f[k]) - math.hypot(f[i], f[j])
        return found


@dataclass(frozen=True)
class ContactLimits:
    """The limits of contacts, for any law that takes limits."""

    contacts: tuple[BoundContact, ...]

    def rows(self, system: Any) -> list[BoundLimit]:
        """Their rows."""
        return [row for contact in self.contacts for row in contact.limit_rows(system)]


# ---------------------------------------------------------------------- binding


def _who(contact: PointContact) -> str:
    return f"{type(contact).__name__}({contact.loop!r})"


def _bound(contact: PointContact, system: Any, body: str) -> BoundContact:
    who = _who(contact)
    closures = dict(system.model.constraints)
    group = {g.name: g for g in system.model.groups}.get(contact.loop)
    if group is None or group.element < 0 or group.a is None:
        known = [g.name for g in system.model.groups if g.element >= 0]
        raise unknown_name("loop", contact.loop, known, who)
    if group.a != body:
        raise InputError(
            f"{who}: the first body of the loop must be the object {body!r}, so that its frame A lies on"
            f" the object's surface; it is {group.a!r} (the second is {group.b!r})."
        )
    if group.kind != contact.joint:
        kinds = "Spherical for PointContact, Universal for SoftFinger, Fixed for Patch"
        raise InputError(f"{who} needs a loop closed by {contact.joint}, this one has {group.kind}: {kinds}.")
    normal = contact.normal
    if contact.pushes is not None:
        require_known("pushes", contact.pushes, NORMALS, who)
        normal = opposite(contact.pushes)
    require_known("normal", normal, NORMALS, who)
    axis, s = "xyz".index(normal[-1]), (-1.0 if normal[0] == "-" else 1.0)
    closure = closures[contact.loop]
    R, point = np.asarray(closure.at_a.rotation), np.asarray(closure.at_a.xyz)
    rows = np.arange(system.nc)[group.rows]
    sign, moments = -np.ones(len(rows)), _moment_directions(closure.joint, len(rows), axis, who)
    turn = closure.joint.moment_axis
    if turn is not None:  # phi = a.b with b on the hand: lam turns the hand about b x a = -turn
        sign[3] = math.copysign(1.0, float(turn[axis]))
    basis = np.zeros((6, len(rows)))
    basis[:3, :3], basis[3:, 3:] = R, R @ moments
    faces, floor, labels = _faces(contact, len(rows), axis, s)
    mu = positive(contact.mu, f"mu of {who}")
    across = ((axis + 1) % 3, (axis + 2) % 3)
    cone = (across, mu) if contact.edges is None else None
    return BoundContact(
        name=contact.loop,
        kind=type(contact).__name__,
        rows=rows,
        sign=sign,
        point=point,
        basis=basis,
        normal=(axis, s),
        faces=faces,
        floor=floor,
        labels=labels,
        cone=cone,
    )


def _moment_directions(joint: Any, size: int, axis: int, who: str) -> Array:
    """Axes (3, size - 3) in frame A of the moments that a loop transmits."""
    if size == 6:
        return np.eye(3)
    turn = joint.moment_axis
    if turn is not None and abs(abs(turn[axis]) - 1.0) > 1e-9:
        raise InputError(
            f"{who}: both axes of its Universal must lie in the surface, across the normal"
            f" {'xyz'[axis]!r}, so that the moment about the normal is what remains."
        )
    return np.eye(3)[:, [axis] * (size - 3)]


def _faces(contact: PointContact, size: int, axis: int, s: float) -> tuple[Array, Array, tuple[str, ...]]:
    """Unilateral, friction, torsion and centre of pressure as faces @ f >= floor; eq. (17)-(19)."""
    who, name = _who(contact), contact.loop
    mu, n = positive(contact.mu, f"mu of {who}"), contact.edges
    rows, labels = [_entries(size, {axis: s})], [f"contact {name}"]
    if n is not None:
        i, j = (axis + 1) % 3, (axis + 2) % 3
        for f_n, f_i, f_j in friction_pyramid(s * mu, n, who):
            rows.append(_entries(size, {axis: f_n, i: f_i, j: f_j}))
            labels.append(f"friction {name}")
    for label, turn, length in contact.moments():
        index = 3 if size == 4 else 3 + (axis + turn) % 3
        for side in (1.0, -1.0):
            rows.append(_entries(size, {axis: s * length, index: side}))
            labels.append(f"{label} {name}")
    floor = np.zeros(len(rows))
    floor[0] = nonnegative(contact.least, f"least of {who}")
    return np.array(rows), floor, tuple(labels)


def _entries(size: int, values: dict[int, float]) -> Array:
    row = np.zeros(size)
    for i, value in values.items():
        row[i] = value
    return row

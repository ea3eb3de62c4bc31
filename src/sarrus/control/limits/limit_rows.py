"""Limits as rows: coefficients on multipliers, inputs, constraint force and acceleration, and their bounds.

    lower <= lam_rows lam + u_rows u + force_rows constraint_force + a_rows a <= upper             (1)

Each of the four is affine in u (`dynamics/input_response.py`), so (1) becomes rows on u at every state.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ...arrays import Array, state
from ...errors import InputError, require_known, unknown_name

Entry = tuple[int, float]

PARTS = ("lam", "u", "force", "a")

CONTACT, MOTOR, OTHER = "contact", "motor", "other"  # kinds of limits, in the order in which they give way


@dataclass(frozen=True)
class BoundLimit:
    """Rows of one limit; parts that do not occur are None.

    Attributes:
        name: of the limit, the same for rows that belong together.
        lower, upper: bounds (m,).
        weight: what makes forces and moments comparable (m,): the length L for newtons.
        lam, u, force, a: coefficients (m, nc), (m, nu), (m, nv), (m, nv).
        cone: whether the first m - 1 rows are a vector whose length the last one bounds.
        source: the same rows as a function of (t, q, v), where they change.
        motor: whether it bounds an input by what its motor can do, so that it never gives way.
    """

    name: str
    lower: Array
    upper: Array
    weight: Array
    lam: Array | None = None
    u: Array | None = None
    force: Array | None = None
    a: Array | None = None
    cone: bool = False
    source: Callable[[float, Array, Array], BoundLimit] | None = None
    motor: bool = False

    @property
    def kind(self) -> str:
        """CONTACT where it speaks of forces of constraints, MOTOR or OTHER."""
        if self.motor:
            return MOTOR
        return OTHER if self.lam is None and self.force is None else CONTACT

    @staticmethod
    def general(limit: Any, system: Any) -> BoundLimit:
        """Rows of a `LinearLimits`, checked; with a source if any part is a function."""
        given = {part: getattr(limit, part) for part in (*limit.parts, "lower", "upper")}

        def evaluate(t: float, q: Array, v: Array) -> BoundLimit:
            values = {key: x(t, q, v) if callable(x) else x for key, x in given.items()}
            return _checked(limit.name, values, system)

        q, v = system.default
        first = evaluate(0.0, np.array(q), np.array(v))
        if not any(callable(x) for x in given.values()):
            return first
        return replace(first, source=evaluate)


def _checked(name: str, values: dict[str, Any], system: Any) -> BoundLimit:
    widths = {"lam": system.nc, "tau": system.nv, "force": system.nv, "a": system.nv}
    parts: dict[str, Array | None] = {}
    count = None
    for part, width in widths.items():
        if values[part] is None:
            parts[part] = None
            continue
        array = np.atleast_2d(state(values[part], f"{part} rows of limit {name!r}", width, repr(system.name)))
        if count is not None and len(array) != count:
            raise InputError(
                f"limit {name!r}: its parts must have the same number of rows, got {count} and {len(array)}."
            )
        parts[part], count = array, len(array)
    if count is None:
        raise InputError(f"limit {name!r} says nothing: give lam, tau, force or a rows.")
    bounds = [_bound(values[key], key, name, count) for key in ("lower", "upper")]
    if np.any(bounds[0] > bounds[1]):
        i = int(np.argmax(bounds[0] > bounds[1]))
        raise InputError(
            f"limit {name!r}: the lower bound must not exceed the upper one, got {bounds[0][i]:g} and"
            f" {bounds[1][i]:g} in row {i}."
        )
    lam, tau, force, a = (parts[part] for part in widths)
    u = None if tau is None else tau[:, [one.index for one in system.model.actuators]]
    return BoundLimit(name, bounds[0], bounds[1], np.ones(count), lam=lam, u=u, force=force, a=a)


def _bound(value: Any, which: str, name: str, count: int) -> Array:
    try:
        bound = np.broadcast_to(np.asarray(value, dtype=float), (count,)).copy()
    except (TypeError, ValueError):
        raise InputError(
            f"{which} of limit {name!r} must be a number or ({count},), got {value!r}."
        ) from None
    if np.isnan(bound).any():
        raise InputError(f"{which} of limit {name!r} must not be NaN, got {bound.tolist()}.")
    return bound


def linear_rows(
    system: Any,
    name: str,
    lam: Sequence[Entry] = (),
    u: Sequence[Entry] = (),
    lower: float = -np.inf,
    upper: float = np.inf,
) -> BoundLimit:
    """One row with the given entries (index, coefficient)."""
    on_lam, on_u = _row(lam, system.nc), _row(u, system.nu)
    units = system.units
    weight = max(
        [abs(c) * float(units.row_unit[i]) for i, c in lam]
        + [abs(c) * float(units.unit[system.model.actuators[i].index]) for i, c in u]
    )
    return BoundLimit(name, np.array([lower]), np.array([upper]), np.array([weight]), lam=on_lam, u=on_u)


def cone_rows(system: Any, name: str, across: Sequence[int], normal: Sequence[Entry]) -> BoundLimit:
    """|lam[across]| <= sum of the normal entries."""
    rows = [_row([(i, 1.0)], system.nc) for i in across] + [_row(normal, system.nc)]
    lam = np.concatenate([row for row in rows if row is not None])
    none = np.zeros(len(lam))
    weight = np.full(len(lam), float(system.units.row_unit[across[0]]))
    return BoundLimit(name, none, none, weight, lam=lam, cone=True)


@dataclass(frozen=True)
class FrictionCone:
    """A contact at a loop that pushes with at least a normal force and does not slip.

    `Friction` limits what the loop does to its second body, contacts of a grasp what it does to the first,
    and so does their `normal`. `pushes` means the same for all of them.

    Attributes:
        loop, mu, normal, edges, least: see `Friction` and `PointContact`.
        pushes: axis of the loop's frame A along which the contact pushes the second body, as multipliers and
            all forces of loops act on it; it counts instead of `normal`.
    """

    loop: str
    mu: float
    normal: str = "z"
    edges: int | None = 8
    least: float = 0.0
    pushes: str | None = field(default=None, kw_only=True)


def opposite(axis: str) -> str:
    """The axis the other way round: "-z" for "z"."""
    return axis[1:] if axis.startswith("-") else f"-{axis}"


def friction_pyramid(mu: float, edges: Any, who: str) -> list[tuple[float, float, float]]:
    """Faces (f_n, f_1, f_2) . force >= 0 of a pyramid inside the friction cone, its edges on the cone.

    d.f_t <= mu cos(pi / n) f_n for n directions d; a negative mu turns the normal round.
    """
    if isinstance(edges, bool) or not isinstance(edges, int) or edges < 3:
        raise InputError(f"edges of {who} must be a whole number of at least 3, or None; got {edges!r}.")
    angles = [(2 * k + 1) * math.pi / edges for k in range(edges)]
    normal = mu * math.cos(math.pi / edges)
    return [(normal, -math.cos(angle), -math.sin(angle)) for angle in angles]


def _row(entries: Sequence[Entry], width: int) -> Array | None:
    if not entries:
        return None
    row = np.zeros((1, width))
    for i, coefficient in entries:
        row[0, i] += coefficient
    return row


# ---------------------------------------------------------------------- names


def actuator_index(system: Any, name: str, who: str) -> int:
    """Index into u of an actuator."""
    return _index("actuator", name, system.actuators, who)


def row_index(system: Any, name: str, who: str) -> int:
    """Index into lam of a constraint row."""
    return _index("row", name, system.row_names, who)


def _index(kind: str, name: str, names: Sequence[str], who: str) -> int:
    require_known(kind, name, names, who)
    return list(names).index(name)


def rows_of_loop(system: Any, loop: str, who: str) -> dict[str, int]:
    """Rows of the translations of a loop, {"x": index, ...}, for the axes it has."""
    linear = {axis: f"{loop}.t{axis}" for axis in "xyz"}
    names = list(system.row_names)
    found = {axis: names.index(row) for axis, row in linear.items() if row in names}
    if not found:
        loops = dict.fromkeys(name.rpartition(".")[0] for name in names if ".t" in name)
        raise unknown_name("loop with rows tx, ty, tz", loop, loops, who)
    return found

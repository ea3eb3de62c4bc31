"""Limits on multipliers, constraint forces, torques and accelerations; [Aghili2011] eq. (2b)-(2d).

Signs are ours (docs/notation.md): the multipliers of a loop are the force and moment on its second body b, in
the axes of its frame A. [Aghili2011] has the opposite sign.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ...arrays import Array, nonnegative, number, positive
from ...errors import InputError, unknown_name
from .limit_rows import (
    BoundLimit,
    FrictionCone,
    actuator_index,
    cone_rows,
    friction_pyramid,
    linear_rows,
    row_index,
    rows_of_loop,
)


class Limit(Protocol):
    """A limit that is not yet bound to a mechanism."""

    def rows(self, system: Any) -> list[BoundLimit]:
        """Its rows for this system."""
        ...


@dataclass(frozen=True)
class TorqueBounds:
    """Bounds on inputs of actuators: what motors can do. They never give way, whatever else has to.

    Every law keeps the limits of the description by itself; bounds that are given here count instead.

    Args:
        bounds: {actuator: (lower, upper)} [N m, N], None leaving a side open, or one pair for all; default
            the limits of the description.
    """

    bounds: Any = None

    def rows(self, system: Any) -> list[BoundLimit]:
        """One row per bounded actuator."""
        declared = {a.name: (a.lower, a.upper) for a in system.model.actuators}
        if self.bounds is None:
            chosen = {name: pair for name, pair in declared.items() if np.isfinite(pair).any()}
            if not chosen:
                raise InputError(
                    f"TorqueBounds: no actuator of {system.name!r} has limits; give them here, or declare"
                    " them: spec.actuate(name, limits=(lower, upper))."
                )
        elif isinstance(self.bounds, Mapping):
            chosen = dict(self.bounds)
        else:
            chosen = dict.fromkeys(declared, self.bounds)
        out = []
        for name, pair in chosen.items():
            i = actuator_index(system, name, "TorqueBounds")
            lower, upper = _pair(pair, f"TorqueBounds of {name!r}")
            row = linear_rows(system, f"torque {name}", u=[(i, 1.0)], lower=lower, upper=upper)
            out.append(replace(row, motor=True))
        return out


@dataclass(frozen=True)
class Unilateral:
    """A contact that can only push: the force of a constraint row on its body b keeps its sign.

    Args:
        row: name of the row, such as "foot.tz".
        sign: +1 if b is pushed along the positive direction of the row, else -1.
        least: the force that must remain at least [N, N m].
    """

    row: str
    sign: float = 1.0
    least: float = 0.0

    def rows(self, system: Any) -> list[BoundLimit]:
        """One row."""
        i, who = row_index(system, self.row, "Unilateral"), f"Unilateral({self.row!r})"
        s, least = _sign(self.sign, f"sign of {who}"), number(self.least, f"least of {who}")
        return [linear_rows(system, f"contact {self.row}", lam=[(i, s)], lower=least)]


@dataclass(frozen=True)
class Friction(FrictionCone):
    """Coulomb friction of a loop: it pushes body b along `normal`, and does not slip.

    Args:
        loop: name of the loop (or point constraint).
        mu: coefficient of friction.
        normal: direction in which the contact pushes body b, an axis of the loop's frame A: "x", "-x",
            ... "-z".
        edges: of the pyramid inside the cone; None is the exact cone (needs the extra `qp`). In a plane both
            are exact.
        least: normal force that must remain at least [N].
        pushes: the same as `normal`, with the meaning that it has for contacts of a grasp, too.
    """

    def rows(self, system: Any) -> list[BoundLimit]:
        """mu f_n - |f_t| >= 0 and f_n >= least, [Aghili2011] eq. (22), exactly or as a pyramid inside."""
        who = f"Friction({self.loop!r})"
        mu = positive(self.mu, f"mu of {who}")
        least = nonnegative(self.least, f"least of {who}")
        pushes = self.normal if self.pushes is None else self.pushes
        sign, axis = (-1.0, pushes[1:]) if pushes.startswith("-") else (1.0, pushes)
        linear = rows_of_loop(system, self.loop, who)
        if axis not in linear:
            known = [f"{s}{a}" for a in linear for s in ("", "-")]
            raise unknown_name("normal", pushes, known, who)
        normal = [(linear[axis], sign)]
        across = [i for name, i in linear.items() if name != axis]
        name = f"friction {self.loop}"
        out = [linear_rows(system, f"contact {self.loop}", lam=normal, lower=least)]
        if len(across) == 2 and self.edges is None:
            return [*out, cone_rows(system, name, across, [(linear[axis], mu * sign)])]
        faces: list[tuple[float, ...]] = []
        if across:
            plane = [(mu * sign, 1.0), (mu * sign, -1.0)]
            faces += plane if len(across) == 1 else friction_pyramid(mu * sign, self.edges, who)
        for f_n, *f_t in faces:
            face = [(linear[axis], f_n), *zip(across, f_t, strict=True)]
            out.append(linear_rows(system, name, lam=face, lower=0.0))
        return out


@dataclass(frozen=True)
class CableTension:
    """Cables that can only pull: tension between `least` and `most` [N].

    Args:
        cables: actuators whose coordinate is a cable's length (their input lengthens it, so tension =
            -input), or rows of Distance constraints (tension = -lam).
        least: smallest tension [N].
        most: largest tension [N].
    """

    cables: Any
    least: float = 0.0
    most: float = math.inf

    def rows(self, system: Any) -> list[BoundLimit]:
        """One row per cable."""
        least, most = _pair((self.least, self.most), "CableTension (least, most)")
        names = [self.cables] if isinstance(self.cables, str) else list(self.cables)
        if not names:
            raise InputError("CableTension needs at least one cable.")
        out = []
        for name in names:
            label = f"tension {name}"
            is_row = name in system.row_names
            i = (row_index if is_row else actuator_index)(system, name, "CableTension")
            part = {"lam" if is_row else "u": [(i, -1.0)]}
            out.append(linear_rows(system, label, **part, lower=least, upper=most))
        return out


@dataclass(frozen=True)
class Preload:
    """Gears with backlash: inputs that keep their sign and a size of at least `least` [N m, N].

    Args:
        signs: {actuator: +1 or -1}, the side on which the teeth shall stay in touch.
        least: how hard, at least.
    """

    signs: Mapping[str, float]
    least: float

    def rows(self, system: Any) -> list[BoundLimit]:
        """One row per actuator."""
        least = nonnegative(self.least, "least of Preload")
        out = []
        for name, sign in self.signs.items():
            i, s = actuator_index(system, name, "Preload"), _sign(sign, f"sign of Preload of {name!r}")
            out.append(linear_rows(system, f"preload {name}", u=[(i, s)], lower=least))
        return out


Coefficients = npt.ArrayLike | Callable[[float, Array, Array], npt.ArrayLike] | None


@dataclass(frozen=True)
class LinearLimits:
    """lower <= lam_rows lam + tau_rows tau + force_rows constraint_force + a_rows a <= upper.

    Every part is an array or a function of (t, q, v); equal bounds make an equality.

    Args:
        name: of the limit, in messages and results.
        lam: (m, nc). tau: (m, nv). force: (m, nv). a: (m, nv).
        lower, upper: (m,) or a number.
    """

    name: str
    lam: Coefficients = None
    tau: Coefficients = None
    force: Coefficients = None
    a: Coefficients = None
    lower: Any = -math.inf
    upper: Any = math.inf
    parts: tuple[str, ...] = field(default=("lam", "tau", "force", "a"), repr=False)

    def rows(self, system: Any) -> list[BoundLimit]:
        """All rows together; evaluated anew at every state if any part is a function."""
        return [BoundLimit.general(self, system)]


def as_limits(limits: Any) -> list[Limit]:
    """Limits from what a user gives: one limit or several."""
    several = [limits] if hasattr(limits, "rows") else limits
    if not isinstance(several, Iterable) or isinstance(several, (str, bytes)):
        raise InputError(f"limits must be a limit or several, such as TorqueBounds(), got {limits!r:.80}.")
    found = list(several)
    for one in found:
        if not hasattr(one, "rows"):
            raise InputError(f"limits must be limits, such as TorqueBounds(), got {one!r:.80} among them.")
    return found


OPEN = (-math.inf, math.inf)


def _pair(pair: Any, what: str) -> tuple[float, float]:
    try:
        lower, upper = (side if x is None else float(x) for x, side in zip(pair, OPEN, strict=True))
    except (TypeError, ValueError):
        raise InputError(f"{what} must be a pair (lower, upper), got {pair!r}.") from None
    if not lower <= upper:
        raise InputError(
            f"{what}: the lower bound must not exceed the upper one, got ({lower:g}, {upper:g})."
        )
    return lower, upper


def _sign(value: Any, what: str) -> float:
    if value not in (1, -1):
        raise InputError(f"{what} must be +1 or -1, got {value!r}.")
    return float(value)

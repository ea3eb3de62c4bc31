"""LimitTable: all limits of a controller, turned into rows on u at every state in a few products."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ... import _kernel
from ...arrays import Array, BoolArray
from ...dynamics.input_response import Response
from ...errors import InputError
from ..state.measured_state import MeasuredState
from .limit_rows import PARTS, BoundLimit
from .quadratic_program import Cone


@dataclass(frozen=True)
class InputRows:
    """lower <= R u <= upper and cones |T u + c| <= d.u + e, with the names and weights of each.

    `reserve` is by how much rows (and then cones) were drawn in, or None; see `grasp/force_margin.py`.
    """

    R: Array
    lower: Array
    upper: Array
    names: tuple[str, ...]
    weights: Array
    cones: tuple[Cone, ...] = ()
    cone_names: tuple[str, ...] = ()
    reserve: Array | None = None

    @property
    def count(self) -> int:
        """Number of rows and cones."""
        return len(self.R) + len(self.cones)

    def inside(self, y: Array, u: Array) -> bool:
        """Whether u, with y = R u, satisfies everything."""
        if (y > self.upper).any() or (y < self.lower).any():
            return False
        return all(cone.excess(u) <= 0.0 for cone in self.cones)

    def margins(self, u: Array) -> dict[str, float]:
        """Least distance of each limit to its bounds, by name; negative where it is exceeded."""
        left = self._left(u)
        if self.reserve is not None:
            left = left + self.reserve
        found: dict[str, float] = {}
        for name, value in zip(self.names + self.cone_names, left.tolist(), strict=True):
            found[name] = min(found.get(name, np.inf), value)
        return found

    def reserve_left(self, u: Array) -> float:
        """Share of the reserve that u leaves, 0 to 1; 1 where none was asked for."""
        if self.reserve is None:
            return 1.0
        some = self.reserve > 0.0
        missing = -self._left(u)[some] / self.reserve[some]
        return 1.0 - min(max(float(missing.max(initial=0.0)), 0.0), 1.0)

    def _left(self, u: Array) -> Array:
        """Distance of each row and cone, drawn in as they are, to its bounds."""
        y = self.R @ u
        return np.append(np.minimum(self.upper - y, y - self.lower), [-k.excess(u) for k in self.cones])


@dataclass
class _Stack:
    """Rows of equal nature on top of each other."""

    rows: list[BoundLimit] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.names = tuple(r.name for r in self.rows for _ in r.lower)
        self.lower = np.concatenate([r.lower for r in self.rows]) if self.rows else np.zeros(0)
        self.upper = np.concatenate([r.upper for r in self.rows]) if self.rows else np.zeros(0)
        self.weight = np.concatenate([r.weight for r in self.rows]) if self.rows else np.zeros(0)
        self.parts = {part: self._part(part) for part in PARTS}
        self._on_used: Array | None = None

    def _part(self, part: str) -> Array | None:
        blocks = [getattr(r, part) for r in self.rows]
        widths = [b.shape[1] for b in blocks if b is not None]
        if not widths:
            return None
        empty = [np.zeros((len(r.lower), widths[0])) for r in self.rows]
        return np.concatenate([e if b is None else b for b, e in zip(blocks, empty, strict=True)])

    def on_inputs(
        self, response: Response, used: Any, rows: BoolArray | None, disturbance: Array | None = None
    ) -> dict[str, Any]:
        """R (m, nu), lower and upper (m,) with lower <= R u <= upper, and the reserve of each (m,) or None.

        One-sided limits are drawn in by their reserve, the most that any combination of length 1 of
        `disturbance` (active rows, k) does to them.
        """
        lam, u, force, a = (self.parts[part] for part in PARTS)
        if u is not None and self._on_used is None:
            self._on_used = np.ascontiguousarray(u[:, used])
        if lam is None:
            lam = np.zeros((len(self.lower), len(response.lam0)))
        elif rows is not None:
            lam = lam[:, rows]
        found = _kernel.rows_on_inputs(
            on_lam=lam,
            on_u=self._on_used,
            lam0=response.lam0,
            Lam=response.Lam,
            lower=self.lower,
            upper=self.upper,
            disturbance=disturbance,
        )
        for part, first, per_input in ((force, "F0", "Phi"), (a, "a0", "B")):
            if part is not None:
                found["R"] += part @ getattr(response, per_input)
                at = part @ getattr(response, first)
                found["lower"], found["upper"] = found["lower"] - at, found["upper"] - at
        return found


class LimitTable:
    """The limits of one controller.

    Args:
        limits: as declared.
        system: whose they are.
        used: indices into u of the actuators that the controller uses.
    """

    def __init__(self, limits: Sequence[Any], system: Any, used: npt.NDArray[np.int_]) -> None:
        rows: list[BoundLimit] = []
        for limit in limits:
            rows += limit.rows(system)
        self._used = used
        self._varying = [one for one in rows if one.source is not None]
        constant = [one for one in rows if one.source is None]
        self._constant = _Stack([one for one in constant if not one.cone])
        self._cones = [_Stack([one]) for one in constant if one.cone]
        self.has_cones = bool(self._cones)
        self.names = tuple(dict.fromkeys(one.name for one in rows))
        self.on_lam = np.zeros(system.nc, dtype=bool)  # multipliers that some limit speaks of
        for one in rows:
            if one.lam is not None:
                self.on_lam |= np.any(one.lam != 0.0, axis=0)
        refuse_contradictions(constant, system)

    @property
    def is_fixed(self) -> bool:
        """Whether the kernel can make rows of the limits: no functions, none on a or forces."""
        stacks = [self._constant, *self._cones]
        given = [one.parts[part] for one in stacks for part in ("force", "a")]
        return not self._varying and all(part is None for part in given)

    def fixed(self) -> tuple[Array, Array | None, Array, Array, Array] | None:
        """Coefficients on multipliers (m, nc) and on used inputs (m, n) or None, bounds (m,), and rows of
        cones (3 cones, nc)."""
        if not self.is_fixed:
            return None
        stack = self._constant
        lam, u = stack.parts["lam"], stack.parts["u"]
        on_lam = np.zeros((len(stack.lower), len(self.on_lam))) if lam is None else lam
        on_u = None if u is None else np.ascontiguousarray(u[:, self._used])
        cones = [np.zeros((0, len(self.on_lam))), *(one.rows[0].lam for one in self._cones)]
        return on_lam, on_u, stack.lower, stack.upper, np.concatenate(cones)  # type: ignore[arg-type]

    def row_name(self, i: int) -> str:
        """Name of the limit of a fixed row; cones are counted behind the rows."""
        count = len(self._constant.names)
        return self._constant.names[i] if i < count else self._cones[i - count].names[0]

    def rows_found(self, rows: tuple[Any, ...], cones: tuple[Any, ...]) -> InputRows:
        """Rows and cones on inputs that the kernel made of some of the fixed limits."""
        R, lower, upper, which = rows
        cone_R, at, chosen = cones
        names, weights = tuple(self._constant.names[i] for i in which), self._constant.weight[which]
        stacks = [self._cones[i] for i in chosen]
        return InputRows(
            R,
            lower,
            upper,
            names=names,
            weights=np.append(weights, [one.weight[0] for one in stacks]),
            cones=tuple(Cone(T[:2], c[:2], T[2], float(c[2])) for T, c in zip(cone_R, at, strict=True)),
            cone_names=tuple(one.names[0] for one in stacks),
        )

    def at(
        self,
        now: MeasuredState,
        response: Response,
        rows: BoolArray | None,
        released: BoolArray | None = None,
        disturbance: Array | None = None,
    ) -> InputRows:
        """Rows on the inputs at one state; limits of constraints that are open, or opening, are left out.

        Args:
            now: the state.
            response: to the inputs, with the active constraints only.
            rows: which constraint rows are active (nc,); None is all.
            released: which of them are about to open (nc,); None is none.
            disturbance: multipliers per unit of each of k disturbances, (active, k): one-sided limits on
                multipliers are drawn in by as much as any combination of length 1 can do.
        """
        stack = self._constant
        if self._varying:
            found = [one.source(now.t, now.q, now.v) for one in self._varying if one.source is not None]
            stack = _Stack([*self._constant.rows, *found])
        linear = stack.on_inputs(response, self._used, rows, disturbance)
        linear["names"], linear["weights"] = stack.names, stack.weight
        counted = rows
        if released is not None:
            counted = ~released if rows is None else rows & ~released
        keep = _present(stack, counted)
        if keep is not None:
            linear["names"] = tuple(name for name, kept in zip(stack.names, keep, strict=True) if kept)
            for part in ("R", "lower", "upper", "weights", "reserve"):
                linear[part] = None if linear[part] is None else linear[part][keep]
        if not self._cones:
            return InputRows(**linear)
        return self._with_cones(linear, response, (rows, counted), disturbance)

    def _with_cones(
        self,
        linear: dict[str, Any],
        response: Response,
        masks: tuple[BoolArray | None, BoolArray | None],
        disturbance: Array | None,
    ) -> InputRows:
        """The linear rows and the cones; `masks` are the active rows and those whose limits count."""
        rows, counted = masks
        cones, names, weights, reserves = [], [], [], []
        for one in self._cones:
            there = _present(one, counted)
            if there is not None and not there.all():
                continue
            found = one.on_inputs(response, self._used, rows)
            T, c = found["R"], -found["lower"]
            change = _change(one, rows, disturbance)
            reserves.append(0.0 if change is None else float(np.linalg.norm(change[:-1]) + change[-1]))
            cones.append(Cone(T[:-1], c[:-1], T[-1], float(c[-1]) - reserves[-1]))
            names.append(one.names[0])
            weights.append(one.weight[0])
        if cones:
            linear["weights"] = np.append(linear["weights"], weights)
            if linear["reserve"] is not None:
                linear["reserve"] = np.append(linear["reserve"], reserves)
        return InputRows(**linear, cones=tuple(cones), cone_names=tuple(names))


def _change(stack: _Stack, rows: BoolArray | None, disturbance: Array | None) -> Array | None:
    """By how much each row changes at most under disturbances of length 1; None where there are none."""
    lam = stack.parts["lam"]
    if disturbance is None or lam is None:
        return None
    return np.asarray(np.linalg.norm((lam if rows is None else lam[:, rows]) @ disturbance, axis=1))


def _present(stack: _Stack, rows: BoolArray | None) -> BoolArray | None:
    """Which rows do not speak of inactive constraints; None if all."""
    lam = stack.parts["lam"]
    if rows is None or lam is None:
        return None
    return np.asarray(~np.any(lam[:, ~rows] != 0.0, axis=1))


def refuse_contradictions(rows: Sequence[BoundLimit], system: Any) -> None:
    """Raise an InputError that names limits which no forces whatsoever satisfy together."""
    if _possible(rows, system):
        return
    kept = list(rows)
    for name in dict.fromkeys(one.name for one in rows):
        without = [one for one in kept if one.name != name]
        if not _possible(without, system):
            kept = without
    names = dict.fromkeys(one.name for one in kept)
    raise InputError(
        f"limits contradict each other whatever the motion: {', '.join(map(repr, names))}. Loosen one."
    )


def _possible(rows: Sequence[BoundLimit], system: Any) -> bool:
    """Whether some (lam, u, force, a) satisfies all rows, each taken as free; cones by their axis."""
    from scipy.optimize import linprog

    flat = _Stack([one for one in rows if not one.cone])
    if len(flat.lower) == 0:
        return True
    widths = {"lam": system.nc, "u": system.nu, "force": system.nv, "a": system.nv}
    A = np.concatenate(
        [
            np.zeros((len(flat.lower), n)) if flat.parts[k] is None else flat.parts[k]
            for k, n in widths.items()
        ],
        axis=1,
    )
    low, up = np.isfinite(flat.lower), np.isfinite(flat.upper)
    found = linprog(
        np.zeros(A.shape[1]),
        np.concatenate([A[up], -A[low]]),
        np.concatenate([flat.upper[up], -flat.lower[low]]),
        bounds=(None, None),
    )
    return bool(found.status != 2)

"""LimitTable: all limits of a controller, turned into rows on u at every state in a few products."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import linprog

from ...dynamics.control_kernel import rows_on_inputs
from ...dynamics.input_response import Response
from ...errors import InputError
from ..core.measured_state import Measured
from .limit_rows import PARTS, Rows
from .quadratic_program import Cone

Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class InputRows:
    """lower <= R u <= upper and cones |T u + c| <= d.u + e, with the names and weights of each.

    `reserve` is by how much rows (and then cones) were drawn in, or None; see `reserve.py`.
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

    rows: list[Rows] = field(default_factory=list)

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
        self, response: Response, used: Any, rows: Mask | None, unknown: Array | None = None
    ) -> tuple[Array, Array, Array, Array | None]:
        """R (m, nu), lower and upper (m,) with lower <= R u <= upper, and the reserve of each (m,) or None.

        One-sided limits are drawn in by their reserve, the most that any combination of length 1 of `unknown`
        (active rows, k) does to them.
        """
        lam, u, force, a = (self.parts[part] for part in PARTS)
        lam0, Lam = response.multipliers
        if u is not None and self._on_used is None:
            self._on_used = np.ascontiguousarray(u[:, used])
        if lam is None:
            lam = np.zeros((len(self.lower), len(lam0)))
        elif rows is not None:
            lam = lam[:, rows]
        R, lower, upper, reserve = rows_on_inputs(
            lam, self._on_used, lam0, Lam, self.lower, self.upper, unknown
        )
        for part, first, per_input in ((force, "F0", "Phi"), (a, "a0", "B")):
            if part is not None:
                R += part @ getattr(response, per_input)
                at = part @ getattr(response, first)
                lower, upper = lower - at, upper - at
        return R, lower, upper, reserve


class LimitTable:
    """The limits of one controller.

    Args:
        limits: as declared.
        system: whose they are.
        used: indices into u of the actuators that the controller uses.
    """

    def __init__(self, limits: Sequence[Any], system: Any, used: npt.NDArray[np.int_]) -> None:
        rows: list[Rows] = []
        for limit in limits:
            if not hasattr(limit, "rows"):
                raise InputError(
                    "limits must be a list of limits such as sr.control.TorqueBounds() or"
                    f" sr.control.Friction('grip', mu=0.3), got {limit!r}."
                )
            rows += limit.rows(system)
        self._used = used
        self._moving = [one for one in rows if one.source is not None]
        still = [one for one in rows if one.source is None]
        self._still = _Stack([one for one in still if not one.cone])
        self._cones = [_Stack([one]) for one in still if one.cone]
        self.has_cones = bool(self._cones)
        self.names = tuple(dict.fromkeys(one.name for one in rows))
        self.on_lam = np.zeros(system.nc, dtype=bool)  # multipliers that some limit speaks of
        for one in rows:
            if one.lam is not None:
                self.on_lam |= np.any(one.lam != 0.0, axis=0)
        refuse_contradictions(still, system)

    def at(
        self,
        now: Measured,
        response: Response,
        rows: Mask | None,
        released: Mask | None = None,
        unknown: Array | None = None,
    ) -> InputRows:
        """Rows on the inputs at one state; limits of constraints that are open, or opening, are left out.

        Args:
            now: the state.
            response: to the inputs, with the active constraints only.
            rows: which constraint rows are active (nc,); None is all.
            released: which of them are about to open (nc,); None is none.
            unknown: what each of k unit disturbances does to the active multipliers, (active, k): one-sided
                limits on multipliers are drawn in by as much as any combination of length 1 can do.
        """
        stack = self._still
        if self._moving:
            found = [one.source(now.t, now.q, now.v) for one in self._moving if one.source is not None]
            stack = _Stack([*self._still.rows, *found])
        R, lower, upper, reserve = stack.on_inputs(response, self._used, rows, unknown)
        names, weights = stack.names, stack.weight
        counted = rows
        if released is not None:
            counted = ~released if rows is None else rows & ~released
        keep = _present(stack, counted)
        if keep is not None:
            R, lower, upper, weights = R[keep], lower[keep], upper[keep], weights[keep]
            names = tuple(name for name, kept in zip(names, keep, strict=True) if kept)
            reserve = None if reserve is None else reserve[keep]
        cones, cone_names, cone_weights, cone_reserves = [], [], [], []
        for one in self._cones:
            there = _present(one, counted)
            if there is not None and not there.all():
                continue
            T, c, _, _ = one.on_inputs(response, self._used, rows)
            c = -c
            change = _change(one, rows, unknown)
            cone_reserves.append(0.0 if change is None else float(np.linalg.norm(change[:-1]) + change[-1]))
            cones.append(Cone(T[:-1], c[:-1], T[-1], float(c[-1]) - cone_reserves[-1]))
            cone_names.append(one.names[0])
            cone_weights.append(one.weight[0])
        if cones and reserve is not None:
            reserve = np.append(reserve, cone_reserves)
        if cones:
            weights = np.append(weights, cone_weights)
        return InputRows(R, lower, upper, names, weights, tuple(cones), tuple(cone_names), reserve)


def _change(stack: _Stack, rows: Mask | None, unknown: Array | None) -> Array | None:
    """By how much each row changes at most under disturbances of length 1; None where there are none."""
    lam = stack.parts["lam"]
    if unknown is None or lam is None:
        return None
    return np.asarray(np.linalg.norm((lam if rows is None else lam[:, rows]) @ unknown, axis=1))


def _present(stack: _Stack, rows: Mask | None) -> Mask | None:
    """Which rows do not speak of inactive constraints; None if all."""
    lam = stack.parts["lam"]
    if rows is None or lam is None:
        return None
    return np.asarray(~np.any(lam[:, ~rows] != 0.0, axis=1))


def refuse_contradictions(rows: Sequence[Rows], system: Any) -> None:
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


def _possible(rows: Sequence[Rows], system: Any) -> bool:
    """Whether some (lam, u, force, a) satisfies all rows, each taken as free; cones by their axis."""
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

"""LimitTable: all limits of a controller. The kernel turns them into rows on u at every state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ..._kernel import LimitRows, LimitSetup
from ...arrays import Array, BoolArray
from ...errors import InputError
from .limit_rows import PARTS, BoundLimit, linear_rows
from .quadratic_program import Cone


@dataclass(frozen=True)
class InputRows:
    """lower <= R u <= upper and cones |T u + c| <= d.u + e, with names, weights and kinds of each.

    Behind the inputs, u has shares of redundant rows where limits leave a choice of them: see
    `core/nearest_inputs.py`. `reserve` is by how much rows (and then cones) were drawn in, or None; see
    `grasp/force_margin.py`.
    """

    R: Array
    lower: Array
    upper: Array
    names: tuple[str, ...]
    weights: Array
    cones: tuple[Cone, ...] = ()
    cone_names: tuple[str, ...] = ()
    reserve: Array | None = None
    kinds: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """Number of rows and cones."""
        return len(self.R) + len(self.cones)

    def without(self, left_out: BoolArray) -> InputRows:
        """Without some of the rows and cones (count,)."""
        m, keep = len(self.R), ~left_out
        names = np.array(self.names + self.cone_names, dtype=object)
        return InputRows(
            self.R[keep[:m]],
            self.lower[keep[:m]],
            self.upper[keep[:m]],
            names=tuple(names[:m][keep[:m]]),
            weights=self.weights[keep],
            cones=tuple(one for one, kept in zip(self.cones, keep[m:], strict=True) if kept),
            cone_names=tuple(names[m:][keep[m:]]),
            reserve=None if self.reserve is None else self.reserve[keep],
            kinds=tuple(kind for kind, kept in zip(self.kinds, keep, strict=True) if kept),
        )

    def let_out(self, some: BoolArray, u: Array, slack: float) -> InputRows:
        """With some of the rows and cones (count,) let out as far as u needs it, and by a little slack."""
        m, y = len(self.R), self.R @ u
        lower, upper = np.minimum(self.lower, y) - slack, np.maximum(self.upper, y) + slack
        rows = some[:m]
        wide = [replace(one, e=one.e + max(one.excess(u), 0.0) + slack) for one in self.cones]
        return replace(
            self,
            lower=np.where(rows, lower, self.lower),
            upper=np.where(rows, upper, self.upper),
            cones=tuple(w if s else k for w, s, k in zip(wide, some[m:], self.cones, strict=True)),
        )

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
        self.kinds = tuple(r.kind for r in self.rows for _ in r.lower)
        self.lower = np.concatenate([r.lower for r in self.rows]) if self.rows else np.zeros(0)
        self.upper = np.concatenate([r.upper for r in self.rows]) if self.rows else np.zeros(0)
        self.weight = np.concatenate([r.weight for r in self.rows]) if self.rows else np.zeros(0)
        self.parts = {part: self._part(part) for part in PARTS}

    def _part(self, part: str) -> Array | None:
        blocks = [getattr(r, part) for r in self.rows]
        widths = [b.shape[1] for b in blocks if b is not None]
        if not widths:
            return None
        empty = [np.zeros((len(r.lower), widths[0])) for r in self.rows]
        return np.concatenate([e if b is None else b for b, e in zip(blocks, empty, strict=True)])


class LimitTable:
    """The limits of one controller, as the kernel takes them (kernels/control/step_data.hpp).

    Args:
        limits: as declared.
        system: whose they are.
        used: indices into u of the actuators that the controller uses.

    Attributes:
        has_cones: whether some limit is an exact cone.
        has_functions: whether some limit is a function of (t, q, v).
        on_lam: multipliers (nc,) that some limit speaks of.
        pushes: sign of the force on its second body that a limit lets a row bear (nc,), 0 for rows that may
            push and pull.
        names: of all limits that can give way.
        motors: (least, most) inputs (n,) that motors can give; None where no motor has a bound.
        motor_names: of these bounds.
    """

    def __init__(self, limits: Sequence[Any], system: Any, used: npt.NDArray[np.int_]) -> None:
        rows = with_declared_bounds([row for limit in limits for row in limit.rows(system)], system)
        bounds = [row for row in rows if row.motor]
        self._used = used
        self.names = tuple(row.name for row in rows if not row.motor)
        self.motor_names = tuple(row.name for row in bounds)
        self.motors = _bounds_of(bounds, system)[:, used] if bounds else None
        self._varying = [one for one in rows if one.source is not None]
        constant = [one for one in rows if one.source is None]
        self._constant = [one for one in constant if not one.cone]
        self._cones = [one for one in constant if one.cone]
        self._latest = self._varying  # functions as they were last evaluated
        self._stack = _Stack([*self._constant, *self._varying])
        self.has_cones, self.has_functions = bool(self._cones), bool(self._varying)
        self.on_lam = np.zeros(system.nc, dtype=bool)
        for lam in [one.lam for one in rows if one.lam is not None]:
            self.on_lam |= np.any(lam != 0.0, axis=0)
        self.pushes = _pushes(constant, system.nc)
        refuse_contradictions(constant, system)

    def setup(self) -> LimitSetup:
        """The limits for the kernel, functions as they were last evaluated in the last rows."""
        self._stack = _Stack([*self._constant, *self._latest])
        cones = [np.zeros((0, len(self.on_lam))), *(one.lam for one in self._cones if one.lam is not None)]
        return LimitSetup(
            rows=self._coefficients(self._stack),
            cone_lam=np.concatenate(cones),
            least=None if self.motors is None else np.ascontiguousarray(self.motors[0]),
            most=None if self.motors is None else np.ascontiguousarray(self.motors[1]),
            first_function=sum(len(one.lower) for one in self._constant),
            has_functions=self.has_functions,
        )

    def renewed(self, t: float, q: Array, v: Array) -> LimitRows:
        """The rows of functions at a state, without cones."""
        self._latest = [one.source(t, q, v) for one in self._varying if one.source is not None]
        return self._coefficients(_Stack(self._latest))

    def _coefficients(self, stack: _Stack) -> LimitRows:
        """Coefficients on multipliers (m, nc), used inputs (m, n), constraint force and acceleration
        (m, nv), the last three or None, and bounds (m,)."""
        lam, u, force, a = (stack.parts[part] for part in PARTS)
        on_lam = np.zeros((len(stack.lower), len(self.on_lam))) if lam is None else lam
        on_u = None if u is None else np.ascontiguousarray(u[:, self._used])
        return LimitRows(
            on_lam=on_lam, on_u=on_u, on_force=force, on_a=a, lower=stack.lower, upper=stack.upper
        )

    def row_name(self, i: int) -> str:
        """Name of the limit of a row; cones are counted behind the rows."""
        count = len(self._stack.names)
        return self._stack.names[i] if i < count else self._cones[i - count].name

    def rows_found(self, rows: tuple[Any, ...], cones: tuple[Any, ...]) -> InputRows:
        """Rows and cones on inputs that the kernel made of those limits whose constraints hold."""
        R, lower, upper, which = rows
        cone_R, at, chosen = cones
        names, weights = tuple(self._stack.names[i] for i in which), self._stack.weight[which]
        stacks = [self._cones[i] for i in chosen]
        return InputRows(
            R,
            lower,
            upper,
            names=names,
            weights=np.append(weights, [one.weight[0] for one in stacks]),
            cones=tuple(Cone(T[:2], c[:2], T[2], float(c[2])) for T, c in zip(cone_R, at, strict=True)),
            cone_names=tuple(one.name for one in stacks),
            kinds=tuple(self._stack.kinds[i] for i in which) + tuple(one.kind for one in stacks),
        )

    def speaks_of(self, rows: BoolArray, which: Sequence[int], cones: Sequence[int]) -> BoolArray:
        """Which of some rows, and then cones, have to do with these constraint rows (nc,)."""
        lam = self._stack.parts["lam"]
        of_rows = [lam is not None and bool(np.any(lam[i, rows] != 0.0)) for i in which]
        of_cones = [bool(np.any(np.asarray(self._cones[i].lam)[:, rows] != 0.0)) for i in cones]
        return np.array(of_rows + of_cones, dtype=bool)


def _pushes(rows: Sequence[BoundLimit], nc: int) -> Array:
    """Signs (nc,) of multipliers that a limit by itself keeps from changing their sign."""
    signs = np.zeros(nc)
    for one in rows:
        if one.lam is None or one.cone or len(one.lower) > 1 or one.lower[0] < 0.0:
            continue
        speaks = np.flatnonzero(one.lam[0])
        alone = len(speaks) == 1 and all(part is None for part in (one.u, one.force, one.a))
        if alone:
            signs[speaks[0]] = np.sign(one.lam[0, speaks[0]])
    return signs


def declared_bounds(system: Any) -> list[BoundLimit]:
    """What motors can do by the description, one row for each that has limits."""
    return [
        replace(
            linear_rows(system, f"torque {a.name}", u=[(i, 1.0)], lower=a.lower, upper=a.upper), motor=True
        )
        for i, a in enumerate(system.model.actuators)
        if np.isfinite([a.lower, a.upper]).any()
    ]


def with_declared_bounds(rows: Sequence[BoundLimit], system: Any) -> list[BoundLimit]:
    """Rows that were given, and bounds of the description for motors that none of them bounds."""
    given = {one.name for one in rows if one.motor}
    return [*rows, *(one for one in declared_bounds(system) if one.name not in given)]


def _bounds_of(rows: Sequence[BoundLimit], system: Any) -> Array:
    """Least and largest inputs (2, nu)."""
    bounds = np.tile([[-np.inf], [np.inf]], system.nu)
    for one in rows:
        assert one.u is not None
        i = int(np.argmax(one.u[0]))
        bounds[:, i] = max(bounds[0, i], one.lower[0]), min(bounds[1, i], one.upper[0])
    return bounds


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

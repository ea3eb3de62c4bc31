"""Function: an output given as a function x(q), with derivatives given or by finite differences.

Central differences of fourth order on the manifold, along each coordinate for J and along v for J' v:

    f'(0)  = (8 (f(h) - f(-h)) - (f(2h) - f(-2h))) / 12 h                                          (1)
    f''(0) = (16 (f(h) + f(-h)) - (f(2h) + f(-2h)) - 30 f(0)) / 12 h^2                             (2)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...arrays import Array, positive, state
from ...differences import curvature_terms, slope_terms
from ...errors import InputError
from ..state.measured_state import MeasuredState
from .output import BoundOutput, OutputTracking, VectorOutput
from .references import Target

STEP = 1e-3  # [rad], or times L [m]: errors of truncation 1e-13, of rounding 1e-13
STEP_TWICE = 5e-3  # for second derivatives: truncation 1e-12, rounding 1e-11
OFFSETS, FIRST = (np.array(x, dtype=float) for x in zip(*slope_terms(4), strict=True))
MIDDLE, *SECOND = (weight for _, weight in curvature_terms(4))


@dataclass(frozen=True)
class Function:
    """An output x(q) -> (k,) given by the user.

    Args:
        x: the function of q (nq,).
        jacobian: J(q) -> (k, nv) with x' = J v; by central differences on the manifold if not given.
        bias: bias(q, v) -> J' v (k,); by central differences if not given.
        unit: value of a component that counts as much as 1 rad, a number or (k,), such as L for metres.
        names: one per component; default x[0], x[1], ...
    """

    x: Callable[[Array], npt.ArrayLike]
    jacobian: Callable[[Array], npt.ArrayLike] | None = None
    bias: Callable[[Array, Array], npt.ArrayLike] | None = None
    unit: Any = 1.0
    names: Sequence[str] | None = None

    def bind(self, system: Any) -> BoundOutput:
        """The output of this system."""
        return _Function(self, system)


class _Function(VectorOutput):
    def __init__(self, given: Function, system: Any) -> None:
        if not callable(given.x):
            raise InputError(f"Function needs a function x(q) -> (k,), got {given.x!r}.")
        first = np.atleast_1d(np.asarray(given.x(np.array(system.default.q)), dtype=float))
        if first.ndim != 1 or not np.isfinite(first).all():
            raise InputError(f"x(q) of a Function must return k finite numbers, got {first.tolist()}.")
        k = len(first)
        names = [f"x[{i}]" for i in range(k)] if given.names is None else list(given.names)
        if len(names) != k:
            raise InputError(
                f"names of a Function must be {k} names, one per component of x(q), got {names}."
            )
        unit = np.full(k, positive(given.unit, "unit of a Function")) if np.ndim(given.unit) == 0 else None
        super().__init__(names, state(given.unit, "unit of a Function", k) if unit is None else unit)
        self._given, self._nv, self._coordinate_unit = given, system.nv, system.units.unit

    def track(self, now: MeasuredState, target: Target) -> OutputTracking:
        x = self._value(now.q)
        J, bias = self._jacobian(now, now.q), self._bias(now, x)
        return self.tracking_error(target, x, J @ now.v, J, bias)

    def _value(self, q: Array) -> Array:
        x = np.atleast_1d(np.asarray(self._given.x(q.copy()), dtype=float))
        return _sized(x, (self.size,), "x(q)")

    def _jacobian(self, now: MeasuredState, q: Array) -> Array:
        if self._given.jacobian is not None:
            J = np.asarray(self._given.jacobian(q.copy()), dtype=float)
            return _sized(np.atleast_2d(J), (self.size, self._nv), "jacobian(q)")
        h = STEP * self._coordinate_unit
        steps = np.concatenate([offset * np.diag(h) for offset in OFFSETS])
        values = np.array([self._value(one) for one in now.along(steps)]).reshape(4, self._nv, self.size)
        return np.asarray(np.tensordot(FIRST, values, 1).T / h)  # (1)

    def _bias(self, now: MeasuredState, x: Array) -> Array:
        if self._given.bias is not None:
            found = np.atleast_1d(np.asarray(self._given.bias(now.q.copy(), now.v.copy()), dtype=float))
            return _sized(found, (self.size,), "bias(q, v)")
        speed = float(np.linalg.norm(now.v / self._coordinate_unit))
        if speed == 0.0:
            return np.zeros(self.size)
        if self._given.jacobian is not None:
            h = STEP / speed
            poses = now.along(OFFSETS[:, None] * h * now.v)
            return np.asarray(FIRST @ np.array([self._jacobian(now, one) @ now.v for one in poses]) / h)
        h = STEP_TWICE / speed
        values = np.array([self._value(one) for one in now.along(OFFSETS[:, None] * h * now.v)])
        return np.asarray((np.array(SECOND) @ values + MIDDLE * x) / h**2)  # (2)


def _sized(found: Array, shape: tuple[int, ...], what: str) -> Array:
    """What a user's function returned, refused unless it has this shape and is finite."""
    if found.shape != shape:
        raise InputError(f"{what} of a Function must have shape {shape}, got {found.shape}.")
    if not np.isfinite(found).all():
        raise InputError(f"{what} of a Function must be finite, got {found.tolist()}.")
    return found

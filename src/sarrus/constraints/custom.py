"""CustomConstraint: rows that a user's functions compute."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array, fixed_shape, positive, positive_whole
from ..errors import InputError
from ..models.model import RowGroup, UserRows
from ..models.tree.tree import Tree
from .rows import Constraint, RowName, Rows

__all__ = ["CustomConstraint"]

Function = Callable[..., ArrayLike]


TIMES = 33  # at which a function is asked whether it changes with time


@dataclass(frozen=True)
class CustomConstraint(Constraint):
    """phi(q, t) = 0, given as a function. Rows "name[0]", "name[1]", ...

    Derivatives that are not given are taken numerically, along the manifold of configurations.

    Args:
        phi: phi(q, t) -> (n,), q (nq,), t [s].
        n: Number of rows.
        J: J(q, t) -> (n, nv) with d phi / dt = J v - b.
        gamma: gamma(q, v, t) -> (n,) with J a = gamma.
        b: b(q, t) -> (n,), minus the partial derivative of phi with respect to t.
        scale: Size of phi that weighs as much as one radian, a number or (n,): rank is decided on J / scale.
    """

    holds_functions: ClassVar[bool] = True
    phi: Function
    n: int
    J: Function | None = None
    gamma: Function | None = None
    b: Function | None = None
    scale: float | ArrayLike = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "n", positive_whole(self.n, "n of CustomConstraint"))
        if not callable(self.phi):
            raise InputError(f"phi of CustomConstraint must be a callable phi(q, t), got {self.phi!r}.")
        for name in ("J", "gamma", "b"):
            value = getattr(self, name)
            if value is not None and not callable(value):
                raise InputError(f"{name} of CustomConstraint must be a callable or None, got {value!r}.")
        if np.ndim(self.scale) == 0:
            scales = [positive(self.scale, "scale of CustomConstraint")] * self.n
        else:
            given = fixed_shape(self.scale, "scale of CustomConstraint", (self.n,))
            scales = [positive(x, "scale of CustomConstraint") for x in given.tolist()]
        object.__setattr__(self, "scale", tuple(scales))

    def depends_on_time(self, q: Array, span: tuple[float, float]) -> bool:
        """Whether phi at a pose (nq,) changes between two times [s], as far as `TIMES` times tell."""
        times = np.linspace(*span, TIMES)
        values = [call_checked(self.phi, (q.copy(), t), "phi of CustomConstraint", (self.n,)) for t in times]
        if any(np.any(value != values[0]) for value in values):
            return True
        if self.b is None:
            return False
        rates = [call_checked(self.b, (q.copy(), t), "b of CustomConstraint", (self.n,)) for t in times]
        return any(np.any(rate != 0.0) for rate in rates)

    def lower(self, name: str, tree: Tree, rows: Rows) -> None:
        assert isinstance(self.scale, tuple)
        names = [RowName(f"{name}[{i}]", "", scale=self.scale[i]) for i in range(self.n)]
        here = rows.add(RowGroup(name, "CustomConstraint"), names).rows
        first = rows.count("u_row")
        for row in range(here.start, here.stop):
            rows.append(u_row=row)
        rows.customs.append(UserRows(name, slice(first, first + self.n), here, self))


def call_checked(function: Function, arguments: tuple[Any, ...], what: str, shape: tuple[int, ...]) -> Array:
    """Call a user's function and check what it returns.

    Args:
        function: One of phi, J, gamma, b.
        arguments: What to call it with.
        what: Its name in messages, such as "phi of constraint 'cam'".
        shape: Shape that it must return; a bare number counts as (1,).
    """
    value = function(*arguments)
    try:
        array = np.asarray(value)
    except ValueError:  # ragged
        raise InputError(f"{what} must return an array of shape {shape}, got {value!r}.") from None
    if array.dtype.kind not in "iuf":
        raise InputError(f"{what} must return an array of shape {shape}, got {value!r}.")
    if array.shape != shape and not (array.shape == () and shape == (1,)):
        raise InputError(f"{what} must return an array of shape {shape}, got shape {array.shape}.")
    if not np.all(np.isfinite(array)):
        raise InputError(f"{what} must return finite numbers, got {array.tolist()}.")
    return np.array(array, dtype=np.float64).reshape(shape)

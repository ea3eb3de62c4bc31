"""Checks of the arguments of public calls: what `_kernel.Queries` asks about arguments that are not plain.

Plain are float64 arrays of one state, (n,), or of one batch axis, (B, n), finite, and names that exist: the
kernel takes them as they are. Everything else comes here, to be converted or refused.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ...arrays import Array, flatten_batch, names, numbers, one_of, state
from ...errors import InputError
from ...models.model import Model
from ...projection.decomposition import metric_factor

ZERO_NORM = 1e-9
UNIT_NORM = 1e-14
FRAMES = ("local", "world", "world_aligned")


class Arguments:
    """Checks of states, names and times for one model: of a Mechanism, or of a CustomSystem.

    Attributes:
        model: Whose states.
        owner: Whose arguments they are, for messages.
        bodies: Index of each body.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.owner = f"mechanism {model.name!r}"
        self.bodies: dict[str, int] = model.structure.tree.names

    def of_variant(self, model: Model) -> Arguments:
        """The checks of a model that differs in numbers only."""
        copy = object.__new__(Arguments)
        copy.__dict__.update(self.__dict__, model=model)
        return copy

    def positions(self, q: npt.ArrayLike, what: str = "q") -> Array:
        """q as an array (..., nq), finite, quaternions of unit length."""
        array = state(q, what, self.model.nq, self.owner)
        for first in self.model.quaternions:
            here = array[..., first : first + 4]
            norm = np.linalg.norm(here, axis=-1, keepdims=True)
            if np.any(norm < ZERO_NORM):
                raise InputError(
                    f"{what}[{first}:{first + 4}] of {self.owner} is a quaternion (x, y, z, w) and must not"
                    " have zero norm; the identity is (0, 0, 0, 1)."
                )
            if np.any(np.abs(norm - 1.0) > UNIT_NORM):
                array[..., first : first + 4] = here / norm
        return array

    def tangent(self, x: npt.ArrayLike, what: str) -> Array:
        """A vector of the size of v, (..., nv), finite."""
        return state(x, what, self.model.nv, self.owner)

    def one_pose(self, q: npt.ArrayLike, what: str = "q") -> Array:
        """q of one state (nq,)."""
        array = self.positions(q, what)
        if array.ndim != 1:
            raise InputError(
                f"{what} must be one state of shape ({self.model.nq},) here, got shape {array.shape}."
            )
        return array

    def one_tangent(self, x: npt.ArrayLike, what: str) -> Array:
        """One vector of the size of v (nv,)."""
        array = self.tangent(x, what)
        if array.ndim != 1:
            raise InputError(
                f"{what} must be one vector of shape ({self.model.nv},) here, got shape {array.shape}."
            )
        return array

    def indices(self, given: Sequence[str], what: str) -> list[int]:
        """Indices into v of coordinates, or of all coordinates of joints, by name."""
        wanted = [given] if isinstance(given, str) else names(given, what)
        return [k for name in wanted for k in self.model.structure.tree.coordinates(name, what)]

    def states(self, given: Sequence[tuple[Any, str, bool]]) -> tuple[list[Array], tuple[int, ...]]:
        """Arguments (value, name, whether it is a position) with one batch axis, and their batch shape."""
        parts = [
            (self.positions(value, name) if is_position else self.tangent(value, name), name)
            for value, name, is_position in given
        ]
        return flatten_batch(parts)

    def time(self, t: Any) -> float:
        """A time [s]."""
        try:
            number = float(t)
        except (TypeError, ValueError, OverflowError):
            raise InputError(f"`t` must be a time in seconds, got {t!r}.") from None
        if not math.isfinite(number):
            raise InputError(f"`t` must be a finite time in seconds, got {t!r}.")
        return number

    def body(self, name: Any) -> int:
        """Index of a body."""
        return self.model.body_index(name)

    def check_mass(self) -> None:
        """Refuse a mechanism in which no body that moves has mass: it has no centre of mass."""
        bent = np.any(self.model.fields["fl_node"] == 0)  # a flexible body on the ground
        if not (bent or np.sum(self.model.fields["mass"][1:]) > 0.0):
            raise InputError(
                f"{self.owner} has no centre of mass: no body that moves has mass. Give one of them mass=."
            )

    def frame(self, frame: Any, world: bool) -> str:
        """How a velocity is expressed; "world" only where that is allowed."""
        return one_of(frame, "`frame`", FRAMES if world else ("world_aligned", "local"))

    def point(self, point: Any) -> Array:
        """A point of a body (3,)."""
        p = state(point, "point", 3)
        if p.ndim != 1:
            raise InputError(f"point must have shape (3,), got {p.shape}.")
        return np.ascontiguousarray(p)

    def metric(self, metric: Any) -> Array:
        """A symmetric positive definite matrix (nv, nv) that measures velocities."""
        if isinstance(metric, str):
            raise InputError(f'`metric` must be None, "mass" or a matrix, got {metric!r}.')
        W = numbers(metric, "metric", 2)
        metric_factor(W, self.model.nv)
        return np.ascontiguousarray(W)

"""Inverse dynamics of closed chains: the least actuator forces that produce an acceleration.

Only the tangent part of a force moves the mechanism ([Aghili2005] remark 2). With N the null-space basis of
J and S the selection of actuated coordinates,

    N.T S.T u = N.T (M a + h)                                          [Aghili2005] eq. (21)      (1)
    u = argmin |S.T u| in the metric W^-1 of forces                    [Aghili2005] eq. (47), (60)

Passive joints get exactly zero. The mechanism is controllable if (1) has a solution for every right side,
that is if no tangent direction leaves all actuated coordinates at rest: eq. (56), (62). The kernel solves (1)
(kernels/solve/inverse_dynamics.hpp).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from ..errors import InputError
from ..models.model import Model
from ..projection.mobility import listed

OF_STATES = ("tau", "u", "lam", "constraint_force", "_sizes")  # arrays of Torques with batch axes
MOVES = 1e-6  # a coordinate is part of a motion if its entry in the unit vector exceeds this


@dataclass(frozen=True)
class Torques:
    """Forces that produce an acceleration, of one state or of a batch (batch axes in front of every shape).

    Attributes:
        tau: generalized actuator force (nv,) [N m, N]; exactly zero at passive coordinates.
        u: its actuated entries (nu,), in the order of the actuators.
        lam: multipliers of least norm (nc,).
        constraint_force: generalized constraint force (nv,).
    """

    tau: Array
    u: Array
    lam: Array
    constraint_force: Array
    _sizes: Array = field(repr=False)  # (3,): residual, acceleration residual, largest |M a + h|
    # what no actuator feels: (B, nv, nv), the first columns of each, and how many (B,); None for nothing
    _unfelt: tuple[Array, npt.NDArray[np.int_]] | None = field(repr=False)
    _columns: npt.NDArray[np.int_] = field(repr=False)  # indices of the actuated coordinates
    _model: Model = field(repr=False)

    def state(self, i: int) -> Torques:
        """Those of one state of a batch."""
        return self._with([getattr(self, name)[i] for name in OF_STATES])

    def stacked(self, states: Sequence[Torques]) -> Torques:
        """A batch of the same states with other forces."""
        return self._with([np.array([getattr(one, name) for one in states]) for name in OF_STATES])

    def _with(self, arrays: Sequence[Array]) -> Torques:
        changed: dict[str, Any] = dict(zip(OF_STATES, arrays, strict=True))
        return replace(self, **changed)

    @property
    def residual(self) -> float | Any:
        """Largest entry of M a + h - tau - constraint_force [N m, N]: what the actuators cannot provide."""
        return self._sizes[..., 0][()]

    @property
    def acceleration_residual(self) -> float | Any:
        """Largest entry of J a - gamma: nonzero if the constraints do not allow a."""
        return self._sizes[..., 1][()]

    @property
    def controllable(self) -> bool | Any:
        """Whether the actuators can produce every acceleration that the constraints allow."""
        batch = self.tau.shape[:-1]
        found = np.ones(batch, dtype=bool)
        if self._unfelt is not None:
            found = (self._unfelt[1] <= len(self._states)).reshape(batch)
        return found if batch else bool(found)

    @cached_property
    def uncontrollable(self) -> tuple[tuple[str, ...], ...]:
        """Motions that no actuator feels, one tuple of coordinate names each; of a batch those of all."""
        return tuple(dict.fromkeys(motion for one in self._motions for motion in one))

    @cached_property
    def exceeded(self) -> tuple[str, ...]:
        """Names of the actuators whose declared limits u exceeds, in some state of a batch.

        Nothing is clipped: forces within the limits would produce another acceleration.
        """
        return tuple(self._excess)

    @cached_property
    def message(self) -> str:
        """The same in words."""
        said = [_message(motions, *sizes) for motions, sizes in zip(self._motions, self._flat, strict=True)]
        if self.tau.ndim == 1:
            text = said[0]
        else:
            text = f"{len(said)} states, {int(np.sum(self.controllable))} of them controllable."
            if said:
                order = [
                    (bool(motions), miss, residual)
                    for motions, (residual, miss, _) in zip(self._motions, self._flat, strict=True)
                ]
                text += f" The worst: {said[max(range(len(said)), key=lambda i: order[i])]}"
        if not self._excess:
            return text
        beyond = "; ".join(self._excess.values())
        return f"{text} Beyond the limits of actuators (nothing is clipped): {beyond}."

    @property
    def _flat(self) -> list[tuple[float, float, float]]:
        return [(x, y, z) for x, y, z in self._sizes.reshape(-1, 3).tolist()]

    @cached_property
    def _motions(self) -> list[tuple[tuple[str, ...], ...]]:
        """Motions that no actuator feels, of every state."""
        if self._unfelt is None:
            return [()] * len(self._flat)
        names, (directions, counts) = self._model.coordinate_names, self._unfelt
        ways = zip(directions, counts.tolist(), strict=True)
        found = [unfelt_motions(some[:, :count], names) for some, count in ways]
        return [tuple(one for one in each if not set(one) <= self._states) for each in found]

    @cached_property
    def _states(self) -> frozenset[str]:
        """States of first order, which are no motions that an actuator should feel."""
        is_state = self._model.structure.tree.first_order
        names = zip(self._model.coordinate_names, is_state, strict=True)
        return frozenset(name for name, first in names if first)

    @cached_property
    def _excess(self) -> dict[str, str]:
        """Actuators whose limits u exceeds, and by how much in words."""
        limited = {actuator.index: actuator for actuator in self._model.actuators}
        said = {}
        for k, values in zip(self._columns.tolist(), np.moveaxis(self.u, -1, 0), strict=True):
            a = limited.get(k)
            worst = None if a is None else worst_excess(values, a.lower, a.upper)
            if a is not None and worst is not None:
                said[a.name] = f"{a.name} needs {worst:.4g}, limits {a.lower:g} to {a.upper:g}"
        return said


def overflow() -> InputError:
    """The error for M a + h that is not finite."""
    return InputError("inverse_dynamics: M a + h overflows at this q, v and a; give them in SI units.")


def worst_excess(values: Array, lower: float, upper: float, slack: float = 0.0) -> float | None:
    """The value furthest beyond its limits; None where none exceeds them by more than `slack`."""
    if values.size == 0:
        return None
    low, high = float(values.min()), float(values.max())
    if low < lower - slack or high > upper + slack:
        return high if high - upper > lower - low else low
    return None


def unfelt_motions(directions: Array, coordinates: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """Names of the coordinates that move in each tangent direction without an actuated coordinate."""
    names = np.array(coordinates)
    return tuple(tuple(names[np.abs(way) > MOVES].tolist()) for way in _sparse_basis(directions).T)


def _sparse_basis(X: Array) -> Array:
    """A sparser basis of the column space, by elimination with complete pivoting; columns of unit length."""
    X = X.copy()
    pivots: list[int] = []
    for k in range(X.shape[1]):
        size = np.abs(X[:, k:])
        size[pivots] = 0.0
        row, best = (int(i) for i in np.unravel_index(np.argmax(size), size.shape))
        X[:, [k, k + best]] = X[:, [k + best, k]]
        others = np.arange(X.shape[1]) != k
        X[:, others] -= np.outer(X[:, k] / X[row, k], X[row, others])
        pivots.append(row)
    return np.asarray(X / np.linalg.norm(X, axis=0))


def _message(unfelt: tuple[tuple[str, ...], ...], residual: float, miss: float, needed: float) -> str:
    said = []
    if unfelt:
        count = f"{len(unfelt)} motion" + ("" if len(unfelt) == 1 else "s")
        moves = "; ".join(listed(names) for names in unfelt[:4])
        said.append(f"Not controllable: no actuator feels {count} of {moves}.")
        if residual > 1e-9 * max(1.0, needed):
            said.append(
                f"The wanted acceleration needs {residual:.3g} (N m or N) there that nothing provides."
            )
        else:
            said.append("The wanted acceleration happens to need no force there.")
    else:
        said.append("Controllable: the actuators can produce every acceleration that the constraints allow.")
    if miss > 1e-8 * max(1.0, needed):
        said.append(f"The constraints do not allow the wanted acceleration: J a misses gamma by {miss:.3g}.")
    return " ".join(said)

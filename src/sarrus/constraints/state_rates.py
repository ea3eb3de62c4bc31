"""Rates of states of first order by Python functions: generalized forces on the coordinates that hold them.

The rate of such a coordinate is the state z, its inertia I a power of two near 1 / size^2, and Q = I z' =
I f(t, q, v). Derivatives come from dual numbers where the function knows them, else from differences of sixth
order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import Array
from ..dual_numbers import jacobian
from ..models.kinds.state_rate import NumberView
from .custom import call_checked

if TYPE_CHECKING:
    from .evaluate import Evaluator


@dataclass(frozen=True)
class RateOfState:
    """One StateRate of a mechanism; methods as of `ForceOfUser`."""

    system: Evaluator
    name: str
    given: Any

    @property
    def _tree(self) -> Any:
        return self.system.model.structure.tree

    @property
    def _index(self) -> int:
        return int(self._tree.coordinate(self.given.coordinate))

    @property
    def _inertia(self) -> float:
        return float(self.system.model.armature[self._index])

    def value(self, q: Array, v: Array, t: float) -> Array:
        """The rate, (1,)."""
        what = f"rate of state {self.given.coordinate!r}"
        view = NumberView(self._tree, q, v, what, self.given.at_rest)
        return call_checked(lambda: np.reshape(self.given.function(t, view), -1), (), what, (1,))

    def generalized(self, q: Array, v: Array, t: float) -> Array:
        """Q (nv,)."""
        out = np.zeros(self.system.nv)
        out[self._index] = self._inertia * self.value(q, v, t)[0]
        return out

    def wrenches(self, q: Array, v: Array, t: float) -> Iterator[tuple[str, Array]]:
        """None: a state acts on no body."""
        return iter(())

    def slopes(self, q: Array, v: Array, t: float) -> tuple[Array, Array]:
        """dQ/dq and dQ/dv, (nv, nv) each."""
        slope, _ = self._slope(q, v, t)
        by_q, by_v = np.zeros((2, self.system.nv, self.system.nv))
        k, slope = self._index, self._inertia * slope
        by_v[k] = slope[self.system.nq :]
        for j, i in enumerate(self._tree.coordinate_q):
            by_q[k, j] = slope[i] if i >= 0 else 0.0
        return by_q, by_v

    def knows_duals(self, q: Array, v: Array, t: float) -> bool:
        """Whether the derivatives of its function at a state come from dual numbers."""
        return self._slope(q, v, t)[1]

    def _slope(self, q: Array, v: Array, t: float) -> tuple[Array, bool]:
        nq, name = self.system.nq, self.given.coordinate

        def rate(z: Any) -> Any:
            view = NumberView(self._tree, z[:nq], z[nq:], f"rate of state {name!r}", self.given.at_rest)
            return np.reshape(np.asarray(self.given.function(t, view)), (1,))

        J, dual = jacobian(rate, np.concatenate([q, v]))
        return np.asarray(J)[0], dual

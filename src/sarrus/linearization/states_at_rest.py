"""States of first order in searches for equilibria: there they stand in q, where Newton's method looks."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from .._kernel import FORMULA_OPERATIONS
from ..arrays import Array, frozen
from ..mechanism.mechanism import Mechanism
from ..models.kinds.state_rate import StateRate
from ..models.model import Model
from .states import first_order


class StatesAtRest:
    """A mechanism whose states of first order are positions: z'' = rate(z) rests where z' = rate(z) does.

    Attributes:
        mech: That mechanism; without states the one that is given.
    """

    def __init__(self, mech: Any) -> None:
        self._names, self._given = first_order(mech), mech
        self.mech = mech
        if not self._names:
            return
        tree = mech.model.tree
        places = [tree.scalar(name) for name in self._names]
        self._q, self._v = ([place[i] for place in places] for i in range(2))
        self.mech = Mechanism(_at_rest(mech.model), mech.with_default(self.put_in(mech.default.q)).default)

    def put_in(self, q: Array) -> Array:
        """Positions (nq,) with the states where they begin."""
        out = np.array(q)
        if self._names:
            out[self._q] = self._given.default.v[self._v]
        return out

    def taken_out(self, q: Array) -> tuple[Array, Array]:
        """Positions (nq,), integrals of states zero, and velocities (nv,) of a pose that was found."""
        pose, v = np.array(q), np.zeros(self._given.nv)
        if self._names:
            v[self._v], pose[self._q] = q[self._q], 0.0
        return pose, v


def _at_rest(model: Model) -> Model:
    """The model whose formulas and functions read states from q."""
    code, tree = np.array(model.fm_code), model.structure.tree
    speeds = (code[:, 0] == FORMULA_OPERATIONS["SPEED"]) & np.isin(
        code[:, 2], np.flatnonzero(tree.first_order)
    )
    code[speeds, 0] = FORMULA_OPERATIONS["POSITION"]
    code[speeds, 2] = [tree.coordinate_q[k] for k in code[speeds, 2]]
    forces = tuple(
        (name, dataclasses.replace(force, at_rest=True) if isinstance(force, StateRate) else force)
        for name, force in model.forces
    )
    changed: dict[str, Any] = {"fm_code": frozen(code, np.int32), "forces": forces}
    return dataclasses.replace(model, **changed)

"""The default state that a description keeps from a file, joint by joint: bodies may be added after it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...arrays import state
from ...errors import InputError
from ...models.tree.tree import Tree, build_tree

if TYPE_CHECKING:
    from ..mechanism import Mechanism
    from ..spec import MechanismSpec


@dataclass(frozen=True)
class DefaultState:
    """A state of a description.

    Attributes:
        q, v: Positions [rad, m] and velocities [rad/s, m/s] by joint.
        constraints: Names of the constraints that it was given with.
    """

    q: Mapping[str, tuple[float, ...]]
    v: Mapping[str, tuple[float, ...]]
    constraints: tuple[str, ...]

    @classmethod
    def of(cls, spec: MechanismSpec, q: Any, v: Any) -> DefaultState:
        """The state q (nq,), v (nv,) of the mechanism that a description makes."""
        tree = build_tree(spec.bodies)
        pose = state(q, "q of the default state", tree.nq, f"{spec.name!r}")
        speed = state(v, "v of the default state", tree.nv, f"{spec.name!r}")
        if pose.ndim != 1 or speed.ndim != 1:
            raise InputError(f"q and v of the default state must be one state, got shape {pose.shape}.")
        moving = [(name, tree.places[k]) for name, k in tree.names.items() if tree.bodies[k].joint.nv]
        return cls(
            {name: tuple(pose[place.q].tolist()) for name, place in moving},
            {name: tuple(speed[place.v].tolist()) for name, place in moving},
            tuple(name for name, _ in spec.constraints),
        )

    def flat(self, tree: Tree) -> tuple[list[float], list[float]] | None:
        """q and v for the joints of a tree; None where they are not those of this state."""
        moving = {name for name, k in tree.names.items() if tree.bodies[k].joint.nv}
        if moving != self.q.keys():
            return None
        return (
            [x for name in tree.names if name in moving for x in self.q[name]],
            [x for name in tree.names if name in moving for x in self.v[name]],
        )

    def given_to(self, mech: Mechanism) -> Mechanism:
        """The mechanism with this state as its default.

        Where joints or constraints are others by now: with one that is assembled near it.
        """
        tree = mech.model.structure.tree
        found = self.flat(tree)
        if found is not None and self.constraints == tuple(name for name, _ in mech.model.constraints):
            return mech.with_default(*found)
        near = mech.neutral()
        for name, k in tree.names.items():
            place = tree.places[k].q
            if len(self.q.get(name, ())) == place.stop - place.start > 0:
                near[place] = self.q[name]
        return type(mech)(mech.model, near=np.asarray(near))

"""The tree of a twin as a Mechanism: its bodies, their lumped inertia, and what acts on them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..arrays import Array
from ..mechanism.mechanism import Mechanism
from ..mechanism.spec import MechanismSpec
from ..models.kinds.forces import JointSpring
from .chain import Chain
from .lumping import Lumping

NUDGE = 1e-4  # of a coordinate, for the stiffness of linkages [rad], lengths divided by L
SOFT = 1e-9  # stiffness without units, relative to the largest, that counts as none


@dataclass(frozen=True)
class MadeTree:
    """The tree.

    Attributes:
        mech: It as a mechanism.
        left_out: What it does not have, in words.
    """

    mech: Mechanism
    left_out: tuple[str, ...]


class TreeBuilder:
    """Builds the tree.

    Args:
        mech: The closed robot.
        chain: Its bodies.
        loops: Its coordinates as a function of those of the tree.
        motors: Limits of inputs in joint space by coordinate, (lower, upper).
    """

    def __init__(self, mech: Any, chain: Chain, loops: Any) -> None:
        self.mech, self.chain, self.loops = mech, chain, loops
        self.left_out: list[str] = []
        self.given_q = loops.split.given_q
        self.q_s = mech.default.q[self.given_q]

    def build(self, inputs: dict[str, tuple[float, float]]) -> MadeTree:
        """The tree; inputs: limits of the actuators by coordinate."""
        bare = self._spec(self.chain.bodies, {}, inputs).compile()
        here = self.loops.solve(self.q_s[None])
        N, poses = here.N[0], (np.array(self.mech.default.q), self.q_s)
        lumped = Lumping(self.mech, self.chain, bare, poses, N).lumped()
        losses = self._losses(N)
        bodies = tuple(_with_coordinates(body, lumped.armature, losses) for body in lumped.bodies)
        tree = self._spec(bodies, {}, inputs).compile().with_default(self.q_s)
        springs = self._springs(tree)
        if springs:
            tree = self._spec(bodies, springs, inputs).compile().with_default(self.q_s)
        return MadeTree(tree, tuple(self.left_out))

    def _spec(self, bodies: Any, springs: dict[str, JointSpring], inputs: Any) -> MechanismSpec:
        declared = self.mech.model.declared
        inside = {"ground", *self.chain.names}
        forces = tuple((n, f) for n, f in declared["forces"] if self._stays(f, inside))
        surfaces = [one for one in (self._moved(x, inside) for x in declared["surfaces"]) if one]
        named = {one.name for one in surfaces}
        contacts = [x for x in declared["contacts"] if {x.a, x.b} <= named]
        shown = [one for one in (self._moved(x, inside) for x in declared["visuals"]) if one]
        keep = {"gravity": declared["gravity"], "length": declared["length"], "floor": declared["floor"]}
        return MechanismSpec.from_declared(
            keep
            | {
                "name": f"{self.mech.name} twin",
                "bodies": bodies,
                "constraints": (),
                "forces": (*forces, *springs.items()),
                "actuated": list(inputs.items()),
                "surfaces": surfaces,
                "contacts": contacts,
                "visuals": shown,
            }
        )

    def _stays(self, force: Any, inside: set[str]) -> bool:
        """Whether a force acts on bodies and coordinates of the tree alone."""
        own = {name for body in self.chain.bodies for name in body.coordinate_names}
        return set(force.bodies()) <= inside and {*force.coordinates(), *force.reads()} <= own

    def _moved(self, shape: Any, inside: set[str]) -> Any:
        """A shape on the body of the tree that carries it; None where that is a linkage."""
        if shape.body in inside:
            return shape
        if shape.body in self.chain.welded:
            owner, at = self.chain.welded[shape.body]
            return replace(shape, body=owner, at=at @ shape.at)
        return None

    # ------------------------------------------------------------------ what linkages do besides inertia

    def _losses(self, N: Array) -> dict[str, tuple[float, float]]:
        """Damping and friction of the joints of linkages, seen from each coordinate of the tree."""
        damping, friction = np.zeros(self.mech.nv), np.zeros(self.mech.nv)
        for body in self.chain.linkage:
            v = self.mech.index(body.name).v if body.joint.nv else slice(0)
            damping[v], friction[v] = body.damping, body.friction
        seen_d, seen_f = damping @ N**2, friction @ np.abs(N)
        names = [self.mech.names[k] for k in self.loops.split.given]
        found = zip(seen_d.tolist(), seen_f.tolist(), strict=True)
        return {name: one for name, one in zip(names, found, strict=True) if any(one)}

    def _springs(self, tree: Mechanism) -> dict[str, JointSpring]:
        """Springs of linkages as springs of the joints: their force and stiffness at the reference pose."""
        inside = {"ground", *self.chain.names}
        dropped = [name for name, one in self.mech.model.forces if not self._stays(one, inside)]
        if not dropped:
            return {}
        declared = self.mech.model.declared
        kept = tuple((name, one) for name, one in declared["forces"] if name not in dropped)
        free = MechanismSpec.from_declared(declared | {"forces": kept, "recipe": None}).compile()
        single = [k for k, i in enumerate(tree.model.coordinate_q) if i >= 0]
        size, force = NUDGE * tree.units.unit, self._force(free, self.q_s)
        stiffness = np.zeros(tree.nv)
        for k in single:
            step = size[k] * np.eye(tree.nv)[k]
            ahead, behind = (self._force(free, tree.integrate(self.q_s, s * step)) for s in (1, -1))
            stiffness[k] = (ahead - behind)[k] / (2.0 * size[k])
        found = {}
        for k in single:
            if stiffness[k] > SOFT * np.abs(stiffness).max():
                rest = self.q_s[tree.model.coordinate_q[k]] - force[k] / stiffness[k]
                found[f"{tree.names[k]}.linkage"] = JointSpring(
                    tree.names[k], float(stiffness[k]), float(rest)
                )
        self.left_out.append(
            f"forces of linkages ({', '.join(dropped)}) are springs of the joints, each by itself, equal at"
            " the reference pose"
        )
        return found

    def _force(self, free: Mechanism, q_s: Array) -> Array:
        """What forces of linkages, which `free` has not, do against the joints at rest (nv_s,)."""
        found, rest = self.loops.solve(q_s[None]), np.zeros(self.mech.nv)
        own = self.mech.bias(found.q[0], rest) - free.bias(found.q[0], rest)
        return np.asarray(found.N[0].T @ own)


def _with_coordinates(body: Any, armature: dict[str, float], losses: dict[str, tuple[float, float]]) -> Any:
    """A body whose joint has more armature, damping and friction."""
    names = body.coordinate_names
    more = {
        "armature": [armature.get(name, 0.0) for name in names],
        "damping": [losses.get(name, (0.0, 0.0))[0] for name in names],
        "friction": [losses.get(name, (0.0, 0.0))[1] for name in names],
    }
    changed = {
        key: tuple(x + y for x, y in zip(getattr(body, key), extra, strict=True))
        for key, extra in more.items()
        if any(extra)
    }
    return body.again(**changed) if changed else body

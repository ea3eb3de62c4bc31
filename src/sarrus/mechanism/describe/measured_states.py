"""States of a mechanism as measures see them: points, speeds, forces, for many states at once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import Array
from ...constraints.user_forces import forces_of_user, user_wrenches
from ...dynamics.dry_friction import DryFriction
from ...dynamics.forward import Motion

if TYPE_CHECKING:
    from ..mechanism import Mechanism

FRICTION = ("_friction", "_friction_unique")
MOTION = ("a", "constraint_force", "lam", "lam_unique", "rank")  # fields of a Motion


def changes_in_time(mech: Mechanism, t: Array) -> bool:
    """Whether drives or rows of the user are not the same at all of the times t [s] (B,)."""
    timed = len(mech.model.drives) + len(mech.model.u_row) > 0
    return timed and len(np.unique(t)) != 1


class MeasuredStates:
    """States of a mechanism, B of them, as measures see them.

    Attributes:
        mech: whose.
        q, v: positions (B, nq) [rad, m] and velocities (B, nv) [rad/s, m/s].
        t: times [s] (B,).
        tau: applied generalized force (B, nv) [N m, N].
        let_go: whether they are poses that nobody says to be held or moved: at rest, without inputs.
    """

    let_go = False

    def __init__(self, mech: Mechanism, q: Array, v: Array, t: Array, tau: Array) -> None:
        self.mech, self.q, self.v, self.t, self.tau = mech, q, v, t, tau

    @cached_property
    def motion(self) -> Motion:
        """Accelerations and forces of the constraints."""
        if not changes_in_time(self.mech, self.t):
            return self.mech.forward_dynamics(self.q, self.v, self.tau, t=float(self.t[0]))
        states = zip(self.q, self.v, self.tau, self.t.tolist(), strict=True)
        each = [self.mech.forward_dynamics(q, v, tau, t=t) for q, v, tau, t in states]
        fields: dict[str, Any] = {name: np.array([getattr(one, name) for one in each]) for name in MOTION}
        fields |= {name: np.array([getattr(one, name[1:]) for one in each]) for name in FRICTION}
        of_user = user_wrenches(self.mech.evaluator, self.q, self.v, self.t)
        return Motion(**fields, _q=self.q, _v=self.v, _model=self.mech.model, _external=of_user)

    def frames(self, body: str) -> tuple[Array, Array]:
        """Rotation R_WB (B, 3, 3) and origin (B, 3) of a body."""
        p, R = self.mech._queries.pose(self.q, body)
        return R, p

    @classmethod
    def at_rest(cls, mech: Mechanism, q: Array) -> MeasuredStates:
        """Poses (B, nq) at rest, without inputs, at t = 0."""
        tau = np.zeros((len(q), mech.nv))
        found = cls(mech, q, tau + mech.rest, np.zeros(len(q)), tau)
        found.let_go = True
        return found

    def place(self, body: str, p_BP: ArrayLike) -> Array:
        """A point of a body, (B, 3) [m]."""
        R, p = self.frames(body)
        return np.asarray(p + R @ np.asarray(p_BP))

    def speed(self, body: str, p_BP: ArrayLike) -> Array:
        """Its velocity (B, 3) [m/s]."""
        return self.mech.velocity(self.q, self.v, body, p_BP)[..., :3]

    def coordinate(self, name: str) -> tuple[Array, Array]:
        """A coordinate and its rate, (B,) each."""
        i, k = self.mech.model.structure.tree.scalar(name)
        return self.q[:, i], self.v[:, k]

    def force_of_user(self, force: Any) -> Array:
        """What the function of a `UserForce` or `BodyForce` returns, (B, k) [N, N m]."""
        (one,) = (x for x in forces_of_user(self.mech.evaluator) if x.given is force)
        found = [one.value(*state) for state in zip(self.q, self.v, self.t.tolist(), strict=True)]
        return np.array(found).reshape(len(self.q), force.count)

    def formula_of(self, force: Any) -> Array:
        """What the formulas of a `FormulaForce` give, (B,) of one coordinate, else (B, k) [N, N m]."""
        each = [force.at(self.mech, q, v) for q, v in zip(self.q, self.v, strict=True)]
        found = np.array(each).reshape(len(self.q), -1)
        return found[:, 0] if len(force.coordinates()) == 1 else found

    def dry_friction(self, name: str, levels: tuple[float, float, float] | None = None) -> Array:
        """The part that one declaration has in the dry friction of a coordinate (B,), against positive speed.

        Where it sticks, constant friction takes the load first, each declaration in proportion to its bound.

        Args:
            name: The coordinate.
            levels: Friction, breakaway [N m, N] and Stribeck speed of the declaration; None: it is by load.
        """
        rows, k = DryFriction(self.mech.model), self.mech.names.index(name)
        row, v = int(np.searchsorted(rows.coordinates, k)), self.v.copy()
        v[:, rows.coordinates] *= ~rows.resting(v)
        total, constant = -self.motion.friction[:, k], rows.level(v)[:, row]
        share = np.minimum(1.0, np.abs(total) / np.where(constant > 0.0, constant, 1.0)) * np.sign(total)
        if levels is None:
            return np.asarray(total - share * constant) + 0.0
        friction, breakaway, speed = levels
        x = v[:, k] / speed
        return np.asarray(share * (friction + (breakaway - friction) * np.exp(-x * x)))


class VariantPoses(MeasuredStates):
    """Poses of several variants of a mechanism, one behind the other, at rest; for measures of places.

    Attributes:
        parts: variants and their poses (k, nq).
    """

    def __init__(self, parts: Sequence[tuple[Mechanism, Array]]) -> None:
        self.parts = parts

    def frames(self, body: str) -> tuple[Array, Array]:
        found = [mech._queries.pose(q, body) for mech, q in self.parts]
        p, R = (np.concatenate(part) for part in zip(*found, strict=True))
        return R, p

"""Forces of BodyForces: generalized forces, the wrench on the body, and their derivatives.

With X the pose of the point, V = G v its twist and w(t, X, V) what the function returns, all in the axes that
the force has,

    Q = G.T w,    dQ/dv = G.T w_V G,    dQ/dq = d/dq [G.T w(t, X, G v)]                                   (1)

w_V comes from dual numbers where the function knows them; dQ/dq is a difference of sixth order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import Array
from ..differences import slope_of_terms, slope_terms
from ..dual_numbers import jacobian
from ..models.base.pose import Pose, known_pose
from .custom import call_checked

if TYPE_CHECKING:
    from .evaluate import Evaluator

STEP = 3e-3  # of a coordinate [rad], or times L [m]
TERMS = slope_terms(6)


def slopes_by_pose(system: Evaluator, moved: Callable[[Array, float], Array]) -> Array:
    """dQ/dq (nv, nv) by differences; moved(dv, s) is Q (nv,) at the pose moved by s dv (nv,)."""
    columns = [
        slope_of_terms(partial(moved, unit * e), STEP, TERMS) / unit
        for unit, e in zip(system.unit, np.eye(system.nv), strict=True)
    ]
    return np.array(columns).T


@dataclass(frozen=True)
class SeenBody:
    """What the function of a body force sees at a state.

    Attributes:
        pose: of the point, with the axes of the body, in the world.
        twist: of the point [velocity; angular velocity], in the axes of the force (6,).
        G: twist = G v (6, nv).
        R: axes of the force in the world (3, 3).
    """

    pose: Pose
    twist: Array
    G: Array
    R: Array


@dataclass(frozen=True)
class ForceOnBody:
    """One BodyForce of a mechanism; methods as of `ForceOfUser`."""

    system: Evaluator
    name: str
    given: Any

    def seen(self, q: Array, v: Array) -> SeenBody:
        """What the function sees at a state (nq,), (nv,)."""
        body = self.system.model.body_index(self.given.body)
        at, _, _, J, R = self.system.kernel.point(q, v, body, np.array(self.given.point, dtype=float))
        axes = R if self.given.axes == "body" else np.eye(3)
        G = np.concatenate([axes.T @ J[:3], axes.T @ J[3:]])
        return SeenBody(known_pose(at, R), G @ v, G, axes)

    def value(self, q: Array, v: Array, t: float) -> Array:
        """The wrench (6,) in the axes of the force."""
        return self._call(t, self.seen(q, v))

    def _call(self, t: float, seen: SeenBody) -> Array:
        arguments = (t, seen.pose, seen.twist.copy())
        return call_checked(self.given.function, arguments, f"force {self.name!r}", (6,))

    def generalized(self, q: Array, v: Array, t: float) -> Array:
        """Q of (1), (nv,)."""
        seen = self.seen(q, v)
        return np.asarray(seen.G.T @ self._call(t, seen))

    def wrenches(self, q: Array, v: Array, t: float) -> Iterator[tuple[str, Array]]:
        """The wrench on the body (6,) [N, N m] in world axes at its origin."""
        seen = self.seen(q, v)
        wrench = self._call(t, seen)
        force, moment = seen.R @ wrench[:3], seen.R @ wrench[3:]
        body = self.system.model.body_index(self.given.body)
        origin = self.system.kernel.point(q, v, body, np.zeros(3))[0]
        yield self.given.body, np.concatenate([force, moment + np.cross(seen.pose.xyz - origin, force)])

    def slopes(self, q: Array, v: Array, t: float) -> tuple[Array, Array]:
        """dQ/dq and dQ/dv of (1), (nv, nv) each."""
        seen = self.seen(q, v)
        by_v = seen.G.T @ jacobian(partial(self._raw, t, seen.pose), seen.twist)[0] @ seen.G

        def moved(dv: Array, s: float) -> Array:
            return self.generalized(self.system.integrate(q, s * dv), v, t)

        return slopes_by_pose(self.system, moved), np.asarray(by_v)

    def knows_duals(self, q: Array, v: Array, t: float) -> bool:
        """Whether derivatives of its function by the twist come from dual numbers."""
        seen = self.seen(q, v)
        return jacobian(partial(self._raw, t, seen.pose), seen.twist)[1]

    def _raw(self, t: float, pose: Pose, twist: Any) -> Any:
        """What the function returns for numbers or dual numbers, (6,)."""
        return np.asarray(self.given.function(t, pose, twist))

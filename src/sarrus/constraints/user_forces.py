"""Forces of UserForces: generalized forces, the wrenches on bodies, and their derivatives.

With x the places that a function sees, x' = G v their rates and f what it returns,

    Q = G.T f(t, x, x'),    dQ/dv = G.T f_x' G,    dQ/dq = d/dq [G.T (f + f_x dx + f_x' dx')]              (1)

On coordinates G selects them. Between points x is p_b - p_a in the axes of a, and G changes with the pose:
its derivatives in (1) are differences of sixth order, those of the function come from dual numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import Array
from ..dual_numbers import jacobian
from .body_forces import ForceOnBody, slopes_by_pose
from .custom import call_checked
from .state_rates import RateOfState

if TYPE_CHECKING:
    from .evaluate import Evaluator


@dataclass(frozen=True)
class Seen:
    """What the function of a force sees at a state.

    Attributes:
        x: places (k,).
        rate: their rates (k,).
        G: rate = G v (k, nv).
        R: axes of the places in the world (3, 3); None on coordinates.
        at: where the force acts in the world (3,), likewise.
        origin: of body a in the world (3,), likewise.
    """

    x: Array
    rate: Array
    G: Array
    R: Array | None = None
    at: Array | None = None
    origin: Array | None = None


@dataclass(frozen=True)
class ForceOfUser:
    """One UserForce of a mechanism."""

    system: Evaluator
    name: str
    given: Any

    def seen(self, q: Array, v: Array) -> Seen:
        """What the function sees at a state (nq,), (nv,)."""
        tree, m = self.system.model.structure.tree, self.system.model
        if not self.given.bodies():
            places = [tree.scalar(name) for name in self.given.coordinates()]
            iq, iv = ([place[i] for place in places] for i in range(2))
            return Seen(q[iq], v[iv], np.eye(self.system.nv)[iv])
        a, b = (m.body_index(body) for body in self.given.bodies())
        kernel, zero = self.system.kernel, np.zeros(3)
        at, _, _, J_b, _ = kernel.point(q, v, b, np.array(self.given.p_b, dtype=float))
        origin, _, _, _, R = kernel.point(q, v, a, zero)
        inside = R.T @ (at - origin)  # the point of a where B is
        J_a = kernel.point(q, v, a, inside)[3]
        G = R.T @ (J_b[:3] - J_a[:3])
        return Seen(inside - np.asarray(self.given.p_a), G @ v, G, R, at, origin)

    def call(self, t: float, x: Array, rate: Array) -> Array:
        """Forces (k,), checked."""
        arguments = (t, x.copy(), rate.copy())
        return call_checked(self.given.function, arguments, f"force {self.name!r}", (self.given.count,))

    def value(self, q: Array, v: Array, t: float) -> Array:
        """What the function returns at a state, (k,)."""
        seen = self.seen(q, v)
        return self.call(t, seen.x, seen.rate)

    def generalized(self, q: Array, v: Array, t: float) -> Array:
        """Q of (1), (nv,)."""
        seen = self.seen(q, v)
        return np.asarray(seen.G.T @ self.call(t, seen.x, seen.rate))

    def wrenches(self, q: Array, v: Array, t: float) -> Iterator[tuple[str, Array]]:
        """Wrenches on bodies (6,) [N, N m] in world axes at their origins; none of a force on coordinates."""
        seen = self.seen(q, v)
        if seen.R is None or seen.at is None:
            return
        force = seen.R @ self.call(t, seen.x, seen.rate)
        for body, sign in zip(self.given.bodies(), (-1.0, 1.0), strict=True):
            m = self.system.model
            origin = self.system.kernel.point(q, v, m.body_index(body), np.zeros(3))[0]
            yield body, sign * np.concatenate([force, np.cross(seen.at - origin, force)])

    def slopes(self, q: Array, v: Array, t: float) -> tuple[Array, Array]:
        """dQ/dq and dQ/dv of (1), (nv, nv) each."""
        seen = self.seen(q, v)
        k, f = self.given.count, self.call(t, seen.x, seen.rate)
        both = np.concatenate([seen.x, seen.rate])
        J, _ = jacobian(lambda z: self._raw(t, z[:k], z[k:]), both)
        by_v = seen.G.T @ J[:, k:] @ seen.G
        if seen.R is None:
            return np.asarray(seen.G.T @ J[:, :k] @ seen.G), np.asarray(by_v)

        def moved(dv: Array, s: float) -> Array:
            other = self.seen(self.system.integrate(q, s * dv), v)
            change = J @ (np.concatenate([other.x, other.rate]) - both)
            return np.asarray(other.G.T @ (f + change))

        return slopes_by_pose(self.system, moved), np.asarray(by_v)

    def knows_duals(self, q: Array, v: Array, t: float) -> bool:
        """Whether the derivatives of its function at a state come from dual numbers."""
        seen, k = self.seen(q, v), self.given.count
        return jacobian(lambda z: self._raw(t, z[:k], z[k:]), np.concatenate([seen.x, seen.rate]))[1]

    def _raw(self, t: float, x: Any, rate: Any) -> Any:
        """What the function returns for numbers or dual numbers, (k,)."""
        return np.broadcast_to(np.asarray(self.given.function(t, x, rate)), (self.given.count,))


def forces_of_user(system: Evaluator) -> tuple[ForceOfUser | ForceOnBody | RateOfState, ...]:
    """The UserForces, BodyForces and rates of states of a mechanism that Python functions compute."""
    return tuple(_of_user(system, name, force) for name, force in system.model.user_forces)


def _of_user(system: Evaluator, name: str, force: Any) -> ForceOfUser | ForceOnBody | RateOfState:
    if force.of_state:
        return RateOfState(system, name, force)
    return ForceOnBody(system, name, force) if force.of_body else ForceOfUser(system, name, force)


def user_force(system: Evaluator, q: Array, v: Array, t: float) -> Array:
    """Q of all of them at one state, (nv,) [N m, N]."""
    return np.asarray(sum((one.generalized(q, v, t) for one in forces_of_user(system)), np.zeros(system.nv)))


def user_force_slopes(system: Evaluator, q: Array, v: Array, t: float) -> tuple[Array, Array]:
    """dQ/dq and dQ/dv of all of them at one state, (nv, nv) each."""
    each = [one.slopes(q, v, t) for one in forces_of_user(system)]
    by_q, by_v = (np.sum([pair[i] for pair in each], axis=0) for i in range(2))
    return by_q, by_v


def user_wrenches(system: Evaluator, q: Array, v: Array, t: Array) -> tuple[tuple[int, Array, Array], ...]:
    """Wrenches on bodies at states (*batch, nq), (*batch, nv) and times t [s] (*batch).

    Returns:
        (body, wrench (*batch, 6) in world axes at its origin, zeros (3,)) of every body that one acts on.
    """
    batch = q.shape[:-1]
    found: dict[int, Array] = {}
    for one in forces_of_user(system) if any(force.bodies() for _, force in system.model.user_forces) else ():
        for i in np.ndindex(batch):
            for body, wrench in one.wrenches(q[i], v[i], float(t[i])):
                k = system.model.body_index(body)
                found.setdefault(k, np.zeros((*batch, 6)))[i] += wrench
    return tuple((k, wrench, np.zeros(3)) for k, wrench in found.items())

"""Poses that bring points of bodies to targets: one, several at once, many of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...arrays import Array, state, triple
from ...errors import InputError
from ...models.base.pose import Pose
from ...models.base.rotation import log
from ...projection.closing import close
from .idle_freedoms import null_space

if TYPE_CHECKING:
    from ..mechanism import Mechanism

REACHED = 1e-10  # times L [m]: a target is reached
MOST_STEPS, MOST_DAMPING, LEAST_GAIN = 300, 1e8, 1e-9
PULLS = 15  # steps for each move of a hand
LONGEST = 0.3  # of any coordinate in one step [rad], or times L [m]
AT_LIMIT, NEAR_LIMIT = 1e-9, 1e-7  # of a limit [rad], or times L [m]
PERTURBATIONS = (0.05, 0.05, 0.3, 0.3, 1.0, 1.0)  # of further starts [rad], or times L [m]


@dataclass(frozen=True)
class Reached:
    """Result of `reach`; of many targets or guesses all but `message` have batch axes.

    Attributes:
        q: pose (nq,); where the target is not reached, the nearest to it that was found.
        residual: distance that is left [m], angles times L; of several targets the root of their squares.
        success: whether the targets are reached, with every coordinate within its limits.
        message: what happened, in words.
        at_limits: coordinates that stand at a limit; of many, those of each in an array of tuples.
    """

    q: Array
    residual: Any
    success: Any
    message: str
    at_limits: Any = ()


@dataclass(frozen=True)
class Target:
    """Where a point of a body is to be.

    Attributes:
        body: Its name.
        p_BP: The point in its frame [m].
        goal: Where in the world.
        turns: Whether the axes of the body are to be those of the goal.
    """

    body: str
    p_BP: tuple[float, float, float]
    goal: Pose
    turns: bool

    def error(self, mech: Mechanism, q: Array) -> Array:
        """What is missing at a pose [m], (3,) or (6,): angles times L, in world axes."""
        here = mech.pose(q, self.body)
        error = self.goal.xyz - here.apply(self.p_BP)
        if not self.turns:
            return np.asarray(error)
        turn = here.rotation @ log(here.rotation.T @ self.goal.rotation)
        return np.concatenate([error, mech.length * turn])

    def rows(self, mech: Mechanism, q: Array) -> Array:
        """The Jacobian that goes with it, (3, nv) or (6, nv)."""
        J = mech.jacobian(q, self.body, self.p_BP)
        J[3:] *= mech.length
        return J if self.turns else J[:3]


Goals = tuple[tuple[int, ...], list[tuple[Pose, bool]]]  # batch axes; poses, and whether their axes count


def goals_of(target: Any) -> Goals:
    """Goals of one body: points (..., 3), a Pose, or an array or a list of poses."""
    if isinstance(target, Pose):
        return (), [(target, True)]
    given = np.asarray(target) if isinstance(target, np.ndarray) else _listed(target)
    if given.dtype != object:
        points = state(target, "target of reach", 3)
        return points.shape[:-1], [(Pose(point), False) for point in points.reshape(-1, 3)]
    _check_poses(given)
    return given.shape, [(pose, True) for pose in given.flat]


def _check_poses(given: npt.NDArray[Any]) -> None:
    for one in given.flat:
        if not isinstance(one, Pose):
            raise InputError(f"target of reach must be points (..., 3) or poses, got a {type(one).__name__}.")


def _listed(target: Any) -> npt.NDArray[Any]:
    """A list of poses as an array of objects; anything else as it is, to be checked as numbers."""
    if isinstance(target, Sequence) and any(isinstance(one, Pose) for one in target):
        found = np.empty(len(target), dtype=object)
        found[:] = list(target)
        return found
    return np.zeros(0)


def targets_of(mech: Any, bodies: Sequence[str], points: Any, targets: Any) -> tuple[Any, list[list[Target]]]:
    """Batch axes, and for each entry of the batch the target of every body.

    Args:
        mech: Whose bodies.
        bodies: Their names.
        points: In the frame of each body [m], (3,), or the name of a point of the drawing.
        targets: As for `goals_of`, one for each body.
    """
    _check_one_for_each(bodies, points, "point")
    _check_one_for_each(bodies, targets, "target")
    if not bodies:
        raise InputError("reach needs at least one body, got none.")
    goals = [goals_of(one) for one in targets]
    batch = _common_batch([shape for shape, _ in goals])
    each: list[list[Target]] = [[] for _ in range(int(np.prod(batch)))]
    for body, point, (shape, found) in zip(bodies, points, goals, strict=True):
        p_BP = triple(mech._point(body, point), "point of reach")
        order = np.broadcast_to(np.arange(len(found)).reshape(shape), batch)
        for own, k in zip(each, order.ravel().tolist(), strict=True):
            own.append(Target(body, p_BP, *found[k]))
    return batch, each


def _check_one_for_each(bodies: Sequence[str], given: Any, what: str) -> None:
    """Refuse points or targets that are not one for each body."""
    single = isinstance(given, Pose | str) or not hasattr(given, "__len__")
    if single or len(given) != len(bodies):
        raise InputError(
            f"{what} of reach must be one for each of the {len(bodies)} bodies, got {given!r:.80}."
        )


def _common_batch(shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """Batch axes that those of all targets broadcast to."""
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        listed = ", ".join(map(str, shapes))
        raise InputError(f"the targets of reach have batch axes that do not fit: {listed}.") from None


def joined(each: Sequence[Reached], batch: tuple[int, ...], nq: int) -> Reached:
    """The results of many searches as one."""
    q = np.array([one.q for one in each]).reshape(*batch, nq)
    residual = np.array([one.residual for one in each], dtype=np.float64).reshape(batch)
    success = np.array([one.success for one in each], dtype=np.bool_).reshape(batch)
    at_limits = np.empty(len(each), dtype=object)
    at_limits[:] = [one.at_limits for one in each]
    return Reached(q, residual, success, _summary(each, batch), at_limits.reshape(batch))


def _summary(each: Sequence[Reached], batch: tuple[int, ...]) -> str:
    """How many of the searches reached their targets, and the first that did not, in words."""
    missed = [k for k, one in enumerate(each) if not one.success]
    message = f"{len(each) - len(missed)} of {len(each)} reached."
    if not missed:
        return message
    place = tuple(int(x) for x in np.unravel_index(missed[0], batch))
    shown = place[0] if len(place) == 1 else place
    return f"{message} The first that is not, {shown}: {each[missed[0]].message}"


@dataclass
class Approach:
    """Ways to a target: damped Gauss-Newton steps along the constraints, within limits."""

    mech: Mechanism
    targets: Sequence[Target]
    held: npt.NDArray[np.intp]  # indices of coordinates that must not move
    limits: Array  # (nv, 2), infinite where there are none
    t: float

    def within(self, q: Array, fixed: dict[str, Any]) -> Reached:
        """From q, or from the nearest pose within limits that is found by holding what is beyond at them."""
        names, held = np.array(self.mech.names), dict(fixed)
        for _ in range(self.mech.nv + 1):
            beyond = self._beyond(q)
            if not len(beyond):
                return self.run(q)
            x = np.clip(self._positions(q), *self.limits.T)
            held |= {str(names[k]): float(x[k]) for k in beyond}
            found = self.mech.assemble(q, held, self.t)
            if not found.success:
                break
            q = np.array(found.q)
        text = ", ".join(names[self._beyond(q)].tolist())
        message = f"No pose within limits to start from: {text} beyond. Give another q_guess."
        return Reached(q, float(np.linalg.norm(self._error(q))), False, message)

    def run(self, q: Array) -> Reached:
        """From q, and where that does not reach the target, from poses around it: q may be stationary."""
        best, error = self.descend(q)
        pattern = np.random.default_rng(1853)
        for size in PERTURBATIONS:
            if np.linalg.norm(error) <= REACHED * self.mech.length:
                break
            start = self._nearby(q, size, pattern)
            found = None if start is None else self.descend(start)
            if found is not None and np.linalg.norm(found[1]) < np.linalg.norm(error):
                best, error = found
        return self._result(best, float(np.linalg.norm(error)))

    def _nearby(self, q: Array, size: float, pattern: np.random.Generator) -> Array | None:
        """A closed pose within limits at some distance from q; None where there is none."""
        mech = self.mech
        free = np.setdiff1d(np.arange(mech.nv), self.held)
        dv = np.zeros(mech.nv)
        dv[free] = (size * mech.model.unit * pattern.uniform(-1.0, 1.0, mech.nv))[free]
        rows = np.flatnonzero(mech.evaluator.holonomic)
        end = close(mech.evaluator, mech.integrate(q, self._share(q, dv) * dv), self.t, rows, free)
        return end.q if end.closed and not len(self._beyond(end.q)) else None

    def descend(self, q: Array, most: int = MOST_STEPS) -> tuple[Array, Array]:
        """The pose at which no step comes nearer, or after so many steps, and what is missing there."""
        damping, error = 1e-3, self._error(q)
        for _ in range(most):
            size = float(np.linalg.norm(error))
            if size <= REACHED * self.mech.length or damping > MOST_DAMPING:
                break
            moved = self._step(q, error, damping)
            closer = error if moved is None else self._error(moved)
            if moved is not None and np.linalg.norm(closer) < size * (1.0 - LEAST_GAIN):
                q, error, damping = moved, closer, max(damping / 5.0, 1e-12)
            else:
                damping *= 4.0
        return q, error

    def _error(self, q: Array) -> Array:
        """What is missing to the target [m], angles times L, in world axes."""
        return np.concatenate([one.error(self.mech, q) for one in self.targets])

    def _step(self, q: Array, error: Array, damping: float) -> Array | None:
        """The pose after one step, closed; None where it cannot be closed."""
        mech, unit = self.mech, self.mech.model.unit
        J = mech.evaluator.constraints(q, np.zeros(mech.nv), self.t)[1] / mech.model.row_unit[:, None] * unit
        task = np.concatenate([one.rows(mech, q) for one in self.targets]) * unit
        stopped = self.held
        for _ in range(mech.nv):  # coordinates that a step would move beyond their limits stay
            N = null_space(np.vstack([J, np.eye(mech.nv)[stopped]]))
            A = task @ N
            dv = unit * (
                N @ np.linalg.solve(A.T @ A + damping * np.eye(N.shape[1]) * mech.length**2, A.T @ error)
            )
            beyond = np.setdiff1d(self._beyond(mech.integrate(q, dv)), stopped)
            beyond = beyond[self._at_limit(q)[beyond]]
            if not len(beyond):
                break
            stopped = np.union1d(stopped, beyond).astype(int)
        dv *= min(1.0, LONGEST / max(float(np.max(np.abs(dv / unit))), 1e-300))
        dv *= self._share(q, dv)
        rows = np.flatnonzero(mech.evaluator.holonomic)
        free = np.setdiff1d(np.arange(mech.nv), stopped)
        end = close(mech.evaluator, mech.integrate(q, dv), self.t, rows, free)
        if not end.closed or len(self._beyond(end.q)):
            return None
        return end.q

    def _positions(self, q: Array) -> Array:
        """The coordinates that can have limits, NaN for others, (nv,)."""
        i = np.array(self.mech.model.coordinate_q)
        return np.where(i >= 0, q[i], np.nan)

    def _beyond(self, q: Array) -> npt.NDArray[np.intp]:
        x, slack = self._positions(q), AT_LIMIT * self.mech.model.unit
        return np.flatnonzero((x < self.limits[:, 0] - slack) | (x > self.limits[:, 1] + slack))

    def _at_limit(self, q: Array) -> npt.NDArray[np.bool_]:
        gap = np.abs(self._positions(q)[:, None] - self.limits).min(axis=1)
        return np.asarray(gap <= NEAR_LIMIT * self.mech.model.unit)

    def _share(self, q: Array, dv: Array) -> float:
        """How much of a step fits between the limits."""
        x = self._positions(q)
        room = np.where(dv > 0.0, self.limits[:, 1] - x, x - self.limits[:, 0])
        moving = np.isfinite(room) & (np.abs(dv) > 1e-12 * self.mech.model.unit)
        shares = np.maximum(room[moving], 0.0) / np.abs(dv[moving])
        return float(min(1.0, np.min(shares[shares > 0.0], initial=1.0)))

    def _result(self, q: Array, left: float) -> Reached:
        stopped = tuple(np.array(self.mech.names)[self._at_limit(q)].tolist())
        at_limits = f" At their limits: {', '.join(stopped)}." if stopped else ""
        if left <= REACHED * self.mech.length:
            return Reached(q, left, True, f"Reached to {left:.1e} m.{at_limits}", stopped)
        message = (
            f"Not reached: the nearest pose found from this start is {left:.3g} m away.{at_limits} Another"
            " start (q_guess), such as one of mech.assemblies(), may come nearer."
        )
        return Reached(q, left, False, message, stopped)


def pulled(mech: Mechanism, q: Array, body: str, point: Array, target: Array) -> Array:
    """The pose after a point (3,) of a body is pulled from q towards a target in the world [m], (3,).

    Continuous in the target, unlike `reach`, which tries other starts: what a hand on the body does. Loops
    stay closed and coordinates within their limits.
    """
    more: dict[str, Any] = {"held": np.zeros(0, dtype=int), "limits": mech.model.limits, "t": 0.0}
    p_BP = triple(point, "point that is pulled")
    return Approach(mech, [Target(body, p_BP, Pose(target), False)], **more).descend(q, PULLS)[0]

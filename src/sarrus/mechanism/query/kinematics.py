"""Kinematics that people ask for: all assembly modes, and poses that reach a target."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...arrays import Array, triple
from ...errors import InputError
from ...models.base.pose import Pose
from ...models.base.rotation import log
from ...projection.assembly_modes import SAME, assembly_modes
from ...projection.closing import close
from ...projection.system_kinematics import undetermined
from .idle_freedoms import (
    first_of_each,
    is_idle,
    motions_left,
    noticed,
    null_space,
    places_of,
    places_seen,
    positions_of,
)

if TYPE_CHECKING:
    from ..mechanism import Mechanism

STARTS = 200
REACHED = 1e-10  # times L [m]: a target is reached
MOST_STEPS, MOST_DAMPING, LEAST_GAIN = 300, 1e8, 1e-9
PULLS = 15  # steps for each move of a hand
LONGEST = 0.3  # of any coordinate in one step [rad], or times L [m]
AT_LIMIT, NEAR_LIMIT = 1e-9, 1e-7  # of a limit [rad], or times L [m]
PERTURBATIONS = (0.05, 0.05, 0.3, 0.3, 1.0, 1.0)  # of further starts [rad], or times L [m]


@dataclass(frozen=True)
class Assemblies:
    """Result of `assemblies`.

    Attributes:
        q: poses (k, nq), the nearest to the guess first; angles between -pi and pi.
        message: how many were found, from how many starts.
    """

    q: Array
    message: str
    _mech: Any = field(repr=False)

    def __len__(self) -> int:
        return len(self.q)

    def plot(self, **options: Any) -> Any:
        """Draw them side by side; returns the Axes. Options as for `Mechanism.plot`."""
        from ...viz.figures.mechanism import draw_poses

        return draw_poses(self._mech, self.q, [f"mode {k + 1}" for k in range(len(self.q))], **options)


@dataclass(frozen=True)
class Reached:
    """Result of `reach`.

    Attributes:
        q: pose (nq,); where the target is not reached, the nearest to it that was found.
        residual: distance that is left [m], angles times L.
        success: whether the target is reached, with every coordinate within its limits.
        message: what happened, in words.
        at_limits: coordinates that stand at a limit.
    """

    q: Array
    residual: float
    success: bool
    message: str
    at_limits: tuple[str, ...] = ()


def all_assemblies(
    mech: Mechanism, q: Array, held: list[int], t: float, starts: int, by: str = "bodies"
) -> Assemblies:
    """The poses that close a mechanism with held coordinates, those near q first; `by` as for `assemblies`."""
    model, system = mech.model, mech.evaluator
    single = np.array(model.coordinate_q) >= 0
    angles = single & np.array(model.structure.tree.coordinate_is_angle)
    poses = assembly_modes(system, q, t, np.array(held, dtype=int), angles, starts)
    poses, note = _modulo_idle(mech, poses, held, t)
    if by == "bodies" and not note and len(poses) > 1:
        kept = first_of_each(positions_of(mech, poses, places_seen(mech)), mech.length, SAME)
        if len(kept) < len(poses):
            note = f" Their coordinates differ in {len(poses)} ways, in which joints are turned over."
        poses = poses[kept]
    turning = np.array(model.coordinate_q, dtype=int)[angles]
    poses[:, turning] = np.remainder(poses[:, turning] + np.pi, 2.0 * np.pi) - np.pi
    return Assemblies(poses, f"{len(poses)} assembly modes from {starts + 1} starts.{note}", mech)


def _modulo_idle(mech: Mechanism, poses: Array, held: list[int], t: float) -> tuple[Array, str]:
    """Poses that differ by more than motions that nothing notices, and words about these."""
    if not len(poses):
        return poses, ""
    system, rows = mech.evaluator, np.flatnonzero(mech.evaluator.holonomic)
    loose = undetermined(system, system.constraints(poses[0], np.zeros(mech.nv), t)[1][rows], rows, held)
    if not loose:
        return poses, ""
    places, motions = places_of(mech), motions_left(mech, poses[0], held, t)
    if not is_idle(mech, poses[0], motions, places):
        names = noticed(mech, poses[0], motions, places)
        raise InputError(
            f"assemblies needs every freedom held, but nothing determines {', '.join(names)}; give"
            " fixed={coordinate: value} for as many. (What spins about its own axis unnoticed, such as a"
            " rod between two ball joints, need not be held.)"
        )
    kept = first_of_each(positions_of(mech, poses, places), mech.length, SAME)
    return poses[kept], f" Free to spin, whatever its position: {', '.join(loose)}."


@dataclass
class Approach:
    """Ways to a target: damped Gauss-Newton steps along the constraints, within limits."""

    mech: Mechanism
    body: str
    p_BP: tuple[float, float, float]
    goal: Pose
    turns: bool  # whether the axes of the body are to be those of the goal
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
        here = self.mech.pose(q, self.body)
        error = self.goal.xyz - here.apply(self.p_BP)
        if not self.turns:
            return np.asarray(error)
        turn = here.rotation @ log(here.rotation.T @ self.goal.rotation)
        return np.concatenate([error, self.mech.length * turn])

    def _step(self, q: Array, error: Array, damping: float) -> Array | None:
        """The pose after one step, closed; None where it cannot be closed."""
        mech, unit = self.mech, self.mech.model.unit
        J = mech.evaluator.constraints(q, np.zeros(mech.nv), self.t)[1] / mech.model.row_unit[:, None] * unit
        task = mech.jacobian(q, self.body, self.p_BP)[: len(error)] * unit
        task[3:] *= mech.length
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
    return Approach(mech, body, p_BP, Pose(target), False, **more).descend(q, PULLS)[0]

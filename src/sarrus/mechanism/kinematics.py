"""Kinematics that people ask for: all assembly modes, and poses that reach a target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import Array, count, mapping, triple, truth
from ..blas_threads import one_blas_thread
from ..errors import InputError
from ..models.bodies import UNLIMITED
from ..models.pose import Pose
from ..models.rotation import log
from ..projection.assembly_modes import SAME, assembly_modes
from ..projection.closing import close
from ..projection.system_kinematics import undetermined
from .idle_freedoms import first_of_each, is_idle, noticed, places_of, positions_of
from .time_steps import TimeSteps

STARTS = 200
REACHED = 1e-10  # times L [m]: a target is reached
MOST_STEPS, MOST_DAMPING, LEAST_GAIN = 300, 1e8, 1e-9
PULLS = 15  # steps for each move of a hand
LONGEST = 0.3  # of any coordinate in one step [rad], or times L [m]
AT_LIMIT, NEAR_LIMIT = 1e-9, 1e-7  # of a limit [rad], or times L [m]
PERTURBATIONS = (0.05, 0.05, 0.3, 0.3, 1.0, 1.0)  # of further starts [rad], or times L [m]
RANK = 1e-9  # smaller singular values of the dimensionless J count as zero


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
        from ..viz.figures.mechanism import draw_poses

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


class KinematicQueries(TimeSteps):
    """Assembly modes and inverse kinematics."""

    @one_blas_thread
    def assemblies(
        self,
        fixed: Mapping[str, Any] | None = None,
        q_guess: npt.ArrayLike | None = None,
        t: float = 0.0,
        starts: int = STARTS,
    ) -> Assemblies:
        """All poses that close the mechanism, as far as random starts find them; see `Assemblies`.

        Args:
            fixed: positions to hold, as for `assemble`, so many that nothing is left undetermined except
                spins that nothing notices, as of a rod between two ball joints: modes are counted modulo
                these.
            q_guess: the pose to sort by (nq,); default `default.q`.
            t: time of the drives [s].
            starts: number of random starts; more find rarer modes.
        """
        q = np.array(self.default.q) if q_guess is None else self._one_pose(q_guess, "q_guess")
        held: list[int] = []
        for name, value in mapping(fixed, "fixed", "{coordinate: value}").items():
            held += self._hold(q, name, value)
        model, system = self.model, self.evaluator
        single = np.array(model.coordinate_q) >= 0
        angles = single & np.array(model.structure.tree.coordinate_is_angle)
        still = np.array(held, dtype=int)
        poses = assembly_modes(system, q, self._time(t), still, angles, count(starts, "starts"))
        poses, note = self._modulo_idle(poses, held, self._time(t))
        turning = np.array(model.coordinate_q, dtype=int)[angles]
        poses[:, turning] = np.remainder(poses[:, turning] + np.pi, 2.0 * np.pi) - np.pi
        return Assemblies(poses, f"{len(poses)} assembly modes from {starts + 1} starts.{note}", self)

    def _modulo_idle(self, poses: Array, held: list[int], t: float) -> tuple[Array, str]:
        """Poses that differ by more than motions that nothing notices, and words about these."""
        if not len(poses):
            return poses, ""
        system, rows = self.evaluator, np.flatnonzero(self.evaluator.holonomic)
        loose = undetermined(system, system.constraints(poses[0], np.zeros(self.nv), t)[1][rows], rows, held)
        if not loose:
            return poses, ""
        places, motions = places_of(self), self._left_over(poses[0], held, t)
        if not is_idle(self, poses[0], motions, places):
            names = noticed(self, poses[0], motions, places)
            raise InputError(
                f"assemblies needs every freedom held, but nothing determines {', '.join(names)}; give"
                " fixed={coordinate: value} for as many. (What spins about its own axis unnoticed, such as a"
                " rod between two ball joints, need not be held.)"
            )
        kept = first_of_each(positions_of(self, poses, places), self.length, SAME)
        return poses[kept], f" Free to spin, whatever its position: {', '.join(loose)}."

    def _left_over(self, q: Array, held: Sequence[int], t: float) -> Array:
        """Motions (nv, k) that constraints and held coordinates leave."""
        rows, unit = np.flatnonzero(self.evaluator.holonomic), self.model.unit
        J = self.evaluator.constraints(q, np.zeros(self.nv), t)[1][rows]
        scaled = J / self.model.row_unit[rows, None] * unit
        return np.asarray(unit[:, None] * _null_space(np.vstack([scaled, np.eye(self.nv)[list(held)]])))

    def _spins_only(self, q: Array, held: Sequence[int], t: float) -> bool:
        """Whether what they leave displaces nothing, as the spin of a rod between two ball joints."""
        return is_idle(self, q, self._left_over(q, held, t), places_of(self))

    @one_blas_thread
    def reach(
        self,
        body: str,
        point: npt.ArrayLike | str,
        target: npt.ArrayLike | Pose,
        *,
        q_guess: npt.ArrayLike | None = None,
        fixed: Mapping[str, Any] | None = None,
        limits: bool = True,
        t: float = 0.0,
    ) -> Reached:
        """A pose that brings a point of a body to a target, or as near to it as is found from the guess.

        Args:
            body: its name.
            point: in its frame [m], (3,), or the name of a point of the drawing.
            target: in the world [m], (3,); or a Pose that the body's axes take on there.
            q_guess: where to start (nq,); default `default.q`.
            fixed: positions to hold, as for `assemble`.
            limits: whether coordinates stay within their limits.
            t: time of the drives [s].
        """
        p_BP = triple(self._point(body, point), "point of reach")
        goal = target if isinstance(target, Pose) else Pose(triple(target, "target of reach"))
        guess = self.default.q if q_guess is None else self._one_pose(q_guess, "q_guess")
        start = self.assemble(guess, fixed, t)
        if not start.success:
            return Reached(start.q, float("inf"), False, f"No pose to start from. {start.message}")
        held = [
            k for name, value in (fixed or {}).items() for k in self._hold(np.array(start.q), name, value)
        ]
        bounds = self.model.limits if truth(limits, "limits") else np.tile(UNLIMITED, (self.nv, 1))
        more: dict[str, Any] = {"held": np.array(held, dtype=int), "limits": bounds, "t": self._time(t)}
        way = _Approach(self, body, p_BP, goal, isinstance(target, Pose), **more)
        return way.within(np.array(start.q), dict(fixed or {}))


@dataclass
class _Approach:
    """Ways to a target: damped Gauss-Newton steps along the constraints, within limits."""

    mech: KinematicQueries
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
        best, error = self._descend(q)
        pattern = np.random.default_rng(1853)
        for size in PERTURBATIONS:
            if np.linalg.norm(error) <= REACHED * self.mech.length:
                break
            start = self._nearby(q, size, pattern)
            found = None if start is None else self._descend(start)
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

    def _descend(self, q: Array, most: int = MOST_STEPS) -> tuple[Array, Array]:
        """The pose at which no step comes nearer, or after so many steps, and what is missing there."""
        damping, error = 1e-3, self._error(q)
        for _ in range(most):
            size = float(np.linalg.norm(error))
            if size <= REACHED * self.mech.length or damping > MOST_DAMPING:
                break
            moved = self._step(q, error, damping)
            closer = None if moved is None else self._error(moved)
            gained = closer is not None and np.linalg.norm(closer) < size * (1.0 - LEAST_GAIN)
            if gained and moved is not None and closer is not None:
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
            N = _null_space(np.vstack([J, np.eye(mech.nv)[stopped]]))
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


def _null_space(J: Array) -> Array:
    """Orthonormal columns that J maps to zero."""
    values, Vt = np.linalg.svd(J)[1:]
    return np.asarray(Vt[int(np.sum(values > RANK)) :].T)


def pulled(mech: KinematicQueries, q: Array, body: str, point: Array, target: Array) -> Array:
    """The pose after a point (3,) of a body is pulled from q towards a target in the world [m], (3,).

    Continuous in the target, unlike `reach`, which tries other starts: what a hand on the body does. Loops
    stay closed and coordinates within their limits.
    """
    more: dict[str, Any] = {"held": np.zeros(0, dtype=int), "limits": mech.model.limits, "t": 0.0}
    p_BP = triple(point, "point that is pulled")
    return _Approach(mech, body, p_BP, Pose(target), False, **more)._descend(q, PULLS)[0]

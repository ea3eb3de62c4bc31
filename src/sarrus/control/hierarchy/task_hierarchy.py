"""TaskHierarchy: tasks with strict priorities under constraints, [DeSapio2010] algorithm 2."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ...arrays import positive, state
from ...dynamics.control_kernel import largest
from ...dynamics.forward import limit_of
from ...dynamics.input_response import respond
from ...dynamics.terms import Terms
from ...errors import InputError, SarrusError
from ..core.force_metric import Factor, applied
from ..core.law import MISSED, Active, Law
from ..core.measured_state import Measured
from ..core.solution import Status
from ..core.task import Tracking
from ..limits.limit_table import InputRows
from .levels import Level, Reach, Rows, Split, descend, reach
from .limits import Cascade, Inputs
from .solution import HierarchySolution, Parts
from .tasks import TaskStack, Together

Array = npt.NDArray[np.float64]
NullTorque = npt.ArrayLike | Callable[[float, Array, Array], npt.ArrayLike] | None


class TaskHierarchy(Law):
    """Tasks with strict priorities: a lower one never changes the acceleration of a higher one.

    [DeSapio2010] algorithm 2: Jacobians of constraints and tasks are made orthogonal in the mass metric, one
    level after the other; what conflicts with higher levels or constraints is met as far as possible.
    Motions that no task asks for stay free: they move as gravity, inertia and `null_torque` will have it. Of
    all torques that do this, the least are taken; passive joints get exactly zero.

    Args:
        mech: a Mechanism or CustomSystem.
        tasks: `PriorityTask`s, one or a list; none at all leaves everything to `null_torque`.
        null_torque: generalized force (nv,) [N m, N] that acts on what the tasks leave open, or a function of
            (t, q, v) that returns it.
        limits: `TorqueBounds`, `Unilateral`, `Friction`, `CableTension`, `Preload`, `LinearLimits`, one or a
            list. They come before all tasks; the lowest level gives way first.
        metric: what "least torque" means, as in `ProjectedInverseDynamics`.
        actuated: names of the actuators to use; default all. The others get exactly zero.
        active: names of the constraints that hold, or a function of (t, q, v) that returns them; default all.
            Feet on the ground may stand anywhere: only J of a point on the ground matters, not where it was
            declared to be.
        leftover_damping: rate [1/s] at which motions that the tasks leave open lose speed: the same as the
            null torque -c M v.
        transition: time [s] in which inputs are led over, where no motion sees them, when the active
            constraints change.
        rank_tol: directions of a level weaker than this, without units, count as lost.
        least_feel: motions of which the actuators feel less than this share count as not controllable.
        solver: of the quadratic programs: "auto", "kernel", "daqp", "scipy" or "clarabel".
    """

    def __init__(
        self,
        mech: Any,
        tasks: Any,
        *,
        null_torque: NullTorque = None,
        limits: Any = (),
        metric: Any = None,
        actuated: Sequence[str] | None = None,
        active: Active = None,
        leftover_damping: float = 0.0,
        transition: float = 0.0,
        rank_tol: float = 1e-9,
        least_feel: float = 1e-6,
        solver: str = "auto",
    ) -> None:
        given = [limits] if hasattr(limits, "rows") else list(limits)
        self._stack = TaskStack(tasks)
        super().__init__(
            mech,
            outputs=self._stack,
            reference=0.0,
            kp=1.0,
            kd=None,
            metric=metric,
            actuated=actuated,
            active=active,
            leftover_damping=leftover_damping,
            least_feel=least_feel,
            transition=transition,
            releasing=None,
            limits=given,
            solver=solver,
            gives="limits",
        )
        self._rank_tol = positive(rank_tol, "rank_tol")
        self._null_torque = null_torque
        self._matters = np.where(_held_anywhere(mech), 0.0, mech.units.per_row)
        if null_torque is not None and not callable(null_torque):
            state(null_torque, "null_torque", mech.nv, repr(mech.name))

    def solve(self, t: float, q: npt.ArrayLike, v: npt.ArrayLike) -> HierarchySolution:
        """One step with all its parts; where it failed (`status`), a Solution without levels."""
        return super().solve(t, q, v)  # type: ignore[return-value]

    # ------------------------------------------------------------------ one step

    def _step(self, now: Measured, began: float) -> HierarchySolution:
        rows, terms, units, _ = self._active.at(now)
        lost = limit_of(self.system.evaluator, now.q, now.v, now.t) if rows is None else None
        response = respond(terms, self._columns, units, lost, self._gap(terms, rows))
        factor = self._metric.factor(terms)
        space = reach(response, factor, self._least_feel)
        found = [task.track(now) for task in self._stack.tasks]
        levels, s, Z, splits = descend(self._levels(found), space, response, self._rank_tol)
        rest = self._rest(now, terms, space)
        free = s if rest is None else s + Z @ (Z.T @ rest)
        limits = None if self._limits is None else self._limits.at(now, response, rows)

        def chosen(offset: Array | None) -> Inputs:
            return self._inputs(space, factor, levels, free, rest, limits, offset)

        picked = self._transition.smoothed(now.t, (rows, response.rank), chosen)
        assert isinstance(picked, Inputs)
        s, u = picked.s, picked.u
        status, message, costs = self._judged(space, levels, splits, free, picked)
        inputs, tau = self._spread(u)
        return HierarchySolution(
            now.t,
            inputs,
            tau,
            response.a0 + space.E @ s,
            status,
            message,
            self._stack.names,
            picked.active,
            picked.violations,
            picked.qp,
            time.perf_counter() - began,
            _task=Together(self._stack, found, self.system.nv),
            _response=response,
            _metric=self._metric.weights(terms),
            _inputs=u,
            _rows=rows,
            _limits=limits,
            _parts=Parts(
                self._stack.labels,
                tuple(one is not None for one in found),
                response.a0 + space.E @ free,
                space,
                tuple(splits),
                tuple(rows.A for rows in levels),
                costs,
            ),
        )

    def _inputs(
        self,
        space: Reach,
        factor: Factor,
        levels: Sequence[Rows],
        s: Array,
        rest: Array | None,
        limits: InputRows | None,
        offset: Array | None,
    ) -> Inputs:
        """Least inputs for s (r,), plus an offset (n,) where no motion sees it; within the limits."""
        x = space.to_x @ s
        if offset is not None:
            x = x + space.open @ (space.open.T @ offset)
        u = applied(factor, x)
        if limits is None or limits.inside(limits.R @ u, u):
            return Inputs(x, u, s=s)
        cascade = Cascade(space, factor, limits, self._solver, self._rank_tol)
        near = np.zeros(len(x)) if offset is None else offset
        return cascade.run(levels, s, np.zeros(len(s)) if rest is None else rest, near)

    def _levels(self, found: Sequence[Tracking | None]) -> list[Level]:
        """Rows of each level from the tasks that are on."""
        levels, at = [], 0
        for group in self._stack.levels:
            here = [(task, one) for task, one in zip(group, found[at:], strict=False) if one is not None]
            at += len(group)
            if len(here) == 1:
                task, one = here[0]
                levels.append(Level(one.J, one.wanted, task.unit, task.damping))
                continue
            J = np.concatenate([np.zeros((0, self.system.nv)), *(one.J for _, one in here)])
            wanted = np.concatenate([np.zeros(0), *(one.wanted for _, one in here)])
            unit = np.concatenate([np.zeros(0), *(task.unit for task, _ in here)])
            share = max((task.damping for task, _ in here), default=0.0)
            levels.append(Level(J, wanted, unit, share))
        return levels

    def _rest(self, now: Measured, terms: Terms, space: Reach) -> Array | None:
        """s (r,) that the null torque asks for; None for none."""
        if self._null_torque is None and not self._leftover_damping:
            return None
        force = -self._leftover_damping * (terms.M @ now.v)
        given = self._null_torque
        if callable(given):
            try:
                given = given(now.t, now.q.copy(), now.v.copy())
            except SarrusError:
                raise
            except Exception as error:
                raise InputError(
                    f"null_torque at t = {now.t:g} s: it raised {type(error).__name__}: {error}"
                ) from error
        if given is not None:
            force = force + state(given, "null_torque", self.system.nv, repr(self.system.name))
        return np.asarray(space.E.T @ force)

    def _gap(self, terms: Terms, rows: npt.NDArray[np.bool_] | None) -> float:
        """Largest |phi| over L of rows whose Jacobian depends on it."""
        weight = self._matters if rows is None else self._matters[rows]
        gap: float = largest(terms.phi, weight)
        return gap

    # ------------------------------------------------------------------ how it went

    def _judged(
        self,
        space: Reach,
        levels: Sequence[Rows],
        splits: Sequence[Split],
        free: Array,
        picked: Inputs,
    ) -> tuple[Status, str, tuple[float, ...]]:
        """Status, message, and what limits took from each level, without units."""
        status, said, costs, s = picked.status, [], [], picked.s
        for group, rows, split in zip(self._stack.levels, levels, splits, strict=True):
            if len(rows.b) == 0:
                costs.append(0.0)
                continue
            size = MISSED * (1.0 + _largest(rows.b))
            took = _largest(rows.A @ (free - s)) if picked.limited else 0.0
            costs.append(took if took > size else 0.0)
            if _largest(rows.b - rows.A @ s) <= size:
                continue
            status = Status.PARTIAL
            why = "limits" if costs[-1] else f"{split.rank} of {len(rows.b)} rows independent"
            why = "damped near a singular pose" if split.damped else why
            said.append(f"level {group[0].priority:g} is met as far as possible ({why})")
        if any(split.damped for split in splits):
            status = Status.SINGULAR
        if picked.status == Status.INFEASIBLE:
            worst = ", ".join(f"{name} exceeded by {by:.4g}" for name, by in picked.violations.items())
            status = Status.INFEASIBLE
            said.insert(0, f"the limits cannot all hold; least violation: {worst or 'below the tolerance'}")
        reached = space.E.shape[1]
        if reached < space.dof:
            said.append(
                f"{reached} of {space.dof} freedoms are controllable, `uncontrollable` has the others"
            )
        return status, "; ".join(said), tuple(costs)


def _largest(x: Array) -> float:
    return float(max(map(abs, x.tolist())))


def _held_anywhere(system: Any) -> npt.NDArray[np.bool_]:
    """Rows (nc,) that hold a point of a body to the ground: their Jacobian does not depend on where."""
    rows = np.zeros(system.nc, dtype=bool)
    for name, one in getattr(system.model, "constraints", ()):
        if one.is_point_contact and one.bodies()[0] == "ground":
            rows[system.evaluator.constraint_rows[name]] = True
    return rows

"""Action models of Crocoddyl for a mechanism: steps on the constraints, with exact derivatives."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from sarrus.arrays import positive, positive_whole
from sarrus.bridge.bridge import Bridge, require
from sarrus.bridge.operations import Operation
from sarrus.differences import slope_terms
from sarrus.errors import InputError, SarrusError
from sarrus.mechanism.core.core import State
from sarrus.mechanism.mechanism import Mechanism
from sarrus.mechanism.query.projected_slopes import projected_slopes

APART = 1e-2  # [rad, L] of differences


class CrocoddylBridge(Bridge):
    """A state and action models, made by `sr.bridge.crocoddyl`; functions of `Bridge` take NumPy arrays.

    Attributes:
        state: `crocoddyl.StateAbstract` of x = [q, v], with increments of `integrate` as its tangents.
        trouble: Why the last step that failed within a solver did, in words; "" where none has. Such steps
            are NaN there, and the solver goes back.
    """

    library = "crocoddyl"

    def __init__(self, mech: Mechanism, contacts: str = "steps") -> None:
        super().__init__(mech, contacts)
        try:
            state, self._action = _classes()
        except ImportError:
            raise require("crocoddyl", "Crocoddyl") from None
        self.state, self.trouble = state(mech), ""

    def action(self, dt: float, costs: Any, *, method: str = "rk4", substeps: int = 1) -> Any:
        """A `crocoddyl.ActionModelAbstract`: one step of dt [s] and the costs times dt.

        Args:
            dt: Length of the step [s]; 0 for the end of the horizon, which has costs alone.
            costs: `crocoddyl.CostModelSum` of this `state` and nu inputs.
            method: An explicit integrator.
            substeps: Number of equal steps that dt is divided into.
        """
        if not isinstance(dt, (int, float)) or dt < 0.0:
            raise InputError(f"dt must be the length of a step [s], or 0 for the end, got {dt!r}.")
        if costs.nu != self.mech.nu or costs.state.ndx != 2 * self.mech.nv:
            raise InputError(
                f"costs must be those of the state of this bridge and of nu = {self.mech.nu} inputs:"
                " crocoddyl.CostModelSum(bridge.state, mech.nu)."
            )
        options = {"method": method, "substeps": positive_whole(substeps, "`substeps`")}
        return self._action(self, costs, positive(dt, "`dt`") if dt else 0.0, options)

    def slopes(self, x: Any, u: Any, dt: float, options: dict[str, Any]) -> tuple[Any, Any]:
        """Derivatives (2 nv, 2 nv), (2 nv, nu) of a step along increments of x, and by u."""
        mech, n = self.mech, self.mech.nq
        start = mech.project(x[:n], x[n:])
        found = mech.step_derivatives(*start, u, dt, contacts=self.contacts, **options)
        q, v = mech.integrate(x[:n], np.zeros(mech.nv))[None], x[None, n:]
        first = projected_slopes(mech, q, v, State(start.q[None], start.v[None]), 0.0)[0]
        return found.A @ first, found.B

    def _call(self, operation: Operation, given: tuple[Any, ...]) -> tuple[Any, ...]:
        return operation(*given)

    def _stacked(self, values: list[Any]) -> Any:
        return np.stack(np.broadcast_arrays(*values), axis=-1)


@cache
def _classes() -> tuple[Any, Any]:
    return _state_class(), _action_class()


def _state_class() -> Any:
    import crocoddyl

    class ManifoldState(crocoddyl.StateAbstract):
        """x = [q, v] of a mechanism. Its zero is the default pose at rest, which lies on the constraints."""

        def __init__(self, mech: Mechanism) -> None:
            super().__init__(mech.nq + mech.nv, 2 * mech.nv)
            self.mech = mech

        def zero(self) -> Any:
            return np.concatenate([self.mech.default.q, self.mech.rest])

        def rand(self) -> Any:
            dx = np.random.default_rng().uniform(-1.0, 1.0, 2 * self.mech.nv)
            return self.integrate(self.zero(), dx)

        def diff(self, x0: Any, x1: Any) -> Any:
            n = self.mech.nq
            return np.concatenate([self.mech.difference(x0[:n], x1[:n]), x1[n:] - x0[n:]])

        def integrate(self, x: Any, dx: Any) -> Any:
            n, k = self.mech.nq, self.mech.nv
            return np.concatenate([self.mech.integrate(x[:n], dx[:k]), x[n:] + dx[k:]])

        def Jdiff(self, x0: Any, x1: Any, which: Any = crocoddyl.Jcomponent.both) -> Any:
            d = self.diff(x0, x1)[: self.mech.nv]
            return _chosen(crocoddyl, which, (-_rates(self.mech, -d), _rates(self.mech, d)), -1.0)

        def Jintegrate(self, x: Any, dx: Any, which: Any = crocoddyl.Jcomponent.both) -> Any:
            d = dx[: self.mech.nv]
            by_d = np.linalg.inv(_rates(self.mech, d))
            return _chosen(crocoddyl, which, (by_d @ _rates(self.mech, -d), by_d), 1.0)

        def JintegrateTransport(self, x: Any, dx: Any, J: Any, which: Any) -> Any:
            return self.Jintegrate(x, dx, which) @ J

    return ManifoldState


def _rates(mech: Mechanism, d: Any) -> Any:
    """Rates (nv, nv) of the increment d of a pose with its velocity, by differences of order six."""
    if mech.nq == mech.nv:
        return np.eye(mech.nv)
    origin = mech.neutral()
    pose, apart = mech.integrate(origin, d), APART * np.eye(mech.nv)
    many = np.tile(pose, (mech.nv, 1))
    return sum(
        weight / APART * mech.difference(np.tile(origin, (mech.nv, 1)), mech.integrate(many, k * apart)).T
        for k, weight in slope_terms(6)
    )


def _chosen(crocoddyl: Any, which: Any, blocks: tuple[Any, Any], velocity: float) -> Any:
    """Jacobians by the first and the second argument, or one of them; velocity: slope of it by the first."""
    first, second = (
        np.block([[J, np.zeros_like(J)], [np.zeros_like(J), s * np.eye(len(J))]])
        for J, s in zip(blocks, (velocity, 1.0), strict=True)
    )
    if which == crocoddyl.Jcomponent.both:
        return [first, second]
    return first if which == crocoddyl.Jcomponent.first else second


def _given(x: Any, u: Any) -> tuple[Any, ...]:
    return (x,) if u is None else (x, u)


def _store_costs(data: Any, scale: float, inputs: bool) -> None:
    """Derivatives of the costs, times the length of the step."""
    own = data.costs
    data.Lx, data.Lxx = own.Lx * scale, own.Lxx * scale
    if inputs:
        data.Lu, data.Lxu, data.Luu = own.Lu * scale, own.Lxu * scale, own.Luu * scale


def _nan(arrays: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(np.full(x.shape, np.nan) for x in arrays)


def _action_class() -> Any:
    import crocoddyl

    class Action(crocoddyl.ActionModelAbstract):
        """One step of a mechanism with costs."""

        def __init__(self, bridge: CrocoddylBridge, costs: Any, dt: float, options: dict[str, Any]) -> None:
            super().__init__(bridge.state, bridge.mech.nu, costs.nr)
            self.bridge, self.costs, self.dt, self.options = bridge, costs, dt, options

        def createData(self) -> Any:
            data = super().createData()
            self.shared = crocoddyl.DataCollectorAbstract()
            data.__dict__["costs"] = self.costs.createData(self.shared)
            return data

        def calc(self, data: Any, x: Any, u: Any = None) -> None:
            own, scale = data.costs, self.dt or 1.0
            data.xnext = (
                x if u is None or not self.dt else self._attempt(self._after, np.full(x.shape, np.nan), x, u)
            )
            self.costs.calc(own, *_given(x, u))
            data.cost = own.cost * scale

        def calcDiff(self, data: Any, x: Any, u: Any = None) -> None:
            self.costs.calcDiff(data.costs, *_given(x, u))
            _store_costs(data, self.dt or 1.0, u is not None)
            none = np.eye(self.state.ndx), np.zeros((self.state.ndx, self.nu))
            steps = u is not None and self.dt
            data.Fx, data.Fu = self._attempt(self._slopes, _nan(none), x, u) if steps else none

        def _attempt(self, call: Any, otherwise: Any, x: Any, u: Any) -> Any:
            """A call, or NaN, from which solvers go back; exceptions of Python would end the process."""
            try:
                return call(x, u)
            except SarrusError as error:
                self.bridge.trouble = str(error)
                return otherwise

        def _after(self, x: Any, u: Any) -> Any:
            n = self.bridge.mech.nq
            return np.concatenate(self.bridge.step(x[:n], x[n:], u, self.dt, **self.options))

        def _slopes(self, x: Any, u: Any) -> Any:
            return self.bridge.slopes(x, u, self.dt, self.options)

    return Action

"""How neighbours of a run by parameters move beside it: the variational equation in local coordinates.

With variations dq (tangent increments) and dv of the states by a parameter p,

    J dq = -phi_p,    J dv = -(J v - b)_p - (J v - b)_q dq                                              (1)
    d(dq)/dt = dv - ad_v dq,    d(dv)/dt = a_q dq + a_v dv + a_p                                        (2)

J may have dependent rows. Derivatives of accelerations are defined along (1) only, so (dq, dv) is split into
a particular solution of (1), along which a is differentiated together with the numbers of the model, and a
part that is tangent to the constraints:

    dq = dq_p + N_q x,    dv = dv_p + Y N_q x + N_v y,    Y = -J^+ (J v - b)_q                           (3)

The local coordinates are entries of dq and dv themselves, z = [dq[I_q]; dv[I_v]], which determine x and y. So
(1) holds at all times, and z follows a linear differential equation without derivatives of N.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np

from ...arrays import Array
from ...mechanism.variants.opened_loops import OPENS
from ...mechanism.variants.state_slopes import ACCELERATION, ROWS
from ...models.model import Model
from ...models.twists import ad, twist_slices
from ...models.variant_model import ModelSlopes
from ..events.interpolation import Hermite, Manifold
from ..stepping.state_projector import Projector
from ..trajectory.trajectory import Trajectory
from .applied_forces import AppliedForces

SHORT = 1e-6  # way in a step, relative to one radian or L: rounding over it is 2e-10 of the speed


class _Known(NamedTuple):
    """Derivatives of accelerations, of J v - b and of applied forces at n states, by q and v."""

    a_q: Array
    a_v: Array
    Jv_q: Array
    tau_q: Array
    tau_v: Array


class NotSmoothError(Exception):
    """The variational equation does not say how neighbours move."""


@dataclass(frozen=True)
class AtTimes:
    """The variational equation at n times, P parameters.

    Attributes:
        q_p, v_p: particular solution of (1), (n, nv, P) each.
        a_q, a_v: derivatives of accelerations along tangent directions (n, nv, nv).
        a_p: change of the acceleration along the particular solution (n, nv, P).
        N_q, N_v: tangent directions (n, nv, k), without units.
        Y: of (3), (n, nv, nv).
        ad_v, ad_a: brackets of velocity and acceleration (n, nv, nv).
        apart: acceleration of the model less that of the polynomial of the run, without units (n,).
    """

    q_p: Array
    v_p: Array
    a_q: Array
    a_v: Array
    a_p: Array
    N_q: Array
    N_v: Array
    Y: Array
    ad_v: Array
    ad_a: Array
    apart: Array

    def __getitem__(self, which: Any) -> AtTimes:
        return AtTimes(*(getattr(self, f.name)[which] for f in fields(self)))

    def rates(self, dq: Array, dv: Array) -> tuple[Array, Array]:
        """First and second time derivatives of dq (n, nv, P), from (2)."""
        first = dv - self.ad_v @ dq
        faster = self.a_q @ (dq - self.q_p) + self.a_v @ (dv - self.v_p) + self.a_p
        return first, faster - self.ad_a @ dq - self.ad_v @ first


class VariationalEquation:
    """Of a run with constant rank of J."""

    def __init__(self, run: Trajectory, model: ModelSlopes, count: int, forces: AppliedForces) -> None:
        self._system, self._model, self._count, self._forces = run._moved("derivatives"), model, count, forces
        self.steps, options = run._outcome.steps, run._outcome.options
        assert options is not None
        self.rank = int(self.steps.rank[0])
        self._manifold = Manifold(self._system.kernel, self._system.model)
        self._hermite = Hermite(self._manifold, self.steps)
        self._projector = Projector(self._system, options, self._manifold)
        largest = 1.0 + float(np.max(np.abs(self.steps.q), initial=0.0))
        self._speed = float(np.max(np.abs(self.steps.v) / self.unit, initial=0.0)) / largest
        self._twists = twist_slices(self._system.model)
        self._holonomic = np.asarray(self._system.model.holonomic, dtype=bool)
        self._rolling = not np.all(self._holonomic)

    @property
    def plain(self) -> bool:
        """Whether the same rows restrict positions and velocities, and dq' = dv."""
        return not self._rolling and not self._twists

    @property
    def model(self) -> Model:
        """Of what moves."""
        found: Model = self._system.model
        return found

    @property
    def unit(self) -> Array:
        """Of the coordinates, 1 or L (nv,)."""
        return np.asarray(self._system.units.unit)

    def at(self, t: Array) -> AtTimes:
        """At times (n,) within the run."""
        states, a, interpolated = self._states(t)
        q, v, tau, drive, user = states
        kernel = self._system.kernel
        all_forces = tau + user[:, -1, 3:] if user.shape[1] else tau
        found = kernel.derivatives(q, v, all_forces, drive, np.zeros_like(user), multipliers=False)
        if np.any(found[4]) or not np.all(np.isfinite(found[0])):
            raise NotSmoothError
        a_q, a_v, a_tau = (found[0][:, i] for i in range(3))
        tau_q, tau_v = self._forces.all_slopes(t, q, v)
        if self._forces.depend_on_state:
            a_q, a_v = a_q + a_tau @ tau_q, a_v + a_tau @ tau_v
        parts = self._particular(states, _Known(a_q, a_v, found[2], tau_q, tau_v))
        apart = np.max(np.abs(a - interpolated) / self.unit, axis=1, initial=0.0)
        brackets = {"ad_v": self.brackets(v), "ad_a": self.brackets(a)}
        return AtTimes(a_q=a_q, a_v=a_v, apart=apart, **brackets, **parts)

    def acceleration(self, t: Array) -> Array:
        """Of the model along the run, without units (n, nv)."""
        return np.asarray(self._states(t)[1] / self.unit)

    def velocity(self, t: Array) -> Array:
        """Of the run (n, nv)."""
        return self.states(t)[1]

    def _mend_short_steps(self, t: Array, v: Array) -> None:
        """Velocities (n, nv) in short steps, where differences of poses over h are rounding, as beside jumps.

        There is a cubic polynomial through velocities and accelerations.
        """
        steps = self.steps
        i = np.clip(np.searchsorted(steps.t, t, side="right") - 1, 0, len(steps.t) - 2)
        h = steps.t[i + 1] - steps.t[i]
        short = np.flatnonzero(h * self._speed < SHORT)
        if len(short):
            i, h, at = i[short], h[short, None], t[short, None]
            s = (at - steps.t[i, None]) / h
            v0, v1, a0, a1 = steps.v[i], steps.v[i + 1], h * steps.a[i], h * steps.a[i + 1]
            rest = v1 - v0
            v[short] = v0 + s * (a0 + s * (3 * rest - 2 * a0 - a1 + s * (a0 + a1 - 2 * rest)))

    def states(self, t: Array) -> tuple[Array, Array, Array]:
        """Poses (n, nq) and velocities (n, nv) of the run, and accelerations of its polynomial."""
        q, v, a = self._hermite(t)
        self._mend_short_steps(t, v)
        if self._system.nc:
            closed = self._projector(self.steps, t)
            q, v = closed.q, closed.v
        return np.ascontiguousarray(q), np.ascontiguousarray(v), a

    def _states(self, t: Array) -> tuple[tuple[Array, ...], Array, Array]:
        """States as the kernel takes them, accelerations there, and those of the polynomial of the run."""
        q, v, interpolated = self.states(t)
        states = q, v, self._forces.at(t, q, v), *outside(self._system, t, q, v)
        return states, np.asarray(self._system.kernel.forward(*states, self.rank)[0]), interpolated

    def _particular(self, states: tuple[Array, ...], known: _Known) -> dict[str, Array]:
        """q_p, v_p, a_p, N_q, N_v, Y of `AtTimes`."""
        n, nv = len(states[0]), self._system.nv
        rest, full = np.zeros((n, nv, self._count)), self.rank == self._system.nc
        phi, slip, a_p = self._vary(states, (rest, rest, rest), ACCELERATION if full else ROWS)
        if not self._system.nc:
            N = np.broadcast_to(np.eye(nv), (n, nv, nv))
            return {"q_p": rest, "v_p": rest, "a_p": a_p, "N_q": N, "N_v": N, "Y": np.zeros((n, nv, nv))}
        q, v, _, drive, user = states
        J = self._system.kernel.terms(q, v, drive, user)[3]
        rows = _Rows(J, self._system.units, self.rank)
        held = _Rows(J * self._holonomic[:, None], self._system.units, None) if self._rolling else rows
        dq = held.least(-phi * self._holonomic[:, None])
        dv = rows.least(-slip - known.Jv_q @ dq)
        if full:  # off the constraints there is one way only to continue accelerations
            a_p = a_p + known.a_q @ dq + known.a_v @ dv
        else:
            force = known.tau_q @ dq + known.tau_v @ dv
            a_p = self._vary(states, (dq, dv, force), ACCELERATION)[2]
        Y = -rows.inverse(known.Jv_q)
        return {"q_p": dq, "v_p": dv, "a_p": a_p, "N_q": held.N, "N_v": rows.N, "Y": Y}

    def _vary(self, states: Any, changes: tuple[Array, ...], wanted: int) -> list[Array]:
        """Changes (n, ., P) of phi, J v - b and a along those of q, v, tau (n, nv, P) and of the model."""
        ranks = np.full(len(states[0]), self.rank, dtype=np.int32)
        given = tuple(np.ascontiguousarray(np.moveaxis(x, -1, 0)) for x in changes)
        found = self._system.kernel.variation(states, given, self._model.fields, ranks, wanted)
        return [np.moveaxis(x, 0, -1) for x in found[:3]]

    def brackets(self, v: Array) -> Array:
        """ad_v of velocities (n, nv), (n, nv, nv)."""
        out = np.zeros((len(v), v.shape[1], v.shape[1]))
        for where in self._twists:
            out[:, where, where] = ad(v[:, where])
        return out


class _Rows:
    """J of n states with constant rank: pseudoinverse, and directions it leaves free."""

    def __init__(self, J: Array, units: Any, rank: int | None) -> None:
        self._unit, self._row_unit = units.unit, units.row_unit
        U, s, Vt = np.linalg.svd(J * self._unit / self._row_unit[:, None])
        r = int(np.sum(s[0] > units.rank_tol)) if rank is None else rank
        self._U, self._left, self._s, self._V = U[:, :, :r], U[:, :, r:], s[:, :r], Vt[:, :r]
        self.N = np.swapaxes(Vt[:, r:], 1, 2)

    def inverse(self, c: Array) -> Array:
        """x (n, nv, k) with J x = c (n, nc, k), the smallest without units."""
        y = np.swapaxes(self._U, 1, 2) @ (c / self._row_unit[:, None])
        return np.asarray(np.swapaxes(self._V, 1, 2) @ (y / self._s[..., None]) * self._unit[:, None])

    def least(self, c: Array) -> Array:
        """The same where c does not open a loop."""
        scaled = c / self._row_unit[:, None]
        left = np.swapaxes(self._left, 1, 2) @ scaled
        if np.max(np.abs(left), initial=0.0) > OPENS * np.max(np.abs(scaled), initial=1.0):
            raise NotSmoothError
        return self.inverse(c)


def outside(system: Any, t: Array, q: Array, v: Array) -> tuple[Array, Array]:
    """Drives (n, nd, 3) and values of the user's functions (n, rows, 3 + nv) at states and times (n,)."""
    if not system.called_at_every_stage:
        drive, user = system.no_user_rows(len(t))
        return drive, user
    each = [system.evaluator.outside(q[i : i + 1], v[i : i + 1], time) for i, time in enumerate(t.tolist())]
    drive, user = (np.concatenate(part) for part in zip(*each, strict=True))
    return drive, user

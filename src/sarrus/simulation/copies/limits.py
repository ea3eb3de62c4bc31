"""Limits of joints and actuators that copies pass, from their kept states."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...arrays import Array
from ...mechanism.core.access import actuated_columns
from ...mechanism.mechanism import Mechanism
from ..events.events import Event
from ..events.interpolation import Manifold
from ..events.limit_crossings import LimitWatch
from ..system.step_records import Steps
from ..system.system import System


def limit_events(
    mechs: tuple[Mechanism, ...], t: Array, states: tuple[Array, Array, Array], length: npt.NDArray[np.int_]
) -> dict[int, tuple[list[Event], str]]:
    """By copy: events of kind "limit", and what its message adds. Copies within all limits have none.

    A limit that is passed and left again between two kept states is not seen.

    Args:
        mechs: the mechanism of each copy, or one for all.
        t: times of the kept states (n,) [s].
        states: q (B, n, nq), v (B, n, nv), u (B, n, nu).
        length: number of good states of each copy (B,).
    """
    q, v, u = states
    found = {}
    for i in np.flatnonzero(_beyond(mechs[0], q, u)).tolist():
        mech, n = mechs[i if len(mechs) > 1 else 0], int(length[i])
        system = System(mech)
        watch = LimitWatch(system, Manifold(mech._kernel, mech.model), True)
        watch.look(_steps(mech, t[:n], q[i, :n], v[i, :n], u[i, :n]), u[i, :n])
        if watch.found and n:
            found[i] = watch.found, watch.added_to("", float(t[n - 1]))
    return found


def _beyond(mech: Mechanism, q: Array, u: Array) -> npt.NDArray[np.bool_]:
    """Copies with a kept state or input beyond some limit (B,); NaN is beyond none."""
    scalar = np.array(mech.model.coordinate_q, dtype=int)
    watched = np.isfinite(mech.model.limits).any(axis=1) & (scalar >= 0) & ~mech.model.has_stop
    x, (low, high) = q[..., scalar[watched]], mech.model.limits[watched].T
    beyond = np.any((x < low) | (x > high), axis=(1, 2))
    if mech.nu:
        low, high = np.array([(one.lower, one.upper) for one in mech.model.actuators]).T
        beyond |= np.any((u < low) | (u > high), axis=(1, 2))
    return np.asarray(beyond)


def _steps(mech: Mechanism, t: Array, q: Array, v: Array, u: Array) -> Steps:
    """Kept states of one copy, with their accelerations."""
    n, tau = len(t), np.zeros((len(t), mech.nv))
    tau[:, actuated_columns(mech)] = u
    q, v = np.ascontiguousarray(q), np.ascontiguousarray(v)
    if mech.model.drives:
        a = np.array([mech.acceleration(*one) for one in zip(q, v, tau, t.tolist(), strict=True)])
    else:
        a = mech.acceleration(q, v, tau)
    none = np.zeros(n)
    return Steps(
        t=t,
        q=q,
        v=v,
        a=a.reshape(n, mech.nv),
        tau=tau,
        drift=none,
        velocity_drift=none,
        pivot=none,
        rank=np.full(n, -1),
    )

"""Singular poses that copies have passed, from the states around minima of their smallest pivot."""

from __future__ import annotations

import numpy as np

from ...arrays import Array
from ...errors import SarrusError
from ...mechanism.core.access import actuated_columns
from ...mechanism.mechanism import Mechanism
from ..events.events import Event
from ..events.interpolation import Manifold
from ..events.pass_energy import LOST_BY_FIXED_STEPS, energy_lost
from ..events.singular_poses import SingularWatch
from ..system.step_records import Steps
from ..system.system import System

HEAD = 4  # columns before q, v, u: copy, step, pivot, rank


def passes(
    mechs: tuple[Mechanism, ...], found: Array, t0: float, dt: float
) -> tuple[dict[int, list[Event]], dict[int, str]]:
    """Events by copy, in the order of time, and by copy what went wrong at the first that did.

    Args:
        mechs: the mechanism of each copy, or one for all.
        found: three states each (k, 3, 4 + nq + nv + nu), as the compiled copies note them.
        t0: time of step 0 [s].
        dt: length of a step [s].
    """
    events: dict[int, list[Event]] = {}
    wrong: dict[int, str] = {}
    for three in found[np.lexsort((found[:, 1, 1], found[:, 1, 0]))] if len(found) else ():
        copy = int(three[0, 0])
        mech = mechs[copy if len(mechs) > 1 else 0]
        system, manifold = System(mech), Manifold(mech._kernel, mech.model)
        known = events.setdefault(copy, [])
        try:
            steps = _steps(mech, three[1:] if three[0, 1] == three[1, 1] else three, t0, dt)
            watch = SingularWatch(system, manifold, steps[:1], False)
            watch.look(steps[1:])
            loss = energy_lost(system, manifold, steps[:1], steps[-1:])
        except (SarrusError, ArithmeticError):  # states of a copy that diverges: its status says so
            continue
        if watch.start:
            wrong.setdefault(copy, watch.start)
        elif loss is not None and loss.part > LOST_BY_FIXED_STEPS:
            wrong.setdefault(copy, loss.wrong())
        known += [e for e in watch.found if all(abs(e.t - k.t) > 0.5 * dt for k in known)]
    return {copy: sorted(each, key=lambda e: e.t) for copy, each in events.items() if each}, wrong


def _steps(mech: Mechanism, states: Array, t0: float, dt: float) -> Steps:
    nq, nv, n = mech.nq, mech.nv, len(states)
    q, v, u = np.split(states[:, HEAD:], [nq, nq + nv], axis=1)
    t = t0 + dt * states[:, 1]
    tau = np.zeros((n, nv))
    tau[:, actuated_columns(mech)] = u
    a = [mech.acceleration(*one) for one in zip(q, v, tau, t.tolist(), strict=True)]
    none = np.zeros(n)
    return Steps(
        t=t,
        q=np.ascontiguousarray(q),
        v=np.ascontiguousarray(v),
        a=np.array(a),
        tau=tau,
        drift=none,
        velocity_drift=none,
        pivot=np.ascontiguousarray(states[:, 2]),
        rank=states[:, 3].astype(np.int64),
    )

"""Steps of states whose mode may change, and how far they are from steps of half the length."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..._kernel import Copies, RunOptions, all_cores
from ...arrays import Array

if TYPE_CHECKING:
    from ..mechanism import Mechanism

NEVER = 2**60  # steps between two records


def advanced(
    mech: Mechanism,
    modes: Any,
    start: tuple[Array, Array, Array, Array],
    time: tuple[float, float, int],
    options: RunOptions,
) -> Copies:
    """Copies a step after the states q, v, tau, mode of `start`; time: t, dt [s], substeps."""
    q, v, tau, numbers = start
    t, dt, substeps = time
    count = len(q)
    drives = mech.evaluator.drive if mech.model.drives else None
    every = np.arange(mech.nv, dtype=np.int32)
    changes = {"plan": modes.plan, "evaluator": mech.evaluator}
    copies = Copies([modes.model.kernel], options, (t, dt / substeps), every, drives, **changes)
    threads = 1 if mech.model.functions else min(all_cores(), count)
    copies.start(q, v, None, 0, threads, numbers)
    out = *(np.zeros((count, 1, n)) for n in (mech.nq, mech.nv, mech.nv)), NEVER
    copies.advance(0, substeps, (tau, None, None, None), out, threads)
    return copies


def apart(mech: Mechanism, copies: Copies, finer: Copies, v0: Array) -> Array:
    """By how much steps from velocities v0 (B, nv) differ from steps of half the length (B,), relative to
    1 rad or L and to the speed; NaN where one failed. Where something happened in one of them alone, at the
    very end, only positions are compared."""
    q, fine_q, v, fine_v = (np.asarray(x) for x in (copies.q, finer.q, copies.v, finer.v))
    unit = mech.units.unit
    moved = np.abs(mech.difference(fine_q, q) / unit).max(axis=-1, initial=0.0)
    speed = np.abs(np.stack([v, fine_v, v0]) / unit).max(axis=(0, -1), initial=1e-150)
    faster = np.abs((v - fine_v) / unit).max(axis=-1, initial=0.0) / speed
    same = np.all(np.asarray(copies.modes) == np.asarray(finer.modes), axis=-1)
    lost = np.maximum(moved, np.where(same, faster, 0.0))
    failed = (np.asarray(copies.status) != 0) | (np.asarray(finer.status) != 0)
    return np.asarray(np.where(failed, np.nan, lost))

"""Loops that miss each other by the last digit of a file, made to fit.

A file with six digits describes axes that are parallel to 1e-6 only, or a loop that stays open by a micron.
Taken literally such a mechanism is locked. Here its frames are displaced by as little as possible until its
loops close and it moves (`fitting`), and a warning says by how much. Larger misfits are left for assembly to
report.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..errors import warn
from ..projection.closing import Closing, close
from ..projection.decomposition import full_svd
from ..projection.system_kinematics import dimensionless
from .frame_fitting import NOT_INDEPENDENT, fit_loops, near_pose
from .mechanism import Mechanism

# Truncation and seed: at first what is certain, then, at other poses, what is of second order.
PASSES = ((1e-4, 1853), (1e-6, 1854), (1e-8, 1855))


def make_compatible(mech: Mechanism, q: Array, tolerance: float) -> Mechanism:
    """Set `default` near a rest pose, and correct loops that miss by less than the tolerance.

    Args:
        mech: The mechanism as it was described.
        q: Rest pose (nq,).
        tolerance: Largest misfit that is corrected [rad], or times L [m].

    Returns:
        The mechanism; where its loops do not close, without a default state, for `assemble` to explain.
    """
    if mech.nc == 0:
        return mech if np.array_equal(q, mech.neutral()) else mech.with_default(q)
    pose, misfit = near_pose(mech, q, tolerance)
    if tolerance < misfit < np.inf:
        pose, misfit = near_pose(mech, mech.assemble(q).q, tolerance)
    if misfit > tolerance:
        return mech
    closed = _nearest(mech, pose)
    if closed.closed and not _binds(mech, pose, tolerance):
        return _started(mech, closed.q)
    return _corrected(mech, pose, misfit, tolerance)


def _nearest(mech: Mechanism, q: Array) -> Closing:
    """One descent from q: the pose nearby at which the loops are closed best."""
    rows = np.flatnonzero(mech.model.holonomic)
    return close(mech.evaluator, q, 0.0, rows, np.arange(mech.nv))


def _started(mech: Mechanism, q: Array) -> Mechanism:
    return mech.with_default(q, mech.consistent_velocity(q))


def _singular_values(mech: Mechanism, q: Array) -> Array:
    _, J, _, _ = mech.evaluator.constraints(q, np.zeros(mech.nv), 0.0)
    return np.asarray(full_svd(dimensionless(mech.evaluator, J))[1])


def _binds(mech: Mechanism, q: Array, tolerance: float) -> bool:
    """Whether some rows are independent by less than the tolerance: the mark of axes nearly parallel."""
    s = _singular_values(mech, q)
    return bool(np.any((s > mech.evaluator.rank_tol) & (s < NOT_INDEPENDENT * tolerance)))


def _left(mech: Mechanism, q: Array, tolerance: float) -> str:
    """What is to be said where rows are still independent by less than the tolerance."""
    s = _singular_values(mech, q)
    small = s[(s > mech.evaluator.rank_tol) & (s < NOT_INDEPENDENT * tolerance)]
    if not len(small):
        return ""
    return (
        f" {len(small)} rows are still independent by no more than {small.max():.1e}: they count, and"
        f" the mobility may be too small by {len(small)}. Leave a redundant loop out, or give more digits."
    )


def _rank(mech: Mechanism, q: Array) -> int:
    return int(np.sum(_singular_values(mech, q) > mech.evaluator.rank_tol))


def _corrected(mech: Mechanism, pose: Array, misfit: float, tolerance: float) -> Mechanism:
    """The mechanism with its loops fitted; as it was where that does not help."""
    before = _nearest(mech, pose)
    unchanged = _started(mech, before.q) if before.closed else mech
    result, largest = mech, 0.0
    for truncation, seed in PASSES:
        found = fit_loops(result, pose, tolerance, truncation, seed)
        if found is None:
            return unchanged
        result, largest = found[0], largest + found[1]
        pose, _ = near_pose(result, pose, tolerance)
    after = _nearest(result, pose)
    if not after.closed or (before.closed and _rank(result, after.q) >= _rank(mech, before.q)):
        return unchanged
    loops = ", ".join(repr(name) for name, entry in mech.model.constraints if entry.frames())
    warn(
        f"{mech.name}: its loops ({loops}) do not fit together to rounding: near the rest pose they miss by "
        f"{misfit * mech.length:.1e} m (angles times L), and taken literally they bind. They were made "
        f"compatible by displacing frames of joints by up to {largest * mech.length:.1e} m or {largest:.1e} "
        f"rad. More digits avoid this.{_left(result, after.q, tolerance)}"
    )
    return _started(result, after.q)

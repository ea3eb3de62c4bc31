"""Rows of loops that depend on others but for the rounding of a file: left out, so that the loops move.

Where three parallel cranks of rounded lengths carry one plate, some row is independent by 1e-9 at every pose,
and the plate is locked for that. A row that is left out stays closed by as much as the data fit.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sarrus.arrays import Array
from sarrus.constraints.closures import Closure, without
from sarrus.errors import InputError, warn
from sarrus.mechanism.frame_fitting import poses_along
from sarrus.mechanism.mechanism import Mechanism
from sarrus.models.tree.joint import closure_rows_of
from sarrus.projection.decomposition import full_svd
from sarrus.projection.mobility import dependent_rows
from sarrus.projection.system_kinematics import dimensionless

RANK_TOL = 1e-7  # singular values of the dimensionless J below it are put down to rounding in files
STAYS = 1e-5  # what they may grow to elsewhere along the motion; near a singular pose they become large
FEWEST = 4  # poses along the motion that must show the same
SEED = 1856


def without_rounded_rows(mech: Mechanism, tolerance: float, rank_tol: float) -> Mechanism:
    """The mechanism without rows of loops that are independent by less than a tolerance along its motion.

    Args:
        mech: The mechanism, with a default state.
        tolerance: Largest misfit of loops that is put down to rounding [rad], or times L [m].
        rank_tol: Rows that are independent by less count as dependent; at most 1e-9: nothing is done.
    """
    q, finest = np.array(mech.default.q), mech.evaluator.rank_tol
    J = _rows(mech, q)
    s = full_svd(J)[1]
    small = int(np.sum((s > finest) & (s <= rank_tol)))
    if not small or not _stays(mech, q, tolerance, int(np.sum(s > rank_tol))):
        return mech
    rows = sorted(set(dependent_rows(J, rank_tol)) - set(dependent_rows(J, finest)))
    replaced = _replaced(mech, [mech.row_names[row] for row in rows])
    if replaced is None:
        return mech
    found = mech.with_constraints(replaced=replaced).with_default(*mech.default)
    largest = float(s[s <= rank_tol].max())
    names = ", ".join(repr(mech.row_names[row]) for row in rows)
    warn(
        f"{mech.name}: the rows {names} of its loops depend on others to within {largest:.1e}, which is put"
        f" down to rounding (rank_tol={rank_tol:g}): they are left out, and the loops move. rank_tol=0 keeps"
        " them."
    )
    return found


def _rows(mech: Mechanism, q: Array) -> Array:
    return dimensionless(mech.evaluator, mech.evaluator.constraints(q, np.zeros(mech.nv), 0.0)[1])


def _stays(mech: Mechanism, q: Array, tolerance: float, rank: int) -> bool:
    """Whether no more rows than `rank` become independent along the motion from q."""
    poses = poses_along(mech, q, tolerance, SEED)
    values = [full_svd(_rows(mech, pose))[1] for pose in poses]
    return len(poses) >= FEWEST and all(int(np.sum(s > STAYS)) <= rank for s in values)


def _replaced(mech: Mechanism, rows: list[str]) -> dict[str, Closure] | None:
    """Loops without these rows, by their names; None where one of them cannot be left out alone."""
    found: dict[str, Closure] = {}
    count = 0
    for name, entry in mech.model.constraints:
        gone = _rows_of(name, rows)
        if not gone or not isinstance(entry, Closure):
            continue
        left_out = (*entry.left_out, *gone)
        if not _can_leave_out(entry, left_out):
            return None
        count += len(gone)
        found[name] = replace(entry, left_out=left_out)
    return found if count == len(rows) else None


def _rows_of(loop: str, rows: list[str]) -> tuple[str, ...]:
    """Those of the rows that are of a loop, without its name."""
    return tuple(row.removeprefix(f"{loop}.") for row in rows if row.startswith(f"{loop}."))


def _can_leave_out(loop: Closure, names: tuple[str, ...]) -> bool:
    """Whether a loop keeps rows that make sense without these."""
    try:
        without(closure_rows_of(loop.joint), names)
    except InputError:
        return False
    return True

"""What is said where a parameter opens a loop that is overconstrained."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...arrays import Array
from ...errors import AssemblyError

if TYPE_CHECKING:
    from ..mechanism import Mechanism

OPENS = 1e-7  # part of a row's change that no motion takes up, above which a loop opens


def opened_loop(mech: Mechanism, fixed: Sequence[str], name: str, left: Array) -> AssemblyError:
    """Names a parameter and the rows that no motion keeps closed while it changes.

    Args:
        mech: whose rows.
        fixed: coordinates that are held.
        name: of the parameter.
        left: part of the rows' change that no motion takes up (nc,).
    """
    rows = np.flatnonzero(np.abs(left) > 0.1 * np.max(np.abs(left)))
    shown = ", ".join(repr(mech.row_names[i]) for i in rows[:6]) + (", ..." if len(rows) > 6 else "")
    held = f" while {', '.join(map(repr, fixed))} is held" if fixed else ""
    return AssemblyError(
        f"there is no derivative by parameter {name!r}: no motion keeps the rows {shown} closed when it"
        f" changes{held}. The loop is overconstrained (mech.mobility(q).redundant names rows that depend on"
        " others), or the pose is singular. Let other dimensions follow this one, leave redundant rows out,"
        " or hold other coordinates."
    )

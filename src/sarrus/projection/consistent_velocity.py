"""Consistent velocities: the velocity nearest to a given one that satisfies J v = b, some entries prescribed.

    min (v - v0).T W (v - v0)   subject to   [J; E] v = [b; values]                             (1)
    v = v0 + [J; E]^+ ([b; values] - [J; E] v0)        pseudoinverse in the metric W

E selects the prescribed coordinates. Rows that restrict velocities only (rolling) are included.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from ..errors import AssemblyError
from .decomposition import decompose, rank_of
from .system_kinematics import Kinematics

CONSISTENT_TOL = 1e-9  # on |J v - b| relative to the speeds involved, lengths divided by L


def consistent_velocity(
    system: Kinematics,
    q: Array,
    v0: Array,
    t: float = 0.0,
    *,
    held: npt.ArrayLike = (),
    values: npt.ArrayLike = (),
    metric: Array | None = None,
) -> Array:
    """The velocity (nv,) nearest to v0 with J v = b and v[held] = values.

    Args:
        system: whose constraints.
        q: pose (nq,).
        v0: the given velocity (nv,).
        t: time [s].
        held: indices of coordinates whose velocity is prescribed.
        values: their velocities.
        metric: what "nearest" means (nv, nv); None takes |v / unit|, lengths divided by L.

    Raises:
        AssemblyError: no velocity satisfies all rows and all prescribed values.
    """
    held = np.asarray(held, dtype=int)
    _, J, b, _ = system.constraints(q, np.zeros(system.nv), t)
    selection = np.eye(system.nv)[held]
    rows = np.vstack([J, selection])
    rights = np.concatenate([b, np.asarray(values, dtype=float)])
    scale = np.concatenate([system.row_unit, system.unit[held]])

    # rank on rows without units, solution in the metric   (1)
    rank = rank_of(rows * system.unit / scale[:, None], system.rank_tol)
    W = np.diag(system.unit**-2) if metric is None else metric
    v = v0 + decompose(rows / scale[:, None], W, rank=rank).solve((rights - rows @ v0) / scale)
    v[held] = values

    miss = np.abs(rows @ v - rights) / scale
    sizes = (v / system.unit, v0 / system.unit, rights / scale)  # v0: a wish across the rows leaves rounding
    speed = max(float(np.max(np.abs(x), initial=0.0)) for x in sizes)
    if np.max(miss, initial=0.0) > CONSISTENT_TOL * speed:
        _refuse(system, miss, held)
    return v


def _refuse(system: Kinematics, miss: Array, held: Array) -> None:
    """Raise an error that names the rows which the prescribed velocities violate most."""
    names = [*system.row_names, *(f"velocity of {system.coordinate_names[i]}" for i in held)]
    broken = [f"{names[i]} by {miss[i]:.2g}" for i in np.argsort(-miss)[:4] if miss[i] > 0.1 * np.max(miss)]
    fixed = ", ".join(system.coordinate_names[i] for i in held) or "none"
    raise AssemblyError(
        "No velocity satisfies the constraints and the velocities that were fixed together; missed: "
        f"{'; '.join(broken)} (lengths divided by L). Fixed: {fixed}; fix fewer, or other values."
    )

"""Linear models near singular poses: what rounding leaves of them, and what is said about it.

A pose that is known to e turns the direction in which J has the small singular value s by e / s^2. The
acceleration due to the curvature of the constraints is then wrong by e |v|^2 / s^3, what accelerates along
that direction by e |a| / s^2, and so is a linear model; measured on slider-cranks and four-bars
(tests/linearization/test_near_singular.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Array
from ..blas_threads import one_blas_thread
from ..errors import SingularConstraintError, warn

ROUNDING = 4e-16  # to which poses are known, lengths divided by L
ACCURATE = 1e-6  # errors below this, relative to the accelerations at hand, are not told
LOST = 1e-2  # models with larger ones are refused
RANK_TOL = 1e-9


@one_blas_thread
def require_accuracy(mech: Any, q: Array, v: Array, a: Array, t: float) -> None:
    """Warn where rounding leaves a model few digits, and refuse it where it leaves none.

    Args:
        mech: whose model.
        q: pose (nq,), or poses (B, nq).
        v: velocities, likewise.
        a: accelerations, likewise.
        t: time [s].
    """
    if mech.nc == 0:
        return
    values, errors = errors_at(mech, q, v, a, t)
    worst = int(np.argmax(errors))
    value, error = float(values.flat[worst]), float(errors.flat[worst])
    if not error > ACCURATE:
        return
    which = f" of state {worst}" if errors.size > 1 else ""
    said = (
        f"at the pose{which} of {mech.name!r}, near a singular one: its constraints have the singular value"
        f" {value:.1e} (dimensionless)"
    )
    if error > LOST:
        raise SingularConstraintError(
            f"no linear model {said}, and rounding leaves nothing of the derivatives. Linearize farther from"
            f" the singular pose, at singular values above {value * (error / ACCURATE) ** (1 / 3):.0e}."
        )
    warn(f"The linear model {said}; rounding leaves errors of about {error:.0e}, relative to its motion.")


def errors_at(mech: Any, q: Array, v: Array, a: Array, t: float) -> tuple[Array, Array]:
    """Least singular values of J, and errors of linear models relative to the accelerations there."""
    units, terms = mech.units, mech.terms(q, v, t)
    values = np.linalg.svd(terms.J * units.unit / units.row_unit[:, None], compute_uv=False)
    s = np.min(np.where(values > RANK_TOL, values, np.inf), axis=-1, initial=np.inf)
    fast, accelerated = (np.linalg.norm(x / units.unit, axis=-1) for x in (v, a))
    gravity = float(np.linalg.norm(getattr(mech.model, "gravity", 0.0))) / mech.length
    known = ROUNDING + np.max(np.abs(terms.phi) * units.per_row, axis=-1, initial=0.0)
    size = fast**2 + accelerated + gravity
    wrong = known * (fast**2 / s**3 + accelerated / s**2)
    return s, np.where(size > 0.0, wrong / np.maximum(size, 1e-300), 0.0)

"""Loops that miss each other by the last digit of a file, made to fit.

A file with six digits describes axes that are parallel to 1e-6 only, or a loop that stays open by a micron.
Taken literally such a mechanism is locked. Here, at the pose where its loops come closest to closing,

1. axes of the loops that are parallel to within the tolerance are turned until they are parallel,
2. what then remains open is taken into the frames `at_b` of the loops,

and a warning says by how much. Larger misfits are left for assembly to report.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np

from sarrus.arrays import FloatArray
from sarrus.constraints.closures import Closure
from sarrus.errors import SarrusWarning
from sarrus.formats.fitting import align_axes, take_gaps
from sarrus.mechanism.mechanism import Mechanism
from sarrus.mechanism.spec import MechanismSpec
from sarrus.projection.closing import Closing, close
from sarrus.projection.decomposition import full_svd
from sarrus.projection.kinematics import dimensionless

LOOP_TOLERANCE = 1e-4  # [rad], or times L [m]


def compile_compatible(
    spec: MechanismSpec, rest: Callable[[Mechanism], FloatArray], tolerance: float = LOOP_TOLERANCE
) -> Mechanism:
    """Compile, set `default` near the rest pose, and correct loops that miss by less than the tolerance.

    Args:
        spec: The description.
        rest: Gives the pose (nq,) to start from.
        tolerance: Largest misfit that is corrected [rad], or times L [m].

    Returns:
        The mechanism; where its loops do not close, without a default state, for `assemble` to explain.
    """
    mech = Mechanism(spec.model())
    q = rest(mech)
    if mech.nc == 0:
        return mech if np.array_equal(q, mech.neutral()) else mech.with_default(q)
    near = _nearest(mech, q)
    if _size(near) > tolerance:
        found = mech.assemble(q)
        near = _nearest(mech, found.q)
    if _size(near) > tolerance:
        return mech
    if near.closed and not _binds(mech, near.q, tolerance):
        return _started(mech, near.q)
    return _corrected(spec, mech, near, tolerance)


def _nearest(mech: Mechanism, q: FloatArray) -> Closing:
    """One descent from q: the pose nearby at which the loops are closed best."""
    rows = np.flatnonzero(mech.model.holonomic)
    return close(mech.evaluator, q, 0.0, rows, np.arange(mech.nv))


def _size(closing: Closing) -> float:
    return float(np.max(np.abs(closing.r), initial=0.0))


def _started(mech: Mechanism, q: FloatArray) -> Mechanism:
    return mech.with_default(q, mech.consistent_velocity(q))


def _singular_values(mech: Mechanism, q: FloatArray) -> FloatArray:
    _, J, _, _ = mech.evaluator.constraints(q, np.zeros(mech.nv), 0.0)
    return np.asarray(full_svd(dimensionless(mech.evaluator, J))[1])


def _binds(mech: Mechanism, q: FloatArray, tolerance: float) -> bool:
    """Whether some rows are independent by less than the tolerance: the mark of axes nearly parallel."""
    s = _singular_values(mech, q)
    return bool(np.any((s > mech.evaluator.rank_tol) & (s < tolerance)))


def _rank(mech: Mechanism, q: FloatArray) -> int:
    return int(np.sum(_singular_values(mech, q) > mech.evaluator.rank_tol))


def _corrected(spec: MechanismSpec, mech: Mechanism, near: Closing, tolerance: float) -> Mechanism:
    """The mechanism with its loops fitted; as it was where that does not help."""
    unchanged = _started(mech, near.q) if near.closed else mech
    aligned, tilt = align_axes(spec, mech, near.q, tolerance)
    straight = Mechanism(aligned.model())
    best = _nearest(straight, near.q)
    fitted, moved = take_gaps(aligned, straight, best.q)
    result = Mechanism(fitted.model())
    final = _nearest(result, best.q)
    helped = final.closed and (not near.closed or _rank(result, final.q) < _rank(mech, near.q))
    if not helped:
        return unchanged
    loops = ", ".join(repr(name) for name, entry in spec.constraints if isinstance(entry, Closure))
    warnings.warn(
        f"{spec.name}: its loops ({loops}) do not fit together to rounding: the best pose leaves them open "
        f"by {_size(near) * mech.length:.1e} m (angles times L). They were made compatible: axes were turned "
        f"by up to {tilt:.1e} rad to be parallel, frames of loops moved by up to {moved:.1e} m (angles times "
        "L). More digits in the file avoid this.",
        SarrusWarning,
        stacklevel=4,
    )
    return _started(result, final.q)

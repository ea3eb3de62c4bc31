"""Impact: constraints that close while the bodies they join still move relative to each other; no rebound.

    min 1/2 |v+ - v-|_M^2   subject to   J v+ = b                                                     (1)
    M (v+ - v-) = J.T lam,   lam the impulses [N s, N m s]                                            (2)

The change of velocity is orthogonal, in the mass metric, to the tangent directions: the momentum along them
stays, N.T M v+ = N.T M v-. With b = 0 the kinetic energy falls by 1/2 |v+ - v-|_M^2. Rows may depend on each
other ([Aghili2005] II-A.1 with W = M).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from ..errors import AssemblyError
from ..projection.decomposition import decompose, rank_of
from ..projection.system_kinematics import dimensionless
from .formulations import least_multipliers
from .terms import Terms, Units

CONSISTENT = 1e-9  # on |J v - b| after the impact, relative to the speeds, lengths divided by L


@dataclass(frozen=True)
class Impact:
    """Velocities, impulses and energies of an impact on one state.

    Attributes:
        v_before: velocity before (nv,) [rad/s, m/s].
        v: velocity after (nv,).
        impulse: generalized impulse of the constraints (nv,) [N m s, N s], M (v - v_before) = J.T lam.
        lam: impulse of each row (nc,), of least norm where rows depend on each other.
        momentum_before, momentum: generalized momentum M v before and after (nv,).
        energy_before, energy: kinetic energy before and after [J].
        dissipated: 1/2 |v - v_before|_M^2 [J]; all that is lost where nothing is driven.
        rank: rank of J.
    """

    v_before: Array
    v: Array
    impulse: Array
    lam: Array
    momentum_before: Array
    momentum: Array
    energy_before: float
    energy: float
    dissipated: float
    rank: int

    @property
    def energy_lost(self) -> float:
        """Loss of kinetic energy [J]."""
        return self.energy_before - self.energy


def impact(terms: Terms, v: Array, units: Units) -> Impact:
    """The impact (1) of the constraints of `terms` (at the pose) on the velocity v (nv,).

    Raises:
        AssemblyError: no velocity satisfies J v = b: drives contradict what closes.
    """
    M, J, b = terms.M, terms.J, terms.b
    scale = units.row_unit
    rank = rank_of(dimensionless(units, J), units.rank_tol)
    change = decompose(J / scale[:, None], M, rank=rank).solve((b - J @ v) / scale)
    after = v + change
    miss = np.abs(J @ after - b) / scale
    speed = max(
        float(np.max(np.abs(x), initial=0.0)) for x in (v / units.unit, after / units.unit, b / scale)
    )
    if np.max(miss, initial=0.0) > CONSISTENT * speed:
        worst = units.row_names[int(np.argmax(miss))]
        raise AssemblyError(
            f"no velocity after the impact satisfies all rows: {worst!r} is missed by {np.max(miss):.2g}"
            " (lengths divided by L). A drive contradicts what closes; open one of them."
        )
    before, momentum = M @ v, M @ after
    impulse = M @ change
    return Impact(
        v_before=v,
        v=after,
        impulse=impulse,
        lam=least_multipliers(J, impulse, rank),
        momentum_before=before,
        momentum=momentum,
        energy_before=0.5 * float(v @ before),
        energy=0.5 * float(after @ momentum),
        dissipated=0.5 * float(change @ impulse),
        rank=rank,
    )

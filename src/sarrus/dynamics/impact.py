"""Impact: constraints that close while the bodies they join still move relative to each other; no rebound.

    min 1/2 |v+ - v-|_M^2   subject to   J v+ = b                                                     (1)
    M (v+ - v-) = J.T lam,   lam the impulses [N s, N m s]                                            (2)

The change of velocity is orthogonal, in the mass metric, to the tangent directions: the momentum along them
stays, N.T M v+ = N.T M v-. With b = 0 the kinetic energy falls by 1/2 |v+ - v-|_M^2. Rows may depend on each
other ([Aghili2005] II-A.1 with W = M). The kernel solves it (kernels/solve/search/consistent_velocity.hpp).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array
from ..errors import AssemblyError


@dataclass(frozen=True)
class Impact:
    """Velocities, impulses and energies of an impact on one state, or on a batch (batch axes in front).

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
    energy_before: float | Any
    energy: float | Any
    dissipated: float | Any
    rank: int | Any

    @property
    def energy_lost(self) -> float | Any:
        """Loss of kinetic energy [J]."""
        return self.energy_before - self.energy


def no_velocity_after(row_names: tuple[str, ...], miss: Array) -> AssemblyError:
    """The error where drives contradict what closes; miss (nc,) is |J v - b| with lengths divided by L."""
    return AssemblyError(
        f"no velocity after the impact satisfies all rows: {row_names[int(np.argmax(miss))]!r} is missed by"
        f" {np.max(miss):.2g} (lengths divided by L). A drive contradicts what closes; open one of them."
    )

"""Force margin: contacts that stay inside their limits under an unknown wrench on the object.

An unknown wrench w on the object changes the multipliers by S w (S: their response to forces on the object's
coordinates). A limit l.lam >= b holds for all w with |(force / reserve_f, moment / reserve_m)| <= 1 if

    l.lam >= b + | l S diag(reserve) |                                                                 (1)

at the lam of the wrench that is known. Friction cones are drawn in by the largest change of either side:
kernels/control/control_step.hpp.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import Array, fixed_shape
from ...errors import InputError
from ...models.base.rotation import hat
from .grasp import Grasp


def borne_wrenches(grasp: Grasp, reserve: Array) -> Array | None:
    """Wrenches on the coordinates of the object that the contacts shall bear, (6, 6) by columns.

    Args:
        grasp: whose object.
        reserve: (force [N], moment [N m]) in any direction at its centre of mass; (0, 0) gives None.
    """
    at_origin = np.eye(6)  # [force; moment] on the coordinates of the object
    at_origin[3:, :3] = hat(grasp.com)
    return at_origin * np.repeat(reserve, 3) if reserve.any() else None


def check_reserve(reserve: Any) -> Array:
    """(force, moment), not negative."""
    found = fixed_shape(reserve, "reserve of ObjectImpedance", (2,))
    if np.any(found < 0.0):
        raise InputError(
            f"reserve must be (force [N], moment [N m]), not negative, got {found.tolist()}; (0, 0) is none."
        )
    return found

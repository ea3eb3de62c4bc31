"""Force margin: contacts that stay inside their limits under an unknown wrench on the object.

An unknown wrench w on the object changes the multipliers by S w (S: their response to forces on the object's
coordinates). A limit l.lam >= b holds for all w with |(force / reserve_f, moment / reserve_m)| <= 1 if

    l.lam >= b + | l S diag(reserve) |                                                                 (1)

at the lam of the wrench that is known. Friction cones are drawn in by the largest change of either side.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import Array, fixed_shape
from ...dynamics.input_response import Response
from ...errors import InputError
from ...models.rotation import hat
from ..limits.limit_table import InputRows, LimitTable
from ..state.measured_state import MeasuredState
from .grasp import Grasp


class LimitsWithReserve:
    """The limits of a law, drawn in by what an unknown wrench on the object can do to them.

    Args:
        table: all limits of the law.
        grasp: whose object.
        reserve: (force [N], moment [N m]) in any direction.
    """

    def __init__(self, table: LimitTable, grasp: Grasp, reserve: Array) -> None:
        self._table, self._reserve = table, reserve
        self.on_lam, self.is_fixed, self.has_cones = table.on_lam, table.is_fixed, table.has_cones
        self.fixed, self.row_name, self.rows_found = table.fixed, table.row_name, table.rows_found
        own = grasp.system.model.v_slices[grasp.system.model.body_index(grasp.body, "Grasp")]
        self._columns = np.arange(grasp.system.nv)[own]
        # [force; moment] on the coordinates of the object, for a wrench at its centre of mass
        at_origin = np.eye(6)
        at_origin[3:, :3] = hat(grasp.com)
        self._to_origin = at_origin * np.repeat(reserve, 3)

    @property
    def wrenches(self) -> Array | None:
        """Wrenches on the coordinates of the object that shall be borne, (6, 6) by columns; None is none."""
        return self._to_origin if self._reserve.any() else None

    def at(self, now: MeasuredState, response: Response, rows: Any, released: Any = None) -> InputRows:
        """As `LimitTable.at`, with the reserve of every row."""
        if not self._reserve.any():
            return self._table.at(now, response, rows, released)
        disturbance = response.lam_per_force[:, self._columns] @ self._to_origin
        return self._table.at(now, response, rows, released, disturbance)


def check_reserve(reserve: Any) -> Array:
    """(force, moment), not negative."""
    found = fixed_shape(reserve, "reserve of ObjectImpedance", (2,))
    if np.any(found < 0.0):
        raise InputError(
            f"reserve must be (force [N], moment [N m]), not negative, got {found.tolist()}; (0, 0) is none."
        )
    return found

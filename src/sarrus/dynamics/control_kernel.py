"""What controllers ask of the kernel at every step: inputs for accelerations, and the nearest within rows.

Controllers do not know the kernel; these are its functions as they are, without a layer in between.
"""

from __future__ import annotations

from .._kernel import descend as descend_levels
from .._kernel import (
    eigenvalues,
    inputs_within,
    is_state,
    largest,
    loaded_terms,
    payload_regressor,
    possible_payload,
)
from .._kernel import least_inputs as inputs_for
from .._kernel import limit_rows as rows_on_inputs
from .._kernel import reach as mass_reach
from .._kernel import solve_program as nearest_within

__all__ = [
    "descend_levels",
    "eigenvalues",
    "inputs_for",
    "inputs_within",
    "is_state",
    "largest",
    "loaded_terms",
    "mass_reach",
    "nearest_within",
    "payload_regressor",
    "possible_payload",
    "rows_on_inputs",
]

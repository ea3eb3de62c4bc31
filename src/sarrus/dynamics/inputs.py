"""What controllers ask of the kernel at every step: inputs for accelerations, and the nearest within rows.

Controllers do not know the kernel; these are its functions as they are, without a layer in between.
"""

from __future__ import annotations

from .._kernel import least_inputs as inputs_for
from .._kernel import solve_program as nearest_within

__all__ = ["inputs_for", "nearest_within"]

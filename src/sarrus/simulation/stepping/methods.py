"""Integration methods and corrections of drift by name, as the kernel describes them.

kernels/integrate/methods.hpp is the only list of methods: their coefficients, orders and properties.
"""

from __future__ import annotations

from ..._kernel import Correction, Method, methods

METHODS: dict[str, Method] = {method.name: method for method in methods()}
CORRECTIONS: dict[str, Correction] = {correction.name.lower(): correction for correction in Correction}
CORRECTIONS["soft"] = Correction.NONE  # the accelerations, from NumPy, keep the constraints

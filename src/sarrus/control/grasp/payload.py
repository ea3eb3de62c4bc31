"""Payload: mass that an object carries, as ten numbers that enter its equations linearly.

    pi = [m, m c (3), I_xx, I_yy, I_zz, I_xy, I_xz, I_yz]    about the origin of the body, in its axes   (1)

With a the acceleration of the origin, g gravity, w the angular velocity, all in the axes of the body,

    force  = m (a - g) + w' x m c + w x (w x m c)
    moment = m c x (a - g) + I w' + w x I w                                                            (2)

is what the body has to exert on it: Y(a - g, w, w') pi [Featherstone2008] chapter 2;
kernels/control/payload.hpp.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...arrays import Array, fixed_shape, number
from ...models.base.rotation import hat


@dataclass(frozen=True)
class Payload:
    """Mass fixed to a body.

    Args:
        mass: [kg]; negative takes mass away.
        com: its centre of mass in the body frame [m], (3,).
        inertia: about its centre of mass, in the body's axes [kg m^2], (3,) diagonal or (3, 3).
    """

    mass: float = 0.0
    com: Any = (0.0, 0.0, 0.0)
    inertia: Any = (0.0, 0.0, 0.0)

    @property
    def parameters(self) -> Array:
        """The ten numbers pi of (1)."""
        m, c = number(self.mass, "mass of Payload"), fixed_shape(self.com, "com of Payload", (3,))
        one = np.ndim(self.inertia) == 1
        I_c = fixed_shape(self.inertia, "inertia of Payload", (3,) if one else (3, 3))
        I = (np.diag(I_c) if one else I_c) - m * hat(c) @ hat(c)
        return np.array([m, *(m * c), I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]])

    @staticmethod
    def of(parameters: Array) -> Payload:
        """The payload with these ten numbers; without mass its centre is the origin."""
        m = float(parameters[0])
        c = parameters[1:4] / m if abs(m) > 1e-12 else np.zeros(3)
        I = _matrix(parameters[4:]) + m * hat(c) @ hat(c)
        return Payload(m, tuple(c.tolist()), I)

    @staticmethod
    def of_body(body: Any) -> Payload:
        """The inertia that a body of a mechanism has itself."""
        return Payload(body.mass, body.com, np.asarray(body.inertia))


def _matrix(entries: Array) -> Array:
    xx, yy, zz, xy, xz, yz = entries.tolist()
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])

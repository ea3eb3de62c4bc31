"""One-axis closures seen from afar: the whole angle between two axes instead of its sine.

The rows of a Revolute, Cylindrical, Helical or Planar closure are the components of B's axis d across A's
axis, p = sin(theta) u. They vanish for anti-parallel axes too, so assembly uses

    r = theta u,    theta = atan2(|p|, d . a) in [0, pi]                                        (1)

with the angular velocity w of B relative to A and the unit vectors a (A's axis) and e (along p):

    theta' = (a x e) . w        r' across u = (theta / sin theta) (d x (a x e)) . w             (2)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._kernel import CLOSURE_ANGULAR
from ..arrays import Array
from ..models.model import Model
from ..models.parameters import ELEMENTS, kind_number

PARALLEL = 1e-6  # below this angle [rad] r and p are the same number
STEEPEST = 4.0  # bound of theta / sin(theta) in (2): near anti-parallel axes every way out is as good


class OneAxisClosures:
    """Those closures of a model that keep two axes parallel, with a body to stand for each of their nodes."""

    def __init__(self, model: Model) -> None:
        self._model = model
        closure = kind_number(ELEMENTS, "Closure")
        every = {i: model.element_parameters(i) for i, kind in enumerate(model.el_kind) if kind == closure}
        across = CLOSURE_ANGULAR["ACROSS"]
        self._which = {i: given for i, given in every.items() if given["angular"] == across}
        self._body_of = {int(node): body for body, node in reversed(list(enumerate(model.body_node)))}

    def whole_angles(self, kernel: Any, q: Array, phi: Array, J: Array) -> tuple[Array, Array]:
        """phi and J with (1), (2) in the angular rows of these closures."""
        if not self._which:
            return phi, J
        phi, J = phi.copy(), J.copy()
        R_WB = kernel.poses(q[None])[0][0]
        for i in self._which:
            self._replace(kernel, q, R_WB, i, phi, J)
        return phi, J

    def _replace(self, kernel: Any, q: Array, R_WB: Array, i: int, phi: Array, J: Array) -> None:
        m, closure = self._model, self._which[i]
        body_a, body_b = self._body_of[int(m.el_a[i])], self._body_of[int(m.el_b[i])]
        R_a, R_b = (R_WB[k] @ m.R_NB[k].T for k in (body_a, body_b))
        x1, x2 = closure["across_a"].reshape(2, 3) @ R_a.T
        handed = np.sign(np.cross(*closure["across_b"].reshape(2, 3)) @ closure["axis_b"])
        a, d = handed * np.cross(x1, x2), R_b @ closure["axis_b"]
        p = np.array([x1 @ d, x2 @ d])
        sine, cosine = float(np.linalg.norm(p)), float(a @ d)
        theta = np.arctan2(sine, cosine)
        if theta < PARALLEL:
            return
        u = p / sine if sine > 0.0 else np.array([1.0, 0.0])
        e = u[0] * x1 + u[1] * x2
        origin = np.zeros(3)
        w = (kernel.jacobian(q[None], body_b, origin) - kernel.jacobian(q[None], body_a, origin))[0, 3:]
        steep = min(theta / max(sine, 1e-300), STEEPEST)
        across = handed * np.array([-u[1], u[0]])
        row = int(m.el_row[i] + m.el_rows[i]) - 2
        phi[row : row + 2] = theta * u
        J[row : row + 2] = np.outer(u, np.cross(a, e) @ w) + np.outer(
            across, steep * np.cross(d, np.cross(a, e)) @ w
        )

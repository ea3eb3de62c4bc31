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
import numpy.typing as npt

from ..models.model import Model

Array = npt.NDArray[np.float64]

ACROSS = 1  # kernels/tree/model.hpp, enum Angular
PARALLEL = 1e-6  # below this angle [rad] r and p are the same number
STEEPEST = 4.0  # bound of theta / sin(theta) in (2): near anti-parallel axes every way out is as good


class OneAxisClosures:
    """Those closures of a model that keep two axes parallel, with a body to stand for each of their nodes."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._which = [i for i in range(len(model.cl_angular)) if model.cl_angular[i] == ACROSS]
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
        m = self._model
        body_a, body_b = self._body_of[int(m.cl_a[i])], self._body_of[int(m.cl_b[i])]
        R_a, R_b = (R_WB[k] @ m.R_NB[k].T for k in (body_a, body_b))
        x1, x2 = m.cl_across_a[i] @ R_a.T
        handed = np.sign(np.cross(*m.cl_across_b[i]) @ m.cl_axis_b[i])
        a, d = handed * np.cross(x1, x2), R_b @ m.cl_axis_b[i]
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
        row = int(m.cl_row[i]) + int(m.cl_linear[i] & 7).bit_count()
        phi[row : row + 2] = theta * u
        J[row : row + 2] = np.outer(u, np.cross(a, e) @ w) + np.outer(
            across, steep * np.cross(d, np.cross(a, e)) @ w
        )

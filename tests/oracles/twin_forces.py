"""Declared forces of the twin: damping, friction, springs, wrenches, stops."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from .twin import Twin

Array = npt.NDArray[np.float64]


def applied_forces(twin: Twin, q: Array, v: Array, X: list[Array], J: list[Array]) -> Array:
    """Generalized force (nv,) of everything declared; J are the nodes' Jacobians in their own frames."""
    f = twin.field
    tau = -f["damping"].ravel() * v
    speed = np.where(f["friction_speed"].ravel() > 0, f["friction_speed"].ravel(), 1.0)
    tau = tau - f["friction"].ravel() * np.tanh(v / speed)
    for i in range(twin.size["njs"]):
        stretch = q[f["js_q"].ravel()[i]] - f["js_rest"].ravel()[i]
        tau[f["js_v"].ravel()[i]] -= f["js_stiffness"].ravel()[i] * stretch
    for i in range(twin.size["nst"]):
        tau[f["st_v"].ravel()[i]] += _stop(f, i, q, v)
    for i in range(twin.size["nps"]):
        tau += _point_spring(twin, i, v, X, J)
    for i in range(twin.size["nw"]):
        n, point = int(f["w_node"].ravel()[i]), f["w_point"].reshape(-1, 3)[i]
        wrench = f["w_wrench"].reshape(-1, 6)[i]
        axes = np.eye(3) if f["w_local"].ravel()[i] else X[n][:3, :3].T
        force, moment = axes @ wrench[:3], axes @ wrench[3:]
        tau += J[n].T @ np.append(force, moment + np.cross(point, force))
    return tau


def _stop(f: dict[str, Array], i: int, q: Array, v: Array) -> float:
    """One-sided spring and damper at the ends of a joint's range: it pushes, it never pulls."""
    x, speed = q[f["st_q"].ravel()[i]], v[f["st_v"].ravel()[i]]
    lower, upper = f["st_lower"].ravel()[i], f["st_upper"].ravel()[i]
    depth = min(x - lower, 0.0) + max(x - upper, 0.0)
    push = f["st_stiffness"].ravel()[i] * depth + f["st_damping"].ravel()[i] * speed
    return float(-push) if push * depth > 0 else 0.0


def _point_spring(twin: Twin, i: int, v: Array, X: list[Array], J: list[Array]) -> Array:
    f = twin.field
    a, b = int(f["ps_a"].ravel()[i]), int(f["ps_b"].ravel()[i])
    p_a, p_b = f["ps_p_a"].reshape(-1, 3)[i], f["ps_p_b"].reshape(-1, 3)[i]
    along = (X[b] @ np.append(p_b, 1) - X[a] @ np.append(p_a, 1))[:3]
    length = np.linalg.norm(along)
    if length == 0.0:
        return np.zeros(twin.nv)
    relative = _point_jacobian(X[b], J[b], p_b) - _point_jacobian(X[a], J[a], p_a)
    row = along / length @ relative
    tension = f["ps_stiffness"].ravel()[i] * (length - f["ps_rest"].ravel()[i])
    return -row * (tension + f["ps_damping"].ravel()[i] * (row @ v))


def _point_jacobian(X: Array, J: Array, p: Array) -> Array:
    """Jacobian (3, nv) of a point of a node, world axes."""
    return X[:3, :3] @ (J[:3] + np.cross(J[3:], p, axisa=0, axisb=0, axisc=0))


def spring_energy(twin: Twin, q: Array, X: list[Array]) -> float:
    """Potential energy of springs and stops in J."""
    f = twin.field
    out = 0.0
    for i in range(twin.size["njs"]):
        out += f["js_stiffness"].ravel()[i] * (q[f["js_q"].ravel()[i]] - f["js_rest"].ravel()[i]) ** 2 / 2
    for i in range(twin.size["nps"]):
        a, b = int(f["ps_a"].ravel()[i]), int(f["ps_b"].ravel()[i])
        p_a, p_b = f["ps_p_a"].reshape(-1, 3)[i], f["ps_p_b"].reshape(-1, 3)[i]
        length = np.linalg.norm((X[b] @ np.append(p_b, 1) - X[a] @ np.append(p_a, 1))[:3])
        out += f["ps_stiffness"].ravel()[i] * (length - f["ps_rest"].ravel()[i]) ** 2 / 2
    for i in range(twin.size["nst"]):
        x = q[f["st_q"].ravel()[i]]
        depth = min(x - f["st_lower"].ravel()[i], 0.0) + max(x - f["st_upper"].ravel()[i], 0.0)
        out += f["st_stiffness"].ravel()[i] * depth**2 / 2
    return float(out)

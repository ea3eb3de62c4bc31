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
    for i, (kind, c) in enumerate(twin.parameters("cf", "coordinate_forces")):
        iq, iv = (int(f[name].ravel()[i]) for name in ("cf_q", "cf_v"))
        tau[iv] += ON_COORDINATES[kind](c, q[iq], v[iv])
    for i, (kind, c) in enumerate(twin.parameters("fo", "forces")):
        a, b = (int(f[name].ravel()[i]) for name in ("fo_a", "fo_b"))
        tau += BETWEEN_NODES[kind](c, v, (X[a], J[a]), (X[b], J[b]))
    return tau


def _spring(c: dict[str, Array], x: float, _: float) -> float:
    return float(-c["stiffness"] * (x - c["rest"]))


def _stop(c: dict[str, Array], x: float, speed: float) -> float:
    """One-sided spring and damper at the ends of a joint's range: it pushes, it never pulls."""
    depth = _depth(c, x)
    push = float(c["stiffness"]) * depth + float(c["damping"]) * speed
    return -push if push * depth > 0 else 0.0


def _depth(c: dict[str, Array], x: float) -> float:
    return min(x - float(c["lower"]), 0.0) + max(x - float(c["upper"]), 0.0)


def _wrench(c: dict[str, Array], v: Array, a: tuple[Array, Array], b: tuple[Array, Array]) -> Array:
    X, J = b
    axes = np.eye(3) if c["follows"] else X[:3, :3].T
    force, moment = axes @ c["force"], axes @ c["moment"]
    return J.T @ np.append(force, moment + np.cross(c["p_b"], force))


def _along(c: dict[str, Array], X_a: Array, X_b: Array) -> Array:
    return (X_b @ np.append(c["p_b"], 1) - X_a @ np.append(c["p_a"], 1))[:3]


def _point_spring(c: dict[str, Array], v: Array, a: tuple[Array, Array], b: tuple[Array, Array]) -> Array:
    along = _along(c, a[0], b[0])
    length = np.linalg.norm(along)
    if length == 0.0:
        return np.zeros(len(v))
    relative = _point_jacobian(*b, c["p_b"]) - _point_jacobian(*a, c["p_a"])
    row = along / length @ relative
    return -row * (c["stiffness"] * (length - c["rest"]) + c["damping"] * (row @ v))


ON_COORDINATES = {"JointSpring": _spring, "JointStop": _stop}
BETWEEN_NODES = {"PointSpring": _point_spring, "ConstantWrench": _wrench}


def _point_jacobian(X: Array, J: Array, p: Array) -> Array:
    """Jacobian (3, nv) of a point of a node, world axes."""
    return X[:3, :3] @ (J[:3] + np.cross(J[3:], p, axisa=0, axisb=0, axisc=0))


def spring_energy(twin: Twin, q: Array, X: list[Array]) -> float:
    """Potential energy of springs and stops in J."""
    out = 0.0
    for i, (kind, c) in enumerate(twin.parameters("cf", "coordinate_forces")):
        at = q[int(twin.field["cf_q"].ravel()[i])]
        x = at - float(c["rest"]) if kind == "JointSpring" else _depth(c, at)
        out += float(c["stiffness"]) * x**2 / 2
    for i, (kind, c) in enumerate(twin.parameters("fo", "forces")):
        if kind == "PointSpring":
            a, b = (int(twin.field[name].ravel()[i]) for name in ("fo_a", "fo_b"))
            length = np.linalg.norm(_along(c, X[a], X[b]))
            out += float(c["stiffness"]) * (length - float(c["rest"])) ** 2 / 2
    return float(out)

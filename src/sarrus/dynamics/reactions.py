"""Loop reactions: the wrench that a closure exerts on body b at B, from its multipliers.

Row i does the power lam_i phi_i' on the relative twist of B, so its wrench on b at B is

    linear row along e            force  e                     (e . (p_B - p_A), e fixed in a)
    distance                      force  (p_B - p_A) / |p_B - p_A|
    axis components, cosine       moment d x e                 (e . d, d the axis of b)
    rotation vector f of B in A   moment Jl(f)^-T a_i          (a_i the axes of A)
    thread of pitch p             force e and moment -p m, m the row of the angle about the axis

and a receives the opposite wrench at the same point.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.spatial.transform import Rotation

from ..constraints.closures import DISTANCE, Angular
from ..errors import InputError, unknown_name
from ..models.model import Model

Array = npt.NDArray[np.float64]

FRAMES = ("A", "B", "a", "b", "world")


@dataclass(frozen=True)
class ClosurePose:
    """Where one closure is: rotations of both nodes, its frames' origins, all in the world."""

    R_a: Array
    R_b: Array
    p_A: Array
    p_B: Array


def reaction(model: Model, R_WB: Array, p_WB: Array, lam: Array, name: str, frame: str) -> Array:
    """Wrench [force; moment] (6,) on b at B of the closure `name`, in the axes of `frame`.

    Args:
        model: whose closure.
        R_WB, p_WB: poses of the bodies, (nb, 3, 3) and (nb, 3).
        lam: multipliers (nc,).
        name: of a loop, or of another constraint that has two frames.
        frame: axes to express it in: "A", "B" (the closure's frames), "a", "b" (the bodies) or "world".
    """
    group = next((g for g in model.groups if g.name == name), None)
    if group is None or group.closure < 0:
        loops = [g.name for g in model.groups if g.closure >= 0]
        kind = (
            "loop" if group is None else f"loop ({group.kind} has no wrench; its multiplier is in lam); got"
        )
        raise unknown_name(kind, name, loops)
    if frame not in FRAMES:
        raise InputError(f"`frame` must be one of {', '.join(map(repr, FRAMES))}, got {frame!r}.")
    i = group.closure
    pose = _closure_pose(model, R_WB, p_WB, i)
    force, moment = np.zeros(3), np.zeros(3)
    for weight, (f, m) in zip(lam[group.rows], _row_wrenches(model, i, pose), strict=True):
        force, moment = force + weight * f, moment + weight * m
    a, b = (model.body_index(body) for body in (group.a, group.b))
    axes = {
        "A": pose.R_a @ model.cl_R_aA[i],
        "B": pose.R_b @ model.cl_R_bB[i],
        "a": R_WB[a],
        "b": R_WB[b],
        "world": np.eye(3),
    }[frame]
    return np.concatenate([axes.T @ force, axes.T @ moment])


def closure_origin(model: Model, R_WB: Array, p_WB: Array, i: int) -> Array:
    """Origin of frame B (3,) of closure i in the world, where its wrench acts."""
    return _closure_pose(model, R_WB, p_WB, i).p_B


def _closure_pose(model: Model, R_WB: Array, p_WB: Array, i: int) -> ClosurePose:
    nodes = []
    for node in (model.cl_a[i], model.cl_b[i]):
        body = int(np.flatnonzero(model.body_node == node)[0])
        R = R_WB[body] @ model.R_NB[body].T
        nodes.append((R, p_WB[body] - R @ model.p_NB[body]))
    (R_a, p_a), (R_b, p_b) = nodes
    return ClosurePose(R_a, R_b, p_a + R_a @ model.cl_p_aA[i], p_b + R_b @ model.cl_p_bB[i])


def _row_wrenches(model: Model, i: int, pose: ClosurePose) -> list[tuple[Array, Array]]:
    """(force, moment) on b at B per unit multiplier, world axes, one for each row in order."""
    none = np.zeros(3)
    linear, angular = int(model.cl_linear[i]), int(model.cl_angular[i])
    rows: list[tuple[Array, Array]] = []
    if linear & DISTANCE:
        gap = pose.p_B - pose.p_A
        rows.append((gap / np.linalg.norm(gap), none))
    directions = model.cl_directions[i] @ pose.R_a.T
    for k in range(3):
        if linear >> k & 1:
            threaded = k == int(model.cl_pitch_row[i])
            rows.append((directions[k], -model.cl_pitch[i] * _thread(model, i, pose) if threaded else none))
    across, axis = model.cl_across_a[i] @ pose.R_a.T, pose.R_b @ model.cl_axis_b[i]
    if angular == Angular.ACROSS:
        rows += [(none, np.cross(axis, e)) for e in across]
    elif angular == Angular.COSINE:
        rows.append((none, np.cross(axis, across[0])))
    elif angular == Angular.ROTATION:
        R_A, R_B = pose.R_a @ model.cl_R_aA[i], pose.R_b @ model.cl_R_bB[i]
        rows += [(none, R_A @ m) for m in _log_rate(Rotation.from_matrix(R_A.T @ R_B).as_rotvec())]
    return rows


def _thread(model: Model, i: int, pose: ClosurePose) -> Array:
    """Moment of the angle of b's axes (u, w) in a's (x, y): atan2(s, k), s = y.u - x.w, k = x.u + y.w."""
    (x, y), (u, w) = model.cl_across_a[i] @ pose.R_a.T, model.cl_across_b[i] @ pose.R_b.T
    s, k = y @ u - x @ w, x @ u + y @ w
    by_s, by_k = np.cross(u, y) - np.cross(w, x), np.cross(u, x) + np.cross(w, y)
    return np.asarray((k * by_s - s * by_k) / (s * s + k * k))


def _log_rate(f: Array) -> Array:
    """Rows of Jl(f)^-1 (3, 3): f' = Jl(f)^-1 w for the rotation vector f, w in the axes f is seen from."""
    hat = np.array([[0.0, -f[2], f[1]], [f[2], 0.0, -f[0]], [-f[1], f[0], 0.0]])
    angle = float(np.linalg.norm(f))
    c = 1.0 / 12.0 + angle**2 / 720.0 if angle < 1e-3 else (1.0 - angle / 2 / np.tan(angle / 2)) / angle**2
    return np.asarray(np.eye(3) - hat / 2 + c * hat @ hat)

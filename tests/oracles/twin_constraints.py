"""Rows of the constraints for the twin: phi as a power series in time, nothing differentiated by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from . import taylor as ts

if TYPE_CHECKING:
    from .twin import Twin

Array = npt.NDArray[np.float64]
ANY, ACROSS, ROTATION, COSINE = range(4)
DISTANCE = 8


def constraint_series(twin: Twin, q: Array, X: list[Array]) -> Array:
    """Series (order + 1, D, nc) of phi; X are the series of the nodes' poses. Couplings come elsewhere."""
    out = np.zeros((*X[0].shape[:2], twin.nc))
    for i in range(twin.size["ncl"]):
        rows = closure_rows(twin, i, X)
        first = int(twin.field["cl_row"].ravel()[i])
        for k, row in enumerate(rows):
            out[..., first + k] = row
    for i in range(twin.size["nro"]):
        first = int(twin.field["ro_row"].ravel()[i])
        out[..., first : first + 3] = rolling_rows(twin, i, X)
    return out


def closure_rows(twin: Twin, i: int, X: list[Array]) -> list[Array]:
    """Rows of closure i: B relative to A, seen from node a; linear rows first."""
    f = twin.field
    X_a, X_b = X[int(f["cl_a"].ravel()[i])], X[int(f["cl_b"].ravel()[i])]
    R_a, R_b = X_a[..., :3, :3], X_b[..., :3, :3]
    R_ab = ts.matmul(ts.transpose(R_a), R_b)
    p_A = _point(X_a, f["cl_p_aA"].reshape(-1, 3)[i])
    p_B = _point(X_b, f["cl_p_bB"].reshape(-1, 3)[i])
    gap = ts.apply(ts.transpose(R_a), p_B - p_A)
    mask, kind = int(f["cl_linear"].ravel()[i]), int(f["cl_angular"].ravel()[i])
    across_a, across_b = f["cl_across_a"].reshape(-1, 2, 3)[i], f["cl_across_b"].reshape(-1, 2, 3)[i]
    axis_b = R_ab @ f["cl_axis_b"].reshape(-1, 3)[i]
    rows = _linear_rows(twin, i, mask, gap, R_ab, across_a, across_b)
    if kind == ACROSS:
        rows += [axis_b @ across_a[0], axis_b @ across_a[1]]
    elif kind == COSINE:
        rows += [axis_b @ across_a[0]]
    elif kind == ROTATION:
        R_aA, R_bB = f["cl_R_aA"].reshape(-1, 3, 3)[i], f["cl_R_bB"].reshape(-1, 3, 3)[i]
        w = ts.rotation_vector(R_aA.T @ R_ab @ R_bB)
        rows += [w[..., 0], w[..., 1], w[..., 2]]
    return rows


def _linear_rows(
    twin: Twin, i: int, mask: int, gap: Array, R_ab: Array, across_a: Array, across_b: Array
) -> list[Array]:
    f = twin.field
    if mask & DISTANCE:
        length = float(f["cl_length"].ravel()[i])
        return [ts.sqrt(ts.dot(gap, gap)) - ts.constant(np.array(length), gap)]
    directions = f["cl_directions"].reshape(-1, 3, 3)[i]
    pitch, pitch_row = float(f["cl_pitch"].ravel()[i]), int(f["cl_pitch_row"].ravel()[i])
    rows = []
    for k in range(3):
        if mask >> k & 1:
            row = gap @ directions[k]
            if k == pitch_row:
                row = row - pitch * _thread_angle(row, pitch, R_ab, across_a, across_b)
            rows.append(row)
    return rows


def _thread_angle(travel: Array, pitch: float, R_ab: Array, across_a: Array, across_b: Array) -> Array:
    """Angle about across[0] x across[1] that best aligns the two pairs of axes, on the nearest thread."""
    B = R_ab @ across_b.T
    cosine = B[..., 0] @ across_a[0] + B[..., 1] @ across_a[1]
    sine = B[..., 0] @ across_a[1] - B[..., 1] @ across_a[0]
    angle = ts.atan2(sine, cosine)
    if pitch:
        angle[0] += 2 * np.pi * np.round((travel[0] / pitch - angle[0]) / (2 * np.pi))
    return angle


def rolling_rows(twin: Twin, i: int, X: list[Array]) -> Array:
    """Height of the disc's lowest point, and the time integral of its velocity along two tangents."""
    f = twin.field
    node = X[int(f["ro_node"].ravel()[i])]
    n = f["ro_normal"].reshape(-1, 3)[i]
    centre = _point(node, f["ro_centre"].reshape(-1, 3)[i])
    R = node[..., :3, :3]
    axis = R @ f["ro_axis"].reshape(-1, 3)[i]
    up = ts.constant(n, axis) - ts.times((axis @ n)[..., None], axis)
    arm = -float(f["ro_radius"].ravel()[i]) * ts.divide(up, ts.sqrt(ts.dot(up, up))[..., None])
    rate = slice(0, len(R) - 1)
    spin = ts.matmul(ts.derivative(R), ts.transpose(R)[rate])
    slip = ts.derivative(centre) + ts.apply(spin, arm[rate])
    rows = slip @ np.stack([n, *_tangents(n)]).T
    out = ts.integral(np.zeros(rows.shape[1:]), rows)
    out[0, :, 0] = (centre + arm)[0] @ n - n @ f["ro_point"].reshape(-1, 3)[i]
    return out


def _tangents(n: Array) -> tuple[Array, Array]:
    """Two unit vectors across the normal n."""
    start = np.eye(3)[1 if n[0] ** 2 > 0.5 else 0]
    t1 = start - n * (n @ start)
    t1 = t1 / np.linalg.norm(t1)
    return t1, np.cross(n, t1)


def _point(X: Array, p: Array) -> Array:
    return X[..., :3, :3] @ p + X[..., :3, 3]


def coupling_rows(twin: Twin, q: Array, drive: Array, phi: Array, J: Array, b: Array, gamma: Array) -> None:
    """sum coef q = offset + f(t), written into the rows of the couplings and drives."""
    f = twin.field
    for i in range(twin.size["nk"]):
        row, which = int(f["k_row"].ravel()[i]), int(f["k_drive"].ravel()[i])
        terms = slice(int(f["k_begin"].ravel()[i]), int(f["k_end"].ravel()[i]))
        coef = f["kt_coef"].ravel()[terms]
        value = drive[which] if which >= 0 else np.zeros(3)
        phi[row] = coef @ q[f["kt_q"].ravel()[terms]] - float(f["k_offset"].ravel()[i]) - value[0]
        np.add.at(J[row], f["kt_v"].ravel()[terms], coef)
        b[row], gamma[row] = value[1], value[2]

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


def constraint_series(twin: Twin, q: Array, X: list[Array]) -> Array:
    """Series (order + 1, D, nc) of phi; X are the series of the nodes' poses. Couplings come elsewhere."""
    out = np.zeros((*X[0].shape[:2], twin.nc))
    for i, (kind, c) in enumerate(twin.parameters("el", "elements")):
        a, b, first = (int(twin.field[f"el_{name}"].ravel()[i]) for name in ("a", "b", "row"))
        for k, row in enumerate(ROWS[kind](c, X[a], X[b])):
            out[..., first + k] = row
    return out


def closure_rows(c: dict[str, Array], X_a: Array, X_b: Array) -> list[Array]:
    """Rows of a closure: B relative to A, seen from node a; linear rows first."""
    R_ab = ts.matmul(ts.transpose(X_a[..., :3, :3]), X_b[..., :3, :3])
    gap = _gap(c, X_a, X_b)
    across_a, across_b = c["across_a"].reshape(2, 3), c["across_b"].reshape(2, 3)
    axis_b = R_ab @ c["axis_b"]
    rows = _linear_rows(c, gap, R_ab, across_a, across_b)
    kind = int(c["angular"])
    if kind == ACROSS:
        rows += [axis_b @ across_a[0], axis_b @ across_a[1]]
    elif kind == COSINE:
        rows += [axis_b @ across_a[0]]
    elif kind == ROTATION:
        w = ts.rotation_vector(c["R_aA"].reshape(3, 3).T @ R_ab @ c["R_bB"].reshape(3, 3))
        rows += [w[..., 0], w[..., 1], w[..., 2]]
    return rows


def distance_rows(c: dict[str, Array], X_a: Array, X_b: Array) -> list[Array]:
    """Length of a rod beyond the one it should have."""
    gap = _gap(c, X_a, X_b)
    return [ts.sqrt(ts.dot(gap, gap)) - ts.constant(c["length"], gap)]


def _gap(c: dict[str, Array], X_a: Array, X_b: Array) -> Array:
    """p_B - p_A in the axes of node a."""
    return ts.apply(ts.transpose(X_a[..., :3, :3]), _point(X_b, c["p_b"]) - _point(X_a, c["p_a"]))


def _linear_rows(
    c: dict[str, Array], gap: Array, R_ab: Array, across_a: Array, across_b: Array
) -> list[Array]:
    directions = c["directions"].reshape(3, 3)
    rows = []
    for k in range(3):
        if int(c["linear"]) >> k & 1:
            row = gap @ directions[k]
            if k == int(c["pitch_row"]):
                pitch = float(c["pitch"])
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


def rolling_rows(c: dict[str, Array], X_a: Array, X_b: Array) -> list[Array]:
    """Height of the disc's lowest point, and the time integral of its velocity along two tangents."""
    n = c["normal"]
    centre = _point(X_b, c["p_b"])
    R = X_b[..., :3, :3]
    axis = R @ c["axis"]
    up = ts.constant(n, axis) - ts.times((axis @ n)[..., None], axis)
    arm = -float(c["radius"]) * ts.divide(up, ts.sqrt(ts.dot(up, up))[..., None])
    rate = slice(0, len(R) - 1)
    spin = ts.matmul(ts.derivative(R), ts.transpose(R)[rate])
    slip = ts.derivative(centre) + ts.apply(spin, arm[rate])
    rows = slip @ np.stack([n, *_tangents(n)]).T
    out = ts.integral(np.zeros(rows.shape[1:]), rows)
    out[0, :, 0] = (centre + arm)[0] @ n - n @ c["p_a"]
    return [out[..., k] for k in range(3)]


ROWS = {"Closure": closure_rows, "Distance": distance_rows, "Rolling": rolling_rows}


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

"""Steps of the variational equation in time, many at once.

Lobatto IIIC of order 6 ([Hairer1996] table IV.5.5): implicit, L-stable, with the first and the last stage at
the ends of the step. For z' = G z + g the stages are

    (1 - h A x G_j) Z = 1 x z0 + h A x g_j                                                              (1)

Where z = [y; w] and y' = w, W of all stages follows from half as many equations:

    (1 - h A_ij D_j - h^2 sum_k A_ik S_k A_kj) W = w0 + h A_ij (g_j + S_j y0),    w' = S y + D w + g     (2)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...arrays import Array
from .variational_equation import AtTimes

Indices = npt.NDArray[np.intp]
ROOT5 = 5.0**0.5
NODES = np.array([0.0, (5.0 - ROOT5) / 10.0, (5.0 + ROOT5) / 10.0, 1.0])
WEIGHTS = np.array(
    [
        [1 / 12, -ROOT5 / 12, ROOT5 / 12, -1 / 12],
        [1 / 12, 1 / 4, (10 - 7 * ROOT5) / 60, ROOT5 / 60],
        [1 / 12, (10 + 7 * ROOT5) / 60, 1 / 4, -ROOT5 / 60],
        [1 / 12, 5 / 12, 5 / 12, 1 / 12],
    ]
)
TWICE = np.einsum("ik,kj->ikj", WEIGHTS, WEIGHTS)
BOUND = 8.0  # entries of dq over the largest of the local coordinates, without units: others are chosen above


@dataclass(frozen=True)
class LinearSteps:
    """m steps: [dq; dv] at the end is map @ ([dq; dv] at the start)[rows] + added.

    Attributes:
        map: (m, 2 nv, k).
        added: (m, 2 nv, P).
        rows: local coordinates at the start (m, k).
    """

    map: Array
    added: Array
    rows: Indices

    def take(self, starts: Array) -> Array:
        """All of them, from (m, 2 nv, P)."""
        return np.asarray(self.map @ np.take_along_axis(starts, self.rows[..., None], axis=1) + self.added)


def linear_steps(at: AtTimes, h: Array, unit: Array, plain: bool) -> LinearSteps:
    """Steps of sizes h (m,) with the equation at their four nodes (m, 4, ...).

    plain: whether the same rows restrict positions and velocities, and dq' = dv.
    """
    m, nv, P = len(h), len(unit), at.a_p.shape[-1]
    k = at.N_q.shape[-1] + at.N_v.shape[-1]
    if k == 2 * nv:
        return LinearSteps(*_free(at, h), np.broadcast_to(np.arange(2 * nv), (m, 2 * nv)))
    out = LinearSteps(np.empty((m, 2 * nv, k)), np.empty((m, 2 * nv, P)), np.empty((m, k), dtype=np.intp))
    left = np.arange(m)
    while len(left):
        here = at[left]
        rows_q = independent(here.N_q[0, 0])
        rows_v = rows_q if plain else independent(here.N_v[0, 0])
        X_q, good = _by_rows(here.N_q, rows_q, unit)
        X_v, good_v = (X_q, good) if plain else _by_rows(here.N_v, rows_v, unit)
        good = good & good_v
        good[0] = True
        now, local = left[good], _local(here[good], (X_q[good], X_v[good]), (rows_q, rows_v))
        map_, added = _transition(*local[:2], h[now], plain)
        by, rest = local[2:]
        out.map[now], out.added[now] = by @ map_, by @ added + rest
        out.rows[now] = np.concatenate([rows_q, nv + rows_v])
        left = left[~good]
    return out


def _free(at: AtTimes, h: Array) -> tuple[Array, Array]:
    """map and added where there are no constraints: (2) with y = dq and w = dq' = dv - ad_v dq."""
    nv = at.a_q.shape[-1]
    S, D = at.a_q + at.a_v @ at.ad_v - at.ad_a, at.a_v - at.ad_v
    map_, added = _second_order(np.concatenate([S, D], axis=-1), at.a_p, h[:, None, None])
    if not np.any(at.ad_v):
        return map_, added
    map_[:, :, :nv] -= map_[:, :, nv:] @ at.ad_v[:, 0]
    for x in (map_, added):
        x[:, nv:] += at.ad_v[:, 3] @ x[:, :nv]
    return map_, added


def _local(
    at: AtTimes, X: tuple[Array, Array], rows: tuple[Indices, Indices]
) -> tuple[Array, Array, Array, Array]:
    """G and g of local coordinates z, and at the end of the steps [dq; dv] = by @ z + rest."""
    (X_q, X_v), (I_q, I_v) = X, rows
    follows = at.Y @ X_q
    follows = follows - X_v @ follows[:, :, I_v]
    at_q, at_v = at.q_p[:, :, I_q], at.v_p[:, :, I_v]
    q_by = np.concatenate([X_q, np.zeros_like(X_v)], axis=-1)
    v_by = np.concatenate([follows, X_v], axis=-1)
    q_0, v_0 = -X_q @ at_q, -X_v @ at_v - follows @ at_q  # less the particular solution
    G = [(v_by - at.ad_v @ q_by)[:, :, I_q], (at.a_q @ q_by + at.a_v @ v_by)[:, :, I_v]]
    slower = at.v_p + v_0 - at.ad_v @ (at.q_p + q_0)
    faster = at.a_q @ q_0 + at.a_v @ v_0 + at.a_p
    g = np.concatenate([slower[:, :, I_q], faster[:, :, I_v]], axis=2)
    by = np.concatenate([q_by[:, 3], v_by[:, 3]], axis=1)
    rest = np.concatenate([at.q_p[:, 3] + q_0[:, 3], at.v_p[:, 3] + v_0[:, 3]], axis=1)
    return np.concatenate(G, axis=2), g, by, rest


def _transition(G: Array, g: Array, h: Array, plain: bool) -> tuple[Array, Array]:
    """z at the end of steps h (m,) by z at their start (m, k, k), and what is added (m, k, P)."""
    m, k = len(h), G.shape[-1]
    n, size = k // 2, h[:, None, None]
    if plain:
        return _second_order(G[:, :, n:], g[:, :, n:], size)
    K = np.eye(4 * k) - size * np.einsum("ij,mjab->miajb", WEIGHTS, G).reshape(m, 4 * k, 4 * k)
    right = size * np.einsum("ij,mjap->miap", WEIGHTS, g).reshape(m, 4 * k, -1)
    start = np.broadcast_to(np.tile(np.eye(k), (4, 1)), (m, 4 * k, k))
    end = np.linalg.solve(K, np.concatenate([start, right], axis=-1))[:, 3 * k :]
    return end[..., :k], end[..., k:]


def _second_order(G: Array, g: Array, h: Array) -> tuple[Array, Array]:
    """The same by (2), with G = [S, D] (m, 4, n, 2 n)."""
    m, n, P = len(h), G.shape[2], g.shape[-1]
    S, D = G[..., :n], G[..., n:]
    damping = np.einsum("ij,mjab->miajb", WEIGHTS, D).reshape(m, 4 * n, 4 * n)
    stiffness = np.einsum("ikj,mkab->miajb", TWICE, S).reshape(m, 4 * n, 4 * n)
    K = np.eye(4 * n) - h * damping - h * h * stiffness
    by_y = h * np.einsum("ij,mjab->miab", WEIGHTS, S).reshape(m, 4 * n, n)
    by_w = np.broadcast_to(np.tile(np.eye(n), (4, 1)), (m, 4 * n, n))
    right = h * np.einsum("ij,mjap->miap", WEIGHTS, g).reshape(m, 4 * n, P)
    W = np.linalg.solve(K, np.concatenate([by_y, by_w, right], axis=-1)).reshape(m, 4, n, 2 * n + P)
    y = h * np.einsum("j,mjap->map", WEIGHTS[3], W)
    y[:, :, :n] += np.eye(n)
    both = np.concatenate([y, W[:, 3]], axis=1)
    return both[..., : 2 * n], both[..., 2 * n :]


def _by_rows(N: Array, rows: Indices, unit: Array) -> tuple[Array, npt.NDArray[np.bool_]]:
    """dq of local coordinates (m, 4, nv, k), and the steps for which these are good ones (m,)."""
    inside = N[:, :, rows]
    k = len(rows)
    regular = np.abs(np.linalg.det(inside)) > 1e-12 if k else np.ones(inside.shape[:2], dtype=bool)
    X = N @ np.linalg.inv(np.where(regular[..., None, None], inside, np.eye(k)))
    good = regular & (np.max(np.abs(X), axis=(2, 3), initial=0.0) <= BOUND)
    return X * unit[:, None] / unit[rows], good.all(axis=1)


def independent(N: Array) -> Indices:
    """Rows of N (nv, k) that determine all others best, by pivoting (k,)."""
    left, rows = N.copy(), []
    for _ in range(N.shape[1]):
        i = int(np.argmax(np.sum(left * left, axis=1)))
        rows.append(i)
        along = left[i] / np.linalg.norm(left[i])
        left = left - np.outer(left @ along, along)
    return np.array(rows, dtype=np.intp)

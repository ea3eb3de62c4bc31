"""Time stepping of Moreau and Jean for plane machines without loops: the scheme behind published references.

One step of length h, with theta = 1/2 and Newton's restitution e,

    M (v+ - v) = h F((q, v)_half) + W_n p_n + W_t p_t                                                     (1)
    0 <= p_n, u_n+ + e u_n >= 0 where the gap after half a step is negative, |p_t| <= mu p_n              (2)

of order 1 where anything hits. It shows how large the step error of such references is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
SWEEPS, SETTLED = 500, 1e-13  # of (2), and the change at which they end, of the speeds
ROUNDS, STILL = 40, 1e-12  # of (1), and the change at which they end, of the speeds


@dataclass(frozen=True)
class PlaneContacts:
    """A machine: M(q) a = force(q, v), gaps(q) (n,), and rows(q) (n, 2, nv), normal and tangent of each."""

    mass: Callable[[Array], Array]
    force: Callable[[Array, Array], Array]
    gaps: Callable[[Array], Array]
    rows: Callable[[Array], Array]
    friction: Array  # (n,)
    restitution: Array  # (n,)


def moreau_jean(of: PlaneContacts, q: Array, v: Array, h: float, steps: int) -> tuple[Array, Array]:
    """Positions and speeds after each step, (steps + 1, nv) both."""
    path = [(q, v)]
    for _ in range(steps):
        closed = np.flatnonzero(of.gaps(q + h / 2 * v) <= 0)
        ahead, push = v, np.zeros((len(closed), 2))
        for _ in range(ROUNDS):
            half = q + h / 4 * (v + ahead)
            M = of.mass(half)
            free = v + h * np.linalg.solve(M, of.force(half, (v + ahead) / 2))
            new, push = _hit(of, closed, M, of.rows(half)[closed], v, free, push)
            moved, ahead = np.abs(new - ahead).max(), new
            if moved <= STILL * np.abs(new).max():
                break
        q, v = q + h / 2 * (v + ahead), ahead
        path.append((q, v))
    return np.array([q for q, _ in path]), np.array([v for _, v in path])


def _hit(
    of: PlaneContacts, closed: npt.NDArray[np.intp], M: Array, W: Array, v: Array, free: Array, push: Array
) -> tuple[Array, Array]:
    """Speeds after (2) by sweeps over the contacts, and the pushes (n, 2)."""
    push = push.copy()
    X = np.linalg.solve(M, W.reshape(-1, len(v)).T).T.reshape(W.shape)
    new = free + np.einsum("kij,ki->j", X, push)
    size = np.abs(free).max()
    for _ in range(SWEEPS if len(closed) else 0):
        moved = 0.0
        for k, slot in enumerate(closed):
            for i in range(2):
                u = W[k, i] @ new + (of.restitution[slot] * (W[k, 0] @ v) if i == 0 else 0.0)
                wish = push[k, i] - u / (W[k, i] @ X[k, i])
                limit = of.friction[slot] * push[k, 0]
                better = max(wish, 0.0) if i == 0 else float(np.clip(wish, -limit, limit))
                new = new + (better - push[k, i]) * X[k, i]
                moved = max(moved, float(np.abs((better - push[k, i]) * X[k, i]).max()))
                push[k, i] = better
        if moved <= SETTLED * size:
            break
    return new, push

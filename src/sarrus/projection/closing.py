"""Closing constraints: a trust-region Levenberg-Marquardt method on the manifold, then Newton's method.

Each step solves, in coordinates without units x = dv / unit and with r = phi / row_unit,

    min |r + J x|^2 + mu |x|^2   subject to |x| <= radius                                       (1)

by a singular value decomposition: x = -V diag(s / (s^2 + mu)) U.T r, the smallest solution. Redundant rows
become independent off the manifold, with singular values s ~ |r| that carry no information. Therefore mu is
at least min(|r|^2, 0.5), which keeps the convergence quadratic.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from .decomposition import full_svd
from .system_kinematics import Kinematics

Indices = npt.NDArray[np.intp]
Residual = Callable[[Array], tuple[Array, Array]]

CLOSED_TOL = 1e-10  # closed when no |phi| / row_unit exceeds this
DAMPING_FLOOR = 1e-16
LARGEST_FLOOR = 0.5
STATIONARY = 1e-8  # predicted decrease of |r|^2, relative, below which no direction helps to first order
MOST_ITERATIONS = 120
MOST_POLISHING = 8


@dataclass(frozen=True)
class Closing:
    """Where the iteration ended: pose q (nq,), dimensionless residual r, iterations used."""

    q: Array
    r: Array
    iterations: int

    @property
    def closed(self) -> bool:
        """Whether every row is closed."""
        return bool(np.max(np.abs(self.r), initial=0.0) <= CLOSED_TOL)


def close(
    system: Kinematics, q: Array, t: float, rows: Indices | None = None, columns: Indices | None = None
) -> Closing:
    """Move coordinates until rows close, near q (nq,).

    Args:
        system: whose constraints.
        q: where to start (nq,).
        t: time of the drives [s].
        rows: indices of the rows to close; default all that restrict positions.
        columns: indices of the coordinates to move; default all.
    """
    rows = np.flatnonzero(system.holonomic) if rows is None else rows
    columns = np.arange(system.nv) if columns is None else columns
    scale = system.row_unit[rows]

    def plain(q: Array) -> tuple[Array, Array]:
        return selected(*system.constraints(q, np.zeros(system.nv), t)[:2])

    def whole(q: Array) -> tuple[Array, Array]:
        phi, J, _, _ = system.constraints(q, np.zeros(system.nv), t)
        return selected(*system.whole_angles(q, phi, J))

    def selected(phi: Array, J: Array) -> tuple[Array, Array]:
        return phi[rows] / scale, J[np.ix_(rows, columns)] * system.unit[columns] / scale[:, None]

    def move(q: Array, x: Array) -> Array:
        dv = np.zeros(system.nv)
        dv[columns] = system.unit[columns] * x
        return system.integrate(q, dv)

    near, iterations = _descend(whole, move, q)
    polished, more = _polish(plain, move, near)
    r = whole(polished)[0]
    return Closing(polished, np.where(np.isfinite(r), r, np.inf), iterations + more)


def _descend(residual: Residual, move: Callable[[Array, Array], Array], q: Array) -> tuple[Array, int]:
    """Trust-region Levenberg-Marquardt from q; returns the best pose and the number of iterations."""
    r, J = residual(q)
    if not _finite(r, J):
        return q, 1
    radius = 0.3 * np.sqrt(max(J.shape[1], 1))
    largest = 2.0 * radius
    for iteration in range(MOST_ITERATIONS):
        if np.max(np.abs(r), initial=0.0) <= CLOSED_TOL or J.shape[1] == 0:
            return q, iteration
        x = _step(r, J, radius)
        predicted = r @ r - np.sum((r + J @ x) ** 2)
        if predicted <= STATIONARY * (r @ r):
            return q, iteration
        trial = move(q, x)
        r_trial, J_trial = residual(trial)
        gain = (r @ r - r_trial @ r_trial) / predicted if _finite(r_trial, J_trial) else -1.0
        if gain > 1e-3:
            q, r, J = trial, r_trial, J_trial
        size = float(np.linalg.norm(x))
        if gain < 0.25:
            radius = 0.3 * size
        elif gain > 0.75:
            radius = min(max(radius, 2.5 * size), largest)
        if radius < 1e-12:
            return q, iteration + 1
    return q, MOST_ITERATIONS


def _step(r: Array, J: Array, radius: float) -> Array:
    """The minimiser of (1): mu is its lower bound, or larger so that |x| equals the radius."""
    U, s, Vt = full_svd(J)
    k = len(s)
    g = U[:, :k].T @ r

    def x_of(mu: float) -> Array:
        return -s * g / (s * s + mu)

    mu = DAMPING_FLOOR + min(float(r @ r), LARGEST_FLOOR)
    if np.linalg.norm(x_of(mu)) > radius:
        low, high = mu, float(np.linalg.norm(s * g)) / radius
        for _ in range(60):
            mu = np.sqrt(low * high)
            low, high = (mu, high) if np.linalg.norm(x_of(mu)) > radius else (low, mu)
            if high < 1.05 * low:
                break
        mu = high
    return np.asarray(x_of(mu) @ Vt[:k])


def _finite(r: Array, J: Array) -> bool:
    """Rows may be undefined in places (the direction between two points that coincide)."""
    return bool(np.all(np.isfinite(r)) and np.all(np.isfinite(J)))


def _polish(residual: Residual, move: Callable[[Array, Array], Array], q: Array) -> tuple[Array, int]:
    """Newton steps q - J^+ phi [Aghili2005] eq. (37), as long as each makes the residual clearly smaller."""
    r, J = residual(q)
    for iteration in range(MOST_POLISHING):
        size = np.max(np.abs(r), initial=0.0)
        if not 0.0 < size <= 1e-4 or J.shape[1] == 0:
            return q, iteration
        trial = move(q, _step(r, J, np.inf))
        r_trial, J_trial = residual(trial)
        if np.max(np.abs(r_trial)) >= 0.7 * size:
            return q, iteration
        q, r, J = trial, r_trial, J_trial
    return q, MOST_POLISHING

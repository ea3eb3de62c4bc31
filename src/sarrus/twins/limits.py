"""Limits of motors in joint space: polytopes, and the largest boxes inside them that contain zero."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from ..errors import InputError

FEASIBLE = 1e-9  # violation of a row, relative to its bound, that counts as rounding
GAP = 1e-8  # of the barrier method: error of the logarithm of the volume, per row
NEWTON = 100  # steps for one parameter of the barrier
GENERATORS = 8  # motors of a group of joints, when there are more motors than joints


@dataclass(frozen=True)
class Polytope:
    """{x: A x <= b}, and the box lower <= x <= upper of largest volume inside it that contains zero.

    Attributes:
        names: Coordinates of the tree.
        A: Rows (k, n).
        b: Bounds (k,), infinite ones left out.
        lower, upper: The box (n,); infinite where nothing bounds a coordinate.
    """

    names: tuple[str, ...]
    A: Array
    b: Array
    lower: Array
    upper: Array

    def contains(self, x: npt.ArrayLike) -> bool:
        """Whether a point (n,) is inside."""
        x = np.asarray(x, dtype=float)
        return bool(np.all(self.A @ x <= self.b + FEASIBLE * (1.0 + np.abs(self.b))))


@dataclass(frozen=True)
class TwinLimits:
    """What motors allow in joint space at a pose.

    Attributes:
        torque: Of the torques of the joints [N m, N].
        speed: Of their speeds [rad/s, m/s].
        position: Of small displacements from the pose [rad, m], linearized there.
        within: Whether all motors are within their limits of position at the pose itself.
        message: What is not bounded or not possible, in words; "" if nothing.
    """

    torque: Polytope
    speed: Polytope
    position: Polytope
    within: bool
    message: str


def polytope(names: tuple[str, ...], A: Array, b: Array) -> Polytope:
    """A polytope without its infinite rows, with its box."""
    kept = np.isfinite(b) & np.any(A != 0.0, axis=1)
    A, b = A[kept], b[kept]
    lower, upper = largest_box(A, b)
    return Polytope(names, A, b, lower, upper)


def two_sided(rows: Array, lower: Array, upper: Array) -> tuple[Array, Array]:
    """lower <= rows x <= upper as A x <= b."""
    return np.vstack([rows, -rows]), np.asarray(np.concatenate([upper, -lower]), dtype=np.float64)


def torque_rows(J: Array, lower: Array, upper: Array) -> tuple[Array, Array]:
    """{J.T tau_m: lower <= tau_m <= upper} as A x <= b, group by group of joints that share motors.

    As many motors as joints: rows of J^-T. More: facets of the zonotope, whose normals are orthogonal to
    n - 1 of the generators. Fewer: rows for what the motors reach, and equalities (two rows) for the rest.
    """
    found = [_group_rows(J, lower, upper, *group) for group in groups(J)]
    n = J.shape[1]
    A = np.concatenate([a for a, _ in found]) if found else np.zeros((0, n))
    return A, np.concatenate([b for _, b in found]) if found else np.zeros(0)


def groups(J: Array) -> list[tuple[list[int], list[int]]]:
    """Motors (rows of J) and joints (columns) that hang together; joints without motors by themselves."""
    used = np.abs(J) > 1e-12 * np.abs(J).max(initial=0.0)
    found, todo = [], set(range(J.shape[1]))
    while todo:
        columns, rows = {min(todo)}, set[int]()
        while True:
            rows = set(np.flatnonzero(used[:, sorted(columns)].any(axis=1)).tolist())
            wider = columns | set(np.flatnonzero(used[sorted(rows)].any(axis=0)).tolist())
            if wider == columns:
                break
            columns = wider
        todo -= columns
        found.append((sorted(rows), sorted(columns)))
    return found


def _group_rows(
    J: Array, lower: Array, upper: Array, motors: list[int], joints: list[int]
) -> tuple[Array, Array]:
    G, low, high = J[np.ix_(motors, joints)].T, lower[motors], upper[motors]
    U, sizes, _ = np.linalg.svd(G)
    rank = int(np.sum(sizes > 1e-9 * sizes.max(initial=0.0)))
    A, b = np.zeros((0, len(joints))), np.zeros(0)
    if len(motors) == rank:
        A, b = two_sided(np.asarray(np.linalg.pinv(G), dtype=np.float64), low, high)
    elif rank:
        A, b = _facets(U[:, :rank], U[:, :rank].T @ G, low, high)
    none = U[:, rank:].T  # torques that no motor makes
    A = np.concatenate([A, none, -none])
    wide = np.zeros((len(A), J.shape[1]))
    wide[:, joints] = A
    return wide, np.concatenate([b, np.zeros(2 * len(none))])


def _facets(U: Array, G: Array, low: Array, high: Array) -> tuple[Array, Array]:
    """Facets of {U G x: low <= x <= high}, G (r, m) of full row rank with m > r."""
    r, m = G.shape
    if m > GENERATORS:
        raise InputError(
            f"limits: {m} motors act on {r} joints together; torque polytopes are made for at most"
            f" {GENERATORS}."
        )
    normals = []
    for chosen in combinations(range(m), r - 1):
        _, sizes, Vt = np.linalg.svd(G[:, chosen].T if r > 1 else np.zeros((1, 1)))
        if r == 1 or sizes[-1] > 1e-9 * np.abs(G).max():
            normals += [Vt[-1], -Vt[-1]]
    rows = np.array(normals)
    along = rows @ G
    reach = np.where(along > 0, along * high, along * low)
    reach[along == 0] = 0.0
    return rows @ U.T, reach.sum(axis=1)


# ---------------------------------------------------------------------- the largest box


def largest_box(A: Array, b: Array) -> tuple[Array, Array]:
    """lower <= 0 <= upper of largest volume in {A x <= b}, for each group of coordinates that share rows."""
    n = A.shape[1]
    lower, upper = np.full(n, -np.inf), np.full(n, np.inf)
    for rows, columns in groups(A):
        if rows:
            lower[columns], upper[columns] = _box(A[np.ix_(rows, columns)], b[rows])
    return lower, upper


def _box(A: Array, b: Array) -> tuple[Array, Array]:
    """Ends of the box: the widths x = (-lower, upper) >= 0 with the largest sum of log(x_i + x_{n+i})."""
    n = A.shape[1]
    C = np.hstack([np.maximum(-A, 0.0), np.maximum(A, 0.0)])
    tight = b <= FEASIBLE * np.abs(b).max(initial=0.0)
    if np.any(b < -FEASIBLE * np.abs(b).max(initial=1.0)):
        return np.full(n, np.nan), np.full(n, np.nan)  # zero is outside
    fixed = np.any(C[tight] > 0.0, axis=0)  # sides that cannot move
    free = np.flatnonzero(~fixed)
    ends = np.zeros(2 * n)
    open_ = [k for k in free if not np.any(C[~tight][:, k] > 0.0)]
    todo = np.array([k for k in free if k not in open_], dtype=int)
    if len(todo):
        ends[todo] = _widest(C[~tight][:, todo], b[~tight], [(k % n) for k in todo])
    ends[open_] = np.inf
    return -ends[:n] + 0.0, ends[n:]


def _widest(C: Array, b: Array, axis: list[int]) -> Array:
    """max sum over axes of log(sum of its sides), C x <= b, x >= 0, by a barrier method.

    The logarithms are their own barrier towards no volume; those of the rows and of x shrink with mu.
    """
    sums = (np.array(axis)[None] == np.unique(axis)[:, None]).astype(float)
    unit = np.array([np.min(b[C[:, k] > 0] / C[C[:, k] > 0, k]) for k in range(C.shape[1])])
    C, sums = C * unit / b[:, None], sums * unit  # sides in units of their own largest length, bounds 1
    x = np.full(C.shape[1], 0.5 / C.shape[1])
    mu = 1.0
    while mu > GAP:
        mu *= 0.2
        for _ in range(NEWTON):
            width, left = sums @ x, 1.0 - C @ x
            wide, rows = sums * x, C * x  # by relative changes of x: the matrix is at least 1
            slope = wide.T @ (1.0 / width) / mu - rows.T @ (1.0 / left) + 1.0
            bend = (wide.T / width**2) @ wide / mu + (rows.T / left**2) @ rows + np.eye(len(x))
            step = np.linalg.lstsq(bend, slope)[0]  # nearly singular where two boxes are as large
            decrement = float(np.sqrt(max(slope @ step, 0.0)))
            x = x * (1.0 + step / (1.0 + decrement if decrement > 0.25 else 1.0))  # self-concordant: inside
            if decrement < 1e-6:
                break
    return np.asarray(x * unit)

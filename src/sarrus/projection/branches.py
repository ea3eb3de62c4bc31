"""Branches: the directions in which a mechanism can leave a pose, and its mobility along each.

Where rows lose rank, w.T J = 0, not every velocity with J v = 0 continues into a motion. From the second
derivative of phi along v = N y,

    w.T D J[v] v = -w.T gamma(v) = 0       for every w                                                (1)

is necessary: the tangent cone to second order ([Spencer2004] section 3.1.1 has it for the five-bar). Each
direction of the cone is then followed for two short steps on the constraints. It is a branch if the
correction back onto them falls faster than the step; its mobility is that of the pose reached.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from .closing import close
from .decomposition import RankedSVD, ranked_svd
from .system_kinematics import Kinematics, dimensionless, even_gamma
from .tangent_cone import Component, components, independent_forms

PROBES = (0.02, 0.005)  # steps along a direction [rad], or times L [m]
CORRECTION_RATIO = 0.6  # largest ratio of correction per step at the two probes; a smooth curve gives 1/4
NEGLIGIBLE = 1e-7  # correction per step below which the ratio is not tested
ASIDE = 0.2  # sideways offset of further starts, relative to the step
LONGEST_STEP = 0.1  # of a path [rad], or times L [m]


@dataclass(frozen=True)
class Branch:
    """One way out of a pose.

    Attributes:
        direction: a velocity (nv,) along the branch, of unit size with lengths divided by L; times any
            factor it is a velocity to start a simulation with.
        mobility: degrees of freedom on the branch, next to the pose.
        tangent: basis (nv, m) of the directions near `direction`, orthonormal with lengths divided by L.
        curved: the directions of the branch form a curved cone, not a linear space.
        directions: directions on the branch (n, nv): a basis if it is linear, samples if it is curved.
        two_sided: whether it continues along -direction, too.
    """

    direction: Array
    mobility: int
    tangent: Array
    curved: bool
    directions: Array
    two_sided: bool
    _system: Kinematics = field(repr=False)
    _q: Array = field(repr=False)
    _t: float = field(repr=False)

    def path(self, reach: float, count: int = 11, direction: npt.ArrayLike | None = None) -> Array:
        """Poses (count, nq) along the branch, the first of them the pose it leaves.

        Args:
            reach: length of the path [rad, or times L in m]; negative goes the other way.
            count: number of poses.
            direction: another direction of the branch (nv,) to follow; default `direction`.
        """
        along = self.direction if direction is None else np.asarray(direction, dtype=float)
        along = np.sign(reach) * along / np.linalg.norm(along / self._system.unit)
        return follow(self._system, self._q, along, self._t, abs(reach), count)


def branches(system: Kinematics, q: Array, t: float = 0.0) -> tuple[Branch, ...]:
    """Every branch through the pose q (nq,), drives held at time t [s]; see `Branch`."""
    N, forms = _split(system, q, t, system.rank_tol)
    found = (_followed(system, q, t, N, piece) for piece in components(forms))
    return tuple(branch for branch in found if branch is not None)


def _split(system: Kinematics, q: Array, t: float, tol: float) -> tuple[Array, Array]:
    """Basis N (nv, d) of the velocities with J v = 0, without units, and the forms (1) on it (k, d, d)."""
    _, J, _, _ = system.constraints(q, np.zeros(system.nv), t)
    svd = ranked_svd(dimensionless(system, J), tol)
    return svd.N, independent_forms(second_order_forms(system, q, t, svd))


def second_order_forms(system: Kinematics, q: Array, t: float, svd: RankedSVD) -> Array:
    """The forms (1) in coordinates y of v = unit N y, one for each lost row (k, d, d)."""
    N, lost, gamma = svd.N, svd.lost, even_gamma(system, q, t)
    d, basis = N.shape[1], np.eye(N.shape[1])

    def form(y: Array) -> Array:
        return np.asarray(lost.T @ gamma(system.unit * (N @ y)))

    out = np.zeros((lost.shape[1], d, d))
    if lost.shape[1] == 0:
        return out
    for i in range(d):
        out[:, i, i] = form(basis[i])
    for i in range(d):
        for j in range(i):
            out[:, i, j] = out[:, j, i] = (form(basis[i] + basis[j]) - form(basis[i] - basis[j])) / 4.0
    return out


def _followed(system: Kinematics, q: Array, t: float, N: Array, piece: Component) -> Branch | None:
    """The branch along a component of the cone; None if the constraints cannot be followed along it."""
    for y in piece.directions if piece.curved else _inside(piece):
        x = N @ y
        sides = [_can_follow(system, q, t, sign * x, N) for sign in (1.0, -1.0)]
        if any(sides):
            break
    else:
        return None
    first = x[int(np.argmax(np.abs(x) > 1e-6 * np.max(np.abs(x))))]
    if not sides[0] or (sides[1] and first < 0.0):  # of two senses the one whose first entry is positive
        x = -x
    path = follow(system, q, system.unit * x, t, PROBES[0], 3)
    ahead = system.difference(path[-2], path[-1]) / system.unit
    unit = np.asarray(system.unit)
    return Branch(
        direction=unit * x,
        mobility=_mobility_along(system, path[-1], t, ahead / np.linalg.norm(ahead)),
        tangent=unit[:, None] * (N @ piece.tangent),
        curved=piece.curved,
        directions=unit * (piece.directions @ N.T),
        two_sided=all(sides),
        _system=system,
        _q=q,
        _t=t,
    )


def _mobility_along(system: Kinematics, q: Array, t: float, x: Array) -> int:
    """Dimension of the directions near x in which the mechanism can move on from q.

    Next to a singular pose rows may still be dependent (loops that stay flat while others move). The
    component of the cone at q that contains x then gives the dimension.
    """
    N, forms = _split(system, q, t, 1e-3 * PROBES[0])
    pieces = components(forms)
    miss = [
        float(np.linalg.norm(x - N @ (piece.tangent @ (piece.tangent.T @ (N.T @ x))))) for piece in pieces
    ]
    near = [piece.tangent.shape[1] for piece, m in zip(pieces, miss, strict=True) if m < 10.0 * PROBES[0]]
    return min(near, default=int(N.shape[1]))


def _inside(piece: Component) -> Array:
    """Directions of a linear component to try: the sum of its basis, then the basis."""
    middle = np.sum(piece.directions, axis=0)
    return np.vstack([middle / np.linalg.norm(middle), piece.directions])


def _can_follow(system: Kinematics, q: Array, t: float, x: Array, N: Array) -> bool:
    """Whether the constraints can be followed along x, of unit size and without units."""
    first, second = (_correction(system, q, t, x, N, step) for step in PROBES)
    return second < max(CORRECTION_RATIO * first, NEGLIGIBLE) and second < 0.5


def _correction(system: Kinematics, q: Array, t: float, x: Array, N: Array, step: float) -> float:
    """Correction that a step along x needs to close the constraints, relative to the step.

    Where the straight step does not close (at a cusp the gradient points along x), starts beside it follow.
    """
    straight = system.integrate(q, step * system.unit * x)
    starts = [np.zeros(system.nv), *(sign * ASIDE * n for n in N.T for sign in (1.0, -1.0))]
    best = np.inf
    for aside in starts:
        found = close(system, system.integrate(straight, step * system.unit * aside), t)
        if found.closed:
            moved = float(np.linalg.norm(system.difference(straight, found.q) / system.unit)) / step
            best = min(best, moved)
        if best < ASIDE:
            break
    return best


def follow(system: Kinematics, q: Array, v: Array, t: float, reach: float, count: int) -> Array:
    """Poses (count, nq) at equal distances up to `reach`, from q along v (nv,), on the constraints.

    Each step repeats the last displacement and is then corrected back onto the constraints.
    """
    poses, along = [q], v / np.linalg.norm(v / system.unit)
    per_pose = reach / max(count - 1, 1)
    pieces = max(1, int(np.ceil(per_pose / LONGEST_STEP)))
    for _ in range(count - 1):
        here = poses[-1]
        for _ in range(pieces):
            found = close(system, system.integrate(here, per_pose / pieces * along), t)
            moved = system.difference(here, found.q)
            size = float(np.linalg.norm(moved / system.unit))
            if not found.closed or size == 0.0:
                return np.array(poses)
            here, along = found.q, moved / size
        poses.append(here)
    return np.array(poses)

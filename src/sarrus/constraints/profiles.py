"""Cam: a follower rides on a cam whose profile is a periodic spline.

    follower = lift(cam),   lift: cubic spline through the profile with continuous second derivative

The spline is a term of a coupling (kernels/constraints/coupling_terms.hpp).
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array, numbers, text
from ..errors import InputError, ModelError, SarrusWarning
from ..models.base.kind import Checks
from ..models.model import RowGroup
from ..models.tree.tree import Tree
from ..varied import is_varied
from .couplings import lower_coupling
from .rows import Constraint, Rows

__all__ = ["Cam"]

LEAST = 4  # points of a profile
LEAST_TESTED = 8  # points of a profile that is tested for kinks
KINK = 4.0  # times the second differences beside it
FLAT, ROUNDING = 1e-12, 1e-13  # of the largest lift


@dataclass(frozen=True)
class Cam(Constraint):
    """A follower rides on a cam: one coordinate is a periodic function of the angle of another.

    The follower is held on the cam in both directions, as in a groove. The multiplier is the force of the cam
    on the follower [N], of an oscillating follower its moment [N m].

    A spline swings past kinks and jumps of a profile, which ask for infinite accelerations. Of eight points
    on, the second differences of the lifts, divided, are compared with those beside them: one, or two of
    opposite signs, more than KINK times as large as both neighbours warns. Profiles with five points or more
    to a wave, however they are shaped, stay below that.

    Args:
        follower: Name of the coordinate that follows, a displacement [m] or an angle [rad].
        cam: Name of the angle of the cam.
        angles: Of the profile [rad], increasing, within one turn, (n,), at least four.
        lifts: Position of the follower at these angles [m] or [rad], (n,).
    """

    checks: ClassVar[Checks] = {"follower": text, "cam": text}
    follower: str
    cam: str
    angles: ArrayLike
    lifts: ArrayLike

    def __post_init__(self) -> None:
        super().__post_init__()
        x, y = numbers(self.angles, "angles of Cam", 1), numbers(self.lifts, "lifts of Cam", 1)
        if len(x) != len(y) or len(x) < LEAST:
            raise InputError(
                f"angles and lifts of Cam must have the same length, at least {LEAST}: with fewer points a"
                f" cam has no curvature; got {len(x)} and {len(y)}."
            )
        if np.any(np.diff(x) <= 0.0) or x[-1] - x[0] >= 2 * math.pi:
            raise InputError(
                "angles of Cam must increase and lie within one turn, the first one not repeated; got"
                f" {x[0]:g} to {x[-1]:g} rad, smallest step {np.min(np.diff(x)):g}."
            )
        if self.follower == self.cam:
            raise InputError(f"a Cam must relate two coordinates, got {self.cam!r} twice.")
        if not is_varied(y) and np.ptp(y) <= FLAT * np.max(np.abs(y)):
            raise InputError(
                f"lifts of Cam are all {y[0]:g}: this cam moves nothing. Hold the follower by"
                f" Coupling({{{self.follower!r}: 1.0}}, offset={y[0]:g})."
            )
        if len(x) >= LEAST_TESTED and not (is_varied(x) or is_varied(y)):
            _warn_of_kinks(x, y)
        object.__setattr__(self, "angles", tuple(x.tolist()))
        object.__setattr__(self, "lifts", tuple(y.tolist()))

    def coordinates(self) -> tuple[str, ...]:
        return (self.follower, self.cam)

    def lower(self, name: str, tree: Tree, rows: Rows) -> None:
        (_, follower), (_, cam) = (tree.scalar(x, f"constraint {name!r}") for x in (self.follower, self.cam))
        if not tree.coordinate_is_angle[cam]:
            raise ModelError(
                f"constraint {name!r}: the coordinate of a cam must be an angle [rad], but {self.cam!r} is a"
                f" displacement [m]. The follower comes first: Cam({self.cam!r}, {self.follower!r}, ...)?"
            )
        knots = periodic_spline(np.asarray(self.angles), np.asarray(self.lifts))
        terms, curves = {self.follower: 1.0, self.cam: -1.0}, {self.cam: knots}
        kind = "rad" if tree.coordinate_is_angle[follower] else "m"
        lower_coupling(RowGroup(name, "Cam"), terms, tree, rows, offset=0.0, kind=kind, curves=curves)


def _warn_of_kinks(x: Array, y: Array) -> None:
    """Warn of points at which the profile bends much more than beside them."""
    h = np.diff(x, append=x[0] + 2 * math.pi)
    d = np.diff(y, append=y[0]) / h
    bend = 2.0 * (d - np.roll(d, 1)) / (h + np.roll(h, 1))
    size, after = np.abs(bend), np.roll(bend, -1)
    least = ROUNDING * np.max(np.abs(y)) / np.min(h) ** 2  # what rounding of the lifts makes of a line
    beside = np.maximum(np.roll(size, 1), np.roll(size, -1))
    outside = np.maximum(np.roll(size, 1), np.roll(size, -2))
    kink = size > KINK * beside + least
    jump = (bend * after < 0.0) & (np.minimum(size, np.abs(after)) > KINK * outside + least)
    if not np.any(kink | jump):
        return
    k = int(np.argmax(np.where(kink | jump, size, 0.0)))
    warnings.warn(
        f"lifts of Cam have a {'jump' if jump[k] else 'kink'} at the angle {x[k]:.4g} rad: the spline through"
        " them swings past the profile beside it. Round it off, or give more points there.",
        SarrusWarning,
        stacklevel=5,
    )


def periodic_spline(x: Array, y: Array) -> list[list[Any]]:
    """Knots (x_k, c0, c1, c2, c3) of the cubic spline through the points, of period 2 pi, (n, 5).

    With steps h, slopes d of the chords and second derivatives M at the knots, [deBoor1978] ch. IV:

        h_k-1 M_k-1 + 2 (h_k-1 + h_k) M_k + h_k M_k+1 = 6 (d_k - d_k-1)                                  (1)
    """
    n = len(x)
    h = [x[(k + 1) % n] - x[k] + (2 * math.pi if k == n - 1 else 0.0) for k in range(n)]
    d = [(y[(k + 1) % n] - y[k]) / h[k] for k in range(n)]
    M = _cyclic(h, [2.0 * (h[k - 1] + h[k]) for k in range(n)], [6.0 * (d[k] - d[k - 1]) for k in range(n)])
    return [
        [x[k], y[k], d[k] - h[k] * (2.0 * a + b) / 6.0, a / 2.0, (b - a) / (6.0 * h[k])]
        for k, (a, b) in enumerate(zip(M, M[1:] + M[:1], strict=True))
    ]


def _cyclic(off: list[Any], diagonal: list[Any], right: list[Any]) -> list[Any]:
    """Solution of (1): off[k] couples k and k + 1, the last one the first; diagonally dominant.

    The two corners are a matrix of rank one, [Press2007] section 2.7.2 (Sherman and Morrison).
    """
    corner, pivot = off[-1], -diagonal[0]
    main = [diagonal[0] - pivot, *diagonal[1:-1], diagonal[-1] - corner * corner / pivot]
    edge = [pivot, *[0.0] * (len(off) - 2), corner]
    s, z = _tridiagonal(off, main, right), _tridiagonal(off, main, edge)
    scale = (s[0] + corner * s[-1] / pivot) / (1.0 + z[0] + corner * z[-1] / pivot)
    return [a - scale * b for a, b in zip(s, z, strict=True)]


def _tridiagonal(off: list[Any], diagonal: list[Any], right: list[Any]) -> list[Any]:
    """Solution of a symmetric tridiagonal system, off[k] beside entries k and k + 1 of the diagonal."""
    main, x = list(diagonal), list(right)
    for k in range(1, len(x)):
        ratio = off[k - 1] / main[k - 1]
        main[k] = main[k] - ratio * off[k - 1]
        x[k] = x[k] - ratio * x[k - 1]
    x[-1] = x[-1] / main[-1]
    for k in range(len(x) - 2, -1, -1):
        x[k] = (x[k] - off[k] * x[k + 1]) / main[k]
    return x

"""Cam: a follower rides on a cam whose profile is a periodic spline.

    follower = lift(cam),   lift: cubic spline through the profile with continuous second derivative

The spline is a term of a coupling (kernels/constraints/coupling_terms.hpp).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array, nonnegative, numbers, point, text
from ..errors import InputError, ModelError, warn
from ..models.base.axes import Axis, canonical_axis, direction
from ..models.base.kind import Checks
from ..models.base.pose import Pose
from ..models.model import RowGroup
from ..models.tree.joint import Joint
from ..models.tree.tree import Tree
from ..varied import is_varied
from .cam_contact import Follower, Touch, face, roller, slope_of
from .couplings import lower_coupling
from .meshing import axis_line, moving_parent, neutral_place
from .rows import Constraint, Rows

__all__ = ["Cam"]

LEAST = 4  # points of a profile
LEAST_TESTED = 8  # points of a profile that is tested for kinks
PLANE = 1e-6  # of the product of unit vectors: axes of a cam in a plane
KINK = 4.0  # times the second differences beside it
FLAT, ROUNDING = 1e-12, 1e-13  # of the largest lift


@dataclass(frozen=True)
class Cam(Constraint):
    """A follower rides on a cam: one coordinate is a periodic function of the angle of another.

    The follower is held on the cam in both directions, as in a groove. The multiplier is the force of the cam
    on the follower along its coordinate [N], of an oscillating follower its moment [N m].

    With `point=` the cam presses on its follower where they touch, along the common normal: joints carry the
    push and the side force of the pressure angle (`pressure_angle`). Without it the cam loads no bearing.

    A spline swings past kinks and jumps of a profile, which ask for infinite accelerations. Of eight points
    on, the second differences of the lifts, divided, are compared with those beside them: one, or two of
    opposite signs, more than KINK times as large as both neighbours warns. Profiles with five points or more
    to a wave, however they are shaped, stay below that.

    Args:
        follower: Name of the coordinate that follows, a displacement [m] or an angle [rad].
        cam: Name of the angle of the cam.
        angles: Of the profile [rad], increasing, within one turn, (n,), at least four.
        lifts: Position of the follower at these angles [m] or [rad], (n,).
        point: Centre of the follower's roller, its tip, or a point of its flat face, in the frame of the body
            of the follower's joint [m], (3,), or the name of a point of the drawing.
        radius: Of the roller [m]; 0: a tip (knife edge).
        face: Normal of a flat face, "x", "y", "z" or a vector (3,) in that frame; None: a roller or a tip.
    """

    checks: ClassVar[Checks] = {"follower": text, "cam": text, "radius": nonnegative}
    follower: str
    cam: str
    angles: ArrayLike
    lifts: ArrayLike
    point: ArrayLike | None = None
    radius: float = 0.0
    face: Axis | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_touch()
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

    def _check_touch(self) -> None:
        """What says where the cam touches."""
        if self.point is not None:
            object.__setattr__(self, "point", point(self.point, "point of Cam"))
        elif self.radius or self.face is not None:
            raise InputError("radius and face of Cam say where it touches its follower: give point= too.")
        if self.face is not None:
            object.__setattr__(self, "face", canonical_axis(self.face, "face of Cam"))
            if self.radius:
                raise InputError("Cam takes a radius (roller) or a face (flat follower), not both.")

    @property
    def body(self) -> str:
        """The body of its `point`."""
        return self.follower

    @property
    def loads_bodies(self) -> bool:  # type: ignore[override]
        """Whether it says where the cam touches its follower."""
        return self.point is not None

    def coordinates(self) -> tuple[str, ...]:
        return (self.follower, self.cam)

    def touch(
        self,
        places: Callable[[str], Pose],
        joints: Callable[[str], Joint],
        angles: Callable[[str], Any],
    ) -> Touch:
        """Where cam and follower touch; arguments as of `loads`."""
        at = places(self.follower)
        follower, cam = Follower.of(at, joints(self.follower)), axis_line(places(self.cam), joints(self.cam))
        knots = periodic_spline(np.asarray(self.angles), np.asarray(self.lifts))
        slope = slope_of(knots, angles(self.cam))
        P: Any = np.array(at.xyz) + at.rotation @ np.asarray(self.point)
        if self.face is None:
            return roller(follower, cam, slope, P, self.radius)
        return face(follower, cam, slope, P, at.rotation @ direction(self.face))

    def loads(
        self,
        places: Callable[[str], Pose],
        joints: Callable[[str], Joint],
        lam: Array,
        angles: Callable[[str], Any] = float,
    ) -> Iterator[tuple[str, Array, Array]]:
        here = self.touch(places, joints, angles)
        force = lam[0] / here.push * here.normal
        yield self.follower, force, here.point
        yield self.cam, -force, here.point

    def lower(self, name: str, tree: Tree, rows: Rows) -> None:
        (_, follower), (_, cam) = (tree.scalar(x, f"constraint {name!r}") for x in (self.follower, self.cam))
        if not tree.coordinate_is_angle[cam]:
            raise ModelError(
                f"constraint {name!r}: the coordinate of a cam must be an angle [rad], but {self.cam!r} is a"
                f" displacement [m]. The follower comes first: Cam({self.cam!r}, {self.follower!r}, ...)?"
            )
        if self.point is not None:
            self._check_joints(name, tree)
        knots = periodic_spline(np.asarray(self.angles), np.asarray(self.lifts))
        terms, curves = {self.follower: 1.0, self.cam: -1.0}, {self.cam: knots}
        kind = "rad" if tree.coordinate_is_angle[follower] else "m"
        lower_coupling(RowGroup(name, "Cam"), terms, tree, rows, offset=0.0, kind=kind, curves=curves)

    def _check_joints(self, name: str, tree: Tree) -> None:
        """Axes that a cam in a plane has."""
        where, lines = f"constraint {name!r}", []
        for end in (self.follower, self.cam):
            body = tree.bodies[tree.body_index(end, where)]
            if len(body.coordinate_names) != 1 or body.backwards:
                raise ModelError(
                    f"{where}: with point= the joint {end!r} of a Cam must have one coordinate and be"
                    f" declared from what carries it, got {body.joint.label()}."
                )
            lines.append(axis_line(neutral_place(tree, tree.names[end]), body.joint))
        (_, way), (_, z) = lines
        turns = tree.bodies[tree.names[self.follower]].joint.is_hinge
        if abs(abs(way @ z) - float(turns)) > PLANE:
            must = "turn about an axis parallel to" if turns else "slide at right angles to"
            raise ModelError(f"{where}: a Cam with point= is plane: its follower must {must} its axis.")
        if moving_parent(tree, self.follower) != moving_parent(tree, self.cam):
            raise ModelError(f"{where}: with point= one body must carry cam and follower of a Cam.")


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
    warn(
        f"lifts of Cam have a {'jump' if jump[k] else 'kink'} at the angle {x[k]:.4g} rad: the spline through"
        " them swings past the profile beside it. Round it off, or give more points there."
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

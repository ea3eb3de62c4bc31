"""Gears: relations between two joints that also load their bearings.

The multiplier of the row is the tangential force F_t [N]. The bodies of the joints bear the force of the
teeth at the pitch point P, with the part F_t tan(alpha) that drives the gears apart, [Shigley2011] sections
13-14 to 13-17.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..arrays import Array, nonnegative, number, one_of, positive, positive_whole, text, truth
from ..errors import InputError, ModelError
from ..models.base.kind import Checks
from ..models.base.pose import Pose
from ..models.kinds.axial_friction import Arms
from ..models.tree.joint import Joint, NodeKind
from ..stepped_numbers import size, unit
from ..varied import hypot, largest
from .meshing import MESHES, Line, Meshing, across_axis, axis_line
from .tooth_friction import worm_arms

__all__ = ["Gear"]


@dataclass(frozen=True)
class Contact:
    """Where two gears touch, in the world, and what a tangential force of 1 N does there.

    Attributes:
        P: pitch point [m], (3,).
        on_a: force on a (3,), along which the rates of both are the same.
        rates: pitch-line velocity per unit of the coordinates of a and b [m/rad] or [1].
        apart: direction in which b is driven away from a (3,), times tan(alpha).
    """

    P: Array
    on_a: Array
    rates: tuple[float, float]
    apart: Array


GEARS = ("external", "internal", "rack", "bevel", "worm")


def _angle(value: object, what: str) -> float:
    x = nonnegative(value, what)
    if x >= math.pi / 4:
        raise InputError(f"{what} must be below 45 degrees [rad], got {x:g}.")
    return x


@dataclass(frozen=True)
class Gear(Meshing):
    """Two gears in mesh, on joints called a and b: their coordinates turn at the ratio of the teeth.

    Centre distance, axes and senses of rotation are read from the pose with all coordinates zero. One of the
    gears may sit on a carrier that turns about the axis of the other: a planet. A bevel gear lies on that
    side of the apex, where the axes meet, on which the frame of its body stands, at any distance.

    Args:
        a: Name of the joint (a hinge) of the first gear, its pinion or worm.
        b: Name of the joint of the second one: a hinge, of a rack a slider.
        teeth_a: Number of teeth, of a worm of its starts.
        teeth_b: Number of teeth; 0 for a rack, which has no number of them.
        module: Pitch diameter over teeth [m], of bevel gears at mid-face, of a worm that of the wheel.
        kind: "external", "internal" (the one with more teeth is the ring), "rack" (b slides), "bevel" or
            "worm" (b is the wheel).
        pressure_angle: [rad], 20 degrees by default; of a worm that in the normal section.
        diameter: Pitch diameter of a worm [m].
        left_hand: Whether a worm is left-handed.
        cone_distance: Of bevel gears, from the apex to the pitch point at mid-face [m], with which teeth,
            module and axes are checked; 0: they are not.
        offset: How far the pitch line of a is ahead of that of b where all coordinates are zero [m].
    """

    checks: ClassVar[Checks] = {
        "a": text, "b": text, "teeth_a": positive_whole, "module": positive, "pressure_angle": _angle,
        "diameter": nonnegative, "left_hand": truth, "offset": number, "cone_distance": nonnegative,
    }  # fmt: skip
    teeth_a: int
    teeth_b: int
    module: float
    kind: str = "external"
    pressure_angle: float = math.radians(20.0)
    diameter: float = 0.0
    left_hand: bool = False
    offset: float = 0.0
    cone_distance: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of(self.kind, "kind of Gear", GEARS)
        if self.kind == "rack":
            object.__setattr__(self, "teeth_b", 0)
        else:
            positive_whole(self.teeth_b, "teeth_b of Gear")
        if (self.kind == "worm") != (self.diameter > 0.0):
            raise InputError(
                f"diameter of Gear is that of a worm, and a worm needs it; got {self.diameter:g} m for"
                f" kind={self.kind!r}."
            )
        if self.left_hand and self.kind != "worm":
            raise InputError(f"left_hand of Gear is that of a worm; got it for kind={self.kind!r}.")
        if self.cone_distance > 0.0 and self.kind != "bevel":
            raise InputError(f"cone_distance of Gear is that of bevel gears; got it for kind={self.kind!r}.")
        if self.kind == "internal" and self.teeth_a == self.teeth_b:
            raise InputError(f"a ring has more teeth than its pinion; got {self.teeth_a} for both gears.")
        if self.a == self.b:
            raise InputError(f"a Gear must join two different joints, got {self.a!r} twice.")

    @property
    def radii(self) -> tuple[float, float]:
        """Pitch radii of a and b [m]; of a worm half its diameter."""
        r_a = 0.5 * (self.diameter or self.module * self.teeth_a)
        return r_a, 0.5 * self.module * self.teeth_b

    def ends_with(self) -> tuple[NodeKind, ...]:
        return (NodeKind.SLIDE,) if self.kind == "rack" else (NodeKind.HINGE,)

    @property
    def lead(self) -> float:
        """Advance of a worm over its radius, the tangent of its lead angle."""
        return self.module * self.teeth_a / self.diameter

    def friction_arms(self, mu: float | None, kept: tuple[float, float], where: str) -> Arms:
        """Torque of friction on a per unit of the multiplier [m], see `ToothFriction`.

        Args:
            mu: of a worm, or None.
            kept: parts of the power that go on where a drives, and where b does.
            where: the friction, for messages.
        """
        r_a, worm = self.radii[0], self.kind == "worm"
        if mu is None:
            drives, driven = kept
            k_a = r_a * (self.lead if worm else 1.0)
            arms = Arms(k_a * (1.0 / drives - 1.0), k_a * (1.0 - driven))
        elif worm:
            arms = worm_arms(mu, r_a, self.lead, self.pressure_angle, where)
        else:
            raise ModelError(f"{where}: mu is that of a worm; of {self.kind} gears give efficiency=.")
        return arms.turned(worm and not self.left_hand)

    def contact(self, a: Line, b: Line) -> Contact:
        """Where they touch and how, from the axes of both in the world."""
        return {"rack": self._rack, "bevel": self._bevel, "worm": self._worm}.get(self.kind, self._spur)(a, b)

    def rates(self, a: Line, b: Line, where: str) -> tuple[float, float]:
        wrong = self._misplaced(a, b)
        if wrong:
            raise ModelError(
                f"{where}: these gears do not mesh. {wrong} Move one of them, or change the teeth."
            )
        k_a, k_b = self.contact(a, b).rates  # distances are good to MESHES, the ratio is that of the teeth
        r_b = 1.0 if self.kind == "rack" else self.radii[1]
        return k_a, r_b if k_b > 0.0 else -r_b

    def loads(
        self,
        places: Callable[[str], Pose],
        joints: Callable[[str], Joint],
        lam: Array,
        angles: Callable[[str], Any] = float,
    ) -> Iterator[tuple[str, Array, Array]]:
        a, b = (axis_line(places(end), joints(end)) for end in (self.a, self.b))
        c, force = self.contact(a, b), lam[0]
        on_a = force * c.on_a - np.sign(force.real) * force * c.apart
        yield self.a, on_a, c.P
        yield self.b, -on_a, c.P

    # ------------------------------------------------------------------ geometry

    def _misplaced(self, a: Line, b: Line) -> str:
        """Why they do not mesh, in words; "" where they do."""
        (p_a, n_a), (p_b, n_b) = a, b
        r_a, r_b = self.radii
        cosine = abs(n_a @ n_b)
        if self.kind in ("external", "internal", "worm"):
            if self.kind != "worm" and abs(cosine - 1.0) > MESHES:
                return "Their axes must be parallel."
            if self.kind == "worm" and cosine > MESHES:
                return "The axes of worm and wheel must be at right angles."
            across = np.cross(n_a, n_b) if self.kind == "worm" else across_axis(p_b - p_a, n_a)
            have = abs(across @ (p_b - p_a)) / largest([np.linalg.norm(across), 1e-300])
            want = abs(r_a + r_b if self.kind != "internal" else r_b - r_a)
        elif self.kind == "rack":
            if cosine > MESHES:
                return "The rack must slide at right angles to the axis of its pinion."
            have, want = abs(np.cross(n_a, n_b) @ (p_b - p_a)), r_a
        else:
            return self._misplaced_cones(a, b)
        if abs(have - want) > MESHES * largest([want, r_a]):
            return f"The centre distance is {have:.9g} m, teeth and module ask for {want:.9g} m."
        return ""

    def _misplaced_cones(self, a: Line, b: Line) -> str:
        """The same of bevel gears."""
        (p_a, n_a), (p_b, n_b) = a, b
        normal, r_a = np.cross(n_a, n_b), self.radii[0]
        if np.linalg.norm(normal) < MESHES:
            return "The axes of bevel gears must not be parallel."
        apart = abs(normal @ (p_b - p_a)) / size(normal)
        if apart > MESHES * r_a:
            return (
                f"The axes of bevel gears must meet, at the apex of both cones; they are {apart:.9g} m apart."
            )
        for name, aside in zip((self.a, self.b), _from_apex(a, b), strict=True):
            if size(aside) < MESHES * r_a:
                return (
                    f"The frame of {name!r} stands at the apex, where the axes meet; the side of the apex on"
                    " which it stands decides the sense of rotation. Place it where the gear is."
                )
        u, w = (unit(aside) for aside in _from_apex(a, b))
        for name, ratio in ((self.a, self.teeth_b / self.teeth_a), (self.b, self.teeth_a / self.teeth_b)):
            if ratio + u @ w < MESHES:
                return (
                    f"Between axes at {_degrees(u, w):.4g} degrees these teeth make {name!r} a ring or a"
                    " disc: half the angle of its pitch cone must be below 90 degrees."
                )
        have = r_a / self._cone(u, w)[0]
        if self.cone_distance > 0.0 and abs(have - self.cone_distance) > MESHES * have:
            return (
                f"Teeth, module and axes at {_degrees(u, w):.4g} degrees make a cone distance of"
                f" {have:.9g} m, not {self.cone_distance:.9g} m."
            )
        return ""

    def _cone(self, u: Array, w: Array) -> tuple[Any, Any]:
        """Sine and cosine of half the angle of the pitch cone of a; u and w: from the apex to both gears."""
        across, ratio = size(np.cross(u, w)), self.teeth_b / self.teeth_a + u @ w
        slope = hypot(across, ratio)
        return across / slope, ratio / slope

    def _spur(self, a: Line, b: Line) -> Contact:
        (p_a, n_a), (p_b, n_b) = a, b
        out = unit(across_axis(p_b - p_a, n_a))
        r_a, r_b = self.radii
        inside = self.kind == "internal"
        turn = -1.0 if inside and r_b > r_a else 1.0  # the ring's teeth are beyond the pinion
        away = -1.0 if inside else 1.0  # a pinion is driven towards the centre of its ring
        P = p_a + turn * r_a * out
        t = np.cross(n_a, turn * out)
        k_b: Any = t @ np.cross(n_b, P - p_b)
        return Contact(P, t, (r_a, k_b), np.tan(self.pressure_angle) * away * out)

    def _rack(self, a: Line, b: Line) -> Contact:
        (p_a, n_a), (p_b, n_b) = a, b
        out = np.cross(n_a, n_b)
        out = out if out @ (p_b - p_a) >= 0.0 else -out
        t = np.cross(n_a, out)
        r_a = self.radii[0]
        k_b: Any = t @ n_b
        return Contact(p_a + r_a * out, t, (r_a, k_b), np.tan(self.pressure_angle) * out)

    def _bevel(self, a: Line, b: Line) -> Contact:
        (p_a, n_a), (p_b, n_b) = a, b
        from_a, from_b = _from_apex(a, b)
        apex, u, w = p_a - from_a, unit(from_a), unit(from_b)
        side, (sine, cosine) = unit(across_axis(w, u)), self._cone(u, w)
        edge, apart = cosine * u + sine * side, -sine * u + cosine * side
        r_a = self.radii[0]
        P = apex + r_a / sine * edge
        t = np.cross(n_a, P - p_a) / r_a
        k_b: Any = t @ np.cross(n_b, P - p_b)
        return Contact(P, t, (r_a, k_b), np.tan(self.pressure_angle) * apart)

    def _worm(self, a: Line, b: Line) -> Contact:
        (p_a, n_a), (p_b, n_b) = a, b
        out = np.cross(n_a, n_b)
        out = out if out @ (p_b - p_a) >= 0.0 else -out
        r_a = self.radii[0]
        foot = p_a + ((p_b - p_a) @ n_a) * n_a  # on the worm, nearest to the wheel
        P = foot + r_a * out
        advance = (1.0 if self.left_hand else -1.0) * 0.5 * self.module * self.teeth_a  # [m/rad]
        k_b: Any = n_a @ np.cross(n_b, P - p_b)
        lead = advance / r_a
        on_a = n_a + lead * np.cross(n_a, out)
        return Contact(P, on_a, (advance, k_b), np.tan(self.pressure_angle) * hypot(1.0, lead) * out)


def _degrees(u: Array, w: Array) -> float:
    """The angle between unit vectors [degrees]."""
    return math.degrees(math.acos(max(-1.0, min(1.0, float(u @ w)))))


def _from_apex(a: Line, b: Line) -> tuple[Array, Array]:
    """From the point of axis a that is nearest to axis b to the points of both lines."""
    (p_a, n_a), (p_b, n_b) = a, b
    d, cosine = p_b - p_a, n_a @ n_b
    from_a = -(d @ n_a - cosine * (d @ n_b)) / (1.0 - cosine * cosine) * n_a
    return from_a, d + from_a

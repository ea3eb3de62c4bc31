"""Beam: an elastic beam along points, with sections by size or by properties."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import Array, nonnegative, point, positive, positive_whole, triple, truth, whole
from ...errors import InputError
from ..base.kind import Checks
from ..base.pose import Pose
from .beam_deflections import Section, beam_deflections
from .flexible_part import Element, FlexiblePart

__all__ = ["Beam"]

MODES, ELEMENTS = 6, 20  # where nothing is said: of a beam, and of one that bends far
PARALLEL = 1e-6  # sine of the angle between a beam and the direction of its height


def _optional(check: Callable[[object, str], Any]) -> Callable[[object, str], Any]:
    return lambda value, what: None if value is None else check(value, what)


def _points(value: object, what: str) -> tuple[Any, ...]:
    if isinstance(value, str) or not isinstance(value, (Sequence, np.ndarray)):
        raise InputError(f"{what} must be a list of points, got {value!r}.")
    return tuple(point(one, f"a point in {what}") for one in value)


def _pair(value: object, what: str) -> tuple[float, float]:
    if isinstance(value, str) or not isinstance(value, (Sequence, np.ndarray)) or len(value) != 2:
        raise InputError(f"{what} must be two numbers, about y and about z, got {value!r}.")
    y, z = (positive(x, what) for x in value)
    return y, z


def _poisson(value: object, what: str) -> float:
    found = nonnegative(value, what)
    if found >= 0.5:
        raise InputError(f"{what} must be below 0.5, got {found:g}.")
    return found


@dataclass(frozen=True)
class Beam(FlexiblePart):
    """An elastic beam from point a to point b, straight or along further points, with one section.

    Give the section by `width` and `height`, by `diameter` (with `inner_diameter` a tube), or by `area`,
    `bending` and `torsion`. Without `shear_factor` it is an Euler-Bernoulli beam, thin against its length;
    with it a Timoshenko beam, which also shears and whose sections have inertia against turning.

    Args:
        a: Where it begins, in the frame of the body [m] (3,), or a point of the drawing. This end carries the
            frame of the body.
        b: Where it ends. The node there is called NAME.b.
        width: Of a rectangular section, across `up` [m].
        height: Of a rectangular section, along `up` [m].
        diameter: Of a round section [m].
        inner_diameter: Of a tube [m].
        youngs_modulus: E [Pa].
        density: [kg/m^3].
        modes: Of each piece with both ends held, beside six deflections of its far end. None: 6, or 0 where
            there are several elements.
        damping: Of every mode of a piece whose near end is held: part of its critical damping.
        poisson: Ratio from which the shear modulus follows.
        shear_modulus: G [Pa]; default: E / (2 (1 + poisson)).
        shear_factor: Part of the area that carries shear, 5/6 of a rectangle; None: no shear deformation.
        area: Of a section by properties [m^2].
        bending: Its second moments of area about y (across `up`) and about z (along `up`) [m^4], (2,).
        torsion: Its torsion constant [m^4].
        through: Further points between a and b, with nodes NAME.1, NAME.2, ...
        up: Direction of the height in the frame of the body, not along the beam; default: z, or y of a beam
            along z.
        elements: Into how many pieces the beam is cut between two points, each with a floating frame of its
            own; nodes between them are NAME.1, NAME.2, ... too. None: 1, or 20 if it is large.
        large: Whether it bends far: several elements, each of which bends little.
        stiffening: Whether bending shortens the beam, so that tension stiffens it.
    """

    checks: ClassVar[Checks] = {
        "a": point, "b": point, "through": _points, "youngs_modulus": positive, "density": positive,
        "damping": nonnegative, "poisson": _poisson, "large": truth, "stiffening": truth,
        **dict.fromkeys(("width", "height", "diameter", "inner_diameter", "shear_modulus", "shear_factor",
                         "area", "torsion"), _optional(positive)),
        "bending": _optional(_pair), "modes": _optional(whole), "elements": _optional(positive_whole),
        "up": _optional(triple),
    }  # fmt: skip
    a: ArrayLike
    b: ArrayLike
    width: float | None = None
    height: float | None = None
    diameter: float | None = None
    inner_diameter: float | None = None
    youngs_modulus: float = dataclasses.field(kw_only=True)
    density: float = dataclasses.field(kw_only=True)
    modes: int | None = None
    damping: float = 0.0
    poisson: float = 0.3
    shear_modulus: float | None = None
    shear_factor: float | None = None
    area: float | None = None
    bending: tuple[float, float] | None = None
    torsion: float | None = None
    through: Sequence[ArrayLike] = ()
    up: ArrayLike | None = None
    elements: int | None = None
    large: bool = False
    stiffening: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        kinds = {
            "width and height": (self.width, self.height),
            "diameter": (self.diameter,),
            "area, bending and torsion": (self.area, self.bending, self.torsion),
        }
        given = [name for name, values in kinds.items() if any(x is not None for x in values)]
        complete = [name for name, values in kinds.items() if all(x is not None for x in values)]
        if len(given) != 1 or given != complete:
            raise InputError(
                f"the section of a Beam is given by one of {'; '.join(kinds)}, got parts of"
                f" {' and '.join(given) or 'none'}."
            )
        inner = self.inner_diameter
        if inner is not None and not (self.diameter is not None and inner < self.diameter):
            raise InputError(
                f"inner_diameter of Beam must be below its diameter {self.diameter}, got {inner:g}."
            )

    @property
    def pieces(self) -> int:
        """Elements between two points."""
        return self.elements or (ELEMENTS if self.large else 1)

    @property
    def kept_modes(self) -> int:
        """Modes of each element."""
        return (MODES if self.pieces == 1 else 0) if self.modes is None else self.modes

    def at_points(self, place: Callable[[Any], Any]) -> Beam:
        ends = {name: place(getattr(self, name)) for name in ("a", "b")}
        return dataclasses.replace(self, **ends, through=tuple(map(place, self.through)))

    def geometry(self) -> tuple[float, float, float, float]:
        """Area [m^2], second moments of area about y and z, torsion constant [m^4]."""
        if self.width is not None and self.height is not None:
            w, h = self.width, self.height
            return w * h, w * h**3 / 12.0, h * w**3 / 12.0, torsion_of_rectangle(w, h)
        if self.diameter is not None:
            outer, inner = 0.5 * self.diameter, 0.5 * (self.inner_diameter or 0.0)
            bending = math.pi * (outer**4 - inner**4) / 4.0
            return math.pi * (outer**2 - inner**2), bending, bending, 2.0 * bending
        assert self.area is not None and self.bending is not None and self.torsion is not None
        return self.area, *self.bending, self.torsion

    def section(self) -> Section:
        """Stiffness and inertia of its section."""
        A, about_y, about_z, torsion = self.geometry()
        E, rho = self.youngs_modulus, self.density
        G = self.shear_modulus or E / (2.0 * (1.0 + self.poisson))
        spin, shear = (rho * (about_y + about_z), 0.0, 0.0), None
        if self.shear_factor is not None:
            spin = (spin[0], rho * about_y, rho * about_z)
            shear = (self.shear_factor * G * A,) * 2
        return Section(rho * A, spin, E * A, G * torsion, (E * about_y, E * about_z), shear)

    def _axes(self, along: Array) -> Array:
        """x along the beam, z as near to `up` as that allows, (3, 3)."""
        x = along / np.linalg.norm(along)
        up = np.array((0.0, 0.0, 1.0) if self.up is None else self.up)
        if self.up is None and np.linalg.norm(np.cross(x, up)) < PARALLEL:
            up = np.array((0.0, 1.0, 0.0))
        y = np.cross(up, x)
        if np.linalg.norm(y) < PARALLEL * np.linalg.norm(up) or not up.any():
            raise InputError(
                f"up of Beam must not lie along the beam, got {self.up} for a beam along {along}."
            )
        y /= np.linalg.norm(y)
        return np.column_stack([x, y, np.cross(x, y)])

    def corners(self) -> Array:
        """All nodes in the frame of the body [m], from a to b, (nodes, 3)."""
        points = np.array([self.a, *self.through, self.b], dtype=np.float64)
        parts = np.arange(self.pieces) / self.pieces
        found = [p + s * (r - p) for p, r in itertools.pairwise(points) for s in parts]
        return np.array([*found, points[-1]])

    def cut(self) -> tuple[Element, ...]:
        corners = self.corners()
        names = ["", *(str(k + 1) for k in range(len(corners) - 2)), "b"]
        found = []
        start = Pose(corners[0])
        section, known = self.section(), {}
        for k, along in enumerate(np.diff(corners, axis=0)):
            L = float(np.linalg.norm(along))
            if not L > 0.0:
                raise InputError(f"the points of a Beam must differ, got {tuple(corners[k])} twice.")
            if L not in known:
                plain = beam_deflections(section, L, self.kept_modes, self.stiffening)
                known[L] = plain.damped(self.damping) if self.damping else plain
            axes = self._axes(along)
            begin = start if k == 0 else Pose()
            moved = known[L].moved(Pose(begin.xyz, matrix=axes))
            place = Pose(begin.xyz + along)
            found.append(Element(names[k], (names[k + 1],), (place,), axes, self.kept_modes, moved))
        return tuple(found)


def torsion_of_rectangle(width: float, height: float) -> float:
    """Torsion constant of a rectangle [m^4], by the series of [Timoshenko1970] section 109."""
    a, b = max(width, height), min(width, height)
    odd = np.arange(1, 40, 2)
    series = float(np.sum(np.tanh(odd * np.pi * a / (2.0 * b)) / odd**5))
    return float(a * b**3 * (1.0 / 3.0 - 64.0 / np.pi**5 * (b / a) * series))

"""A straight uniform beam reduced by Craig-Bampton: deflections of its far end, and fixed-interface modes.

Its frame stands at the near end, x along the beam. Deflections are amplitudes of modes of the beam with both
ends held, then those of the far end relative to this frame: x, y, z, and angles about them [Craig1968].
Stretching, twisting and bending in two planes are families of their own. The modes of a family are found
among as many functions as are kept: deflections under the inertia of motions 1, x, x^2, x^3, then under that
of these deflections [Craig1977]. Gravity and acceleration bend the beam exactly, and frequencies converge
faster than any power of the number of modes; exact modes of the held beam leave an error of its third.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.polynomial import legendre

from ...arrays import Array
from .deflections import Deflections, crossed, moments

SPARE = 12  # functions more than modes that are kept
END = {"stretch": (0,), "twist": (3,), "y": (1, 5), "z": (2, 4)}  # deflections of the far end, by family


@dataclass(frozen=True)
class Section:
    """A cross-section along a beam: per length, or of the whole section.

    Attributes:
        mass: Per length [kg/m].
        spin: Moment of inertia per length about x, y, z [kg m]; of thin beams zero about y and z.
        axial, torsional: EA [N], GJ [N m^2].
        bending: Stiffness against bending about y and about z, EI [N m^2].
        shear: k G A along y and along z [N]; None: sections stay perpendicular (Euler-Bernoulli).
    """

    mass: float
    spin: tuple[float, float, float]
    axial: float
    torsional: float
    bending: tuple[float, float]
    shear: tuple[float, float] | None


@dataclass(frozen=True)
class Family:
    """Functions of one family at the points (points, m): displacement, its slope, turn of sections."""

    value: Array
    slope: Array
    turn: Array
    M: Array
    K: Array
    ends: int
    mass: float
    spin: float

    def squares(self) -> Array:
        """Squares of the frequencies with both ends held [1/s^2], ascending."""
        from scipy.linalg import eigh

        e = self.ends
        return np.asarray(eigh(self.K[e:, e:], self.M[e:, e:], eigvals_only=True))

    def reduced(self, points: Points, modes: int) -> Array:
        """Columns of functions: deflections of the end, then so many modes, (m, ends + modes)."""
        from scipy.linalg import eigh, solve

        e, K = self.ends, self.K[self.ends :, self.ends :]
        static = np.vstack([np.eye(e), -solve(K, self.K[e:, :e], assume_a="pos")])
        if not modes:
            return static
        bent = self._bent(points, modes)
        _, shapes = eigh(bent.T @ K @ bent, bent.T @ self.M[e:, e:] @ bent)
        return np.hstack([static, np.vstack([np.zeros((e, modes)), bent @ shapes])])

    def _bent(self, points: Points, modes: int) -> Array:
        """Deflections with held ends under the inertia of motions, from those of the rigid beam on."""
        from scipy.linalg import solve

        x = points.xi * points.L
        motion = np.array(
            [[x**k for k in range(2 * self.ends)], [k * x ** max(k - 1, 0) for k in range(2 * self.ends)]]
        )
        motion = motion.transpose(0, 2, 1)
        found = np.zeros((len(self.K) - self.ends, 0))
        while found.shape[1] < modes:
            load = self.mass * points.integral(self.value, motion[0])
            load += self.spin * points.integral(self.turn, motion[1])
            new = solve(self.K[self.ends :, self.ends :], load[self.ends :], assume_a="pos")
            for _ in range(2):
                new -= found @ (found.T @ new)
                new = np.linalg.qr(new)[0]
            found = np.hstack([found, new])
            motion = np.array([self.value[:, self.ends :] @ new, self.turn[:, self.ends :] @ new])
        return found[:, :modes]


class Points:
    """Gauss points along a beam of length L and functions at them."""

    def __init__(self, L: float, count: int) -> None:
        self.L, self.count = L, count
        nodes, weights = legendre.leggauss(count + 12)
        self.xi, self.weights = 0.5 * (nodes + 1.0), 0.5 * L * weights
        self._P = legendre.legvander(nodes, count + 6)

    def integral(self, a: Array, b: Array) -> Array:
        """Integrals of all products of functions, (columns of a, columns of b)."""
        return np.asarray((a * self.weights[:, None]).T @ b)

    def bubbles(self) -> tuple[Any, Any]:
        """Functions that vanish at both ends, and their derivatives: integrals of Legendre polynomials."""
        j, P = np.arange(1, self.count + 1), self._P
        return (P[:, j + 1] - P[:, j - 1]) / (2 * j + 1) * (0.5 * self.L), P[:, j]

    def flat_bubbles(self) -> tuple[Any, Any, Any]:
        """Functions that vanish at both ends with their slopes, first and second derivatives."""
        j, P = np.arange(2, self.count + 2), self._P
        first = (P[:, j + 1] - P[:, j - 1]) / (2 * j + 1)
        upper, lower = (P[:, j + 2] - P[:, j]) / (2 * j + 3), (P[:, j] - P[:, j - 2]) / (2 * j - 1)
        half = 0.5 * self.L
        return (upper - lower) / (2 * j + 1) * half**2, first * half, P[:, j]

    def along(self, mass: float, stiffness: float) -> Family:
        """Stretching or twisting."""
        value, slope = self.bubbles()
        value = np.column_stack([self.xi, value])
        slope = np.column_stack([np.full(len(self.xi), 1.0 / self.L), slope])
        M, K = mass * self.integral(value, value), stiffness * self.integral(slope, slope)
        return Family(value, slope, value, M=M, K=K, ends=1, mass=mass, spin=0.0)

    def thin(self, mass: float, stiffness: float) -> Family:
        """Bending of an Euler-Bernoulli beam; deflection and slope of the end come first."""
        x, L = self.xi, self.L
        value, slope, bend = self.flat_bubbles()
        value = np.column_stack([3 * x**2 - 2 * x**3, L * (x**3 - x**2), value])
        slope = np.column_stack([6 * (x - x**2) / L, 3 * x**2 - 2 * x, slope])
        bend = np.column_stack([(6 - 12 * x) / L**2, (6 * x - 2) / L, bend])
        M, K = mass * self.integral(value, value), stiffness * self.integral(bend, bend)
        return Family(value, slope, slope, M=M, K=K, ends=2, mass=mass, spin=0.0)

    def thick(self, mass: float, stiffness: float, shear: float, spin: float) -> Family:
        """Bending of a Timoshenko beam, whose sections turn by an angle of their own."""
        line, ends = self.along(1.0, 1.0), (0, self.count + 1)
        none = np.zeros_like(line.value)
        order = [*ends, *(k for k in range(2 * self.count + 2) if k not in ends)]
        value, slope = (np.hstack([x, none])[:, order] for x in (line.value, line.slope))
        turn, bend = (np.hstack([none, x])[:, order] for x in (line.value, line.slope))
        slip = slope - turn
        M = mass * self.integral(value, value) + spin * self.integral(turn, turn)
        K = stiffness * self.integral(bend, bend) + shear * self.integral(slip, slip)
        return Family(value, slope, turn, M=M, K=K, ends=2, mass=mass, spin=spin)


def _families(section: Section, points: Points) -> dict[str, Family]:
    """All families of a section."""
    (about_y, about_z), spin = section.bending, section.spin
    found = {
        "stretch": points.along(section.mass, section.axial),
        "twist": points.along(spin[0], section.torsional),
    }
    if section.shear is None:
        return found | {"y": points.thin(section.mass, about_z), "z": points.thin(section.mass, about_y)}
    along_y, along_z = section.shear
    return found | {
        "y": points.thick(section.mass, about_z, along_y, spin[2]),
        "z": points.thick(section.mass, about_y, along_z, spin[1]),
    }


@dataclass(frozen=True)
class Fields:
    """Deflections along a beam: displacement d and turn of sections (points, n, 3), slopes of the axis."""

    d: Array
    turn: Array
    slope: Array
    M: Array
    K: Array
    families: tuple[str, ...]


def _fields(section: Section, points: Points, modes: int) -> Fields:
    """The deflections of the end and the lowest modes, scaled to the largest displacement 1."""
    families = _families(section, points)
    lowest = sorted((w2, name) for name, family in families.items() for w2 in family.squares())
    kept = sorted(name for _, name in lowest[:modes])
    n = 6 + modes
    d, turn, slope = (np.zeros((len(points.xi), n, 3)) for _ in range(3))
    M, K = np.zeros((n, n)), np.zeros((n, n))
    for name, family in families.items():
        ends, numbers = [modes + k for k in END[name]], [k for k, one in enumerate(kept) if one == name]
        T = family.reduced(points, len(numbers))
        at = [*ends, *numbers]
        scale = np.ones(len(at))
        size = np.abs(family.value @ T[:, family.ends :]).max(axis=0, initial=0.0)
        scale[family.ends :] = 1.0 / (size * (points.L if name == "twist" else 1.0))
        if name == "z":
            scale[1] = -1.0  # a positive turn about y lowers the slope
        T = T * scale
        M[np.ix_(at, at)], K[np.ix_(at, at)] = T.T @ family.M @ T, T.T @ family.K @ T
        _put(name, family, T, at, (d, turn, slope))
    return Fields(d, turn, slope, M, K, tuple(kept))


def _put(name: str, family: Family, T: Array, at: list[int], into: tuple[Array, Array, Array]) -> None:
    d, turn, slope = into
    value, slopes, turns = (x @ T for x in (family.value, family.slope, family.turn))
    if name == "stretch":
        d[:, at, 0] = value
    elif name == "twist":
        turn[:, at, 0] = value
    else:
        axis, about, sign = (1, 2, 1.0) if name == "y" else (2, 1, -1.0)
        d[:, at, axis], slope[:, at, axis], turn[:, at, about] = value, slopes, sign * turns


def beam_deflections(section: Section, L: float, modes: int, stiffening: bool) -> Deflections:
    """The constants of a beam of length L [m] with so many modes."""
    points = Points(L, 2 * modes + SPARE)
    f, w = _fields(section, points, modes), section.mass * points.weights
    x, e = points.xi * L, np.array([1.0, 0.0, 0.0])
    spin = np.array(section.spin)
    s = np.einsum("g,gki->ki", w, f.d)
    first = np.einsum("g,gki->ki", w * x, f.d)  # e^T of sum r0 d^T
    P = np.einsum("g,gki,glj->klij", w, f.d, f.d)
    turns = np.einsum("g,gki->ki", points.weights, f.turn) * spin
    n = 6 + modes
    s2, shortening, late = np.zeros((n, n, 3)), np.zeros((n, n)), np.zeros((n, n))
    if stiffening:
        g = np.einsum("gki,gli->gkl", f.slope, f.slope)
        shortening = np.einsum("g,gkl->kl", points.weights, g)
        s2[:, :, 0] = np.einsum("g,gkl->kl", w * (x - 0.5 * L), g)
        late = np.einsum("g,gkl->kl", w * (0.5 * x**2 - L**2 / 6.0), g)
    cross = np.einsum("i,kj->kij", e, first)
    second = P + np.swapaxes(P, 0, 1) + 2.0 * late[:, :, None, None] * np.outer(e, e)
    mass = section.mass * L
    return Deflections(
        mass=mass,
        first=0.5 * mass * L * e,
        inertia=mass * L**2 / 3.0 * moments(np.outer(e, e)) + L * np.diag(spin),
        s=s,
        c=np.cross(e, first) + turns,
        J=moments(cross + np.swapaxes(cross, 1, 2)),
        M=f.M,
        K=f.K,
        D=np.zeros((n, n)),
        s2=s2,
        c2=np.swapaxes(crossed(P), 0, 1),
        J2=moments(second),
        stretches=((float(modes), shortening),) if stiffening else (),
    )

"""Outlines of lines and arcs: elements, corners, what is convex, chains, and where they cross themselves."""

from __future__ import annotations

import cmath
import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...arrays import Array
from ...errors import InputError

SMOOTH = 1e-6  # sine of the angle between elements that go on without a corner
SHORT = 1e-9  # of the extent: a shorter element is none
KINDS = {"line": 0, "convex": 1, "concave": 2}  # numbers of the kernel (kernels/contacts/shapes/profile.hpp)
SHARP, UP_TO_HALF, BEYOND_HALF, WHOLE = range(4)
Point = complex  # x + i y


@dataclass(frozen=True)
class Element:
    """A line or an arc of an outline.

    Attributes:
        start, end: [m], x + i y.
        angle: Of an arc, positive counterclockwise [rad]; 0 of a line.
        centre: Of an arc.
        chain: Number of its chain.
        begins, ends: Whether the chain begins or ends there.
    """

    start: Point
    end: Point
    angle: float = 0.0
    centre: Point = 0j
    chain: int = 0
    begins: bool = False
    ends: bool = False

    @property
    def radius(self) -> float:
        """Of an arc [m]; 0 of a line."""
        return abs(self.start - self.centre) if self.angle else 0.0

    @property
    def kind(self) -> str:
        """One of KINDS, in an outline that is counterclockwise."""
        return "line" if not self.angle else "convex" if self.angle > 0.0 else "concave"

    def ahead(self, s: float) -> Point:
        """Unit direction of travel at s, 0 at the start to 1 at the end."""
        if not self.angle:
            return (self.end - self.start) / abs(self.end - self.start)
        out = (self.start - self.centre) / self.radius * cmath.exp(1j * s * self.angle)
        return out * (1j if self.angle > 0.0 else -1j)

    def at(self, s: float) -> Point:
        """The point at s, 0 at the start to 1 at the end."""
        if not self.angle:
            return self.start + s * (self.end - self.start)
        return self.centre + (self.start - self.centre) * cmath.exp(1j * s * self.angle)

    def part(self, s: float, t: float) -> Element:
        """What lies between s and t."""
        return replace(self, start=self.at(s), end=self.at(t), angle=(t - s) * self.angle)

    def points(self, step: float) -> Iterator[tuple[float, float]]:
        """Points along it, the start first, the end left out."""
        count = max(1, math.ceil(abs(self.angle) / step - 1e-9))
        for k in range(count):
            z = self.at(k / count)
            yield z.real, z.imag

    def gauss(self, nodes: int) -> Iterator[tuple[tuple[float, float], tuple[float, float]]]:
        """Points along it, and the steps dx, dy that they stand for."""
        x, w = np.polynomial.legendre.leggauss(nodes)
        parts = max(1, math.ceil(abs(self.angle) / (0.5 * math.pi) - 1e-9))
        length = abs(self.end - self.start) if not self.angle else abs(self.angle) * self.radius
        for k, (node, weight) in itertools.product(range(parts), zip(x.tolist(), w.tolist(), strict=True)):
            s = (k + 0.5 + 0.5 * node) / parts
            z, d = self.at(s), self.ahead(s) * (0.5 * weight / parts * length)
            yield (z.real, z.imag), (d.real, d.imag)

    def data(self) -> list[float]:
        """As the kernel stores it."""
        numbers = [self.start.real, self.start.imag, self.end.real, self.end.imag]
        numbers += [self.centre.real, self.centre.imag, self.radius]
        return [float(KINDS[self.kind]), float(self.chain), *numbers, float(self.begins), float(self.ends)]


@dataclass(frozen=True)
class Feature:
    """What is convex: a corner (radius 0) or an arc, with the outward directions at its begin and end."""

    centre: Point
    radius: float
    first: Point
    last: Point
    span: int

    def data(self) -> list[float]:
        """As the kernel stores it."""
        numbers = [self.centre, self.first, self.last]
        (x, y), *directions = ((z.real, z.imag) for z in numbers)
        return [x, y, self.radius, *itertools.chain(*directions), float(self.span)]


def elements_of(outline: Sequence[Sequence[float]]) -> list[Element]:
    """Lines and arcs of corners (x, y) or (x, y, bulge), counterclockwise."""
    corners = [complex(one[0], one[1]) for one in outline]
    bulges = [one[2] if len(one) == 3 else 0.0 for one in outline]
    extent = max(abs(z - corners[0]) for z in corners)
    found = []
    for k, bulge in enumerate(bulges):
        start, end = corners[k], corners[(k + 1) % len(corners)]
        if abs(end - start) <= SHORT * extent:
            raise InputError(
                f"outline of Profile: corners {k} and {(k + 1) % len(corners)} coincide; leave one out."
            )
        found.append(_element(start, end, bulge))
    area = sum(0.5 * (x * dy - y * dx) for one in found for (x, y), (dx, dy) in one.gauss(8))
    if abs(area) <= SHORT * extent**2:
        raise InputError(
            "outline of Profile encloses no area; give its corners in order, arcs with their bulge."
        )
    if area > 0.0:
        return found
    return [replace(one, start=one.end, end=one.start, angle=-one.angle) for one in reversed(found)]


def _element(start: Point, end: Point, bulge: float) -> Element:
    if bulge == 0.0:
        return Element(start, end)
    across = 1j * (end - start) * (1.0 - bulge**2) / (4.0 * bulge)
    return Element(start, end, 4.0 * math.atan(bulge), 0.5 * (start + end) + across)


def turns(elements: Sequence[Element]) -> list[float]:
    """The turn at the start of each element: positive where a corner is convex, 0 where it is smooth."""
    found = []
    for k, one in enumerate(elements):
        before, after = elements[k - 1].ahead(1.0), one.ahead(0.0)
        turn = (before.conjugate() * after).imag
        back = (before.conjugate() * after).real < 0.0
        smooth = abs(turn) <= SMOOTH and not back
        found.append(0.0 if smooth else turn if abs(turn) > SMOOTH else 1.0)
    return found


def features_of(elements: Sequence[Element]) -> list[Feature]:
    """Convex corners and convex arcs; arcs that go on with the same circle are one."""
    found: list[Feature] = []
    for arc in _joined(elements):
        span = (
            WHOLE
            if arc.angle >= 2.0 * math.pi - 1e-9
            else UP_TO_HALF
            if arc.angle <= math.pi
            else BEYOND_HALF
        )
        ends = [(z - arc.centre) / arc.radius for z in (arc.start, arc.end)]
        found.append(Feature(arc.centre, arc.radius, ends[0], ends[1], span))
    for k, turn in enumerate(turns(elements)):
        if turn > 0.0:
            first, last = -1j * elements[k - 1].ahead(1.0), -1j * elements[k].ahead(0.0)
            found.append(Feature(elements[k].start, 0.0, first, last, SHARP))
    return found


def _joined(elements: Sequence[Element]) -> list[Element]:
    """Convex arcs, neighbours on one circle as one."""
    arcs: list[Element] = []
    for one in elements:
        if one.angle > 0.0:
            if arcs and _goes_on(arcs[-1], one):
                arcs[-1] = replace(arcs[-1], end=one.end, angle=arcs[-1].angle + one.angle)
            else:
                arcs.append(one)
    if len(arcs) > 1 and _goes_on(arcs[-1], arcs[0]):
        arcs[0] = replace(arcs[0], start=arcs[-1].start, angle=arcs[0].angle + arcs[-1].angle)
        arcs.pop()
    return arcs


def _goes_on(before: Element, after: Element) -> bool:
    """Whether one arc goes on as another on the same circle."""
    near = SHORT * before.radius
    same = abs(before.centre - after.centre) <= near and abs(before.radius - after.radius) <= near
    return same and abs(before.end - after.start) <= near


def _halves(one: Element, begins: bool) -> list[tuple[Element, bool]]:
    """Both halves of an element, and whether a chain begins there: in its middle one does."""
    return [(one.part(0.0, 0.5), begins), (one.part(0.5, 1.0), True)]


def _cut_in_concave_arcs(elements: Sequence[Element]) -> list[tuple[Element, bool]]:
    """The elements, concave arcs of a quarter turn and more as two, and whether a chain begins there."""
    cut: list[tuple[Element, bool]] = []
    for one, turn in zip(elements, turns(elements), strict=True):
        if one.angle <= -0.5 * math.pi + 1e-9:
            cut += _halves(one, turn < 0.0)
        else:
            cut.append((one, turn < 0.0))
    return cut


def chains_of(elements: Sequence[Element]) -> list[Element]:
    """The elements with their chains, which end at concave corners and in the middle of concave arcs."""
    cut = _cut_in_concave_arcs(elements)
    first = next((k for k, (_, begins) in enumerate(cut) if begins), None)
    if first is None:
        return _elements_in(cut)
    cut = cut[first:] + cut[:first]
    if not any(begins for _, begins in cut[1:]):  # both sides of the only notch would be one chain
        far = _halfway(_elements_in(cut))
        cut[far : far + 1] = _halves(cut[far][0], far == 0)
    return _numbered(cut)


def _elements_in(cut: Sequence[tuple[Element, bool]]) -> list[Element]:
    return [one for one, _ in cut]


def _numbered(cut: Sequence[tuple[Element, bool]]) -> list[Element]:
    """Elements with the numbers of their chains, and where those begin and end; the first one begins one."""
    numbers = list(itertools.accumulate((int(begins) for _, begins in cut), initial=-1))[1:]
    ends = [begins for _, begins in cut[1:]] + [True]
    return [
        replace(one, chain=chain, begins=begins, ends=end)
        for (one, begins), chain, end in zip(cut, numbers, ends, strict=True)
    ]


def _halfway(elements: Sequence[Element]) -> int:
    """The element in the middle of a path."""
    sizes = [abs(one.angle) * one.radius or abs(one.end - one.start) for one in elements]
    so_far = list(itertools.accumulate(sizes))
    return next(k for k, size in enumerate(so_far) if size >= 0.5 * so_far[-1])


def length_of(vectors: Array) -> float:
    """The longest of vectors (n, 2)."""
    return float(np.max(np.hypot(*vectors.T)))


# ---------------------------------------------------------------------- crossings


def crossing(elements: Sequence[Element]) -> tuple[float, float] | None:
    """A place where an outline crosses or touches itself."""
    extent = max(abs(one.start - elements[0].start) for one in elements)
    for i, j in itertools.combinations(range(len(elements)), 2):
        a, b = elements[i], elements[j]
        shared = [z for z in (a.end, a.start) if min(abs(z - b.start), abs(z - b.end)) <= SHORT * extent]
        for z in _meetings(a, b):
            if all(abs(z - known) > 1e-6 * extent for known in shared):
                return z.real, z.imag
    return None


def _meetings(a: Element, b: Element) -> Iterator[Point]:
    """Points that two elements have in common."""
    for z in _of_lines_and_circles(a, b):
        if _holds(a, z) and _holds(b, z):
            yield z


def _holds(one: Element, z: Point) -> bool:
    """Whether a point of the line or circle of an element lies within it."""
    if not one.angle:
        s = ((z - one.start) / (one.end - one.start)).real
        return -1e-12 <= s <= 1.0 + 1e-12
    turned = cmath.phase((z - one.centre) / (one.start - one.centre)) * math.copysign(1.0, one.angle)
    return -1e-12 <= turned % (2.0 * math.pi) <= abs(one.angle) + 1e-12 or abs(turned) <= 1e-12


def _of_lines_and_circles(a: Element, b: Element) -> list[Point]:
    if not a.angle and not b.angle:
        u, v, w = a.end - a.start, b.end - b.start, b.start - a.start
        across = (u.conjugate() * v).imag
        if abs(across) <= 1e-12 * abs(u) * abs(v):
            return (
                [b.start, b.end, a.start, a.end]
                if abs((u.conjugate() * w).imag) <= 1e-12 * abs(u) ** 2
                else []
            )
        return [a.start + u * ((w.conjugate() * v).imag / across)]
    if a.angle and b.angle:
        return _of_circles(a, b)
    line, arc = (b, a) if a.angle else (a, b)
    u = line.ahead(0.0)
    foot = line.start + u * ((arc.centre - line.start) * u.conjugate()).real
    square = arc.radius**2 - abs(arc.centre - foot) ** 2
    return [] if square < 0.0 else [foot + u * s for s in (math.sqrt(square), -math.sqrt(square))]


def _of_circles(a: Element, b: Element) -> list[Point]:
    apart, r, s = b.centre - a.centre, a.radius, b.radius
    d = abs(apart)
    if d <= 1e-9 * (r + s):
        return [b.start, b.end, a.start, a.end] if abs(r - s) <= 1e-9 * (r + s) else []
    along = (d**2 + r**2 - s**2) / (2.0 * d)
    square = r**2 - along**2
    if square < 0.0:
        return []
    return [a.centre + apart / d * complex(along, sign * math.sqrt(square)) for sign in (1.0, -1.0)]

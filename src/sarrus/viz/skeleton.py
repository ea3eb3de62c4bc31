"""The stick figure of a mechanism: points fixed on bodies and the lines that join them. No pose enters here.

A body is drawn between the places where something holds on to it: its own joint, the joints of its children,
the points of loops, rods and springs. Two places make a bar, more of them a plate; a body with a single place
is drawn out to its centre of mass.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from scipy.spatial import ConvexHull

from ..arrays import FloatArray
from ..constraints.closures import Closure
from ..constraints.points import Distance, PointOnLine, PointOnPlane
from ..constraints.rolling import Rolling
from ..mechanism.mechanism import Mechanism
from ..models.axes import direction
from ..models.bodies import GROUND, Body
from ..models.forces import PointSpring
from ..models.joints import Cylindrical, Fixed, Free, Planar, Prismatic
from ..models.pose import Pose

SAME_POINT = 1e-6  # of points, relative to the mechanism's length
RIM = np.linspace(0.0, 2.0 * np.pi, 49)

Anchor = tuple[str, FloatArray]  # a body and a point in its frame [m], (3,)
Places = dict[str, list[FloatArray]]


@dataclass(frozen=True)
class Part:
    """A line through points fixed on bodies.

    Attributes:
        kind: "link", "plate" (a closed outline), "stem" (to a centre of mass beside the bars), "rod" (a
            massless distance), "spring" or "disc" (a rim and a spoke).
        owner: Name of the body, constraint or force that it shows.
        anchors: The points, in the order in which they are joined.
    """

    kind: str
    owner: str
    anchors: tuple[Anchor, ...]


@dataclass(frozen=True)
class Rail:
    """The line or the plane in which a point of one body slides on another.

    Attributes:
        at: A point of the guide, on the body that carries it.
        follower: The point that runs in it.
        direction: Of the line, or the normal of the plane, in the frame of the carrying body, (3,).
        is_plane: Which of the two it is.
        is_block: Whether the follower cannot turn freely: drawn as a block rather than a pin.
    """

    at: Anchor
    follower: Anchor
    direction: FloatArray
    is_plane: bool = False
    is_block: bool = False


@dataclass(frozen=True)
class Skeleton:
    """Everything that can be drawn of a mechanism.

    Attributes:
        parts: Lines and plates.
        rails: Guides of sliding points.
        pins: Joints and closed loops, where bodies turn on each other.
        supports: Those of the pins that stand on the ground.
        masses: Centre of mass of each body that has mass, and that mass [kg].
    """

    parts: list[Part] = field(default_factory=list)
    rails: list[Rail] = field(default_factory=list)
    pins: list[Anchor] = field(default_factory=list)
    supports: list[Anchor] = field(default_factory=list)
    masses: list[tuple[Anchor, float]] = field(default_factory=list)


def skeleton(mech: Mechanism) -> Skeleton:
    """The stick figure of a mechanism."""
    found = Skeleton()
    places: Places = {body.name: [] for body in mech.model.bodies}
    still = {GROUND}  # the ground and what is fixed to it
    for body in mech.model.bodies[1:]:
        if isinstance(body.joint, Fixed) and body.parent in still:
            still.add(body.name)
        _add_joint(body, found, places, still)
    for name, constraint in mech.model.constraints:
        _add_constraint(name, constraint, found, places, still)
    for name, force in mech.model.forces:
        if isinstance(force, PointSpring):
            ends = ((force.a, np.array(force.p_a)), (force.b, np.array(force.p_b)))
            found.parts.append(Part("spring", name, ends))
            _hold(places, *ends)
    for body in mech.model.bodies[1:]:
        if body.mass > 0.0:
            found.masses.append(((body.name, np.array(body.com)), body.mass))
        if not isinstance(body.joint, Fixed):
            found.parts.extend(_outline(mech, body, places))
    return found


def _hold(places: Places, *anchors: Anchor) -> None:
    for body, point in anchors:
        places[body].append(point)


def _add_joint(body: Body, found: Skeleton, places: Places, still: set[str]) -> None:
    """What the joint that carries a body shows."""
    carrier, own = (body.parent, body.at.xyz), (body.name, np.zeros(3))
    if isinstance(body.joint, (Fixed, Free)):
        return
    _hold(places, own)
    if isinstance(body.joint, Planar):
        return
    _hold(places, carrier)
    if isinstance(body.joint, (Prismatic, Cylindrical)):
        found.rails.append(Rail(carrier, own, body.at.rotation @ body.joint.direction, is_block=True))
        return
    found.pins.append(own)
    if body.parent in still:
        found.supports.append(carrier)


def _add_constraint(name: str, given: object, found: Skeleton, places: Places, still: set[str]) -> None:
    """What a loop, a rod, a guided point or a rolling disc shows; nothing for the others."""
    if isinstance(given, Rolling):
        found.parts.append(_rim(name, given))
        return
    if isinstance(given, Closure):
        a, b = (given.a, given.at_a.xyz), (given.b, given.at_b.xyz)
        if isinstance(given.joint, (Prismatic, Cylindrical, Planar)):
            along = given.at_a.rotation @ given.joint.direction
            is_plane = isinstance(given.joint, Planar)
            found.rails.append(Rail(a, b, along, is_plane, is_block=not is_plane))
            _hold(places, a, b)
            return
    elif isinstance(given, (Distance, PointOnLine, PointOnPlane)):
        a, b = (given.a, np.array(given.p_a)), (given.b, np.array(given.p_b))
        if isinstance(given, Distance):
            found.parts.append(Part("rod", name, (a, b)))
            found.pins.append(a)
        elif isinstance(given, PointOnLine):
            found.rails.append(Rail(a, b, direction(given.direction)))
        else:
            found.rails.append(Rail(a, b, direction(given.normal), True))
    else:
        return
    _hold(places, a, b)
    found.pins.append(b)
    if not isinstance(given, (PointOnLine, PointOnPlane)):
        found.supports.extend(end for end in (a, b) if end[0] in still)


def _rim(name: str, disc: Rolling) -> Part:
    """The rim of a disc and one spoke, so that one sees it turn."""
    axis = direction(disc.axis)
    across = np.eye(3)[int(np.argmin(np.abs(axis)))]
    x = across - (across @ axis) * axis
    x /= np.linalg.norm(x)
    y, centre = np.cross(axis, x), np.array(disc.centre)
    rim = centre + disc.radius * (np.outer(np.cos(RIM), x) + np.outer(np.sin(RIM), y))
    return Part("disc", disc.body, tuple((disc.body, point) for point in [centre, *rim]))


def _outline(mech: Mechanism, body: Body, places: Places) -> Iterator[Part]:
    """A bar, a plate or a star through the places of a body and of what is fixed to it, out to its mass."""
    same = SAME_POINT * mech.length
    rigid = list(_welded(mech, body, Pose()))
    points = _distinct([X.apply(p) for part, X in rigid for p in places[part.name]], same)
    centres = _distinct([X.apply(part.com) for part, X in rigid if part.mass > 0.0], same)
    if _rank(np.concatenate([points, centres]), same) <= 1:
        points = _distinct([*points, *centres], same)
    offsets = points - points.mean(axis=0) if len(points) else points
    rank = _rank(points, same)
    if rank == 1:
        along = offsets @ _axes(offsets)[0]
        along = along if along[0] <= along.mean() else -along  # the joint of the body comes first
        ends = points[int(np.argmin(along))], points[int(np.argmax(along))]
        yield Part("link", body.name, tuple((body.name, p) for p in ends))
    elif rank == 2:
        corners = points[ConvexHull(offsets @ _axes(offsets)[:2].T).vertices]
        yield Part("plate", body.name, tuple((body.name, p) for p in corners))
    elif rank == 3:
        for p in points[1:]:
            yield Part("link", body.name, ((body.name, points[0]), (body.name, p)))
    if rank != 2 and len(points):
        for c in centres:
            near = points[int(np.argmin(np.linalg.norm(points - c, axis=1)))]
            if _rank(np.concatenate([points, [c]]), same) > rank:
                yield Part("stem", body.name, ((body.name, near), (body.name, c)))


def _rank(points: FloatArray, same: float) -> int:
    """0 for one point (or none), 1 for points in a line, 2 in a plane, 3 in space."""
    if len(points) < 2:
        return 0
    spread = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
    return int(np.sum(spread > same))


def _axes(offsets: FloatArray) -> FloatArray:
    """Directions in which points spread, most first, as rows (3, 3)."""
    return np.asarray(np.linalg.svd(offsets)[2])


def _welded(mech: Mechanism, body: Body, X: Pose) -> Iterator[tuple[Body, Pose]]:
    """A body and everything fixed to it, with their poses in its frame."""
    yield body, X
    for child in mech.model.bodies[1:]:
        if child.parent == body.name and isinstance(child.joint, Fixed):
            yield from _welded(mech, child, X @ child.at)


def _distinct(points: list[FloatArray], same: float) -> FloatArray:
    """Points [m] without those that repeat earlier ones, (n, 3)."""
    kept: list[FloatArray] = []
    for point in points:
        if all(np.linalg.norm(point - other) > same for other in kept):
            kept.append(point)
    return np.array(kept).reshape(-1, 3)

"""The stick figure of a mechanism: points fixed on bodies and the lines that join them. No pose enters here.

A body is drawn between the places where something holds on to it: its own joint, the joints of its children,
the points of loops, rods and springs, those that are measured. Two places make a bar, more of them a plate; a
body with a single place is drawn out to its centre of mass. A link of a drawing runs through its points.

Parts of a drawing are shown once and by their names: what hangs on a copy of a part is drawn on the part.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from ...arrays import Array
from ...mechanism.mechanism import Mechanism
from ...models.base.pose import Pose
from ...models.shapes.drawing import Anchor, Drawing, Rail
from ...models.tree.bodies import GROUND, Body
from .shown_parts import bare_coordinates, copies_on_parts, joint_drawing, shown_constraints, shown_names

SAME_POINT = 1e-6  # of points, relative to the mechanism's length

Places = dict[str, list[Array]]


@dataclass(frozen=True)
class Part:
    """A line through points fixed on bodies.

    Attributes:
        kind: "link", "plate" (a closed outline), "stem" (to a centre of mass beside the bars), "rod" (a
            massless distance), "spring" or "disc" (a rim and a spoke).
        owner: Name of the body, constraint or force that it shows.
        anchors: The points, in the order in which they are joined.
        stiffness, rest: Of a linear spring [N/m], [m]; else None.
        is_declared: Whether the description says that the body runs along it.
    """

    kind: str
    owner: str
    anchors: tuple[Anchor, ...]
    stiffness: float | None = None
    rest: float | None = None
    is_declared: bool = False


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
    bodies = (mech.model.bodies[0], *mech.model.shown_bodies)
    places: Places = {body.name: [] for body in bodies}
    still = {GROUND}  # the ground and what is fixed to it
    on_part, bare = copies_on_parts(mech), bare_coordinates(mech)
    for body in bodies[1:]:
        if not body.joint.nv and body.parent in still:
            still.add(body.name)
        _add(body.name, joint_drawing(body, on_part, bare), found, places, still)
    for name, given in (*shown_constraints(mech), *mech.model.forces):
        _add(name, given.drawing(), found, places, still)
    for _, measure in mech.model.measures:
        for body_name, point in measure.places():
            places[body_name].append(np.array(point, dtype=np.float64))
    part_of = {body.name: body.name for body in bodies} | {copy: at.body for copy, at in on_part.items()}
    masses = dict.fromkeys((part_of[body.name] for body in bodies[1:]), 0.0)
    names = shown_names(mech)
    for body in bodies[1:]:
        masses[part_of[body.name]] += body.mass
        if body.joint.nv and body.name not in on_part:
            found.parts.extend(_outline(mech, body, places, names[body.name]))
    com = {body.name: np.array(body.com) for body in bodies}
    found.masses.extend(((name, com[name]), mass) for name, mass in masses.items() if mass > 0.0)
    return found


def _add(name: str, drawing: Drawing, found: Skeleton, places: Places, still: set[str]) -> None:
    """What one joint, constraint or force shows; a disc gets one spoke, so that one sees it turn."""
    for body, point in drawing.held:
        places[body].append(point)
    found.parts.extend(
        Part(line.kind, name, line.points, line.stiffness, line.rest) for line in drawing.lines
    )
    for disc in drawing.discs:
        body, centre = disc.centre
        found.parts.append(Part("disc", body, tuple((body, point) for point in [centre, *disc.rim()])))
    found.rails.extend(drawing.rails)
    found.pins.extend(drawing.pins)
    found.supports.extend(end for end in drawing.supports if end[0] in still)


def _outline(mech: Mechanism, body: Body, places: Places, owner: str) -> Iterator[Part]:
    """A bar, a plate or a star through the places of a body and of what is fixed to it, out to its mass."""
    same = SAME_POINT * mech.length
    rigid = list(_welded(mech, body, Pose()))
    heavy = [(part, X) for part, X in rigid if part.mass > 0.0]
    points = _distinct([X.apply(p) for part, X in rigid for p in places[part.name]], same)
    lines = [np.array([X.apply(p) for p in part.outline]) for part, X in rigid if part.outline]
    if lines:
        others = [X.apply(part.com) for part, X in heavy if not part.outline]
        yield from _drawn(body.name, owner, lines, _distinct([*points, *others], same), same)
        return
    centres = _distinct([X.apply(part.com) for part, X in heavy], same)
    if _rank(np.concatenate([points, centres]), same) <= 1:
        points = _distinct([*points, *centres], same)
    rank = _rank(points, same)
    for kind, corners in _figure(points, rank):
        yield Part(kind, owner, tuple((body.name, p) for p in corners))
    for c in centres if rank != 2 and len(points) else ():
        near = points[int(np.argmin(np.linalg.norm(points - c, axis=1)))]
        if _rank(np.concatenate([points, [c]]), same) > rank:
            yield Part("stem", owner, ((body.name, near), (body.name, c)))


def _figure(points: Array, rank: int) -> Iterator[tuple[str, Sequence[Array]]]:
    """A bar along points on a line, a plate through points in a plane, a star from the first of others."""
    from scipy.spatial import ConvexHull

    offsets = points - points.mean(axis=0) if len(points) else points
    if rank == 1:
        along = offsets @ _axes(offsets)[0]
        along = along if along[0] <= along.mean() else -along  # the joint of the body comes first
        yield "link", (points[int(np.argmin(along))], points[int(np.argmax(along))])
    elif rank == 2:
        yield "plate", points[ConvexHull(offsets @ _axes(offsets)[:2].T).vertices]
    elif rank == 3:
        yield from (("link", (points[0], p)) for p in points[1:])


def _drawn(body: str, owner: str, lines: list[Array], points: Array, same: float) -> Iterator[Part]:
    """The lines (n, 3) along which a body is drawn, and bars from them to its places beside them."""
    for line in lines:
        yield Part("link", owner, tuple((body, p) for p in line), is_declared=True)
    starts = np.concatenate([line[:-1] for line in lines])
    way = np.concatenate([np.diff(line, axis=0) for line in lines])
    for p in points:
        part = np.clip(np.sum((p - starts) * way, axis=1) / np.sum(way * way, axis=1), 0.0, 1.0)
        near = starts + part[:, None] * way
        near = near[int(np.argmin(np.linalg.norm(near - p, axis=1)))]
        if np.linalg.norm(near - p) > same:
            yield Part("link", owner, ((body, near), (body, p)), is_declared=True)


def _rank(points: Array, same: float) -> int:
    """0 for one point (or none), 1 for points in a line, 2 in a plane, 3 in space."""
    if len(points) < 2:
        return 0
    spread = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
    return int(np.sum(spread > same))


def _axes(offsets: Array) -> Array:
    """Directions in which points spread, most first, as rows (3, 3)."""
    return np.asarray(np.linalg.svd(offsets)[2])


def _welded(mech: Mechanism, body: Body, X: Pose) -> Iterator[tuple[Body, Pose]]:
    """A body and everything fixed to it, with their poses in its frame."""
    yield body, X
    for child in mech.model.shown_bodies:
        if child.parent == body.name and not child.joint.nv:
            yield from _welded(mech, child, X @ child.at)


def _distinct(points: list[Array], same: float) -> Array:
    """Points [m] without those that repeat earlier ones, (n, 3)."""
    kept: list[Array] = []
    for point in points:
        if all(np.linalg.norm(point - other) > same for other in kept):
            kept.append(point)
    return np.array(kept).reshape(-1, 3)

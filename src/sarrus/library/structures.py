"""Structures of any number of cells: nets, scissors, deployable rings, chain mail."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..arrays import count
from ..constraints.points import PointOnPlane
from ..errors import InputError
from ..mechanism.mechanism import Mechanism
from ..mechanism.spec import MechanismSpec
from ..models.base.pose import Pose
from ..models.tree.joints import Planar, Spherical
from .argument_checks import checked
from .default_state import compile_at
from .mass_properties import Mass, bar, cuboid
from .plane_geometry import HINGE, joint_angles, pin, wrap

ONE_CHAIN, SECTION = 15, 4  # pairs of bars up to which there is one chain; pairs of a section of longer ones


@checked
def net(k: int = 2, closure: str = "pin", gravity: float = 9.81) -> Mechanism:
    """Net of k x k cells of pinned bars, hung up at one corner; 2 k freedoms.

    Uniform thin bars of 1 m and 1 kg. Bars "t0", "t1", ... make the upper edge, "v{i}_{j}" hang from its
    nodes, "h{i}_{j}" join them below. Every cell is a parallelogram: bars of a row turn alike, and so do
    those of a column. Starts at rest, rows and columns in zigzag.

    Args:
        k: Number of cells along each side.
        closure: "pin" (2 rows for each cell), "point" (3) or "revolute" (5, a hinge in space).
        gravity: Gravity along -y [m/s^2].
    """
    count(k, "k of net")
    spec = MechanismSpec(gravity=(0.0, -gravity, 0.0), name="net")
    right, down = Pose((1.0, 0.0, 0.0)), Pose((0.0, -1.0, 0.0))
    nodes = [("ground", Pose()), *((f"t{i}", right) for i in range(k))]  # of the upper edge
    for i, (parent, at) in enumerate(nodes[:-1]):
        spec.body(f"t{i}", parent=parent, joint=HINGE, at=at, **bar(1.0, 1.0))
    for i, (parent, at) in enumerate(nodes):
        for j in range(k):
            spec.body(f"v{i}_{j}", parent=parent, joint=HINGE, at=at, **bar(1.0, 1.0, "-y"))
            parent, at = f"v{i}_{j}", down
    for j, i in np.ndindex(k, k):
        spec.body(f"h{i}_{j}", parent=f"v{i}_{j}", joint=HINGE, at=down, **bar(1.0, 1.0))
        ends = (f"v{i + 1}_{j}", (0.0, -1.0), f"h{i}_{j}", (1.0, 0.0))
        pin(spec, f"p{i}_{j}", *ends, kind=closure)
    rows = np.where(np.arange(k) % 2, 0.2, -0.2).tolist()
    columns = np.where(np.arange(k) % 2, 0.1, -0.1).tolist()
    q = joint_angles(rows)
    for above in (0.0, *rows):
        q += list(np.diff(columns, prepend=above))
    q += [row - column for column in columns for row in rows]
    return compile_at(spec, q)


@checked
def scissor(n: int = 4, angle: float = 0.6, gravity: float = 9.81) -> Mechanism:
    """Scissor lift of n crossed pairs of bars on a fixed and a sliding foot; mobility 1.

    Uniform thin bars of 1 m and 1 kg, "a1", "b1", ... from below, pinned at their middles and ends. Starts
    at rest and sinks. With more than 15 pairs the bars "a5", "a9", ... have planar joints on the ground, and
    pins "s5", "s9", ... to the bars below: a tree of short branches, whose steps grow with n.

    Args:
        n: Number of crossed pairs.
        angle: Angle of the bars above the horizontal at the start [rad].
        gravity: Gravity along -y [m/s^2].
    """
    count(n, "n of scissor")
    spec = MechanismSpec(gravity=(0.0, -gravity, 0.0), name="scissor")
    middle = Pose((0.5, 0.0, 0.0))  # of a bar a; the upper end of a bar b
    q: list[float] = []  # headings: angle, pi - angle
    for i in range(1, n + 1):
        if n > ONE_CHAIN and i > 1 and i % SECTION == 1:
            spec.body(f"a{i}", joint=Planar("z"), **bar(1.0, 1.0))
            pin(spec, f"s{i}", f"b{i - 1}", (0.5, 0.0), f"a{i}", (0.0, 0.0))
            q += [0.0, (i - 1) * math.sin(angle), angle]
        else:
            parent, at = (f"b{i - 1}", middle) if i > 1 else ("ground", Pose())
            spec.body(f"a{i}", parent=parent, joint=HINGE, at=at, **bar(1.0, 1.0))
            q += [angle if i == 1 else wrap(2.0 * angle - math.pi)]
        q += [math.pi - 2.0 * angle]
        spec.body(f"b{i}", parent=f"a{i}", joint=HINGE, at=middle, **bar(1.0, 1.0, start=-0.5))
        if i > 1:
            pin(spec, f"p{i}", f"a{i - 1}", (1.0, 0.0), f"b{i}", (-0.5, 0.0))
    foot = PointOnPlane("ground", (0.0, 0.0, 0.0), "b1", (-0.5, 0.0, 0.0), normal=(0.0, 1.0, 0.0))
    spec.constrain("foot", foot)
    return compile_at(spec, q)


@checked
def deployable_ring(n: int = 8, angle: float = 0.6, speed: float = 0.5) -> Mechanism:
    """Floating ring of n pairs of angled bars that opens and folds as one: one freedom besides its drift.

    Two arms of 1 m and 1 kg meet at pi - 2 pi/n in each bar, so that the ends of a pair stay on two rays from
    the centre [Hoberman1990]. Four of its rows are redundant. No gravity; starts opening. With more than 15
    pairs the bars "a4", "a8", ... have planar joints on the ground like "a0", and pins "inner4", "inner8",
    ... to the bars before: a tree of short branches, whose steps grow with n.

    Args:
        n: Number of pairs, at least 3.
        angle: Angle of the arms against the tangent at the start [rad]; 0 where the ring is widest.
        speed: Rate at which that angle falls at the start [rad/s].
    """
    if count(n, "n of deployable_ring") < 3:
        raise InputError(f"n of deployable_ring must be at least 3, got {n}.")
    spec = MechanismSpec(gravity=(0.0, 0.0, 0.0), name="deployable_ring")
    sector = 2.0 * math.pi / n
    inner, outer = {}, {}  # ends of bars a and b, seen from their middle; the outer arm is the x axis
    inner["a"], inner["b"] = (-math.cos(sector), math.sin(sector)), (-math.cos(sector), -math.sin(sector))
    start = (-inner["a"][0], -inner["a"][1])  # middle of a bar a whose frame is at its inner end
    lean, radius = 0.5 * (sector + math.pi) - angle, math.cos(angle) / math.sin(0.5 * sector)
    outwards = speed * math.sin(angle) / math.sin(0.5 * sector)  # rate of the radius
    q, v = [radius, 0.0, lean], [outwards, 0.0, speed]
    spec.body("a0", joint=Planar("z"), **_angled(inner["a"], (0.0, 0.0)))
    for i in range(n):
        middle = start if i else (0.0, 0.0)
        outer[f"a{i}"] = (middle[0] + 1.0, middle[1])
        spec.body(
            f"b{i}", parent=f"a{i}", joint=HINGE, at=Pose((*middle, 0.0)), **_angled(inner["b"], (0, 0))
        )
        q, v = [*q, wrap(-2.0 * lean)], [*v, -2.0 * speed]
        if i == n - 1:
            break
        if n > ONE_CHAIN and (i + 1) % SECTION == 0:
            spec.body(f"a{i + 1}", joint=Planar("z"), **_angled(inner["a"], start))
            pin(spec, f"inner{i + 1}", f"b{i}", inner["b"], f"a{i + 1}", (0.0, 0.0))
            ray, heading = np.exp(1j * sector * (i + 1)), lean + sector * (i + 1)
            arm = np.exp(1j * heading) * complex(*start)  # from the inner end to the middle
            here, motion = radius * ray - arm, outwards * ray - 1j * speed * arm
            q, v = [*q, here.real, here.imag, heading], [*v, motion.real, motion.imag, speed]
        else:
            at = Pose((*inner["b"], 0.0))
            spec.body(f"a{i + 1}", parent=f"b{i}", joint=HINGE, at=at, **_angled(inner["a"], start))
            q, v = [*q, wrap(sector + 2.0 * lean)], [*v, 2.0 * speed]
    for i in range(n):
        pin(spec, f"outer{i}", f"a{i}", outer[f"a{i}"], f"b{(i + 1) % n}", (1.0, 0.0))
    pin(spec, "inner", f"b{n - 1}", inner["b"], "a0", inner["a"])
    return compile_at(spec, q, v)


def _angled(inner: Sequence[float], middle: Sequence[float]) -> Mass:
    """Two thin arms of 1 m and 1 kg from `middle` [m]: one along x, one to middle + inner."""
    com = (middle[0] + 0.25 * (1.0 + inner[0]), middle[1] + 0.25 * inner[1], 0.0)
    apart = 0.25 * ((1.0 - inner[0]) ** 2 + inner[1] ** 2)  # squared distance of the arms' centres
    about = 2.0 * (1.0 / 12.0 + 0.25 * apart)
    return Mass(mass=2.0, com=com, inertia=(0.5 * about, 0.5 * about, about))


@checked
def chain_mail(k: int = 3, fold: float = 0.3, gravity: float = 9.81) -> Mechanism:
    """Sheet of k x k square plates, linked to their neighbours by ball joints and hung up at one corner.

    Plates "p{i}_{j}" of 1 m and 1 kg in column i and row j from above, joined at the middles of their edges.
    Starts at rest, folded about vertical lines.

    Args:
        k: Number of plates along each side.
        fold: Angle of the columns against the plane of the sheet at the start, in turn to either side [rad].
        gravity: Gravity along -y [m/s^2].
    """
    count(k, "k of chain_mail")
    spec = MechanismSpec(gravity=(0.0, -gravity, 0.0), name="chain_mail")
    ball, half = Spherical(), 0.5
    for i in range(k):
        for j in range(k):  # frames at the upper edge; in the first row at the left one
            centre = (0.0, -half, 0.0) if j else (half, 0.0, 0.0)
            parent, at = "ground", Pose()
            if j:
                parent, at = f"p{i}_{j - 1}", Pose((0.0, -1.0, 0.0) if j > 1 else (half, -half, 0.0))
            elif i:
                parent, at = f"p{i - 1}_0", Pose((1.0, 0.0, 0.0))
            solid = cuboid(1.0, (1.0, 1.0, 0.05), centre)
            spec.body(f"p{i}_{j}", parent=parent, joint=ball, at=at, **solid)
    right, left = Pose((half, -half, 0.0)), Pose((-half, -half, 0.0))
    for i in range(1, k):
        for j in range(1, k):
            spec.close(f"l{i}_{j}", f"p{i - 1}_{j}", f"p{i}_{j}", joint=ball, at_a=right, at_b=left)
    q = []
    for i in range(k):  # quaternions of the first row relative to the column before, the others straight
        turn = fold * (2.0 if i else 1.0) * (-1.0 if i % 2 else 1.0)
        q += [0.0, math.sin(half * turn), 0.0, math.cos(half * turn)] + [0.0, 0.0, 0.0, 1.0] * (k - 1)
    return compile_at(spec, q)

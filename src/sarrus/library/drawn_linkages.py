"""Linkages described as they are drawn, in the x-y plane with gravity along -y.

Lengths and angles that a designer varies are parameters: `mech.with_(side=0.3)`.
"""

from __future__ import annotations

import numpy as np

from ..arrays import count
from ..mechanism.describe.measures import Angle, Length, Position
from ..mechanism.mechanism import Mechanism
from ..mechanism.spec import MechanismSpec
from ..models.base.pose import Pose
from ..models.shapes.shapes import Box
from ..models.tree.joints import Prismatic
from .argument_checks import checked
from .plane_geometry import HINGE


@checked
def peaucellier(
    arm: float = 0.6, side: float = 0.25, crank: float = 0.2, angle: float = 0.6, gravity: float = 9.81
) -> Mechanism:
    """Peaucellier's linkage: seven bars that guide a point along an exact straight line; mobility 1.

    A crank moves corner B of a rhombus A B C D on a circle through the fixed point O, two arms hold A and C
    at equal distance from O. Corner D, the measure "pencil", runs on x = (arm^2 - side^2) / (2 crank)
    [Peaucellier1873]. All four numbers are parameters.

    Args:
        arm: Length of the arms from O [m].
        side: Side of the rhombus [m].
        crank: Length of the crank, and distance of its pin Q from O [m].
        angle: Angle of the crank against the line O Q at the start [rad].
        gravity: Gravity along -y [m/s^2].
    """
    spec = MechanismSpec(gravity=(0.0, -gravity, 0.0), name="peaucellier")
    given = {"arm": arm, "side": side, "crank": crank, "angle": angle}
    L, s, r, turn = (spec.parameter(name, value) for name, value in given.items())
    c, n = np.cos(turn / 2), np.sin(turn / 2)  # the line O B D turns half as fast as the crank
    near = 2 * r * c  # O B
    far = (L * L - s * s) / near  # O D
    middle, half = (near + far) / 2, (far - near) / 2
    across = np.sqrt(s * s - half * half)
    points = {
        "O": (0, 0, 0), "Q": (r, 0, 0), "B": (near * c, near * n, 0), "D": (far * c, far * n, 0),
        "A": (middle * c - across * n, middle * n + across * c, 0),
        "C": (middle * c + across * n, middle * n - across * c, 0),
    }  # fmt: skip
    for name, xyz in points.items():
        spec.point(name, xyz)
    for ends in ("OA", "OC", "QB", "AB", "BC", "CD", "DA"):
        spec.link(ends, *ends, mass=1.0)
    for name, at, a, b in (
        ("crank_pin", "Q", "ground", "QB"), ("O_A", "O", "ground", "OA"), ("O_C", "O", "ground", "OC"),
        ("A_B", "A", "OA", "AB"), ("A_D", "A", "OA", "DA"), ("C_B", "C", "OC", "BC"),
        ("C_D", "C", "OC", "CD"), ("B_A", "B", "QB", "AB"), ("B_C", "B", "QB", "BC"), ("D", "D", "CD", "DA"),
    ):  # fmt: skip
        spec.joint(name, a, b, HINGE, at=at)
    spec.actuate("crank_pin").measure("pencil", Position("CD", "D"))
    return spec.compile()


@checked
def scissor_lift(
    n: int = 3,
    length: float = 1.5,
    angle: float = 0.5,
    load: float = 200.0,
    bar_mass: float = 12.0,
    gravity: float = 9.81,
) -> Mechanism:
    """Lift table on n crossed pairs of bars, pushed up by a foot that slides on the ground; mobility 1.

    Bars "a1", "b1", ... from below, pinned at their middles and ends. The table is pinned to the last bar b
    and rests on a roller of the last bar a. "foot" is actuated, positive outwards: its force is negative
    under load. Measures: "height" of the table, "foot_way", the distance of the feet. All but n and gravity
    are parameters.

    Args:
        n: Number of crossed pairs.
        length: Of the bars [m].
        angle: Of the bars above the horizontal at the start [rad].
        load: Mass of the table and what is on it [kg].
        bar_mass: Mass of each bar [kg].
        gravity: Gravity along -y [m/s^2].
    """
    count(n, "n of scissor_lift")
    spec = MechanismSpec(gravity=(0.0, -gravity, 0.0), name="scissor_lift")
    L, turn = spec.parameter("length", length), spec.parameter("angle", angle)
    table, each = spec.parameter("load", load), spec.parameter("bar_mass", bar_mass)
    wide, high = L * np.cos(turn), L * np.sin(turn)
    for k in range(n + 1):
        spec.point(f"L{k}", (0, k * high, 0)).point(f"R{k}", (wide, k * high, 0))
    spec.part("foot", at=Pose((wide, 0, 0)), shape=Box((0.1, 0.05, 0.1), mass=2.0))
    spec.joint("foot_slide", "ground", "foot", Prismatic("x"), at="R0")
    for k in range(1, n + 1):
        spec.link(f"a{k}", f"L{k - 1}", f"R{k}", mass=each).link(f"b{k}", f"R{k - 1}", f"L{k}", mass=each)
        left, right = (f"b{k - 1}", f"a{k - 1}") if k > 1 else ("ground", "foot")
        spec.joint(f"left{k - 1}", left, f"a{k}", HINGE, at=f"L{k - 1}")
        spec.joint(f"right{k - 1}", right, f"b{k}", HINGE, at=f"R{k - 1}")
        spec.joint(f"middle{k}", f"a{k}", f"b{k}", HINGE, at=(wide / 2, (k - 0.5) * high, 0))
    size = Box((1.6, 0.05, 0.8), mass=table, at=Pose((wide / 2, 0, 0)))
    spec.part("table", at=Pose((0, n * high, 0)), shape=size)
    spec.part("roller", at=Pose((wide, n * high, 0)), shape=Box((0.05, 0.05, 0.05), mass=1.0))
    spec.joint(f"left{n}", f"b{n}", "table", HINGE, at=f"L{n}")
    spec.joint(f"right{n}", f"a{n}", "roller", HINGE, at=f"R{n}")
    spec.joint("roller_slide", "table", "roller", Prismatic("x"), at=f"R{n}")
    spec.actuate("foot_slide")
    spec.measure("height", Length("ground", "L0", "table", f"L{n}"))
    spec.measure("foot_way", Length("ground", "L0", "foot", "R0"))
    return spec.compile()


# Folding chair: feet, top of the back, front edge of the seat [m]
FRONT, REAR, TOP, EDGE = (0.45, 0.0), (-0.05, 0.0), (-0.1, 0.85), (0.42, 0.44)


@checked
def folding_chair(seat: float = 0.255, sitter: float = 0.0, gravity: float = 9.81) -> Mechanism:
    """Folding chair seen from the side: crossed legs, and a seat whose rear edge slides in the long one.

    "back" runs from the front foot, which stands still, up to the top of the backrest, "leg" from the rear
    foot, which slides on the floor, up to the front edge of the seat. One freedom: it folds as the slide
    "slot" moves up the back. Measures: "fold", the angle between leg and back, "seat_rear", the rear edge of
    the seat, "top" of the back, "depth", the distance of the feet. `seat` and `sitter` are parameters.

    Args:
        seat: Length of the seat between its pins [m].
        sitter: Mass on the middle of the seat [kg].
        gravity: Gravity along -y [m/s^2].
    """
    spec = MechanismSpec(gravity=(0.0, -gravity, 0.0), name="folding_chair")
    length, extra = spec.parameter("seat", seat), spec.parameter("sitter", sitter)
    front, rear, top, edge = (np.array(p) for p in (FRONT, REAR, TOP, EDGE))
    along, other = (top - front) / np.linalg.norm(top - front), edge - rear
    u = np.linalg.solve(np.column_stack([top - front, -other]), rear - front)[0]
    cross = front + u * (top - front)  # of back and leg
    foot = front + along * ((edge - front) @ along)  # below the front edge, on the back
    way = np.sqrt(length**2 - float((edge - foot) @ (edge - foot)))
    slot = (foot[0] + along[0] * way, foot[1] + along[1] * way, 0)
    points = {"front": FRONT, "rear": REAR, "top": TOP, "edge": EDGE, "cross": cross}
    for name, xy in points.items():
        spec.point(name, (*xy, 0.0))
    spec.point("slot", slot)
    spec.link("back", "front", "top", mass=2.5).link("leg", "rear", "edge", mass=2.0)
    spec.link("seat", "edge", "slot", mass=1.5 + extra)
    spec.part("glider", at=Pose(slot), shape=Box((0.02, 0.04, 0.02), mass=0.1))
    spec.part("rear_foot", at=Pose((*REAR, 0.0)), shape=Box((0.03, 0.03, 0.03), mass=0.1))
    spec.joint("front_foot", "ground", "back", HINGE, at="front")
    spec.joint("cross", "back", "leg", HINGE, at="cross")
    spec.joint("edge", "leg", "seat", HINGE, at="edge")
    spec.joint("slot", "back", "glider", Prismatic((*along, 0.0)), at="slot")
    spec.joint("seat_pin", "glider", "seat", HINGE, at="slot")
    spec.joint("rear_pin", "leg", "rear_foot", HINGE, at="rear")
    spec.joint("floor", "ground", "rear_foot", Prismatic("x"), at="rear")
    spec.actuate("slot")
    spec.measure("fold", Angle("leg", "back")).measure("seat_rear", Position("seat", "slot"))
    spec.measure("depth", Length("back", "front", "leg", "rear")).measure("top", Position("back", "top"))
    return spec.compile()

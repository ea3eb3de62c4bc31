"""One small example of every kind of constraint, closing joint, force and tree joint, for test_kinds.py.

A new kind is added here, to CONSTRAINTS, FORCES or JOINTS, under the name of its class. An example sits in a
cell (kind_cells.py): a chain of hinges at a generic pose, with the kind between its first and its last body.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

import sarrus as sr
from sarrus.constraints.closures import Closure
from sarrus.constraints.rows import Constraint
from sarrus.models.base.expressions import Signal
from sarrus.models.kinds.forces import Force
from sarrus.models.tree.joint import Joint

Array = npt.NDArray[np.float64]

EXAMPLES_FILE = "tests/gates/kind_examples.py"
T = 0.3  # time of all checks [s]
P_A, P_B = (0.15, -0.1, 0.2), (0.2, 0.1, -0.05)  # where the kind holds on to the first and the last body
OBLIQUE = (0.36, 0.48, 0.8)


@dataclass(frozen=True)
class Cell:
    """One chain at its pose: names of its first and last body, and what examples ask for."""

    a: str
    b: str
    positions: dict[str, float]  # of its hinges, by name
    first: int  # entry of v of the first one
    nv: int  # of the whole mechanism
    pose: Callable[[str], sr.Pose]
    wheels: dict[str, float]  # positions of two parallel hinges on the last body, by name, if there are
    slide: tuple[str, float]  # name and position of a slide beside the chain; ("", 0): there is none

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of its hinges."""
        return tuple(self.positions)

    def in_a(self, p_b: Sequence[float] = P_B) -> Array:
        """Where a point of the last body is, in the frame of the first one [m], (3,)."""
        return self.pose(self.a).inverse().apply(self.pose(self.b).apply(p_b))


@dataclass(frozen=True)
class Swing:
    """f(t) = start + 0.4 (sin 2t - sin 2T), or one of its derivatives: a function that can be pickled."""

    start: float
    order: int = 0

    def __call__(self, t: float) -> float:
        wave = 0.4 * 2.0**self.order * math.sin(2.0 * t + self.order * math.pi / 2)
        return wave if self.order else self.start + wave - 0.4 * math.sin(2.0 * T)


@dataclass(frozen=True)
class Surface:
    """phi(q, t) = sum of sin(q_k) over three hinges, less its value at the pose, less 0.2 (t - T)."""

    at: slice
    level: float
    nv: int

    def phi(self, q: Array, t: float) -> float:
        return float(np.sin(q[self.at]).sum()) - self.level - 0.2 * (t - T)

    def J(self, q: Array, t: float) -> Array:
        row = np.zeros((1, self.nv))
        row[0, self.at] = np.cos(q[self.at])
        return row

    def gamma(self, q: Array, v: Array, t: float) -> float:
        return float(np.sin(q[self.at]) @ v[self.at] ** 2)

    def b(self, q: Array, t: float) -> float:
        return 0.2


@dataclass(frozen=True)
class Example:
    """How to make one declaration of a kind.

    Attributes:
        make: The constraint or force, holding at the pose of a cell.
        rows: How many rows it adds.
        joint: A joint of the tree to put into the chain.
        wheels: Whether it needs two parallel hinges side by side, `Cell.wheels`.
        slide: Whether it needs a slide on the ground, with wheels one beside them, `Cell.slide`.
        latches: Whether it can be latched.
        draws: Whether a stick figure shows it; some kinds have nothing to show.
        solid: Whether a page in space shows something of it beside the bodies.
        acts: Whether it changes accelerations at the pose of the example.
        undefined: A mechanism and a pose (nq,) at which its rows are not defined; needed by kinds that say
            there is one.
    """

    make: Callable[[Cell], Any] | None = None
    rows: int = 0
    joint: Joint | None = None
    wheels: bool = False
    slide: bool = False
    latches: bool = True
    draws: bool = True
    solid: bool = True
    acts: bool = True
    undefined: Callable[[], tuple[sr.Mechanism, Array]] | None = None


UNSEEN: dict[str, Any] = {"draws": False, "solid": False}


# ---------------------------------------------------------------------- constraints


def _distance(c: Cell) -> Constraint:
    return sr.Distance(c.a, P_A, c.b, P_B, float(np.linalg.norm(c.in_a() - P_A)))


def _line(c: Cell) -> Constraint:
    return sr.PointOnLine(c.a, c.in_a() - 0.2 * np.array(OBLIQUE), c.b, P_B, OBLIQUE)


def _plane(c: Cell) -> Constraint:
    across = np.cross(OBLIQUE, (1.0, 0.0, 0.0))
    return sr.PointOnPlane(c.a, c.in_a() + 0.1 * across, c.b, P_B, OBLIQUE)


def _cylinder(c: Cell) -> Constraint:
    radius = float(np.linalg.norm(np.cross(OBLIQUE, c.in_a() - P_A)))
    return sr.PointOnCylinder(c.a, P_A, c.b, P_B, OBLIQUE, radius)


def _coupling(c: Cell) -> Constraint:
    terms = dict(zip(c.coordinates[:3], (1.0, -2.5, 0.7), strict=True))
    return sr.Coupling(terms, offset=sum(k * c.positions[name] for name, k in terms.items()))


def _polynomial(c: Cell) -> Constraint:
    follower, leader = c.coordinates[:2]
    slopes, x = (0.8, -0.5, 0.3), c.positions[leader] - 0.2
    first = c.positions[follower] - sum(slope * x ** (k + 1) for k, slope in enumerate(slopes))
    return sr.PolynomialCoupling(follower, leader, (first, *slopes), origin=0.2)


def _cam(c: Cell) -> Constraint:
    follower, leader = c.coordinates[:2]
    angles = np.linspace(0.0, 2.0 * math.pi, 12, endpoint=False) + c.positions[leader]
    return sr.Cam(follower, leader, angles, c.positions[follower] + 0.4 * np.sin(angles - angles[0]))


def _gear(c: Cell) -> Constraint:
    (a, x), (b, y) = c.wheels.items()
    return sr.Gear(a, b, 20, 40, 0.004, offset=0.04 * x + 0.08 * y)


def _belt(c: Cell) -> Constraint:
    (a, x), (b, y) = c.wheels.items()
    return sr.Belt(a, b, 0.02, 0.05, pretension=10.0, offset=0.02 * x - 0.05 * y)


def _rope(c: Cell) -> Constraint:
    (drum, x), *_ = c.wheels.items()
    load, y = c.slide
    return sr.Rope(drum, load, 0.05, offset=y - 0.05 * x)


def _drive(c: Cell) -> Constraint:
    name = c.coordinates[1]
    return sr.Drive(name, *(Swing(c.positions[name], order) for order in range(3)))


def _driven_distance(c: Cell) -> Constraint:
    length = [Swing(float(np.linalg.norm(c.in_a() - P_A)), order) for order in range(3)]
    return sr.DrivenDistance(c.a, P_A, c.b, P_B, *length)


def _span(c: Cell) -> Constraint:
    name, at = c.slide
    return sr.Span(c.a, P_A, c.b, P_B, name, float(np.linalg.norm(c.in_a() - P_A)) - at)


def _rolling(c: Cell) -> Constraint:
    """The plane goes through the lowest point of the rim, as the pose has it."""
    X, normal, axis = c.pose(c.b), np.array(OBLIQUE), np.array([0.96, 0.28, 0.0])
    up = normal - X.rotation @ axis * (normal @ X.rotation @ axis)
    touch = X.apply(P_B) - 0.25 * up / np.linalg.norm(up)
    return sr.Rolling(c.b, 0.25, tuple(axis), OBLIQUE, centre=P_B, point=tuple(touch))


def _custom(c: Cell) -> Constraint:
    level = sum(math.sin(c.positions[name]) for name in c.coordinates[:3])
    rows = Surface(slice(c.first, c.first + 3), level, c.nv)
    return sr.CustomConstraint(rows.phi, 1, rows.J, rows.gamma, rows.b)


def _points_coincide() -> tuple[sr.Mechanism, Array]:
    spec = sr.MechanismSpec().body("a", joint=sr.Prismatic("x"), mass=1.0)
    spec.constrain("row", sr.Distance("ground", (0.5, 0, 0), "a", (0, 0, 0), 0.3))
    return spec.compile(), np.array([0.5])


def _drive_coincides() -> tuple[sr.Mechanism, Array]:
    spec = sr.MechanismSpec().body("a", joint=sr.Prismatic("x"), mass=1.0)
    spec.constrain("row", sr.DrivenDistance("ground", (0.5, 0, 0), "a", (0, 0, 0), Swing(0.3)))
    return spec.compile(), np.array([0.5])


def _span_coincides() -> tuple[sr.Mechanism, Array]:
    spec = sr.MechanismSpec().body("a", joint=sr.Prismatic("x"), mass=1.0)
    spec.body("s", joint=sr.Prismatic("x"), mass=1.0)
    spec.constrain("row", sr.Span("ground", (0.5, 0, 0), "a", (0, 0, 0), "s"))
    return spec.compile(), np.array([0.5, 0.0])


def _on_the_axis() -> tuple[sr.Mechanism, Array]:
    spec = sr.MechanismSpec().body("a", joint=sr.Prismatic("x"), mass=1.0)
    spec.constrain("row", sr.PointOnCylinder("ground", (0.5, 0, 0), "a", (0, 0, 0.2), "z", 0.3))
    return spec.compile(), np.array([0.5])


def _lies_flat() -> tuple[sr.Mechanism, Array]:
    spec = sr.MechanismSpec().body("a", joint=sr.Free(), mass=1.0, inertia=(0.1, 0.1, 0.2))
    mech = spec.constrain("row", sr.Rolling("a", 0.3, "z", "z")).compile()
    return mech, mech.neutral()


CONSTRAINTS: dict[str, Example] = {
    "Distance": Example(_distance, 1, undefined=_points_coincide),
    "PointOnLine": Example(_line, 2),
    "PointOnPlane": Example(_plane, 1, solid=False),
    "PointOnCylinder": Example(_cylinder, 1, undefined=_on_the_axis),
    "Coupling": Example(_coupling, 1, **UNSEEN),
    "PolynomialCoupling": Example(_polynomial, 1, **UNSEEN),
    "Cam": Example(_cam, 1, latches=False, **UNSEEN),
    "Gear": Example(_gear, 1, wheels=True, latches=False, **UNSEEN),
    "Belt": Example(_belt, 1, wheels=True, latches=False, **UNSEEN),
    "Rope": Example(_rope, 1, wheels=True, slide=True, latches=False, **UNSEEN),
    "Drive": Example(_drive, 1, latches=False, **UNSEEN),
    "DrivenDistance": Example(_driven_distance, 1, latches=False, undefined=_drive_coincides),
    "Span": Example(_span, 1, slide=True, undefined=_span_coincides),
    "Rolling": Example(_rolling, 3, latches=False, undefined=_lies_flat),
    "CustomConstraint": Example(_custom, 1, latches=False, **UNSEEN),
}


# ---------------------------------------------------------------------- joints, in loops and in the tree

JOINTS: dict[str, Joint] = {
    "Revolute": sr.Revolute(OBLIQUE),
    "Prismatic": sr.Prismatic(OBLIQUE),
    "Helical": sr.Helical(OBLIQUE, 0.07),
    "Cylindrical": sr.Cylindrical(OBLIQUE),
    "Universal": sr.Universal((0.6, 0.8, 0.0), "z"),
    "Spherical": sr.Spherical(),
    "Planar": sr.Planar(OBLIQUE),
    "Free": sr.Free(),
    "Fixed": sr.Fixed(),
    "Deflection": sr.Deflection((0.6, 0.8, 0.0), "z"),
}
NO_LOOP = ("Free", "Deflection")  # joints that cannot close one
PAGE_LOOPS = ("Revolute", "Prismatic", "Cylindrical", "Universal", "Spherical")  # with a solid of their own


def _closure(joint: Joint) -> Callable[[Cell], Constraint]:
    def make(c: Cell) -> Constraint:
        at_b = sr.Pose(P_B, rpy=(0.3, -0.5, 0.2))
        return Closure(c.a, c.b, joint, c.pose(c.a).inverse() @ c.pose(c.b) @ at_b, at_b)

    return make


CLOSING: dict[str, Example] = {
    name: Example(_closure(joint), 6 - joint.nv, solid=name in PAGE_LOOPS)
    for name, joint in JOINTS.items()
    if name not in NO_LOOP
}
TREE: dict[str, Example] = {
    name: Example(
        _closure(sr.Spherical()), 3, joint, draws=name not in ("Free", "Fixed"), solid=name in PAGE_LOOPS
    )
    for name, joint in JOINTS.items()
}


# ---------------------------------------------------------------------- forces


def _spring(c: Cell) -> Force:
    return sr.PointSpring(c.a, P_A, c.b, P_B, 40.0, 0.2)


def _damper(c: Cell) -> Force:
    return sr.PointSpring(c.a, P_A, c.b, P_B, 0.0, damping=1.5)


def _wrench(c: Cell) -> Force:
    return sr.ConstantWrench(c.b, (1.0, -2.0, 0.5, 0.3, 0.2, -0.4), P_B)


def _follower(c: Cell) -> Force:
    return dataclasses.replace(_wrench(c), frame="body")


TABLE = (-2.0, -0.4, 0.3, 2.5)


def _drag(kind: str) -> list[Any]:
    """A wrench that depends on the twist of a point and on where it is."""
    v = [Signal(kind, i) for i in range(6)]
    turned = Signal("attitude", 1) + Signal("place", 2)
    return [-0.7 * v[0] * np.tanh(v[1]), -v[1], turned, -0.1 * v[3], 0.2, np.sqrt(1.0 + v[5] ** 2)]


def _tyre(t: float, pose: sr.Pose, twist: Array) -> Array:
    side = -3.0 * np.arctan(twist[1]) - 0.4 * pose.rotation[0, 0]
    return np.array([0.1 * np.cos(t), side, 0.2 * twist[2], 0.05, -0.1 * twist[4], 0.3 * twist[0]])


def _user_on_coordinates(t: float, x: Array, rate: Array) -> Array:
    """Two coordinates that act on each other."""
    return np.array([-3.0 * np.sin(x[0] - x[1]) - 0.2 * rate[0] * x[1], 2.0 * x[0] * x[1] + np.cos(t)])


def _user_between_points(t: float, r: Array, rate: Array) -> Array:
    """A spring and damper by length, and a force across it."""
    length = np.sqrt(r @ r)
    return -(20.0 * (length - 0.2) + 1.5 * (r @ rate) / length) * r / length + np.array([r[1], -r[0], 0.3])


def _bushing(c: Cell) -> Force:
    at = sr.Pose(P_A, rpy=(0.3, 0.2, 0.1)), sr.Pose(P_B, rpy=(0.1, -0.4, 0.2))
    return sr.Bushing(c.a, c.b, *at, stiffness=(30.0, 40.0, 50.0, 3.0, 4.0, 5.0))


def _damped_bushing(c: Cell) -> Force:
    at = sr.Pose(P_A, rpy=(0.3, 0.2, 0.1)), sr.Pose(P_B, rpy=(0.1, -0.4, 0.2))
    return sr.Bushing(c.a, c.b, *at, damping=(0.3, 0.4, 0.5, 0.03, 0.04, 0.05))


def _flexibility(c: Cell) -> Force:
    """Six deflections of the second body on the first one."""
    rng, n = np.random.default_rng(5), 6
    root = rng.normal(size=(2, n, n))
    M, K = root @ root.transpose(0, 2, 1)
    second, crossed = rng.normal(size=(2, n, n, 3))
    J2 = rng.normal(size=(n, n, 6))
    parts = [
        [0.0] * 4,
        *(0.02 * rng.normal(size=(n, width)) for width in (3, 3, 6)),
        *(0.05 * M, 0.5 * K, 0.0 * M),
        0.002 * (second + second.transpose(1, 0, 2)),
        *(0.002 * crossed, 0.002 * (J2 + J2.transpose(1, 0, 2))),
        *([1.0], 0.05 * M),
    ]
    values = [float(x) for part in parts for x in np.ravel(part)]
    return sr.Flexibility(c.a, (f"{c.a[:-1]}1",), 1, values)


def _damped_flexibility(c: Cell) -> Force:
    """The same joint with damping alone: power of forces without potential is all that it changes."""
    n = 6
    root = np.random.default_rng(6).normal(size=(n, n))
    before, behind = 4 + 12 * n + 2 * n * n, 12 * n * n
    values = [0.0] * before + (0.1 * root @ root.T).ravel().tolist() + [0.0] * behind
    return sr.Flexibility(c.a, (f"{c.a[:-1]}1",), 0, values)


FORCES: dict[str, tuple[Example, ...]] = {
    "Flexibility": (
        Example(_flexibility, joint=sr.Deflection(), **UNSEEN),
        Example(_damped_flexibility, joint=sr.Deflection(), **UNSEEN),
    ),
    "PointSpring": (Example(_spring), Example(_damper)),
    "JointSpring": (Example(lambda c: sr.JointSpring(c.coordinates[1], 12.0, 0.1), **UNSEEN),),
    "JointDamper": (Example(lambda c: sr.JointDamper(c.coordinates[1], 0.7), **UNSEEN),),
    "JointSpringTable": (
        Example(lambda c: sr.JointSpringTable(c.coordinates[1], TABLE, (-9.0, -2.0, 3.0, 20.0)), **UNSEEN),
    ),
    "JointDamperTable": (
        Example(lambda c: sr.JointDamperTable(c.coordinates[1], TABLE, (-0.9, -0.2, 0.3, 2.0)), **UNSEEN),
    ),
    "Motor": (Example(lambda c: sr.Motor(c.coordinates[1], TABLE, (0.9, 0.5, 0.3, 0.0)), **UNSEEN),),
    "PointSpringTable": (
        Example(lambda c: sr.PointSpringTable(c.a, P_A, c.b, P_B, (0.1, 0.5, 1.5), (-9.0, 1.0, 30.0))),
    ),
    "PointDamperTable": (
        Example(lambda c: sr.PointDamperTable(c.a, P_A, c.b, P_B, TABLE, (-0.9, -0.2, 0.3, 2.0))),
    ),
    "Bushing": (Example(_bushing), Example(_damped_bushing)),
    "CoulombFriction": (Example(lambda c: sr.CoulombFriction(c.coordinates[1], 0.7, 0.9, 0.4), **UNSEEN),),
    "UserForce": (
        Example(lambda c: sr.UserForce(_user_on_coordinates, c.coordinates[:2]), **UNSEEN),
        Example(lambda c: sr.UserForce(_user_between_points, a=c.a, p_a=P_A, b=c.b, p_b=P_B)),
    ),
    "BodyForce": (
        Example(lambda c: sr.BodyForce(c.b, _tyre, P_B), **UNSEEN),
        Example(lambda c: sr.BodyForce(c.b, _tyre, P_B, "world"), **UNSEEN),
    ),
    "FormulaForce": (
        Example(
            lambda c: sr.FormulaForce(
                [-3.0 * np.sin(Signal("value", c.coordinates[1])) * Signal("speed", c.coordinates[0])],
                coordinate=c.coordinates[0],
            ),
            **UNSEEN,
        ),
        Example(lambda c: sr.FormulaForce(_drag("twist"), body=c.b, point=P_B), **UNSEEN),
        Example(lambda c: sr.FormulaForce(_drag("twist"), body=c.b, point=P_B, axes="world"), **UNSEEN),
    ),
    # without friction: h does not hold it, see tests/dynamics/test_bearing_friction.py
    "BearingFriction": (
        Example(lambda c: sr.BearingFriction(c.coordinates[1], 0.0, 0.03), acts=False, **UNSEEN),
    ),
    "ThrustFriction": (
        Example(lambda c: sr.ThrustFriction(c.coordinates[1], 0.0, 0.03), acts=False, **UNSEEN),
    ),
    "EndStop": (Example(lambda c: sr.EndStop(c.coordinates[1], (-2.0, -0.5), 12.0), **UNSEEN),),
    "ConstantWrench": (Example(_wrench, solid=False), Example(_follower, solid=False)),
}


# Forces that need a screw or a gear, not chains of hinges: tests/models/kinds/test_axial_friction.py,
# tests/constraints/test_tooth_friction.py
OF_OWN_MACHINES = ("ScrewFriction", "ToothFriction")

# Forces that `sr.ForceIn` does not read, with the reason
NO_TENSION = {
    "Bushing": "it is a wrench",
    "Flexibility": "it acts along all deflections of a body",
    "ConstantWrench": "it is given",
}


# ---------------------------------------------------------------------- all of them


def every_example() -> dict[str, tuple[str, Example]]:
    """Each example with the name of its class, by a name of its own."""
    found = {f"constraint {name}": (name, one) for name, one in CONSTRAINTS.items()}
    found |= {f"loop {name}": (name, one) for name, one in CLOSING.items()}
    found |= {f"joint {name}": (name, one) for name, one in TREE.items()}
    for name, several in FORCES.items():
        found |= {f"force {name}" + "'" * k: (name, one) for k, one in enumerate(several)}
    return found

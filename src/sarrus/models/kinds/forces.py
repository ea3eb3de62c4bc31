"""Forces of a description: springs, dampers and constant wrenches, and the stops and friction of joints.

They enter h with a minus sign: M a + h = tau + S.T u + J.T lam.
"""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import Array, fixed_shape, nonnegative, number, point, text
from ...errors import InputError
from ...varied import hypot
from ..base.kind import Checks, Kind
from ..base.pose import Pose
from ..shapes.drawing import Drawing, Line, Load
from ..tree.layout import TABLE
from ..tree.tree import Tree
from .flexible_table import FlexibleTable
from .formulas import FormulaTable
from .parameters import COORDINATE_FORCES, FORCES, ParameterTable
from .point_pair import PointPair

__all__ = ["ConstantWrench", "JointDamper", "JointSpring", "PointSpring"]

FRAMES = ("world", "body")
SPRING = ("stiffness", "rest", "damping")
DRAWN = "drawn"  # rest of a spring: its length in the drawing
POINTS_COINCIDE = 1e-12  # of the rest length
BEYOND_REACH = 1e30  # stands for an open side of a stop: finite, so that no product of it is NaN


@dataclass(frozen=True)
class Force(Kind):
    """Base of all forces that a description can declare.

    Attributes:
        needs_position: Whether its coordinates must be entries of q (angles or displacements).
        by_formula: Whether the kernel computes it from expressions.
        by_load: Whether it is friction that depends on the loads of joints.
        across_axis: Whether these are forces and moments across the axis of the joint.
        along_axis: Whether these are forces along the axis of the joint.
        of_worm: Whether it is the friction between the teeth of a worm and its wheel.
        of_body: Whether a function of a body's pose and twist computes it.
        of_state: Whether a function of the user's computes it as the rate of a state.
        sticks: Whether it is dry friction, whose force at rest is what holds.
        deflects: Whether it is the inertia and elasticity of a flexible body.
    """

    needs_position: ClassVar[bool] = True
    by_formula: ClassVar[bool] = False
    by_load: ClassVar[bool] = False
    across_axis: ClassVar[bool] = False
    along_axis: ClassVar[bool] = False
    of_worm: ClassVar[bool] = False
    of_body: ClassVar[bool] = False
    of_state: ClassVar[bool] = False
    sticks: ClassVar[bool] = False
    deflects: ClassVar[bool] = False

    def bodies(self) -> tuple[str, ...]:
        """Names of the bodies it acts on: its fields a, b or body."""
        return self._fields_called("a", "b", "body")

    def coordinates(self) -> tuple[str, ...]:
        """Names of the coordinates it acts on: its field coordinate."""
        return self._fields_called("coordinate")

    def _fields_called(self, *names: str) -> tuple[str, ...]:
        return tuple(getattr(self, name) for name in names if hasattr(self, name))

    def loaded_coordinate(self, constraints: Mapping[str, Any]) -> str:
        """Of friction by load: the coordinate that it holds, in a mechanism with these constraints."""
        return self.coordinates()[0]

    @abstractmethod
    def lower(self, where: str, tree: Tree, table: ForceTable) -> None:
        """Write its fields of the kernel's model; `where` is its name for messages."""

    def work(self) -> str:
        """Why it changes the energy of the mechanism, in words; "" if it is conservative."""
        return ""

    def undefined(self, pose: Callable[[str], Pose]) -> str:
        """Why no force is defined with bodies at these poses, in words; "" where it is."""
        return ""

    def doubt(self, length: float) -> str:
        """What is unlikely of its numbers in a mechanism of this length L [m], in words; "" if nothing."""
        return ""

    def as_drawn(self, places: Mapping[str, Pose], parts: bool) -> tuple[Force, str]:
        """The force with the numbers that the drawing gives it, and what is doubtful of them, in words.

        Args:
            places: X_WB of its bodies in the drawing.
            parts: whether one of them is a part of a drawing.
        """
        return self, ""

    def drawing(self) -> Drawing:
        """What a picture shows of it; by default nothing."""
        return Drawing()


@dataclass(frozen=True)
class PointForce(PointPair, Force, base=True):
    """Base of the forces along the line between a point of body a and a point of body b."""

    def add(self, kernel: str, parameters: dict[str, Any], where: str, tree: Tree, table: ForceTable) -> None:
        """Write its fields as those of a kind of the kernel, beside its points."""
        (a, p_a), (b, p_b) = tree.point(self.a, self.p_a, where), tree.point(self.b, self.p_b, where)
        table.bodies.add(kernel, {"p_a": p_a, "p_b": p_b, **parameters}, a=a, b=b)

    def drawn_spring(self, stiffness: float | None = None, rest: float | None = None) -> Drawing:
        """A spring between the points."""
        ends = self.anchors()
        return Drawing(ends, lines=(Line("spring", ends, stiffness, rest),))


def _rest(value: object, what: str) -> float | str | None:
    """A length; or "drawn" or None, for which `MechanismSpec.force` puts one."""
    return value if value is None or value == DRAWN else nonnegative(value, what)


@dataclass(frozen=True)
class PointSpring(PointForce):
    """Spring (and damper) along the line between a point of body a and a point of body b.

    Args:
        a: First body.
        p_a: Point in the frame of a [m], (3,).
        b: Second body.
        p_b: Point in the frame of b [m], (3,).
        stiffness: [N/m], not negative.
        rest: Length at which it pulls nothing [m], or "drawn": that in the drawing. Default: between parts of
            a drawing as drawn, which `force` warns of, since it was 0 before version 0.2; else 0.
        damping: [N s/m], not negative.
    """

    checks: ClassVar[Checks] = {**PointPair.checks, **dict.fromkeys(SPRING, nonnegative), "rest": _rest}
    lengths: ClassVar[tuple[str, ...]] = ("rest",)
    stiffness: float
    rest: Any = None  # a number in a description
    damping: float = 0.0

    def lower(self, where: str, tree: Tree, table: ForceTable) -> None:
        self.add("PointSpring", {name: getattr(self, name) for name in SPRING}, where, tree, table)

    def as_drawn(self, places: Mapping[str, Pose], parts: bool) -> tuple[Force, str]:
        if not (self.rest is None or self.rest == DRAWN):
            return self, ""
        (a, p_a), (b, p_b) = self.anchors()
        drawn = hypot(*(places[b].apply(p_b) - places[a].apply(p_a)).tolist())
        if self.rest == DRAWN:
            return dataclasses.replace(self, rest=drawn), ""
        if not parts or drawn == 0.0:
            return dataclasses.replace(self, rest=0.0), ""
        return dataclasses.replace(self, rest=drawn), (
            f"rest of PointSpring is not said and taken as drawn, {drawn:.6g} m. Before version 0.2 it was 0,"
            f' and the spring pulled with {self.stiffness * drawn:.4g} N. Say rest="drawn", rest=0.0 or'
            " another length."
        )

    def work(self) -> str:
        return "joints have damping" if self.damping else ""

    def undefined(self, pose: Callable[[str], Pose]) -> str:
        apart = pose(self.b).apply(self.p_b) - pose(self.a).apply(self.p_a)
        if self.rest * self.stiffness > 0.0 and np.linalg.norm(apart) < POINTS_COINCIDE * self.rest:
            return "its two points coincide, so that its force has no direction"
        return ""

    def tension(self, states: Any) -> Array:
        """Its force (B,) [N] in states that measures see, positive in tension."""
        length, rate = self.length_and_rate(states)
        return np.asarray(self.stiffness * (length - self.rest) + self.damping * rate)

    def drawing(self) -> Drawing:
        return self.drawn_spring(self.stiffness, self.rest)


@dataclass(frozen=True)
class JointSpring(Force):
    """Spring on one coordinate: force -stiffness (q - rest).

    Args:
        coordinate: Name of an angle or displacement.
        stiffness: [N m/rad] or [N/m], not negative.
        rest: Value at which it pulls nothing [rad] or [m].
    """

    checks: ClassVar[Checks] = {"coordinate": text, "stiffness": nonnegative, "rest": number}
    lengths: ClassVar[tuple[str, ...]] = ("rest",)
    coordinate: str
    stiffness: float
    rest: float = 0.0

    def lower(self, where: str, tree: Tree, table: ForceTable) -> None:
        iq, iv = tree.scalar(self.coordinate, where)
        spring = {"stiffness": self.stiffness, "rest": self.rest}
        table.coordinates.add("JointSpring", spring, q=iq, v=iv)

    def tension(self, states: Any) -> Array:
        """Its force (B,) [N m, N] in states that measures see, positive where it pulls back."""
        return np.asarray(self.stiffness * (states.coordinate(self.coordinate)[0] - self.rest))


@dataclass(frozen=True)
class JointDamper(Force):
    """Viscous damper on one velocity coordinate: force -damping v. Adds to the damping of the joint.

    Args:
        coordinate: Name of a velocity coordinate.
        damping: [N m s/rad] or [N s/m], not negative.
    """

    needs_position: ClassVar[bool] = False
    checks: ClassVar[Checks] = {"coordinate": text, "damping": nonnegative}
    coordinate: str
    damping: float

    def lower(self, where: str, tree: Tree, table: ForceTable) -> None:
        table.damping[tree.coordinate(self.coordinate, where)] += self.damping

    def tension(self, states: Any) -> Array:
        """Its force (B,) [N m, N] in states that measures see, positive against positive speed."""
        return np.asarray(self.damping * states.v[:, states.mech.names.index(self.coordinate)])

    def work(self) -> str:
        return "joints have damping" if self.damping else ""


def _wrench(value: object, what: str) -> tuple[float, ...]:
    return tuple(fixed_shape(value, what, (6,)).tolist())


@dataclass(frozen=True)
class ConstantWrench(Force):
    """Force and moment that stay constant, in world axes or in the axes of the body.

    Args:
        body: Body on which it acts.
        wrench: [force; moment] [N, N m], (6,).
        point: Where the force acts, in the body frame [m], (3,).
        frame: "world" (dead load) or "body" (follows the body).
    """

    checks: ClassVar[Checks] = {"body": text, "wrench": _wrench, "point": point}
    body: str
    wrench: ArrayLike
    point: ArrayLike = (0.0, 0.0, 0.0)
    frame: str = "world"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.frame, str) or self.frame not in FRAMES:
            raise InputError(f"frame of ConstantWrench must be 'world' or 'body', got {self.frame!r}.")

    def lower(self, where: str, tree: Tree, table: ForceTable) -> None:
        node, point = tree.point(self.body, self.point, where)
        wrench, follows = np.array(self.wrench), self.frame == "body"
        R = tree.places[tree.body_index(self.body)].X_NB.rotation if follows else np.eye(3)
        parts = {"force": R @ wrench[:3], "moment": R @ wrench[3:], "follows": float(follows)}
        table.bodies.add("ConstantWrench", {"p_a": np.zeros(3), "p_b": point, **parts}, a=0, b=node)

    def work(self) -> str:
        return "constant wrenches do work"

    def drawing(self) -> Drawing:
        at, wrench, follows = (self.body, np.array(self.point)), np.array(self.wrench), self.frame == "body"
        parts = ((wrench[:3], False), (wrench[3:], True))
        return Drawing(
            loads=tuple(Load(at, vector, turns, follows) for vector, turns in parts if vector.any())
        )


class ForceTable:
    """Fields of the kernel's model that forces fill, as growing lists.

    Attributes:
        damping: Viscous damping of each coordinate, (nv,).
        bodies: Forces between bodies.
        coordinates: Forces on coordinates.
        formulas: Forces by formulas.
        journals: Coordinates whose BearingFriction carries the load of the joint.
        meshes: Number and declaration of what loads bodies by its multiplier, gears among it, by names.
        flexible: Flexible bodies.
    """

    def __init__(self, tree: Tree, meshes: Mapping[str, tuple[int, Any]]) -> None:
        self._tree, self.meshes = tree, meshes
        self.journals: set[int] = set()
        self._joints: dict[str, Any] = {
            name: np.array(tree.each(name)) for name in ("armature", "damping", "friction", "friction_speed")
        }
        self.damping = self._joints["damping"] = list(tree.each("damping"))
        self.bodies = ParameterTable(FORCES, "fo")
        self.coordinates = ParameterTable(COORDINATE_FORCES, "cf")
        self.formulas = FormulaTable()
        self.flexible = FlexibleTable()

    def add_dry_friction(self, k: int, friction: float, breakaway: float, speed: float) -> None:
        """Friction that sticks on coordinate k; it slides nowhere until a run says in which direction."""
        level = {"coulomb": friction, "breakaway": max(friction, breakaway), "speed": speed}
        q = max(self._tree.coordinate_q[k], 0)  # not read
        self.coordinates.add("CoulombFriction", {"direction": 0.0, **level}, q=q, v=k)

    def add_joint_friction(self) -> None:
        """The friction of joints that stick, which is no smoothed one."""
        sticks = [body.friction_model == "coulomb" for body in self._tree.bodies for _ in body.friction]
        names = ("friction", "breakaway", "friction_speed")
        for k, values in enumerate(zip(*map(self._tree.each, names), strict=True)):
            if sticks[k]:
                self._joints["friction"][k] = 0.0
                if values[0] or values[1]:
                    self.add_dry_friction(k, *values)

    def add_stops(self) -> None:
        """The stops of all joints that have stiff or damped ones."""
        names = ("stop_stiffness", "stop_damping", "limits")
        each = zip(*map(self._tree.each, names), strict=True)
        for k, (stiffness, damping, (lower, upper)) in enumerate(each):
            if stiffness > 0.0 or damping > 0.0:
                self.add_stop(self._tree.coordinate_q[k], k, (lower, upper), stiffness, damping)

    def add_stop(self, q: int, v: int, limits: Sequence[Any], stiffness: float, damping: float) -> None:
        """Stops of the coordinate at these places in q and v; an infinite limit is none."""
        ends = {"lower": max(limits[0], -BEYOND_REACH), "upper": min(limits[1], BEYOND_REACH)}
        self.coordinates.add("JointStop", {**ends, "stiffness": stiffness, "damping": damping}, q=q, v=v)

    def columns(self) -> dict[str, Any]:
        """The fields by name."""
        none: dict[str, Any] = {name: [] for name in TABLE if name.startswith(("fo_", "cf_"))}
        both = {**self.bodies.columns, **self.coordinates.columns}
        return {**none, **self._joints, **both, **self.formulas.columns, **self.flexible.columns}


def force_arrays(
    tree: Tree, forces: Sequence[tuple[str, Force]], constraints: Sequence[tuple[str, Any]]
) -> dict[str, Any]:
    """The fields of the kernel's model that forces, friction and stops fill."""
    meshes = [(name, given) for name, given in constraints if given.loads_by_kernel]
    table = ForceTable(tree, {name: (i, given) for i, (name, given) in enumerate(meshes)})
    for name, force in forces:
        force.lower(f"force {name!r}", tree, table)
    table.add_joint_friction()
    table.add_stops()
    return table.columns()

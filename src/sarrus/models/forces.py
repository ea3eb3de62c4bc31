"""Forces of a description: springs, dampers and constant wrenches, and the stops and friction of joints.

They enter h with a minus sign: M a + h = tau + S.T u + J.T lam.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import fixed_shape, nonnegative, number, text, triple
from ..errors import InputError
from .drawing import Drawing, Line
from .kinds import Kind
from .layout import TABLE
from .tree import Tree

FRAMES = ("world", "body")
BEYOND_REACH = 1e30  # stands for an open side of a stop: finite, so that no product of it is NaN


@dataclass(frozen=True)
class Force(Kind):
    """Base of all forces that a description can declare.

    Attributes:
        needs_position: Whether its coordinates must be entries of q (angles or displacements).
    """

    needs_position: ClassVar[bool] = True

    def bodies(self) -> tuple[str, ...]:
        """Names of the bodies it acts on."""
        return ()

    def coordinates(self) -> tuple[str, ...]:
        """Names of the coordinates it acts on."""
        return ()

    def drawing(self) -> Drawing:
        """What a picture shows of it; by default nothing."""
        return Drawing()


@dataclass(frozen=True)
class PointSpring(Force):
    """Spring (and damper) along the line between a point of body a and a point of body b.

    Args:
        a: First body.
        p_a: Point in the frame of a [m], (3,).
        b: Second body.
        p_b: Point in the frame of b [m], (3,).
        stiffness: [N/m], not negative.
        rest: Length at which it pulls nothing [m].
        damping: [N s/m], not negative.
    """

    a: str
    p_a: ArrayLike
    b: str
    p_b: ArrayLike
    stiffness: float
    rest: float = 0.0
    damping: float = 0.0

    def __post_init__(self) -> None:
        check_pair(self.a, self.b, "a PointSpring")
        object.__setattr__(self, "p_a", triple(self.p_a, "p_a of PointSpring"))
        object.__setattr__(self, "p_b", triple(self.p_b, "p_b of PointSpring"))
        for name in ("stiffness", "rest", "damping"):
            object.__setattr__(self, name, nonnegative(getattr(self, name), f"{name} of PointSpring"))

    def bodies(self) -> tuple[str, ...]:
        return (self.a, self.b)

    def drawing(self) -> Drawing:
        ends = ((self.a, np.array(self.p_a)), (self.b, np.array(self.p_b)))
        return Drawing(ends, lines=(Line("spring", ends),))


@dataclass(frozen=True)
class JointSpring(Force):
    """Spring on one coordinate: force -stiffness (q - rest).

    Args:
        coordinate: Name of an angle or displacement.
        stiffness: [N m/rad] or [N/m], not negative.
        rest: Value at which it pulls nothing [rad] or [m].
    """

    coordinate: str
    stiffness: float
    rest: float = 0.0

    def __post_init__(self) -> None:
        text(self.coordinate, "coordinate of JointSpring")
        object.__setattr__(self, "stiffness", nonnegative(self.stiffness, "stiffness of JointSpring"))
        object.__setattr__(self, "rest", number(self.rest, "rest of JointSpring"))

    def coordinates(self) -> tuple[str, ...]:
        return (self.coordinate,)


@dataclass(frozen=True)
class JointDamper(Force):
    """Viscous damper on one velocity coordinate: force -damping v. Adds to the damping of the joint.

    Args:
        coordinate: Name of a velocity coordinate.
        damping: [N m s/rad] or [N s/m], not negative.
    """

    needs_position: ClassVar[bool] = False
    coordinate: str
    damping: float

    def __post_init__(self) -> None:
        text(self.coordinate, "coordinate of JointDamper")
        object.__setattr__(self, "damping", nonnegative(self.damping, "damping of JointDamper"))

    def coordinates(self) -> tuple[str, ...]:
        return (self.coordinate,)


@dataclass(frozen=True)
class ConstantWrench(Force):
    """Force and moment that stay constant, in world axes or in the axes of the body.

    Args:
        body: Body on which it acts.
        wrench: [force; moment] [N, N m], (6,).
        point: Where the force acts, in the body frame [m], (3,).
        frame: "world" (dead load) or "body" (follows the body).
    """

    body: str
    wrench: ArrayLike
    point: ArrayLike = (0.0, 0.0, 0.0)
    frame: str = "world"

    def __post_init__(self) -> None:
        text(self.body, "body of ConstantWrench")
        wrench = fixed_shape(self.wrench, "wrench of ConstantWrench", (6,))
        object.__setattr__(self, "wrench", tuple(wrench.tolist()))
        object.__setattr__(self, "point", triple(self.point, "point of ConstantWrench"))
        if self.frame not in FRAMES:
            raise InputError(f"frame of ConstantWrench must be 'world' or 'body', got {self.frame!r}.")

    def bodies(self) -> tuple[str, ...]:
        return (self.body,)


def check_pair(a: object, b: object, what: str) -> None:
    """Two names of different bodies."""
    text(a, f"body a of {what}")
    text(b, f"body b of {what}")
    if a == b:
        raise InputError(f"{what} must join two different bodies, got {a!r} twice.")


def force_arrays(tree: Tree, forces: Sequence[tuple[str, Force]]) -> dict[str, Any]:
    """The fields of the kernel's model that forces fill: coordinates, springs, wrenches, stops."""
    columns: dict[str, Any] = {name: [] for name in TABLE if name.startswith(("js_", "ps_", "w_"))}
    columns.update(_joint_arrays(tree))
    for name, force in forces:
        where = f"force {name!r}"
        if isinstance(force, PointSpring):
            _lower_point_spring(tree, force, where, columns)
        elif isinstance(force, JointSpring):
            iq, iv = tree.scalar(force.coordinate, where)
            _append(columns, js_q=iq, js_v=iv, js_stiffness=force.stiffness, js_rest=force.rest)
        elif isinstance(force, JointDamper):
            columns["damping"][tree.coordinate(force.coordinate, where)] += force.damping
        elif isinstance(force, ConstantWrench):
            _lower_wrench(tree, force, where, columns)
    return columns


def _append(columns: dict[str, Any], **values: Any) -> None:
    for name, value in values.items():
        columns[name].append(value)


def _lower_point_spring(tree: Tree, spring: PointSpring, where: str, columns: dict[str, Any]) -> None:
    a, p_a = tree.point(spring.a, spring.p_a, where)
    b, p_b = tree.point(spring.b, spring.p_b, where)
    _append(columns, ps_a=a, ps_b=b, ps_p_a=p_a, ps_p_b=p_b)
    _append(columns, ps_stiffness=spring.stiffness, ps_rest=spring.rest, ps_damping=spring.damping)


def _lower_wrench(tree: Tree, load: ConstantWrench, where: str, columns: dict[str, Any]) -> None:
    node, point = tree.point(load.body, load.point, where)
    wrench = np.array(load.wrench, dtype=np.float64)
    if load.frame == "body":
        R_NB = tree.places[tree.body_index(load.body)].X_NB.rotation
        wrench = np.concatenate([R_NB @ wrench[:3], R_NB @ wrench[3:]])
    _append(columns, w_node=node, w_local=int(load.frame == "body"), w_point=point, w_wrench=wrench)


def _joint_arrays(tree: Tree) -> dict[str, Any]:
    """armature, damping, friction, friction_speed (nv) and the stops, from the bodies."""
    columns: dict[str, Any] = {
        name: np.array([x for body in tree.bodies for x in getattr(body, name)], dtype=np.float64)
        for name in ("armature", "damping", "friction", "friction_speed")
    }
    stiffness = [x for body in tree.bodies for x in body.stop_stiffness]
    damping = [x for body in tree.bodies for x in body.stop_damping]
    limits = [x for body in tree.bodies for x in body.limits]
    stops = [k for k in range(tree.nv) if stiffness[k] > 0.0 or damping[k] > 0.0]
    columns["st_q"] = [tree.coordinate_q[k] for k in stops]
    columns["st_v"] = stops
    columns["st_lower"] = [limits[k][0] if math.isfinite(limits[k][0]) else -BEYOND_REACH for k in stops]
    columns["st_upper"] = [limits[k][1] if math.isfinite(limits[k][1]) else BEYOND_REACH for k in stops]
    columns["st_stiffness"] = [stiffness[k] for k in stops]
    columns["st_damping"] = [damping[k] for k in stops]
    return columns

"""Body: a declared rigid body with the joint that carries it, checked on construction."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from ..._kernel import principal_moments
from ...arrays import LARGEST, Array, fixed_shape, nonnegative, number, one_of, positive, text, triple
from ...errors import InputError, SarrusWarning
from ...varied import Varied, flat, is_varied, largest, recorded, tape_of
from ..base.pose import Pose
from ..base.restore import Restored
from .joint import Joint, check_joint
from .joints import Fixed

GROUND = "ground"
COPY = "@"  # "rod@D": the copy of part "rod" that hangs on joint "D"; both share its mass
ROUNDING = 1e-12
TRIANGLE = 1e-9
FRICTION_SPEED = 1e-2
FRICTION_MODELS = ("smooth", "coulomb")
UNLIMITED = (-math.inf, math.inf)
PER_COORDINATE: dict[str, tuple[Callable[[object, str], float], float]] = {  # with check and default
    **dict.fromkeys(
        ("armature", "damping", "friction", "breakaway", "stop_stiffness", "stop_damping"), (nonnegative, 0.0)
    ),
    "friction_speed": (positive, FRICTION_SPEED),
}

Limit = tuple[float, float]
PerCoordinate = float | Sequence[float]


def _each(value: float | None) -> Any:
    """Default of a field that `Body.__post_init__` expands to one value per coordinate of the joint."""
    return field(default=value)


@dataclass(frozen=True)
class Body(Restored):
    """A rigid body and its joint. `MechanismSpec.body` explains the arguments.

    After construction `armature`, `damping`, `friction`, `breakaway`, `friction_speed`, `limits`,
    `stop_stiffness` and `stop_damping` hold one entry for each velocity coordinate of the joint. `backwards`:
    the joint was declared from this body to its parent, and reactions are those on the parent. `outline`:
    points in its frame [m], (n, 3), along which pictures draw it.

    A state of first order (`MechanismSpec.state`) is a body without mass whose joint turns: its rate is the
    state, `state_size` what is usual of it, and `start` where it begins. `state_size` of a body is 0.
    """

    name: str
    parent: str
    joint: Joint
    at: Pose = field(default_factory=Pose)
    mass: float = 0.0
    com: tuple[float, float, float] = (0.0, 0.0, 0.0)
    inertia: tuple[float, ...] | tuple[tuple[float, ...], ...] = (0.0, 0.0, 0.0)
    armature: tuple[float, ...] = _each(0.0)
    damping: tuple[float, ...] = _each(0.0)
    friction: tuple[float, ...] = _each(0.0)
    friction_speed: tuple[float, ...] = _each(FRICTION_SPEED)
    limits: tuple[Limit, ...] = _each(None)
    stop_stiffness: tuple[float, ...] = _each(0.0)
    stop_damping: tuple[float, ...] = _each(0.0)
    friction_model: str = FRICTION_MODELS[0]
    breakaway: tuple[float, ...] = _each(0.0)
    backwards: bool = False
    outline: tuple[tuple[float, float, float], ...] = ()
    state_size: float = 0.0
    start: float = 0.0

    def __post_init__(self) -> None:
        text(self.name, "the name of a body")
        what = f"body {self.name!r}"
        text(self.parent, f"parent of {what}")
        joint = check_joint(self.joint, f"joint of {what}")
        if not isinstance(self.at, Pose):
            raise InputError(f"at of {what} must be a Pose, got {self.at!r}; write at=sr.Pose((x, y, z)).")
        checked: dict[str, Any] = {
            "mass": nonnegative(self.mass, f"mass of {what}"),
            "com": triple(self.com, f"com of {what}"),
            "inertia": check_inertia(self.inertia, what),
            "limits": _limits(self.limits, what, joint),
            "outline": tuple(triple(point, f"outline of {what}") for point in self.outline),
            "state_size": nonnegative(self.state_size, f"state_size of {what}"),
            "start": number(self.start, f"start of {what}"),
        }
        for name, (check, default) in PER_COORDINATE.items():
            value, nv = getattr(self, name), joint.nv
            if type(value) is float and value == default:
                checked[name] = (value,) * nv
            elif nv or check is nonnegative:
                checked[name] = _per_coordinate(value, f"{name} of {what}", joint, check)
            else:
                checked[name] = ()
        self.__dict__.update(checked)
        _check_armature(self, what)
        _check_friction(self, what)
        _check_stops(self, what)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Also of 0.1.0, whose bodies had no breakaway friction."""
        later = {"breakaway": (0.0,) * len(state["friction"]), "state_size": 0.0, "start": 0.0}
        self.__dict__.update(later | state)

    def again(self, **fields: Any) -> Body:
        """A copy with other fields, which need no check."""
        copy = object.__new__(Body)
        copy.__dict__.update(self.__dict__ | fields)
        return copy

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """Names of the velocity coordinates of the joint."""
        return self.joint.coordinate_names(self.name)

    @property
    def is_state(self) -> bool:
        """Whether it stands for a state of first order."""
        return self.state_size > 0.0

    @property
    def first_order(self) -> tuple[bool, ...]:
        """The same for each velocity coordinate."""
        return (self.is_state,) * self.joint.nv

    @property
    def inertia_rows(self) -> tuple[tuple[float, ...], ...]:
        """Inertia about the centre of mass in the body frame [kg m^2], (3, 3)."""
        x, y, z = self.inertia
        if isinstance(x, tuple):
            return self.inertia  # type: ignore[return-value]
        return (x, 0.0, 0.0), (0.0, y, 0.0), (0.0, 0.0, z)  # type: ignore[return-value]

    @property
    def principal_moments(self) -> Sequence[float]:
        """Eigenvalues of the inertia [kg m^2], ascending, (3,)."""
        given: Any = self.inertia
        return _moments(given if isinstance(given[0], tuple) or not is_varied(given) else self.inertia_rows)

    @property
    def inertia_matrix(self) -> Array:
        """The same as an array."""
        return np.array(self.inertia_rows)


@cache
def ground_body() -> Body:
    """The body that every tree starts from."""
    return Body(GROUND, GROUND, Fixed())


def copies(name: str, bodies: Collection[str]) -> list[str]:
    """The names of a body and of its copies among those of all bodies."""
    return [n for n in bodies if n == name or (n.startswith(name + COPY) and n[len(name) + 1 :] in bodies)]


def check_inertia(inertia: object, what: str) -> tuple[float, ...] | tuple[tuple[float, ...], ...]:
    """A diagonal (3,) or a symmetric matrix (3, 3), positive semidefinite [kg m^2]."""
    if not _has_rows(inertia):
        diagonal = triple(inertia, f"inertia of {what}")
        _check_moments([-largest(-x for x in diagonal)], largest(map(abs, diagonal)), what)
        return diagonal
    given: Any = inertia
    if type(inertia) is not tuple or len(inertia) != 3 or not all(map(_is_plain_row, inertia)):
        given = fixed_shape(inertia, f"inertia of {what}", (3, 3)).tolist()
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = given
    size = largest(map(abs, (xx, xy, xz, yx, yy, yz, zx, zy, zz)))
    if largest((abs(xy - yx), abs(xz - zx), abs(yz - zy))) > TRIANGLE * size:
        raise InputError(f"inertia of {what} must be symmetric, got {[list(row) for row in given]}.")
    xy, xz, yz = 0.5 * (xy + yx), 0.5 * (xz + zx), 0.5 * (yz + zy)
    rows = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
    _check_moments(_moments(rows), size, what)
    return rows


def _moments(given: Any) -> Sequence[float]:
    """Principal moments, ascending, of an inertia that is a diagonal or three rows."""
    if is_varied(given):
        numbers = flat(given)
        return tape_of(numbers).record("moments", numbers, principal_moments(recorded(given)))
    return principal_moments(given) if isinstance(given[0], tuple) else sorted(given)


def _is_plain_row(row: object) -> bool:
    """Whether this is a tuple of three numbers that need no conversion."""
    return type(row) is tuple and len(row) == 3 and all(type(x) is float and abs(x) <= LARGEST for x in row)


def _check_moments(moments: Sequence[float], size: float, what: str) -> None:
    """Refuse negative principal moments, given in ascending order, of an inertia of this size."""
    if moments[0] < -ROUNDING * size:
        raise InputError(
            f"inertia of {what} must be positive semidefinite, got principal moments {list(moments)}; "
            "give it about the centre of mass, in the body frame."
        )


def is_possible(body: Body) -> bool:
    """Whether its principal moments satisfy the triangle inequality, as those of every body do."""
    moments = body.principal_moments
    return moments[2] <= (moments[0] + moments[1]) * (1.0 + TRIANGLE) + ROUNDING * moments[2]


def warn_of_inertia(body: Body, stacklevel: int) -> None:
    """Warn of principal moments that violate the triangle inequality."""
    if not is_possible(body):
        moments = body.principal_moments
        warnings.warn(
            f"inertia of body {body.name!r} violates the triangle inequality: principal moment"
            f" {moments[2]:.6g} exceeds {moments[0]:.6g} + {moments[1]:.6g} kg m^2. It is used as given.",
            SarrusWarning,
            stacklevel=stacklevel + 1,
        )


def _per_coordinate(
    value: object, what: str, joint: Joint, check: Callable[[object, str], float]
) -> tuple[float, ...]:
    """One number for every coordinate of the joint, from one number or one for each."""
    if _is_one_number(value):
        x = check(value, what)
        if joint.nv == 0 and x != 0.0:
            raise InputError(
                f"{what} must be zero because its joint is Fixed and has no coordinate, got {x:g}."
            )
        return (x,) * joint.nv
    known = isinstance(value, tuple) and len(value) == joint.nv and {float, Varied} >= set(map(type, value))
    each: Any = value if known else fixed_shape(value, what, (joint.nv,)).tolist()
    return tuple(check(x, f"{what}, coordinate {i}") for i, x in enumerate(each))


def _is_one_number(value: object) -> bool:
    """Whether a value stands for all coordinates."""
    if type(value) in (float, Varied):
        return True
    return value.ndim == 0 if isinstance(value, np.ndarray) else not isinstance(value, Sequence)


def check_limits(value: object, what: str) -> Limit:
    """One pair (lower, upper), or None for no limits; None or an infinity leaves that side open."""
    if value is None:
        return UNLIMITED
    if not isinstance(value, (Sequence, np.ndarray)) or isinstance(value, str) or len(value) != 2:
        raise InputError(f"{what} must be a pair (lower, upper), got {value!r}; None leaves a side open.")
    lower, upper = (_end(end, free, what) for end, free in zip(value, UNLIMITED, strict=True))
    if not lower < upper:
        raise InputError(f"{what} must have lower < upper, got ({lower:g}, {upper:g}).")
    return (lower, upper)


def _end(end: object, free: float, what: str) -> float:
    """One end of a range; None, or the infinity of that side, leaves it open."""
    is_infinity = isinstance(end, (float, np.floating)) and end == free
    return free if end is None or is_infinity else number(end, what)


def _limits(value: object, what: str, joint: Joint) -> tuple[Limit, ...]:
    """One pair for each coordinate of the joint."""
    named = f"limits of {what}"
    if value is None or _are_unlimited(value, joint.nv):
        return (UNLIMITED,) * joint.nv
    if joint.has_quaternion or not joint.nv:
        raise InputError(f"{named} must be None: a {type(joint).__name__} joint has no coordinate to limit.")
    pairs = [value] if joint.nv == 1 and not _has_rows(value) else value
    if not isinstance(pairs, (Sequence, np.ndarray)) or len(pairs) != joint.nv:
        raise InputError(
            f"{named} must be {joint.nv} pairs (lower, upper), one for each coordinate, got {value!r}."
        )
    return tuple(check_limits(pair, named) for pair in pairs)


def _are_unlimited(value: object, count: int) -> bool:
    """Whether these are the pairs that stand for no limits."""
    if not isinstance(value, tuple) or len(value) != count:
        return False
    return all(isinstance(x, tuple) and x == UNLIMITED for x in value)


def _has_rows(value: object) -> bool:
    """Whether a value is a list of lists, judged by its first entry."""
    if isinstance(value, np.ndarray):
        return value.ndim > 1
    first = value[0] if isinstance(value, (list, tuple)) and value else None
    return isinstance(first, (list, tuple, np.ndarray))


def _check_armature(body: Body, what: str) -> None:
    """Refuse inertia of drives that no drive has: M would get it without the forces that go with it.

    In body axes a mass a needs the force a omega x v, and unequal moments need omega x (a omega).
    """
    if body.joint.is_free and any(body.armature[:3]):
        raise InputError(
            f"armature of {what} must be zero along the translations of a Free joint, got"
            f" {body.armature[:3]}: no drive carries it. Give it as mass, or leave it out."
        )
    turning = body.armature[-3:] if body.joint.has_quaternion else ()
    if len(set(turning)) > 1:
        raise InputError(
            f"armature of {what} must be equal about all axes of a {type(body.joint).__name__} joint, got"
            f" {turning}; give unequal moments as inertia."
        )


def _check_friction(body: Body, what: str) -> None:
    """Breakaway is friction at rest, which smoothed friction does not have."""
    one_of(body.friction_model, f"friction_model of {what}", FRICTION_MODELS)
    for friction, breakaway in zip(body.friction, body.breakaway, strict=True):
        check_breakaway(friction, breakaway, what)
        if breakaway and body.friction_model != "coulomb":
            raise InputError(
                f"breakaway of {what} needs friction_model='coulomb', got {body.friction_model!r}: smoothed"
                " friction vanishes at rest."
            )


def check_breakaway(friction: float, breakaway: float, what: str) -> None:
    """Breakaway friction is at least that of sliding; 0 stands for the same."""
    if 0.0 < breakaway < friction:
        raise InputError(
            f"breakaway of {what} must be at least its friction {friction:g}, got {breakaway:g}; leave it out"
            " where both are the same."
        )


def _check_stops(body: Body, what: str) -> None:
    """Stops need limits to stand at."""
    for i, limit in enumerate(body.limits):
        if limit == UNLIMITED and (body.stop_stiffness[i] or body.stop_damping[i]):
            raise InputError(
                f"stops of {what} need limits to stand at, got stop_stiffness {body.stop_stiffness[i]:g} "
                f"and stop_damping {body.stop_damping[i]:g} without; give limits=(lower, upper)."
            )

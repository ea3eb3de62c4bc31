"""Sensors as measures: what an IMU and a force sensor on a frame or a body read.

Values are in the axes of the body, as the device is mounted; name a frame for it (`spec.frame`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import Array, one_of, point
from ...errors import InputError
from ...models.base.kind import Checks
from ...models.model import Model
from ...models.tree.bodies import GROUND
from .force_measures import Reaction
from .measure import Measure
from .measured_states import MeasuredStates

if TYPE_CHECKING:
    from ..mechanism import Mechanism

__all__ = ["Accelerometer", "ForceTorque", "Gyroscope"]


@dataclass(frozen=True)
class _Sensor(Measure, base=True):
    """On a body."""

    columns: ClassVar[tuple[str, ...]] = ("x", "y", "z")
    body: str

    def takes_steps(self, model: Model) -> bool:
        return False


@dataclass(frozen=True)
class Accelerometer(_Sensor):
    """What an accelerometer reads [m/s^2], (3,): acceleration less gravity, in the axes of the body.

    At rest it reads 9.81 upwards. Forces that act count: give `u` or `tau` to `mech.measure`.

    Args:
        body: Body or frame.
        point: Where on it [m], (3,), or the name of a point of the drawing.
    """

    unit: ClassVar[str] = "m/s^2"
    needs_motion: ClassVar[bool] = True
    checks: ClassVar[Checks] = {"point": point}
    point: ArrayLike = (0.0, 0.0, 0.0)

    def values(self, states: MeasuredStates) -> Array:
        mech = states.mech
        a = mech.body_acceleration(states.q, states.v, states.motion.a, self.body, self.point)[..., :3]
        R, _ = states.frames(self.body)
        return np.asarray(np.einsum("bji,bj->bi", R, a - np.asarray(mech.model.gravity)))


@dataclass(frozen=True)
class Gyroscope(_Sensor):
    """What a gyroscope reads [rad/s], (3,): the angular velocity of a body in its axes: Gyroscope(body)."""

    unit: ClassVar[str] = "rad/s"

    def values(self, states: MeasuredStates) -> Array:
        R, _ = states.frames(self.body)
        return np.asarray(
            np.einsum("bji,bj->bi", R, states.mech.velocity(states.q, states.v, self.body)[:, 3:])
        )


@dataclass(frozen=True)
class ForceTorque(_Sensor):
    """What a force-torque sensor reads: [force; moment] [N, N m] through the joint or weld of a body, (6,).

    It acts on the body (and all that hangs on it), at the origin of the sensor, in the axes of the body.

    Args:
        body: The body behind the sensor: one that hangs on a joint, or is fixed to another.
        frame: Body or frame on which origin and axes are; default the body.
        part: "wrench", or "force" (3,) or "moment" (3,) alone.
    """

    unit: ClassVar[str] = "N, N m"
    columns: ClassVar[tuple[str, ...]] = ("fx", "fy", "fz", "mx", "my", "mz")
    needs_motion: ClassVar[bool] = True
    of_reactions: ClassVar[bool] = True
    frame: str | None = None
    part: str = "wrench"

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of(self.part, "part of ForceTorque", ("wrench", "force", "moment"))

    def check(self, mech: Mechanism, where: str) -> None:
        for name in (self.body, *([] if self.frame is None else [self.frame])):
            mech.model.body_index(name, where)
        if self.body == GROUND:
            raise InputError(f"{where}: nothing holds the ground; name the body behind the sensor.")
        if self.body in mech.frames:
            raise InputError(
                f"{where}: {self.body!r} is a frame without mass, through which nothing goes; name the body"
                f" behind the sensor, and frame={self.body!r} for its axes."
            )

    def bodies(self) -> tuple[str, ...]:
        return (self.body,) if self.frame is None else (self.body, self.frame)

    def values(self, states: MeasuredStates) -> Array:
        if not len(states.q):
            return np.zeros((0, 6 if self.part == "wrench" else 3))
        wrench: Any = states.motion.reaction(self.body, "world")
        force, moment = wrench[..., :3], wrench[..., 3:]
        R, here = states.frames(self.frame or self.body)
        moment = moment + np.cross(states.frames(self.body)[1] - here, force)
        turned = [np.einsum("bji,bj->bi", R, x) for x in (force, moment)]
        parts = {"force": turned[0], "moment": turned[1], "wrench": np.concatenate(turned, axis=-1)}
        return np.asarray(parts[self.part])

    def warn(self, states: MeasuredStates, values: Array, name: str) -> None:
        """Warn of loads that a rigid model does not determine, as a Reaction does."""
        if len(values):
            Reaction(self.body, "world").warn(states, states.motion.reaction(self.body, "world"), name)

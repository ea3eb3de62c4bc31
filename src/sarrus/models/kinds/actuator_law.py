"""ActuatorLaw: how the force of an actuator follows from its control signal, as robot files declare it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from ...arrays import fixed_shape, number, text
from ...errors import InputError
from ..base.restore import Restored
from ..tree.bodies import Limit, check_limits

OPEN: Limit = (-math.inf, math.inf)


@dataclass(frozen=True)
class ActuatorLaw(Restored):
    """The law of one actuator of a coordinate q: motors, position and velocity servos, with gear.

        force on q = gear * clip(gain * ctrl + bias[0] + bias[1] * gear * q + bias[2] * gear * v)

    A motor has gain 1 and no bias, a position servo gain kp and bias (0, -kp, -kv), a velocity servo gain kv
    and bias (0, 0, -kv). The input u of a mechanism is the force on the coordinate; `sr.bridge.servos`
    converts between u and the control signals.

    Args:
        name: Name of the actuator.
        gear: Transmission ratio: motor positions are gear * q.
        gain: Force of the motor per unit of the control signal.
        bias: Constant [N m], stiffness [N m/rad] and damping [N m s/rad] of the servo, (3,), of the motor.
        ctrl_limits: Limits of the control signal, or None.
        force_limits: Limits of the force of the motor [N m] or [N], or None.
    """

    finite: ClassVar[tuple[str, ...]] = ("gear", "gain")
    name: str
    gear: float = 1.0
    gain: float = 1.0
    bias: tuple[float, float, float] = (0.0, 0.0, 0.0)
    ctrl_limits: Limit | None = None
    force_limits: Limit | None = None

    def __post_init__(self) -> None:
        text(self.name, "name of an actuator")
        what = f"actuator {self.name!r}"
        for field in self.finite:
            object.__setattr__(self, field, number(getattr(self, field), f"{field} of {what}"))
        if self.gear == 0.0:
            raise InputError(f"gear of {what} must not be zero.")
        x, y, z = fixed_shape(self.bias, f"bias of {what}", (3,)).tolist()
        object.__setattr__(self, "bias", (x, y, z))
        for field in ("ctrl_limits", "force_limits"):
            value = check_limits(getattr(self, field), f"{field} of {what}")
            object.__setattr__(self, field, None if value == OPEN else value)

    @property
    def is_motor(self) -> bool:
        """Whether the control signal is the force, up to a factor."""
        return not any(self.bias)

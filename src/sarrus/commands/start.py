"""What `--start`, `--speed` and `--motor` say of a run: its first pose and speed, and constant inputs."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from sarrus.arrays import Array
from sarrus.errors import InputError, SarrusError, require_all_known
from sarrus.mechanism.core.core import State
from sarrus.mechanism.mechanism import Mechanism

from .answers import values

START_HELP = "Coordinate at the start, such as crank=0.3 [rad, m]; may be repeated."
SPEED_HELP = "Speed at the start, such as crank=2 [rad/s, m/s]; may be repeated."
MOTOR_HELP = "Constant torque or force of an actuator, such as crank=5 [N m, N]; may be repeated."


@dataclass(frozen=True)
class Start:
    """NAME=NUMBER pairs of the command line.

    Attributes:
        pose: Coordinates [rad, m].
        speed: Their rates [rad/s, m/s].
        motor: Inputs of actuators [N m, N].
    """

    pose: list[str] = field(default_factory=list)
    speed: list[str] = field(default_factory=list)
    motor: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.pose or self.speed or self.motor)

    def state(self, mech: Mechanism) -> State:
        """The default state, changed as asked and consistent with the constraints; new poses are at rest."""
        q, v = mech.default
        pose, speed = values(self.pose, "--start"), values(self.speed, "--speed")
        try:
            if pose:
                found = mech.assemble(q, pose)
                if not found.success:
                    raise InputError(found.message)
                q, v = found.q, mech.consistent_velocity(found.q)
            if speed:
                v = mech.consistent_velocity(q, fixed=speed)
        except SarrusError as error:
            raise InputError(f"{'--speed' if speed and not pose else '--start'}: {error}") from error
        return State(q, v)

    def inputs(self, mech: Mechanism) -> Array | None:
        """u (nu,) [N m, N]; None where no motor is asked for."""
        motor = values(self.motor, "--motor")
        require_all_known("actuator", motor, mech.actuators, "--motor")
        return np.array([motor.get(name, 0.0) for name in mech.actuators]) if motor else None

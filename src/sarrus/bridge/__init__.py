"""Mechanisms beside models of other libraries: states and inputs both ways, and plants to control.

b = sr.bridge.mujoco(mech, model)
q, v = b.to_sarrus(data)
run = b.run(law, 4.0)
"""

from __future__ import annotations

from typing import Any

from sarrus.bridge.mujoco import MujocoBridge
from sarrus.bridge.pinocchio import PinocchioBridge
from sarrus.bridge.plant_run import PlantRun
from sarrus.bridge.servos import Servos, servos
from sarrus.mechanism.mechanism import Mechanism


def mujoco(mech: Mechanism, model: Any) -> MujocoBridge:
    """The bridge between a mechanism and a MuJoCo model of the same robot.

    Coordinates are matched by the names of joints and tendons: the mechanism may be loaded from the model's
    file, or the model from one that `sr.save` wrote, or both from files of other formats with the same
    names. The mechanism may have more constraints (feet on the ground).

    Args:
        mech: The mechanism.
        model: A `mujoco.MjModel`.

    Raises:
        InputError: Where the model lacks a coordinate of the mechanism.
    """
    return MujocoBridge(mech, model)


def pinocchio(mech: Mechanism, model: Any) -> PinocchioBridge:
    """The bridge between a mechanism and a Pinocchio model of the same robot, matched by joint names.

    Args:
        mech: The mechanism.
        model: A `pinocchio.Model`.

    Raises:
        InputError: Where the model lacks a coordinate of the mechanism, or the other way round.
    """
    return PinocchioBridge(mech, model)


__all__ = ["MujocoBridge", "PinocchioBridge", "PlantRun", "Servos", "mujoco", "pinocchio", "servos"]

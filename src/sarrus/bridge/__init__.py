"""Mechanisms beside models of other libraries: states and inputs both ways, and plants to control.

b = sr.bridge.mujoco(mech, model)
q, v = b.to_sarrus(data)
run = b.run(law, 4.0)
"""

from __future__ import annotations

from typing import Any

from sarrus.bridge.bridge import Bridge
from sarrus.bridge.casadi_functions import CasadiBridge
from sarrus.bridge.crocoddyl_models import CrocoddylBridge
from sarrus.bridge.jax_functions import JaxBridge
from sarrus.bridge.mujoco import MujocoBridge
from sarrus.bridge.pinocchio import PinocchioBridge
from sarrus.bridge.plant_run import PlantRun
from sarrus.bridge.servos import Servos, servos
from sarrus.bridge.torch_functions import TorchBridge
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


def torch(mech: Mechanism, contacts: str = "steps") -> TorchBridge:
    """Steps, rollouts, accelerations and poses of a mechanism for PyTorch, differentiable both ways.

    Args:
        mech: The mechanism.
        contacts: Whether surfaces touch in steps, "steps", or go through each other, "ignore".

    Raises:
        InputError: Where Python functions would have to be differentiated, or PyTorch is missing.
    """
    return TorchBridge(mech, contacts)


def jax(mech: Mechanism, contacts: str = "steps") -> JaxBridge:
    """Steps, rollouts, accelerations and poses of a mechanism for JAX: grad, jvp, jit, vmap.

    Args:
        mech: The mechanism.
        contacts: Whether surfaces touch in steps, "steps", or go through each other, "ignore".

    Raises:
        InputError: Where Python functions would have to be differentiated, or JAX is missing.
    """
    return JaxBridge(mech, contacts)


def casadi(mech: Mechanism, contacts: str = "steps") -> CasadiBridge:
    """Steps, rollouts, accelerations and poses of a mechanism for CasADi: callbacks with Jacobians.

    Args:
        mech: The mechanism.
        contacts: Whether surfaces touch in steps, "steps", or go through each other, "ignore".

    Raises:
        InputError: Where Python functions would have to be differentiated, or CasADi is missing.
    """
    return CasadiBridge(mech, contacts)


def crocoddyl(mech: Mechanism, contacts: str = "steps") -> CrocoddylBridge:
    """A state and action models of a mechanism for Crocoddyl.

    Args:
        mech: The mechanism.
        contacts: Whether surfaces touch in steps, "steps", or go through each other, "ignore".

    Raises:
        InputError: Where Python functions would have to be differentiated, or Crocoddyl is missing.
    """
    return CrocoddylBridge(mech, contacts)


__all__ = [
    "Bridge",
    "CasadiBridge",
    "CrocoddylBridge",
    "JaxBridge",
    "MujocoBridge",
    "PinocchioBridge",
    "PlantRun",
    "Servos",
    "TorchBridge",
    "casadi",
    "crocoddyl",
    "jax",
    "mujoco",
    "pinocchio",
    "servos",
    "torch",
]

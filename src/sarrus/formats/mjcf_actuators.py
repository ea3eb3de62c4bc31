"""Actuators of a compiled MuJoCo model: which joints are driven, and how hard."""

from __future__ import annotations

from typing import Any

import numpy as np

from sarrus.formats.messages import Omitted
from sarrus.mechanism.spec import MechanismSpec

BALL_OR_FREE = (0, 1)  # mjtJoint
INFINITY = float("inf")


def _joint_of(model: Any, actuator: int) -> int | None:
    """The hinge or slide an actuator acts on directly, else None."""
    import mujoco

    direct = (int(mujoco.mjtTrn.mjTRN_JOINT), int(mujoco.mjtTrn.mjTRN_JOINTINPARENT))
    if int(model.actuator_trntype[actuator]) not in direct:
        return None
    joint = int(model.actuator_trnid[actuator, 0])
    return None if int(model.jnt_type[joint]) in BALL_OR_FREE else joint


def _count(model: Any) -> int:
    return int(getattr(model, "nactuator", model.nu))


def reflected(model: Any, joint: int) -> tuple[float, float]:
    """Armature and damping that actuators add to a joint: gear squared times their own."""
    armature = damping = 0.0
    for i in range(_count(model)):
        if _joint_of(model, i) == joint:
            gear = float(model.actuator_gear[i, 0])
            squared = gear * gear
            armature += squared * float(getattr(model, "actuator_armature", np.zeros(i + 1))[i])
            damping += squared * float(getattr(model, "actuator_damping", np.zeros(i + 1))[i])
    return armature, damping


def add_actuators(spec: MechanismSpec, model: Any, joints: dict[int, str], omitted: Omitted) -> None:
    """Actuate the joints that have motors; ranges of several motors on one joint add up."""
    ranges: dict[int, tuple[float, float]] = {}
    for i in range(_count(model)):
        name, joint = model.actuator(i).name, _joint_of(model, i)
        if joint is None:
            omitted.drop("actuator that does not act on one hinge or slide", name)
            continue
        _note_law(model, i, name, omitted)
        lower, upper = _torque_range(model, i)
        before = ranges.get(joint, (0.0, 0.0))
        ranges[joint] = (before[0] + lower, before[1] + upper)
    if _count(model):
        spec.actuate()
    for joint, (lower, upper) in ranges.items():
        if getattr(model, "jnt_actfrclimited", np.zeros(joint + 1))[joint]:
            lower = max(lower, float(model.jnt_actfrcrange[joint, 0]))
            upper = min(upper, float(model.jnt_actfrcrange[joint, 1]))
        if lower >= upper:
            omitted.add("actuator without any force", joints[joint])
        else:
            spec.actuate(joints[joint], limits=(lower, upper))


def _note_law(model: Any, i: int, name: str, omitted: Omitted) -> None:
    """u is a generalized force here: servo laws and activation dynamics are the controller's business."""
    if int(model.actuator_gaintype[i]) != 0 or int(model.actuator_biastype[i]) != 0:
        omitted.add("servo or muscle law of an actuator (u is its torque)", name)
    elif float(model.actuator_gear[i, 0]) * float(model.actuator_gainprm[i, 0]) != 1.0:
        omitted.add("gear or gain of an actuator (u is the force on its joint)", name)
    if int(model.actuator_dyntype[i]) != 0:
        omitted.add("activation dynamics of an actuator", name)


def _torque_range(model: Any, i: int) -> tuple[float, float]:
    """Smallest and largest force on the joint [N or N m]; infinite where the file sets no range."""
    lower, upper = -INFINITY, INFINITY
    motor = int(model.actuator_gaintype[i]) == 0 and int(model.actuator_biastype[i]) == 0
    control = int(getattr(model, "actuator_ctrladr", np.arange(i + 1))[i])
    if motor and len(model.actuator_ctrllimited) > control and model.actuator_ctrllimited[control]:
        gain = float(model.actuator_gainprm[i, 0])
        lower, upper = sorted(gain * x for x in model.actuator_ctrlrange[control].tolist())
    if model.actuator_forcelimited[i]:
        lower = max(lower, float(model.actuator_forcerange[i, 0]))
        upper = min(upper, float(model.actuator_forcerange[i, 1]))
    gear = float(model.actuator_gear[i, 0])
    if gear == 0.0:
        return 0.0, 0.0
    lower, upper = sorted((gear * lower, gear * upper))
    return lower, upper

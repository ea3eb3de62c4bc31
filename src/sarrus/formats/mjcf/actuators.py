"""Actuators of a compiled MuJoCo model: what they drive, by which law, and how hard."""

from __future__ import annotations

from typing import Any

import numpy as np

from sarrus.formats.mjcf.sites import wxyz_pose
from sarrus.formats.mjcf.tendons import Tendons
from sarrus.formats.reading.messages import Omitted
from sarrus.mechanism.spec import MechanismSpec
from sarrus.models.kinds.actuator_law import ActuatorLaw
from sarrus.models.kinds.forces import ConstantWrench
from sarrus.models.tree.coordinates import claim

BALL, BALL_OR_FREE = 1, (0, 1)  # mjtJoint
SPEEDS = ("wx", "wy", "wz")
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


def add_actuators(
    spec: MechanismSpec, model: Any, bodies: list[str], known: Tendons, omitted: Omitted
) -> None:
    """Actuate joints and tendons that have actuators, with their laws; ranges of several on one add up."""
    joints, tendons = known.joints, known.coordinates
    ranges: dict[str, tuple[float, float]] = {}
    for i in range(_count(model)):
        name, coordinate = model.actuator(i).name, driven_by(model, i, joints, tendons)
        wrench = _constant_wrench(model, i, bodies)
        if wrench is not None:
            spec.force(claim(name or f"actuator{i + 1}", {one for one, _ in spec.forces}), wrench)
            continue
        if coordinate is None:
            omitted.drop("actuator that does not act on one hinge, slide or fixed tendon", name)
            continue
        law = law_of(model, i)
        if law is None:
            omitted.add("muscle or other nonlinear law of an actuator (u is its force)", name)
        else:
            spec.laws[coordinate] = (*spec.laws.get(coordinate, ()), law)
        if int(model.actuator_dyntype[i]) != 0:
            omitted.add("activation dynamics of an actuator", name)
        lower, upper = _torque_range(model, i)
        before = ranges.get(coordinate, (0.0, 0.0))
        ranges[coordinate] = (before[0] + lower, before[1] + upper)
    spec.actuate()
    if not _count(model):
        omitted.remark("it has no actuators; spec.actuate(...) of load_spec declares them")
    bounds = _force_bounds(model, joints, tendons)
    for coordinate, (lower, upper) in ranges.items():
        least, most = bounds.get(coordinate, (-INFINITY, INFINITY))
        lower, upper = max(lower, least), min(upper, most)
        if lower >= upper:
            omitted.add("actuator without any force", coordinate)
            spec.laws.pop(coordinate, None)
        else:
            spec.actuate(coordinate, limits=(lower, upper))


def driven_by(model: Any, i: int, joints: dict[int, str], tendons: dict[int, str]) -> str | None:
    """The coordinate that an actuator drives, that of a joint or of a tendon; None where there is not one."""
    import mujoco

    kind, target = int(model.actuator_trntype[i]), int(model.actuator_trnid[i, 0])
    if kind == int(mujoco.mjtTrn.mjTRN_TENDON):
        return tendons.get(target)
    if kind == int(mujoco.mjtTrn.mjTRN_JOINT) and int(model.jnt_type[target]) == BALL:
        (along,) = np.nonzero(model.actuator_gear[i, :3])
        if len(along) == 1 and target in joints:
            return f"{joints[target]}.{SPEEDS[int(along[0])]}"
    joint = _joint_of(model, i)
    return None if joint is None else joints.get(joint)


def _constant_wrench(model: Any, i: int, bodies: list[str]) -> ConstantWrench | None:
    """The wrench of an actuator at a site that needs no control signal, in body or world axes."""
    import mujoco

    site, reference = model.actuator_trnid[i].tolist()
    law = law_of(model, i) or ActuatorLaw("none")
    constant = law.gain == 0.0 and law.bias[0] != 0.0 and not any(law.bias[1:])
    if int(model.actuator_trntype[i]) != int(mujoco.mjtTrn.mjTRN_SITE) or not constant:
        return None
    axes_of, frame = (site, "body") if reference < 0 else (reference, "world")
    if frame == "world" and int(model.site_bodyid[reference]) != 0:
        return None
    axes = wxyz_pose((0, 0, 0), model.site_quat[axes_of]).rotation
    gear = law.bias[0] * model.actuator_gear[i]
    wrench = np.concatenate([axes @ gear[:3], axes @ gear[3:]])
    return ConstantWrench(bodies[int(model.site_bodyid[site])], wrench, model.site_pos[site], frame)


def law_of(model: Any, i: int) -> ActuatorLaw | None:
    """The law of an actuator: affine in its control, position and velocity, or None."""
    gear = _gear(model, i)
    if (
        int(model.actuator_gaintype[i]) != 0
        or int(model.actuator_biastype[i]) not in (0, 1)
        or not np.any(model.actuator_gear[i])
    ):
        return None
    gear = gear or 1.0  # of a site, which may have moments only
    bias = model.actuator_biasprm[i, :3].tolist() if int(model.actuator_biastype[i]) == 1 else (0.0,) * 3
    control, controlled = _control(model, i)
    return ActuatorLaw(
        model.actuator(i).name or f"actuator{i + 1}",
        gear,
        float(model.actuator_gainprm[i, 0]),
        bias,
        ctrl_limits=_pair(model.actuator_ctrlrange[control]) if controlled else None,
        force_limits=_pair(model.actuator_forcerange[i]) if model.actuator_forcelimited[i] else None,
    )


def _gear(model: Any, i: int) -> float:
    """The ratio of an actuator; of one about an axis of a ball, that of the axis."""
    ratios = model.actuator_gear[i, :3]
    return float(ratios[np.flatnonzero(ratios)[0]]) if np.any(ratios) else 0.0


def _control(model: Any, i: int) -> tuple[int, bool]:
    """The entry of ctrl that an actuator reads, and whether it is limited."""
    control = int(getattr(model, "actuator_ctrladr", np.arange(i + 1))[i])
    limited = model.actuator_ctrllimited
    return control, len(limited) > control >= 0 and bool(limited[control])


def _pair(values: Any) -> tuple[float, float] | None:
    lower, upper = values.tolist()
    return (lower, upper) if lower < upper else None


def _force_bounds(
    model: Any, joints: dict[int, str], tendons: dict[int, str]
) -> dict[str, tuple[float, float]]:
    """Bounds of the sum of all actuator forces on a joint or tendon, where the file has them."""
    found = {}
    for kind, names in (("jnt", joints), ("tendon", tendons)):
        limited = getattr(model, f"{kind}_actfrclimited", np.zeros(10**6))
        for k, name in names.items():
            if limited[k]:
                found[name] = tuple(getattr(model, f"{kind}_actfrcrange")[k].tolist())
    return found


def _torque_range(model: Any, i: int) -> tuple[float, float]:
    """Smallest and largest force on the joint [N or N m]; infinite where the file sets no range."""
    lower, upper = -INFINITY, INFINITY
    motor = int(model.actuator_gaintype[i]) == 0 and int(model.actuator_biastype[i]) == 0
    control, controlled = _control(model, i)
    if motor and controlled:
        gain = float(model.actuator_gainprm[i, 0])
        lower, upper = sorted(gain * x for x in model.actuator_ctrlrange[control].tolist())
    if model.actuator_forcelimited[i]:
        lower = max(lower, float(model.actuator_forcerange[i, 0]))
        upper = min(upper, float(model.actuator_forcerange[i, 1]))
    gear = _gear(model, i)
    if gear == 0.0:
        return 0.0, 0.0
    lower, upper = sorted((gear * lower, gear * upper))
    return lower, upper

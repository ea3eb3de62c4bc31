"""Sensors of MJCF as measures and back: IMUs, force and torque, places, positions of joints."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sarrus.formats.writing.bodies import WrittenBodies
from sarrus.formats.writing.xml_text import add
from sarrus.mechanism.describe.measure import Measure
from sarrus.mechanism.describe.measures import Coordinate, Position
from sarrus.mechanism.describe.sensors import Accelerometer, ForceTorque, Gyroscope
from sarrus.mechanism.mechanism import Mechanism
from sarrus.mechanism.spec import MechanismSpec
from sarrus.models.tree.bodies import GROUND
from sarrus.models.tree.coordinates import claim

BALL_OR_FREE = (0, 1)  # mjtJoint


def read_sensors(
    spec: MechanismSpec,
    model: Any,
    bodies: Sequence[str],
    joints: Mapping[int, str],
    sites: Mapping[int, str],
) -> int:
    """Declare measures for the sensors that have one; returns how many have.

    Args:
        spec: The description that grows.
        model: The `mujoco.MjModel`.
        bodies: What its bodies are called here.
        joints: What its joints are called here.
        sites: What its sites are called here.
    """
    taken: set[str] = {name for name, _ in spec.measures}
    count = 0
    for i in range(model.nsensor):
        measure = _measure(model, i, bodies, joints, sites)
        if measure is not None:
            spec.measure(claim(model.sensor(i).name or f"sensor{i + 1}", taken), measure)
            count += 1
    return count


def _measure(
    model: Any, i: int, bodies: Sequence[str], joints: Mapping[int, str], sites: Mapping[int, str]
) -> Measure | None:
    import mujoco

    kinds, objects = mujoco.mjtSensor, mujoco.mjtObj
    kind, target = int(model.sensor_type[i]), int(model.sensor_objid[i])
    if kind == int(kinds.mjSENS_JOINTPOS) and int(model.jnt_type[target]) not in BALL_OR_FREE:
        return Coordinate(joints[target])
    if kind == int(kinds.mjSENS_FRAMEPOS) and int(model.sensor_refid[i]) < 0:
        of = int(model.sensor_objtype[i])
        names = sites if of == int(objects.mjOBJ_SITE) else dict(enumerate(bodies))
        known = of in (int(objects.mjOBJ_SITE), int(objects.mjOBJ_XBODY)) and target in names
        return Position(names[target]) if known else None
    if target not in sites:
        return None
    if kind == int(kinds.mjSENS_ACCELEROMETER):
        return Accelerometer(sites[target])
    if kind == int(kinds.mjSENS_GYRO):
        return Gyroscope(sites[target])
    parts = {int(kinds.mjSENS_FORCE): "force", int(kinds.mjSENS_TORQUE): "moment"}
    body = bodies[int(model.site_bodyid[target])] if kind in parts else GROUND
    return None if body == GROUND else ForceTorque(body, sites[target], parts[kind])


def write_sensors(mech: Mechanism, written: WrittenBodies, section: ET.Element) -> None:
    """Measures on frames, and of coordinates, as sensors; MuJoCo has none for the others."""
    for name, one in mech.model.measures:
        frame = one.frame if isinstance(one, ForceTorque) else getattr(one, "body", None)
        if isinstance(one, Coordinate):
            add(section, "jointpos", name=name, joint=one.coordinate)
        elif frame in written.apart and not np.any(getattr(one, "point", 0.0)):
            _write_on_frame(name, one, frame, written, section)


def _write_on_frame(name: str, one: Measure, frame: str, written: WrittenBodies, section: ET.Element) -> None:
    """A measure at the origin of a frame as a sensor of its site, where MuJoCo has one."""
    if isinstance(one, Accelerometer):
        add(section, "accelerometer", name=name, site=frame)
    elif isinstance(one, Gyroscope):
        add(section, "gyro", name=name, site=frame)
    elif isinstance(one, Position):
        add(section, "framepos", name=name, objtype="site", objname=frame)
    elif isinstance(one, ForceTorque) and _is_behind(written, one) and one.part != "wrench":
        add(section, "force" if one.part == "force" else "torque", name=name, site=frame)


def _is_behind(written: WrittenBodies, one: ForceTorque) -> bool:
    """Whether the site of a force sensor is on the body that MuJoCo takes the force of."""
    return written.frames[one.frame or one.body][0] == one.body

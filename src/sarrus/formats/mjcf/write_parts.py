"""Actuators, springs and shapes of a mechanism in MJCF."""

from __future__ import annotations

import math
import os
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from sarrus.formats.mjcf.sites import HELPING
from sarrus.formats.reading.messages import Omitted
from sarrus.formats.writing.bodies import WrittenBodies, WrittenJoint
from sarrus.formats.writing.xml_text import add, nonzero, number, numbers, wxyz
from sarrus.mechanism.mechanism import Mechanism
from sarrus.models.base.pose import Pose
from sarrus.models.kinds.actuator_law import ActuatorLaw
from sarrus.models.kinds.forces import ConstantWrench, JointDamper, JointSpring, PointSpring
from sarrus.models.tree.bodies import GROUND, UNLIMITED, Body
from sarrus.models.tree.joint import NodeKind

HELPING_SITES = str(HELPING)
MESHES = (".stl", ".obj", ".msh")  # files that MuJoCo reads
WRITTEN = (JointSpring, JointDamper, PointSpring, ConstantWrench)  # forces that MJCF can say
HALF = {"box": (0.5, 0.5, 0.5), "cylinder": (1.0, 0.5), "capsule": (1.0, 0.5)}


class JointExtras:
    """Armature, damping, friction and springs of joints as attributes of MJCF."""

    def __init__(self, mech: Mechanism, omitted: Omitted) -> None:
        self.omitted = omitted
        self.springs: dict[str, list[tuple[float, float]]] = {}
        self.dampers: dict[str, float] = {}
        for name, force in mech.model.forces:
            if not isinstance(force, WRITTEN):
                omitted.drop(f"force of type {type(force).__name__}", name)
            if isinstance(force, JointSpring):
                self.springs.setdefault(force.coordinate, []).append((force.stiffness, force.rest))
            if isinstance(force, JointDamper):
                self.dampers[force.coordinate] = self.dampers.get(force.coordinate, 0.0) + force.damping

    def of(self, joint: WrittenJoint) -> dict[str, str | None]:
        """Attributes of one joint."""
        body, first = joint.body, joint.first
        n = {NodeKind.BALL: 3, NodeKind.FREE: 6}.get(joint.kind, 1)
        names = body.coordinate_names[first : first + n]
        dampers = [self.dampers.get(name, 0.0) for name in names]
        damping = [x + y for x, y in zip(body.damping[first : first + n], dampers, strict=True)]
        parts = {
            "armature": list(body.armature[first : first + n]),
            "damping": damping,
            "frictionloss": list(body.friction[first : first + n]),
        }
        for what, values in parts.items():
            if len(set(values)) > 1:
                self.omitted.add(f"{what} that differs between the coordinates of a joint", joint.name)
        found = {what: nonzero(values[-1:]) for what, values in parts.items()}
        if any(body.breakaway[first : first + n]):
            self.omitted.add("friction at rest that exceeds sliding friction", joint.name)
        if any(body.stop_stiffness[first : first + n]):
            self.omitted.add("stiffness of stops (MuJoCo's limits have their own)", joint.name)
        springs = [one for name in names for one in self.springs.get(name, ())]
        stiffness = sum(k for k, _ in springs)
        if stiffness > 0.0:
            rest = sum(k * x for k, x in springs) / stiffness
            found |= {"stiffness": number(stiffness), "springref": number(rest)}
        return found


def write_springs(
    mech: Mechanism,
    written: WrittenBodies,
    elements: dict[str, ET.Element],
    sections: dict[str, ET.Element],
    pieces: Mapping[str, list[str]],
) -> None:
    """Point springs as spatial tendons, wrenches as gravity compensation or actuators without a signal.

    `pieces` are the elements that the mass of a body is in, its own and those of its helpers.
    """
    for name, force in mech.model.forces:
        if isinstance(force, PointSpring):
            lengths = {"stiffness": number(force.stiffness), "springlength": number(force.rest)}
            tendon = add(
                sections["tendon"], "spatial", name=name, damping=nonzero([force.damping]), **lengths
            )
            for side, body, point in (("a", force.a, force.p_a), ("b", force.b, force.p_b)):
                owner, at = written.frame(body, Pose(point))
                site = f"{name}.{side}"
                add(elements[owner], "site", name=site, group=HELPING_SITES, pos=nonzero(at.xyz))
                add(tendon, "site", site=site)
        if isinstance(force, ConstantWrench):
            owner, at = written.frame(force.body, Pose(force.point))
            lifted, parts = gravity_compensation(mech, force), pieces.get(force.body, ())
            if lifted is not None and parts and not any("gravcomp" in elements[x].attrib for x in parts):
                for part in parts:
                    elements[part].set("gravcomp", number(lifted))
                continue
            place = {"pos": nonzero(at.xyz), "quat": wxyz(at)}
            add(elements[owner], "site", name=f"{name}.at", group=HELPING_SITES, **place)
            axes = {}
            if force.frame == "world":
                axes["refsite"] = f"{name}.world"
                add(elements[GROUND], "site", name=f"{name}.world", group=HELPING_SITES)
            law = {"gaintype": "fixed", "gainprm": "0", "biastype": "affine", "biasprm": "1 0 0"}
            gear = numbers(np.ravel(force.wrench))
            add(sections["actuator"], "general", name=name, site=f"{name}.at", gear=gear, **axes, **law)


def gravity_compensation(mech: Mechanism, force: ConstantWrench) -> float | None:
    """The share of its weight by which a wrench lifts a body; None where it does something else."""
    body = mech.model.bodies[mech.model.body_index(force.body)]
    wrench, gravity = np.array(force.wrench, dtype=np.float64), np.array(mech.model.gravity)
    if force.frame != "world" or not np.array_equal(force.point, body.com) or np.any(wrench[3:]):
        return None
    weight = body.mass * gravity
    if not np.any(weight):
        return None
    share = -float(wrench[:3] @ weight / (weight @ weight))
    return share if np.allclose(wrench[:3], -share * weight, rtol=1e-12, atol=0.0) else None


def limits_in_words(limits: tuple[float, float]) -> str | None:
    """A range of MJCF; None where there is none."""
    if limits == UNLIMITED:
        return None
    return numbers(x if math.isfinite(x) else math.copysign(1e10, x) for x in limits)


def write_actuators(
    mech: Mechanism, tendons: Mapping[str, object], section: ET.Element, omitted: Omitted
) -> None:
    """Motors, or the laws that the file of the mechanism gave; `tendons` are coordinates written as such."""
    for actuator in mech.model.actuators:
        body = mech.model.tree.by_name.owners[actuator.index]
        laws = mech.laws.get(actuator.name, ())
        for law in laws or (_motor(actuator.name, (actuator.lower, actuator.upper)),):
            if body.joint.is_free:
                omitted.drop("actuator of a free joint", actuator.name)
            else:
                where = _transmission(actuator.name, body, law.gear, actuator.name in tendons)
                _write_law(section, where, law)


def _motor(name: str, limits: tuple[float, float]) -> ActuatorLaw:
    return ActuatorLaw(name, force_limits=None if limits == UNLIMITED else limits)


def _transmission(coordinate: str, body: Body, gear: float, tendon: bool) -> dict[str, str | None]:
    """What an actuator acts on, and its gear."""
    if body.joint.is_ball:
        gears = [gear if coordinate.endswith(x) else 0.0 for x in (".wx", ".wy", ".wz")]
        return {"joint": body.name, "gear": numbers(gears)}
    return {"tendon" if tendon else "joint": coordinate, "gear": number(gear) if gear != 1.0 else None}


def _write_law(section: ET.Element, where: dict[str, str | None], law: ActuatorLaw) -> None:
    limits = {
        name: None if value is None else numbers(np.clip(value, -1e10, 1e10))
        for name, value in (("ctrlrange", law.ctrl_limits), ("forcerange", law.force_limits))
    }
    servo = {} if law.is_motor and law.gain == 1.0 else {
        "gaintype": "fixed", "gainprm": number(law.gain), "biastype": "affine", "biasprm": numbers(law.bias)
    }  # fmt: skip
    tag = "general" if servo else "motor"
    add(section, tag, name=law.name, **where, **limits, **servo)


def write_visuals(
    mech: Mechanism,
    written: WrittenBodies,
    elements: dict[str, ET.Element],
    assets: ET.Element,
    folder: Path,
    omitted: Omitted,
) -> None:
    """Shapes as geoms that touch nothing and weigh nothing."""
    meshes: dict[tuple[str, tuple[float, ...]], str] = {}
    for one in (shape.simplified() for shape in mech.visuals):
        owner, at = written.frame(one.body, one.at)
        geom = {"type": one.shape, "pos": nonzero(at.xyz), "quat": wxyz(at), "rgba": numbers(one.rgba)}
        if one.shape == "mesh":
            key = (one.file, one.size)
            if not one.file.lower().endswith(MESHES) or not os.path.isfile(one.file):
                omitted.add("mesh that MuJoCo cannot read", one.file)
                continue
            if key not in meshes:
                meshes[key] = f"mesh{len(meshes) + 1}"
                file = os.path.relpath(one.file, folder)
                scale = None if one.size == (1.0, 1.0, 1.0) else numbers(one.size)
                add(assets, "mesh", name=meshes[key], file=file, scale=scale, inertia="shell")
            geom["mesh"] = meshes[key]
        else:
            half = HALF.get(one.shape, (1.0,) * len(one.size))
            geom["size"] = numbers(x * y for x, y in zip(one.size, half, strict=True))
        add(elements[owner], "geom", contype="0", conaffinity="0", group="2", mass="0", **geom)

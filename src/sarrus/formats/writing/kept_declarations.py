"""What URDF and SDF have no words for, kept in one element that our readers know.

The element holds JSON, with entries as in a description (`mechanism.schema`): "constraints" and "forces" with
their names, "joints" with armature and the like by coordinate, "laws", "actuators", and of a URDF "gravity"
and "balls", which it writes as three hinges. Bodies are named by links. Other readers ignore it, and what it
holds is listed when the file is written.
"""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from sarrus.constraints.rows import Constraint
from sarrus.errors import InputError, SarrusError, unknown_name
from sarrus.formats.json import parse_json
from sarrus.formats.reading.markup import Element
from sarrus.formats.reading.messages import FormatError, Omitted
from sarrus.formats.writing.bodies import WrittenBodies
from sarrus.formats.writing.xml_text import add
from sarrus.mechanism.describe.schema import (
    decode_contacts,
    decode_entry,
    encode_entry,
    encode_fields,
    law_of,
)
from sarrus.mechanism.mechanism import Mechanism
from sarrus.mechanism.spec import MechanismSpec
from sarrus.models.contacts.surfaces import Surface
from sarrus.models.kinds.forces import Force
from sarrus.models.tree.bodies import FRICTION_MODELS, GROUND, UNLIMITED, Body
from sarrus.models.tree.joint import Joint

URDF_TAG, SDF_TAG = "sarrus_declarations", "sarrus:declarations"
UNSAID = ("armature", "breakaway", "stop_stiffness", "stop_damping")  # of joints
OF_JOINTS = (*UNSAID, "damping", "friction", "friction_model")
WORDS = {
    "breakaway": "friction at rest that exceeds sliding friction",
    "stop_stiffness": "stiffness of stops",
    "stop_damping": "damping of stops",
    "friction_model": "friction that sticks",
}
KEYS = ("constraints", "forces", "joints", "laws", "actuators", "balls", "gravity", "surfaces", "contacts")
GRAVITY = (0.0, 0.0, -9.81)  # of readers [m/s^2]
ENDS = ("a", "b", "body")  # fields that name bodies


class KeptDeclarations:
    """Gathers what a writer cannot say.

    Args:
        mech: What is written.
        written: Its bodies in the file.
        omitted: Where it is listed.
        world: What the file calls the ground.
    """

    def __init__(self, mech: Mechanism, written: WrittenBodies, omitted: Omitted, world: str) -> None:
        self._mech, self._written, self._omitted, self._world = mech, written, omitted, world
        self._data: dict[str, Any] = {}

    def constraint(self, name: str, entry: Constraint) -> None:
        """Keep a constraint, or list it as dropped."""
        self._entry("constraint", name, entry)

    def force(self, name: str, entry: Force) -> None:
        """Keep a force, or list it as dropped."""
        self._entry("force", name, entry)

    def joint(self, body: Body, first: int, n: int, also: tuple[str, ...] = (), link: str = "") -> None:
        """Keep what belongs to n coordinates of a body and the format cannot say.

        Args:
            body: The declared body.
            first: The first of the coordinates.
            n: Their number.
            also: Properties that the format has words for, but not for these.
            link: The name that the reader gives to the joint, where it is not that of the body.
        """
        called = body.joint.coordinate_names(link) if link else body.coordinate_names
        for k in range(first, first + n):
            values = {name: getattr(body, name)[k] for name in (*UNSAID, *also)}
            own = {name: x for name, x in values.items() if x}
            rubs = body.friction[k] or body.breakaway[k]
            if rubs and body.friction_model != FRICTION_MODELS[0]:
                own["friction_model"] = body.friction_model
            if own:
                self._data.setdefault("joints", {})[called[k]] = own
            for name in own:
                self._omitted.keep(WORDS.get(name, name), called[k])

    def ball(self, name: str) -> list[str]:
        """The names of three hinges that stand for a ball joint."""
        hinges = [f"{name}.{axis}" for axis in "xyz"]
        self._data.setdefault("balls", {})[name] = hinges
        self._omitted.keep("ball joint, three hinges for others", name)
        return hinges

    def laws(self) -> None:
        """Keep the laws of servos."""
        for coordinate, laws in self._mech.laws.items():
            if not all(law.is_motor for law in laws):
                self._data.setdefault("laws", {})[coordinate] = [encode_fields(law) for law in laws]
                for law in laws:
                    self._omitted.keep("servo law of an actuator", law.name)

    def gravity(self) -> None:
        """Keep gravity, which a URDF does not say."""
        self._data["gravity"] = self._mech.model.gravity.tolist()
        self._omitted.keep("gravity other than (0, 0, -9.81)", "")

    def contacts(self) -> None:
        """Keep surfaces and pairs as they are, surfaces on the links of the file."""
        surfaces = [self._on_its_link(one) for one in self._mech.model.surfaces]
        if surfaces:
            self._data["surfaces"] = [encode_fields(one) for one in surfaces]
            self._data["contacts"] = [encode_fields(one) for one in self._mech.model.contacts]
            for one in self._mech.model.contacts:
                self._omitted.keep("which surfaces touch, with which friction", one.name)

    def _on_its_link(self, one: Surface) -> Surface:
        owner, at = self._written.frame(one.body, one.at)
        return replace(one, body=self._world if owner == GROUND else owner, at=at)

    def actuators(self, kind: str, name: str) -> None:
        """Keep all actuators, because the file cannot say one of them."""
        self._omitted.keep(kind, name)
        self._data["actuators"] = [
            {"name": one.name, "limits": _open(one.lower, one.upper)} for one in self._mech.model.actuators
        ]

    def write(self, parent: ET.Element, tag: str) -> None:
        """The element, where there is something to keep."""
        if self._data:
            add(parent, tag).text = json.dumps(self._data, allow_nan=False)

    def _entry(self, kind: str, name: str, entry: Any) -> None:
        called = f"{kind} of type {type(entry).__name__}"
        renamed = None if entry.holds_functions else self._renamed(entry)
        if renamed is None:
            self._omitted.drop(called, name)
            return
        self._data.setdefault(f"{kind}s", []).append(encode_entry(kind, name, renamed))
        self._omitted.keep(called, name)

    def _renamed(self, entry: Any) -> Any:
        """The entry with links for bodies; None where a frame of it is not that of a link."""
        links = {}
        for body in entry.bodies():
            if body in self._written.apart:
                links[body] = body
                continue
            owner, at = self._written.frames[body]
            if not at.is_identity:
                return None
            links[body] = self._world if owner == GROUND else owner
        return _with_bodies(entry, links.get)


def _open(lower: float, upper: float) -> list[float | None] | None:
    if (lower, upper) == UNLIMITED:
        return None
    return [x if abs(x) < float("inf") else None for x in (lower, upper)]


def _with_bodies(entry: Any, of: Callable[[str], str | None]) -> Any:
    ends = {key: getattr(entry, key) for key in ENDS if getattr(entry, key, None) in entry.bodies()}
    return replace(entry, **{key: of(name) or name for key, name in ends.items()}) if ends else entry


class ReadDeclarations:
    """What the element of a file holds.

    Args:
        element: The element, or None.
    """

    def __init__(self, element: Element | None) -> None:
        self._element = element
        self._data = {} if element is None else _checked(element)
        self._joints = self._data.get("joints", {})

    @property
    def gravity(self) -> tuple[float, ...]:
        """Gravity [m/s^2], (3,)."""
        given = self._data.get("gravity", GRAVITY)
        fine = isinstance(given, (list, tuple)) and len(given) == 3
        if self._element is not None and not (fine and all(isinstance(x, (int, float)) for x in given)):
            self._element.fail(f'"gravity" must be three numbers, got {given!r:.80}')
        return tuple(given)

    def has_armature(self, name: str) -> bool:
        """Whether a joint of one coordinate has armature."""
        return bool(self._joints.get(name, {}).get("armature"))

    def of_joint(self, joint: Joint, name: str) -> dict[str, Any]:
        """Further properties of a joint of this name."""
        own = [self._joints.get(coordinate, {}) for coordinate in joint.coordinate_names(name)]
        found: dict[str, Any] = {}
        for key in dict.fromkeys(key for one in own for key in one):
            values = [one.get(key, 0.0) for one in own]
            found[key] = next(filter(None, values)) if key == "friction_model" else tuple(values)
        return found

    def merge_balls(self, robot: Element) -> None:
        """Put one joint in place of the three hinges and two links of each ball."""
        balls = self._data.get("balls", {})
        joints = {one.attributes.get("name", ""): one for one in robot.all("joint")}
        for name, hinges in balls.items() if isinstance(balls, dict) else ():
            first, second, last = _three_joints(robot, name, hinges, joints)
            first.attributes |= {"name": name, "type": "spherical"}
            links = [one.one("child").text("link") for one in (first, second)]
            first.one("child").attributes["link"] = last.one("child").text("link")
            between = [one for one in robot.all("link") if one.attributes.get("name") in links]
            gone = {id(one) for one in (second, last, *between)}
            robot.children = [one for one in robot.children if id(one) not in gone]

    def surfaces(self, spec: MechanismSpec, bodies: Mapping[str, str]) -> bool:
        """Declare the surfaces and pairs that were kept; False where there are none."""
        if self._element is None or "surfaces" not in self._data:
            return False
        try:
            part = {key: self._data.get(key, []) for key in ("surfaces", "contacts")}
            for one in _listed(part, "surfaces"):
                one["body"] = bodies.get(one.get("body"), one.get("body"))
            decode_contacts(part, spec)
        except FormatError:
            raise
        except (SarrusError, TypeError, KeyError, ValueError, AttributeError) as error:
            self._element.fail(str(error).rstrip("."))
        return True

    def declare(self, spec: MechanismSpec, bodies: Mapping[str, str]) -> None:
        """Constraints, forces, actuators and laws; bodies by the links of the file."""
        if self._element is None:
            return
        try:
            for kind, known, add_to in (
                ("constraint", Constraint.written(), spec.constrain),
                ("force", Force.written(), spec.force),
            ):
                for data in _listed(self._data, f"{kind}s"):
                    name, entry = decode_entry(kind, data, known)
                    add_to(name, _with_bodies(entry, bodies.get))
            if "actuators" in self._data:
                spec.actuate()
                for one in _listed(self._data, "actuators"):
                    spec.actuate(one["name"], limits=one.get("limits"))
            for coordinate, laws in dict(self._data.get("laws", {})).items():
                spec.laws[coordinate] = tuple(map(law_of, laws))
        except FormatError:
            raise
        except (SarrusError, TypeError, KeyError, ValueError, AttributeError) as error:
            self._element.fail(str(error).rstrip("."))


def _listed(data: Mapping[str, Any], key: str) -> list[Any]:
    entries = data.get(key, [])
    if not isinstance(entries, list) or not all(isinstance(one, dict) for one in entries):
        raise InputError(f'"{key}" must be a list of objects')
    return entries


def _checked(element: Element) -> dict[str, Any]:
    """The declarations that an element holds."""
    data = parse_json(element.content.encode(), element.source)
    if not isinstance(data, dict) or not set(data) <= set(KEYS):
        element.fail(f"it must be a JSON object with some of the keys {', '.join(KEYS)}")
    joints = data.get("joints", {})
    if not isinstance(joints, dict) or not all(isinstance(one, dict) for one in joints.values()):
        element.fail('"joints" must be an object {coordinate: {property: value}}')
    for key in dict.fromkeys(key for one in joints.values() for key in one):
        if key not in OF_JOINTS:
            element.fail(str(unknown_name("property of a joint", key, OF_JOINTS)).rstrip("."))
    return data


def _three_joints(robot: Element, name: str, given: Any, joints: dict[str, Element]) -> list[Element]:
    """The hinges of a ball."""
    known = isinstance(given, list) and all(isinstance(one, str) and one in joints for one in given)
    if not known or len(given) != 3:
        robot.fail(f"the ball {name!r} must be three joints of the file, got {given!r:.80}")
    return [joints[one] for one in given]

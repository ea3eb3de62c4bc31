"""A description as plain data for JSON, and back. Versioned: a reader refuses what it does not know."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from ...arrays import text
from ...constraints.rows import Constraint
from ...errors import InputError, require_known
from ...models.base.expressions import Expression
from ...models.base.kind import Kind
from ...models.base.pose import Pose
from ...models.contacts.surfaces import ContactPair, Surface
from ...models.kinds.actuator_law import ActuatorLaw
from ...models.kinds.forces import Force
from ...models.kinds.formula_force import written
from ...models.shapes.floor import Floor
from ...models.shapes.shapes import Shape
from ...models.shapes.visual import Visual
from ...models.tree.bodies import Body
from ...models.tree.joint import Joint
from ...models.tree.tree import build_tree
from .default_state import DefaultState
from .measure import Measure

if TYPE_CHECKING:
    from ..spec import MechanismSpec

FORMAT = "sarrus"
VERSION = 1
KEYS = ("format", "version", "name", "gravity", "length", "bodies", "constraints", "forces", "actuators",
        "measures", "surfaces", "contacts", "laws", "visuals", "points", "floor", "omitted",
        "default")  # fmt: skip
T = TypeVar("T")


# ---------------------------------------------------------------------- writing


def encode(spec: MechanismSpec) -> dict[str, Any]:
    """A description as dicts, lists, strings and numbers."""
    data: dict[str, Any] = {"format": FORMAT, "version": VERSION, "name": spec.name}
    data["gravity"] = list(spec.gravity)
    if spec.length is not None:
        data["length"] = spec.length
    data["bodies"] = list(map(_encode_body, spec.bodies))
    data["constraints"] = _encode_entries("constraint", spec.constraints)
    data["forces"] = _encode_entries("force", spec.forces)
    if spec.actuated is not None:
        data["actuators"] = [{"name": name, "limits": _encode(limits)} for name, limits in spec.actuated]
    rest: dict[str, Any] = {
        "measures": _encode_entries("measure", spec.measures),
        "surfaces": [encode_fields(one) for one in spec.surfaces],
        "contacts": [encode_fields(one) for one in spec.contacts],
        "laws": {name: list(map(encode_fields, laws)) for name, laws in spec.laws.items()},
        "visuals": list(map(encode_fields, spec.visuals)),
        "points": {name: list(xyz) for name, xyz in spec.points},
        "floor": None if spec._floor is None else encode_fields(spec._floor),
        "omitted": list(spec.omitted),
        "default": _encode_default(spec),
    }
    return data | {key: value for key, value in rest.items() if value}


def _encode_default(spec: MechanismSpec) -> dict[str, list[float]] | None:
    """The state that it compiles to; None where its joints are others by now."""
    found = None if spec.default is None else spec.default.flat(build_tree(spec.bodies))
    return None if found is None else dict(zip("qv", found, strict=True))


def _encode_entries(kind: str, entries: Iterable[tuple[str, Any]]) -> list[dict[str, Any]]:
    return [encode_entry(kind, name, entry) for name, entry in entries]


def _encode(value: Any) -> Any:
    if isinstance(value, Pose):
        return _encode_pose(value)
    if isinstance(value, (Joint, Shape)):
        return _encode_kind(value)
    if isinstance(value, Expression):
        return written(value)
    if isinstance(value, tuple):
        return [_encode(item) for item in value]
    return None if isinstance(value, float) and math.isinf(value) else value


def _encode_pose(pose: Pose) -> dict[str, Any]:
    turned = (pose.rotation != Pose().rotation).any()
    said: dict[str, Any] = {"xyz": pose.xyz.tolist()}
    return said | {"matrix": pose.rotation.tolist()} if turned else said


def encode_fields(entry: ActuatorLaw | Visual | Floor | Surface | ContactPair) -> dict[str, Any]:
    """A law, a shape, a floor, a surface or a contact as a mapping."""
    return {name: _encode(value) for name, value in entry.data().items() if value is not None}


def _encode_kind(entry: Kind) -> dict[str, Any]:
    return {"type": type(entry).__name__} | {name: _encode(value) for name, value in entry.data().items()}


def _encode_body(body: Body) -> dict[str, Any]:
    plain = Body(body.name, body.parent, body.joint)
    values = {f.name: getattr(body, f.name) for f in dataclasses.fields(body)}
    changed = {name: _encode(value) for name, value in values.items() if getattr(plain, name) != value}
    return {"name": body.name, "parent": body.parent, "joint": _encode(body.joint)} | changed


def encode_entry(kind: str, name: str, entry: Kind) -> dict[str, Any]:
    """A named constraint, force or measure as a mapping; `kind` is its word in messages."""
    if entry.holds_functions:
        raise InputError(
            f"{kind} {name!r} ({type(entry).__name__}) holds Python functions and cannot be written as data; "
            "leave it out and add it again after loading."
        )
    return {"name": name} | _encode_kind(entry)


# ---------------------------------------------------------------------- reading


def decode(data: Mapping[str, Any], make: Callable[..., MechanismSpec]) -> MechanismSpec:
    """A description, begun by `make`, from what `encode` made; anything else is an error that says where."""
    data = _mapping(data, "a description", KEYS)
    if data.get("format") != FORMAT:
        raise InputError(f'a description must say "format": {FORMAT!r}, got {data.get("format")!r}.')
    if data.get("version") != VERSION or isinstance(data.get("version"), bool):
        raise InputError(f"this release reads version {VERSION} of the format, got {data.get('version')!r}.")
    spec = make(**{key: data[key] for key in ("gravity", "name", "length") if key in data})
    for entry in _list(data, "bodies"):
        spec.add(Body(**_values(Body, entry, "a body", ())))
    for entry in _list(data, "constraints"):
        spec.constrain(*decode_entry("constraint", entry, Constraint.written()))
    for entry in _list(data, "forces"):
        spec.force(*decode_entry("force", entry, Force.written()))
    if data.get("actuators") is not None:
        _decode_actuators(_list(data, "actuators"), spec)
    for entry in _list(data, "measures"):
        spec.measure(*decode_entry("measure", entry, Measure.written()))
    decode_contacts(data, spec)
    _decode_laws(data.get("laws", {}), spec)
    _decode_drawing(data, spec)
    spec.omitted = tuple(text(one, "an entry of omitted") for one in _list(data, "omitted"))
    if data.get("default") is not None:
        state = _mapping(data["default"], "the default state", ("q", "v"))
        spec.default = DefaultState.of(spec, *(_list(state, name) for name in ("q", "v")))
    return spec


def _decode_drawing(data: dict[str, Any], spec: MechanismSpec) -> None:
    """What pictures show: shapes, points and the floor."""
    for entry in _list(data, "visuals"):
        spec.visuals.append(Visual(**_values(Visual, entry, "a visual", ())))
    for name, xyz in _named(data, "points").items():
        spec.point(name, xyz)
    if data.get("floor") is not None:
        spec.floor(**_values(Floor, data["floor"], "the floor", ()))


def decode_contacts(data: dict[str, Any], spec: MechanismSpec) -> None:
    """Declare surfaces and contacts from mappings."""
    for entry in _list(data, "surfaces"):
        values = _values(Surface, entry, "a surface", ())
        values["shape"] = _decode_typed(
            values["shape"], f"shape of surface {values['name']!r}", Shape.written()
        )
        spec.surface(**values)
    for entry in _list(data, "contacts"):
        spec.contact(**_values(ContactPair, entry, "a contact", ()))


def _decode_actuators(entries: list[Any], spec: MechanismSpec) -> None:
    spec.actuate()
    for entry in entries:
        actuator = _mapping(entry, "an actuator", ("name", "limits"))
        spec.actuate(actuator.get("name"), limits=actuator.get("limits"))  # type: ignore[arg-type]


def _decode_laws(laws: Any, spec: MechanismSpec) -> None:
    for name, entries in _named({"laws": laws}, "laws").items():
        spec.laws[name] = tuple(map(law_of, _list({"laws": entries}, "laws")))


def _named(data: Mapping[str, Any], key: str) -> dict[str, Any]:
    """A mapping whose keys are names."""
    value = data.get(key, {})
    return _mapping(value, key, [*value] if isinstance(value, Mapping) else ())


def law_of(entry: Any) -> ActuatorLaw:
    """The law of an actuator from a mapping."""
    return ActuatorLaw(**_values(ActuatorLaw, entry, "a law", ()))


def _mapping(value: Any, what: str, keys: Sequence[str]) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise InputError(f"{what} must be a mapping, got {value!r:.80}.")
    for key in value:
        require_known("key", key, keys, what)
    return dict(value)


def _list(data: Mapping[str, Any], key: str) -> list[Any]:
    value = data.get(key, [])
    if not isinstance(value, (list, tuple)):
        raise InputError(f"{key} must be a list, got {value!r:.80}.")
    return list(value)


def _values(kind: type[Any], entry: Any, what: str, extra: Sequence[str]) -> dict[str, Any]:
    """Arguments for a declaration from a mapping: keys checked, poses and joints made."""
    fields = dataclasses.fields(kind)
    values = _mapping(entry, what, [*extra, *(f.name for f in fields)])
    for f in fields:
        if f.name not in values and _is_required(f):
            raise InputError(f"{what} needs {f.name!r}, got {', '.join(map(repr, values)) or 'nothing'}.")
    for name in ("at", "at_a", "at_b"):
        if name in values:
            values[name] = _decode_pose(values[name], f"{name} of {what}")
    if "joint" in values:
        values["joint"] = _decode_typed(values["joint"], f"joint of {what}", Joint.written())
    return values


def _is_required(f: dataclasses.Field[Any]) -> bool:
    """Whether a field has no default."""
    return f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING


def _decode_pose(value: Any, what: str) -> Pose:
    return Pose(**_mapping(value, what, ("xyz", "rpy", "quat", "matrix")))


def _decode_typed(value: Any, what: str, known: Mapping[str, type[T]], extra: Sequence[str] = ()) -> T:
    """An instance of one of the known classes, named by the key "type"."""
    if not isinstance(value, Mapping):
        raise InputError(f'{what} must be a mapping with a "type", got {value!r:.80}.')
    type_name = value.get("type")
    kind = known[require_known("type", type_name, known, what)]
    values = _values(kind, value, f"{what} ({type_name})", ("type", *extra))
    return kind(**{key: x for key, x in values.items() if key not in ("type", *extra)})


def decode_entry(kind: str, entry: Any, known: Mapping[str, type[T]]) -> tuple[str, T]:
    """Name and declaration from what `encode_entry` made, one of the known classes."""
    if not isinstance(entry, Mapping) or not isinstance(entry.get("name"), str):
        raise InputError(f'a {kind} must be a mapping with a "name", got {entry!r:.80}.')
    name = entry["name"]
    return name, _decode_typed(entry, f"{kind} {name!r}", known, ("name",))

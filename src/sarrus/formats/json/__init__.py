"""Descriptions as JSON files: versioned, written in one piece or not at all, every digit kept."""

from __future__ import annotations

import json
from typing import Any

from sarrus.errors import InputError, SarrusError
from sarrus.formats.reading.file_spec import FileSpec
from sarrus.formats.reading.messages import FormatError
from sarrus.mechanism.core.access import known_default
from sarrus.mechanism.describe.default_state import DefaultState
from sarrus.mechanism.mechanism import Mechanism
from sarrus.mechanism.spec import MechanismSpec


def json_bytes(what: Mechanism | MechanismSpec) -> bytes:
    """The content of a JSON file."""
    return (json.dumps(_data_of(what), indent=1, allow_nan=False) + "\n").encode()


def _data_of(what: object) -> dict[str, Any]:
    if isinstance(what, FileSpec):
        what = what.compile()  # whose loops fit, and whose default state is that of its file
    if isinstance(what, MechanismSpec):
        return what.to_dict()
    if not isinstance(what, Mechanism):
        raise InputError(f"save takes a Mechanism or a MechanismSpec, got {type(what).__name__}.")
    spec, state = spec_of(what), known_default(what)
    if state is not None:
        spec.default = DefaultState.of(spec, *state)
    return spec.to_dict()


def spec_of(mech: Mechanism) -> MechanismSpec:
    """The description a mechanism was compiled from, with the changes of `with_`; it names all actuators."""
    return MechanismSpec.from_declared(mech.model.declared)


def read_json(data: bytes, source: str) -> MechanismSpec:
    """A description from the content of a JSON file, with the default state that was written with it.

    Raises:
        FormatError: Where it is not JSON (with line and reason), or not a description.
    """
    content = parse_json(data, source)
    if not isinstance(content, dict):
        raise FormatError(f"{source}: a description is a JSON object, got {type(content).__name__}.")
    try:
        return MechanismSpec.from_dict(content)
    except SarrusError as error:
        raise FormatError(f"{source}: {error}") from None


def parse_json(data: bytes, source: str) -> Any:
    """What JSON text holds; a key that appears twice, infinities and the like are an error."""

    def refuse(constant: str) -> None:
        raise FormatError(f"{source}: {constant} is not a number that a description may contain.")

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name in names if names.count(name) > 1)
            raise FormatError(f"{source}: the key {twice!r} appears twice in one object.")
        return found

    try:
        return json.loads(data.decode("utf-8"), parse_constant=refuse, object_pairs_hook=unique)
    except json.JSONDecodeError as error:
        raise FormatError(
            f"{source}, line {error.lineno}, column {error.colno}: not JSON ({error.msg})."
        ) from None
    except UnicodeDecodeError as error:
        raise FormatError(f"{source}: its text is not UTF-8 ({error}).") from None
    except FormatError:
        raise
    except (RecursionError, ValueError) as error:  # nested too deeply; numbers with thousands of digits
        raise FormatError(f"{source}: cannot be read as JSON ({error}).") from None

"""Trajectories as files: NumPy arrays with a JSON head, versioned, written in one piece or not at all.

A file holds the description of the mechanism, so it can be read without the script that made it. A
description with Python functions cannot be stored; energy, constraint forces and multipliers are stored too.
"""

from __future__ import annotations

import json
import math
import os
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from ...arrays import Array, frozen
from ...dynamics.impact import Impact
from ...errors import InputError, SarrusError
from ...formats.json import spec_of
from ...mechanism.core.slot_modes import NAMES as WORDS
from ...mechanism.mechanism import Mechanism
from ...mechanism.spec import MechanismSpec
from ..contacts.contact_record import ContactRecord
from ..events.events import Event
from ..run.checkpoint import Checkpoint, restored_options, stored_options
from ..run.outcome import Outcome, Status
from ..system.step_records import Steps
from .stored_arrays import damaged, read_arrays, write_arrays

FORMAT, VERSION = "sarrus trajectory", 2
DERIVED = ("energy", "constraint_force", "lam")
EVENT_ARRAYS = ("q", "v", "singular_values")
EVENT_WORDS = ("name", "kind", "t", "rank", "terminal", "note", "closed", "opened")
FRICTION = ("friction", "friction_unique")
CONTACTS = ("force", "moment", "point", "slip", "work", "generalized")  # arrays of a ContactRecord
MOST_STEPS = 2.0**53  # numbers of a checkpoint that are counts


def save(
    path: str | os.PathLike[str],
    system: Any,
    run: Outcome,
    derived: dict[str, Array],
    contacts: ContactRecord | None = None,
) -> Path:
    """Write a trajectory; see `Trajectory.save`.

    Args:
        path: the file.
        system: what moved; None where it is not known.
        run: the outcome of the run.
        derived: arrays computed from the states, by the names in DERIVED.
        contacts: of surfaces that touch; None: there are none.
    """
    arrays: dict[str, Any] = {f"steps.{f.name}": getattr(run.steps, f.name) for f in fields(Steps)}
    arrays |= {"u": run.u} | derived
    for i, event in enumerate(run.events):
        arrays |= {f"event{i}.{name}": getattr(event, name) for name in EVENT_ARRAYS}
        if event.impact is not None:
            arrays |= {f"event{i}.impact.{f.name}": getattr(event.impact, f.name) for f in fields(Impact)}
    if run.checkpoint is not None and not run.stretches:
        arrays |= {f"checkpoint.{f.name}": getattr(run.checkpoint, f.name) for f in fields(Checkpoint)}
    optional = {"active": run.active, "friction": run.friction, "friction_unique": run.friction_unique}
    arrays |= {name: array for name, array in optional.items() if array is not None}
    if contacts is not None:
        arrays |= {f"contacts.{name}": getattr(contacts, name) for name in CONTACTS}
        arrays["contacts.mode"] = np.argmax(contacts.mode[..., None] == WORDS, axis=-1)
    head = {
        "format": FORMAT,
        "version": VERSION,
        "name": None if system is None else system.name,
        "length": 1.0 if system is None else system.length,
        "nfev": run.nfev,
        "status": int(run.status),
        "message": run.message,
        "events": [{word: getattr(e, word) for word in EVENT_WORDS} for e in run.events],
        "active_names": None if run.active is None else run.active_names,
        "contact_names": None if contacts is None else contacts.names,
        "options": stored_options(run.options),
        "description": _description(system),
    }
    arrays["head"] = np.frombuffer(json.dumps(head).encode(), dtype=np.uint8)
    return write_arrays(path, arrays)


Loaded = tuple[Any, Outcome, dict[str, Array], ContactRecord | None]


def load(path: str | os.PathLike[str], system: Any = None) -> Loaded:
    """The system, the outcome of its run, the arrays DERIVED by name, and contacts; see `Trajectory.load`."""
    arrays = read_arrays(path)
    try:
        head = _head(path, arrays)
        if system is None and head["description"] is not None:
            system = MechanismSpec.from_dict(head["description"]).compile()
        steps = _steps(arrays)
        if system is None:
            drifts = {name: getattr(steps, name) * head["length"] for name in ("drift", "velocity_drift")}
            steps = replace(steps, **drifts)
        elif (system.nq, system.nv) != (steps.q.shape[1], steps.v.shape[1]):
            raise InputError(
                f"{os.fspath(path)!r} holds a trajectory of {head['name']!r} with"
                f" nq = {steps.q.shape[1]}, nv = {steps.v.shape[1]}; the system given has"
                f" nq = {system.nq}, nv = {system.nv}."
            )
        run = _outcome(head, arrays, steps)
        derived = {name: _column(arrays, name, len(steps)) for name in DERIVED}
        return system, run, derived, _contacts(head, arrays, steps)
    except SarrusError:
        raise
    except Exception as error:  # whatever a damaged head leads to
        raise damaged(path, error) from None


def _outcome(head: dict[str, Any], arrays: dict[str, Any], steps: Steps) -> Outcome:
    options, missing = (None, ()) if head.get("options") is None else restored_options(head["options"])
    names = tuple(str(name) for name in head.get("active_names") or ())
    return Outcome(
        steps=steps,
        u=_shaped(arrays, "u", (len(steps), None)),
        events=tuple(_event(one, f"event{i}.", arrays) for i, one in enumerate(head["events"])),
        nfev=int(head["nfev"]),
        status=Status(head["status"]),
        message=str(head["message"]),
        options=options,
        checkpoint=_checkpoint(arrays),
        active=_shaped(arrays, "active", (len(steps), len(names))) if "active" in arrays else None,
        active_names=names,
        missing=missing,
        **{name: _shaped(arrays, name, steps.v.shape) for name in FRICTION if name in arrays},
    )


def _contacts(head: dict[str, Any], arrays: dict[str, Any], steps: Steps) -> ContactRecord | None:
    """Contacts of surfaces along the run; None where nothing could touch."""
    if head.get("contact_names") is None:
        return None
    names = tuple(str(name) for name in head["contact_names"])
    n, k = len(steps), len(names)
    shapes = {"work": (k,), "generalized": steps.v.shape}
    found = {
        name: frozen(_shaped(arrays, f"contacts.{name}", shapes.get(name, (n, k, 3)))) for name in CONTACTS
    }
    number = np.asarray(arrays["contacts.mode"])
    if number.shape != (n, k) or number.dtype != np.int64 or not np.isin(number, range(len(WORDS))).all():
        raise ValueError("its modes of contacts are not known")
    mode = np.asarray(WORDS[number])
    mode.flags.writeable = False
    return ContactRecord(names=names, mode=mode, **found)


def _steps(arrays: dict[str, Any]) -> Steps:
    """The states; all columns have as many rows as there are times."""
    n, nv = len(arrays["steps.t"]), arrays["steps.v"].shape[-1]
    widths = {"q": (n, None), "v": (n, nv), "a": (n, nv), "tau": (n, nv)}
    return Steps(*(_shaped(arrays, f"steps.{f.name}", widths.get(f.name, (n,))) for f in fields(Steps)))


def _shaped(arrays: dict[str, Any], name: str, shape: tuple[int | None, ...]) -> Any:
    """An array of this shape; None: any length."""
    array = arrays[name]
    if array.ndim != len(shape) or any(n not in (None, m) for n, m in zip(shape, array.shape, strict=True)):
        raise ValueError(f"{name} has shape {array.shape}, not {shape}")
    kind = {"steps.rank": np.int64, "active": np.bool_, "friction_unique": np.bool_}.get(name, np.float64)
    if kind is not np.float64 and array.dtype != kind:
        raise ValueError(f"{name} holds {array.dtype}")
    return np.asarray(array, dtype=kind)


def _column(arrays: dict[str, Any], name: str, n: int) -> Any:
    return _shaped(arrays, name, (n,) if name == "energy" else (n, None))


def _checkpoint(arrays: dict[str, Any]) -> Checkpoint | None:
    if "checkpoint.numbers" not in arrays:
        return None
    numbers = _shaped(arrays, "checkpoint.numbers", (None,))
    counts = numbers[-3:]  # rank, evaluations, steps
    if len(counts) < 3 or np.isnan(numbers).any() or not np.all((counts >= -1.0) & (counts < MOST_STEPS)):
        raise ValueError("its checkpoint is not one")
    u, energy = _shaped(arrays, "checkpoint.u", (None,)), _shaped(arrays, "checkpoint.energy", ())
    return Checkpoint(numbers, u, float(energy))


def _event(words: dict[str, Any], prefix: str, arrays: dict[str, Any]) -> Event:
    """One event; files of version 1 store fewer attributes."""
    known: dict[str, Any] = {word: tuple(x) if isinstance(x, list) else x for word, x in words.items()}
    known |= {name: _shaped(arrays, prefix + name, (None,)) for name in EVENT_ARRAYS}
    known["t"], known["rank"] = float(known["t"]), int(known.get("rank", -1))
    hit = {f.name: arrays.get(f"{prefix}impact.{f.name}") for f in fields(Impact)}
    if hit["v"] is not None:
        known["impact"] = Impact(
            **{name: x if x.ndim else x.item() for name, x in hit.items() if x is not None}
        )
    return Event(**known)


def _description(system: Any) -> dict[str, Any] | None:
    """The description of a mechanism; None where it contains Python functions."""
    if not isinstance(system, Mechanism):
        return None
    try:
        return spec_of(system).to_dict()
    except SarrusError:
        return None


def _head(path: str | os.PathLike[str], arrays: dict[str, Any]) -> dict[str, Any]:
    head = json.loads(arrays.pop("head").tobytes())
    if head["format"] != FORMAT:
        raise ValueError(f"its format is {head['format']!r:.80}")
    if head["version"] > VERSION:
        raise InputError(
            f"{os.fspath(path)!r} has version {head['version']} of the format, this library reads up to"
            f" {VERSION}; update sarrus."
        )
    if not (isinstance(head["length"], (int, float)) and math.isfinite(head["length"])):
        raise ValueError("its length is not a number")
    return dict(head)

"""Trajectories as files: NumPy arrays with a JSON head, versioned, written in one piece or not at all.

A file holds the description of the mechanism, so it can be read without the script that made it. A
description with Python functions cannot be stored; energy, constraint forces and multipliers are stored too.
"""

from __future__ import annotations

import io
import json
import os
import time
import zipfile
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from ...arrays import Array
from ...dynamics.impact import Impact
from ...errors import InputError, SarrusError
from ...formats.json import replace_file, spec_of
from ...mechanism.mechanism import Mechanism
from ...mechanism.spec import MechanismSpec
from ..events.events import Event
from ..run.checkpoint import Checkpoint, restored_options, stored_options
from ..run.outcome import Outcome, Status
from ..system.step_records import Steps

FORMAT, VERSION = "sarrus trajectory", 2
DERIVED = ("energy", "constraint_force", "lam")
EVENT_ARRAYS = ("q", "v", "singular_values")
EVENT_WORDS = ("name", "kind", "t", "rank", "terminal", "note", "closed", "opened")
STALE = 3600.0  # [s]: files that a crash left half written are removed when they are so old


def save(path: str | os.PathLike[str], system: Any, run: Outcome, derived: dict[str, Array]) -> Path:
    """Write a trajectory; see `Trajectory.save`.

    Args:
        path: the file.
        system: what moved; None where it is not known.
        run: the outcome of the run.
        derived: arrays computed from the states, by the names in DERIVED.
    """
    arrays: dict[str, Any] = {f"steps.{f.name}": getattr(run.steps, f.name) for f in fields(Steps)}
    arrays |= {"u": run.u} | derived
    for i, event in enumerate(run.events):
        arrays |= {f"event{i}.{name}": getattr(event, name) for name in EVENT_ARRAYS}
        if event.impact is not None:
            arrays |= {f"event{i}.impact.{f.name}": getattr(event.impact, f.name) for f in fields(Impact)}
    if run.checkpoint is not None:
        arrays |= {f"checkpoint.{f.name}": getattr(run.checkpoint, f.name) for f in fields(Checkpoint)}
    if run.active is not None:
        arrays["active"] = run.active
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
        "options": stored_options(run.options),
        "description": _description(system),
    }
    arrays["head"] = np.frombuffer(json.dumps(head).encode(), dtype=np.uint8)
    return _write(Path(path), arrays)


def load(path: str | os.PathLike[str], system: Any = None) -> tuple[Any, Outcome, dict[str, Array]]:
    """The system, the outcome of its run, and the arrays DERIVED by name; see `Trajectory.load`."""
    head, arrays = _read(Path(path))
    if system is None and head["description"] is not None:
        system = MechanismSpec.from_dict(head["description"]).compile()
    steps = Steps(*(arrays[f"steps.{f.name}"] for f in fields(Steps)))
    if system is None:
        drifts = {name: getattr(steps, name) * head["length"] for name in ("drift", "velocity_drift")}
        steps = replace(steps, **drifts)
    elif (system.nq, system.nv) != (steps.q.shape[1], steps.v.shape[1]):
        raise InputError(
            f"{os.fspath(path)!r} holds a trajectory of {head['name']!r} with nq = {steps.q.shape[1]}, nv ="
            f" {steps.v.shape[1]}; the system given has nq = {system.nq}, nv = {system.nv}."
        )
    options, missing = (None, ()) if head.get("options") is None else restored_options(head["options"])
    run = Outcome(
        steps=steps,
        u=arrays["u"],
        events=tuple(_event(one, f"event{i}.", arrays) for i, one in enumerate(head["events"])),
        nfev=head["nfev"],
        status=Status(head["status"]),
        message=head["message"],
        options=options,
        checkpoint=_checkpoint(arrays),
        active=arrays.get("active"),
        active_names=tuple(head.get("active_names") or ()),
        missing=missing,
    )
    return system, run, {name: arrays[name] for name in DERIVED}


def _checkpoint(arrays: dict[str, Any]) -> Checkpoint | None:
    if "checkpoint.numbers" not in arrays:
        return None
    numbers, u, energy = (arrays[f"checkpoint.{f.name}"] for f in fields(Checkpoint))
    return Checkpoint(numbers, u, float(energy))


def _event(words: dict[str, Any], prefix: str, arrays: dict[str, Any]) -> Event:
    """One event; files of version 1 store fewer attributes."""
    known: dict[str, Any] = {word: tuple(x) if isinstance(x, list) else x for word, x in words.items()}
    known |= {name: arrays[prefix + name] for name in EVENT_ARRAYS}
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


def _write(target: Path, arrays: dict[str, Any]) -> Path:
    if not target.parent.is_dir():
        raise InputError(
            f"the folder {str(target.parent)!r} of {target.name!r} does not exist; make it first:"
            f" pathlib.Path({str(target.parent)!r}).mkdir(parents=True)."
        )
    for left in target.parent.glob(f".{target.name}.*.part"):
        if time.time() - left.stat().st_mtime > STALE:
            left.unlink(missing_ok=True)
    replace_file(target, lambda file: np.savez_compressed(file, **arrays))
    return target


def _read(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
        head = json.loads(arrays.pop("head").tobytes())
        known = head["format"] == FORMAT
    except OSError as error:
        raise InputError(f"{str(path)!r} cannot be read: {error.strerror or error}.") from None
    except (ValueError, KeyError, TypeError, AttributeError, zipfile.BadZipFile):
        known = False
    if not known:
        raise InputError(f"{str(path)!r} is not a trajectory written by Trajectory.save.")
    if head["version"] > VERSION:
        raise InputError(
            f"{str(path)!r} has version {head['version']} of the format, this library reads up to {VERSION};"
            " update sarrus."
        )
    return head, arrays

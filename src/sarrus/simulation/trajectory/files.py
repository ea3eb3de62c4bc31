"""Trajectories as files: NumPy arrays with a JSON head, versioned, written in one piece or not at all.

The description of the mechanism travels along, so that a file can be read without the script that made it;
where it holds Python functions, which a file cannot keep, what follows from the states is stored instead.
"""

from __future__ import annotations

import io
import json
import os
import tempfile
import time
import zipfile
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...arrays import frozen
from ...dynamics.impact import Impact
from ...errors import InputError, SarrusError
from ...formats.json import spec_of
from ...mechanism.mechanism import Mechanism
from ...mechanism.spec import MechanismSpec
from ..run.checkpoint import Checkpoint, restored_options, stored_options
from ..run.step_records import Steps
from .events import Event

if TYPE_CHECKING:
    from .trajectory import Trajectory

FORMAT, VERSION = "sarrus trajectory", 2
DERIVED = ("energy", "constraint_force", "lam")
EVENT_ARRAYS = ("q", "v", "singular_values")
EVENT_WORDS = ("name", "kind", "t", "rank", "terminal", "note", "closed", "opened")
STALE = 3600.0  # [s]: files that a crash left half written are removed when they are so old


def save(trajectory: Trajectory, path: str | os.PathLike[str]) -> Path:
    """See `Trajectory.save`."""
    arrays = {f"steps.{f.name}": getattr(trajectory._steps, f.name) for f in fields(Steps)}
    arrays["u"] = trajectory.u
    for name in DERIVED:
        arrays[name] = getattr(trajectory, name)
    for i, event in enumerate(trajectory.events):
        arrays |= {f"event{i}.{name}": getattr(event, name) for name in EVENT_ARRAYS}
        if event.impact is not None:
            arrays |= {f"event{i}.impact.{f.name}": getattr(event.impact, f.name) for f in fields(Impact)}
    if trajectory._checkpoint is not None:
        arrays |= {
            f"checkpoint.{f.name}": getattr(trajectory._checkpoint, f.name) for f in fields(Checkpoint)
        }
    active = getattr(trajectory, "active", None)
    if active is not None:
        arrays["active"] = active
    system = trajectory.system
    head = {
        "format": FORMAT,
        "version": VERSION,
        "name": None if system is None else system.name,
        "length": 1.0 if system is None else system.length,
        "nfev": trajectory.nfev,
        "status": int(trajectory.status),
        "message": trajectory.message,
        "events": [{word: getattr(e, word) for word in EVENT_WORDS} for e in trajectory.events],
        "active_names": getattr(trajectory, "active_names", None),
        "options": stored_options(trajectory._options),
        "description": _description(system),
    }
    arrays["head"] = np.frombuffer(json.dumps(head).encode(), dtype=np.uint8)
    return _write(Path(path), arrays)


def load(path: str | os.PathLike[str], system: Any = None) -> Trajectory:
    """See `Trajectory.load`."""
    from .trajectory import Trajectory

    head, arrays = _read(Path(path))
    if system is None and head["description"] is not None:
        system = MechanismSpec.from_dict(head["description"]).compile()
    steps = Steps(*(arrays[f"steps.{f.name}"] for f in fields(Steps)))
    if system is not None and (system.nq, system.nv) != (steps.q.shape[1], steps.v.shape[1]):
        raise InputError(
            f"{os.fspath(path)!r} holds a trajectory of {head['name']!r} with nq = {steps.q.shape[1]}, nv ="
            f" {steps.v.shape[1]}; the system given has nq = {system.nq}, nv = {system.nv}."
        )
    events = tuple(_event(one, f"event{i}.", arrays) for i, one in enumerate(head["events"]))
    options, missing = (None, ()) if head.get("options") is None else restored_options(head["options"])
    said = head["nfev"], head["status"], head["message"]
    out = Trajectory(system, steps, arrays["u"], events, *said, options)
    out._missing = missing
    if "checkpoint.numbers" in arrays:
        numbers, u, energy = (arrays[f"checkpoint.{f.name}"] for f in fields(Checkpoint))
        out._checkpoint = Checkpoint(numbers, u, float(energy))
    if "active" in arrays:
        out.active, out.active_names = frozen(arrays["active"], bool), tuple(head["active_names"])  # type: ignore[attr-defined]
    for name in DERIVED:
        arrays[name].setflags(write=False)
        out.__dict__[name] = arrays[name]
    if system is None:
        out.drift, out.velocity_drift = (x * head["length"] for x in (steps.drift, steps.velocity_drift))
    return out


def _event(words: dict[str, Any], prefix: str, arrays: dict[str, Any]) -> Event:
    """One event; those of version 1 had fewer words."""
    known: dict[str, Any] = {word: tuple(x) if isinstance(x, list) else x for word, x in words.items()}
    known |= {name: arrays[prefix + name] for name in EVENT_ARRAYS}
    hit = {f.name: arrays.get(f"{prefix}impact.{f.name}") for f in fields(Impact)}
    if hit["v"] is not None:
        known["impact"] = Impact(
            **{name: x if x.ndim else x.item() for name, x in hit.items() if x is not None}
        )
    return Event(**known)


def _description(system: Any) -> dict[str, Any] | None:
    """A mechanism as data, if it is made of data only."""
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
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez_compressed(file, **arrays)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(0o644)
        os.replace(temporary, target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
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

"""Resume: a run that goes on from a checkpoint, and the whole trajectory."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ...arrays import number
from ...errors import InputError
from ..trajectory.events import UserWatch, user_events
from ..trajectory.trajectory import Status, Trajectory
from .checkpoint import Checkpoint
from .options import Options, check_given
from .run_loop import Simulation
from .step_records import Steps
from .system import Plant

Array = npt.NDArray[np.float64]


def resume(
    trajectory: Trajectory,
    t_end: float,
    control: Callable[..., Any] | None,
    tau: Any,
    external: Mapping[str, Any] | None,
    events: Any,
    t_eval: Any,
    progress: bool,
) -> Trajectory:
    """See `Trajectory.resume`."""
    options, point = trajectory._options, trajectory._checkpoint
    if trajectory.system is None or options is None or point is None:
        raise InputError(
            "this trajectory cannot be resumed: only runs in full coordinates, without switches, not ended by"
            " an event, and with their system at hand (Trajectory.load(path, system=...)), can. Start a new"
            " run from its last state instead."
        )
    plant = Plant(trajectory.system)
    given = {"control": control, "tau": tau, "external": external, "events": events}
    options = _completed(plant, options, trajectory._missing, given)
    end = number(t_end, "t_end of resume")
    if end <= trajectory.t[-1]:
        raise InputError(f"t_end must lie after the trajectory, {trajectory.t[-1]:g} s; got {t_end!r}.")
    options = dataclasses.replace(options, t1=end, progress=progress, t_eval=_times(t_eval, point.t, end))
    q, v = point.state(plant.nq, plant.nv)
    users = UserWatch(options.events, point.t, q, v)
    known = trajectory._steps[trajectory.t < point.t] if options.store_every == 1 else None
    new = Simulation(plant, options, users, q, v, point, known, limits=True).run()
    return _joined(trajectory, new, point)


def _completed(plant: Plant, options: Options, missing: tuple[str, ...], given: Mapping[str, Any]) -> Options:
    """Options with the functions that belong to them; those of a file have to be given anew."""
    new = {name: value for name, value in given.items() if not _nothing(value)}
    absent = [name for name in missing if name not in new and name != "events"]
    if absent:
        raise InputError(
            f"the run that was saved used {', '.join(absent)}, which a file cannot keep; give the same again:"
            f" resume(t_end, {', '.join(f'{name}=...' for name in absent)})."
        )
    checked = check_given(
        plant, options, {**{name: getattr(options, name) for name in ("control", "tau", "external")}, **new}
    )
    if "events" in new:
        checked = dataclasses.replace(checked, events=user_events(new["events"]))
    return checked


def _nothing(value: Any) -> bool:
    return value is None or (isinstance(value, (tuple, list, dict)) and not value)


def _times(t_eval: Any, begin: float, end: float) -> Array | None:
    if t_eval is None:
        return None
    times = np.atleast_1d(np.asarray(t_eval, dtype=float))
    if times.ndim != 1 or np.any(np.diff(times) <= 0.0) or times[0] <= begin or times[-1] > end:
        raise InputError(f"t_eval of resume must be increasing times after {begin:g} s, up to {end:g} s.")
    return times


def _joined(old: Trajectory, new: Trajectory, point: Checkpoint) -> Trajectory:
    """The old trajectory up to the checkpoint and the new one from there."""
    kept = old.t < point.t
    steps = Steps.joined([old._steps[kept], new._steps])
    u = np.concatenate([old.u[kept], new.u])
    events = [e for e in old.events if e.t <= point.t] + [e for e in new.events if e.t > point.t]
    out = Trajectory(
        new.system, steps, u, tuple(events), new.nfev, Status(new.status), new.message, new._options
    )
    out._checkpoint = new._checkpoint
    return out

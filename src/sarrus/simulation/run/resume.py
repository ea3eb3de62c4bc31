"""Resume: continue a run from its checkpoint, and join both parts."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...arrays import Array, number, numbers
from ...errors import InputError, SarrusError
from ..events.events import UserWatch, user_events
from ..events.switches import Plan, make_plan
from ..modes.mode_run import ModeRun
from ..stepping.options import Options
from ..system.system import System
from .checkpoint import Checkpoint
from .option_checks import check_given
from .outcome import Outcome
from .run_loop import Simulation
from .stretch import Kept, joined

FORCES = ("control", "tau", "external")


def resume(
    moved: Any, old: Outcome, t_end: float, given: Mapping[str, Any], plan: Plan | None = None
) -> tuple[Outcome, Any]:
    """Continue to a later time; see `Trajectory.resume`. Returns the whole run, and its modes if it has any.

    Args:
        moved: the system, or None where it is not known.
        old: the outcome of its run.
        t_end: new end [s].
        given: arguments of `Trajectory.resume`: control, tau, external, events, t_eval, progress.
        plan: of a run with switches.
    """
    options, point = old.options, old.checkpoint
    if moved is None or options is None or point is None:
        raise InputError(
            "this trajectory cannot be resumed: only runs in full coordinates, not ended by an event, and"
            " with their system at hand (Trajectory.load(path, system=...)), can; those with switches or dry"
            " friction not from a file. Start a new run from its last state instead."
        )
    modes: ModeRun | None = None
    if plan is not None or old.stretches:
        modes = ModeRun(moved, plan or make_plan(moved, (), False), options)
    system = System(moved) if modes is None else modes.whole
    options = _completed(system, options, old.missing, given)
    end, times = number(t_end, "t_end of resume"), old.steps.t
    if end <= times[-1]:
        raise InputError(f"t_end must lie after the trajectory, {times[-1]:g} s; got {t_end!r}.")
    t_eval = _times(given["t_eval"], point.t, end)
    options = dataclasses.replace(options, t1=end, progress=given["progress"], t_eval=t_eval)
    if modes is not None:
        modes.go_on(old.stretches[-1].part)
        own = [event for event in options.events if event.name not in modes.switching]
        options = dataclasses.replace(options, events=(*own, *modes.events()))
    q, v = point.state(system.nq, system.nv)
    users = UserWatch(options.events, point.t, q, v)
    known = old.steps[times < point.t] if options.store_every == 1 else None
    try:
        new = Simulation(system, options, users, q, v, modes=modes, checkpoint=point, before=known)
        new.require_fitting_checkpoint()
    except SarrusError:
        raise
    except Exception as error:
        raise InputError(
            "the options or the checkpoint of this trajectory cannot be used"
            f" ({type(error).__name__}: {error}); was it read from a damaged file? Start a new run from its"
            " last state instead."
        ) from None
    return _joined(old, new.run(), point), modes


def _completed(
    system: System, options: Options, missing: tuple[str, ...], given: Mapping[str, Any]
) -> Options:
    """Options completed by the functions given; those missing in a file must be given."""
    new = {name: given[name] for name in (*FORCES, "events") if not _nothing(given[name])}
    absent = [name for name in missing if name not in new and name != "events"]
    if absent:
        raise InputError(
            f"the run that was saved used {', '.join(absent)}, which a file cannot keep; give the same again:"
            f" resume(t_end, {', '.join(f'{name}=...' for name in absent)})."
        )
    before = {name: getattr(options, name) for name in FORCES}
    checked = check_given(system, options, {**before, **new})
    if "events" in new:
        checked = dataclasses.replace(checked, events=user_events(new["events"]))
    return checked


def _nothing(value: Any) -> bool:
    return value is None or (isinstance(value, (tuple, list, dict)) and not value)


def _times(t_eval: Any, begin: float, end: float) -> Array | None:
    if t_eval is None:
        return None
    times = np.atleast_1d(numbers(t_eval, "t_eval"))
    if (
        times.ndim != 1
        or not times.size
        or np.any(np.diff(times) <= 0.0)
        or times[0] <= begin
        or times[-1] > end
    ):
        raise InputError(f"t_eval of resume must be increasing times after {begin:g} s, up to {end:g} s.")
    return times


def _joined(old: Outcome, new: Outcome, point: Checkpoint) -> Outcome:
    """The old run up to the checkpoint and the new one from there."""
    before = old.stretches or (Kept(old.steps, old.u),)
    cut = [one.up_to(point.t) for one in before]
    parts = [one for one in cut if len(one.steps)] + list(new.stretches or (Kept(new.steps, new.u),))
    events = [e for e in old.events if e.t <= point.t] + [e for e in new.events if e.t > point.t]
    stretches = tuple(parts) if new.stretches else ()
    return dataclasses.replace(new, **joined(parts), events=tuple(events), stretches=stretches)

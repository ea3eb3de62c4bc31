"""Checkpoint: where a run can go on to the same bits, and the options that it must go on with.

A checkpoint is a state of the compiled run with what it owes to the steps before it. It is the last state,
or the one before the first step that the end of the run cut short: a run that goes on does not cut it.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..arrays import number
from ..errors import InputError
from .events import UserWatch, user_events
from .options import Options, check_given
from .plant import Plant
from .steps import Steps
from .trajectory import Status, Trajectory

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Array = npt.NDArray[np.float64]

STORED = """
    t0 t1 control_dt method dt rtol atol formulation coordinates
    correction baumgarte energy store_every jacobian
""".split()
FUNCTIONS = ("control", "tau", "external", "events")


@dataclass(frozen=True)
class Checkpoint:
    """A state of a compiled run.

    Attributes:
        numbers: t, q, v, tau and what the state owes to the steps before it, as the compiled run gives them.
        u: inputs of the actuators there (nu,).
        energy: the energy that is kept [J].
    """

    numbers: Array
    u: Array
    energy: float

    @property
    def t(self) -> float:
        """Time [s]."""
        return float(self.numbers[0])

    @property
    def steps(self) -> int:
        """Number of steps before it."""
        return int(self.numbers[-1])

    def state(self, nq: int, nv: int) -> tuple[Array, Array]:
        """q (nq,) and v (nv,)."""
        return self.numbers[1 : 1 + nq], self.numbers[1 + nq : 1 + nq + nv]


def stored_options(options: Options | None) -> dict[str, Any] | None:
    """Options as plain data, with what cannot be stored named; None where a run cannot go on."""
    if options is None or not isinstance(options.coordinates, str):
        return None
    head: dict[str, Any] = {name: getattr(options, name) for name in STORED}
    constant = isinstance(options.tau, np.ndarray)
    head["tau"] = options.tau.tolist() if isinstance(options.tau, np.ndarray) else None
    given: dict[str, Any] = {"control": options.control, "tau": None if constant else options.tau}
    given |= {"external": options.external or None, "events": options.events or None}
    head["functions"] = [name for name, value in given.items() if value is not None]
    return head


def restored_options(head: Mapping[str, Any]) -> tuple[Options, tuple[str, ...]]:
    """Options from plain data, and the names of what is missing in them."""
    values: dict[str, Any] = {name: head[name] for name in STORED}
    values["baumgarte"] = tuple(values["baumgarte"])
    tau = None if head["tau"] is None else np.array(head["tau"])
    none: dict[str, Any] = {"control": None, "t_eval": None, "events": (), "external": {}, "progress": False}
    return Options(**values, **none, tau=tau), tuple(head["functions"])


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
    from .run import Simulation

    options, point = trajectory._options, trajectory._checkpoint
    if trajectory.system is None or options is None or point is None:
        raise InputError(
            "this trajectory cannot be resumed: only runs in full coordinates by rk4, semi_implicit_euler or"
            " dopri5, without switches and not ended by an event, and with their system at hand"
            " (Trajectory.load(path, system=...)), can. Start a new run from its last state instead."
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
    checked = check_given(plant, options, {**{name: getattr(options, name) for name in FUNCTIONS[:3]}, **new})
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

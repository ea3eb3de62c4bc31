"""Inputs: the callback through which the compiled steps get everything that Python functions supply.

At (t, q, v) it returns the applied force, the drives, the rows of user constraints, and M and h where the
system supplies them. A controller is called at every stage, or at its sample times with u held in between.
An error in a user's function stops the run; its text and traceback become the message of the run.
"""

from __future__ import annotations

import math
import traceback
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...arrays import Array, state
from ...errors import InputError, SarrusError
from ..system.system import Supplied, System
from .options import Options

FIRST_STAGE = 0  # number of the first stage of a step; it is at a state that is recorded
BETWEEN_STEPS = 99  # stage where a mode changes: forces without `further_force`, no sample is due
SYSTEM = "a function of the system"
TIME_ROUNDING = 2e-15  # of a time: where modes end is known to 9e-16; a sample is due so shortly before


class BadAnswerError(InputError):
    """A user's function returned a value of the wrong type, shape or range."""


@dataclass(frozen=True)
class Failure:
    """The failure of a user's function that stopped a run; with a traceback where it raised."""

    message: str
    interrupted: bool

    @staticmethod
    def of(error: BaseException, who: str, t: float, ours: bool = False) -> Failure:
        """Keeps only the text: an exception would keep all objects of its frames alive.

        Args:
            error: what was raised.
            who: name of the function in the message.
            t: time [s].
            ours: whether to leave out the traceback of errors of this library.
        """
        said = f"{who} stopped the run at t = {t:.9g} s: "
        if isinstance(error, BadAnswerError) or (ours and isinstance(error, SarrusError)):
            return Failure(said + str(error), False)
        inside = error.__traceback__
        while inside is not None and inside.tb_frame.f_code.co_filename == __file__:
            inside = inside.tb_next
        text = "".join(traceback.format_exception(type(error), error, inside))
        said += f"it raised {type(error).__name__}: {error}\n{text}"
        return Failure(said, isinstance(error, KeyboardInterrupt))


class Inputs:
    """Called by the compiled run as inputs(t, q, v, stage); returns None where a function failed."""

    def __init__(self, system: System, options: Options) -> None:
        self._system, self._options = system, options
        # a bad load is refused here, before anything runs
        self._external = [_Load(system, body, given) for body, given in options.external.items()]
        self._u = np.zeros(system.nu)
        self._samples, self._sample_before = 0, self._u
        self.asked_at_samples = False  # the compiled run asks for forces at samples only, and holds them
        self._mode = -1  # number of the mode that has been chosen
        self._log: list[tuple[int, float, Array]] = []  # mode, time and u
        self.failure: Failure | None = None
        self.stage = FIRST_STAGE
        self.applied = self.tau = np.zeros(system.nv)

    @property
    def needed(self) -> bool:
        """Whether the run has to call the inputs at all."""
        o, further = self._options, self._system.further_force
        forces = o.control, o.tau, o.external or None, further
        return self._system.called_at_every_stage or any(x is not None for x in forces)

    @property
    def sampled(self) -> bool:
        """Whether one call per sample (or per run) is enough."""
        held = not self._system.called_at_every_stage and self._system.further_force is None
        return held and not self._options.feedback

    def __call__(self, t: float, q: Array, v: Array, stage: int) -> Supplied | None:
        who = SYSTEM
        try:
            self.stage = stage
            called = self._system.called(t, q, v)
            if stage >= FIRST_STAGE:
                tau = np.zeros(self._system.nv)
                for load in self._external:
                    who = "external"
                    tau += load.force(t, q)
                who = "tau"
                tau += self._applied(t, q, v)
                who = "control"
                tau[self._system.actuated] += self._control(t, q, v, stage)
                self.applied = self.tau = tau
                if self._system.further_force is not None and stage != BETWEEN_STEPS:
                    who = SYSTEM
                    self.tau = tau + self._system.further_force(t, q, v, tau)
            return Supplied(self.tau, *called)
        except (Exception, KeyboardInterrupt) as error:
            self.failure = Failure.of(error, who, t, who == SYSTEM)
            return None

    def restore(self, t: float, u: Array) -> None:
        """Continue at time t [s] with the inputs u (nu,) of the last sample at or before it."""
        self._u, self._log = u, [(self._mode, t, u)]
        if self._options.control_dt is not None:
            self._samples = self._samples_until(t, self._options.control_dt)

    def next_mode(self) -> None:
        """What is asked for from here on belongs to the next mode of the run."""
        self._mode += 1

    def forget_after(self, t: float) -> None:
        """The steps after time t [s] are not taken."""
        while self._log and self._log[-1][1] > t:
            del self._log[-1]
        if self._log:
            self._u = self._log[-1][2]

    def inputs_at(self, times: Array, mode: int = 0) -> Array:
        """u (k, nu) at the recorded states of a mode at times (k,); forgets those of earlier times."""
        known = 0
        while known < len(self._log) and self._log[known][0] <= mode:
            known += 1
        if self._options.control is None or not known:
            return np.zeros((len(times), self._system.nu))
        asked = np.array([t for _, t, _ in self._log[:known]])
        which = np.maximum(np.searchsorted(asked, times, side="right") - 1, 0)
        out = np.array([self._log[i][2] for i in which]).reshape(len(times), self._system.nu)
        if len(which):
            del self._log[: int(which[-1])]
        return out

    def _applied(self, t: float, q: Array, v: Array) -> Array | float:
        tau = self._options.tau
        if not callable(tau):
            return 0.0 if tau is None else tau
        return _checked(tau(t, q.copy(), v.copy()), "tau", self._system.nv, "tau(t, q, v)")

    def _control(self, t: float, q: Array, v: Array, stage: int) -> Array:
        o = self._options
        if o.control is None:
            return self._u
        if o.control_dt is not None:
            self._went_back(t, o.control_dt)
        if o.control_dt is None or (stage == FIRST_STAGE and self._due(t, o.control_dt)):
            given = o.control(t, q.copy(), v.copy())
            self._sample_before, self._u = self._u, _checked(given, "u", self._system.nu, "control(t, q, v)")
        if stage == FIRST_STAGE:
            self._note(t)
        return self._u

    def _note(self, t: float) -> None:
        """Keep u of a state that may be recorded; a step that is taken again replaces what it said before."""
        while self._log and self._log[-1][0] == self._mode and self._log[-1][1] > t:
            del self._log[-1]
        self._log.append((self._mode, t, self._u))

    def _due(self, t: float, control_dt: float) -> bool:
        """Whether a sample is to be taken at time t [s]."""
        if self.asked_at_samples:
            return True
        known, self._samples = self._samples, self._samples_until(t, control_dt)
        return self._samples > known

    def _samples_until(self, t: float, control_dt: float) -> int:
        """Number of samples up to time t [s], that at the time itself included."""
        return math.floor((t - self._options.t0 + TIME_ROUNDING * abs(t)) / control_dt) + 1

    def _went_back(self, t: float, control_dt: float) -> None:
        """Before the latest sample, in a step that is taken again, u is that of the sample before."""
        if not self.asked_at_samples and self._samples > self._samples_until(t, control_dt):
            self._samples -= 1
            self._u = self._sample_before


class _Load:
    """A wrench on a body: constant, or a function of time; at the body's origin or at a point."""

    def __init__(self, system: System, body: str, given: Any) -> None:
        self._what = f"external wrench on {body!r}"
        self._system, self._body = system, system.model.body_index(body, "external")
        pair = isinstance(given, tuple) and len(given) == 2
        pair = pair and (isinstance(given[1], str) or np.ndim(given[1]) == 1)
        self._wrench, point = given if pair else (given, np.zeros(3))
        point = system.original._point(body, point)
        self._point = np.ascontiguousarray(state(point, f"point of the {self._what}", 3))
        if not callable(self._wrench):
            self._value(self._wrench)

    def force(self, t: float, q: Array) -> Array:
        """Generalized force (nv,)."""
        wrench = self._value(self._wrench(t) if callable(self._wrench) else self._wrench)
        J = self._system.kernel.jacobian(q[None], self._body, self._point)[0]
        return np.asarray(J.T @ wrench)

    def _value(self, given: Any) -> Array:
        wrench = state(given, f"{self._what} (force, then moment, world axes)", 6)
        if wrench.ndim != 1:
            raise InputError(f"{self._what} must have shape (6,), got {wrench.shape}.")
        return wrench


def _checked(value: Any, what: str, n: int, function: str) -> Array:
    """The value that a user's function returned, as n finite numbers; a single number counts as a vector."""
    if value is None:
        raise BadAnswerError(f"{function} must return {what} with shape ({n},), but it returned None.")
    if isinstance(value, np.ndarray) and value.shape == (n,) and value.dtype == np.float64:
        array = value
    else:
        try:
            array = np.atleast_1d(np.asarray(value, dtype=float))
        except (TypeError, ValueError):
            raise BadAnswerError(f"{function} must return {what} with shape ({n},), got {value!r}.") from None
    if array.shape != (n,):
        raise BadAnswerError(f"{function} must return {what} with shape ({n},), got shape {array.shape}.")
    if not np.isfinite(array).all():
        raise BadAnswerError(f"{function} must return finite numbers, got {array.tolist()}.")
    return array.copy()

"""Single steps in time of a Mechanism, and why a step may fail."""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..._kernel import RunOptions, StepStatus, methods
from ...arrays import Array, one_of, positive, positive_whole
from ...dynamics.bearing_friction import no_force
from ...dynamics.derivatives import derivatives
from ...dynamics.friction_refusals import refuse_rest, refuse_stops
from ...dynamics.step_derivatives import StepDerivatives, projection_slopes
from ...errors import AssemblyError, InputError, SarrusError, SingularConstraintError, warn
from ...tracing.cuda_device import on_cuda
from ..core.contact_refusals import has_contacts
from ..core.core import Core, State, whole
from ..core.modes import Mode
from .contact_slopes import touched_slopes
from .contact_steps import (
    AskedStep,
    refuse_chosen_steps,
    refuse_on_device,
    start_mode,
    surfaces_act,
    touched_steps,
    why_not_apart,
)
from .copied_steps import advanced, apart
from .device_steps import device_step
from .unusable_states import without_unusable

if TYPE_CHECKING:
    from ..mechanism import Mechanism

SHORTEST = 1e-14  # smallest step of methods that choose theirs, relative to the largest time
TROUBLE = {
    StepStatus.SINGULAR_INERTIA: "the mass matrix is not positive definite along the directions that the"
    " constraints leave free; give what moves there mass or inertia",
    StepStatus.NOT_FINITE: "numbers grew beyond all bounds; the step is too long for this motion, or the"
    ' system is unstable: take a smaller dt, or method="dopri5"',
    StepStatus.NOT_CLOSED: "the constraints could not be closed at the end of a step; it is too long for this"
    " motion, or drives ask for what the mechanism cannot do: take a smaller dt",
    StepStatus.STEP_COLLAPSED: "the step size fell below the resolution of time; the solution is not smooth"
    " there (a force that jumps with the sign of a velocity: sr.CoulombFriction sticks instead), or the"
    " tolerances rtol, atol cannot be met",
    StepStatus.UNRESOLVED: "the motion passes close to a singular pose that is not on the constraints, and"
    " steps of this size would jump to another branch there: take a smaller dt, or an adaptive method",
    StepStatus.SINGULAR_WITHIN: "J loses rank within the step, at a singular pose, and the step has no"
    " derivatives there; take states that are at least a step away from it",
    StepStatus.UNSETTLED: "friction by load finds no force: more friction makes more load, so that the"
    " machine jams or has no motion; take a smaller mu",
    StepStatus.OPEN_GAP: "a constraint was to close where it is open; close it where it is with latch=True,"
    " or when it is closed",
    StepStatus.CHATTER: "contacts or friction changed 60 times within one step: no motion goes on there for"
    " any length of time, or the step is too long; take a shorter one, let contacts stick (latch=True), or"
    " use stiff stops (stop_stiffness)",
    StepStatus.NO_MODE: "friction was to hold coordinates that cannot stop there without a jump of the"
    " velocity, next to a singular pose; take a shorter step",
    StepStatus.CONTRADICTION: "no velocity satisfies all that closes there. A drive contradicts what closes;"
    " open one of them",
    StepStatus.CONTACT_UNSOLVED: "CONTACT_UNSOLVED: the forces of contacts were not found to 1e-10 of the"
    " largest one; parts jam, or friction has no motion there",
    StepStatus.CONTACT_PRESSED: "CONTACT_PRESSED: a contact closes whose parts cannot give way; a driven part"
    " is pressed into an obstacle, or loops hold it",
    StepStatus.CONTACT_PAINLEVE: "CONTACT_PAINLEVE: a contact slides whose push would pull its parts together"
    " (Painleve's configuration): no motion goes on there, or two do; take less friction",
    StepStatus.CONTACT_TOO_MANY: "CONTACT_TOO_MANY: more than 200 points with friction (600 rows) touch at"
    " one time; declare fewer pairs, or simpler shapes",
}
METHODS = {method.name: method for method in methods()}
MOST_LOST = 1e-2  # by one step: as much as a whole rollout may lose before it warns


@cache
def _fixed_options(method: str) -> RunOptions:
    options = RunOptions()
    options.method = method
    return options


def step_options(method: str, end: float) -> RunOptions:
    """Options of the compiled steps of a method, for times up to `end` [s]; tolerances are the default."""
    if not METHODS[method].adaptive:
        return _fixed_options(method)
    options = RunOptions()
    options.method, options.atol_in_units, options.least_step = method, True, SHORTEST * abs(end)
    return options


class TimeSteps(Core):
    """Single steps in time."""

    def step(
        self,
        q: npt.ArrayLike,
        v: npt.ArrayLike,
        u: npt.ArrayLike | None = None,
        dt: float = 1e-3,
        t: float = 0.0,
        *,
        tau: npt.ArrayLike | None = None,
        method: str = "rk4",
        substeps: int = 1,
        mode: Mode | None = None,
        contacts: str = "steps",
    ) -> State:
        """The state after a step of dt, on the constraints. Batch axes allowed; batches use all cores.

        CuPy, Torch and JAX arrays on a CUDA device are stepped there, with the method "rk4", and the state is
        of the same kind; see docs/code.md.

        It depends on its arguments only: made for loops of your own, such as environments and predictive
        control. `simulate` and `rollout` know their steps before, which matters in the last digits, and
        report events. Where dry friction sticks or begins to slide, or a contact or stop of the mode closes
        or opens, it does so within the step. Small errors in the constraints of (q, v) are corrected first;
        poses that are open by more than 1e-2 rad (or L) are refused: `project` them.

        Args:
            q: positions (nq,) [rad, m].
            v: velocities (nv,) [rad/s, m/s].
            u: actuator inputs (nu,) [N m, N], held over the step; default none.
            dt: length of the step [s].
            t: time at its beginning [s]; with drives it must be given, or they stand still.
            tau: applied generalized force (nv,) [N m, N], held over the step and added to u; default none.
            method: integrator, see docs/motion.md; those that choose their steps arrive at t + dt.
            substeps: number of equal steps that dt is divided into.
            mode: which constraints are closed, that of another state (`State.mode`, `Rollout.mode`). Default:
                all of them, friction as (q, v) says.
            contacts: "steps": surfaces that touch push, stick, slide and rebound (docs/contacts.md); or
                "ignore": they go through each other. Without contact the bits are the same.

        Returns:
            The pair (q, v), with its `mode` where rows can change. In a batch a state that has no step, or
            whose arguments are not finite, is NaN with a `status` other than 0, an `int` of
            `sarrus._kernel.StepStatus`; `sarrus.mechanism.query.time_steps.TROUBLE` says what they mean.
            `step_error` estimates what the step has lost; above 1e-2 it is a SarrusWarning, too.

        Raises:
            SarrusError: the step of a single state failed; the message says why.
        """
        acts = (contacts != "steps" or has_contacts(self.model)) and surfaces_act(
            self.model, contacts, "step"
        )
        if type(q) is not np.ndarray and on_cuda(q):
            refuse_on_device(acts, "step")
            return device_step(whole(self), (q, v, u, tau), dt, substeps, method)
        if self._modes is not None or (mode is not None and not acts):
            return self._modal_step((q, v, u, tau), (t, dt, substeps), method, mode)
        dt, substeps, options = _checked(dt, substeps, method, t)
        after, states, touched = self._free_step((q, v, u, tau), (t, dt, substeps), options, acts)
        if acts:
            refuse_chosen_steps(METHODS[method], "step")
            begun = start_mode(whole(self), mode, "mode")
            asked = AskedStep(states, (t, dt, substeps), options, begun)
            after = touched_steps(whole(self), after, touched, asked)
        if type(after.status) is int and after.status:
            raise self._no_step(after.status, q)
        if _beyond(after.step_error):
            self._warn_of_loss(after.step_error, dt, method)
        return after

    def _free_step(
        self, states: tuple[Any, ...], time: tuple[float, float, int], options: RunOptions, watch: bool
    ) -> tuple[State, tuple[Any, ...], Any]:
        """The states after a step without contacts, the arguments (usable ones), and where surfaces touch."""
        given = (self._actuated, self._applied), time, options, self.evaluator, watch
        try:
            found = self._queries.step(states, *given)
        except InputError:
            usable = without_unusable(states, whole(self).default)
            if usable is None:
                raise
            states = usable[0]
            found = self._queries.step(states, *given)
            nothing = np.nan, np.nan, StepStatus.NOT_FINITE.value, np.nan, 0
            for x, no in zip(found[: 5 if watch else 4], nothing, strict=False):
                x[usable[1]] = no
        q1, v1, status, error, touched = found
        return State(q1, v1, 0.0, status, None, error), states, touched

    def _warn_of_loss(self, error: float | Array, dt: float, method: str) -> None:
        """That a step, or some of a batch, has nothing to do with the motion any more."""
        each = np.ravel(error)
        lost = np.flatnonzero(each > MOST_LOST)
        which = (
            f"{len(lost)} states of the batch, the first is number {lost[0]}"
            if np.ndim(error)
            else "this state"
        )
        most = float(each[lost].max())
        size = f"about {most:.0e} of it" if most < 1.0 else "as large as it is"
        warn(
            f"step of {self._owner}: {dt:.3g} s by {method!r} are too long for the motion of {which}, or the"
            f" state is between branches of a singular pose. The error is {size}, see State.step_error. Take"
            ' a smaller dt, substeps or method="dopri5"; mech.branches(q) lists the directions that leave a'
            " singular pose."
        )

    def _modal_step(
        self, given: tuple[Any, ...], time: tuple[float, float, int], method: str, mode: Mode | None
    ) -> State:
        """Steps of states q, v, u, tau whose mode may change; time: t, dt [s], substeps."""
        q, v, u, tau = given
        t, dt, substeps = (
            self._time(time[0]),
            positive(time[1], "`dt`"),
            positive_whole(time[2], "`substeps`"),
        )
        options = step_options(one_of(method, "`method`", tuple(METHODS)), t + dt)
        force = self._applied(q, tau, u, None)
        states, batch = self._arguments.states([(q, "q", True), (v, "v", False), (force, "tau", False)])
        (q0, v0, tau), count = states, len(states[0])
        modes = self._modes if mode is None else mode.modes
        assert modes is not None
        begun = modes.begin(t, [self.model]) if mode is None else mode
        width = begun.numbers.shape[-1]
        numbers = np.broadcast_to(begun.numbers.reshape(-1, width), (count, width))
        if mode is None and self.nc:
            project = whole(self).project
            q0, v0 = project(q0, v0, t) if batch else (x[None] for x in project(q0[0], v0[0], t))
        start = q0, v0, np.ascontiguousarray(tau)[:, None], np.ascontiguousarray(numbers)
        copies, finer = (advanced(whole(self), modes, start, (t, dt, substeps * k), options) for k in (1, 2))
        status = np.asarray(copies.status).astype(int)
        if not batch and status[0]:
            raise self._no_step(int(status[0]), q)
        after = [np.where(status[:, None] == 0, x, np.nan) for x in (copies.q, copies.v)]
        q, v = (x.reshape(*batch, x.shape[-1]) for x in after)
        found = Mode(modes, np.asarray(copies.modes).reshape(*batch, -1))
        gain = 2.0 ** METHODS[method].order
        lost = apart(whole(self), copies, finer, v0) * gain / (gain - 1.0)
        error = lost.reshape(batch) if batch else float(lost[0])
        if _beyond(error):
            self._warn_of_loss(error, dt, method)
        return State(q, v, 0.0, status.reshape(batch) if batch else 0, found, error)

    def step_derivatives(
        self,
        q: npt.ArrayLike,
        v: npt.ArrayLike,
        u: npt.ArrayLike | None = None,
        dt: float = 1e-3,
        t: float = 0.0,
        *,
        tau: npt.ArrayLike | None = None,
        method: str = "rk4",
        substeps: int = 1,
        contacts: str = "steps",
    ) -> StepDerivatives:
        """Derivatives of `step` after `project` with respect to state and inputs; see `StepDerivatives`.

        Batch axes allowed; batches use all cores. Arguments are those of `step`. Methods that choose their
        steps keep those of the state itself; implicit ones are refused.

        Where surfaces touch (`contacts="steps"`) derivatives are exact while points stick or are open; where
        they slide or change within the step they are one-sided differences, and a warning says so.

        Raises:
            SingularConstraintError: J loses rank within the step of a single state.
            InputError: dry friction (friction_model="coulomb") does not slide from the start of a step to its
                end, or depends on bearing loads.
            SarrusError: the step of a single state failed.
        """
        if surfaces_act(self.model, contacts, "step_derivatives"):
            wanted = {"dt": dt, "t": self._time(t), "method": method, "substeps": substeps}
            return touched_slopes(whole(self), (q, v, u, tau), wanted, "step_derivatives")
        refuse_rest(self.model, v, "step_derivatives")
        dt, substeps = positive(dt, "`dt`"), positive_whole(substeps, "`substeps`")
        explicit = tuple(name for name, one in METHODS.items() if not one.implicit)
        options = step_options(one_of(method, "`method` of step derivatives", explicit), self._time(t) + dt)
        if self.model.functions:
            listed = ", ".join(map(repr, self.model.functions))
            raise InputError(f"step derivatives cannot differentiate the Python functions of {listed}.")
        given = (self._actuated, self._applied), (t, dt, substeps), options, self.evaluator
        try:
            A, B, q1, v1, status = self._queries.step_derivatives((q, v, u, tau), *given)
        except InputError:
            usable = without_unusable((q, v, u, tau), whole(self).default)
            if usable is None:
                raise
            q, v = usable[0][:2]
            A, B, q1, v1, status = self._queries.step_derivatives(usable[0], *given)
            for x in (A, B, q1, v1):
                x[usable[1]] = np.nan
            status[usable[1]] = StepStatus.NOT_FINITE.value
        if A.ndim == 2 and status:
            raise self._no_step(int(status), q)
        if self._modes is not None:
            refuse_stops(self.model, v, v1, "step_derivatives")
        if not np.all(self.model.holonomic):  # the step would project positions with all rows
            (q0, v0), batch = self._arguments.states([(q, "q", True), (v, "v", False)])
            slopes = derivatives(self.evaluator, q0, v0, 0.0 * v0, self.evaluator.drive(t, len(q0)))
            first = projection_slopes(
                whole(self).terms(q0, v0, t), slopes.Jv_q, self.model.holonomic.astype(bool)
            )
            A = A @ first.reshape(*batch, 2 * self.nv, 2 * self.nv)
        return StepDerivatives(A, B, q1, v1, status)

    def _no_step(self, status: int, q: Any) -> SarrusError:
        """Why a single step failed."""
        why = StepStatus(status)
        if why == StepStatus.UNSETTLED:
            return InputError(f"step of {self._owner}: {no_force(self.model)}")
        if apart := why_not_apart(whole(self), why, q):
            return InputError(f"step of {self._owner}: {apart}.")
        if why == StepStatus.SINGULAR_WITHIN:
            return SingularConstraintError(f"step of {self._owner}: {TROUBLE[why]}.")
        if why == StepStatus.NOT_CLOSED and self.nc:
            gap = float(whole(self).mobility(np.asarray(q, dtype=float)).gap)
            if gap > 1e-6 * self.length:
                driven = " at the time of the drives; give step its time t" if self.model.drives else ""
                return AssemblyError(
                    f"step: the pose q of {self._owner} is open by {gap:.2g} m{driven}; start from a closed"
                    " one: q, v = mech.project(q, v, t)."
                )
        error = AssemblyError if why in (StepStatus.NOT_CLOSED, StepStatus.UNRESOLVED) else InputError
        return error(f"step of {self._owner}: {TROUBLE[why]}.")


def step_slopes(
    mech: Mechanism,
    state: tuple[Array, Array, Array],
    columns: Any,
    time: tuple[float, float, int],
    method: str,
) -> tuple[Array, Array]:
    """A (2 nv, 2 nv) and B (2 nv, k) of a step with respect to forces on some coordinates.

    Args:
        state: q, v and the applied force tau.
        columns: coordinates of the forces (k,).
        time: t, dt [s] and the number of substeps.
        method: integrator.
    """
    q, v, tau = state
    inputs = np.asarray(columns, dtype=np.int32), mech._applied
    options = step_options(method, time[0] + time[1])
    found = mech._queries.step_derivatives((q, v, None, tau), inputs, time, options, mech.evaluator)
    A, B, status = found[0], found[1], found[4]
    if np.any(status):
        raise mech._no_step(int(np.max(status)), q)
    return A, B


def _checked(dt: float, substeps: int, method: str, t: float) -> tuple[float, int, RunOptions]:
    """Length and number of steps, checked, and the options of a method; the usual ones go through at once."""
    usual = type(dt) is float and type(substeps) is int and type(method) is str
    if usual and 0.0 < dt < math.inf and substeps == 1 and method == "rk4":
        return dt, substeps, _RK4
    dt, substeps = positive(dt, "`dt`"), positive_whole(substeps, "`substeps`")
    return dt, substeps, step_options(one_of(method, "`method`", tuple(METHODS)), t + dt)


def _beyond(error: float | Array) -> bool:
    """Whether a step has lost too much; numbers are compared without NumPy, which takes long."""
    return error > MOST_LOST if isinstance(error, float) else bool(np.any(error > MOST_LOST))


_RK4 = _fixed_options("rk4")

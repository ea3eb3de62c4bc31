"""Law: what all controllers share. One step from a measured state to inputs.

    terms -> response (affine in u) -> outputs -> least-norm inputs -> inputs in their null space -> Solution

[Aghili2005] VII-A: of all inputs that give the outputs their error dynamics, the shortest. The form used
here, u = (J_task B)^+ (wanted - J_task a0), is eq. (43)-(46) where outputs use up all freedoms and every
joint is actuated, eq. (60) with passive joints, and [Aghili2011] eq. (13) (corrected) with the free
tangential part optimised where outputs leave freedoms over.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ...arrays import Array, BoolArray, names, nonnegative, one_of
from ...dynamics.dry_friction import DryFriction, sticks
from ...dynamics.input_response import Response
from ...errors import InputError, warn
from ...mechanism.core.access import without_dry_friction
from ..exported.law_files import LawFiles
from ..exported.written_law import WrittenLaw
from ..limits.limit_rows import actuator_index
from ..limits.limit_table import LimitTable, declared_bounds
from ..limits.quadratic_program import check_solver
from ..state.active_constraints import ActiveConstraints
from ..state.footing import Footing, Movement
from ..state.measured_state import MeasuredState, MeasurementError, check_system, measured_state
from .compiled_step import PROGRAM, CompilableTask, CompiledStep, FoundStep
from .exporting import refuse_functions, written_law
from .fading import ENCODERS, accuracy, faded_parts, mean_inputs, with_fading
from .force_metric import ForceMetric
from .friction_compensation import CHOICES, FrictionCompensation
from .giving_way import Order
from .history import History, replay
from .input_selection import DesiredForces, InputSelector, SelectedInputs
from .least_norm_inputs import Damping, LeastNormInputs
from .solution import QPInfo, Solution, Status
from .task import Task
from .transition import ForceRelease, Names, Transition

MISSED = 1e-8  # accelerations missed by less than this, relative to the wanted ones, are met
MOST_EVENTS = 1000
NO_FORCES = np.zeros(0)
Active = Sequence[str] | Callable[[float, Array, Array], Sequence[str]] | None


@dataclass(eq=False, repr=False)
class Law:
    """A controller: controller(t, q, v) -> u, and solve(t, q, v) -> Solution with every part of the law.

    Laws are dataclasses: their fields are the arguments of the constructor. The options that all laws share
    stand here and are explained in `ProjectedInverseDynamics` and `ForceLimits`. `__post_init__` of a law
    calls `_prepare` and sets `_task`, its outputs. Most options are checked and read only then: for other
    options build another law.

    Attributes:
        system: the mechanism that it was built for.
        last: the latest Solution, or None.
        events: changes of status: (t, status, message).
    """

    mech: Any
    _: KW_ONLY
    metric: Any = None
    active: Active = None
    leftover_damping: float = 0.0
    least_feel: float = 1e-3
    transition: float = 0.0
    friction: str = CHOICES[0]
    measurement: tuple[float, float] = ENCODERS
    contact_damping: float = 10.0
    _task: Task = field(init=False)
    _by_mass: ClassVar[bool] = False  # metric in which null-space motions are orthogonal to the outputs

    def _prepare(
        self,
        limits: Sequence[Any] = (),
        actuated: Sequence[str] | None = None,
        releasing: Names | None = None,
        gives: Any = "limits",
        solver: str = "auto",
    ) -> None:
        """Check and store the shared options, and those that only some laws have."""
        self.system = system = check_system(self.mech, type(self).__name__)
        one_of(self.friction, "friction", CHOICES)
        self._friction: FrictionCompensation | None = None
        if sticks(system.model):
            if self.friction == "compensate":
                self._friction = FrictionCompensation(DryFriction(system.model))
            self.system = system = without_dry_friction(system)
        self._used = _used_actuators(system, actuated)
        self._columns = np.array([system.model.actuators[i].index for i in self._used], dtype=int)
        self._metric = ForceMetric(self.metric, system, self._columns)
        self._active = ActiveConstraints(system, self.active)
        self._damping: Damping = {
            "damping": nonnegative(self.leftover_damping, "leftover_damping"),
            "min_controllability": nonnegative(self.least_feel, "least_feel"),
            "by_mass": self._by_mass,
        }
        self._accuracy = accuracy(self.measurement)
        self._transition = Transition(nonnegative(self.transition, "transition"))
        self._release = ForceRelease(system, releasing, self.transition)
        some = len(limits) or declared_bounds(system)
        self._limits = LimitTable(limits, system, self._used) if some else None
        cones = self._limits is not None and self._limits.has_cones
        self._solver = check_solver(solver, cones) if self._limits is not None else ""
        names, motors = ((), ()) if not self._limits else (self._limits.names, self._limits.motor_names)
        self._order = Order.of(gives, names, motors)
        self._motors = None if self._limits is None else self._limits.motors
        pushes = np.zeros(0) if self._limits is None else self._limits.pushes
        damping = nonnegative(self.contact_damping, "contact_damping")
        self._footing = Footing(system, pushes, damping, self._accuracy)
        self._selector = InputSelector(self._solver, self._order, self._motors)
        self._undetermined_by_rows: dict[Any, str] = {}
        self._usual_ranks: dict[Any, int] = {}
        self.last: Solution | None = None
        self._start, self._latest = np.inf, -np.inf
        self.events: list[tuple[float, Status, str]] = []

    def __call__(self, t: float, q: npt.ArrayLike, v: npt.ArrayLike) -> Array:
        """Inputs u (nu,) [N m, N] at time t [s] for positions q (nq,) and velocities v (nv,)."""
        return self.solve(t, q, v).u

    def solve(self, t: float, q: npt.ArrayLike, v: npt.ArrayLike) -> Solution:
        """One step with all its parts.

        A measurement that is not finite, or too far off the constraints to be projected, holds the last input
        (`status`, `message`). Wrong arguments and functions that fail raise.
        """
        began = time.perf_counter()
        try:
            now = measured_state(self.system, t, q, v)
            self._notice_new_run(now.t)
            found = self._compensated(now, began)
        except (MeasurementError, np.linalg.LinAlgError) as error:
            found = self._failed(t, f"held the last input: {error}", began)
        before = Status.OK if self.last is None else self.last.status
        if found.status != before and len(self.events) < MOST_EVENTS:
            self.events.append((found.t, found.status, found.message))
        self.last = found
        return found

    def _notice_new_run(self, t: float) -> None:
        """Reset the controller where time goes back to its first time or earlier: a new run."""
        if t <= self._start and t < self._latest:
            self.reset()
        if self._latest == -np.inf:
            self._start = t
        self._latest = max(t, self._latest)

    def reset(self) -> None:
        """Forget the past: integrals, transitions, events."""
        self.last, self.events = None, []
        self._start, self._latest = np.inf, -np.inf
        self._transition.reset()
        self._release.reset()
        if "_compiled" in self.__dict__:
            self._compiled.reset()

    def export_code(self, folder: Any) -> tuple[Path, ...]:
        """Write the law with its mechanism as a library that runs without Python, and return its files.

        NAME.h has the functions in C, NAME.cpp the numbers, law_kernel.cpp the kernel, loop.c a 1 kHz loop;
        CMakeLists.txt compiles them. The library gives the same inputs, bit for bit, as `law(t, q, v)` where
        both are compiled alike, and allocates nothing after its start. Parts of the law that are functions
        of Python are refused by name.

        Args:
            folder: where to write; made if there is none.

        Raises:
            InputError: a part of the law is a function of Python, or the folder holds other files of these
                names.
        """
        return LawFiles(self._written()).write(folder)

    def history(self, trajectory: Any, every: int = 1) -> History:
        """The law again at the states of a trajectory, as arrays to look at; resets the controller."""
        return replay(self, trajectory, every)

    # ------------------------------------------------------------------ one step

    @cached_property
    def _compiled(self) -> CompiledStep:
        """The law in the kernel, built at the first step."""
        return self._compile([self._task])

    def _compile(self, tasks: Sequence[CompilableTask], **more: Any) -> CompiledStep:
        """Tasks with what every law has, and more, as `CompiledStep` takes it."""
        return CompiledStep(
            self.system,
            tasks,
            columns=self._columns,
            used=self._used,
            active=self._active,
            metric=self._metric,
            damping=self._damping,
            limits=self._limits,
            measurement=self._accuracy,
            footing=self._footing,
            **more,
        )

    def _written(self) -> WrittenLaw:
        """The law as numbers, for `export_code`."""
        refuse_functions(self)
        return written_law(self, self._task.targets(0.0))

    @cached_property
    def _selects(self) -> bool:
        """Whether the kernel selects the inputs, by its own solvers."""
        return self._limits is None or self._solver in ("kernel", "cones")

    def _compensated(self, now: MeasuredState, began: float) -> Solution:
        """A step with the dry friction of what moves, then with that of what rests and is to move."""
        if self._friction is None:
            return self._step(now, began)
        self._compiled.resistance = moving = self._friction.moving(now.v)
        found = self._step(now, began)
        starting = self._friction.starting(now.q, now.v, found.a)
        if not starting.any():
            return found
        self._compiled.resistance = moving + starting
        return self._step(now, began)

    def _step(self, now: MeasuredState, began: float) -> Solution:
        offset = self._transition.offset(now.t)
        found = self._run(now, offset)

        def again(other: Array | None) -> SelectedInputs:
            if self._selects:
                self._compiled.kernel.select(found.found, other)
            return self._chosen(found, other)

        key = found.rows, found.found.rank
        selected = self._transition.smoothed(now.t, key, self._chosen(found, offset), again)
        selected = mean_inputs(selected, found, lambda other: self._chosen(other, offset))
        force_error = self._force_error(found, selected)
        faded = self._faded(found)
        status, message = self._verdict(found, selected)
        status, message = with_fading(status, message, found, faded, self._accuracy[0])
        if found.found.rank < found.found.constraint_rows:
            message = "; ".join(filter(None, (message, self._undetermined(found))))
        fields = self._shared_fields(found, began, selected)
        status, message = self._with_movement(status, message)
        fields.update(status=status, message=message, force_error=force_error, faded=faded)
        solution = self._completed(fields)
        self._release.remember(lambda: solution.lam)
        return solution

    def _run(self, now: MeasuredState, offset: Array | None) -> FoundStep:
        """The one call of a step; the offset (n,) is added to x in the null space of the outputs."""
        rows, targets = self._active.rows(now), self._task.targets(now.t)
        return self._compiled.run(now, rows, targets, self._selects, offset=offset)

    def _chosen(self, step: FoundStep, offset: Array | None) -> SelectedInputs:
        """The inputs: those of the kernel, unless limits cannot hold or constraints are about to open."""
        released = self._release.rows(step.now, step.rows) if self._release.is_used else None
        if self._selects and released is None and PROGRAM[step.found.program] in ("inside", "optimal"):
            return self._selected(step)
        return self._select(step, offset, released)

    def _selected(self, step: FoundStep) -> SelectedInputs:
        """What the kernel selected."""
        found = step.found
        if self._limits is None:
            return SelectedInputs(found.inputs, found.inputs_used, by_kernel=True)
        shares = found.shares
        active = tuple(dict.fromkeys([self._limits.row_name(i) for i in sorted(found.active)]))
        if PROGRAM[found.program] == "inside":
            status, qp = Status.OK, QPInfo()
        else:
            sizes = found.variables, found.limit_count, found.cone_count
            status, qp = Status.LIMITED, QPInfo("kernel", *sizes, found.iterations, found.seconds)
        x, u = found.inputs, found.inputs_used
        return SelectedInputs(x, u, status, active=active, qp=qp, by_kernel=True, shares=shares)

    def _select(self, step: FoundStep, offset: Array | None, released: BoolArray | None) -> SelectedInputs:
        """Inputs that take more than the kernel's one program."""
        limits = step.limits_without(released)
        desired = self._release.desired(step.now, step.response, step.rows, released)
        desired = desired or self._desired_forces(step)
        return self._selector.select(step.least, step.factor, limits, desired, offset)

    def _shared_fields(self, step: FoundStep, began: float, selected: SelectedInputs) -> dict[str, Any]:
        """The fields of a Solution that follow from the selected inputs."""
        found = step.found
        if selected.by_kernel:
            u, tau, a = self._compiled.kernel.applied(found)
        else:
            u, tau = np.zeros(self.system.nu), np.zeros(self.system.nv)
            selected.u = self._within_motors(selected.u)
            u[self._used] = tau[self._columns] = selected.u
            a = step.response.a0 + step.response.B @ selected.u
        return {
            "t": step.t,
            "u": u,
            "tau": tau,
            "a": a,
            "task_names": self._task.names,
            "active_limits": selected.active,
            "violations": selected.violations,
            "qp": selected.qp,
            "elapsed": time.perf_counter() - began,
            "gap": found.gap * self.system.length,
            "slips": self._movement.slips,
            "lifts": self._movement.lifts,
            "_task": found,
            "_step": step,
            "_selected": selected,
        }

    def _within_motors(self, u: Array) -> Array:
        """Inputs (n,) within the bounds of motors, against rounding of programs."""
        if not np.isfinite(u).all():
            raise np.linalg.LinAlgError("no inputs were found that are finite.")
        return u if self._motors is None else np.clip(u, *self._motors)

    # ------------------------------------------------------------------ overridden by some laws

    def _desired_forces(self, step: FoundStep) -> DesiredForces | None:
        """Desired constraint forces; none here."""
        return None

    def _force_error(self, step: FoundStep, selected: SelectedInputs) -> Array:
        """Error of regulated forces for the inputs that were selected; none here."""
        return NO_FORCES

    def _completed(self, fields: dict[str, Any]) -> Solution:
        """The result of a step from its fields, and those that a law adds."""
        return Solution(**fields)

    # ------------------------------------------------------------------ status

    def _verdict(self, step: FoundStep, selected: SelectedInputs) -> tuple[Status, str]:
        if step.found.regular and selected.status in (Status.OK, Status.LIMITED):
            return (Status.LIMITED if selected.active else selected.status), ""
        return self._doubtful(step, step.least, selected)

    def _doubtful(self, step: Any, least: LeastNormInputs, selected: SelectedInputs) -> tuple[Status, str]:
        """Status and message where outputs are not simply met."""
        G, g = least.G, least.g
        said = [selected.message] if selected.message else []
        status = selected.status
        missed = float(np.max(np.abs(g - G @ selected.x), initial=0.0))
        if missed > MISSED * (1.0 + float(np.max(np.abs(g), initial=0.0))):
            status = min(status, Status.PARTIAL) if status < 0 else Status.PARTIAL
            if not selected.moved:
                said.append(f"outputs met as far as possible, {least.rank} of {len(g)} independent here")
        if least.damped and status >= 0:
            status = Status.SINGULAR
            said.append("near a pose where a motion is lost: torques are damped")
        if least.uncontrollable:
            response: Response = step.response
            unfelt = "; ".join(", ".join(each) for each in response.uncontrollable[:3])
            reached = response.dof - len(response.uncontrollable)
            said.append(f"{reached} of {response.dof} freedoms are controllable; no actuator feels: {unfelt}")
        if status == Status.OK and selected.active:
            status = Status.LIMITED
        return status, "; ".join(said)

    def _faded(self, step: FoundStep) -> dict[str, float]:
        """What counts in part only at this state: names and shares."""
        found = step.found
        if not (found.lost or found.doubts or found.rank < found.constraint_rows):
            return {}
        key = None if step.rows is None else step.rows.tobytes()
        if key not in self._usual_ranks:
            self._usual_ranks[key] = self._rank_of_default() if key is None else 0
        usual = self._usual_ranks[key] = max(self._usual_ranks[key], found.rank)
        return faded_parts(step, found.rank < usual, self._level_names())

    def _rank_of_default(self) -> int:
        """Rank of the rows at the default pose."""
        default = self.system.default
        return int(np.linalg.matrix_rank(self._dimensionless_rows(default.q), tol=1e-9))

    def _dimensionless_rows(self, q: Array) -> Array:
        units, now = self.system.units, MeasuredState(self.system, 0.0, q, np.zeros(self.system.nv))
        return np.asarray(now.terms.J * units.unit / units.row_unit[:, None])

    def _level_names(self) -> tuple[str, ...]:
        """Names of levels of priority; none here."""
        return ()

    def _with_movement(self, status: Status, message: str) -> tuple[Status, str]:
        """The same where contacts moved that should hold."""
        moved = self._movement.message
        if not moved:
            return status, message
        return max(status, Status.SLIPPING) if status >= 0 else status, "; ".join(
            filter(None, (message, moved))
        )

    @property
    def _movement(self) -> Movement:
        """Of the contacts in this step."""
        return self._footing.movement

    def _undetermined(self, step: Any) -> str:
        """Which multipliers the law limits or regulates although redundant rows leave them undetermined."""
        rows, said = step.rows, []
        key = (None if rows is None else rows.tobytes(), step.found.rank)
        if key not in self._undetermined_by_rows:
            for used, what in self._multipliers_used():
                mask = used if rows is None else used[rows]
                unclear = np.array(step.units.row_names)[mask & ~step.response.lam_unique].tolist()
                if unclear:
                    names = ", ".join(unclear)
                    said.append(f"redundant rows leave these multipliers undetermined, {what}: {names}")
            self._undetermined_by_rows[key] = "; ".join(said)
        return self._undetermined_by_rows[key]

    def _multipliers_used(self) -> list[tuple[BoolArray, str]]:
        """Multipliers (nc,) that the law depends on, and how it takes those that are undetermined."""
        if self._limits is None:
            return []
        return [(self._limits.on_lam, "limits are judged by what is possible")]

    def _failed(self, t: Any, message: str, began: float) -> Solution:
        system, last = self.system, self.last
        return self._completed(
            {
                "t": float(t) if isinstance(t, (int, float)) else float("nan"),
                "u": np.zeros(system.nu) if last is None else last.u,
                "tau": np.zeros(system.nv) if last is None else last.tau,
                "a": np.full(system.nv, np.nan),
                "status": Status.FAILED,
                "message": message,
                "task_names": self._task.names,
                "elapsed": time.perf_counter() - began,
            }
        )


def _used_actuators(system: Any, actuated: Sequence[str] | None) -> npt.NDArray[np.int_]:
    """Indices into u of the actuators to use."""
    if actuated is None:
        if doubt := getattr(system.model, "undeclared_motors", ""):
            warn(doubt)
        return np.arange(system.nu)
    used = [actuated] if isinstance(actuated, str) else names(actuated, "actuated")
    if not used:
        raise InputError("actuated must name at least one actuator: without one nothing can be controlled.")
    return np.array(sorted({actuator_index(system, name, "actuated") for name in used}), dtype=int)

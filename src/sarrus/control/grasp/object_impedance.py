"""ObjectImpedance: several arms hold one object that feels like a mass, a spring and a damper; [Lin2018].

With e the error of the object's pose at its centre of mass (`models/base/pose_error.py`), x' = ... - T e' its
twist and F the external wrench on it,

    inertia e'' + damping e' + stiffness e = -T.T F                                                    (1)

which is eq. (7) for the displacement -e, in coordinates in which the wrench and the displacement do work
on each other however large the turn: the spring has the potential e.T stiffness e / 2. Where no inertia is
asked for it is the object's own within the constraints, Lambda_c of eq. (15), and F need not be known,
eq. (9).

Contact forces are then chosen in the normal space: least torque within the limits of the contacts, eq. (25).
The object is a body with its own coordinates, so the multipliers are whole contact wrenches, internal part
and load share, and these are what is limited; in the paper's massless form only the internal part would be.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ..._kernel import ObjectSetup
from ...arrays import Array, positive
from ...dynamics.input_response import respond
from ...errors import InputError
from ..core.compiled_step import CompiledStep, FoundStep
from ..core.exporting import refuse_functions, written_law
from ..core.law import Law
from ..core.solution import Status
from ..core.task_inertia import damping_of, inverse_inertia
from ..exported.written_law import WrittenLaw, refuse
from ..limits.limits import as_limits
from ..outputs.body import BodyPose
from ..state.active_constraints import ActiveConstraints
from ..state.measured_state import MeasuredState, measured_state
from .force_margin import borne_wrenches, check_reserve
from .grasp import Grasp
from .held_object import ImpedanceSolution, PoseTask
from .impedance_arguments import Sensor, check_grasp, default_pose, external_source, sensed_wrench, six_gains
from .payload import Payload
from .wrench_estimator import WrenchEstimator


@dataclass(eq=False, repr=False)
class ObjectImpedance(Law):
    """Hold and move an object with a chosen impedance, within the limits of the contacts; [Lin2018] III.

    Args:
        mech: arms and object.
        grasp: the `Grasp` of the object.
        reference: pose of the object's centre of mass: a Pose, `MinimumJerk`, or a function of t that returns
            (Pose, x', x''); default where the mechanism stands by default.
        stiffness: [N/m, N m/rad]: (2,) for all translations and all turns, (6,), or (6, 6).
        damping: [N s/m, N m s/rad], the same; default `damping_ratio` in every mode at the default pose.
        damping_ratio: for the default damping.
        error: "screw", the logarithm of SE(3): place and turn come back along one screw; or "split", place
            and logarithm of the turn by themselves. Both agree where only one of them is off.
        frame: axes in which stiffness, damping and inertia are meant, "world" or "body" (the object's).
        inertia: [kg, kg m^2], the same; default the object's own within the constraints. Another one needs
            the external wrench measured: `external` a sensor or a WrenchEstimator.
        external: how the law knows the wrench on the object, which the contacts have to carry: "momentum" (a
            `WrenchEstimator`; before its second sample the displacement), "displacement" (eq. (7) without its
            acceleration), None (it does not), a WrenchEstimator of your own, or a sensor: a function (t, q,
            v) -> [force; moment] (6,) at the centre of mass in world axes.
        compensate: whether to carry the payload that the WrenchEstimator found, so that it does not pull the
            object down.
        massless: whether to take the object for massless, as the paper does: its weight is then a
            disturbance and the object hangs low by weight / stiffness.
        reserve: unknown wrench (force [N], moment [N m]) that the contacts shall bear on top of the expected
            one; less where the limits leave less: `reserve_left` of the result.
        limits: more limits, such as `TorqueBounds`.
        require_closure: whether to refuse contacts that cannot resist every wrench.
        least_feel: as in `ProjectedInverseDynamics`; 0 also asks for the whole acceleration of the object
            where an arm is about to be stretched.
        metric, active, leftover_damping, transition, releasing, gives, solver,
            measurement: as in `ForceLimits`.
    """

    grasp: Grasp
    reference: Any = None
    stiffness: Any = (500.0, 50.0)
    damping: Any = None
    _: KW_ONLY
    damping_ratio: float = 0.7
    error: str = "screw"
    frame: str = "world"
    inertia: Any = None
    external: str | WrenchEstimator | Sensor | None = "momentum"
    compensate: bool = False
    massless: bool = False
    reserve: Any = (10.0, 1.0)
    limits: Any = ()
    require_closure: bool = True
    leftover_damping: float = 5.0
    releasing: Any = None
    gives: Any = "limits"
    solver: str = "auto"
    _by_mass: ClassVar[bool] = True  # null-space motions are damped along rows that a wrench does not excite

    def __post_init__(self) -> None:
        mech, grasp, massless = self.mech, self.grasp, self.massless
        check_grasp(grasp, mech, self.require_closure)
        target = default_pose(mech, grasp) if self.reference is None else self.reference
        limits = [grasp.limits, *as_limits(self.limits)]
        self._prepare(limits, None, self.releasing, self.gives, self.solver)
        pose = BodyPose(grasp.body, grasp.com, error=self.error, frame=self.frame)
        self._task: PoseTask = PoseTask(pose, grasp, target)
        self._external = external_source(
            self.external, grasp, self.inertia is not None, self.compensate, massless, self.active
        )
        self._borne = borne_wrenches(grasp, check_reserve(self.reserve))
        self._load: tuple[Array, Array | None] = np.zeros(6), None
        self._mobility = np.zeros((6, 6))
        own = mech.model.bodies[mech.model.body_index(grasp.body, "Grasp")]
        self._own = -Payload.of_body(own).parameters if massless else None
        self.stiffness = six_gains(self.stiffness, "stiffness", zero_allowed=True)
        self.inertia = None if self.inertia is None else six_gains(self.inertia, "inertia")
        if self.damping is not None:
            self.damping = six_gains(self.damping, "damping", zero_allowed=True)
        else:
            self.damping = self._designed(positive(self.damping_ratio, "damping_ratio"))

    def reset(self) -> None:
        """Forget the past: integrals, transitions, events, estimates."""
        super().reset()
        if isinstance(self._external, WrenchEstimator):
            self._external.reset()

    def solve(self, t: float, q: npt.ArrayLike, v: npt.ArrayLike) -> ImpedanceSolution:
        """One step with all its parts. Never raises: what went wrong is in `status` and `message`."""
        return super().solve(t, q, v)  # type: ignore[return-value]

    def displacement_wrench(self, now: MeasuredState) -> Array:
        """Wrench (6,) that explains the displacement of the object at rest, [Lin2018] eq. (7) without
        its acceleration: damping and stiffness times the displacement, in world axes."""
        wrench = self._compiled.kernel.displacement(now.q, now.v, self._task.targets(now.t))
        if wrench is None:
            raise np.linalg.LinAlgError("the object is half a turn from its goal.")
        return np.asarray(wrench)

    # ------------------------------------------------------------------ parts of a step

    @cached_property
    def _compiled(self) -> CompiledStep:
        model, grasp = self.system.model, self.grasp
        body = model.body_index(grasp.body, "Grasp")
        return self._compile(
            [self._task],
            held=ObjectSetup(
                body=body,
                column=model.v_slices[body].start,
                com=grasp.com,
                stiffness=self.stiffness,
                damping=self.damping,
                inertia=self.inertia,
                reserve=self._borne,
            ),
        )

    def _run(self, now: MeasuredState, offset: Array | None) -> FoundStep:
        rows, targets = self._active.rows(now), self._task.targets(now.t)
        load = self._source(now)
        return self._compiled.run(now, rows, targets, self._selects, offset=offset, load=load)

    def _completed(self, fields: dict[str, Any]) -> ImpedanceSolution:
        """The result with the object's part of the law."""
        step = fields.get("_step")
        if step is not None:
            self._mobility = step.found.mobility
            self._load = step.found.external, step.found.carried if self.compensate else None
            if isinstance(self._external, WrenchEstimator):
                self._external.accept(step.t, step.found)
            if step.found.stretched and 0 <= fields["status"] <= Status.LIMITED:
                fields["status"] = Status.SINGULAR
                fields["message"] = "an arm is almost stretched: forces stay bounded"
        external, payload = self._load
        return ImpedanceSolution(
            **fields, external=external, _load=payload, mobility=self._mobility, _grasp=self.grasp
        )

    def _written(self) -> WrittenLaw:
        refuse_functions(self)
        source, observer = self._external, None
        if isinstance(source, WrenchEstimator):
            observer = source.written(self.compensate, self._active.fixed)
        elif callable(source):
            refuse("external", "is a function of Python", 'Take external="momentum" or "displacement".')
        targets, displaced = self._task.targets(0.0), isinstance(source, str)
        return written_law(self, targets, observer=observer, displaced=displaced, own=self._own)

    def _source(self, now: MeasuredState) -> tuple[Any, ...]:
        """What acts on the object, as far as the law knows, and how the kernel finds it out: `load` of
        `CompiledStep.run`. Estimators take what was measured."""
        source = self._external
        if isinstance(source, WrenchEstimator):
            u = np.zeros(self.system.nu) if self.last is None else self.last.u
            return None, self._own, False, (*source.question(now, u), self.compensate)
        if source is None or isinstance(source, str):
            return None, self._own, source is not None, None
        return sensed_wrench(source, now), self._own, False, None

    def _designed(self, ratio: float) -> Array:
        """Damping for the inertia at the default pose, about the reference wherever that is."""
        if self.inertia is None:
            now = measured_state(self.system, 0.0, *self.system.default)
            active = ActiveConstraints(self.system, None).at(now)
            response = respond(active.terms, self._columns, active.units)
            J = self._task.track(now).J
            if self.frame == "body":
                R = self.system.pose(now.q, self.grasp.body).rotation
                J = np.concatenate([R.T @ J[:3], R.T @ J[3:]])
            inverse = inverse_inertia(response, J)
            if np.linalg.cond(inverse) > 1e9:
                raise InputError(
                    f"{self.grasp.body!r} cannot move in every direction at the default pose, so no damping"
                    " can be designed there: give `damping`."
                )
            return damping_of(np.asarray(np.linalg.inv(inverse)), self.stiffness, ratio)
        return damping_of(self.inertia, self.stiffness, ratio)

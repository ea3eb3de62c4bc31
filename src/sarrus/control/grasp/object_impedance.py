"""ObjectImpedance: several arms hold one object that feels like a mass, a spring and a damper; [Lin2018].

With e the error of the object's pose at its centre of mass (`models/pose_error.py`), x' = ... - T e' its
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

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ...arrays import positive
from ...dynamics.input_response import Response, respond
from ...errors import InputError
from ..core.active_constraints import ActiveRows
from ..core.force_metric import Factor
from ..core.gains import gain_matrix
from ..core.law import Active, Law
from ..core.least_norm_inputs import Least, least_inputs
from ..core.measured_state import Measured, measured
from ..core.solution import Solution, Status
from ..core.task import Tracking
from ..core.task_inertia import attainable, damping_of, inverse_inertia, solve_small
from ..outputs.body import BodyPose
from .force_margin import ReservedLimits, check_reserve
from .grasp import Grasp
from .held_object import ImpedanceSolution, Load, LoadedRows, PoseTask, PoseTracking
from .impedance_arguments import Sensor, check_grasp, known_by, sensed, six, where
from .wrench_estimator import WrenchEstimator

Array = npt.NDArray[np.float64]

STRETCHED = 0.05  # least mobility of the object over the middle one below which an arm counts as stretched
PARTS = tuple(field.name for field in dataclasses.fields(Solution))


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
        metric, active, leftover_damping, least_feel, transition, releasing, gives, solver: as in
            `ForceLimits`.
    """

    def __init__(
        self,
        mech: Any,
        grasp: Grasp,
        reference: Any = None,
        stiffness: Any = (500.0, 50.0),
        damping: Any = None,
        *,
        damping_ratio: float = 0.7,
        error: str = "screw",
        frame: str = "world",
        inertia: Any = None,
        external: str | WrenchEstimator | Sensor | None = "momentum",
        compensate: bool = False,
        massless: bool = False,
        reserve: Any = (10.0, 1.0),
        limits: Any = (),
        require_closure: bool = True,
        metric: Any = None,
        active: Active = None,
        leftover_damping: float = 5.0,
        least_feel: float = 1e-3,
        transition: float = 0.0,
        releasing: Any = None,
        gives: str = "limits",
        solver: str = "auto",
    ) -> None:
        check_grasp(grasp, mech, require_closure)
        target = where(mech, grasp) if reference is None else reference
        more: Sequence[Any] = [limits] if hasattr(limits, "rows") else list(limits)
        output = BodyPose(grasp.body, grasp.com, error=error, frame=frame)
        super().__init__(
            mech,
            output,
            target,
            kp=1.0,
            kd=1.0,
            metric=metric,
            actuated=None,
            active=active,
            leftover_damping=leftover_damping,
            least_feel=least_feel,
            transition=transition,
            releasing=releasing,
            limits=[grasp.limits, *more],
            solver=solver,
            gives=gives,
        )
        self.grasp = grasp
        self._task: PoseTask = PoseTask(output, grasp, target)
        self._external = known_by(external, grasp, inertia is not None, compensate, massless, active)
        self._compensate, self._own_axes = compensate, frame == "body"
        assert self._limits is not None
        self._limits: Any = ReservedLimits(self._limits, grasp, check_reserve(reserve))
        self._load = Load(np.zeros(6), None)
        self._mobility, self._stretched = np.zeros((6, 6)), False
        self._tracking: PoseTracking | None = None
        self._active: Any = LoadedRows(ActiveRows(mech, active), grasp, self._loaded, massless)
        self.stiffness = gain_matrix(six(stiffness, "stiffness"), 6, "stiffness", zero_allowed=True)
        self.inertia = None if inertia is None else gain_matrix(six(inertia, "inertia"), 6, "inertia")
        if damping is not None:
            self.damping = gain_matrix(six(damping, "damping"), 6, "damping", zero_allowed=True)
        else:
            self.damping = self._designed(positive(damping_ratio, "damping_ratio"))

    def reset(self) -> None:
        """Forget the past: integrals, transitions, events, estimates."""
        super().reset()
        if isinstance(self._external, WrenchEstimator):
            self._external.reset()

    def solve(self, t: float, q: npt.ArrayLike, v: npt.ArrayLike) -> ImpedanceSolution:
        """One step with all its parts. Never raises: what went wrong is in `status` and `message`."""
        return super().solve(t, q, v)  # type: ignore[return-value]

    def displacement_wrench(self, now: Measured) -> Array:
        """Wrench (6,) that explains the displacement of the object at rest, [Lin2018] eq. (7) without
        its acceleration: damping and stiffness times the displacement, in world axes."""
        track = self._task.track(now)
        pull = self.damping @ track.rate + self.stiffness @ track.e
        return -solve_small(track.T.T, pull)

    # ------------------------------------------------------------------ parts of a step

    def _result(self, *parts: Any) -> ImpedanceSolution:
        """The result with what concerns the object."""
        known = dict(zip(PARTS, parts, strict=False))
        if known["status"] != Status.FAILED:
            known["_task"] = self._tracking
            if self._stretched and 0 <= known["status"] <= Status.LIMITED:
                said = "an arm is almost stretched: forces stay bounded"
                known["status"], known["message"] = Status.SINGULAR, said
        external, payload = self._load.external, self._load.payload
        return ImpedanceSolution(
            **known, external=external, _load=payload, mobility=self._mobility, _grasp=self.grasp
        )

    def _loaded(self, now: Measured) -> Load:
        """What acts on the object now, as far as the law knows."""
        source, payload = self._external, None
        if source is None:
            wrench = np.zeros(6)
        elif isinstance(source, WrenchEstimator):
            u = np.zeros(self.system.nu) if self.last is None else self.last.u
            found = source.observe(now, u)
            wrench = found.external if self._compensate else found.wrench
            if not source.ready:
                wrench = self.displacement_wrench(now)
            payload = found.parameters if self._compensate else None
        elif isinstance(source, str):
            wrench = self.displacement_wrench(now)
        else:
            wrench = sensed(source, now)
        self._load = Load(wrench, payload)
        return self._load

    def _least(self, now: Measured, response: Response, task: Tracking, metric: Factor) -> Least:
        """Inputs that do not depend on the external wrench, known or not, unless an inertia is shaped.

        Motions that the object does not see are damped along rows that a wrench on it does not excite.
        """
        assert isinstance(task, PoseTracking)
        self._mobility = inverse_inertia(response, task.J)
        wanted = self._wanted(task, response)
        self._tracking = PoseTracking(task.x, task.desired, task.e, task.rate, task.J, wanted, task.T, task.c)
        damping, threshold = self._leftover_damping, self._least_feel
        unit = self._task.unit
        return least_inputs(task.J, wanted, unit, response, now.v, metric, damping, threshold, by_mass=True)

    def _wanted(self, track: PoseTracking, response: Response) -> Array:
        """Acceleration of the object under the external wrench, J a = c - T e'' with e'' from (1).

        What would need forces without bound, since an arm is about to be stretched, is not asked for: of
        that kind is what differs from the acceleration `bound` that the constraints prescribe.
        """
        bound = track.J @ response.prescribed
        pull = self.damping @ track.rate + self.stiffness @ track.e
        T, wrench = track.T, self._load.external
        if self.inertia is None:  # T.T Lambda T e'' = -pull - T.T F
            felt = bound + self._mobility @ (solve_small(T.T, pull) + wrench)
            return np.asarray(felt + self._reached(track.c - bound))
        shaped = track.c + T @ np.linalg.solve(self.inertia, pull + T.T @ wrench)
        return np.asarray(bound + self._reached(shaped - bound))

    def _reached(self, acceleration: Array) -> Array:
        found = attainable(self._mobility, self._task.unit, acceleration, STRETCHED)
        self._stretched = found is not acceleration
        return found

    def _designed(self, ratio: float) -> Array:
        """Damping for the inertia at the default pose, about the reference wherever that is."""
        if self.inertia is None:
            now = measured(self.system, 0.0, *self.system.default)
            _, terms, units, gap = ActiveRows(self.system, None).at(now)
            response = respond(terms, self._columns, units, None, gap)
            J = self._task.track(now).J
            if self._own_axes:
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

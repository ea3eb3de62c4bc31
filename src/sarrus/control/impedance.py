"""ObjectImpedance: several arms hold one object that feels like a mass, a spring and a damper; [Lin2018].

With e the pose error of the object (place, and logarithm of the turn still to be made), x' = ... - T e' its
twist and F the external wrench on it,

    inertia e'' + damping e' + stiffness e = -T.T F                                                    (1)

which is eq. (7) for the displacement -e, in coordinates in which the wrench and the displacement do work
on each other however large the turn. Where no inertia is asked for it is the object's own within the
constraints, Lambda_c of eq. (15), and F need not be known, eq. (9). The error is that of R^3 x SO(3): the
place is that of the centre of mass, so a pure force does not turn the object.

Contact forces are then chosen in the normal space: least torque within the limits of the contacts, eq. (25).
The object is a body with its own coordinates, so the multipliers are whole contact wrenches, internal part
and load share, and these are what is limited; in the paper's massless form only the internal part would be.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import positive, state
from ..dynamics.response import Response, respond
from ..errors import InputError, SarrusError
from ..models.pose import Pose
from .active import ActiveRows
from .body_outputs import BodyPose
from .estimation import WrenchEstimator
from .gains import gain_matrix
from .grasp import Grasp
from .held import ImpedanceSolution, Load, LoadedRows, PoseTask, PoseTracking
from .law import Active, Law
from .measured import Measured, measured
from .metric import Factor
from .result import Solution
from .task import Tracking
from .task_inertia import damping_of, inverse_inertia

Array = npt.NDArray[np.float64]
Sensor = Callable[[float, Array, Array], npt.ArrayLike]

PARTS = tuple(field.name for field in dataclasses.fields(Solution))


class ObjectImpedance(Law):
    """Hold and move an object with a chosen impedance, within the limits of the contacts; [Lin2018] III.

    Args:
        mech: arms and object.
        grasp: the `Grasp` of the object.
        reference: pose of the object's centre of mass: a Pose, `MinimumJerk`, or a function of t that returns
            (Pose, x', x''); default where the mechanism stands by default.
        stiffness: [N/m, N m/rad] in world axes: (2,) for all translations and all turns, (6,), or (6, 6).
        damping: [N s/m, N m s/rad], the same; default `damping_ratio` in every mode at the default pose.
        damping_ratio: for the default damping.
        inertia: [kg, kg m^2], the same; default the object's own within the constraints. Another one needs
            the external wrench measured: `external` a sensor or a WrenchEstimator.
        external: how the law knows the wrench on the object, which the contacts have to carry: "displacement"
            (eq. (7) without acceleration), None (it does not), a `WrenchEstimator` (momentum), or a sensor:
            a function (t, q, v) -> [force; moment] (6,) at the centre of mass in world axes.
        compensate: whether to carry the payload that the WrenchEstimator found, so that it does not pull the
            object down.
        massless: whether to take the object for massless, as the paper does: its weight is then a
            disturbance and the object hangs low by weight / stiffness.
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
        inertia: Any = None,
        external: str | WrenchEstimator | Sensor | None = "displacement",
        compensate: bool = False,
        massless: bool = False,
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
        _check_grasp(grasp, mech, require_closure)
        target = _where(mech, grasp) if reference is None else reference
        more: Sequence[Any] = [limits] if hasattr(limits, "rows") else list(limits)
        super().__init__(
            mech,
            BodyPose(grasp.body, grasp.com),
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
        self._task: PoseTask = PoseTask(grasp, target)
        self._external = _external(external, inertia is not None, compensate, massless, grasp)
        self._compensate = compensate
        self._load = Load(np.zeros(6), None)
        self._mobility = np.zeros((6, 6))
        self._tracking: PoseTracking | None = None
        self._active: Any = LoadedRows(ActiveRows(mech, active), grasp, self._loaded, massless)
        self.stiffness = gain_matrix(_six(stiffness, "stiffness"), 6, "stiffness", zero_allowed=True)
        self.inertia = None if inertia is None else gain_matrix(_six(inertia, "inertia"), 6, "inertia")
        if damping is not None:
            self.damping = gain_matrix(_six(damping, "damping"), 6, "damping", zero_allowed=True)
        else:
            self.damping = self._designed(positive(damping_ratio, "damping_ratio"))

    def reset(self) -> None:
        """Forget the past: integrals, transitions, events, estimates."""
        super().reset()
        if isinstance(self._external, WrenchEstimator):
            self._external.reset()

    def displacement_wrench(self, now: Measured) -> Array:
        """Wrench (6,) that explains the displacement of the object at rest, [Lin2018] eq. (7) without
        its acceleration: damping and stiffness times the displacement, in world axes."""
        track = self._task.track(now)
        pull = self.damping @ track.rate + self.stiffness @ track.e
        return np.asarray(-np.linalg.solve(track.T.T, pull))

    # ------------------------------------------------------------------ parts of a step

    def _step(self, now: Measured, began: float) -> Solution:
        return self._widened(super()._step(now, began), self._tracking)

    def _failed(self, t: Any, message: str, began: float) -> Solution:
        return self._widened(super()._failed(t, message, began), None)

    def _widened(self, found: Solution, task: PoseTracking | None) -> ImpedanceSolution:
        """The result with what concerns the object."""
        parts = {name: getattr(found, name) for name in PARTS}
        parts["_task"] = task
        return ImpedanceSolution(
            **parts,
            external=self._load.external,
            payload=self._load.payload,
            mobility=self._mobility,
            _grasp=self.grasp,
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
            payload = found.payload if self._compensate else None
        elif isinstance(source, str):
            wrench = self.displacement_wrench(now)
        else:
            wrench = _sensed(source, now)
        self._load = Load(wrench, payload)
        return self._load

    def _outputs(
        self, now: Measured, response: Response, task: Tracking, factor: Factor
    ) -> tuple[Array, Array, float, bool]:
        assert isinstance(task, PoseTracking)
        self._mobility = inverse_inertia(response, task.J)
        tracking = dataclasses.replace(task, wanted=self._wanted(task))
        self._tracking = tracking
        return super()._outputs(now, response, tracking, factor)

    def _wanted(self, track: PoseTracking) -> Array:
        """Acceleration of the object under the external wrench, J a = c - T e'' with e'' from (1)."""
        pull = self.damping @ track.rate + self.stiffness @ track.e
        T, wrench = track.T, self._load.external
        if self.inertia is None:  # T.T Lambda T e'' = -pull - T.T F
            return np.asarray(track.c + self._mobility @ (np.linalg.solve(T.T, pull) + wrench))
        return np.asarray(track.c + T @ np.linalg.solve(self.inertia, pull + T.T @ wrench))

    def _designed(self, ratio: float) -> Array:
        """Damping for the inertia at the default pose."""
        if self.inertia is None:
            now = measured(self.system, 0.0, *self.system.default)
            _, terms, units, gap = ActiveRows(self.system, None).at(now)
            response = respond(terms, self._columns, units, None, gap)
            inverse = inverse_inertia(response, self._task.track(now).J)
            if np.linalg.cond(inverse) > 1e9:
                raise InputError(
                    f"{self.grasp.body!r} cannot move in every direction at the default pose, so no damping"
                    " can be designed there: give `damping`."
                )
            return damping_of(np.asarray(np.linalg.inv(inverse)), self.stiffness, ratio)
        return damping_of(self.inertia, self.stiffness, ratio)


# ---------------------------------------------------------------------- what users give


def _check_grasp(grasp: Any, mech: Any, require_closure: bool) -> None:
    if not isinstance(grasp, Grasp):
        raise InputError(f"ObjectImpedance takes a Grasp as its second argument, got {type(grasp).__name__}.")
    if grasp.system is not mech and grasp.system.row_names != getattr(mech, "row_names", None):
        raise InputError("ObjectImpedance: the grasp belongs to another mechanism; build it from this one.")
    closure = grasp.force_closure()
    if require_closure and not closure:
        raise InputError(
            f"the contacts cannot hold {grasp.body!r}: {closure.message}. Add contacts or friction, or pass"
            " require_closure=False."
        )


def _where(mech: Any, grasp: Grasp) -> Pose:
    """Pose of the object's centre of mass where the mechanism stands by default."""
    pose = mech.pose(mech.default.q, grasp.body)
    return Pose(pose.apply(grasp.com), matrix=pose.rotation)


def _sensed(sensor: Sensor, now: Measured) -> Array:
    """What a sensor says (6,); what it raises becomes an InputError, so that the loop goes on."""
    try:
        found = sensor(now.t, now.q, now.v)
    except SarrusError:
        raise
    except Exception as error:
        raise InputError(
            f"the sensor of the external wrench raised {type(error).__name__}: {error}"
        ) from error
    wrench = state(found, "external wrench", 6)
    if wrench.ndim != 1:
        raise InputError(f"external wrench must be [force; moment] with shape (6,), got {wrench.shape}.")
    return wrench


def _six(value: Any, what: str) -> Any:
    """(2,) becomes three times each; a single number is refused, since newtons are not newton metres."""
    if np.ndim(value) == 0:
        raise InputError(
            f"{what} must be (translation, turn), (6,) or (6, 6): metres and radians need different"
            f" numbers; got {value!r}."
        )
    return np.repeat(np.asarray(value, dtype=float), 3) if np.shape(value) == (2,) else value


def _external(
    external: Any, shaped: bool, compensate: bool, massless: bool, grasp: Grasp
) -> WrenchEstimator | Sensor | str | None:
    if isinstance(external, str) and external != "displacement":
        raise InputError(
            f'external must be "displacement", None, a WrenchEstimator or a sensor; got {external!r}.'
        )
    if not (external is None or isinstance(external, (str, WrenchEstimator)) or callable(external)):
        raise InputError(f"external must be a function (t, q, v) -> wrench (6,), got {external!r}.")
    if shaped and (external is None or isinstance(external, str)):
        raise InputError(
            "another inertia than the object's own needs the external wrench measured, [Lin2018] eq. (8):"
            " give external=sensor, a function (t, q, v) -> wrench (6,), or a WrenchEstimator."
        )
    estimator = external if isinstance(external, WrenchEstimator) else None
    if compensate and (estimator is None or not estimator.estimates_payload):
        raise InputError("compensate=True needs external=WrenchEstimator(..., payload=True).")
    if estimator is not None and estimator.massless != massless:
        raise InputError(
            f"massless must be the same for law and estimator, got {massless} and {estimator.massless}."
        )
    return external  # type: ignore[no-any-return]

"""Checks of the arguments of `ObjectImpedance`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ...arrays import Array
from ...errors import InputError, answer_of
from ...models.base.pose import Pose
from ..core.gains import gain_matrix
from ..state.measured_state import MeasuredState, MeasurementError
from .grasp import Grasp
from .wrench_estimator import WrenchEstimator

Sensor = Callable[[float, Array, Array], npt.ArrayLike]

KNOWN_BY = ("momentum", "displacement")


def check_grasp(grasp: Any, mech: Any, require_closure: bool) -> None:
    """Refuse what is no grasp of this mechanism, and contacts that cannot hold the object."""
    if not isinstance(grasp, Grasp):
        raise InputError(f"ObjectImpedance takes a Grasp as its second argument, got {type(grasp).__name__}.")
    if grasp.system is not mech:
        raise InputError("ObjectImpedance: the grasp belongs to another mechanism; build it from this one.")
    closure = grasp.force_closure()
    if require_closure and not closure:
        raise InputError(
            f"the contacts cannot hold {grasp.body!r}: {closure.message}. Add contacts or friction, or pass"
            " require_closure=False."
        )


def default_pose(mech: Any, grasp: Grasp) -> Pose:
    """Pose of the object's centre of mass where the mechanism stands by default."""
    pose = mech.pose(mech.default.q, grasp.body)
    return Pose(pose.apply(grasp.com), matrix=pose.rotation)


def sensed_wrench(sensor: Sensor, now: MeasuredState) -> Array:
    """What a sensor says (6,); a MeasurementError where that is not finite."""
    found = answer_of("the sensor of the external wrench", sensor, now.t, now.q, now.v)
    wrench = np.asarray(found)
    if wrench.shape != (6,) or wrench.dtype.kind not in "iuf":
        raise InputError(f"external wrench must be [force; moment] with shape (6,), got {found!r}.")
    if not np.all(np.isfinite(wrench)):
        raise MeasurementError(f"the measured external wrench is not finite at t = {now.t:g} s: {found!r}.")
    return wrench.astype(float)


def six_gains(value: Any, what: str, zero_allowed: bool = False) -> Array:
    """A gain (6, 6) of place and turn from (2,), three times each, (6,) or (6, 6).

    A single number is refused, since newtons are not newton metres.
    """
    if np.ndim(value) == 0:
        raise InputError(
            f"{what} must be (translation, turn), (6,) or (6, 6): metres and radians need different"
            f" numbers; got {value!r}."
        )
    both = np.repeat(np.asarray(value, dtype=float), 3) if np.shape(value) == (2,) else value
    return gain_matrix(both, 6, what, zero_allowed)


def external_source(
    external: Any, grasp: Grasp, shaped: bool, compensate: bool, massless: bool, active: Any
) -> WrenchEstimator | Sensor | str | None:
    """How the law knows the external wrench, or an InputError that says what does not fit together."""
    named, estimator = isinstance(external, str), isinstance(external, WrenchEstimator)
    if named and external not in KNOWN_BY:
        raise InputError(
            'external must be "momentum", "displacement", None, a WrenchEstimator or a sensor, a function'
            f" (t, q, v) -> wrench (6,); got {external!r}."
        )
    if not (external is None or named or estimator or callable(external)):
        raise InputError(f"external must be a function (t, q, v) -> wrench (6,), got {external!r}.")
    if shaped and (external is None or named):
        raise InputError(
            "another inertia than the object's own needs the external wrench measured, [Lin2018] eq. (8):"
            " give external=sensor, a function (t, q, v) -> wrench (6,), or a WrenchEstimator."
        )
    if compensate and not (estimator and external.estimates_payload):
        raise InputError("compensate=True needs external=WrenchEstimator(..., payload=True).")
    if estimator and external.massless != massless:
        raise InputError(
            f"massless must be the same for law and estimator, got {massless} and {external.massless}."
        )
    if external == "momentum":
        return WrenchEstimator(grasp.system, grasp.body, massless=massless, active=active)
    return external  # type: ignore[no-any-return]

"""MeasuredState: one state as a controller sees it, with its terms and the motion of its bodies.

States come from sensors and solvers, thousands per second: shape and finite entries are checked once, then
the compiled functions are called without the checks that `Mechanism` makes. Everything is computed once.
"""

from __future__ import annotations

from functools import cached_property
from math import isfinite
from typing import Any

import numpy as np
import numpy.typing as npt

from ..._kernel import is_state
from ...arrays import Array
from ...dynamics.singular_limit import row_rates
from ...dynamics.terms import Terms
from ...errors import InputError
from ...mechanism.mechanism import Mechanism
from ...projection.nearest_state import TROUBLE
from ...simulation.system.custom_system import CustomSystem


class MeasurementError(InputError):
    """A measurement of no use: a controller holds its last input. All other errors of input are raised."""


class MeasuredState:
    """A state (t, q, v) of a system: q (nq,), v (nv,), t [s]."""

    def __init__(self, system: Any, t: float, q: Array, v: Array) -> None:
        self.system, self.t, self.q, self.v = system, t, q, v

    def projected(self, part: npt.NDArray[np.int8] | None) -> MeasuredState:
        """The nearest state on the constraints; `part` (nc,) as in `Evaluator.project`."""
        rows, custom = self.system.evaluator, isinstance(self.system, CustomSystem)
        metric = self.terms.M if custom else None
        q, v, gap, status = rows.project(self.q, self.v, self.t, part, metric)
        if status:
            raise MeasurementError(
                f"the measured state of {self.system.name!r} is off its constraints by"
                f" {float(gap) * rows.length:.2g} m at t = {self.t:g} s and cannot be projected:"
                f" {TROUBLE[int(status)]}."
            )
        return MeasuredState(self.system, self.t, q, v)

    @cached_property
    def terms(self) -> Terms:
        """M, h, phi, J, b, gamma."""
        if isinstance(self.system, CustomSystem):
            return self.system.terms(self.q, self.v, self.t)
        rows, q, v = self.system.evaluator, self.q, self.v
        drive = rows.drive(self.t, 1) if rows.driven else None
        user = rows.user(q[None], v[None], self.t) if rows.calls_functions else None
        return Terms(*rows.kernel.terms(q, v, drive, user))

    def row_rates(self) -> tuple[Array, Array]:
        """Derivatives of J (nc, nv) and of gamma (nc,) along the motion, at constant v."""
        rows = self.system.evaluator
        if rows.has_user_rows:
            return row_rates(rows, self.q, self.v, self.t)
        user = np.zeros((1, len(rows.model.u_row), 3 + rows.nv))
        found: tuple[Array, Array] = rows.kernel.row_rates(self.q, self.v, rows.drive(self.t, 1), user)
        return found

    @cached_property
    def _frames(self) -> tuple[Array, Array, Array, Array]:
        found: tuple[Array, Array, Array, Array] = self._kernel.frames(self.q, self.v)
        return found

    @property
    def poses(self) -> tuple[Array, Array]:
        """Rotations (nb, 3, 3) and origins (nb, 3) of all bodies in the world."""
        return self._frames[:2]

    @property
    def motion(self) -> tuple[Array, Array]:
        """Velocities and accelerations at a = 0 (nb, 6) of all bodies, [linear; angular] at their origins."""
        return self._frames[2:]

    def point(self, body: int, point: Array) -> tuple[Array, Array, Array, Array, Array]:
        """Of a point of a body in world axes: place (3,), velocity (6,), acceleration at a = 0 (6,), Jacobian
        (6, nv); and the rotation of the body (3, 3)."""
        found: tuple[Array, Array, Array, Array, Array] = self._kernel.point(self.q, self.v, body, point)
        return found

    def jacobian(self, body: int, point: Array) -> Array:
        """Jacobian (6, nv) of a point of a body, in world axes."""
        J: Array = self._kernel.jacobian(self.q, body, point)
        return J

    def along(self, steps: Array) -> Array:
        """Poses (k, nq) reached from q by the tangent vectors steps (k, nv)."""
        start = np.repeat(self.q[None], len(steps), axis=0)
        return np.asarray(self._kernel.integrate(start, np.ascontiguousarray(steps)))

    @property
    def _kernel(self) -> Any:
        return self.system.evaluator.kernel


def measured_state(system: Any, t: float, q: npt.ArrayLike, v: npt.ArrayLike) -> MeasuredState:
    """The state; a MeasurementError where sensors delivered NaN, an InputError for wrong arguments."""
    if type(t) is float and isfinite(t) and is_state(q, v, system.nq, system.nv):
        return MeasuredState(system, t, q, v)  # type: ignore[arg-type]
    try:
        t = float(t)
        pose, speed = np.ascontiguousarray(q, dtype=np.float64), np.ascontiguousarray(v, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"the measured state of {system.name!r} is not made of numbers: {error}.") from None
    if pose.shape != (system.nq,) or speed.shape != (system.nv,):
        raise InputError(
            f"a controller of {system.name!r} needs q with shape ({system.nq},) and v with shape"
            f" ({system.nv},), got {pose.shape} and {speed.shape}."
        )
    # one sum over both tells whether all are finite
    if not np.isfinite(pose.sum() + speed.sum() + t):
        raise MeasurementError(
            f"the measured state of {system.name!r} has entries that are not finite at t = {t} s."
        )
    return MeasuredState(system, t, pose, speed)


def check_system(system: Any, who: str) -> Any:
    """Refuse what is neither a Mechanism nor a CustomSystem."""
    if not isinstance(system, (Mechanism, CustomSystem)):
        raise InputError(
            f"{who} takes a Mechanism (compile a MechanismSpec first) or a CustomSystem, got"
            f" {type(system).__name__}."
        )
    if system.nu == 0:
        raise InputError(
            f"{who}: {system.name!r} has no actuated joint; name some: spec.actuate(...) before compile()."
        )
    return system

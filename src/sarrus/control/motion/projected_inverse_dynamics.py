"""ProjectedInverseDynamics and ForceLimits: track outputs with least torque, and within limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

from ...errors import InputError
from ..core.law import Law
from ..core.task import Task
from ..core.transition import Names
from ..limits.limits import as_limits


@dataclass(eq=False, repr=False)
class ProjectedInverseDynamics(Law):
    """Track outputs with the least torque; [Aghili2005] eq. (43)-(46), (60).

    The error obeys e'' + kd e' + kp e = 0 exactly, whatever the loops, redundant rows and passive joints.
    Outputs that constraints or actuators do not allow are met as far as possible, and the result says so.

    Args:
        mech: a Mechanism or CustomSystem.
        outputs: what to move: the name of a coordinate, a list of names, or outputs (`Coordinates`,
            `Position`, `BodyPose`, `Function`), one or a list.
        reference: where to: one per output. A set-point, `MinimumJerk`, `Sinusoid`, `Spline`, or a
            function of t that returns (x, x', x'').
        kp: gain [1/s^2]: a number, (k,) or a symmetric positive definite matrix (k, k).
        kd: gain [1/s]; default critical damping, 2 sqrt(kp).
        metric: what "least torque" means, u.T (S W^-1 S.T) u: None (as the numbers are), "length" (forces
            times L, eq. (48)), "limits" (each over its limit), "mass", or W as (nv,) or (nv, nv).
        actuated: names of the actuators to use; default all. The others get exactly zero.
        active: names of the constraints that hold, or a function of (t, q, v) that returns them; default all.
        leftover_damping: null-space damping [1/s]: rate at which motions that the outputs leave free come to
            rest; 0 leaves them to least torque.
        least_feel: near a pose where an output is not controllable (controllability, the share that actuators
            and outputs have of the weakest motion, below this), torques are damped; 0 never damps.
        transition: time [s] in which inputs are led over when the active constraints change.
        releasing: a function of (t, q, v) that returns the names of constraints that are about to open; their
            forces are led to zero within the transition time, so that nothing jumps when they do.
    """

    outputs: Any
    reference: Any
    kp: Any = 100.0
    kd: Any = None
    _: KW_ONLY
    actuated: Sequence[str] | None = None
    releasing: Names | None = None

    def __post_init__(self) -> None:
        self._prepare(actuated=self.actuated, releasing=self.releasing)
        self._task = Task(self.mech, self.outputs, self.reference, self.kp, self.kd)


@dataclass(eq=False, repr=False)
class ForceLimits(Law):
    """Track outputs with the least torque that keeps forces within limits; [Aghili2011] eq. (17), (18).

    Limits: `TorqueBounds`, `Unilateral`, `Friction`, `CableTension`, `Preload`, `LinearLimits`. A quadratic
    program picks the forces that the outputs do not see, and the motions that they leave free.

    Args:
        mech, outputs, reference, kp, kd, metric, actuated, active, leftover_damping, least_feel, transition,
            releasing: as in `ProjectedInverseDynamics`.
        limits: one limit or a list.
        gives: what gives way where the motion and all limits cannot be had together: "limits" (least
            violation, forces over L) or "motion" (limits are kept as long as any input keeps them).
        solver: "auto", "kernel", "daqp", "scipy" or "clarabel".
    """

    outputs: Any
    reference: Any
    limits: Any
    kp: Any = 100.0
    kd: Any = None
    _: KW_ONLY
    actuated: Sequence[str] | None = None
    releasing: Names | None = None
    gives: str = "limits"
    solver: str = "auto"

    def __post_init__(self) -> None:
        given = as_limits(self.limits)
        if not given:
            raise InputError("ForceLimits without limits: give some, or use ProjectedInverseDynamics.")
        self._prepare(given, self.actuated, self.releasing, self.gives, self.solver)
        self._task = Task(self.mech, self.outputs, self.reference, self.kp, self.kd)

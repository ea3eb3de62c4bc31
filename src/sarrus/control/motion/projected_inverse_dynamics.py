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
    Outputs that constraints or actuators do not allow are tracked in the least-squares sense; `status` of the
    solution is then PARTIAL.

    Args:
        mech: a Mechanism or CustomSystem.
        outputs: what is controlled: the name of a coordinate, a list of names, or outputs (`Coordinates`,
            `Position`, `BodyPose`, `Function`), one or a list.
        reference: desired motion, one per output: a set-point, `MinimumJerk`, `Sinusoid`, `Spline`, a
            function of t that returns (x, x', x''), or for an output of several components a list of these.
        kp: gain [1/s^2]: a number, (k,) or a symmetric positive definite matrix (k, k).
        kd: gain [1/s]; default critical damping, 2 sqrt(kp).
        metric: what "least torque" means, u.T (S W^-1 S.T) u: None (Euclidean), "length" (forces
            times L, eq. (48)), "limits" (each over its limit), "mass", or W as (nv,) or (nv, nv).
        actuated: names of the actuators to use; default all. The others get exactly zero.
        active: names of the constraints that hold, or a function of (t, q, v) that returns them; default all.
            Contacts of floating mechanisms with the ground, and constraints that were open before, hold where
            they were measured when they began to hold.
        leftover_damping: null-space damping [1/s]: decay rate of motions that the outputs do not determine; 0
            leaves these motions to least torque.
        least_feel: torques are damped where the controllability is below this; 0 never damps. Controllability
            is the smallest share of a motion that actuators produce and outputs measure: 1 at a regular pose,
            0 where an output is not controllable.
        transition: time [s] over which inputs are blended when the active constraints change.
        releasing: a function of (t, q, v) that returns the names of constraints that are about to open; their
            forces are reduced to zero within the transition time, so that inputs do not jump at the opening.
        friction: "compensate" adds dry friction (friction_model="coulomb") to the torques: of coordinates
            that move, and of those at rest that the law moves. "ignore" leaves it to the feedback.
        measurement: accuracy (angle, speed) of measured states [rad], [rad/s]; times L for lengths.
            Directions that a state this accurate does not tell from lost ones fade out, from dimensionless
            singular values of ten times the angle to the angle: `faded` of the solution. (0, 0): states are
            exact.
        contact_damping: rate [1/s] at which contacts with the ground that were seen slipping are to be
            brought to rest.
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
    program chooses inputs in the null space of the outputs: internal forces and null-space motions.

    Args:
        mech, outputs, reference, kp, kd, metric, actuated, active, leftover_damping, least_feel, transition,
            releasing, measurement: as in `ProjectedInverseDynamics`.
        limits: one limit or a list.
        gives: what gives way first where not everything can be had: "limits" (first those on contacts, then
            the others, each with the least violation, forces multiplied by L to compare with moments), or
            "motion", or a list, first to last, of "contacts", "limits", "motion" and names of limits. What is
            missing in a list gives way after those in it. Bounds of motors never give way.
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
    gives: Any = "limits"
    solver: str = "auto"

    def __post_init__(self) -> None:
        given = as_limits(self.limits)
        if not given:
            raise InputError("ForceLimits without limits: give some, or use ProjectedInverseDynamics.")
        self._prepare(given, self.actuated, self.releasing, self.gives, self.solver)
        self._task = Task(self.mech, self.outputs, self.reference, self.kp, self.kd)

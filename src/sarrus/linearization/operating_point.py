"""The operating point of a linear model: a regular state on the constraints, with its forces."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import Array, state
from ..errors import AssemblyError, InputError, SingularConstraintError
from ..mechanism.core.access import applied_force, arguments_of
from ..mechanism.mechanism import Mechanism
from ..mechanism.spec import MechanismSpec
from ..models.twists import ad_all, twist_slices
from ..projection.local_coordinates import tangents
from ..projection.system_kinematics import drift
from ..simulation.system.custom_system import CustomSystem

CONSISTENT = 1e-6  # errors of position (over L) and velocity (over speed) up to this are corrected silently
CLOSED = 1e-13  # errors below this are left as they are


@dataclass(frozen=True)
class OperatingPoint:
    """A consistent state with its forces and accelerations.

    Attributes:
        mech: the mechanism.
        q, v: positions (nq,) and velocities (nv,), on the constraints to rounding.
        u: inputs of the actuators (nu,).
        tau: applied generalized force in all (nv,), S.T u included.
        t: time [s].
        a, lam: acceleration (nv,) and multipliers (nc,) there.
        rank: rank of J.
    """

    mech: Mechanism
    q: Array
    v: Array
    u: Array
    tau: Array
    t: float
    a: Array
    lam: Array
    rank: int

    @cached_property
    def J(self) -> Array:
        """Constraint Jacobian (nc, nv)."""
        return self.mech.terms(self.q, self.v, self.t).J

    @cached_property
    def at(self) -> Any:
        """Tangent directions of the constraints."""
        return tangents(self.mech.evaluator, self.J, self.rank)

    @property
    def ad_v(self) -> Array:
        """ad_v (nv, nv): zero except at Spherical and Free joints."""
        return ad_all(twist_slices(self.mech.model), self.v)

    @property
    def imbalance(self) -> float:
        """Largest |a| and |v|, lengths divided by L: zero at an equilibrium."""
        both = np.concatenate([self.a, self.v]) / np.tile(self.mech.units.unit, 2)
        return float(np.max(np.abs(both), initial=0.0))


def by_differences(mech: Any) -> bool:
    """Whether derivatives of its motion must be differences: user rows, or a CustomSystem."""
    return bool(mech.model.customs) or isinstance(mech, CustomSystem)


def require_mechanism(mech: Any, what: str) -> None:
    """Refuse anything but a Mechanism or CustomSystem; a MechanismSpec with the hint to compile it."""
    if isinstance(mech, MechanismSpec):
        raise InputError(f"{what} takes a Mechanism, got a MechanismSpec; compile it: spec.compile().")
    if not isinstance(mech, (Mechanism, CustomSystem)):
        raise InputError(f"{what} takes a Mechanism, got {type(mech).__name__}.")


def operating_point(
    mech: Any,
    q: npt.ArrayLike | None = None,
    v: npt.ArrayLike | None = None,
    u: npt.ArrayLike | None = None,
    *,
    tau: npt.ArrayLike | None = None,
    t: float = 0.0,
    what: str = "linearize",
) -> OperatingPoint:
    """The given state, or `default`; refused off the constraints and at singular poses."""
    require_mechanism(mech, what)
    t = arguments_of(mech).time(t)
    pose, speed = consistent_state(mech, q, v, t)
    inputs = np.zeros(mech.nu) if u is None else vector(mech, u, "u", mech.nu)
    force = np.zeros(mech.nv) if tau is None else vector(mech, tau, "tau", mech.nv)
    applied = applied_force(mech, pose, force, inputs)
    motion = mech.forward_dynamics(pose, speed, applied, t=t)
    _require_regular(mech, pose, t, int(motion.rank))
    forces = {"u": inputs, "tau": applied, "a": motion.a, "lam": motion.lam, "rank": int(motion.rank)}
    return OperatingPoint(mech=mech, q=pose, v=speed, t=t, **forces)


def consistent_state(
    mech: Mechanism, q: npt.ArrayLike | None, v: npt.ArrayLike | None, t: float
) -> tuple[Array, Array]:
    """q and v, given or by default, projected where they miss the constraints by rounding."""
    driven = mech.evaluator.driven
    pose = np.array(mech.default.q) if q is None else arguments_of(mech).one_pose(q)
    speed = at_rest(mech) if v is None else arguments_of(mech).one_tangent(v, "v")
    terms = mech.terms(pose, speed, t)
    gap = drift(mech.evaluator, terms.phi) / mech.length
    if gap > CONSISTENT and not (q is None and driven):
        raise InputError(
            f"q is off the constraints of {mech.name!r} at t = {t:g} s: |phi| is {gap * mech.length:.3g} m"
            f" (angles times L), allowed {CONSISTENT * mech.length:.1g}. A linear model exists on them only;"
            " take q = mech.assemble(q).q."
        )
    if gap > CLOSED:
        found = mech.assemble(pose, t=t)
        if not found.success:
            raise AssemblyError(f"{mech.name!r} has no pose at t = {t:g} s. {found.message}")
        pose = found.q
        terms = mech.terms(pose, speed, t)
    if v is None:
        speed = np.array(mech.default.v) if q is None and not driven else speed
        return pose, mech.consistent_velocity(pose, speed, t)
    size = float(np.max(np.abs(speed / mech.units.unit), initial=0.0))
    slip = np.abs(terms.J @ speed - terms.b) / mech.units.row_unit
    miss = float(np.max(slip, initial=0.0))
    if miss > CONSISTENT * max(size, 1e-3):
        raise InputError(
            f"v breaks the constraints of {mech.name!r}: |J v - b| is {miss:.3g} (lengths divided by L) in"
            f" row {mech.row_names[int(np.argmax(slip))]!r}, at speed {size:.3g}. Take"
            " v = mech.consistent_velocity(q, v)."
        )
    return pose, mech.consistent_velocity(pose, speed, t) if miss > CLOSED * size else speed


def at_rest(mech: Any) -> Array:
    """Velocities (nv,) at rest, states of first order where they begin."""
    return np.array(mech.rest) if isinstance(mech, Mechanism) else np.zeros(mech.nv)


def vector(mech: Mechanism, value: npt.ArrayLike, what: str, n: int) -> Array:
    """One vector (n,): u or tau."""
    owner = f"{mech.name!r}" + (f", which has the actuators {list(mech.actuators)}" if what == "u" else "")
    array = state(value, what, n, owner)
    if array.ndim != 1:
        raise InputError(f"{what} must have shape ({n},), got {array.shape}.")
    return array


def _require_regular(mech: Mechanism, q: Array, t: float, rank: int) -> None:
    """Refuse a pose at which rows lose rank: branches meet there, so that no linear model exists."""
    if rank < mech.nc and mech.evaluator.loses_rank(q, t, rank):
        raise SingularConstraintError(
            f"no linear model of {mech.name!r} at this pose: it is singular (rank {rank} here, more nearby),"
            " so the constraints have no single tangent space and motions along different branches differ"
            " already to first order. Linearize next to it, on the branch you mean.",
            rank,
        )

"""System: the common interface of `Mechanism` and `CustomSystem` for a run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, cast

import numpy as np

from ...arrays import Array
from ...dynamics.dry_friction import sticks
from ...dynamics.terms import Terms
from ...errors import InputError
from ...mechanism.core.contact_refusals import has_contacts
from ...mechanism.mechanism import Mechanism
from ...mechanism.spec import MechanismSpec
from ...projection.decomposition import ranked_svd
from ...projection.system_kinematics import dimensionless
from .custom_system import CustomSystem

SMALL = 16  # coordinates up to which singular values cost less than the steps that they are computed for


class Supplied(NamedTuple):
    """The values that Python supplies at a state: applied force tau (nv,) (None: the force that is held),
    drives (nd, 3), user rows (n, 3 + nv), and M (nv, nv) and h (nv,) where the system supplies them."""

    tau: Any  # Array, or None
    drive: Array | None
    user: Array | None
    M: Array | None
    h: Array | None


class System:
    """A system with its kernel; all methods take states without checking them.

    Attributes:
        original: the `Mechanism` or `CustomSystem`.
        supplies_inertia: whether M and h come from Python functions.
        has_drives, has_user_rows: whether it has such constraints.
        has_user_terms: whether inertia, constraint rows or forces come from Python functions.
        called_at_every_stage: whether Python functions, drives included, are called at every stage.
        actuated: index into v of each actuator (nu,).
        further_force: of (t, q, v, applied force) (nv,), added to the applied force at every stage; None.
    """

    def __init__(self, system: Any) -> None:
        if isinstance(system, MechanismSpec):
            raise InputError("simulate takes a Mechanism, got a MechanismSpec; compile it: spec.compile().")
        if not isinstance(system, (Mechanism, CustomSystem)):
            raise InputError(f"simulate takes a Mechanism or a CustomSystem, got {type(system).__name__}.")
        self.original: Any = system
        self.supplies_inertia = isinstance(system, CustomSystem)
        self.model, self.evaluator, self.units = system.model, system.evaluator, system.units
        self.kernel: Any = system.evaluator.kernel
        self.name, self.length = system.name, system.length
        self.nq, self.nv, self.nc, self.nu = system.nq, system.nv, system.nc, system.nu
        self.actuated = np.array([x.index for x in self.model.actuators], dtype=int)
        self.has_drives, self.has_user_rows = bool(self.model.drives), bool(self.model.customs)
        self.has_user_terms = self.supplies_inertia or len(self.model.u_row) > 0
        self.called_at_every_stage = self.has_user_terms or self.has_drives
        self.further_force: Callable[[float, Array, Array, Array], Array] | None = None

    def called(self, t: float, q: Array, v: Array) -> tuple[Array | None, ...]:
        """What Python functions of the system return at one state: drive, user, M, h of `Supplied`."""
        drive = self.model.drive_values(t) if self.has_drives else None
        user = self.evaluator.user(q[None], v[None], t)[0] if len(self.model.u_row) else None
        return drive, user, *(self.original.inertia(q, v, t) if self.supplies_inertia else (None, None))

    def constraints(self, t: Array, q: Array, v: Array) -> tuple[Array, Array, Array, Array]:
        """phi (k, nc), J (k, nc, nv), b, gamma of k states at their times t (k,)."""
        if self.has_drives or self.has_user_rows:
            each = [self.evaluator.constraints(*one) for one in zip(q, v, t.tolist(), strict=True)]
            phi, J, b, gamma = (np.stack(part) for part in zip(*each, strict=True))
            return phi, J, b, gamma
        q, v = np.ascontiguousarray(q), np.ascontiguousarray(v)
        phi, J, b, gamma = self.kernel.constraints(q, v, *self.no_user_rows(len(q)))
        return phi, J, b, gamma

    def no_user_rows(self, count: int) -> tuple[Array, Array]:
        """Drives (count, 0, 3) and user rows (count, n, 3 + nv) of a system without either."""
        return np.zeros((count, 0, 3)), np.zeros((count, len(self.model.u_row), 3 + self.nv))

    def terms(self, t: float, q: Array, v: Array) -> Terms:
        """M, h, phi, J, b, gamma at one state."""
        return cast(Terms, self.original.terms(q, v, t))

    def singular_values(self, t: Array, q: Array) -> Array:
        """Singular values (k, min(nc, nv)) of the dimensionless J, descending."""
        if self.nc == 0:
            return np.zeros((len(q), 0))
        _, J, _, _ = self.constraints(t, q, np.zeros((len(q), self.nv)))
        return np.asarray(np.linalg.svd(J * self.units.unit / self.units.row_unit[:, None], compute_uv=False))

    def loses_rank(self, t: float, q: Array, rank: int) -> bool:
        """Whether J, of this rank at the pose q (nq,), has a higher rank nearby."""
        return rank < self.nc and self.evaluator.loses_rank(q, t, rank)

    def nearness(self, t: Array, q: Array, rank: int) -> Array:
        """A measure that is zero where the singular value number `rank` of the dimensionless J is, (k,).

        Singular values are expensive for large mechanisms; there it is the smallest of `rank` pivots.
        """
        return self.singular_values(t, q)[:, rank - 1] if self.nv <= SMALL else self.least_pivots(t, q, rank)

    def least_pivots(self, t: Array, q: Array, rank: int) -> Array:
        """The smallest of `rank` pivots of the dimensionless J, (k,); with user rows the singular value."""
        if self.has_drives or self.has_user_rows:
            return self.singular_values(t, q)[:, rank - 1]
        rest, none = np.zeros((len(q), self.nv)), self.no_user_rows(len(q))
        return np.asarray(self.kernel.pivots(np.ascontiguousarray(q), rest, *none, rank))

    def record(self, t: float, q: Array, v: Array, a: Array, tau: Array) -> dict[str, Any]:
        """The fields of `Steps`, and J, at a state that the compiled run has not computed."""
        phi, J, b, _ = self.evaluator.constraints(q, v, t)
        svd = ranked_svd(dimensionless(self.evaluator, J), self.units.rank_tol)
        drift, rate = (float(np.max(np.abs(x) / self.units.row_unit, initial=0.0)) for x in (phi, J @ v - b))
        known = {"t": t, "q": q, "v": v, "a": a, "tau": tau, "J": J, "rank": svd.rank}
        pivot = float(svd.s[svd.rank - 1]) if svd.rank else 1e300
        return known | {"drift": drift, "velocity_drift": rate, "pivot": pivot}

    def energy(self, t: Array, q: Array, v: Array) -> Array:
        """Total energy [J] of k states, (k,); NaN for a CustomSystem without a potential."""
        if self.supplies_inertia:
            each = zip(q, v, t.tolist(), strict=True)
            return np.array([self.original.energy(*one).total for one in each], dtype=float)
        return np.asarray(self.original.energy(q, v).total)

    def work_done(self) -> str:
        """Why the energy of the system changes, in words; empty if nothing does work."""
        if self.supplies_inertia:
            return "the system supplies its own terms, which the kernel cannot turn into an energy"
        m = self.model
        reasons = {
            "drives do work": self.has_drives,
            "joints have damping": np.any(m.damping) or any(any(body.stop_damping) for body in m.bodies),
            "joints have friction": np.any(m.friction) or sticks(m),
            "surfaces touch": has_contacts(m),
            **{force.work(): True for _, force in m.forces if force.work()},
        }
        return next((text for text, true in reasons.items() if true), "")

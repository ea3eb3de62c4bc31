"""Exact derivatives by parameters: of states, of motions, and of what is measured there.

The pose follows from the implicit function theorem, J dq = -phi_p, the velocity likewise. The kernel then
differentiates the motion along (model, q, v, tau) with dual numbers (`kernels/derivatives/variation.hpp`);
derivatives of the model's numbers come from the recorded program of the description. Measures are evaluated
once more with numbers x + i h x', h = 1e-60: what is imaginary is h times the derivative, and nothing cancels
[Squire1998].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._kernel import RANK_TOL
from ...arrays import Array
from ...constraints.user_forces import forces_of_user
from ...dual_numbers import jacobian
from ...dynamics.dry_friction import sticks
from ...dynamics.forward import Motion, body_loads
from ...models.variant_model import ModelSlopes
from ..describe.measure import UserMeasure
from ..describe.measured_states import MeasuredStates, changes_in_time
from .design_variants import model_slopes
from .opened_loops import OPENS, opened_loop

if TYPE_CHECKING:
    from ..mechanism import Mechanism

STEP = 1e-60  # imaginary: its square is nothing beside 1
LOADS = ("R", "p", "V", "A", "W", "W_at", "F", "F_at")  # parts of Motion._body_loads
ROWS, ACCELERATION, EVERYTHING = range(3)  # what Kernel.variation differentiates
PARTS = ("phi", "slip", "a", "lam", "energy", "q", *LOADS)  # results of Kernel.variation


@dataclass(frozen=True)
class Situation:
    """States at which to differentiate, and what stays the same while parameters change.

    Attributes:
        q, v: positions (B, nq) and velocities (B, nv).
        tau: applied force (B, nv).
        t: times [s] (B,).
        fixed: coordinates that keep their positions and velocities.
        moving: whether velocities satisfy the constraints, and follow them; otherwise they stay as given.
    """

    q: Array
    v: Array
    tau: Array
    t: Array
    fixed: tuple[str, ...]
    moving: bool = True


class StateSlopes:
    """Derivatives by P parameters at B states.

    Attributes:
        q, v, a, lam: of tangent increments of the pose and of velocities (P, B, nv), of accelerations
            (P, B, nv) and multipliers (P, B, nc).
        determined: whether constraints and fixed coordinates leave no freedom.
    """

    def __init__(
        self,
        mech: Mechanism,
        at: Situation,
        names: Sequence[str],
        model: ModelSlopes,
        known: tuple[Array, ...] | None = None,
    ) -> None:
        """known: derivatives of q, v, tau (P, B, nv) along a run; None: they follow from the constraints."""
        self._mech, self._model = mech, model
        self._states = at.q, at.v, at.tau, *_outside(mech, at)
        self._real = MeasuredStates(mech, at.q, at.v, at.t, at.tau)
        self._ranks = np.asarray(self._real.motion.rank, dtype=np.int32).reshape(len(at.q))
        self.determined = True
        if known is None:
            self._tau = np.zeros((len(names), len(at.q), mech.nv))
            self._follow(at, names)
        else:
            self.q, self.v, self._tau = known
        self._slopes = self._vary(self._tau + self._user_forces(at), motion=True)
        self.a, self.lam = self._slopes["a"], self._slopes["lam"]

    @property
    def are_finite(self) -> bool:
        """Whether there is a derivative of every acceleration and multiplier."""
        return bool(np.all(np.isfinite(self.a)) and np.all(np.isfinite(self.lam)))

    def keep_rank(self, at: Situation) -> bool:
        """Whether the constraints lose rank at none of the states."""
        evaluator = self._mech.evaluator
        lost = np.flatnonzero(self._ranks < self._mech.nc)
        return not any(evaluator.loses_rank(at.q[i], float(at.t[i]), int(self._ranks[i])) for i in lost)

    def _follow(self, at: Situation, names: Sequence[str]) -> None:
        """self.q, self.v where constraints and fixed coordinates say how the states change."""
        mech = self._mech
        M, _, _, J, _, _ = mech.model.kernel.terms(*self._states[:2], *self._states[3:])
        follow = [Follower(mech, at, M[i], J[i]) for i in range(len(at.q))]
        self.determined = all(one.determined for one in follow)
        rest = np.zeros((len(names), len(at.q), mech.nv))

        def followed(change: Array) -> Array:
            return np.array(
                [
                    [one.along(name, x) for one, x in zip(follow, rows, strict=True)]
                    for name, rows in zip(names, change, strict=True)
                ]
            ).reshape(rest.shape)

        self.q, self.v = rest, rest
        if mech.nc:
            self.q = followed(self._vary(rest)["phi"] * mech.model.holonomic)
            self.v = followed(self._vary(rest)["slip"]) if at.moving else rest

    def _vary(self, tau: Array, motion: bool = False) -> dict[str, Array]:
        """What the kernel says along the changes of the pose and velocity that are known so far."""
        changes = tuple(np.ascontiguousarray(x) for x in (self.q, self.v, tau))
        found = self._mech.model.kernel.variation(
            self._states, changes, self._model.fields, self._ranks, EVERYTHING if motion else ROWS
        )
        return dict(zip(PARTS, found, strict=True))

    def _user_forces(self, at: Situation) -> Array:
        """Changes (P, B, nv) of forces of the user's on coordinates."""
        tau = np.zeros(self.q.shape)
        for force in forces_of_user(self._mech.evaluator):
            for i, (q, v) in enumerate(zip(at.q, at.v, strict=True)):
                by_q, by_v = force.slopes(q, v, float(at.t[i]))
                tau[:, i] += self.q[:, i] @ by_q.T + self.v[:, i] @ by_v.T
        return tau

    def measures(self, direction: int) -> tuple[dict[str, Array], set[str]]:
        """Derivatives (B, ...) of all measures by one parameter, and the names of those by differences."""
        states = _SteppedStates(self._real, self._model, direction, self._parts(direction))
        found, by_differences = {}, set[str]()
        for name, one in states.mech.model.measures:
            if isinstance(one, UserMeasure):
                found[name], exact = self._of_user(one, direction)
                by_differences |= set() if exact else {name}
            else:
                found[name] = np.imag(one.values(states)) / STEP
        return found, by_differences

    def _parts(self, direction: int) -> dict[str, Array]:
        """Numbers of all states with their derivatives times the step as imaginary parts."""
        real, slopes = self._real, self._slopes
        loads = zip(LOADS, body_loads(real.motion), strict=True)
        values = {"q": real.q, "a": real.motion.a, "lam": real.motion.lam, **dict(loads)}
        parts = {name: x + 1j * STEP * slopes[name][direction].reshape(x.shape) for name, x in values.items()}
        parts["v"] = real.v + 1j * STEP * self.v[direction]
        parts["tau"] = real.tau + 1j * STEP * self._tau[direction]
        return parts

    def _of_user(self, measure: UserMeasure, direction: int) -> tuple[Array, bool]:
        """Derivatives (B, ...) of a function of the user's, and whether by dual numbers everywhere."""
        nq, rows, exact = self._mech.nq, [], True
        for i, (q, v, t) in enumerate(zip(self._real.q, self._real.v, self._real.t.tolist(), strict=True)):
            change = np.concatenate([self._slopes["q"][direction, i], self.v[direction, i]])
            by_state, dual = jacobian(partial(_of_both, measure.function, nq, t), np.concatenate([q, v]))
            rows.append(by_state @ change)
            exact &= dual
        shape = np.shape(measure.function(self._real.q[0], self._real.v[0], float(self._real.t[0])))
        return np.array(rows).reshape(len(rows), *shape), exact


def _of_both(function: Any, nq: int, t: float, z: Any) -> Any:
    """A function of (q, v, t) as one of both, (nq + nv,)."""
    return np.asarray(function(z[:nq], z[nq:], t))


def _outside(mech: Mechanism, at: Situation) -> tuple[Array, Array]:
    """Values of drives and of functions of the user's at all states, as the kernel takes them."""
    if not changes_in_time(mech, at.t):
        return mech.evaluator.outside(at.q, at.v, float(at.t[0]))
    each = [mech.evaluator.outside(at.q[i : i + 1], at.v[i : i + 1], float(t)) for i, t in enumerate(at.t)]
    drive, user = (np.concatenate(part) for part in zip(*each, strict=True))
    return drive, user


class _SteppedStates(MeasuredStates):
    """States whose numbers have imaginary parts, as measures see them."""

    def __init__(
        self, real: MeasuredStates, model: ModelSlopes, direction: int, parts: dict[str, Array]
    ) -> None:
        stepped = model.stepped(real.mech.model, direction, STEP)
        mech: Any = SimpleNamespace(model=stepped, names=real.mech.names)
        super().__init__(mech, parts["q"], parts["v"], real.t, parts["tau"])
        motion = real.motion
        self.motion = Motion(
            parts["a"], motion.constraint_force, parts["lam"], motion.lam_unique, motion.rank,
            _q=self.q, _v=self.v, _model=stepped,
        )  # fmt: skip
        self._loads = [parts[name] for name in LOADS]
        self.motion.__dict__["_body_loads"] = self._loads

    def frames(self, body: str) -> tuple[Array, Array]:
        k = self.mech.model.body_index(body)
        return self._loads[0][:, k], self._loads[1][:, k]

    def speed(self, body: str, p_BP: Any) -> Array:
        (R, _), V = self.frames(body), self._loads[2][:, self.mech.model.body_index(body)]
        return np.asarray(V[:, :3] + np.cross(V[:, 3:], R @ np.asarray(p_BP)))


class Follower:
    """How one state follows the constraints while parameters change."""

    def __init__(self, mech: Mechanism, at: Situation, M: Array, J: Array) -> None:
        self._mech, self._fixed = mech, at.fixed
        unit, self._row_unit = mech.units.unit, mech.units.row_unit
        self._free = np.ones(mech.nv, dtype=bool)
        for one in at.fixed:
            self._free[list(mech.model.structure.tree.coordinates(one))] = False
        self._unit = unit[self._free]
        self._U, s, Vt = np.linalg.svd((J * unit)[:, self._free] / self._row_unit[:, None])
        r = int(np.sum(s > RANK_TOL))
        self.determined = r == len(self._unit)
        self._s, self._V, self._N = s[:r], Vt[:r].T, Vt[r:].T
        if self._N.size:
            inside = self._N.T @ (M[np.ix_(self._free, self._free)] * np.outer(self._unit, self._unit))
            self._least = self._N @ np.linalg.solve(inside @ self._N, inside)

    def along(self, name: str, change: Array) -> Array:
        """x (nv,) with J x = -change, zero along fixed coordinates, the least in the mass metric."""
        c, r = change / self._row_unit, len(self._s)
        left = self._U[:, r:] @ (self._U[:, r:].T @ c)
        if np.max(np.abs(left), initial=0.0) > OPENS * np.max(np.abs(c), initial=1.0):
            raise opened_loop(self._mech, self._fixed, name, left)
        y = self._V @ (-(self._U[:, :r].T @ c) / self._s)
        if self._N.size:
            y = y - self._least @ y
        x = np.zeros(len(self._free))
        x[self._free] = self._unit * y
        return x


def state_slopes(
    mech: Mechanism, at: Situation, names: Sequence[str], known: tuple[Array, ...] | None = None
) -> StateSlopes | None:
    """Exact derivatives by the named parameters; None where only differences serve.

    known: derivatives of q, v and tau (P, B, nv) where the states lie on a run that has been differentiated.

    Only they serve for measures by sensors and of user forces, rows that Python computes, user forces between
    bodies or of functions that know no dual numbers, friction that sticks, drives whose function has
    parameters, descriptions that need more than arithmetic or take another way right here, and states in
    which the constraints lose rank.

    Raises:
        AssemblyError: a parameter opens an overconstrained loop.
    """
    if not _are_smooth(mech, at) or not names:
        return None
    slopes = model_slopes(mech, names)
    if slopes is None:
        return None
    found = StateSlopes(mech, at, names, slopes, known)
    return found if found.keep_rank(at) and found.are_finite else None


def _are_smooth(mech: Mechanism, at: Situation) -> bool:
    """Whether there are states, and everything that acts on them knows its derivatives."""
    if mech.model.customs or sticks(mech.model) or not len(at.q):
        return False
    if not all(one.takes_steps(mech.model) for _, one in mech.model.measures):
        return False
    first = at.q[0], at.v[0], float(at.t[0])
    forces = list(forces_of_user(mech.evaluator))
    return all(not force.given.bodies() and force.knows_duals(*first) for force in forces)

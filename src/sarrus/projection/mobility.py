"""Mobility of a pose: degrees of freedom, redundant rows by name, singularity, in numbers and in words.

All ranks are those of the dimensionless J (lengths divided by L), with the absolute tolerance `rank_tol`.

A row is redundant when it depends on rows declared before it. The rank of the first i rows grows by at most
one with i (singular values interlace, [Golub2013] sec. 8.6), so the rows at which it does not grow are
unique and their number is nc - rank.

A pose is singular when rows that are independent nearby are dependent here. With w.T J = 0 the rank grows
along a tangent direction n to first order unless w.T J'(v) n = 0 for all tangent v, n. That form is
symmetric, so it vanishes exactly when w.T gamma(v) = -w.T J'(v) v does for every tangent v. Rows that are
redundant in every pose pass this test, rows that lose rank in this one do not.

A coordinate that no tangent velocity moves is locked if the same holds at a neighbouring pose on the
constraints; otherwise it is at rest at this pose only, as a slider at its dead centre.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ..arrays import Array, BoolArray
from .branches import second_order_forms
from .closing import close
from .decomposition import RankedSVD, rank_of, ranked_svd
from .system_kinematics import Kinematics, dimensionless
from .tangent_cone import independent_forms, rigid_directions

ALONE_TOL = 1e-9  # on the diagonal of the projector
NEARBY = 0.05  # distance of the neighbouring pose that tells a dead centre from a lock [rad], or times L [m]
NEARLY_SINGULAR = 1e5  # condition above which explain() warns
CLEARLY_REGULAR = 1e-3  # smallest pivot of the elimination, within a small factor the smallest singular value
MOST_LISTED = 12
LOCKED_BY_DRIVES = " Nothing moves but what the drives prescribe."
STRUCTURE = " The mechanism is a structure: it cannot move from this pose."
MOST_BISECTED = 100  # rows up to which ranks of leading rows are quick
CLEARLY_INDEPENDENT = 1e-6  # of a row, beside those above it


@dataclass(frozen=True)
class Mobility:
    """Degrees of freedom and redundancy of the constraints at a pose. What is read is computed when read:
    for mechanisms of more than 64 coordinates also `singular_values`, unless the rank needs them.

    Of a batch of poses (B, nq) numbers are arrays (B,), names and texts object arrays (B,), and `mobility[i]`
    is that of one pose.

    Attributes:
        rank: number of independent rows.
        gap: largest |phi| [m], angles multiplied by the length L.
    """

    rank: int | Any
    gap: float | Any
    _system: Kinematics = field(repr=False)
    _q: Array = field(repr=False)
    _t: float = field(repr=False)
    _pivot: float | Any = field(default=0.0, repr=False)  # smallest one of the elimination; 0: not known

    def __getitem__(self, i: Any) -> Mobility:
        """That of one pose of a batch, or of some."""
        kept = ("rank", "gap", "_q", "_pivot", "_diagonal", "singular_values", "_J")
        parts = {name: np.asarray(self.__dict__[name])[i] for name in kept if name in self.__dict__}
        if parts["_q"].ndim == 1:
            parts |= {name: parts[name].item() for name in ("rank", "gap", "_pivot") if name in parts}
        found = object.__new__(Mobility)
        found.__dict__.update(parts, _system=self._system, _t=self._t)
        return found

    def _repr_html_(self) -> str:
        """What notebooks show."""
        from ..viz.notebook import mobility_html

        return mobility_html(self)

    @cached_property
    def singular_values(self) -> Array:
        """Of the dimensionless J, descending (min(nc, nv),)."""
        return np.asarray(np.linalg.svd(self._J, compute_uv=False), dtype=float)

    @cached_property
    def _J(self) -> Array:
        """Without units (nc, nv)."""
        found = self._one_by_one(Mobility._rows)
        return np.stack(list(found)) if self._q.ndim > 1 else np.asarray(found)

    @cached_property
    def _diagonal(self) -> Array:
        """Of the projector onto the null space (nv,): 0 for a coordinate at rest, 1 for a free one."""
        return _projector_diagonal(self._svd)

    @property
    def nv(self) -> int:
        """Number of coordinates."""
        return self._system.nv

    @property
    def nc(self) -> int:
        """Number of rows."""
        return self._system.nc

    @property
    def dof(self) -> int | Any:
        """Degrees of freedom in velocity, nv - rank, less the states of first order, which move nothing."""
        return self.nv - self.rank - self.states

    @property
    def states(self) -> int:
        """Number of states of first order among the coordinates."""
        return len(self._state_names)

    @property
    def _state_names(self) -> tuple[str, ...]:
        names: tuple[str, ...] = getattr(self._system, "state_names", ())
        return names

    @property
    def gruebler(self) -> int:
        """nv - nc, what counting rows would give."""
        return self.nv - self.nc - self.states

    @property
    def condition(self) -> float | Any:
        """Largest over smallest nonzero singular value of the dimensionless J; 1 without rows."""
        if self._q.ndim > 1:
            return self._one_by_one(lambda one: one.condition).astype(float)
        return float(self.singular_values[0] / self.singular_values[self.rank - 1]) if self.rank else 1.0

    @property
    def nonholonomic(self) -> int:
        """Number of rows that restrict velocities only."""
        return int(np.sum(~self._system.holonomic))

    @property
    def driven(self) -> bool:
        """Whether drives prescribe motions."""
        return self._system.driven

    @cached_property
    def redundant(self) -> tuple[str, ...] | Any:
        """Names of the rows that depend on rows declared before them."""
        return self._one_by_one(Mobility._redundant)

    @cached_property
    def is_singular(self) -> bool | Any:
        """Rows that are independent nearby depend on each other at this pose."""
        found = self._one_by_one(Mobility._singular)
        return found if self._q.ndim == 1 else found.astype(bool)

    @cached_property
    def is_rigid(self) -> bool | Any:
        """Nothing can move, although there are degrees of freedom in velocity: second-order rigidity."""
        found = self._one_by_one(Mobility._rigid)
        return found if self._q.ndim == 1 else found.astype(bool)

    @property
    def locked(self) -> tuple[str, ...] | Any:
        """Names of the coordinates that cannot move, here and nearby."""
        return self._one_by_one(lambda one: one._still[0])

    @property
    def at_rest(self) -> tuple[str, ...] | Any:
        """Names of the coordinates that cannot move at this pose but do nearby: dead centres."""
        return self._one_by_one(lambda one: one._still[1])

    @cached_property
    def free(self) -> tuple[str, ...] | Any:
        """Names of the coordinates that can move while all others stand still."""
        return self._one_by_one(lambda one: one._named(one._diagonal > 1.0 - ALONE_TOL))

    def explain(self) -> str | Any:
        """The result in words."""
        return self._one_by_one(Mobility._text)

    def _one_by_one(self, what: Callable[[Mobility], Any]) -> Any:
        """what(mobility) of one pose; of a batch an object array."""
        if self._q.ndim == 1:
            return what(self)
        found = np.empty(self._q.shape[:-1], dtype=object)
        for i in np.ndindex(found.shape):
            found[i] = what(self[i])
        return found

    def _rows(self) -> Array:
        """The dimensionless J of one pose."""
        _, J, _, _ = self._system.constraints(self._q, np.zeros(self.nv), self._t)
        return dimensionless(self._system, J)

    def _redundant(self) -> tuple[str, ...]:
        if self.rank == self.nc:
            return ()
        dependent = dependent_rows(self._J, self._system.rank_tol, self.rank)
        return tuple(self._system.row_names[i] for i in dependent)

    def _singular(self) -> bool:
        return self.rank < self.nc and self._system.loses_rank(self._q, self._t, self.rank)

    def _rigid(self) -> bool:
        if not self.is_singular:
            return False
        forms = independent_forms(second_order_forms(self._system, self._q, self._t, self._svd))
        return len(rigid_directions(forms)) == int(self.dof + self.states)

    @cached_property
    def _still(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Names of the coordinates at rest here: those that rest nearby too, those that move there."""
        still = self._diagonal < ALONE_TOL
        if not np.any(still) or self.rank == self.nv:
            return self._named(still), ()
        moving = _moves_nearby(self._system, self._q, self._t, self._svd)
        return self._named(still & ~moving), self._named(still & moving)

    @cached_property
    def _svd(self) -> RankedSVD:
        return ranked_svd(self._J, self._system.rank_tol, self.rank)

    def _named(self, which: BoolArray) -> tuple[str, ...]:
        return tuple(self._system.coordinate_names[i] for i in np.flatnonzero(which))

    def _text(self) -> str:
        said = [self._count(), self._redundancy(), self._singularity(), self._coordinates(), self._openness()]
        return "\n".join(line for line in said if line)

    def _count(self) -> str:
        freedom = f"{self.dof} degree{'' if self.dof == 1 else 's'} of freedom"
        if self.nc == 0:
            return f"{freedom}: {self.nv - self.states} coordinates and no constraint."
        line = f"{freedom}: {self.nv - self.states} coordinates less {self.rank} independent constraint rows"
        line += "." if self.rank == self.nc else f" (of {self.nc})."
        if self.dof == 0:
            line += LOCKED_BY_DRIVES if self.driven else STRUCTURE
        if self.nonholonomic:
            line += f" {self.nonholonomic} of the rows restrict velocities only (rolling)."
        return line

    def _redundancy(self) -> str:
        if not self.redundant:
            return "All rows are independent." if self.nc else ""
        verb = "row depends" if len(self.redundant) == 1 else "rows depend"
        return (
            f"{len(self.redundant)} {verb} on rows declared before: {listed(self.redundant)}. Counting"
            f" rows (Gruebler) would give {self.gruebler}. They do no harm: motion and constraint_force are"
            " unique; only how dependent rows share the load in lam is not."
        )

    def _singularity(self) -> str:
        if self.is_rigid:
            return (
                "The pose is singular and rigid to second order: no velocity that is possible at this pose"
                " continues into a motion. A small change of the dimensions opens a motion, or a gap."
            )
        if self.is_singular:
            return (
                "The pose is singular: rows that are independent nearby depend on each other here. Not every"
                " velocity that is possible at this pose continues into a motion."
            )
        if self._pivot < CLEARLY_REGULAR and self.condition > NEARLY_SINGULAR:
            return (
                f"The pose is close to a singular one: condition {self.condition:.1e},"
                f" smallest singular value {self.singular_values[self.rank - 1]:.1e}."
            )
        return ""

    def _coordinates(self) -> str:
        parts = []
        if self.locked and self.dof:
            parts.append(f"Locked by the constraints: {listed(self.locked)}.")
        if self.at_rest:
            names = listed(self.at_rest)
            parts.append(f"At rest at this pose only (as at a dead centre), moving nearby: {names}.")
        free = tuple(name for name in self.free if name not in self._state_names)
        if free and self.nc:
            parts.append(f"Moves on its own, all else at rest: {listed(free)}.")
        return " ".join(parts)

    def _openness(self) -> str:
        if self.gap <= 1e-9 or self.gap <= 1e-9 * (float(self.singular_values[0]) if self.rank else 1.0):
            return ""
        return (
            f"Careful: the constraints are open by {self.gap:.2e} m at this pose. Rows that are redundant"
            " when closed look independent when open; assemble first."
        )


def _projector_diagonal(svd: RankedSVD) -> Array:
    """Diagonal of the projector onto the null space (nv,): 0 for a coordinate at rest, 1 for a free one."""
    return np.asarray(np.sum(svd.Vt[svd.rank :] ** 2, axis=0))


def _moves_nearby(system: Kinematics, q: Array, t: float, svd: RankedSVD) -> BoolArray:
    """Which coordinates (nv,) move at a neighbouring pose, one step from q along a tangent direction."""
    tangent = svd.Vt[svd.rank :]
    y = np.random.default_rng(1853).standard_normal(tangent.shape[0])
    step = system.unit * (NEARBY * y / np.linalg.norm(y) @ tangent)
    found = close(system, system.integrate(q, step), t)
    _, J, _, _ = system.constraints(found.q, np.zeros(system.nv), t)
    if not found.closed or not np.all(np.isfinite(J)):
        return np.zeros(system.nv, dtype=bool)
    nearby = ranked_svd(dimensionless(system, J), system.rank_tol)
    return np.asarray(_projector_diagonal(nearby) >= ALONE_TOL)


def dependent_rows(J: Array, tol: float, rank: int | None = None) -> list[int]:
    """Rows of J that depend on the rows above them.

    By bisection on the rank of the leading rows; of many rows by what is left of each beside those above it,
    where that is clear.

    Args:
        J: dimensionless Jacobian (nc, nv).
        tol: absolute tolerance on its singular values.
        rank: rank of the whole J, if known.
    """

    def lost(rows: int) -> int:
        return rows - rank_of(J[:rows], tol)

    def between(low: int, high: int, lost_low: int, lost_high: int) -> list[int]:
        if lost_low == lost_high:
            return []
        if high - low == 1:
            return [low]
        middle = (low + high) // 2
        lost_middle = lost(middle)
        return between(low, middle, lost_low, lost_middle) + between(middle, high, lost_middle, lost_high)

    nc = J.shape[0]
    found = _clearly_dependent(J, tol) if nc > MOST_BISECTED else None
    if found is not None and rank in (None, nc - len(found)):
        return found
    return between(0, nc, 0, lost(nc) if rank is None else nc - rank)


def _clearly_dependent(J: Array, tol: float) -> list[int] | None:
    """Rows of J that depend on those above them; None where some row is close to depending on them."""
    basis, count, found = np.empty((min(J.shape), J.shape[1])), 0, []
    for i, row in enumerate(J):
        left, above = row, basis[:count]
        for _ in range(2 if np.any(row) else 0):  # the second time for what rounding left in the first
            left = left - (above @ left) @ above
        size = float(np.linalg.norm(left))
        if tol < size < CLEARLY_INDEPENDENT or (size > tol and count == len(basis)):
            return None
        if size <= tol:
            found.append(i)
        else:
            basis[count] = left / size
            count += 1
    return found


def listed(names: tuple[str, ...]) -> str:
    """Names in a sentence, cut after a dozen."""
    if len(names) <= MOST_LISTED:
        return ", ".join(names)
    return ", ".join(names[:MOST_LISTED]) + f" and {len(names) - MOST_LISTED} more"

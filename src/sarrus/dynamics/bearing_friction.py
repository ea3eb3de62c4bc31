"""Friction whose bounds are mu times bearing loads: the bounds of states, and the forces that belong to them.

The load R of a joint depends on the motion, which depends on the friction f. The rule is a fixed point,

    f -> motion under f -> R -> bounds mu R -> f                                                          (1)

repeated until the bounds change by less than SETTLED, from the friction that holds all that is at rest: what
can stick sticks. It contracts where friction changes the loads by less than it is itself; where it does not
settle, the machine jams or has no motion, and the caller is told.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..arrays import Array, BoolArray
from ..errors import InputError
from ..models.model import Model
from .bearings import External
from .dry_friction import DryFriction, Friction
from .forward import Motion

SETTLED = 1e-12  # change of bounds, relative to the largest so far
MOST = 200  # rounds of (1)


def fixed_point(rule: Callable[[Array], Array], start: Array) -> Array | None:
    """x = rule(x) from a start on, x (k,) not negative; None where it does not settle.

    Every second round goes on to the limit of a geometric sequence, Aitken's rule, unless it only grows.
    """
    x, last, size = start, np.zeros_like(start), float(np.max(np.abs(start), initial=0.0))
    for i in range(MOST):
        now = rule(x)
        change, size = now - x, max(size, float(np.max(np.abs(now), initial=0.0)))
        if np.max(np.abs(change), initial=0.0) <= SETTLED * size:
            return now
        ratio = float(change @ last) / max(float(last @ last), 1e-300)
        if i % 2 == 1 and ratio < 1.0 and abs(ratio) > 0.1:
            now = np.maximum(now + change * ratio / (1.0 - ratio), 0.0)
        x, last = now, change
    return None


class UnsettledError(InputError):
    """Friction by load finds no force."""


@dataclass(frozen=True)
class BearingLoads:
    """The joints of a model whose friction grows with their load.

    Attributes:
        friction: the rows of friction of the model.
        model: the model, or one with more constraints.
    """

    friction: DryFriction
    model: Model

    @cached_property
    def _declared(self) -> list[tuple[int, Any, Array]]:
        """Row of friction, declaration and axis of each."""
        tree, rows = self.model.structure.tree, self.friction.coordinates.tolist()
        given: list[Any] = [force for _, force in self.model.forces if force.by_load]
        return [(rows.index(tree.coordinate(one.coordinate, "")), one, one.axis(tree)) for one in given]

    def bounds(self, q: Array, v: Array, a: Array, lam: Array, external: tuple[External, ...] = ()) -> Array:
        """mu times the load of each row of friction, (n, k) [N m, N], in n motions; 0 where it has none."""
        return self.bounds_of(self.wrenches(q, v, a, lam, external))

    def wrenches(self, q: Array, v: Array, a: Array, lam: Array, external: tuple[External, ...]) -> Array:
        """Wrenches (n, number of bearings, 6) [N, N m] of the joints in n motions, in their own axes."""
        motion = self._motion(q, v, a, lam, external)
        return np.stack([motion.reaction(given.coordinate, "B") for _, given, _ in self._declared], axis=1)

    def bounds_of(self, wrenches: Array) -> Array:
        """mu times the load of each row (n, k) under the wrenches of the joints (n, number, 6)."""
        out = np.zeros((len(wrenches), len(self.friction.coordinates)))
        for i, (row, given, axis) in enumerate(self._declared):
            out[:, row] += given.bound(wrenches[:, i], axis)
        return out

    def unique(self, q: Array, v: Array, a: Array, lam: Array) -> BoolArray:
        """Which rows (k,) have loads that the motion of one state determines."""
        motion = self._motion(q[None], v[None], a[None], lam[None], ())
        out = np.ones(len(self.friction.coordinates), dtype=bool)
        for row, given, axis in self._declared:
            entries = np.abs(axis) < 0.5  # forces across the axis
            known = motion.reaction_unique(given.coordinate, "B")[0]
            out[row] &= known[:3][entries].all() and (not given.length or known[3:][entries].all())
        return out

    def _motion(self, q: Array, v: Array, a: Array, lam: Array, external: tuple[External, ...]) -> Motion:
        known = np.ones(lam.shape, dtype=bool)
        rank = np.zeros(len(q), dtype=int)  # not read
        return Motion(
            a, np.zeros_like(a), lam, known, rank, _q=q, _v=v, _model=self.model, _external=external
        )

    def settle(
        self, holding: Array, solve: Callable[[Array], Friction], loads: Callable[[Array], Array]
    ) -> Friction:
        """The friction of one state by (1).

        Args:
            holding: the friction (nv,) that would hold all rows at rest.
            solve: the friction with these bounds by load (k,).
            loads: the bounds by load (k,) of the motion with this friction (nv,).
        """
        extra = fixed_point(lambda x: loads(solve(x).force), loads(holding))
        if extra is None:
            raise self.unsettled()
        return solve(extra)

    def unsettled(self) -> UnsettledError:
        """The error where (1) finds no force."""
        names = ", ".join(repr(given.coordinate) for _, given, _ in self._declared)
        return UnsettledError(
            f"friction by load of {names} finds no force: more friction makes more load, so that the machine"
            " jams or has no motion. Take a smaller mu, or a constant friction: CoulombFriction."
        )

"""Friction whose bounds are mu times bearing loads: the bounds of states, and the forces that belong to them.

The load R of a joint depends on the motion, which depends on the friction f. The rule is a fixed point,

    f -> motion under f -> R -> bounds mu R -> f                                                          (1)

repeated until the bounds change by less than SETTLED, from the friction that holds all that is at rest: what
can stick sticks. It contracts where friction changes the loads by less than it is itself; where it does not
settle, the machine jams or has no motion, and the caller is told.

Here is the rule for states with coordinates at rest, and for loads that Python computes. Where all that has
friction slides, the kernel has it, kernels/solve/friction/friction_by_load.hpp.
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
from .dry_friction import DryFriction
from .forward import UNDETERMINED

SETTLED = 1e-12  # change of bounds, relative to the largest so far
MOST = 200  # rounds of (1)
FIRST_STEP = 1.0 / 16.0
ENDLESS = 1e100  # [N m, N]: bounds that grow beyond do not settle
LARGE = 1e3  # of the multipliers: changes of them that show whether loads are unique


def fixed_point(rule: Callable[[Array], Array], start: Array) -> Array | None:
    """x = rule(x) from a start on, x (k,) not negative; None where it does not settle.

    Every second round goes on to the limit of a geometric sequence, Aitken's rule, unless it only grows.
    The first step is a small one, which tells the slope: where whole rounds would swing wider and wider,
    steps follow it.
    """
    x, last, size = start, np.zeros_like(start), float(np.max(np.abs(start), initial=0.0))
    part = 1.0  # of a change that the last step was
    for i in range(MOST):
        now = rule(x)
        change, size = now - x, max(size, float(np.max(np.abs(now), initial=0.0)))
        if np.max(np.abs(change), initial=0.0) <= SETTLED * size:
            return now
        if not size < ENDLESS:
            return None
        grown = float(change @ last) / max(float(last @ last), 1e-300)
        part = _next_part(i, 1.0 + (grown - 1.0) / part)
        x, last = np.maximum(x + part * change, 0.0), change
    return None


def _next_part(i: int, ratio: float) -> float:
    """Which part of its change round i adds; ratio: of the changes of whole steps."""
    if i == 0:
        return FIRST_STEP
    to_limit = ratio < -1.0 or (i % 2 == 1 and ratio < 1.0 and abs(ratio) > 0.1)
    return 1.0 / (1.0 - ratio) if to_limit else 1.0


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
    def _declared(self) -> list[tuple[int, Any]]:
        """Row of friction and declaration of each."""
        tree, rows = self.model.structure.tree, self.friction.coordinates.tolist()
        given: list[Any] = [force for _, force in self.model.forces if force.by_load]
        constraints = dict(self.model.constraints)
        return [(rows.index(tree.coordinate(one.loaded_coordinate(constraints), "")), one) for one in given]

    @cached_property
    def by_kernel(self) -> bool:
        """Whether the kernel knows all loads: none of functions of the user's."""
        return len(self.model.u_row) == 0

    def bounds(self, q: Array, v: Array, a: Array, lam: Array, external: tuple[External, ...] = ()) -> Array:
        """mu times the load of each row of friction, (n, k) [N m, N], in n motions; 0 where it has none."""
        q, v, a, lam = (np.ascontiguousarray(x) for x in (q, v, a, lam))
        along = self.model.kernel.bearing_bounds(q, v, a, lam, self.outer(q, external))
        return np.asarray(along[:, self.friction.coordinates])

    def outer(self, q: Array, external: tuple[External, ...]) -> Array | None:
        """Wrenches on bodies that the kernel does not know, at their origins (n, nb, 6) in world axes."""
        if not external:
            return None
        R, p = self.model.kernel.poses(q)
        out = np.zeros((*p.shape[:2], 6))
        for body, wrench, point in external:
            out[:, body] += wrench
            out[:, body, 3:] += np.cross(R[:, body] @ point, wrench[..., :3])
        return out

    def unique(self, q: Array, v: Array, a: Array, lam: Array) -> BoolArray:
        """Which rows (k,) have loads that the motion of one state determines.

        Multipliers lam + w with w.T J = 0 give the same motion: their loads must be the same, too.
        """
        m, out = self.model, np.ones(len(self.friction.coordinates), dtype=bool)
        nothing = np.zeros((1, len(m.drives), 3)), np.zeros((1, len(m.u_row), 3 + m.nv))
        J = m.kernel.constraints(q[None], v[None], *nothing)[1][0]
        values, Vt = np.linalg.svd((J * m.unit / m.row_unit[:, None]).T)[1:]
        w = Vt[int(np.sum(values > float(m.rank_tol))) :] / m.row_unit
        if len(w) == 0:
            return out
        scale = LARGE * (1.0 + float(np.max(np.abs(lam))))
        qs, vs, each = (np.tile(x, (1 + len(w), 1)) for x in (q, v, a))
        bounds = self.bounds(qs, vs, each, lam + np.vstack([np.zeros(len(lam)), scale * w]))
        change, size = np.max(np.abs(bounds[1:] - bounds[0]), axis=0), np.zeros(len(out))
        for row, given in self._declared:
            size[row] += given.size
        return np.asarray(change <= UNDETERMINED * scale * np.max(np.abs(w)) * size)

    def unsettled(self) -> UnsettledError:
        """The error where (1) finds no force."""
        return UnsettledError(no_force(self.model))


def no_force(model: Model) -> str:
    """The sentence where (1) finds no force."""
    constraints = dict(model.constraints)
    loaded = [force.loaded_coordinate(constraints) for _, force in model.forces if force.by_load]
    names = ", ".join(map(repr, loaded))
    return (
        f"friction by load of {names} finds no force: more friction makes more load, so that the machine jams"
        " or has no motion. Take a smaller mu, or a constant friction: CoulombFriction."
    )

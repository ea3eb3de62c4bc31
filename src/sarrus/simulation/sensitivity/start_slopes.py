"""How the state at the start of a run changes with parameters.

A start that is the same for all values, and satisfies the constraints for all, does not change. Otherwise
(the default pose is assembled, drives prescribe velocities) derivatives are differences of order six of the
start alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...arrays import Array
from ...differences import slope_terms
from ...errors import SarrusError
from ...mechanism.mechanism import Mechanism
from ...mechanism.variants.design_variants import variants_of
from ...mechanism.variants.state_slopes import ROWS, Follower, Situation
from ...models.variant_model import ModelSlopes
from ..system.initial_state import initial_state
from ..system.system import System
from .variational_equation import NotSmoothError, outside

STEP = 2e-3  # relative to the parameter; absolute where it is zero
STILL = 1e-13  # change of phi or of J v, without units, times the size of the parameter, that is rounding
TERMS = slope_terms(6)
ONE_SIDED = (-49 / 20, 6.0, -15 / 2, 20 / 3, -15 / 4, 6 / 5, -1 / 6)  # weights at 0, 1, ..., 6 steps


@dataclass(frozen=True)
class Start:
    """How a run starts.

    Attributes:
        q0, v0: as `simulate` gets them.
        t: time [s].
        found: what finds both for a mechanism; None: they are the same for all.
    """

    q0: Any
    v0: Any
    t: float
    found: Callable[[Mechanism], tuple[Array, Array]] | None = None

    def state(self, mech: Mechanism) -> tuple[Array, Array]:
        """Pose (nq,) and velocity (nv,) of a mechanism at the start."""
        q0, v0 = (self.q0, self.v0) if self.found is None else self.found(mech)
        return initial_state(System(mech), q0, v0, self.t)


def start_slopes(mech: Mechanism, names: Sequence[str], model: ModelSlopes, given: Start) -> Array:
    """[dq; dv] (2 nv, P) at the start by the named parameters.

    Args:
        mech: what moves.
        names: of the parameters.
        model: derivatives of its numbers.
        given: how it starts.

    Raises:
        AssemblyError: a parameter opens an overconstrained loop.
        NotSmoothError: neighbours have no start.
    """
    found = np.zeros((2 * mech.nv, len(names)))
    if not mech.nc and given.found is None:
        return found
    q, v = given.state(mech)
    changing = _changing(mech, names, model, (q, v, given.t)) if mech.nc else [False] * len(names)
    moved = given.found is not None or (given.v0 is None and np.any(v))
    moved = moved or (given.q0 is None and mech._near is not None and not np.array_equal(mech._near, q))
    for k, name in enumerate(names):
        if moved or changing[k]:
            found[:, k] = _by_differences(mech, name, given, (q, v))
    return found


def _changing(
    mech: Mechanism, names: Sequence[str], model: ModelSlopes, state: tuple[Array, Array, float]
) -> list[bool]:
    """Whether the constraints change where the state stays as it is, by each parameter."""
    q, v, t = (state[0][None], state[1][None], np.array([state[2]]))
    drive, user = outside(System(mech), t, q, v)
    rank = np.array([mech.mobility(q[0], state[2]).rank], dtype=np.int32)
    rest = np.zeros((len(names), 1, mech.nv))
    states = q, v, np.zeros((1, mech.nv)), drive, user
    found = mech.model.kernel.variation(states, (rest, rest, rest), model.fields, rank, ROWS)
    phi, slip = (np.asarray(x)[:, 0] for x in found[:2])
    M, _, _, J, _, _ = mech.model.kernel.terms(q, v, drive, user)
    follow = Follower(mech, Situation(q, v, states[2], t, ()), M[0], J[0])
    sizes = [abs(mech.parameters[name]) or 1.0 for name in names]
    out = []
    for name, gap, slope, size in zip(names, phi * mech.model.holonomic, slip, sizes, strict=True):
        follow.along(name, gap)  # refuses what opens a loop
        change = max(np.max(np.abs(x) / mech.units.row_unit) for x in (gap, slope))
        out.append(bool(change * size > STILL * max(1.0, float(np.max(np.abs(v) / mech.units.unit)))))
    return out


def _by_differences(mech: Mechanism, name: str, given: Start, here: tuple[Array, Array]) -> Array:
    """[dq; dv] (2 nv,) of starts assembled with other values of one parameter, on one side where it ends."""
    value = mech.parameters[name]
    step = STEP * (abs(value) or 1.0)
    near = mech.default.q if mech._near is None else mech._near
    again = mech._of_variant(mech.model, None, near)  # assembles where this one did
    forward = list(enumerate(ONE_SIDED))
    for terms in (TERMS, forward, [(-k, -w) for k, w in forward]):
        try:
            copies = variants_of(again, {name: np.array([value + k * step for k, _ in terms])})
            starts = [given.state(copy) for copy in copies]
        except SarrusError:
            continue
        rows = [np.concatenate([mech.difference(here[0], q), v - here[1]]) for q, v in starts]
        return np.asarray(sum(w / step * row for (_, w), row in zip(terms, rows, strict=True)))
    raise NotSmoothError

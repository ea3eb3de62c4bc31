"""A Mechanism as straight-line code: recorded programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...arrays import Array
from ...dynamics.friction_refusals import refuse_dry_friction
from ...tracing.entries import Entries
from ...tracing.program import Program, record

if TYPE_CHECKING:
    from ..mechanism import Mechanism

TRIES = 6  # poses beside the default one that may serve as reference
AWAY = 0.2  # how far they are from it [rad], lengths divided by L
NONE = Entries()


def program_of(mech: Mechanism, precision: str, what: str, entries: Entries = NONE) -> Program:
    """The recorded program, made once for each precision and choice of variables."""
    known: dict[Any, Program] = mech.__dict__.setdefault("_programs", {})
    key = precision, entries.key
    if key not in known:
        refuse_dry_friction(mech.model, what)
        states = references(mech)
        J = np.abs(mech.terms(*states[0]).J) / np.asarray(mech.units.row_unit)[:, None]
        lever = float(np.max(J, initial=0.0))
        known[key] = record(mech.model, states, precision, what, entries, lever)
    return known[key]


def references(mech: Mechanism) -> list[tuple[Array, Array]]:
    """The default state; where a pose near it has a larger rank, that pose at rest comes first."""
    q, v = (np.ascontiguousarray(x) for x in mech.default)
    if not mech.nc:
        return [(q, v)]
    near = [q, *_poses_around(mech, q)]
    ranks = np.array([mech.mobility(one).rank for one in near])
    best, rest = int(np.argmax(ranks)), np.zeros(mech.nv)
    others = [(np.ascontiguousarray(near[i]), rest) for i in np.flatnonzero(ranks == ranks[best]) if i > 0]
    return [(q, v), *others[:2]] if best == 0 else others


def _poses_around(mech: Mechanism, q: Array) -> list[Array]:
    """Random poses near q that close the constraints."""
    rng = np.random.default_rng(0)
    away = [
        mech.integrate(q, AWAY * rng.uniform(-1, 1, mech.nv) * mech.units.unit)[None] for _ in range(TRIES)
    ]
    found = [mech.project(one).q[0] for one in away]
    return [one for one in found if np.all(np.isfinite(one))]

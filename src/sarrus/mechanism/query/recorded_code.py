"""A Mechanism as straight-line code: recorded programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...arrays import Array
from ...dynamics.friction_refusals import refuse_dry_friction
from ...errors import warn
from ...tracing.entries import Entries
from ...tracing.linear_parameters import LinearParameters
from ...tracing.longest_step import SHARE, LongestStep, longest_step
from ...tracing.program import Program, record

if TYPE_CHECKING:
    from ..mechanism import Mechanism

STATES = 40  # on which the longest step is tried
POSE, SPEED = 0.05, 0.3  # how far they are from the reference, in rad and rad/s, lengths divided by L
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


def longest_of(mech: Mechanism, program: Program, linear: LinearParameters) -> LongestStep:
    """How long a step exported code takes on states beside its reference; warns of short ones."""
    rng, (q0, v0) = np.random.default_rng(0), program.reference
    unit = mech.units.unit
    poses = [mech.integrate(q0, POSE * unit * rng.standard_normal(mech.nv)) for _ in range(STATES - 1)]
    speeds = [v0 + SPEED * unit * rng.standard_normal(mech.nv) for _ in range(STATES - 1)]
    found = mech.project(np.array([q0, *poses]), np.array([v0, *speeds]))
    fine = np.asarray(found.status) == 0
    numbers = linear.base + linear.slopes @ linear.usual
    longest = longest_step(program, found.q[fine], found.v[fine], numbers)
    if longest.refused > 1.0 - SHARE:
        limit = f"steps of {longest.dt:g} s are taken" if longest.dt else "no step of 2e-6 s is taken either"
        warn(
            f"{mech.name}: the exported step refuses 1 ms in {longest.refused:.0%} of {longest.states} states"
            f" beside the default one ({', '.join(longest.bits)}); {limit}. Take shorter ones, or several."
        )
    return longest

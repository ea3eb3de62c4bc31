"""The nearest pose in which no surface is inside another one: sequential least distance programs.

Each step asks for the smallest motion, in the mass metric and along the constraints, from the start of the
search, that opens all gaps in first order: minimize |z + y|^2, subject to gap + G N y >= 0, z what was moved
so far. Such a problem is one of nonnegative least squares, [Lawson1974] chapter 23.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...arrays import Array
from ...errors import AssemblyError
from ...projection.decompose import decompose
from ..core.access import queries_of
from ..core.core import State

if TYPE_CHECKING:
    from ..mechanism import Mechanism

FULL_STEPS, STEPS, LAST_STEPS = 10, 40, 14
CLOSED = 1e-10  # of the length L: nothing is inside anything else by more
SETTLED = 1e-9  # of the length L: a step that moves less is the last one
LONGEST = 0.2  # of the length L: no step moves a point of contact by much more
REACH = 0.5  # of the length L: farther pairs are left out of a step


def separated(mech: Mechanism, q: Array) -> State:
    """See `Mechanism.separate`."""
    start = np.array(mech.project(q).q)
    now, length = start, float(mech.length)
    for step in range(STEPS + LAST_STEPS):
        gaps = mech.contacts(now).gap
        near = np.flatnonzero(gaps < REACH * length)
        N, z = _freedoms(mech, start, now)
        G = _rates(mech, now)[near] @ N
        last = step - STEPS  # then the nearest to now, which Newton's method finds, with a growing margin
        margin = CLOSED * length * 4.0**last if last > 0 else 0.0
        z = 0.0 * z if last >= 0 else z
        y = least_distance(G, margin - gaps[near] + G @ z) - z
        most = float(np.max(np.abs(G @ y), initial=0.0))
        if np.min(gaps, initial=np.inf) >= -CLOSED * length and (last >= 0 or most <= SETTLED * length):
            return mech.project(now)
        share = 0.5 if FULL_STEPS <= step < STEPS else 1.0  # where edges take turns it does not settle
        moved = mech.integrate(now, N @ y * min(share, LONGEST * length / max(most, 1e-300)))
        now = np.array(mech.project(moved).q)
    found = mech.contacts(now)
    worst = int(np.argmin(found.gap))
    raise AssemblyError(
        f"no pose without surfaces inside each other was found near q: {found.names[worst]!r} is still"
        f" {-1e3 * found.gap[worst]:.3g} mm inside; start from another q, or check where surfaces stand."
    )


def _freedoms(mech: Mechanism, start: Array, now: Array) -> tuple[Array, Array]:
    """Directions along the constraints (nv, dof), orthonormal in the mass metric, and the motion so far."""
    terms = mech.terms(now, np.zeros(mech.nv))
    N = np.asarray(decompose(terms.J, terms.M).N)
    return N, N.T @ terms.M @ mech.difference(start, now)


def _rates(mech: Mechanism, q: Array) -> Array:
    """Derivatives (nslot, nv) of the gaps by increments of q."""
    directions = np.eye(mech.nv)
    rates = queries_of(mech).gap_rates(np.tile(q, (mech.nv, 1)), directions, np.zeros_like(directions))[0]
    return np.asarray(rates.T)


def least_distance(G: Array, h: Array) -> Array:
    """The shortest w with G w >= h; where there is none, the one that violates it least, nearly."""
    from scipy.optimize import nnls

    n = G.shape[1]
    if np.max(h, initial=-np.inf) <= 0.0:
        return np.zeros(n)
    E, f = np.vstack([G.T, h]), np.append(np.zeros(n), 1.0)
    r = E @ nnls(E, f)[0] - f
    if abs(r[n]) > 1e-14:
        return np.asarray(-r[:n] / r[n])
    return np.asarray(np.linalg.lstsq(G, np.maximum(h, 0.0), rcond=None)[0])

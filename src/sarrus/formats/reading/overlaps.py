"""Contacts that a file does not ask for, and whose surfaces are inside each other at its rest pose."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from sarrus.errors import AssemblyError
from sarrus.formats.reading.messages import phrase
from sarrus.mechanism.core.access import known_default
from sarrus.mechanism.describe.compile import build_model
from sarrus.mechanism.mechanism import Mechanism

INSIDE = 1e-6  # of the length L: less is rounding
KIND = "contact of shapes that are inside each other at the rest pose"


def without_overlaps(mech: Mechanism, names: Collection[str]) -> Mechanism:
    """The mechanism without those of the named contacts that overlap at its default pose.

    Shapes of robots are drawn roughly: those of a shoulder and an upper arm often overlap at every pose.
    What is left out is listed in `omitted`.
    """
    try:
        q = mech.default.q
    except AssemblyError:
        return mech
    inside = _overlapping(mech, np.asarray(q), names)
    if not inside:
        return mech
    declared = dict(mech.model.declared)
    kept = tuple(one for one in declared["contacts"] if one.name not in inside)
    omitted = (*declared.get("omitted", ()), phrase(KIND, sorted(inside)))
    changed = declared | {"contacts": kept, "omitted": omitted, "recipe": None}
    found = Mechanism(build_model(**changed, checked=True))
    state = known_default(mech)
    return found if state is None else found.with_default(*state)


def _overlapping(mech: Mechanism, q: np.ndarray, names: Collection[str]) -> set[str]:
    """Names of contacts, of the given ones, with a gap below zero."""
    least = INSIDE * mech.length
    near = [name for name in mech.near_contacts(q, least) if name in names]
    if not near:
        return set()
    found = mech.contacts(q)
    deep = np.flatnonzero(found.gap < -least)
    return {found.names[k].rpartition(".")[0] for k in deep} & set(near)

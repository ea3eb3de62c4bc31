"""Which ways of treating contacts a run has, and what is refused because it does not know contacts."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import InputError

WAYS = ("events", "steps", "ignore")  # of runs
STEP_WAYS = ("steps", "ignore")  # of single steps and of copies
TOUCHES = 1e-9  # of L: gaps of surfaces that touch


def has_contacts(model: Any) -> bool:
    """Whether surfaces of a model may touch."""
    return len(model.pair_a) > 0


def refuse_touching(mech: Any, q: Any, what: str) -> None:
    """Refuse poses at which surfaces touch, for what does not know their forces; open ones act on nothing."""
    if not has_contacts(mech.model):
        return
    found = mech.contacts(q)
    closed = np.argwhere(found.gap <= TOUCHES * mech.length)
    if len(closed):
        raise InputError(
            f"{what} does not know forces of surfaces that touch in this version, and"
            f" {found.names[int(closed[0][-1])]!r} does there. forward_dynamics, simulate and step do."
        )

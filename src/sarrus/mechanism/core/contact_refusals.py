"""Which ways of treating contacts a run has, and what is refused because it does not know contacts."""

from __future__ import annotations

from typing import Any

from ...arrays import one_of
from ...errors import InputError

WAYS = ("events", "steps", "ignore")  # of runs
STEP_WAYS = ("steps", "ignore")  # of single steps and of copies


def has_contacts(model: Any) -> bool:
    """Whether surfaces of a model may touch."""
    return len(model.pair_a) > 0


def check_contacts(model: Any, contacts: object, what: str, ways: tuple[str, ...] = STEP_WAYS) -> None:
    """Refuse what does not know contacts, unless they are to be ignored."""
    chosen = one_of(contacts, f"contacts of {what}", ways)
    if chosen != "ignore" and has_contacts(model):
        raise InputError(
            f"{what} does not know contacts yet, and {len(model.pair_a)} pairs of surfaces may touch:"
            ' contacts="ignore" lets them go through each other.'
        )

"""What a bridge may lie between."""

from __future__ import annotations

from sarrus.errors import InputError
from sarrus.mechanism.mechanism import Mechanism


def check_ends(mech: object, model: object, kind: str, way: str) -> None:
    """Refuse what is no mechanism, or no model of the library; `way` says how one is made."""
    if not isinstance(mech, Mechanism):
        raise InputError(f"a bridge takes a Mechanism first, got {type(mech).__name__}.")
    if type(model).__name__ != kind:
        raise InputError(
            f"the second argument must be a {kind}, got {type(model).__name__}; make one by {way}."
        )

"""Signature motions: what each mechanism of the library does when one first looks at it.

    import sarrus as sr

    run = sr.showcase.run("excavator")            # a run like any other
    run.export("excavator.html")

`names()` lists all of them with a few words each.
"""

from __future__ import annotations

from ..errors import UnknownNameError, unknown_name
from ..mechanism.mechanism import Mechanism
from ..simulation.trajectory.trajectory import Trajectory
from .signatures import SIGNATURES, Signature

__all__ = ["names", "mechanism", "run"]


def names() -> dict[str, str]:
    """Every mechanism of the library, with what its signature motion shows."""
    return {name: signature.words for name, signature in SIGNATURES.items()}


def mechanism(name: str) -> Mechanism:
    """The library mechanism `name` as its signature motion has it; other arguments than the default ones
    where these show it better."""
    return _signature(name).mechanism()


def run(name: str, progress: bool = False) -> Trajectory:
    """The signature motion of the library mechanism `name`.

    Args:
        name: One of `sarrus.library.names()`.
        progress: Whether to show how far the run is.

    Returns:
        A run from t = 0 on. Motions that are driven in a cycle end where they began, so that they can be
        played without end.

    Raises:
        UnknownNameError: the library has no such mechanism.
    """
    return _signature(name).run(progress)


def _signature(name: str) -> Signature:
    if name not in SIGNATURES:
        raise UnknownNameError(unknown_name("mechanism", name, SIGNATURES, "showcase"))
    return SIGNATURES[name]

"""What functions of this room and of other rooms need of a mechanism beside its public methods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..._kernel import Queries
from ...arrays import Array
from .arguments import Arguments
from .core import State
from .modes import Modes

if TYPE_CHECKING:
    from ..mechanism import Mechanism


def arguments_of(system: Any) -> Arguments:
    """Checks of the arguments of a Mechanism, or of a CustomSystem."""
    known: Arguments | None = getattr(system, "_arguments", None)
    return Arguments(system.model) if known is None else known


def queries_of(mech: Mechanism) -> Queries:
    """The compiled queries of a mechanism."""
    return mech._queries


def applied_force(system: Any, q: npt.ArrayLike, tau: npt.ArrayLike | None, u: npt.ArrayLike | None) -> Array:
    """tau + S.T u, (..., nv), of a Mechanism or of a CustomSystem; batch axes as they come."""
    force: Array = system._applied(q, tau, u, None)
    return force


def actuated_columns(system: Any) -> npt.NDArray[np.int32]:
    """Indices into v of the actuated coordinates, in the order of u."""
    return np.array([actuator.index for actuator in system.model.actuators], dtype=np.int32)


def friction_modes(mech: Mechanism) -> Modes | None:
    """What can change along any motion of a mechanism, see `Modes`; None where nothing can."""
    return mech._modes


def known_default(mech: Mechanism) -> State | None:
    """The default state where it was given or asked for before; None where it has to be assembled."""
    return mech._default


def near_default(mech: Mechanism) -> Array | None:
    """A pose near which variants find their default state; None: `neutral()`."""
    return mech._near if mech._default is None else mech._default.q


def without_dry_friction(mech: Mechanism) -> Mechanism:
    """The mechanism without dry friction: the same one where it has none."""
    return mech._without_dry_friction


def default_guess(mech: Mechanism) -> Array:
    """Where the search for a default state starts that is not known (nq,)."""
    return mech.neutral() if mech._near is None else mech._near

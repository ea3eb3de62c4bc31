"""Independent coordinates of a linear model, given by name or chosen by conditioning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array
from ..errors import InputError
from ..mechanism.core.access import arguments_of
from ..mechanism.mechanism import Mechanism
from ..projection.local_coordinates import INDEPENDENT_TOL, Tangents, choose, independence, selection
from .signals import named

ROLES = ("positions", "velocities")


@dataclass(frozen=True)
class IndependentCoordinates:
    """Indices into v of independent positions and velocities."""

    positions: tuple[int, ...]
    velocities: tuple[int, ...]

    def quality(self, at: Tangents) -> float:
        """How well they determine the motion along tangent directions: 1 at best, 0 where the mechanism can
        move while these coordinates stand still."""
        chosen = (at.N_q, self.positions), (at.N_v, self.velocities)
        return min(independence(at.bare(N), indices) for N, indices in chosen)

    def rows(self, nv: int) -> tuple[Array, Array]:
        """R_q, R_v with y_q = R_q dq, y_v = R_v dv; the same object where they are the same."""
        R_q = selection(self.positions, nv)
        return R_q, R_q if self.velocities == self.positions else selection(self.velocities, nv)

    def matrix(self, nv: int) -> Array:
        """R with [y_q; y_v] = R [dq; dv], (nx, 2 nv)."""
        columns = [*self.positions, *(nv + i for i in self.velocities)]
        return selection(columns, 2 * nv)

    def names(self, coordinates: Sequence[str]) -> tuple[str, ...]:
        """Names of the states: positions, then velocities."""
        positions = (f"q.{coordinates[i]}" for i in self.positions)
        return (*positions, *(f"v.{coordinates[i]}" for i in self.velocities))


def independent_coordinates(mech: Mechanism, at: Tangents, given: Any = None) -> IndependentCoordinates:
    """Coordinates by name, or automatically by conditioning.

    Args:
        mech: the mechanism.
        at: its tangent directions.
        given: None; a list of coordinates or joints; or {"positions": [...], "velocities": [...]} where rows
            restrict only velocities (rolling) and the two counts differ. Velocities that are not given are
            chosen among the positions where possible.
    """
    N_q, N_v = at.bare(at.N_q), at.bare(at.N_v)
    positions, velocities = given_coordinates(mech, given)
    if positions is None:
        positions = choose(N_q)
    else:
        _require(mech, N_q, positions, "positions")
    if velocities is None:
        same = at.N_v is at.N_q
        velocities = positions if same else choose(N_v, positions)
    else:
        _require(mech, N_v, velocities, "velocities")
    return IndependentCoordinates(tuple(positions), tuple(velocities))


def given_coordinates(mech: Mechanism, given: Any) -> tuple[list[int] | None, list[int] | None]:
    """Indices of independent positions and velocities by name; None where nothing is said."""
    if given is None:
        return None, None
    if not isinstance(given, Mapping):
        return arguments_of(mech).indices(named(given, "independent"), "independent"), None
    if not set(given) <= set(ROLES):
        raise InputError(f'independent takes the keys "positions" and "velocities", got {list(given)}.')
    found = [
        arguments_of(mech).indices(named(given[role], f"independent {role}"), "independent")
        if role in given
        else None
        for role in ROLES
    ]
    return found[0], found[1]


def _require(mech: Mechanism, N: Array, indices: list[int], role: str) -> None:
    """Refuse coordinates that do not determine the motion; the message suggests others."""
    count = N.shape[1]
    names = [mech.names[i] for i in indices]
    good = [mech.names[i] for i in choose(N, indices)]
    if len(indices) != count:
        freedoms = "1 coordinate" if count == 1 else f"{count} coordinates"
        raise InputError(
            f"independent {role} must be {freedoms}, the degrees of freedom of {mech.name!r} at this pose;"
            f" got {len(indices)}: {names}. {good} would be independent."
        )
    if independence(N, indices) <= INDEPENDENT_TOL:
        rest = np.linalg.svd(N[indices])[2][-1]
        moving = [mech.names[i] for i in np.flatnonzero(np.abs(N @ rest) > 1e-6)]
        raise InputError(
            f"the {role} {names} are not independent at this pose: {', '.join(moving[:6])} can move while"
            f" they stand still. {good} would be independent."
        )

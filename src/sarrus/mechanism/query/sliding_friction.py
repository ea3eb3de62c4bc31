"""Dry friction of a prescribed motion: what motors need with that of all coordinates that move.

Friction by load depends on the multipliers, and these on the motors: the rule of
dynamics/bearing_friction.py, with inverse dynamics in place of the motion.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...arrays import Array
from ...constraints.user_forces import user_wrenches
from ...dynamics.bearing_friction import BearingLoads, fixed_point
from ...dynamics.dry_friction import COULOMB, DryFriction, sticks
from ...dynamics.inverse import Torques
from ...models.model import Model

if TYPE_CHECKING:
    from ..mechanism import Mechanism

UNUSED = 1.0  # speed in a friction that does not depend on it


def with_sliding_friction(
    mech: Mechanism, state: tuple[Array, ...], torques: Torques, columns: npt.NDArray[np.integer[Any]]
) -> tuple[Torques, Array]:
    """Forces at n states q, v, a with the friction of coordinates that move, and that friction (n, nv).

    Args:
        mech: the mechanism with its friction.
        state: q (n, nq), v and a (n, nv).
        torques: the forces without friction.
        columns: coordinates whose motors act.
    """
    none = np.zeros_like(torques.tau)
    if not sticks(mech.model):
        return torques, none
    rows = DryFriction(mech.model)
    moving = ~rows.resting(state[1])
    if not moving.any():
        return torques, none
    each = [
        _at_state(mech, tuple(x[i] for x in state), moving[i], columns)
        if moving[i].any()
        else (torques.state(i), none[i])
        for i in range(len(moving))
    ]
    return torques.stacked([one for one, _ in each]), np.array([force for _, force in each])


def _at_state(
    mech: Mechanism, state: tuple[Array, ...], moving: Array, columns: npt.NDArray[np.integer[Any]]
) -> tuple[Torques, Array]:
    """The same at one state, where these rows (k,) of friction move."""
    q, v, a = state
    rows, loads = DryFriction(mech.model), BearingLoads(DryFriction(mech.model), mech.model)
    way = np.where(moving, np.sign(v[rows.coordinates]), 0.0)
    constant, of_user = rows.level(v), user_wrenches(mech.evaluator, q[None], v[None], np.zeros(1))

    def motors(by_load: Array) -> Torques:
        model = _with_constant_friction(rows, way, constant + by_load)
        known = type(mech)(model, mech._default)
        found: Torques = known._queries.inverse_dynamics(
            Torques, (q, v, a), (mech.evaluator, 0.0), None, columns
        )
        return found

    def rule(by_load: Array) -> Array:
        found = loads.bounds(q[None], v[None], a[None], motors(by_load).lam[None], of_user)
        return np.asarray(np.abs(way) * found[0])

    found: Array | None = np.zeros(len(way))
    if rows.by_load:
        found = fixed_point(rule, np.zeros(len(way)))
    if found is None:
        raise loads.unsettled()
    force = np.zeros(len(v))
    force[rows.coordinates] = -way * (constant + found)
    return motors(found), force


def _with_constant_friction(rows: DryFriction, way: Array, size: Array) -> Model:
    """The model with known friction in place of its dry friction: directions and sizes of its rows (k,)."""
    model = rows.model
    kinds, values = model.cf_kind.copy(), model.cf_values.copy()
    for k, coordinate in enumerate(rows.coordinates):
        entries = rows.entries[model.cf_v[rows.entries] == coordinate]
        for entry, level in zip(entries, [size[k], *np.zeros(len(entries) - 1)], strict=True):
            kinds[entry], begin = COULOMB, int(model.cf_begin[entry])
            values[begin : begin + 4] = way[k], level, level, UNUSED
    changed: dict[str, Any] = {"cf_kind": kinds, "cf_values": values}
    return dataclasses.replace(model, **changed)

"""Coordinates that are given: held positions, prescribed velocities, and limits that a pose exceeds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...arrays import Array, mapping, numbers, state
from ...dynamics.inverse import worst_excess
from ...errors import InputError
from ..core.access import arguments_of

if TYPE_CHECKING:
    from ..mechanism import Mechanism

BEYOND = 1e-9  # [rad, m]: excess below which a coordinate counts as within its limits


def hold(mech: Mechanism, q: Array, fixed: Mapping[str, Any] | None) -> list[int]:
    """Put held positions into q (..., nq); the indices into v that must not move then."""
    given = mapping(fixed, "fixed", "{coordinate: value}")
    return [k for name, value in given.items() for k in _hold_one(mech, q, name, value)]


def held_text(fixed: Mapping[str, Any] | None) -> str:
    """Held positions in words."""
    return ", ".join(f"{name} = {_shown(value)}" for name, value in (fixed or {}).items())


def prescribed_velocities(
    mech: Mechanism, fixed: Mapping[str, Any]
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float64]]:
    """Indices into v and values of prescribed velocities."""
    arguments = arguments_of(mech)
    held, values = [], []
    for name, value in mapping(fixed, "fixed", "{coordinate: value}").items():
        where = arguments.indices([name], "fixed")
        given = state(np.atleast_1d(value), f"velocity of {name!r}", len(where), arguments.owner)
        held += where
        values += given.tolist()
    return np.array(held, dtype=np.int32), np.array(values, dtype=float)


def beyond_limits(mech: Mechanism, poses: Array) -> str:
    """A sentence that names coordinates beyond the limits of their joints in some of poses (n, nq)."""
    said = []
    for name, iq, (lower, upper) in zip(
        mech.names, mech.model.coordinate_q, mech.model.limits.tolist(), strict=True
    ):
        worst = worst_excess(poses[:, iq], lower, upper, BEYOND) if iq >= 0 else None
        if worst is not None:
            said.append(f"{name} = {worst:.4g}, limits {lower:g} to {upper:g}")
    return f" Beyond the limits of joints, which are not enforced: {'; '.join(said)}." if said else ""


def _hold_one(mech: Mechanism, q: Array, name: str, value: Any) -> list[int]:
    """Put the held position of a coordinate or joint into q (..., nq); its indices into v."""
    model, what = mech.model, f"fixed position of {name!r}"
    indices = list(model.structure.tree.coordinates(name, "fixed"))
    if name not in mech.names:
        where = model.q_slices[model.body_index(name)]
        q[..., where] = state(value, what, where.stop - where.start)
        q[:] = arguments_of(mech).positions(q, "fixed position")
        return indices
    entry = model.coordinate_q[indices[0]]
    if entry < 0:
        raise InputError(
            f"fixed: {name!r} is a velocity component of a joint with a quaternion and has no position of"
            f" its own; hold the whole joint: fixed={{{name.rpartition('.')[0]!r}: its part of q}}."
        )
    one_for_each = q.ndim > 1 and numbers(value, what).shape == q.shape[:-1]
    q[..., entry] = numbers(value, what) if one_for_each else state(np.atleast_1d(value), what, 1)[0]
    return indices


def _shown(value: Any) -> str:
    return f"{value:g}" if isinstance(value, (int, float)) else str(np.asarray(value).tolist())

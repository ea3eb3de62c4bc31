"""Which coordinates of a closed robot are given, which follow from its loops, and in which groups they do.

Rows of the constraints and the coordinates that follow from them fall into blocks that do not know each
other: one for each leg, say. A block that leaves a motion open which nothing notices, the spin of a rod
between two balls, gets a row of its own that keeps the spin as it is at the reference pose.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from ..errors import InputError
from ..mechanism.query.idle_freedoms import is_idle, noticed, places_of

Indices = npt.NDArray[np.int_]

RANK = 1e-6  # smaller singular values of the dimensionless J count as zero: fits of rounded files are 1e-7
SAMPLES = 4  # poses at which the pattern of J is looked at
AWAY = 0.3  # how far they are from the reference [rad], lengths divided by L


@dataclass(frozen=True)
class Block:
    """Rows and the coordinates that follow from them.

    Attributes:
        rows: Rows of J.
        columns: Entries of v that follow.
        given: Entries of v, given ones, on which they depend.
        basis: Combinations of the rows that are independent at the reference pose (rows, n).
        kept: Motions of `columns` that nothing notices and that are kept at zero (n_idle, columns).
    """

    rows: Indices
    columns: Indices
    given: Indices
    basis: Array
    kept: Array


@dataclass(frozen=True)
class Partition:
    """The coordinates of a mechanism, split.

    Attributes:
        given: Entries of v that are given, in order.
        given_q: Entries of q that go with them.
        follow: Entries of v that follow from the loops.
        blocks: Groups of rows and coordinates.
    """

    given: Indices
    given_q: Indices
    follow: Indices
    blocks: tuple[Block, ...]


def entries_of(mech: Any, bodies: Sequence[str]) -> tuple[Indices, Indices]:
    """Entries of q and of v that belong to the joints of some bodies."""
    places = [mech.index(name) for name in bodies if mech.model.joint_of(name).nv]
    q = [i for one in places for i in range(one.q.start, one.q.stop)]
    v = [i for one in places for i in range(one.v.start, one.v.stop)]
    return np.array(q, dtype=int), np.array(v, dtype=int)


def pattern(mech: Any) -> npt.NDArray[np.bool_]:
    """Which entries of J are not zero at all poses (nc, nv)."""
    rng, q = np.random.default_rng(0), mech.default.q
    near = AWAY * mech.units.unit * rng.standard_normal((SAMPLES, mech.nv))
    poses = np.array([q, *(mech.integrate(q, one) for one in near)])
    return np.asarray(np.any(mech.terms(poses, np.zeros((len(poses), mech.nv))).J != 0.0, axis=0))


def null_space(J: Array) -> Array:
    """Orthonormal columns that J maps to zero."""
    values, Vt = np.linalg.svd(J)[1:]
    return np.asarray(Vt[int(np.sum(values > RANK)) :].T)


def scaled_jacobian(mech: Any, J: Array) -> Array:
    """J without units: rows divided by their unit, columns by that of their coordinate."""
    return np.asarray(J / mech.units.row_unit[:, None] * mech.units.unit)


def partition(mech: Any, bodies: Sequence[str], seen: Sequence[int], what: str) -> Partition:
    """Split the coordinates of a mechanism.

    Args:
        mech: The closed robot, whose default pose is closed.
        bodies: Whose joints are given.
        seen: Entries of v that must follow from them: the motors.
        what: What is given, for messages.
    """
    given_q, given = entries_of(mech, bodies)
    follow = np.setdiff1d(np.arange(mech.nv), given)
    J = scaled_jacobian(mech, mech.terms(*mech.default).J)
    _check_given(mech, J, given, what)
    _check_follow(mech, J, given, follow, seen, what)
    return Partition(given, given_q, follow, tuple(_blocks(mech, J, given, follow)))


def _check_given(mech: Any, J: Array, given: Indices, what: str) -> None:
    """Refuse given coordinates that the loops tie to each other."""
    free = null_space(J)[given]
    values = np.linalg.svd(free, compute_uv=False)
    if len(given) and (len(values) < len(given) or values[-1] < RANK):
        tied = np.linalg.svd(free)[0][:, -1]
        listed = ", ".join(repr(mech.names[given[k]]) for k in np.flatnonzero(np.abs(tied) > 1e-3))
        raise InputError(
            f"{what} are not independent: at the default pose of {mech.name!r} the loops tie {listed} to each"
            " other. Leave one of them out, or give another default pose, mech.with_default(q), if this one"
            " is singular."
        )


def _check_follow(
    mech: Any, J: Array, given: Indices, follow: Indices, seen: Sequence[int], what: str
) -> None:
    """Refuse where the given coordinates leave something open that is noticed."""
    left = np.zeros((mech.nv, 0))
    if len(follow):
        free = null_space(J[:, follow])
        left = np.zeros((mech.nv, free.shape[1]))
        left[follow] = free * mech.units.unit[follow, None]
    if not left.shape[1]:
        return
    moved = [mech.names[k] for k in seen if np.max(np.abs(left[k])) > RANK * mech.units.unit[k]]
    places = places_of(mech)
    if not moved and is_idle(mech, mech.default.q, left, places):
        return
    more = noticed(mech, mech.default.q, left, places)
    listed = ", ".join(map(repr, moved or more))
    whom = "the motors" if moved else "the coordinates"
    raise InputError(
        f"{what} do not determine {whom} {listed} of {mech.name!r}: {len(more)} more freedom(s) are left. Add"
        f" {', '.join(map(repr, more))} or others that move with them."
    )


def _blocks(mech: Any, J: Array, given: Indices, follow: Indices) -> list[Block]:
    used = pattern(mech)
    found = []
    for some, others in _components(used[:, follow]):
        rows, columns = np.array(some, dtype=int), follow[others]
        own = J[np.ix_(rows, columns)]
        U, sizes, Vt = np.linalg.svd(own)
        rank = int(np.sum(sizes > RANK))
        basis = np.eye(len(rows)) if rank == len(rows) else U[:, :rank]
        acting = given[np.any(used[np.ix_(rows, given)], axis=0)]
        found.append(Block(rows, columns, acting, basis, Vt[rank:]))
    return found


def _components(used: npt.NDArray[np.bool_]) -> list[tuple[list[int], list[int]]]:
    """Rows and columns that hang together; rows and columns without any entry are left out."""
    found: list[tuple[list[int], list[int]]] = []
    todo = set(np.flatnonzero(used.any(axis=0)).tolist())
    while todo:
        columns, rows = {min(todo)}, set[int]()
        while True:
            rows = set(np.flatnonzero(used[:, sorted(columns)].any(axis=1)).tolist())
            wider = set(np.flatnonzero(used[sorted(rows)].any(axis=0)).tolist())
            if wider == columns:
                break
            columns = wider
        todo -= columns
        found.append((sorted(rows), sorted(columns)))
    return found

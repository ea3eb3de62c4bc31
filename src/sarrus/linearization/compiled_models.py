"""Minimal linear models of one state or of a batch, from kernels/derivatives/linear_model.hpp."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from ..arrays import Array, frozen
from ..errors import InputError
from ..mechanism.core.access import queries_of
from ..mechanism.mechanism import Mechanism
from .independent_coordinates import IndependentCoordinates
from .model import LinearModel, LinearSystem
from .modes import Complex, spectrum
from .operating_point import CLOSED, OperatingPoint, consistent_state

T = TypeVar("T")
SINGULAR_POSE = 3  # of LinearStatus in bindings/batches/batch_table.hpp
CANDIDATES = 16  # choices of coordinates that are compared; the one that is best at its worst state is taken

Indices = npt.NDArray[np.int32]
Plan = tuple[Indices | None, Indices | None, Indices]


class States(NamedTuple):
    """Positions, velocities and applied forces, (nq,), (nv,), (nv,), or of a batch, at a time."""

    q: Any
    v: Any
    tau: Any
    t: float


class Found(NamedTuple):
    """What the kernel finds; of a batch with its axis in front.

    A, B, lift, rate: as in `LinearModel`; a, lam, q, v, tau: as in `OperatingPoint`; sizes (3,): gap,
    |J v - b| and speed, lengths divided by L; counts (4,): freedoms of positions and of velocities, rank,
    status; coordinates: indices of independent positions and of velocities, of a batch (B, 2 nv).
    """

    A: Array
    B: Array
    lift: Array
    rate: Array
    a: Array
    lam: Array
    q: Array
    v: Array
    tau: Array
    sizes: Array
    counts: Any
    coordinates: Any


def plan(positions: Sequence[int] | None, velocities: Sequence[int] | None, inputs: Indices) -> Plan:
    """Indices as the kernel takes them; None leaves the choice to it."""
    given = [None if x is None else np.array(x, dtype=np.int32) for x in (positions, velocities)]
    return given[0], given[1], inputs


def models_at(mech: Mechanism, at: States, wanted: Plan) -> Found:
    """Linear models at states as they are; `sizes` and `counts` say whether they mean anything."""
    found: tuple[Any, ...] = queries_of(mech).linearize(at[:3], (mech.evaluator, at.t), wanted)
    return Found(*found)


class Signals(NamedTuple):
    """Names of the inputs, and inputs at the states (nu,), of a batch (B, nu)."""

    names: tuple[str, ...]
    u: Array


class Labels(NamedTuple):
    """What follows from the choice of coordinates alone, as in `LinearModel`."""

    choice: IndependentCoordinates
    names: tuple[str, ...]
    outputs: tuple[str, ...]
    independent: tuple[str, ...]
    C: Array
    reduce: Array


@lru_cache(maxsize=256)
def labels(coordinates: tuple[str, ...], positions: tuple[int, ...], velocities: tuple[int, ...]) -> Labels:
    """Names of states, C of outputs that are the states, and R of [y_q; y_v] = R [dq; dv]."""
    choice = IndependentCoordinates(positions, velocities)
    names = choice.names(coordinates)
    reduce = choice.matrix(len(coordinates))
    independent = tuple(coordinates[i] for i in positions)
    return Labels(choice, names, names, independent, frozen(np.eye(len(names))), frozen(reduce))


def compiled_model(mech: Mechanism, at: States, wanted: Plan, signals: Signals) -> LinearModel | None:
    """The model at one state, which is corrected where it misses the constraints by rounding.

    None where there is none: the slower path says why.
    """
    found = models_at(mech, at, wanted)
    if not _closed(found.sizes):
        q, v = consistent_state(mech, at.q, at.v, at.t)
        found = models_at(mech, at._replace(q=q, v=v), wanted)
    return None if found.counts[3] else _model(mech, found, at.t, signals)


def _closed(sizes: Array) -> Any:
    """Whether states are on the constraints to rounding."""
    gap, miss, speed = sizes.tolist() if sizes.ndim == 1 else np.moveaxis(sizes, -1, 0)
    return (gap <= CLOSED) & (miss <= CLOSED * speed)


def _model(mech: Mechanism, found: Found, t: float, signals: Signals) -> LinearModel:
    named = labels(mech.names, *found.coordinates)
    state = {"q": found.q, "v": found.v, "u": signals.u, "tau": found.tau, "t": t, "rank": found.counts[2]}
    matrices = {name: getattr(found, name) for name in ("A", "B", "lift", "rate")}
    matrices["D"] = np.zeros(found.B.shape)
    for array in matrices.values():
        array.flags.writeable = False
    point = made(OperatingPoint, mech=mech, a=found.a, lam=found.lam, **state)
    return made(LinearModel, **named._asdict(), **matrices, **MINIMAL, inputs=signals.names, point=point)


MINIMAL: dict[str, Any] = {
    "form": "minimal",
    "method": "analytic",
    "E": None,
    "dt": None,
    "_independence": None,
}


def made(kind: type[T], **fields: Any) -> T:
    """An instance of a frozen dataclass with all its fields, without the cost of its constructor."""
    found = object.__new__(kind)
    found.__dict__.update(fields)
    return found


# ------------------------------------------------------------------ batches


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LinearModels(LinearSystem):
    """Linear models of a batch of states, all in the same coordinates.

    Every array has the batch axes in front; `models[i]` is the `LinearModel` of one state.

    Attributes:
        A, B, C, D: (..., nx, nx), (..., nx, nw), (..., ny, nx), (..., ny, nw).
        names, inputs, outputs: of the states, inputs and outputs.
        independent: the independent coordinates.
        lift: [dq; dv] in all coordinates of the states (..., 2 nv, nx).
        rate: time derivative of the states at the points themselves (..., nx).
    """

    rate: Array
    _one: Callable[[int], LinearModel]  # the model of a state by its number

    @cached_property
    def eigenvalues(self) -> Complex:
        """Eigenvalues (..., nx) complex [1/s], each by size."""
        found = [spectrum(A, None, A.shape[-1])[0] for A in self.A.reshape(-1, *self.A.shape[-2:])]
        return np.array(found, dtype=complex).reshape(self.A.shape[:-1])

    @cached_property
    def independence(self) -> Array:
        """How well the independent coordinates determine the motion at each state (...)."""
        batch = self.rate.shape[:-1]
        return np.array([self[i].independence for i in np.ndindex(batch)], dtype=float).reshape(batch)

    def in_coordinates(self, coordinates: Any) -> LinearModels:
        """The same models with other states; see `LinearModel.in_coordinates`."""
        batch = self.rate.shape[:-1]
        return stacked([self[i].in_coordinates(coordinates) for i in np.ndindex(batch)], batch)

    def __len__(self) -> int:
        return len(self.rate)

    def __getitem__(self, i: int | tuple[int, ...]) -> LinearModel:
        """The model of one state, by its number or, with several batch axes, numbers."""
        batch = self.rate.shape[:-1]
        where = np.arange(int(np.prod(batch))).reshape(batch)[i]
        if np.ndim(where):
            raise InputError(f"models[i] takes {len(batch)} numbers, one for each batch axis, got {i!r}.")
        return self._one(int(where))

    def __repr__(self) -> str:
        return f"LinearModels({self.rate.shape[:-1]}, {self._sizes})"


def compiled_batch(
    mech: Mechanism, at: States, wanted: Plan, signals: Signals, batch: tuple[int, ...]
) -> LinearModels | int:
    """Models at states (B, n), in given or (wanted[0] None) in common coordinates.

    The number of a state where there is none: the slower path says why.
    """
    found = models_at(mech, at, wanted)
    off = np.flatnonzero(~_closed(found.sizes))
    if len(off):
        q, v = np.array(at.q), np.array(at.v)
        for i in off:
            q[i], v[i] = consistent_state(mech, at.q[i], at.v[i], at.t)
        at = at._replace(q=q, v=v)
        found = models_at(mech, at, wanted)
    _require_same_freedoms(mech, found.counts)
    if wanted[0] is None and not np.any(found.counts[:, 3]):
        found = _in_common_coordinates(mech, at, wanted[2], found)
    if np.any(found.counts[:, 3]):
        return int(np.flatnonzero(found.counts[:, 3])[0])
    n_q, n_v = found.counts[0, :2].tolist()
    chosen = found.coordinates[0].tolist()
    pair = tuple(chosen[:n_q]), tuple(chosen[mech.nv : mech.nv + n_v])
    named, one = labels(mech.names, *pair), partial(_one_of, mech, found, pair, at.t, signals)
    nx, nw = len(named.names), len(signals.names)
    fixed = {"C": np.eye(nx), "D": np.zeros((nx, nw))}
    arrays: dict[str, Any] = {name: np.broadcast_to(x, (*batch, *x.shape)) for name, x in fixed.items()}
    for name in ("A", "B", "lift", "rate"):
        whole = getattr(found, name)
        arrays[name] = whole.reshape(*batch, *whole.shape[1:])
    states: dict[str, Any] = {"names": named.names, "outputs": named.names, "independent": named.independent}
    return LinearModels(**arrays, **states, inputs=signals.names, _one=one)


def _one_of(
    mech: Mechanism, found: Found, pair: tuple[tuple[int, ...], ...], t: float, signals: Signals, i: int
) -> LinearModel:
    """The model of one state of a batch, in the coordinates `pair`."""
    parts = Found._make(part[i].copy() for part in found)
    parts = parts._replace(counts=parts.counts.tolist(), coordinates=pair)
    return _model(mech, parts, t, Signals(signals.names, signals.u[i]))


def stacked(found: Sequence[LinearModel], batch: tuple[int, ...]) -> LinearModels:
    """Models in the same coordinates as one result."""
    first = found[0]
    arrays: dict[str, Any] = {}
    for name in ("A", "B", "C", "D", "lift", "rate"):
        whole = np.stack([getattr(model, name) for model in found])
        arrays[name] = whole.reshape(*batch, *whole.shape[1:])
    signals: dict[str, Any] = {"names": first.names, "inputs": first.inputs, "outputs": first.outputs}
    return LinearModels(**arrays, **signals, independent=first.independent, _one=found.__getitem__)


def _require_same_freedoms(mech: Mechanism, counts: npt.NDArray[np.int_]) -> None:
    """Refuse states with other degrees of freedom than the first, unless the pose itself is singular."""
    other = np.flatnonzero(np.any(counts[:, :2] != counts[0, :2], axis=1))
    if len(other) and not np.any(counts[:, 3] == SINGULAR_POSE):
        i = int(other[0])
        raise InputError(
            f"the states of a batch must have the same degrees of freedom: state 0 of {mech.name!r} has"
            f" {counts[0, 1]}, state {i} has {counts[i, 1]}. Linearize them one by one."
        )


def _in_common_coordinates(mech: Mechanism, at: States, inputs: Indices, found: Found) -> Found:
    """Models in the coordinates, among the best of each state, that are best at their worst state."""
    rows = np.unique(found.coordinates, axis=0)
    if len(rows) == 1:
        return found
    n_q, n_v = found.counts[0, :2].tolist()
    plans = [(row[:n_q].copy(), row[mech.nv : mech.nv + n_v].copy(), inputs) for row in rows[:CANDIDATES]]
    return max((models_at(mech, at, one) for one in plans), key=lambda one: _worst_independence(mech, one))


def _worst_independence(mech: Mechanism, found: Found) -> float:
    """Smallest independence over a batch: 1 / |K|, K without units; 0 where there is none."""
    if np.any(found.counts[:, 3]):
        return 0.0
    n_q, unit = int(found.counts[0, 0]), mech.units.unit
    bare = found.lift[:, : mech.nv, :n_q] / unit[:, None] * unit[found.coordinates[0, :n_q]]
    return float(1.0 / np.max(np.linalg.norm(bare, 2, axis=(-2, -1)), initial=1.0))

"""Inputs and outputs of a linear model by name.

Outputs are linear in the variations z = [dq; dv; da; dlam] of all coordinates and multipliers:

    "crank", "q.crank"        increment of a coordinate [rad, m]
    "v.crank", "a.crank"      its velocity and acceleration
    "pose.rod"                position [m] and rotation vector [rad] of a body frame, world axes: six outputs
    "loop", "lam.loop.tx"     multipliers of a constraint, or of one row [N, N m]

A joint with several coordinates stands for all of them. Names of measures are outputs as well: "height", or
"measure.height" where a coordinate, a body or a constraint has that name, too.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from ..errors import InputError, unknown_name
from ..mechanism.core.access import actuated_columns, arguments_of
from ..mechanism.mechanism import Mechanism
from .measured_outputs import StateOfModel, measure_slopes

KINDS = ("q", "v", "a")
POSE = ("x", "y", "z", "rx", "ry", "rz")


def named(names: Any, what: str) -> list[str]:
    """A list of names, or one name."""
    if isinstance(names, str):
        return [names]
    if not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
        raise InputError(f"{what} must be a list of names, got {names!r}.")
    if len(set(names)) < len(names):
        twice = sorted({name for name in names if list(names).count(name) > 1})
        raise InputError(f"{what} names {', '.join(map(repr, twice))} twice.")
    return list(names)


def input_columns(mech: Mechanism, inputs: Any) -> tuple[tuple[str, ...], npt.NDArray[np.int32]]:
    """Names of the inputs and the coordinates (indices) on which they act; default: the actuators."""
    if inputs is None:
        return mech.actuators, actuated_columns(mech)
    columns = arguments_of(mech).indices(named(inputs, "inputs"), "inputs")
    return tuple(mech.names[i] for i in columns), np.array(columns, dtype=np.int32)


def output_matrices(
    at: StateOfModel, z: tuple[Array, Array], columns: npt.NDArray[np.int32], outputs: Any
) -> tuple[tuple[str, ...], Array, Array]:
    """Names of the outputs, C (ny, nx) and D (ny, nw).

    Args:
        at: where the model is taken.
        z: [dq; dv; da; dlam] of the states and of the inputs, (3 nv + nc, nx) and (3 nv + nc, nw).
        columns: coordinates on which the inputs act.
        outputs: names.
    """
    mech, labels = at.mech, list[str]()
    rows = [np.zeros((0, part.shape[1])) for part in z]
    measures = dict(getattr(mech.model, "measures", ()))
    for name in named(outputs, "outputs"):
        measure = _measure(mech, name, measures)
        if measure is None:
            some, W = _output(mech, at.q, name, measures)
            block = tuple(W @ part for part in z)
        else:
            block = measure_slopes(at, measures[measure], z[0][: 2 * mech.nv], columns)
            entries = len(block[0])
            some = [measure] if entries == 1 else [f"{measure}[{i}]" for i in range(entries)]
        again = [label for label in some if label in labels]
        if again:
            raise InputError(f"outputs: {name!r} names {again[0]!r}, which is there already; leave it out.")
        labels += some
        rows = [np.concatenate(pair) for pair in zip(rows, block, strict=True)]
    return tuple(labels), rows[0], rows[1]


def _measure(mech: Mechanism, name: str, measures: Mapping[str, Any]) -> str | None:
    """The measure that an output names, if it does."""
    kind, _, rest = name.partition(".")
    if kind == "measure" and rest in measures:
        return rest
    if name not in measures or name in _coordinates(mech):
        return None
    for kind, known in (("pose", mech.body_names), ("lam", _constraint_rows(mech))):
        if name in known:
            raise InputError(
                f'outputs: {name!r} is a measure and more; say "measure.{name}" or "{kind}.{name}".'
            )
    return name


def _output(mech: Mechanism, q: Array, name: str, measures: Mapping[str, Any]) -> tuple[list[str], Array]:
    """One output by name: labels and rows."""
    coordinates, rows = _coordinates(mech), _constraint_rows(mech)
    bodies = mech.body_names if hasattr(mech, "jacobian") else ()  # a CustomSystem has none
    kind, what = _named_part(name, coordinates, rows, bodies)
    if kind in KINDS:
        labels = [f"{kind}.{mech.names[i]}" for i in coordinates[what]]
        return labels, _entries(mech, KINDS.index(kind), coordinates[what])
    if kind == "lam":
        return [f"lam.{mech.row_names[i]}" for i in rows[what]], _entries(mech, 3, rows[what])
    if kind == "pose":
        block = np.zeros((6, 3 * mech.nv + mech.nc))
        block[:, : mech.nv] = mech.jacobian(q, what)
        return [f"pose.{what}.{axis}" for axis in POSE], block
    known = [*coordinates, *(f"pose.{b}" for b in bodies), *(f"lam.{r}" for r in rows), *measures]
    raise unknown_name("output", name, known, 'outputs (velocities are "v.name", accelerations "a.name")')


def _named_part(
    name: str, coordinates: Container[str], rows: Container[str], bodies: Container[str]
) -> tuple[str, str]:
    """What an output is about, "q", "v", "a", "lam" or "pose", and whose; "" where nothing has that name.

    A name without kind is that of a coordinate, else of rows, else of a body.
    """
    kind, dot, rest = name.partition(".")
    known = {**dict.fromkeys(KINDS, coordinates), "lam": rows, "pose": bodies}
    if name in coordinates:
        return "q", name
    if dot and rest in known.get(kind, ()):
        return kind, rest
    if name in rows:
        return "lam", name
    return ("pose", name) if name in bodies else ("", name)


def _entries(mech: Mechanism, part: int, indices: list[int]) -> Array:
    """Rows that select entries of one part of z: 0 is dq, 1 dv, 2 da, 3 dlam."""
    block = np.zeros((len(indices), 3 * mech.nv + mech.nc))
    block[np.arange(len(indices)), [part * mech.nv + i for i in indices]] = 1.0
    return block


def _coordinates(mech: Mechanism) -> dict[str, list[int]]:
    """Indices into v by the name of a coordinate or of a joint."""
    found = {
        name: list(range(mech.nv)[where])
        for name, where in zip(mech.body_names, mech.model.v_slices, strict=True)
        if len(range(mech.nv)[where])
    }
    return found | {name: [i] for i, name in enumerate(mech.names)}


def _constraint_rows(mech: Mechanism) -> dict[str, list[int]]:
    """Indices of rows by the name of a constraint or of a row."""
    found = {group.name: list(range(mech.nc)[group.rows]) for group in mech.model.groups}
    return found | {name: [i] for i, name in enumerate(mech.row_names)}

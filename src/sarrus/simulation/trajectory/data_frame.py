"""A trajectory as a table with one named column per number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...arrays import Array
from ...errors import SarrusError
from ...models.joint import NodeKind
from ...models.model import Model

QUATERNION = ("qx", "qy", "qz", "qw")
MATRICES = ("q", "v", "a", "u", "lam", "constraint_force")
VECTORS = ("energy", "drift", "velocity_drift", "rank")


def position_names(model: Model) -> tuple[str, ...]:
    """One name per entry of q: those of the coordinates, and x, y, z, qx, qy, qz, qw where they have none."""
    names = [""] * model.nq
    for k, index in enumerate(model.coordinate_q):
        if index >= 0:
            names[index] = model.coordinate_names[k]
    for node in model.tree.nodes:
        if node.kind in (NodeKind.BALL, NodeKind.FREE):
            body = model.coordinate_names[node.iv].rpartition(".")[0]
            parts = QUATERNION if node.kind == NodeKind.BALL else ("x", "y", "z", *QUATERNION)
            for j, part in enumerate(parts):
                names[node.iq + j] = f"{body}.{part}"
    return tuple(names)


def dataframe(system: Any, t: Array, values: Mapping[str, Array], measures: Mapping[str, Array]) -> Any:
    """A pandas.DataFrame; see `Trajectory.to_dataframe`.

    Args:
        system: what moved.
        t: times (n,) [s].
        values: MATRICES and VECTORS of the trajectory, by name.
        measures: (n,) or (n, k), by name.
    """
    try:
        import pandas
    except ImportError:
        raise SarrusError('to_dataframe needs pandas: pip install "sarrus[data]".') from None

    labels = (position_names(system.model), system.names, system.names, system.actuators)
    names = dict(zip(MATRICES, (*labels, system.row_names, system.names), strict=True))
    columns = {
        f"{letter}.{name}": np.array(values[letter][:, i])
        for letter in MATRICES
        for i, name in enumerate(names[letter])
    }
    columns |= {name: np.array(values[name]) for name in VECTORS}
    for name, x in measures.items():
        each = [(name, x)] if x.ndim == 1 else [(f"{name}[{i}]", x[:, i]) for i in range(x.shape[1])]
        columns |= {label: np.array(column) for label, column in each}
    return pandas.DataFrame(columns, index=pandas.Index(np.array(t), name="t"))

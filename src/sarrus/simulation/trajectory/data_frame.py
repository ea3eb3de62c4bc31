"""A trajectory as a table with one named column per number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import SarrusError
from ...models.joint import NodeKind
from ...models.model import Model

if TYPE_CHECKING:
    from .trajectory import Trajectory

QUATERNION = ("qx", "qy", "qz", "qw")


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


def dataframe(trajectory: Trajectory) -> Any:
    """See `Trajectory.to_dataframe`."""
    try:
        import pandas
    except ImportError:
        raise SarrusError('to_dataframe needs pandas: pip install "sarrus[data]".') from None

    system = trajectory.system
    columns: dict[str, Any] = {}
    for letter, names, values in (
        ("q", position_names(system.model), trajectory.q),
        ("v", system.names, trajectory.v),
        ("a", system.names, trajectory.a),
        ("u", system.actuators, trajectory.u),
        ("lam", system.row_names, trajectory.lam),
        ("constraint_force", system.names, trajectory.constraint_force),
    ):
        columns |= {f"{letter}.{name}": np.array(values[:, i]) for i, name in enumerate(names)}
    for name in ("energy", "drift", "velocity_drift", "rank"):
        columns[name] = np.array(getattr(trajectory, name))
    return pandas.DataFrame(columns, index=pandas.Index(np.array(trajectory.t), name="t"))

"""Names of columns in tables of poses and measures."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Array
from ..errors import SarrusError
from .model import Model
from .tree.joint import NodeKind

QUATERNION = ("qx", "qy", "qz", "qw")


def position_names(model: Model) -> tuple[str, ...]:
    """One name per entry of q: those of the coordinates, and x, y, z, qx, qy, qz, qw where they have none."""
    names = [""] * model.nq
    for k, index in enumerate(model.coordinate_q):
        if index >= 0:
            names[index] = model.coordinate_names[k]
    for node in model.structure.tree.nodes:
        if node.kind in (NodeKind.BALL, NodeKind.FREE):
            body = model.coordinate_names[node.iv].rpartition(".")[0]
            parts = QUATERNION if node.kind == NodeKind.BALL else ("x", "y", "z", *QUATERNION)
            for j, part in enumerate(parts):
                names[node.iq + j] = f"{body}.{part}"
    return tuple(names)


def named_columns(name: str, x: Array, axes: int = 1) -> dict[str, Array]:
    """Columns of a measure, an array with this number of axes before those of one value."""
    if x.ndim == axes:
        return {name: np.array(x)}
    flat = x.reshape(*x.shape[:axes], -1)
    return {f"{name}[{i}]": np.array(flat[..., i]) for i in range(flat.shape[-1])}


def data_frames(what: str) -> Any:
    """The module pandas, or an error that says how to get it."""
    try:
        import pandas
    except ImportError:
        raise SarrusError(f'{what} needs pandas: pip install "sarrus[data]".') from None
    return pandas

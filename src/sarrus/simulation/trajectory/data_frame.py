"""A trajectory as a table with one named column per number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...arrays import Array
from ...models.tables import data_frames, named_columns, position_names

MATRICES = ("q", "v", "a", "u", "lam", "constraint_force")
VECTORS = ("energy", "drift", "velocity_drift", "rank")


def dataframe(system: Any, t: Array, values: Mapping[str, Array], measures: Mapping[str, Array]) -> Any:
    """A pandas.DataFrame; see `Trajectory.to_dataframe`.

    Args:
        system: what moved.
        t: times (n,) [s].
        values: MATRICES and VECTORS of the trajectory, by name.
        measures: (n,) or (n, k), by name.
    """
    pandas = data_frames("to_dataframe")
    labels = (position_names(system.model), system.names, system.names, system.actuators)
    names = dict(zip(MATRICES, (*labels, system.row_names, system.names), strict=True))
    columns = {
        f"{letter}.{name}": np.array(values[letter][:, i])
        for letter in MATRICES
        for i, name in enumerate(names[letter])
    }
    columns |= {name: np.array(values[name]) for name in VECTORS}
    for name, x in measures.items():
        columns |= named_columns(name, x)
    return pandas.DataFrame(columns, index=pandas.Index(np.array(t), name="t"))

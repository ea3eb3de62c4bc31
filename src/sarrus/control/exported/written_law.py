"""WrittenLaw: all numbers of a control law, as kernels/control/law/law_tables.hpp has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...arrays import Array, BoolArray
from ...dynamics.dry_friction import DryFriction
from ...errors import InputError
from ...models.model import Model
from ...tracing.cpp_tables import Structs
from ..outputs.references import WrittenReference
from ..state.footing import Footing

ARRAYS_OF_STRUCTS = {"output": "Output<double>", "task": "Task<double>"}
KERNEL_SOLVERS = ("", "kernel", "cones")


@dataclass(frozen=True)
class WrittenObserver:
    """The estimator of the load on a held object."""

    setup: Mapping[str, Any]
    bandwidth: float
    memory: float
    length: float
    farthest: float
    payload: bool
    compensates: bool
    own: Array | None


@dataclass(frozen=True)
class WrittenLaw:
    """One law.

    Attributes:
        name: of its mechanism.
        model: its mechanism.
        sparse: whether the kernel eliminates its rows by entries.
        setup: members of the kernel's ControlSetup.
        nu: number of all actuators.
        used: indices (n,) of those that it uses.
        outputs: names of the components of each output.
        targets: numbers of all targets at t = 0.
        references: of each output, those that change with time.
        constraints: rows of each constraint, by name.
        rows: which hold (nc,); None is all.
        usual_rank: rank of the constraints at the default pose.
        footing: of its contacts.
        transition: time of transitions [s].
        friction: dry friction that it compensates.
        null_force: (nv,) or None.
        forces: members of ForceTables, or None.
        force_names: names of regulated forces.
        observer: of the load, or None.
        displaced: whether the load is read off the displacement.
        own: payload of the model (10,), or None.
        start: default state (q, v).
    """

    name: str
    model: Model
    sparse: bool
    setup: Mapping[str, Any]
    nu: int
    used: npt.NDArray[np.int_]
    outputs: Sequence[Sequence[str]]
    targets: Array
    references: Sequence[Sequence[WrittenReference]]
    constraints: Mapping[str, slice]
    rows: BoolArray | None
    usual_rank: int
    footing: Footing
    transition: float
    friction: DryFriction | None
    start: tuple[Array, Array]
    null_force: Array | None = None
    forces: Mapping[str, Any] | None = None
    force_names: Sequence[str] = ()
    observer: WrittenObserver | None = None
    displaced: bool = False
    own: Array | None = None

    def members(self) -> dict[str, Any]:
        """Members of LawTables, in its order."""
        return {
            "model": model_members(self.model, self.sparse),
            "setup": setup_members(self.setup),
            "nu": self.nu,
            "used": self.used.astype(np.int64),
            "targets": self.targets,
            **self._references(),
            "null_force": self.null_force,
            "rows": None if self.rows is None else self.rows.astype(np.int8),
            "transition": self.transition,
            "usual_rank": self.usual_rank,
            "forces": None if self.forces is None else Structs("ForceTables", [self.forces]),
            "observer": None if self.observer is None else Structs("ObserverTables", [self._observer()]),
            "displaced": self.displaced,
            "own": self.own,
            "footing": self.footing.tables(),
            "friction": {"k": 0} if self.friction is None else friction_members(self.friction),
        }

    def _references(self) -> dict[str, Any]:
        listed = [
            {
                "kind": one.kind,
                "output": number,
                "first": one.first,
                "size": one.size,
                "points": one.points,
                "numbers": np.ascontiguousarray(one.numbers, dtype=float),
            }
            for number, several in enumerate(self.references)
            for one in several
        ]
        return {"references": len(listed), "reference": Structs("Reference", listed)}

    def _observer(self) -> dict[str, Any]:
        one = self.observer
        assert one is not None
        return {**vars(one), "setup": setup_members(one.setup)}


def model_members(model: Model, sparse: bool) -> dict[str, Any]:
    """Members of the kernel's Model."""
    lengths = bool(np.any(np.asarray(model.unit) != 1.0))
    return {**model.sizes, **model.fields, "lengths": lengths, "sparse": sparse}


def setup_members(tables: Mapping[str, Any]) -> dict[str, Any]:
    """Members of ControlSetup: lists of structs by their types, nothing for the model."""
    found: dict[str, Any] = {"model": None}
    for name, value in tables.items():
        found[name] = Structs(ARRAYS_OF_STRUCTS[name], value) if name in ARRAYS_OF_STRUCTS else value
    return found


def friction_members(friction: DryFriction) -> dict[str, Any]:
    """Members of FrictionTables."""
    coulomb, breakaway, speed = friction.levels.T
    return {
        "k": len(friction.coordinates),
        "n": len(coulomb),
        "coordinate": friction.coordinates.astype(np.int32),
        "row": friction.of_row.astype(np.int32),
        "speed": friction.speeds,
        "bound": friction.bounds,
        "coulomb": np.ascontiguousarray(coulomb),
        "more": breakaway - coulomb,
        "stribeck": np.ascontiguousarray(speed),
    }


def refuse(what: str, why: str, way_out: str) -> None:
    """An InputError for a part of a law that cannot be written as C++."""
    raise InputError(f"export_code: {what} {why}, which the exported law cannot call. {way_out}")

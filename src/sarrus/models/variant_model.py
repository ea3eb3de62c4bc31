"""VariantModel: a model that differs from another in numbers only.

It shares names and structure, and has its own arrays for the kernel. Declarations with its own numbers
(bodies, constraints, forces), which few queries ask for, are made when they are asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MethodType, SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._kernel import Kernel
from ..arrays import frozen
from ..varied import Varied, is_varied
from .base.pose import Pose, known_pose
from .model import Model

DECLARED = (
    "tree",
    "constraints",
    "forces",
    "surfaces",
    "contacts",
    "points",
    "floor",
)  # what is made when asked for


class VariantModel(Model):
    """A model with the structure of another."""

    @property
    def structure(self) -> Model:
        found: Model = vars(self).get("_base", self)
        return found

    def __getattr__(self, name: str) -> Any:
        """Declarations with the numbers of this variant."""
        if name not in DECLARED or "_made" not in vars(self):
            raise AttributeError(name)
        whole = self._made()
        vars(self).update({key: getattr(whole, key) for key in DECLARED})
        return vars(self)[name]


def variants_like(base: Model) -> Callable[..., VariantModel]:
    """What makes variants of a base model: variant(arrays that differ, made, **other fields that differ).

    `made()` makes the whole model of the variant, with its declarations.
    """
    own = (*DECLARED, "kernel", "_made", "_base")
    shared = {key: value for key, value in vars(base).items() if key not in own}
    fields, sizes, structure = base.fields, base.sizes, base.structure

    def variant(changed: dict[str, NDArray[Any]], made: Callable[[], Model], **said: Any) -> VariantModel:
        kernel, model = Kernel(sizes, fields | changed), object.__new__(VariantModel)
        model.__dict__.update(shared, **changed, **said, kernel=kernel, _made=made, _base=structure)
        return model

    return variant


@dataclass(frozen=True)
class ModelSlopes:
    """How the numbers of a model change with parameters, along P directions.

    Attributes:
        fields: Derivatives of the arrays of the kernel, {field: (P, size)}; the others do not change.
        values: Numbers in declarations (n,).
        slopes: Their derivatives (P, n).
        corners: Whether the description takes another way on one side (P,), so that they are one-sided.
        slots: Which of them stands in which slot of the recording.
        declared: Declarations with recorded numbers: tree, forces, constraints, measures.
    """

    fields: dict[str, NDArray[np.float64]]
    values: NDArray[np.float64]
    slopes: NDArray[np.float64]
    corners: NDArray[np.bool_]
    slots: Mapping[int, int]
    declared: Mapping[str, Any]

    def stepped(self, model: Model, direction: int, step: float) -> VariantModel:
        """The model with the imaginary part step * slope in every number that changes; no kernel knows it."""
        numbers = self.values + 1j * step * self.slopes[direction]

        def stepped(name: str) -> Any:
            return picked(self.declared[name], lambda x: numbers[self.slots[x.slot]])

        shared = {name: value for name, value in vars(model).items() if name not in DECLARED}
        copy = object.__new__(VariantModel)
        copy.__dict__.update(shared, measures=stepped("measures"), _base=model.structure)
        copy.__dict__["_made"] = lambda: SimpleNamespace(
            points=(), floor=None, surfaces=(), contacts=(), **{x: stepped(x) for x in DECLARED[:3]}
        )
        if "gravity" in self.fields:
            copy.__dict__["gravity"] = model.gravity + 1j * step * self.fields["gravity"][direction]
        return copy


def holds_varied(value: Any) -> bool:
    """Whether a declaration contains varied numbers."""
    if isinstance(value, Pose):
        return is_varied(value.xyz) or is_varied(value.rotation)
    if isinstance(value, (tuple, list)):
        return any(map(holds_varied, value))
    if hasattr(value, "__dict__") and type(value).__module__.startswith("sarrus."):
        return any(map(holds_varied, vars(value).values()))
    if isinstance(value, MethodType):
        return holds_varied(value.__self__)
    return is_varied(value)


def picked(value: Any, number_of: Callable[[Varied], Any]) -> Any:
    """A declaration with number_of(x) in place of each varied number x."""
    if not holds_varied(value):
        return value
    if type(value) is Varied:
        return number_of(value)
    if isinstance(value, Pose):
        parts = (picked(part, number_of) for part in (value.xyz, value.rotation))
        return known_pose(*(frozen(part, np.asarray(part).dtype) for part in parts))
    if isinstance(value, (tuple, list)):
        return type(value)(picked(x, number_of) for x in value)
    if isinstance(value, np.ndarray):
        return np.array([picked(x, number_of) for x in value.flat]).reshape(value.shape)
    if isinstance(value, MethodType):
        return getattr(picked(value.__self__, number_of), value.__name__)
    copy = object.__new__(type(value))
    copy.__dict__.update({name: picked(x, number_of) for name, x in vars(value).items()})
    return copy

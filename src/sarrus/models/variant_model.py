"""VariantModel: a model that differs from another in numbers only.

It shares names and structure, and has its own arrays for the kernel. Declarations with its own numbers
(bodies, constraints, forces), which few queries ask for, are made when they are asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._kernel import Kernel
from ..arrays import frozen
from ..varied import Varied, is_varied
from .model import Model
from .pose import Pose, known_pose

DECLARED = ("tree", "constraints", "forces", "points")  # what is made when asked for


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
    shared = {key: value for key, value in vars(base).items() if key not in (*DECLARED, "kernel", "_made")}
    fields, sizes = base.fields, base.sizes

    def variant(changed: Mapping[str, NDArray[Any]], made: Callable[[], Model], **said: Any) -> VariantModel:
        kernel = Kernel(sizes, fields | dict(changed))
        return VariantModel(
            **{**shared, **changed, **said, "kernel": kernel, "_made": made}, _base=base.structure
        )

    return variant


def holds_varied(value: Any) -> bool:
    """Whether a declaration contains varied numbers."""
    if isinstance(value, Pose):
        return is_varied(value.xyz) or is_varied(value.rotation)
    if isinstance(value, (tuple, list)):
        return any(map(holds_varied, value))
    if hasattr(value, "__dict__") and type(value).__module__.startswith("sarrus."):
        return any(map(holds_varied, vars(value).values()))
    return is_varied(value)


def picked(value: Any, i: int) -> Any:
    """A declaration with the numbers of variant i in place of varied ones."""
    if not holds_varied(value):
        return value
    if type(value) is Varied:
        return float(value.values[i])
    if isinstance(value, Pose):
        return known_pose(*(frozen(picked(part, i)) for part in (value.xyz, value.rotation)))
    if isinstance(value, (tuple, list)):
        return type(value)(picked(x, i) for x in value)
    if isinstance(value, np.ndarray):
        return np.array([picked(x, i) for x in value.flat]).reshape(value.shape)
    copy = object.__new__(type(value))
    copy.__dict__.update({name: picked(x, i) for name, x in vars(value).items()})
    return copy

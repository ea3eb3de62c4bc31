"""Parameters of exported code: numbers of the model as linear functions of what a user names.

Masses, gravity, stiffnesses and places of joints enter the model linearly. What does not, as an angle of a
frame, is refused by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..arrays import Array, mapping, numeric
from ..errors import InputError
from ..models.model import Model
from .entries import Entries, varied_entries

SAME = 1e-9  # difference of an entry from the linear function, relative to the largest
WHAT = "parameters of exported code"


@dataclass(frozen=True)
class LinearParameters:
    """entries = base + slopes @ p.

    Attributes:
        names: of the parameters, as identifiers, (k).
        usual: their values where a call gives none (k,).
        entries: of the model, which they change (n).
        base: (n,).
        slopes: (n, k).
    """

    names: tuple[str, ...] = ()
    usual: Array = field(default_factory=lambda: np.zeros(0))
    entries: Entries = field(default_factory=Entries)
    base: Array = field(default_factory=lambda: np.zeros(0))
    slopes: Array = field(default_factory=lambda: np.zeros((0, 0)))


Key = tuple[str, str, tuple[int, ...]]  # keyword of `with_`, name in its mapping or "", index into its value


def linear_parameters(model_with: Callable[..., Model], given: Any) -> LinearParameters:
    """What of a model changes with keywords of `with_`, each given with a leading axis of values.

    Args:
        model_with: keywords of `with_` -> the changed model.
        given: {keyword: values}, as of `rollout`; at least two values of each, the first ones are the usual.
    """
    checked = mapping(given, "parameters", "{keyword of with_: values with a leading axis}")
    tables = {
        (key, name): numeric(values, f"parameters[{key!r}]", "numbers with a leading axis of at least two")
        for key, value in checked.items()
        for name, values in (value.items() if isinstance(value, Mapping) else [("", value)])
    }
    keys: list[Key] = []
    for (key, name), values in tables.items():
        if values.ndim == 0 or len(values) < 2:
            raise InputError(
                f"parameters[{key!r}] must have a leading axis of at least two values that it may take, got"
                f" shape {values.shape}."
            )
        if not np.all(np.isfinite(values)) or not np.any(values != values[0]):
            raise InputError(
                f"parameters[{key!r}]{f'[{name!r}]' if name else ''} must have at least two different finite"
                f" values, got {values.tolist()!r:.80}; leave it out to keep it constant."
            )
        keys += [
            (key, name, at) for at in np.ndindex(values.shape[1:]) if np.ptp(values[(slice(None), *at)]) > 0
        ]
    if not keys:
        return LinearParameters()

    def model_at(numbers: Mapping[Key, float]) -> Model:
        chosen = {where: np.array(values[0]) for where, values in tables.items()}
        for (key, name, at), x in numbers.items():
            chosen[key, name][at] = x
        changes: dict[str, Any] = {}
        for (key, name), value in chosen.items():
            number = value if value.ndim else float(value)
            if name:
                changes.setdefault(key, {})[name] = number
            else:
                changes[key] = number
        return model_with(**changes)

    rows: dict[Key, Array] = {one: np.array([x[one[2]] for x in tables[one[:2]]]) for one in keys}
    return _fitted(model_at, rows)


def _fitted(model_at: Callable[[Mapping[Key, float]], Model], rows: Mapping[Key, Array]) -> LinearParameters:
    """The linear function through the usual values and one other value of each parameter, checked."""
    usual = np.array([x[0] for x in rows.values()])
    far = {one: float(x[np.argmax(np.abs(x - x[0]))]) for one, x in rows.items()}
    first = model_at({})
    single = [model_at({one: x}) for one, x in far.items()]
    halfway = [model_at({one: 0.5 * (x + rows[one][0])}) for one, x in far.items()]
    all_far = model_at(far)
    entries = varied_entries([first, *single, *halfway, all_far], WHAT)
    at = entries.values([first])[0]
    slopes = np.array(
        [
            (value - at) / (x - rows[one][0])
            for (one, x), value in zip(far.items(), entries.values(single), strict=True)
        ]
    ).T
    base = at - slopes @ usual
    scale = 1 + np.abs(at)
    for one, value in zip(far, entries.values(halfway), strict=True):
        k = list(far).index(one)
        expected = at + slopes[:, k] * 0.5 * (far[one] - usual[k])
        if np.any(np.abs(value - expected) > SAME * scale):
            raise InputError(
                f"{_name(one)!r} does not change the mechanism linearly, and code can have linear parameters"
                " only; export a file for each of its values."
            )
    expected = base + slopes @ np.array(list(far.values()))
    if np.any(np.abs(entries.values([all_far])[0] - expected) > SAME * scale):
        raise InputError(
            f"the parameters {', '.join(_name(one) for one in far)} change the mechanism by their products,"
            " and code can have linear parameters only; give fewer of them."
        )
    return LinearParameters(tuple(_name(one) for one in rows), usual, entries, base, slopes)


def _name(one: Key) -> str:
    key, name, at = one
    return "_".join([key, *([name] if name else []), *(str(i) for i in at)])

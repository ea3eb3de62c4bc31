"""Variants: copies of a mechanism with other numbers, many at once.

The description is made once, with `Varied` numbers that hold one value for each variant; the arrays of the
kernel come out for all of them together. Variants that take another way through the description than the
first one (a link that becomes vertical, a value that is refused) are made after it, again together. So the
bits of a variant do not depend on the others; those of `with_` differ from them in the last digit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import mapping, numeric
from ..errors import InputError, SarrusError
from ..models.inertia import SINGULAR
from ..models.layout import TABLE
from ..models.model import changed_columns
from ..models.variant_model import holds_varied, picked, variants_like
from ..varied import Varied, is_varied, stacked, unstacked
from .compile import lower_declarations

if TYPE_CHECKING:
    from .mechanism import Mechanism

SAME = 1e-9  # relative difference of the first variant made both ways
SHARED = ("name", "gravity", "length", "bodies", "constraints", "forces")


def variants_of(mech: Any, parameters: Mapping[str, Any], count: int | None = None) -> tuple[Any, ...]:
    """Mechanisms with the parameters of each variant.

    Args:
        mech: What to vary.
        parameters: Keywords of `with_`, each value with a leading axis.
        count: Number of variants; default: the length of the longest of these axes. Others have length 1.
    """
    given = mapping(parameters, "parameters", "{keyword of with_: values with a leading axis B}")
    sizes = lengths(given)
    if not sizes:
        return ()
    number = common_length(sizes) if count is None else count
    made: dict[int, Any] = {}
    left = list(range(number))
    while left:  # those that take the same way through the description as the first of them
        first = _one(mech, given, left[0])
        try:
            with np.errstate(all="ignore"):
                found = _together(mech, first, _some(given, left), len(left))
        except (TypeError, SarrusError):  # more than arithmetic: one by one
            return tuple(_one(mech, given, i) for i in range(number))
        made |= {i: copy for i, copy in zip(left, found, strict=True) if copy is not None}
        made.setdefault(left[0], first)
        left = [i for i in left if i not in made]
    return tuple(made[i] for i in range(number))


def lengths(parameters: Mapping[str, Any]) -> dict[str, int]:
    """Leading axes of all parameters, by name."""
    found: dict[str, int] = {}
    for key, value in parameters.items():
        each = value.items() if isinstance(value, Mapping) else [("", value)]
        for name, values in each:
            shape = np.shape(values)
            if not shape:
                raise InputError(
                    f"parameters[{key!r}]{f'[{name!r}]' if name else ''} must have a leading axis B, one"
                    f" value for each copy, got {values!r}."
                )
            if not shape[0]:
                raise InputError(f"parameters[{key!r}] must have at least one value, got none.")
            found[f"parameters[{key!r}]{f'[{name!r}]' if name else ''}"] = shape[0]
    return found


def common_length(sizes: Mapping[str, int]) -> int:
    """The number of copies that leading axes agree on."""
    count = max(sizes.values())
    if any(n not in (1, count) for n in sizes.values()):
        listed = ", ".join(f"{name} {n}" for name, n in sizes.items())
        raise InputError(f"all batches must have the same number of copies, or one for all, got {listed}.")
    return count


def _each(parameters: Mapping[str, Any], of: Callable[[Any], Any]) -> dict[str, Any]:
    """Keywords of `with_` from of(values) of each entry."""
    return {
        key: {name: of(values) for name, values in value.items()} if isinstance(value, Mapping) else of(value)
        for key, value in parameters.items()
    }


def _some(parameters: Mapping[str, Any], which: list[int]) -> dict[str, Any]:
    """The parameters of some variants."""
    return _each(parameters, lambda values: np.asarray(values)[which] if len(values) > 1 else values)


def _is_list(values: Any) -> bool:
    """Whether these are numbers in an array, of which Python's own are quicker to take one by one."""
    return isinstance(values, np.ndarray) and values.ndim == 1


def _changes(parameters: Mapping[str, Any], i: int) -> dict[str, Any]:
    """Keywords of `with_` for one variant."""
    return _each(parameters, lambda values: values[i if len(values) > 1 else 0])


def _one(mech: Mechanism, parameters: Mapping[str, Any], i: int) -> Mechanism:
    try:
        return mech.with_(**_changes(parameters, i))
    except SarrusError as error:
        raise InputError(
            f"parameters of copy {i}: {error} (Every value has a leading axis B, one for each copy.)"
        ) from error


def _together(mech: Mechanism, first: Mechanism, given: Mapping[str, Any], count: int) -> list[Any]:
    """Variants that take the same way as the first one, which is known; None for others."""
    marked = np.zeros(count, dtype=bool)

    def varied(values: Any) -> Any:
        array = numeric(values, "parameters", "numbers")
        whole = np.ascontiguousarray(np.broadcast_to(array, (count, *array.shape[1:])))
        return Varied(whole, marked) if array.ndim == 1 else unstacked(whole, marked)

    columns, said = _columns(mech, _each(given, varied))
    tables = {
        name: stacked(column, count).reshape(count, *TABLE[name].whole_shape)
        for name, column in columns.items()
        if is_varied(column)
    }
    base = first.model
    for name, table in tables.items():
        scale = float(np.max(np.abs(table[0]), initial=0.0))
        if not np.allclose(table[0], getattr(base, name), rtol=0.0, atol=SAME * scale):
            raise TypeError(f"the field {name} of the first variant depends on how it is made")
        marked |= ~np.isfinite(table.reshape(count, -1)).all(axis=1)
        table.setflags(write=False)
    found: list[Any] = []
    near = mech._near if mech._default is None else mech._default.q
    values, others = _split(mech, given)
    variant, given = variants_like(base), _each(given, lambda x: x.tolist() if _is_list(x) else x)
    for i in range(count):
        changes = _changes(given, i)
        made = partial(_made, mech, changes)
        own = {name: picked(value, i) for name, value in said.items()}
        arrays = {name: table[i, ...] for name, table in tables.items()}
        recipe = mech.model.recipe
        if recipe is not None:
            recipe = recipe.with_values({name: changes[name] for name in values})
            recipe = recipe.with_changes({name: changes[name] for name in others}) if others else recipe
        model = variant(arrays, made, **own, recipe=recipe)
        if marked[i] or model.kernel.coordinate_without_inertia(SINGULAR) >= 0:
            found.append(None)
            continue
        found.append(mech._of_variant(model, *((None, near) if values else (mech._default, None))))
    return found


def _made(mech: Mechanism, changes: Mapping[str, Any]) -> Any:
    return mech.with_(**changes).model


def _split(mech: Mechanism, changes: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Values of parameters of the description, and other keywords of `with_`."""
    known = () if mech.model.recipe is None else mech.model.recipe.parameters
    values = {name: x for name, x in changes.items() if name in known}
    return values, {name: x for name, x in changes.items() if name not in known}


def _columns(mech: Mechanism, changes: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Fields of the kernel's model with varied numbers, and what else a model says with them."""
    values, others = _split(mech, changes)
    model = mech.model
    columns: dict[str, Any] = {}
    said: dict[str, Any] = {}
    tree, forces, later = model.tree, model.forces, [others] if others else []
    if values:
        recipe = replace(model.recipe, values={**model.recipe.values, **values})
        declared = recipe.made().declared
        tree, _, columns = lower_declarations(**{name: declared[name] for name in SHARED})
        forces, later = tuple(declared["forces"]), [*recipe.changes, *later]
        functions = [one for _, one in declared["constraints"] if one.holds_functions]
        if is_varied(list(declared["actuated"] or ())) or holds_varied(functions):
            raise TypeError("limits of actuators and functions of time are no arrays of the kernel")
        for name in ("measures", "visuals"):
            if holds_varied(list(declared[name])):
                said[name] = tuple(declared[name])
    for one in later:
        tree, forces, changed = changed_columns(tree, forces, **one)
        columns |= changed
    return columns, said

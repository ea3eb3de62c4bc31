"""Variants: copies of a mechanism with other numbers.

A description is made once with `Varied` numbers, which record how the arrays of the kernel follow from them.
This template makes one variant or thousands: the recorded program runs, the numbers go into copies of the
compiled model. A variant that takes another way through the description than the template (a link that
becomes vertical, a value that is refused) is made by its calls, and is a template for others. So the bits of
a variant do not depend on the others, nor on how many are made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ...arrays import Array, mapping, numeric
from ...errors import InputError, SarrusError
from ...models.variant_model import ModelSlopes, VariantModel
from ...varied import Tape
from ..core.access import known_default, near_default
from ..core.core import State
from ..describe.recipe import Recipe
from .variant_template import Template, each_entry, split_changes

if TYPE_CHECKING:
    from ..mechanism import Mechanism

MOST = 8  # ways through a description that are kept
REFUSED = (TypeError, ValueError, ArithmeticError, SarrusError)  # where more than arithmetic is needed


def variant_of(mech: Mechanism, recipe: Recipe, near: Array | None) -> Mechanism:
    """The mechanism with the values of a recipe, its default state to be assembled near a pose."""
    templates, own = recipe.templates, mech.model.recipe
    row = np.array([list(recipe.current().values())])
    if not templates and own.templates is templates and not isinstance(mech.model, VariantModel):
        _record(templates, mech, mech, own.current())
    found: Mechanism | None = _first(templates, row, recipe, near)
    if found is None:
        plain = type(mech)(recipe.model(), near=near)
        template = _record(templates, plain, plain, recipe.current())
        found = _first([template], row, recipe, near) or plain
    return found


def model_slopes(mech: Mechanism, names: Sequence[str]) -> ModelSlopes | None:
    """Derivatives of all numbers of the model by the named parameters; None where they are not known."""
    recipe, directions = mech.model.recipe, []
    current = recipe.current()
    row = np.array(list(current.values()))
    for name in names:  # others may follow it
        tape = Tape()
        changed = {**recipe.values, name: tape.input(current[name])}
        slots = [tape.slot(one.evaluate(changed)) for one in recipe.parameters.values()]
        slopes, decided = tape.program(slots).slopes(np.array([current[name]]))
        if not decided[0]:
            return None
        directions.append(slopes[0])
    template = _template(mech, row)
    found = None if template is None else template.slopes(row, np.array(directions))
    if template is None or found is None:
        return None
    ends = (_is_end(mech, template, names[int(i)]) for i in np.flatnonzero(found.corners))
    return found if all(ends) else None


def _is_end(mech: Mechanism, template: Template, name: str) -> bool:
    """Whether a parameter stands where the values that the description takes end: a mass of zero."""
    recipe: Recipe = mech.model.recipe
    sides: list[bool | None] = []
    value = recipe.current()[name]
    for step in (1e-6, -1e-6):
        copy = recipe.with_values({name: value + step * (abs(value) or 1.0)})
        try:
            copy.made()
        except SarrusError:
            sides.append(None)
        else:
            sides.append(bool(template.program.tables(np.array([list(copy.current().values())]))[1][0]))
    return None in sides and True in sides


def _template(mech: Mechanism, row: Array) -> Template | None:
    """A template that holds for the present values of the parameters."""
    recipe: Recipe = mech.model.recipe
    templates: list[Template | None] = recipe.templates
    for template in templates:
        if template is not None and template.program.tables(row[None])[1][0]:
            return template
    whole = not isinstance(mech.model, VariantModel)
    plain = mech if whole else type(mech)(recipe.model())
    return _record(templates, plain, plain, recipe.current())


def _first(templates: list[Template | None], row: Array, recipe: Recipe, near: Array | None) -> Any:
    """The variant by the first template that holds for it; None without one."""
    for template in templates:
        if template is not None:
            outputs, fine = template.program.tables(row)
            if fine[0]:
                return template.made(outputs[0], recipe, recipe.model, (None, near))
    return None


def _record(
    templates: list[Template | None], mech: Mechanism, base: Mechanism, given: Mapping[str, Any]
) -> Template | None:
    """A new template, kept with those that there are; None where a description cannot be recorded."""
    if None in templates:
        return None
    try:
        with np.errstate(all="ignore"):
            found = Template(mech, base, given)
    except REFUSED:
        found = None
    if len(templates) < MOST:
        templates.append(found)
    return found


def variants_of_batch(mech: Any, parameters: Mapping[str, Any]) -> tuple[Any, ...]:
    """`variants_of` for a user who has to name what differs."""
    if parameters is None or (isinstance(parameters, Mapping) and not parameters):
        raise InputError(
            "parameters must name what differs between variants, such as {'a': values}, got"
            f" {parameters!r:.80}."
        )
    return variants_of(mech, parameters)


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
    listed = each_entry(given, lambda x: x.tolist() if _is_list(x) else x)
    changes = [_changes(listed, i) for i in range(number)]
    recipes = [_recipe(mech, one, i) for i, one in enumerate(changes)]
    making = _Making(mech, given, changes, recipes)
    made = making.by_templates()
    return making.one_by_one() if made is None else made


@dataclass(frozen=True)
class _Making:
    """Variants in the making.

    Attributes:
        mech: what to vary.
        given: keywords of `with_` with a leading axis.
        changes: keywords of `with_` of each variant.
        recipes: of each variant; None for a mechanism without parameters.
    """

    mech: Any
    given: Mapping[str, Any]
    changes: Sequence[Mapping[str, Any]]
    recipes: Sequence[Recipe | None]

    @cached_property
    def plain(self) -> bool:
        """Whether nothing but parameters of the description differs."""
        return not split_changes(self.mech, self.given)[1]

    @cached_property
    def default(self) -> tuple[State | None, Array | None]:
        """The default state of the variants, and where to look for it."""
        values, _ = split_changes(self.mech, self.given)
        return (None, near_default(self.mech)) if values else (known_default(self.mech), None)

    def one(self, i: int) -> Any:
        """A variant by the calls of the description, or by `with_`."""
        return _one(self.mech, self.changes[i], i, self.plain)

    def one_by_one(self) -> tuple[Any, ...]:
        """All variants without templates."""
        return tuple(_one(self.mech, one, i) for i, one in enumerate(self.changes))

    def by_templates(self) -> tuple[Any, ...] | None:
        """All variants, those together that take the same way; None where more than arithmetic is needed."""
        kept: list[Template | None] = self.mech.model.recipe.templates if self.plain else []
        templates, made, left = list(kept), dict[int, Any](), list(range(len(self.changes)))
        while left:
            if not templates:
                made[left[0]] = first = self.one(left[0])
                templates.append(self._template(kept, first, self.changes[left[0]]))
            template = templates.pop(0)
            rows = None if template is None else _rows(self.recipes if self.plain else self.given, left)
            if template is None or rows is None:
                return None
            made |= self._by_template(template, rows, left)
            left = [i for i in left if i not in made]
        return tuple(made[i] for i in range(len(self.changes)))

    def _template(
        self, kept: list[Template | None], first: Any, changes: Mapping[str, Any]
    ) -> Template | None:
        """A new template from the first variant that takes a way."""
        if self.plain:
            return _record(kept, first, first, first.model.recipe.current())
        return _record(kept, self.mech, first, changes)

    def _by_template(self, template: Template, rows: Array, left: Sequence[int]) -> dict[int, Any]:
        """Those of the variants that take the way of a template."""
        outputs, holds = template.program.tables(rows)
        found = {}
        for k in np.flatnonzero(holds).tolist():
            i = left[k]
            recipe = self.recipes[i]
            again = partial(_model, self.mech, self.changes[i]) if recipe is None else recipe.model
            found[i] = template.made(outputs[k], recipe, again, self.default)
        return {i: copy for i, copy in found.items() if copy is not None}


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


def _is_list(values: Any) -> bool:
    """Whether these are numbers in an array, of which Python's own are quicker to take one by one."""
    return isinstance(values, np.ndarray) and values.ndim == 1


def _changes(parameters: Mapping[str, Any], i: int) -> dict[str, Any]:
    """Keywords of `with_` for one variant."""
    return each_entry(parameters, lambda values: values[i if len(values) > 1 else 0])


def _rows(given: Any, which: list[int]) -> Array | None:
    """Inputs of the program for some variants, (n, inputs), from all keywords or from recipes."""
    if isinstance(given, list):
        return np.array([list(given[i].current().values()) for i in which])
    listed = [value.values() if isinstance(value, Mapping) else [value] for value in given.values()]
    try:
        return np.concatenate([_column(x, which) for values in listed for x in values], axis=1)
    except InputError:
        return None


def _column(values: Any, which: list[int]) -> Array:
    """The numbers of some variants, (n, inputs), from values with a leading axis, which may be 1."""
    array = numeric(values, "parameters", "numbers")
    rows = array.reshape(len(array), -1)
    return rows[which] if len(array) > 1 else np.repeat(rows, len(which), axis=0)


def _recipe(mech: Mechanism, changes: Mapping[str, Any], i: int) -> Recipe | None:
    """The recipe of one variant; None for a mechanism without parameters."""
    recipe: Recipe | None = mech.model.recipe
    if recipe is None:
        return None
    values, others = split_changes(mech, changes)
    with _copy(i):
        recipe = recipe.with_values(values)
    return recipe.with_changes(others) if others else recipe


@contextmanager
def _copy(i: int) -> Iterator[None]:
    """Errors say which copy they are about."""
    try:
        yield
    except SarrusError as error:
        raise InputError(
            f"parameters of copy {i}: {error} (Every value has a leading axis B, one for each copy.)"
        ) from error


def _one(mech: Mechanism, changes: Mapping[str, Any], i: int, plain: bool = False) -> Mechanism:
    """One variant; plain: by the calls of the description."""
    with _copy(i):
        if not plain:
            return mech.with_(**changes)
        near = near_default(mech)
        return type(mech)(mech.model.recipe.with_values(changes).model(), near=near)


def _model(mech: Mechanism, changes: Mapping[str, Any]) -> Any:
    return mech.with_(**changes).model

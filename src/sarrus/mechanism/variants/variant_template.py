"""Template: how the arrays of the kernel follow from the numbers of a description, recorded once."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._kernel import TableProgram
from ...arrays import Array
from ...models.model import changed_columns
from ...models.tree.inertia import SINGULAR
from ...models.variant_model import ModelSlopes, holds_varied, picked, variants_like
from ...varied import Tape, flat, is_varied
from ..describe.compile import actuators_of, lower_declarations
from ..describe.recipe import Recipe

if TYPE_CHECKING:
    from ..mechanism import Mechanism

SAME = 1e-9  # relative difference of the recorded variant made both ways
SHARED = ("name", "gravity", "length", "bodies", "constraints", "forces", "surfaces", "contacts")


class Template:
    """One way through a description.

    Args:
        mech: What is varied.
        base: It with the numbers of the recording, made by its calls.
        given: These numbers, keywords of `with_`.
    """

    def __init__(self, mech: Mechanism, base: Mechanism, given: Mapping[str, Any]) -> None:
        tape = Tape()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the calls that made the base have said it
            columns, said, self._declared = _columns(mech, each_entry(given, tape.input))
        self._tape = tape
        self._changes: tuple[TableProgram, dict[int, int]] | None = None
        self._base = type(base)(base.model)  # nothing that was asked of it goes to the variants
        self._variant, self._said = variants_like(base.model), said
        outputs: list[int] = []
        self._places: dict[str, tuple[slice, tuple[int, ...]]] = {}
        for name, column in columns.items():
            if is_varied(column):
                slots = [tape.slot(x) for x in flat(column)]
                place = slice(len(outputs), len(outputs) + len(slots))
                self._places[name] = place, getattr(base.model, name).shape
                outputs += slots
        self._columns: dict[int, int] = {}  # of numbers that are said, by their slot
        picked(list(said.values()), lambda x: self._columns.setdefault(x.slot, len(self._columns)))
        self._outputs = outputs
        self._columns = {slot: len(outputs) + k for slot, k in self._columns.items()}
        self.program = tape.program([*outputs, *self._columns])
        self._check(np.array([tape.start[slot] for slot in tape.inputs]))

    def _check(self, recorded: Array) -> None:
        """Compare the tables of the recording with those of the base."""
        (row,), (fine,) = self.program.tables(recorded[None])
        for name, (place, shape) in self._places.items():
            table, base = row[place].reshape(shape), getattr(self._base.model, name)
            scale = float(np.max(np.abs(base), initial=0.0))
            if not fine or not np.allclose(table, base, rtol=0.0, atol=SAME * scale):
                raise TypeError(f"the field {name} depends on how it is made")

    def slopes(self, row: Array, directions: Array) -> ModelSlopes | None:
        """Derivatives of all numbers of the model; None where there are none.

        Args:
            row: Values of the parameters (n,).
            directions: In which they change together, (P, n).
        """
        if self._changes is None:  # all numbers of the declarations, which few variants ask for
            slots: dict[int, int] = {}
            picked(list(self._declared.values()), lambda x: slots.setdefault(x.slot, len(slots)))
            self._changes = self._tape.program([*self._outputs, *slots]), slots
        program, slots = self._changes
        (values,), (holds,) = program.tables(row[None])
        by_input, decided = program.slopes(row)
        with np.errstate(invalid="ignore"):
            slopes, n = directions @ by_input, len(self._outputs)
        if not holds or not np.all(np.isfinite(slopes)):
            return None
        fields = {name: np.ascontiguousarray(slopes[:, place]) for name, (place, _) in self._places.items()}
        corners = np.any((directions != 0.0) & ~decided, axis=1)
        return ModelSlopes(fields, values[n:], slopes[:, n:], corners, slots, self._declared)

    def made(self, row: Array, recipe: Recipe | None, made: Any, default: tuple[Any, Any]) -> Any:
        """The variant with the outputs of the program; None where some coordinate has no inertia.

        Args:
            row: Outputs of the program.
            recipe: Of this variant.
            made: Makes its model by the calls of the description.
            default: Its default state, where it is known, and the pose to assemble it near.
        """
        row.setflags(write=False)
        arrays = {name: row[place].reshape(shape) for name, (place, shape) in self._places.items()}
        own = {}
        if self._said:
            numbers, columns = row.tolist(), self._columns
            own = {
                name: picked(value, lambda x: numbers[columns[x.slot]]) for name, value in self._said.items()
            }
        model = self._variant(arrays, made, **own, recipe=recipe)
        if model.kernel.coordinate_without_inertia(SINGULAR) >= 0:
            return None
        return self._base._of_variant(model, *default)


def each_entry(parameters: Mapping[str, Any], of: Callable[[Any], Any]) -> dict[str, Any]:
    """Keywords of `with_` from of(values) of each entry."""
    return {
        key: {name: of(values) for name, values in value.items()} if isinstance(value, Mapping) else of(value)
        for key, value in parameters.items()
    }


def split_changes(mech: Mechanism, changes: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Values of parameters of the description, and other keywords of `with_`."""
    known = () if mech.model.recipe is None else mech.model.recipe.parameters
    values = {name: x for name, x in changes.items() if name in known}
    return values, {name: x for name, x in changes.items() if name not in known}


def _columns(
    mech: Mechanism, changes: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Fields of the kernel's model with varied numbers, what else a model says with them, declarations."""
    values, others = split_changes(mech, changes)
    model = mech.model
    columns: dict[str, Any] = {}
    said: dict[str, Any] = {}
    tree, forces, later = model.tree, model.forces, [others] if others else []
    kept = {"constraints": model.constraints, "measures": model.measures}
    if values:
        recipe = replace(model.recipe, values={**model.recipe.values, **values})
        declared = recipe.made().declared
        tree, rows, columns = lower_declarations(**{name: declared[name] for name in SHARED})
        forces, later = tuple(declared["forces"]), [*recipe.changes, *later]
        given = (*declared["constraints"], *forces)
        functions = [one for _, one in given if one.holds_functions]
        if holds_varied(functions):
            raise TypeError("functions of time are no arrays of the kernel")
        others = {"actuators": actuators_of(tree, declared["actuated"]), "customs": rows.customs}
        others |= {name: declared[name] for name in ("measures", "visuals")}
        kept = {name: tuple(declared[name]) for name in kept}
        said = {name: tuple(each) for name, each in others.items() if holds_varied(list(each))}
    for one in later:
        tree, forces, changed = changed_columns(tree, forces, kept["constraints"], **one)
        columns |= changed
    return columns, said, {"tree": tree, "forces": forces, **kept}

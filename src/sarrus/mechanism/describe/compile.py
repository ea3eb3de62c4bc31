"""Compilation of declarations to a Model: tree, rows, forces, actuators, in this order."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from ..._kernel import RANK_TOL
from ...constraints.rows import Constraint, Rows, lower_constraints
from ...dynamics.forces_without_bodies import unloading, without_loads, worms_beside
from ...errors import ModelError, warn
from ...models.base.restore import MAKERS
from ...models.contacts.surfaces import ContactPair, Surface
from ...models.contacts.table import contact_arrays
from ...models.kinds.actuator_law import ActuatorLaw
from ...models.kinds.forces import Force, force_arrays
from ...models.length import characteristic_length, ground_origin
from ...models.model import Actuator, Model
from ...models.shapes.floor import Floor
from ...models.shapes.visual import Visual
from ...models.tree.bodies import Body, Limit
from ...models.tree.inertia import check_mass_matrix, inertia_arrays
from ...models.tree.layout import TABLE, filled, shaped
from ...models.tree.tree import Tree, build_tree, tree_arrays


def build_model(
    *,
    name: str,
    gravity: Sequence[float],
    length: float | None,
    bodies: Sequence[Body],
    constraints: Sequence[tuple[str, Constraint]],
    forces: Sequence[tuple[str, Force]],
    actuated: Sequence[tuple[str, Limit]] | None,
    surfaces: Sequence[Surface] = (),
    contacts: Sequence[ContactPair] = (),
    omitted: Sequence[str] = (),
    measures: Sequence[tuple[str, Any]] = (),
    points: Sequence[tuple[str, Any]] = (),
    recipe: Any = None,
    laws: Mapping[str, tuple[ActuatorLaw, ...]] = {},
    visuals: Sequence[Visual] = (),
    floor: Floor | None = None,
    checked: bool = False,
) -> Model:
    """Lower a description; see `MechanismSpec` for the arguments. One that was `checked` once is trusted."""
    tree, rows, columns = lower_declarations(
        name=name,
        gravity=gravity,
        length=length,
        bodies=bodies,
        constraints=constraints,
        forces=forces,
        surfaces=surfaces,
        contacts=contacts,
    )
    model = Model(
        name=name,
        tree=tree,
        constraints=tuple(constraints),
        forces=tuple(forces),
        surfaces=tuple(surfaces),
        contacts=tuple(contacts),
        actuators=actuators_of(tree, actuated),
        actuators_declared=actuated is not None,
        omitted=tuple(omitted),
        measures=tuple(measures),
        points=tuple(points),
        recipe=recipe,
        laws=dict(laws),
        visuals=tuple(visuals),
        floor=floor,
        **(rows.declarations() | filled(columns)),
    )
    if not checked:
        for force, doubt in ((n, force.doubt(float(model.length))) for n, force in forces):
            if doubt:
                warn(f"force {force!r}: {doubt}. It is used as given.")
        _warn_of_bearings(model)
        check_mass_matrix(tree, model.kernel, {body for _, given in constraints for body in given.bodies()})
    return model


def _warn_of_bearings(model: Model) -> None:
    """Warn of friction by load on joints that lack the load of a relation between coordinates."""
    for name, force in model.forces:
        for coordinate in force.coordinates() if force.by_load else ():
            joint = model.tree.by_name.owners[model.tree.coordinate(coordinate, "")].name
            if missing := unloading(model, joint):
                warn(f"force {name!r}: {without_loads(joint, missing)}")
            for gear in worms_beside(model, joint) if force.across_axis else ():
                warn(
                    f"force {name!r}: its load leaves out the friction of the worm {gear!r}, which loads"
                    f" {joint!r} with about mu times the force on the teeth more or less."
                )


def lower_declarations(
    *,
    name: str,
    gravity: Sequence[float],
    length: float | None,
    bodies: Sequence[Body],
    constraints: Sequence[tuple[str, Constraint]],
    forces: Sequence[tuple[str, Force]],
    surfaces: Sequence[Surface] = (),
    contacts: Sequence[ContactPair] = (),
) -> tuple[Tree, Rows, dict[str, Any]]:
    """The tree, the rows, and the fields of the kernel's model as lists; numbers may be `Varied`."""
    tree = build_tree(bodies)
    if tree.nv == 0:
        raise ModelError(f"mechanism {name!r} has no coordinate: give some body a joint other than Fixed.")
    rows = lower_constraints(tree, constraints)
    columns: dict[str, Any] = (
        tree_arrays(tree) | inertia_arrays(tree) | force_arrays(tree, forces, constraints)
    )
    columns |= contact_arrays(tree, surfaces, contacts)
    L = length
    if L is None:
        balls = columns.get("sf_ball", ())
        L = characteristic_length(tree, columns["com"], rows.anchors, constraints, forces, balls)
    columns["unit"] = _units(tree, L)
    columns["first_order"] = [int(x) for x in tree.first_order]
    columns |= rows.fields(L) | user_rows(rows, forces)
    columns.update(gravity=gravity, origin=ground_origin(tree), length=L, rank_tol=RANK_TOL)
    return tree, rows, columns


def _units(tree: Tree, L: Any) -> list[Any]:
    """What counts as one unit of each entry of v: a radian, L, or the usual size of a state."""
    sizes = [body.state_size for body in tree.bodies for _ in range(body.joint.nv)]
    usual = [1.0 if is_angle else L for is_angle in tree.coordinate_is_angle]
    return [size or unit for size, unit in zip(sizes, usual, strict=True)]


def user_rows(rows: Rows, forces: Sequence[tuple[str, Force]]) -> dict[str, list[int]]:
    """Rows that Python functions compute, and one that is none (-1) behind them for forces, if there are."""
    row = [-1] if any(force.holds_functions for _, force in forces) else []
    return {"u_row": [*rows.columns.get("u_row", ()), *row]}


MAKERS["Model"] = lambda declared: build_model(**declared, checked=True)
ROW_COUNTS = ("ne", "nev", "nsup", "nk", "nkt", "nkn", "nm", "n_user_rows", "nc")


def exchange_constraints(model: Model, constraints: Sequence[tuple[str, Constraint]]) -> Model:
    """A copy of a model with other constraints; bodies, forces, length and actuators stay."""
    rows = lower_constraints(model.tree, constraints)
    fields = rows.fields(float(model.length)) | user_rows(rows, model.forces)
    of_rows = {name for name, entry in TABLE.items() if entry.count in ROW_COUNTS}
    changed: dict[str, Any] = {name: shaped(name, fields.get(name, [])) for name in of_rows}
    return dataclasses.replace(model, constraints=tuple(constraints), **rows.declarations(), **changed)


def default_actuated(tree: Tree) -> list[int]:
    """Indices into v of every coordinate that has a drive unless something else is said."""
    return [k for k, body in enumerate(tree.by_name.owners) if body.joint.has_drive and not body.is_state]


def actuators_of(tree: Tree, actuated: Sequence[tuple[str, Limit]] | None) -> tuple[Actuator, ...]:
    """Actuators in the order in which they were declared."""
    names = tree.coordinate_names
    if actuated is None:
        return tuple(Actuator(names[k], k) for k in default_actuated(tree))
    found: dict[int, Actuator] = {}
    for name, (lower, upper) in actuated:
        for k in tree.coordinates(name, "actuate"):
            if k in found:
                raise ModelError(f"coordinate {names[k]!r} is actuated twice; name it once.")
            found[k] = Actuator(names[k], k, lower, upper)
    return tuple(found.values())

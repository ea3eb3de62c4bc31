"""Every number of every kind of constraint, joint and force as a parameter: variants come from a template."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import sarrus as sr
from sarrus.constraints.closures import Closure
from sarrus.models.variant_model import VariantModel

from .kind_cells import built, each
from .kind_examples import T

FUNCTIONS = (
    *("constraint Drive", "constraint DrivenDistance", "constraint CustomConstraint"),
    *("force UserForce", "force UserForce'"),
    *("force BodyForce", "force BodyForce'"),
)  # of time and state
# counts, and what must fit to places of bodies
APART = {"Gear": ("teeth_a", "teeth_b", "module"), "Rope": ("radius",)}


def fields_of(one: Any) -> dict[str, Any]:
    """The arguments of a declaration that hold numbers."""
    names = [f.name for f in dataclasses.fields(one) if f.name not in APART.get(type(one).__name__, ())]
    return {name: getattr(one, name) for name in names if has_numbers(getattr(one, name))}


def has_numbers(value: Any) -> bool:
    if isinstance(value, sr.Pose):
        return True
    if isinstance(value, (tuple, list)):
        return any(map(has_numbers, value))
    return isinstance(value, float) and np.isfinite(value)


def scaled(value: Any, p: Any) -> Any:
    """The same with every number times p."""
    if isinstance(value, sr.Pose):
        return sr.Pose([x * p for x in value.xyz.tolist()], rpy=value.rpy.tolist())
    if isinstance(value, (tuple, list)):
        return type(value)(scaled(x, p) for x in value)
    return value * p if isinstance(value, float) and np.isfinite(value) else value


def declared(key: str, name: str) -> sr.MechanismSpec:
    small = built(key, "small")
    (one,) = small.declared
    spec = sr.MechanismSpec.from_declared(small.plain.model.declared)
    p = spec.parameter("p", 1.0)
    arguments = {f.name: getattr(one, f.name) for f in dataclasses.fields(one)}
    changed = type(one)(**arguments | {name: scaled(arguments[name], p)})
    if isinstance(changed, Closure):
        spec.close("kind", changed.a, changed.b, changed.joint, *(scaled(x, p) for x in (one.at_a, one.at_b)))
    elif small.example.rows:
        spec.constrain("kind", changed)
    else:
        spec.force("kind", changed)
    return spec


@each
def test_every_number_of_a_kind_is_varied_by_a_template(key: str) -> None:
    if key in FUNCTIONS:
        pytest.skip("it is made of functions")
    small = built(key, "small")
    for name in fields_of(small.declared[0]):
        mech = declared(key, name).compile()
        other = sr.Mechanism(mech.model.recipe.with_values({"p": 1.01}).model())
        for copy in (mech.variants({"p": [1.0, 1.01]})[1], mech.with_(p=1.01)):
            assert isinstance(copy.model, VariantModel), f"{key}: {name} is made one by one"
            for field, array in other.model.fields.items():
                atol = 1e-13 * np.max(np.abs(array), initial=0.0)
                found = getattr(copy.model, field)
                np.testing.assert_allclose(found, array, rtol=0.0, atol=atol, err_msg=f"{name}: {field}")
            for part, array in vars(other.terms(small.q, small.v, T)).items():
                atol = 1e-11 * np.max(np.abs(array), initial=1.0)
                found = getattr(copy.terms(small.q, small.v, T), part)
                np.testing.assert_allclose(found, array, rtol=0.0, atol=atol, err_msg=f"{name}: {part}")

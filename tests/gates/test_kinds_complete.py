"""What a kind needs beside numbers: each test fails with a sentence that says what to add, and where."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import sarrus as sr
from sarrus.constraints.rows import Constraint
from sarrus.models.kinds.forces import Force
from sarrus.models.shapes.drawing import Drawing
from sarrus.models.tree.joint import Joint

from .kind_cells import Built, built, close, each
from .kind_examples import EXAMPLES_FILE, NO_TENSION, T, every_example
from .sources import KERNELS, cpp_code, cpp_files, short

Array = npt.NDArray[np.float64]

# functions that the kernel calls, by the list of kinds that its headers keep
FUNCTIONS = {
    "SARRUS_ELEMENT_KINDS": ("rows",),
    "SARRUS_FORCE_KINDS": ("load",),
    "SARRUS_COORDINATE_FORCE_KINDS": ("resistance", "energy"),
}
FORCE_KEYS = [key for key in every_example() if key.startswith("force")]


def kernel_kinds() -> dict[str, tuple[str, ...]]:
    """Functions that each kind of the kernel needs, as kinds.hpp lists the kinds."""
    found = {}
    for path in KERNELS.rglob("kinds.hpp"):
        code = cpp_code(path).replace("\\\n", " ")
        for name, functions in FUNCTIONS.items():
            for listed in re.findall(rf"#define {name}\(X\)(.*)", code):
                found |= dict.fromkeys(re.findall(r"X\((\w+)\)", listed), functions)
    return found


def test_the_lists_of_kinds_are_found() -> None:
    assert {"Closure", "PointSpring", "JointSpring"} <= set(kernel_kinds())


@pytest.mark.parametrize("kind", kernel_kinds())
def test_every_kind_of_the_kernel_has_its_functions(kind: str) -> None:
    start = re.compile(rf"^struct {kind} {{$", re.M)
    headers = [path for path in cpp_files(KERNELS) if start.search(cpp_code(path))]
    assert headers, f"kinds.hpp lists {kind}, but no header beside it has `struct {kind} {{`"
    _, body = start.split(cpp_code(headers[0]), maxsplit=1)
    for name in kernel_kinds()[kind]:
        there = re.search(rf"\b{name}\(", body.split("\n};")[0])
        assert there, (
            f"struct {kind} in {short(headers[0])} has no {name}(): add it, as the kinds beside it have"
        )


def where(kind: type[Any]) -> str:
    """The file of a kind."""
    return f"src/{kind.__module__.replace('.', '/')}.py"


def force_of(b: Built) -> Any:
    (force,) = b.declared
    return force


@pytest.mark.parametrize(
    "name", [n for n, kind in Force.kinds.items() if kind.__module__.startswith("sarrus.")]
)
def test_every_force_can_be_read(name: str) -> None:
    """`sr.ForceIn` reads it by its name; those without one number to read are listed, with the reason."""
    kind, has = Force.kinds[name], hasattr(Force.kinds[name], "tension")
    assert has or name in NO_TENSION, (
        f"sr.ForceIn cannot read a {name}: give it `def tension(self, states) -> Array` in {where(kind)}, its"
        f" force (B,) [N, N m], or say in NO_TENSION of {EXAMPLES_FILE} why it has no single number"
    )
    assert not (has and name in NO_TENSION), f"{name} has tension(): remove it from NO_TENSION"


@pytest.mark.parametrize(
    "key", [key for key in FORCE_KEYS if hasattr(Force.kinds[every_example()[key][0]], "tension")]
)
def test_tension_is_the_force_that_the_kernel_applies(key: str) -> None:
    """h has, against the motion of its points or its coordinate, what `ForceIn` reads."""
    b = built(key, "small")
    force, name = force_of(b), every_example()[key][0]
    h, plain = (mech.terms(b.q, b.v, T).h for mech in (b.mech, b.plain))
    spec = sr.MechanismSpec.from_model(b.mech.model).measure("read", sr.ForceIn("kind0"))
    read = spec.compile().measure(b.q, b.v, T)["read"]
    if hasattr(force, "anchors"):
        moved = direction(b.mech, force, b.q) * read
    elif getattr(force, "body", None) is not None:
        axes = mech_axes(b.mech, force, b.q)
        moved = -(axes.T @ b.mech.jacobian(b.q, force.body, force.point)).T @ read
    elif not force.coordinates():
        moved = -rate_of_points(b.mech, force, b.q).T @ read
    else:
        moved = np.zeros(b.mech.nv)
        at = [b.mech.names.index(name) for name in force.coordinates()]
        moved[at] = np.abs(read) * np.sign(h - plain)[at]  # a Motor is read as it drives
    why = f"tension() of {name} in {where(type(force))} and load() or resistance() of its kind differ"
    close(h - plain, moved, 1e-10, why)


def mech_axes(mech: sr.Mechanism, force: Any, q: Array) -> Array:
    """Axes of the wrench of a force on a body, of its two halves (6, 6)."""
    R = mech.pose(q, force.body).rotation if force.axes == "body" else np.eye(3)
    return np.kron(np.eye(2), R)


def direction(mech: sr.Mechanism, force: Any, q: Array) -> Array:
    """Derivative of the distance of its two points by the coordinates (nv,)."""
    places = [mech.pose(q, body).apply(p) for body, p in force.anchors()]
    apart = (places[1] - places[0]) / np.linalg.norm(places[1] - places[0])
    rows = [mech.jacobian(q, body, p)[:3] for body, p in force.anchors()]
    return np.asarray(apart @ (rows[1] - rows[0]))


def rate_of_points(mech: sr.Mechanism, force: Any, q: Array) -> Array:
    """Rate of point b in the axes of body a, by the velocities (3, nv)."""
    X_a, there = mech.pose(q, force.a), mech.pose(q, force.b).apply(force.p_b)
    J_b, J_a = mech.jacobian(q, force.b, force.p_b), mech.jacobian(q, force.a, X_a.inverse().apply(there))
    return np.asarray(X_a.rotation.T @ (J_b - J_a)[:3])


@each
def test_a_drawing_or_a_reason(key: str) -> None:
    """What shows nothing in pictures says so in its example."""
    b = built(key, "small")
    if b.example.joint is not None:
        return
    name, kind = every_example()[key][0], type(b.declared[0])
    shows = dataclasses.replace(b.declared[0].drawing(), bearings=()) != Drawing()
    assert shows or not b.example.draws, (
        f"{name} is invisible: give it `def drawing(self) -> Drawing` in {where(kind)}, which says what"
        f" pictures show, or say draws=False and solid=False in its example in {EXAMPLES_FILE}"
    )
    assert b.example.draws or not shows, (
        f"{name} has drawing(): its example in {EXAMPLES_FILE} must not say draws=False"
    )


def test_kinds_have_words_of_their_own() -> None:
    """The first line of a docstring is what the reference shows."""
    for family in (Constraint, Force, Joint):
        for name, kind in family.kinds.items():
            assert kind.__doc__ and not kind.__doc__.startswith(f"{name}("), (
                f"{name} in {where(kind)} has no docstring: say what it does, with Args and their units"
            )

"""Every kind of shape, found by registration, through what the library does with shapes.

A new shape is a class in models/shapes and an example here; one that touches in a way of its own is a kind of
the kernel, too (kernels/contacts/shapes/kinds.hpp), with its pairs in kernels/contacts/pairs/kinds.hpp.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sarrus as sr
from sarrus._kernel import KINDS
from sarrus.models.shapes.shapes import Shape
from sarrus.viz.scenes.body_shapes import visual_surface

DOCS = Path(__file__).parents[2] / "docs"
CORNERS = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
EXAMPLES: dict[str, Any] = {
    "Box": sr.Box((0.1, 0.2, 0.3)),
    "Capsule": sr.Capsule(0.1, 0.4),
    "ConvexMesh": sr.ConvexMesh(CORNERS),
    "Cylinder": sr.Cylinder(0.1, 0.4),
    "Ellipsoid": sr.Ellipsoid((0.1, 0.2, 0.3)),
    "HalfSpace": sr.HalfSpace("x"),
    "Mesh": None,  # of a file
    "Plate": sr.Plate([(0, 0), (1, 0), (0, 1)], 0.1),
    "Profile": sr.Profile([(-0.1, 0, 1), (0.1, 0, 1)], 0.05),
    "Sphere": sr.Sphere(0.1),
    "Tube": sr.Tube(0.2, 0.1, 0.4),
}
NO_SURFACE = ("Tube",)
NO_MASS = ("HalfSpace",)


@pytest.fixture
def shape(request: Any, tmp_path: Path) -> Any:
    if EXAMPLES[request.param] is not None:
        return EXAMPLES[request.param]
    facets = [(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)]
    lines = [f"v {x} {y} {z}" for x, y, z in CORNERS] + [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in facets]
    (tmp_path / "solid.obj").write_text("\n".join(lines) + "\n")
    return sr.Mesh(tmp_path / "solid.obj")


each = pytest.mark.parametrize("shape", EXAMPLES, indirect=True)


def test_every_shape_has_an_example_and_its_words() -> None:
    own = {name for name, kind in Shape.kinds.items() if kind.__module__.startswith("sarrus.")}
    assert own == set(EXAMPLES), "give the new shape an example in tests/gates/test_shape_kinds.py"
    page = (DOCS / "contacts.md").read_text(encoding="utf-8")
    assert not [name for name in own if f"`{name}" not in page], "say in docs/contacts.md what touches how"
    assert own <= set(sr.__all__)


@pytest.mark.filterwarnings("ignore:.*hull touches")
def test_every_kind_of_the_kernel_is_a_shape_of_python() -> None:
    made = {shape.in_kernel().kind for name, shape in EXAMPLES.items() if shape and name not in NO_SURFACE}
    assert made == set(KINDS["shapes"])


@each
@pytest.mark.filterwarnings("ignore:.*hull touches")
def test_a_surface_or_a_named_refusal(shape: Any) -> None:
    """On a floor, in a file, moved by its `at`; the ball around it holds its points of contact."""
    name = type(shape).__name__
    spec = sr.MechanismSpec().body("a", joint=sr.Planar("z"), mass=1.0, inertia=(0.1, 0.1, 0.1))
    if name in NO_SURFACE:
        with pytest.raises(sr.InputError, match=f"a {name} .* cannot be a surface"):
            spec.surface("a", "a", shape)
        return
    spec.surface("a", "a", shape, friction=0.5)
    other = sr.Sphere(0.1) if name == "HalfSpace" else sr.HalfSpace("y")
    mech = spec.surface("b", "ground", other).contact("a", "b").compile()
    again = sr.MechanismSpec.from_dict(spec.to_dict()).compile()
    for angle in np.linspace(0, 6, 7):
        found = mech.contacts([0.1, 1.0, angle])
        np.testing.assert_array_equal(again.contacts([0.1, 1.0, angle]).gap, found.gap)
        centre, radius = mech.model.sf_ball[0, :3], mech.model.sf_ball[0, 3]
        points = found.point_a[np.isfinite(found.gap)] - mech.pose([0.1, 1.0, angle], "a").xyz
        turned = points @ mech.pose([0.1, 1.0, angle], "a").rotation
        assert radius < 0 or np.all(np.linalg.norm(turned - centre, axis=1) < radius + 1e-12)


@each
def test_a_mass_or_a_named_refusal(shape: Any) -> None:
    if type(shape).__name__ in NO_MASS:
        with pytest.raises(sr.InputError, match="has no mass"):
            shape.mass_properties()
        return
    found = shape.mass_properties()
    moments = np.linalg.eigvalsh(found.inertia)
    assert found.mass > 0.0 and moments[0] > 0.0 and moments[2] <= moments[0] + moments[1]


@each
def test_pictures(shape: Any) -> None:
    drawn = visual_surface(shape.visual("a"))
    assert len(drawn.faces) and np.all(np.isfinite(drawn.points))

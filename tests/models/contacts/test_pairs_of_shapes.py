"""Every pair of shapes touches, or is refused by name, as the table of docs/contacts.md says."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sarrus as sr

DOCS = Path(__file__).parents[3] / "docs" / "contacts.md"
CUBE = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
SHAPES: dict[str, Any] = {
    "HalfSpace": sr.HalfSpace(),
    "Sphere": sr.Sphere(0.1),
    "Capsule": sr.Capsule(0.1, 0.3),
    "Box": sr.Box((0.1, 0.2, 0.3)),
    "ConvexMesh": sr.ConvexMesh(CUBE),
    "Plate": sr.Plate([(0, 0), (1, 0), (0, 1)], 0.1),
    "Cylinder": sr.Cylinder(0.1, 0.3),
    "Ellipsoid": sr.Ellipsoid((0.1, 0.2, 0.3)),
    "Profile": sr.Profile([(0, 0), (1, 0), (0, 1)], 0.1),
}


def table() -> dict[frozenset[str], bool]:
    """Which kinds touch, by the first table of the page with these columns."""
    lines = DOCS.read_text().splitlines()
    first = next(k for k, line in enumerate(lines) if line.startswith("| | HalfSpace |"))
    columns = [cell.strip() for cell in lines[first].split("|")[2:-1]]
    rows = [line.split("|")[2:-1] for line in lines[first + 2 : first + 2 + len(columns)]]
    found = {}
    for (i, row), (j, column) in itertools.product(enumerate(columns), enumerate(columns)):
        for a, b in itertools.product(row.split(", "), column.split(", ")):
            entries = {bool(rows[i][j].strip()), bool(rows[j][i].strip())}
            assert len(entries) == 1, f"{row} and {column} differ by order"
            found[frozenset((a, b))] = entries.pop()
    return found


@pytest.mark.parametrize(("a", "b"), itertools.product(SHAPES, SHAPES))
def test_the_table_of_shapes_that_touch(a: str, b: str) -> None:
    """In either order. What touches has slots, and bodies far apart no gap below zero."""
    spec = sr.MechanismSpec().surface("a", "ground", SHAPES[a], friction=0.5)
    spec.body("b", joint=sr.Prismatic("z"), mass=1.0).surface("b", "b", SHAPES[b])
    spec.contact("a", "b")
    if not table()[frozenset((a, b))]:
        with pytest.raises(sr.ModelError, match=f"contact 'a/b': a {a} and a {b} cannot touch"):
            spec.compile()
        return
    found = spec.compile().contacts([-5.0 if b == "HalfSpace" else 5.0])
    assert len(found) > 0 and np.all(found.gap > 0)


def test_a_tube_is_no_surface() -> None:
    spec = sr.MechanismSpec()
    with pytest.raises(sr.InputError, match="Tube"):
        spec.surface("tube", "ground", sr.Tube(0.1, 0.05, 0.3))

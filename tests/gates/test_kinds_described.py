"""Every kind of constraint, force and joint: latched, written, copied, reported, documented, drawn."""

from __future__ import annotations

import json
import pickle
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import sarrus as sr
from sarrus.models.shapes.drawing import Anchor, Drawing
from sarrus.viz.page_data import Film
from sarrus.viz.scenes.shown_parts import joint_drawing
from sarrus.viz.scenes.skeleton import skeleton

from .kind_cells import Built, built, close, each, sizes, slope
from .kind_examples import CONSTRAINTS, EXAMPLES_FILE, T, every_example

Array = npt.NDArray[np.float64]

EXAMPLES = every_example()
DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "mechanisms.md"


@each
def test_latched_or_a_named_refusal(key: str) -> None:
    """A latched copy holds at a pose at which the constraint itself does not."""
    b = built(key, "small")
    (name, given), *_ = b.mech.model.constraints
    q = b.mech.integrate(b.q, 0.1 * np.random.default_rng(13).normal(size=b.mech.nv))
    if not b.example.latches:
        with pytest.raises(sr.InputError, match=rf"\({type(given).__name__}\) cannot be latched"):
            b.mech.latched(name, q)
        return
    held = b.mech.latched(name, q)
    assert np.max(np.abs(b.mech.terms(q, b.v, T).phi)) > 1e-3
    mech = b.mech.with_constraints(replaced={name: held})
    terms, dv = mech.terms(q, b.v, T), np.random.default_rng(14).normal(size=mech.nv)
    close(terms.phi, np.zeros(mech.nc), 1e-12)
    found = slope(lambda s: mech.terms(mech.integrate(q, s * dv), b.v, T).phi)
    rows = mech.model.holonomic
    where = f"src/{type(given).__module__.replace('.', '/')}.py"
    why = f"latched() of {type(given).__name__} in {where} (or of its base) holds where rows are not smooth"
    close((terms.J @ dv)[rows], found[rows], 1e-6, why)


@each
def test_latches_of_runs_are_those_of_latched(key: str) -> None:
    """A constraint that closes where it is open holds what latched() says, in the kernel, too."""
    b = built(key, "small")
    if not b.example.latches or b.mech.model.functions:
        return
    (name, given), *_ = b.mech.model.constraints
    q = b.mech.integrate(b.q, 0.1 * np.random.default_rng(13).normal(size=b.mech.nv))
    switch = sr.Switch(name, on=T + 5e-4, latch=True)
    run = sr.simulate(b.mech, (T, T + 1e-3), q, np.zeros(b.mech.nv), switches=[switch])
    header = f"latch() of {type(given).kernel} in kernels/constraints" if hasattr(given, "kernel") else ""
    assert run.success, f"{header}: {run.message}"
    closes = next(event for event in run.events if event.kind == "switch")
    mech = b.mech.with_constraints(replaced={name: b.mech.latched(name, closes.q)})
    close(mech.terms(run.q[-1], b.v, T + 1e-3).phi, np.zeros(mech.nc), 1e-9, header)


@each
def test_files(key: str) -> None:
    """Written and read again it is the same; what holds Python functions says that it does."""
    b, (name, _) = built(key, "small"), EXAMPLES[key]
    spec = sr.MechanismSpec.from_model(b.mech.model)
    if type(b.declared[0]).holds_functions:
        with pytest.raises(sr.InputError, match=f"{name}.*holds Python functions"):
            spec.to_dict()
        return
    again = sr.MechanismSpec.from_dict(json.loads(json.dumps(spec.to_dict())))
    assert again.constraints == spec.constraints and again.forces == spec.forces
    assert again.bodies == spec.bodies
    same_motion(b, again.compile())


@each
def test_pickles_and_changed_copies(key: str) -> None:
    b = built(key, "small")
    same_motion(b, pickle.loads(pickle.dumps(b.mech)))
    body = b.mech.body_names[-1]
    heavy = b.mech.with_(mass={body: 7.0})
    assert np.any(heavy.forward_dynamics(b.q, b.v, t=T).a != b.mech.forward_dynamics(b.q, b.v, t=T).a)
    same_motion(b, heavy.with_(mass={body: b.mech.model.bodies[-1].mass}))


def same_motion(b: Built, other: sr.Mechanism) -> None:
    """The same bits."""
    assert other.row_names == b.mech.row_names
    mine, theirs = (mech.forward_dynamics(b.q, b.v, t=T) for mech in (b.mech, other))
    np.testing.assert_array_equal(mine.a, theirs.a)
    np.testing.assert_array_equal(mine.lam, theirs.lam)


@each
def test_reports_and_documents_name_it(key: str) -> None:
    b, (name, example) = built(key, "small"), EXAMPLES[key]
    mark = "kind0" if example.joint is None or key.startswith("force") else "c0b1"
    for text in (str(b.mech), str(sr.MechanismSpec.from_model(b.mech.model))):
        assert any(mark in line and name in line for line in text.splitlines()), text
    assert re.search(rf"^\| `{name}\b", PAGE.read_text(), re.M), (
        f"the tables on docs/mechanisms.md have no row that begins with `{name}`: add one, with units"
    )


@pytest.mark.parametrize("key", [key for key in EXAMPLES if key.startswith(("constraint", "loop"))])
def test_rows_are_in_the_notation(key: str) -> None:
    """Section 5 has a line for it, which gives the names of rows that are not tx ... rz."""
    name, _ = EXAMPLES[key]
    _, section = (DOCS / "notation.md").read_text().split("## 5. What a constraint contributes")
    lines = [line for line in section.split("\n## ")[0].splitlines() if re.match(rf"\|.*`{name}`", line)]
    assert lines, f"the table in section 5 of docs/notation.md has no line for {name}"
    own = {row.partition(".")[2] for row in built(key, "small").mech.row_names}
    unnamed = [row for row in own if not re.fullmatch("([tr][xyz])?", row) and f".{row}" not in lines[0]]
    assert not unnamed, f"the line of {name} in section 5 of docs/notation.md names no row {unnamed}"


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_the_program_with_one_of_each_has_it(name: str) -> None:
    found = re.search(rf"^parts\.constrain\(.* sr\.{name}\(", PAGE.read_text(), re.M)
    assert found, f'the program "one of each" on docs/mechanisms.md has no {name}'


@each
@sizes
def test_stick_figures(key: str, size: str) -> None:
    """Every mark of its drawing but bearings is in the figure."""
    b = built(key, size)
    found = skeleton(b.mech)
    for one in shown(b):
        assert places(one.pins) <= places(found.pins)
        assert places(r.follower for r in one.rails) <= places(r.follower for r in found.rails)
        for line in one.lines:
            alike = [part for part in found.parts if part.kind == line.kind]
            assert any(places(part.anchors) == places(line.points) for part in alike)
        assert len(one.discs) <= sum(part.kind == "disc" for part in found.parts)


@each
def test_plots_and_pages(key: str) -> None:
    """Axes get more ink, and pages more solids, than without it."""
    b = built(key, "small")
    with_kind, without = (ink(mech, b.q) for mech in (b.mech, b.plain))
    pages = [Film(mech, np.zeros(1), b.q[None], None, None).data("", "") for mech in (b.mech, b.plain)]
    solids = [len(page["solids"]) for page in pages]
    if b.example.joint is None:
        name = EXAMPLES[key][0]
        assert with_kind > without if b.example.draws else with_kind == without, f"lines of {name} in a plot"
        assert solids[0] > solids[1] if b.example.solid else solids[0] >= solids[1], (
            f"a page in space shows nothing of {name}: its drawing() needs lines, rails, discs or loads that"
            f" src/sarrus/viz/scenes draws, or its example in {EXAMPLES_FILE} says solid=False"
        )


def shown(b: Built) -> list[Drawing]:
    """What the kind itself says that it shows."""
    if b.example.joint is not None:
        return [joint_drawing(b.mech.model.bodies[2], {}, frozenset())]
    return [one.drawing() for one in b.declared]


def places(anchors: Iterable[Anchor]) -> set[tuple[Any, ...]]:
    """Points on bodies, comparable."""
    return {(body, *np.round(point, 12).tolist()) for body, point in anchors}


def ink(mech: sr.Mechanism, q: Array) -> int:
    """Number of points of all lines of a plot."""
    pytest.importorskip("matplotlib").use("Agg")
    from matplotlib import pyplot

    axes = mech.plot(q)
    count = sum(len(line.get_data_3d()[0]) for line in axes.lines)
    pyplot.close(axes.figure)
    return count

"""Pictures of surfaces: solids of bodies without other shapes, dots where they touch."""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np
import pytest

import sarrus as sr
from sarrus.viz.scenes.body_shapes import surface_visuals
from sarrus.viz.scenes.scene import Scene
from tests.studio_kernel import needs_kernel

matplotlib.use("agg")


def block() -> sr.Mechanism:
    spec = sr.MechanismSpec(name="block", length=1.0)
    spec.body("block", joint=sr.Free(), mass=1.0, inertia=(0.1, 0.1, 0.1))
    spec.surface("floor", "ground", sr.HalfSpace((0, 0.6, 0.8)), at=sr.Pose((0, 0, 0.5)), friction=0.5)
    spec.surface("block", "block", sr.Box((0.4, 0.2, 0.1)), at=sr.Pose((0.1, 0, 0)))
    return spec.contact("floor", "block").compile()


def test_surfaces_are_solids_where_they_stand() -> None:
    mech = block()
    floor, box = surface_visuals(mech)
    assert box.shape == "box" and box.size == (0.4, 0.2, 0.1)
    np.testing.assert_allclose(box.at.xyz, (0.1, 0, 0))
    top = floor.at.apply((0.3, -0.2, 0.5 * floor.size[2]))
    assert (top - (0, 0, 0.5)) @ (0, 0.6, 0.8) == pytest.approx(0.0, abs=1e-14)
    shown = mech.model.visuals
    assert not shown and len(Scene(mech, mech.neutral()).solids) >= 2
    spec = sr.MechanismSpec.from_model(mech.model)
    spec.visuals.append(sr.Visual("block", "sphere", (0.1,)))
    assert [one.body for one in surface_visuals(spec.compile())] == ["ground"]


def test_dots_where_they_touch() -> None:
    mech = block()
    q = mech.neutral()
    q[2] = 3.0
    ax = mech.plot(q)
    before = len(ax.lines)
    q[:3] += mech.contacts(q).gap.min() * np.array([0, -0.6, -0.8])
    ax = mech.plot(q)
    dots = ax.lines[-1].get_data_3d()
    assert len(ax.lines) == before + 1 and len(dots[0]) == np.sum(np.abs(mech.contacts(q).gap) < 1e-9)
    assert len(mech.plot(q, contacts=False).lines) == before


def test_pages_show_them(tmp_path: Path) -> None:
    page = sr.viz.export(block(), tmp_path / "block.html")
    assert "block" in page.read_text(encoding="utf-8")


@needs_kernel
def test_studios_say_that_surfaces_do_not_touch_there(tmp_path: Path) -> None:
    with pytest.warns(sr.SarrusWarning, match="surfaces do not touch in the page"):
        block().studio(tmp_path / "block.html")

"""Contacts of a run in pages, plots, reports and words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import sarrus as sr
from sarrus.viz.page_data import Film
from sarrus.viz.scenes.body_shapes import GROUND_SHAPE
from sarrus.viz.scenes.contact_forces import contact_rows, record_of
from sarrus.viz.scenes.scene import Scene

plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(scope="module")
def run() -> sr.Trajectory:
    """A ball that drops by 1 cm, rests and is not where it was."""
    spec = sr.MechanismSpec(name="ball")
    spec.body("ball", joint=sr.Free(), mass=2.0, inertia=(0.01,) * 3)
    spec.surface("floor", "ground", sr.HalfSpace(), friction=0.5)
    spec.surface("ball", "ball", sr.Sphere(0.1)).contact("floor", "ball")
    mech = spec.compile()
    return sr.simulate(mech, (0, 0.5), [0, 0, 0.11, 0, 0, 0, 1], [0.3, 0, 0, 0, 3.0, 0])


def test_pages_have_arrows_where_surfaces_touch(run: sr.Trajectory) -> None:
    times = np.array([0.01, 0.3, 0.5])
    film = Film(run.system, times, run.at(times).q, None, None)
    film.surface_forces([run])
    (arrow,) = film.arrows
    assert arrow["name"] == "floor/ball.0" and arrow["unit"] == "N"
    np.testing.assert_allclose(arrow["data"][:, 5], [0.0, 19.62, 19.62], atol=1e-9)
    np.testing.assert_allclose(arrow["data"][1:, 0], film.p[1:, 1, 0], atol=2e-3)  # below the ball


def test_plots_and_words_name_points_that_have_closed(run: sr.Trajectory, tmp_path: Path) -> None:
    axes = run.plot("contacts")
    assert axes.get_ylabel() == "contact force [N]"
    assert max(axes.lines[0].get_ydata()) == pytest.approx(19.62)
    assert len(run.plot()) == 3  # with positions and energy
    plt.close("all")
    text = str(run.contacts)
    assert "floor/ball.0: closed in" in text and "force up to 19.62 N" in text
    record = record_of(run)
    assert record is not None and contact_rows(record)[0][3] == pytest.approx(19.62)
    page = run.report(tmp_path / "ball.html").read_text(encoding="utf-8")
    assert "largest force [N]" in page and "floor/ball.0" in page


def test_runs_without_contacts_have_none(run: sr.Trajectory) -> None:
    mech = run.system
    assert isinstance(mech, sr.Mechanism)
    alone = sr.simulate(mech, (0, 0.02), [0, 0, 0.11, 0, 0, 0, 1], contacts="ignore")
    assert record_of(alone) is None
    film = Film(mech, alone.t, alone.q, None, None)
    film.surface_forces([alone])
    assert not film.arrows
    assert len(alone.plot()) == 2
    plt.close("all")


def test_shapes_of_the_ground_are_solids_in_flat_pictures() -> None:
    mech = sr.library.spring_latch()
    scene = Scene(mech, mech.default.q[None])
    assert GROUND_SHAPE in [one.name for one in scene.solids]

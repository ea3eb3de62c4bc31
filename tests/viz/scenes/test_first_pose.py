"""What a camera sees first: the machine in its first pose, a floor that stays, arrows that fit."""

from __future__ import annotations

import numpy as np
import pytest

import sarrus as sr
from sarrus.viz.page_data import Film
from sarrus.viz.scenes.loads import arrow_scales
from sarrus.viz.scenes.scene import Scene


def ball(declared: bool) -> sr.Mechanism:
    spec = sr.MechanismSpec()
    spec.body("ball", joint=sr.Free(), mass=1.0, inertia=(0.1, 0.1, 0.1), at=sr.Pose((0, 0, 1.0)))
    spec.surface("ball", "ball", sr.Sphere(0.1))
    if declared:
        spec.surface("ground", "ground", sr.HalfSpace(), at=sr.Pose((0, 0, -0.25)), friction=0.5)
    return spec.compile()


def fallen(mech: sr.Mechanism, by: float) -> np.ndarray:
    """Three poses (3, nq): at the start, half way down, down [m]."""
    q = np.tile(mech.default.q, (3, 1))
    q[:, 2] -= by * np.array([0.0, 0.5, 1.0])
    return q


def test_the_floor_is_a_surface_of_the_ground() -> None:
    mech = ball(declared=True)
    assert Scene(mech, fallen(mech, 1.0)).floor @ [0, 0, 1] == pytest.approx(-0.25)


def test_the_floor_does_not_go_down_with_a_run() -> None:
    """As for the first pose alone; it was below the lowest pose of the run."""
    mech = ball(declared=False)
    still, falling = Scene(mech, fallen(mech, 0.0)), Scene(mech, fallen(mech, 50.0))
    assert falling.floor[2] == pytest.approx(still.floor[2], abs=1e-12)


def test_a_machine_that_roams_is_framed_in_its_first_pose_and_followed() -> None:
    mech = ball(declared=False)
    still, falling = Scene(mech, fallen(mech, 0.0)), Scene(mech, fallen(mech, 50.0))
    assert falling.roams and not still.roams
    assert falling.size == pytest.approx(still.size)
    np.testing.assert_allclose(falling.outline.min(axis=0), still.outline.min(axis=0), atol=1e-12)
    assert np.ptp(falling.whole[:, 2]) > 49.0
    film = Film(mech, np.arange(3.0), fallen(mech, 50.0), None, None)
    np.testing.assert_allclose(film.centers(), [[0, 0, 1], [0, 0, -24], [0, 0, -49]], atol=1e-12)


def test_arrows_of_loads_are_at_most_a_quarter_of_the_machine() -> None:
    spec = sr.MechanismSpec()
    spec.body("arm", joint=sr.Revolute("y"), mass=1.0, com=(0.5, 0, 0), inertia=(0, 0.1, 0.1))
    spec.force("pull", sr.ConstantWrench("arm", (1e6, 0, 0, 0, 0, 0), point=(1, 0, 0)))
    mech = spec.compile()
    scene = Scene(mech, mech.default.q)
    assert arrow_scales(scene.loads, scene.size)["N"] * 1e6 == pytest.approx(0.25 * scene.size)

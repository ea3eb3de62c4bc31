"""An ellipsoid that rolls, slides and rebounds on a box moves as on a plane."""

from __future__ import annotations

from typing import Any

import numpy as np

import sarrus as sr


def egg_on(shape: Any, at: sr.Pose) -> sr.Mechanism:
    """An egg of radii 0.1, 0.1 and 0.15 above what is fixed; z = 0 is its top."""
    spec = sr.MechanismSpec(name="egg")
    spec.surface("table", "ground", shape, at=at, friction=0.5)
    spec.body("egg", joint=sr.Free(), mass=1.0, inertia=(0.02, 0.02, 0.01))
    spec.surface("egg", "egg", sr.Ellipsoid((0.1, 0.1, 0.15)), restitution=0.3)
    return spec.contact("table", "egg").compile()


def test_an_ellipsoid_on_a_box_moves_as_on_a_plane() -> None:
    """13 events, gaps in closed form on the plane and by search on the box: equal to rounding."""
    q = [0, 0, 0.2, *sr.Pose(rpy=(0.3, 0.2, 0)).quat]
    tables = (sr.HalfSpace(), sr.Pose()), (sr.Box((1, 1, 0.2)), sr.Pose((0, 0, -0.1)))
    runs = [sr.simulate(egg_on(*table), (0, 0.6), q, [0.2, 0, 0, 0, 0, 1.0]) for table in tables]
    assert all(run.success for run in runs)
    assert [e.kind for e in runs[0].events] == [e.kind for e in runs[1].events]
    np.testing.assert_allclose(runs[1].q[-1], runs[0].q[-1], atol=1e-11)

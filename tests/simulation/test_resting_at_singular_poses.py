"""Parallelograms that come to rest in the flat pose: the way on is decided by the last digits, and said.

On its branch the parallelogram is a physical pendulum, I th'' = -G cos th; a turning angle of -d is d away
from the flat pose, where the anti-parallelogram begins.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import sarrus as sr


def rod(mass: float, length: float) -> dict[str, Any]:
    """A uniform rod along x."""
    return {
        "mass": mass,
        "com": (length / 2, 0, 0),
        "inertia": (0, mass * length**2 / 12, mass * length**2 / 12),
    }


def parallelogram(base: float, side: float, masses: tuple[float, float, float]) -> sr.Mechanism:
    hinge, spec = sr.Revolute("z"), sr.MechanismSpec(gravity=(0, -9.81, 0))
    spec.body("a", joint=hinge, **rod(masses[0], side))
    spec.body("b", "a", joint=hinge, at=sr.Pose((side, 0, 0)), **rod(masses[1], base))
    spec.body("c", joint=hinge, at=sr.Pose((base, 0, 0)), **rod(masses[2], side))
    spec.close("p", "b", "c", joint=hinge, at_a=sr.Pose((base, 0, 0)), at_b=sr.Pose((side, 0, 0)))
    return spec.compile()


SIZES = np.random.default_rng(5).uniform((0.4, 0.2, 0.3, 0.3, 0.3), (2.0, 1.5, 3.0, 3.0, 3.0), (12, 5))


@pytest.mark.parametrize("size", SIZES.tolist())
def test_let_go_from_rest_in_the_flat_pose(size: list[float]) -> None:
    """It swings through the hanging pose to the flat one on the other side, where it rests."""
    mech = parallelogram(size[0], size[1], tuple(size[2:]))
    run = sr.simulate(mech, (0.0, 2.5), [0.0, 0.0, 0.0])
    assert "comes to rest" in run.message
    early = run.t < 0.5 * run.events[1].t
    assert np.max(np.abs(run.q[early, 0] - run.q[early, 2])) < 1e-6


def test_steps_below_the_resolution_of_time_are_looked_at() -> None:
    """At rest in the flat pose steps of 0 s were recorded; between them lies nothing, of which NumPy has
    no singular values: its error ended the run."""
    sizes = np.random.default_rng(1).uniform((0.4, 0.2, 0.3, 0.3, 0.3), (2.0, 1.5, 3.0, 3.0, 3.0), (40, 5))
    for size in sizes[15:18]:
        run = sr.simulate(parallelogram(size[0], size[1], tuple(size[2:])), (0.0, 1.0), [0.0, 0.0, 0.0])
        assert run.success


@pytest.mark.parametrize("options", [{}, {"method": "radau"}, {"dt": 1e-3}])
@pytest.mark.parametrize("d", [1e-4, 1e-7, 0.0, -1e-7, -1e-4])
def test_turning_next_to_the_flat_pose(d: float, options: dict[str, Any]) -> None:
    """Whatever branch it takes, nothing that leaves its own does so without a word."""
    mech = parallelogram(1.0, 0.5, (1.0, 1.0, 1.0))
    speed = math.sqrt(2 * 9.81 / (5 / 12) * (1 - math.sin(d)))
    run = sr.simulate(
        mech, (0.0, 1.5), [-math.pi / 2, math.pi / 2, -math.pi / 2], [speed, -speed, speed], **options
    )
    left = np.max(np.abs(run.q[:, 0] - run.q[:, 2])) > 1e-6
    assert not left or not run.success or "comes to rest" in run.message


def test_a_quick_pass_is_no_rest() -> None:
    mech = parallelogram(1.0, 0.5, (1.0, 1.0, 1.0))
    run = sr.simulate(mech, (0.0, 0.5), [-0.5, 0.5, -0.5], [6.0, -6.0, 6.0])
    assert [event.kind for event in run.events][:1] == ["singular"]
    assert "comes to rest" not in run.message

"""Passes through singular poses are events whatever the step: a parallelogram turning without gravity lines
up every half turn of its cranks."""

from __future__ import annotations

import numpy as np
import pytest

import sarrus as sr


def parallelogram() -> sr.Mechanism:
    """Cranks of 1 m, coupler and ground of 2 m, no gravity."""
    spec = sr.MechanismSpec(gravity=(0.0, 0.0, 0.0))
    hinge = sr.Revolute("z")
    spec.body("left", joint=hinge, mass=1.0, com=(0.5, 0, 0), inertia=(0, 1 / 12, 1 / 12))
    coupler = {"mass": 1.0, "com": (1.0, 0, 0), "inertia": (0, 1 / 3, 1 / 3)}
    spec.body("coupler", "left", joint=hinge, at=sr.Pose((1.0, 0, 0)), **coupler)
    right = {"mass": 1.0, "com": (0.5, 0, 0), "inertia": (0, 1 / 12, 1 / 12)}
    spec.body("right", joint=hinge, at=sr.Pose((2.0, 0, 0)), **right)
    spec.close("pin", "coupler", "right", joint=hinge, at_a=sr.Pose((2.0, 0, 0)), at_b=sr.Pose((1.0, 0, 0)))
    return spec.compile()


@pytest.mark.parametrize("method", ["rk4", "dopri5", "radau"])
def test_every_pass_is_an_event(method: str) -> None:
    run = sr.simulate(parallelogram(), (0.0, 10.0), [0.5, -0.5, 0.5], [2.0, -2.0, 2.0], method=method)
    passes = (np.pi * np.arange(1, 7) - 0.5) / 2.0  # the cranks turn at 2 rad/s from 0.5 rad
    assert [event.t for event in run.events] == pytest.approx(passes, abs=1e-6)
    assert all(event.rank == 1 for event in run.events)

"""Warnings point at the line of the user, wherever in the library they come from."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import sarrus as sr


def pendulum(**given: Any) -> sr.Mechanism:
    """A rod with a measured joint force and a limp actuator."""
    spec = sr.MechanismSpec()
    rod = {"mass": 1.0, "com": (0.5, 0, 0), "inertia": (0.01, 0.1, 0.1)}
    spec.body("rod", joint=sr.Revolute("y"), **rod)
    spec.body("tip", "rod", joint=sr.Revolute("y"), at=sr.Pose((1.0, 0, 0)), **rod)
    spec.measure("pin", sr.Reaction("rod"))
    return spec.compile()


CASES: dict[str, Callable[[sr.Mechanism], object]] = {
    "sweep": lambda mech: mech.sweep("rod", [0.0, 0.1])["pin"],
    "simulate": lambda mech: sr.simulate(mech, (0, 1), v0=[9.0, -30.0], dt=1e-2),
    "rollout": lambda mech: sr.rollout(mech, np.zeros((1, 2)), [[9.0, -30.0]], dt=1e-2, steps=100),
    "step": lambda mech: mech.step(np.zeros(2), [90.0, -400.0], dt=1e-2),
}


@pytest.mark.parametrize("case", CASES)
def test_a_warning_points_at_the_line_that_led_to_it(case: str) -> None:
    mech = pendulum()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        CASES[case](mech)
    assert caught and {one.filename for one in caught} == {__file__}

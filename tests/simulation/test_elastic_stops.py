"""Stiff elastic stops: the force begins and ends within steps, where error estimates see too little.

The reference is a free flight and a damped oscillation in turns, in closed form between the roots that end
them. Bounces amplify errors; how much, a start 1e-8 faster says.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

import sarrus as sr

MASS, REACH, TIME = 0.5, 0.1, 2.0  # [kg, m, s]


def bounced(stiffness: float, damping: float, speed: float) -> tuple[float, float]:
    """Position and velocity after TIME of a mass that begins in the middle; stops never pull."""
    t, x, v = 0.0, 0.0, speed
    decay = damping / (2 * MASS)
    w = math.sqrt(stiffness / MASS - decay**2)
    while True:
        flight = (math.copysign(REACH, v) - x) / v
        if t + flight >= TIME:
            return x + v * (TIME - t), v
        t, side = t + flight, math.copysign(1.0, v)

        def state(s: float, v0: float = abs(v)) -> tuple[float, float]:
            e, phase = math.exp(-decay * s), w * s
            y = v0 / w * e * math.sin(phase)
            return y, v0 * e * (math.cos(phase) - decay / w * math.sin(phase))

        def push(s: float) -> float:
            y, rate = state(s)
            return stiffness * y + damping * rate

        end = brentq(push, 0.3 * math.pi / w, 1.2 * math.pi / w, xtol=1e-18, rtol=1e-15)
        s = min(end, TIME - t)
        y, rate = state(s)
        if s < end:
            return side * (REACH + y), side * rate
        # still beyond the stop, where it would pull: it flies back freely
        t, x, v = t + end, side * (REACH + y), side * rate


def lost(mech: sr.Mechanism, stop: tuple[float, float], speed: float, **options: Any) -> float:
    """Error at the end over how much bounces amplify errors."""
    run = sr.simulate(mech, (0.0, TIME), [0.0], [speed], **options)
    exact, other = (np.array(bounced(*stop, v)) for v in (speed, speed * (1 + 1e-8)))
    scale = np.array([1.0, speed])
    amplified = max(1.0, np.max(np.abs(other - exact) / scale) / 1e-8)
    error = np.max(np.abs(np.array([run.q[-1, 0], run.v[-1, 0]]) - exact) / scale)
    return float(error / amplified)


CASES = [(1e4, 10.0, 1.0), (1e5, 10.0, 1.0), (1e6, 30.0, 20.0), (1e6, 0.0, 20.0), (1e8, 100.0, 20.0)]


@pytest.mark.parametrize("rtol", [1e-5, 1e-8])
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("by", ["force", "joint"])
def test_errors_are_within_tolerance(case: tuple[float, float, float], rtol: float, by: str) -> None:
    stiffness, damping, speed = case
    spec = sr.MechanismSpec(gravity=(0, 0, 0))
    ends = (-REACH, REACH)
    own = {"limits": ends, "stop_stiffness": stiffness, "stop_damping": damping} if by == "joint" else {}
    spec.body("x", joint=sr.Prismatic("x"), mass=MASS, **own)
    if by == "force":
        spec.force("stops", sr.EndStop("x", ends, stiffness, damping))
    assert lost(spec.compile(), (stiffness, damping), speed, rtol=rtol) < 60 * rtol

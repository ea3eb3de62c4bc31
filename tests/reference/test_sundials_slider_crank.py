"""The damped slider-crank of the SUNDIALS examples, written down as a CustomSystem, against their output.

Crank angle q, slider x, rod angle p; spring and damper between the midpoints of crank and rod, a generalized
force (0, 1, -sin p). Four digits after the point.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import sarrus as sr
from tests.reference.data import table


def h(y, v, t):
    """Minus the applied forces: spring and damper along l, the distance of the midpoints."""
    q, x, p = y
    r = np.array([x - math.cos(p) / 2 - math.cos(q) / 4, -math.sin(p) / 2 - math.sin(q) / 4])
    rate = np.array([[math.sin(q) / 4, 1.0, math.sin(p) / 2], [-math.cos(q) / 4, 0.0, -math.cos(p) / 2]])
    direction = r @ rate / np.linalg.norm(r)
    force = np.linalg.norm(r) - 1.0 + direction @ v
    return force * direction - np.array([0.0, 1.0, -math.sin(p)])


def phi(y, v, t):
    q, x, p = y
    return np.array([x - math.cos(p) - 0.5 * math.cos(q), -math.sin(p) - 0.5 * math.sin(q)])


def J(y, v, t):
    q, _, p = y
    return np.array([[0.5 * math.sin(q), 1.0, math.sin(p)], [-0.5 * math.cos(q), 0.0, -math.cos(p)]])


@pytest.mark.parametrize("given", [{"phi": phi, "J": J}, {"phi": phi}], ids=["J given", "J by differences"])
def test_against_the_output_of_the_example(given):
    data = table("sundials_slidercrank")
    system = sr.CustomSystem(3, 3, M=np.diag([1.0, 1.0, 2.0]), h=h, names=("crank", "slider", "rod"), **given)
    p = math.asin(-0.5)
    start = [math.pi / 2, math.cos(p), p]
    trajectory = sr.simulate(system, (0.0, 10.0), start, dt=0.02, t_eval=data[:, 0])
    assert trajectory.success
    assert np.abs(trajectory.q - data[:, 1:]).max() < 6e-5
    assert trajectory.drift.max() <= 1e-12

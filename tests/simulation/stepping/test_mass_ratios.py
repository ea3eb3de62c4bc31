"""Masses that differ by 1e6 to 1e12: light cranks race past dead centres of heavy rockers and sliders.

Oracle: the equation of motion of one freedom in closed form (`bench.one_freedom`), and its energy.
"""

from __future__ import annotations

import numpy as np
import pytest

import sarrus as sr
from bench.one_freedom import Linkage, OneFreedom, Rod, Task

LENGTHS = (0.4, 1.0, 0.8)
END = 0.4


def linkage(heavy: int, ratio: float, rocker: bool) -> Linkage:
    """Rods of 1 kg, one of which has `ratio` times the mass."""
    masses = [ratio if k == heavy else 1.0 for k in range(3)]
    rods = [Rod(m, x / 2, m * x * x / 12) for m, x in zip(masses, LENGTHS, strict=True)]
    if not rocker:
        rods[2] = Rod(masses[2], 0.0, 0.0)
    return Linkage(LENGTHS, (rods[0], rods[1], rods[2]), rocker)


@pytest.mark.parametrize("method", ["auto", "dopri5", "radau"])
@pytest.mark.parametrize(
    ("heavy", "ratio", "rocker"),
    [(2, 1e10, True), (2, 1e12, True), (2, 1e11, False), (1, 1e9, True), (0, 1e10, True)],
)
def test_light_cranks_of_heavy_machines(heavy: int, ratio: float, rocker: bool, method: str) -> None:
    """The crank turns back at 1e6 rad/s where the rocker has its dead centre, within 1e-6 rad. Stages that
    were closed to 1e-13 had their ends closed by moving the light crank: 0.1 rad at the end, silently."""
    one = linkage(heavy, ratio, rocker)
    shape = one.at(0.7)
    exact = OneFreedom(Task(one, 0.7, 3.0, END, lambda t, x, v: 0.0)).motion(np.array([END])).states[-1]
    run = sr.simulate(one.spec().compile(), (0.0, END), shape.coordinates, 3.0 * shape.slopes, method=method)
    fastest = float(np.abs(run.v[:, 0]).max())
    assert run.success
    # 1e-8 of a radian are allowed in every step; the passes multiply errors by 1 to 5
    assert run.q[-1, 0] == pytest.approx(exact[0], abs=1e-6)
    assert run.v[-1, 0] == pytest.approx(exact[1], abs=1e-6 * fastest)
    assert np.ptp(run.energy) <= 1e-8 * np.abs(run.energy).max()

"""Andrews' squeezing mechanism: the classical problem [Hairer1996] at 0.03 s, and IFToMM A03."""

from __future__ import annotations

import numpy as np

import sarrus as sr
from tests.reference.data import table

# IVP test set (deTestSet) at t = 0.03 s: good to 2e-9, their end time is off by 1e-12 s
END = {
    "K1": 15.81077119629904,
    "K2": -15.75637105984298,
    "K3": 0.04082224013073101,
    "K4": -0.5347301163226948,
    "K5": 0.5244099658805304,
    "K6": 0.5347301163226948,
    "K7": 1.048080741042263,
}


def test_seven_angles_to_eight_digits():
    mech = sr.library.andrews("classical")
    trajectory = sr.simulate(mech, (0.0, 0.03), dt=5e-6)
    found = dict(zip(mech.names, trajectory.q[-1], strict=True))
    for name, angle in END.items():
        assert abs(found[name] - angle) < 5e-9, name
    assert trajectory.drift.max() <= 1e-12 * mech.length


def test_dopri5_gets_there_with_fewer_evaluations():
    mech = sr.library.andrews("classical")
    trajectory = sr.simulate(mech, (0.0, 0.03), method="dopri5", dt=1e-6, rtol=1e-10, atol=1e-10)
    found = dict(zip(mech.names, trajectory.q[-1], strict=True))
    assert max(abs(found[name] - angle) for name, angle in END.items()) < 1e-6
    assert trajectory.nfev < 15_000


def test_every_printed_digit_of_the_benchmark():
    data = table("a03_andrews_iftomm")
    mech = sr.library.andrews()
    trajectory = sr.simulate(mech, (0.0, 0.05), dt=1e-5, t_eval=data[:, 0])
    F = np.array([pose.xyz[:2] for pose in mech.pose(trajectory.q, "K2")])
    assert np.nanmax(np.abs(F - data[:, 1:])) < 1e-8
    assert np.sum(np.isfinite(data[:, 1:])) > 200

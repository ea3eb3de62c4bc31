"""Bricard's mechanism (IFToMM A04): movable by redundancy; every printed digit of P3 for 10 s."""

from __future__ import annotations

import numpy as np

import sarrus as sr
from tests.reference.data import table


def test_every_printed_digit():
    data = table("a04_bricard")
    mech = sr.library.bricard()
    trajectory = sr.simulate(mech, (0.0, 10.0), t_eval=data[:, 0], dt=1e-3)
    P3 = np.array([pose.xyz for pose in mech.pose(trajectory.q, "rod3")])
    printed = np.where(np.abs(data[:, 1:]) < 0.1, 1e-7, 1e-6)  # six digits
    assert np.nanmax(np.abs(P3 - data[:, 1:]) / printed) < 0.6
    assert trajectory.drift.max() <= 1e-12
    assert set(trajectory.rank) == {4} and mech.nc == 5


def test_energy_is_kept_to_rounding():
    trajectory = sr.simulate(sr.library.bricard(), (0.0, 5.0), dt=1e-3)
    assert np.abs(trajectory.energy - trajectory.energy[0]).max() < 1e-11

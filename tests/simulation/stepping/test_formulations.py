"""Every formulation of the acceleration drives the same run; some of them fail where they must."""

from __future__ import annotations

import numpy as np
import pytest

import sarrus as sr
from sarrus.dynamics.forward import FORMULATIONS
from tests.simulation.machines import four_bar_moving, held_ball


def pin_jointed():
    mech = sr.library.four_bar(closure="pin")
    return mech.with_default(mech.default.q, mech.consistent_velocity(mech.default.q, fixed={"crank": 6.0}))


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("make", [pin_jointed, held_ball])
def test_all_formulations_agree(make, formulation):
    mech = make()
    plain = sr.simulate(mech, (0.0, 0.2), dt=5e-3)
    run = sr.simulate(mech, (0.0, 0.2), dt=5e-3, formulation=formulation)
    np.testing.assert_allclose(run.q, plain.q, atol=1e-10)
    np.testing.assert_allclose(run.lam, plain.lam, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("formulation", [f for f in FORMULATIONS if f != "lagrange"])
def test_redundant_rows_are_no_obstacle(formulation):
    mech = four_bar_moving()  # five rows of rank two
    run = sr.simulate(mech, (0.0, 0.2), dt=5e-3, formulation=formulation)
    assert run.success and run.drift.max() <= 1e-12
    np.testing.assert_allclose(run.q, sr.simulate(mech, (0.0, 0.2), dt=5e-3).q, atol=1e-10)


def test_lagrange_stops_where_rows_depend_on_each_other():
    with pytest.raises(sr.InputError, match='formulation "lagrange" needs independent constraint rows'):
        sr.simulate(sr.library.five_bar(), (0.0, 1.0), formulation="lagrange")
    with pytest.raises(sr.InputError, match=r"pin\.tz"):
        sr.simulate(four_bar_moving(), (0.0, 1.0), formulation="lagrange")


def test_lagrange_with_baumgarte_as_in_the_thesis():
    """[Spencer2004] 3.2: what people do; loops open and energy is lost near singular poses."""
    mech = sr.library.five_bar("raised")
    classic = sr.simulate(
        mech, (0.0, 1.5), formulation="lagrange", correction="baumgarte", baumgarte=(20.0, 20.0), dt=2e-3
    )
    ours = sr.simulate(mech, (0.0, 1.5), dt=2e-3)
    assert ours.drift.max() <= 1e-12 < classic.drift.max()
    loss = [np.abs(run.energy - run.energy[0]).max() for run in (ours, classic)]
    assert loss[0] < 0.1 * loss[1]


def test_baumgarte_is_the_same_in_every_formulation():
    mech = pin_jointed()
    runs = [
        sr.simulate(mech, (0.0, 0.2), dt=5e-3, correction="baumgarte", formulation=f)
        for f in ("nullspace", "svd", "lagrange")
    ]
    for run in runs[1:]:
        np.testing.assert_allclose(run.q, runs[0].q, atol=1e-11)
        np.testing.assert_allclose(run.drift, runs[0].drift, atol=1e-12)


def test_starting_singular_in_motion_works_in_every_formulation():
    mech = sr.library.slider_crank()
    start = ([np.pi / 2, np.pi], [1.0, -2.0])
    plain = sr.simulate(mech, (0.0, 0.05), *start)
    for formulation in ("svd", "projection", "partition"):
        run = sr.simulate(mech, (0.0, 0.05), *start, formulation=formulation)
        np.testing.assert_allclose(run.q, plain.q, atol=1e-9)

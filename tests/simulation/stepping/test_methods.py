"""Every method that the kernel registers: in every correction, formulation and chart, small and large."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

import sarrus as sr
from sarrus.dynamics.forward import FORMULATIONS
from sarrus.simulation.charts.chart_selector import KINDS
from sarrus.simulation.stepping.methods import CORRECTIONS, METHODS
from tests.simulation.machines import error

SPAN, STEP = (0.0, 0.04), 4e-3
FULL = list(itertools.product(CORRECTIONS, FORMULATIONS, ["full"]))
CHARTS = list(itertools.product(["project"], FORMULATIONS, KINDS))
PLAIN = ("project", "nullspace", "full")  # all that implicit methods do
DOCUMENT = Path(__file__).parents[3] / "docs" / "motion.md"


def moving() -> sr.Mechanism:
    """A four-bar in motion, with independent rows."""
    mech = sr.library.four_bar(closure="pin")
    return mech.with_default(mech.default.q, mech.consistent_velocity(mech.default.q, fixed={"crank": 6.0}))


def accuracy(method: str) -> float:
    """Error that a run of this span may have; with a dt "auto" is rk4."""
    order = METHODS["rk4" if METHODS[method].switches else method].order
    return max(0.2 * 0.02 ** (order - 1), 1e-7)


@pytest.mark.parametrize("method", METHODS)
def test_every_combination_runs_or_is_refused_by_name(method: str) -> None:
    mech = moving()
    exact = sr.simulate(mech, SPAN, dt=STEP / 16)
    for way in FULL + CHARTS:
        options = dict(zip(("correction", "formulation", "coordinates"), way, strict=True))
        if METHODS[method].implicit and not METHODS[method].switches and way != PLAIN:
            with pytest.raises(sr.InputError, match=f'method="{method}"'):
                sr.simulate(mech, SPAN, dt=STEP, method=method, **options)
            continue
        if way[:2] == ("soft", "lagrange"):  # the one combination that does not exist
            with pytest.raises(sr.InputError, match="damps the inverse of J"):
                sr.simulate(mech, SPAN, dt=STEP, method=method, **options)
            continue
        if way[0] == "soft":  # accurate to the square of the softness over a singular value, so here
            options["softness"] = 1e-5
        run = sr.simulate(mech, SPAN, dt=STEP, method=method, **options)
        assert run.success, (options, run.message)
        assert error(mech, run, exact) < accuracy(method), options


@pytest.mark.parametrize("method", METHODS)
def test_large_mechanisms(method: str) -> None:
    """Eliminated by entries, through a singular pose."""
    mech = sr.library.n_four_bar(20)
    run = sr.simulate(mech, (0.0, 0.8), dt=2e-3, method=method)
    assert run.success and len(run.events) == 1
    assert run.drift.max() <= 1e-12
    assert np.abs(run.q[:, 0:-1:2] + run.q[:, 1::2]).max() < 1e-6, "parallel uprights stay parallel"


@pytest.mark.parametrize("method", METHODS)
def test_resumed_runs_are_the_same_bits(method: str) -> None:
    mech = sr.library.four_bar()
    whole = sr.simulate(mech, (0.0, 0.5), method=method)
    half = sr.simulate(mech, (0.0, 0.3), method=method).resume(0.5)
    for field in ("t", "q", "v", "a", "drift"):
        np.testing.assert_array_equal(getattr(half, field), getattr(whole, field))


@pytest.mark.parametrize("method", METHODS)
def test_user_systems(method: str) -> None:
    """M, h and rows from Python functions."""

    def M(q, v, t):
        return np.diag([1.0, 1.0 + q[0] ** 2])

    system = sr.CustomSystem(
        2, 2, M, h=lambda q, v, t: [q[0] - q[0] * v[1] ** 2, 2.0 * q[0] * v[0] * v[1]], actuated=["q0"]
    )
    runs = [
        sr.simulate(system, (0.0, 0.5), [1.0, 0.0], [0.0, 1.0], dt=h, method=method) for h in (0.01, 0.005)
    ]
    exact = sr.simulate(system, (0.0, 0.5), [1.0, 0.0], [0.0, 1.0], dt=1e-3)
    assert all(run.success for run in runs)
    assert error(system, runs[1], exact) < max(accuracy(method) / 10.0, 1e-9)


def test_unknown_names_are_told_with_those_that_exist() -> None:
    known = ", ".join(f'"{name}"' for name in METHODS)
    with pytest.raises(sr.InputError, match=f"method must be one of {known}"):
        sr.simulate(moving(), SPAN, method="leapfrog")


@pytest.mark.parametrize("method", METHODS)
def test_the_manual_lists_every_method_with_its_order(method: str) -> None:
    rows = [line.split("|")[1:3] for line in DOCUMENT.read_text(encoding="utf-8").splitlines() if "|" in line]
    orders = {name.split("`")[1].strip('"'): order.strip() for name, order in rows if name.count("`") == 2}
    assert orders.get(method) == str(METHODS[method].order), f"add a line on {method!r} to {DOCUMENT.name}"

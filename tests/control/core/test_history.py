"""Histories: every part of a law along a run, in arrays, in words and in a picture."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest

import sarrus as sr
from sarrus.viz.figures.control import PANELS, plot_control

mpl.use("Agg")
C = sr.control


@pytest.fixture(scope="module")
def run() -> tuple[C.ForceLimits, sr.Trajectory]:
    mech = sr.library.cable_robot()
    way = C.MinimumJerk([0.0, 0.0, 0.0], [0.2, 0.1, 0.0], 0.2)
    cables = C.CableTension([f"cable{i}" for i in range(1, 5)], 2.0, 200.0)
    law = C.ForceLimits(mech, ["body.x", "body.y", "body.angle"], way, cables, kp=400.0)
    return law, sr.simulate(mech, (0.0, 0.2), control=law, dt=5e-3, control_dt=5e-3)


def test_a_history_has_every_part(run: tuple[C.ForceLimits, sr.Trajectory]) -> None:
    law, trajectory = run
    history = law.history(trajectory, every=2)
    n = len(trajectory.t[::2])
    assert history.t.shape == (n,) and history.errors.shape == (n, 3) and history.lam.shape == (n, 8)
    np.testing.assert_allclose(history.u[:-1], trajectory.u[::2][:-1], atol=1e-9)
    np.testing.assert_allclose(history.tau_tangent + history.tau_normal, history.tau, atol=1e-9)
    np.testing.assert_allclose(history.outputs + history.errors, history.desired, atol=1e-12)
    names = [f"{what} cable{i}" for what in ("tension", "torque") for i in range(1, 5)]
    assert history.success and set(history.margins) == set(names)
    assert min(left.min() for left in history.margins.values()) > -1e-7
    said = history.summary()
    assert (
        "tension cable1: smallest margin" in said and "body.x: largest error" in said and "LIMITED:" in said
    )


def test_pictures(run: tuple[C.ForceLimits, sr.Trajectory]) -> None:
    law, trajectory = run
    history = law.history(trajectory, every=4)
    assert len(history.plot()) == 6
    for name in PANELS:
        assert history.plot(name).get_ylabel()
    assert len(history.plot(["errors", "norm"])) == 2
    with pytest.raises(
        sr.UnknownNameError, match="plot: unknown quantity 'speed'; existing names: 'outputs', 'errors'"
    ):
        history.plot("speed")
    with pytest.raises(sr.InputError, match="plot takes ax for a single quantity only"):
        plot_control(history, ax=history.plot("errors"))
    with pytest.raises(sr.InputError, match="nothing to plot"):
        history.plot([])
    mpl.pyplot.close("all")


def test_trouble_is_shaded() -> None:
    mech = sr.library.parallelogram()
    weak = C.LinearLimits("torque", tau=np.eye(mech.nv)[0], lower=-10.0, upper=10.0)
    law = C.ForceLimits(mech, "left", 0.7, weak)
    trajectory = sr.simulate(mech, (0.0, 0.01), control=law, dt=1e-3)
    history = law.history(trajectory)
    assert not history.success
    assert len(history.plot("limits").collections) == 1
    mpl.pyplot.close("all")


def test_bad_histories(run: tuple[C.ForceLimits, sr.Trajectory]) -> None:
    law, trajectory = run
    with pytest.raises(sr.InputError, match="every must be a whole number of at least 1, got 0"):
        law.history(trajectory, every=0)

    class Nothing:
        def __len__(self) -> int:
            return 0

    with pytest.raises(sr.InputError, match="without states has no history"):
        law.history(Nothing())

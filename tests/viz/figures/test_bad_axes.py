"""What is not Axes, and what cannot be plotted, is refused with a reason."""

from __future__ import annotations

from typing import Any

import pytest

import sarrus as sr

pytest.importorskip("matplotlib")


@pytest.mark.parametrize("ax", ["left", 3, [1, 2]])
def test_axes_that_are_none(ax: Any) -> None:
    mech = sr.library.four_bar()
    run, model = sr.simulate(mech, (0, 0.01)), sr.linearize(mech)
    calls = (
        lambda: mech.plot(ax=ax),
        lambda: run.plot("q", ax=ax),
        lambda: model.plot_poles(ax=ax),
        lambda: model.plot_mode(0, ax=ax),
    )
    for call in calls:
        with pytest.raises(sr.SarrusError, match="ax must be Axes of matplotlib"):
            call()


@pytest.mark.parametrize("what", [3, "run", sr.library.four_bar()])
def test_only_runs_have_curves(what: Any) -> None:
    with pytest.raises(sr.SarrusError, match="plot takes the Trajectory"):
        sr.viz.plot(what)

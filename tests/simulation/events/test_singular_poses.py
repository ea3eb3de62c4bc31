"""The minimum of the smallest singular value along a run: found exactly, and with few evaluations."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import sarrus as sr
from sarrus.simulation.events.singular_poses import SingularWatch

ZERO = 0.2 + 1.0 / 3.0


def located(function: Callable[[Any], Any]) -> tuple[float, float, int]:
    """Time and value of the minimum of a function of time on (0, 1), and how many grids were evaluated."""
    grids: list[int] = []

    def nearness(t: Any, q: Any, rank: int) -> Any:
        grids.append(len(t))
        return function(t)

    system = SimpleNamespace(nearness=nearness, units=SimpleNamespace(rank_tol=1e-9))
    watch: Any = SimpleNamespace(_system=system, _most=1)
    t, least = SingularWatch._minimum(watch, lambda t: (t,), (0.0, 1.0))  # type: ignore[arg-type]
    return t, least, len(grids)


@pytest.mark.parametrize(
    "function",
    [
        lambda t: np.abs(t - ZERO),
        lambda t: 0.1 * np.abs(np.sin(t - ZERO)) * np.exp(2.0 * t),
        lambda t: np.abs(t - ZERO) * np.where(t > ZERO, 3.0, 1.0),
        lambda t: np.abs((t - ZERO) * (t + 0.1)),
    ],
)
def test_zeros_are_found_in_few_grids(function: Callable[[Any], Any]) -> None:
    """Grids that shrink by 16 took eight rounds, with 33 points each."""
    t, least, grids = located(function)
    assert abs(t - ZERO) < 1e-11 and least < 1e-11 and grids <= 5


@pytest.mark.parametrize("miss", [1e-9, 1e-6, 1e-3, 0.1])
@pytest.mark.parametrize("slope", [0.0, 0.3])
def test_near_misses_are_found_as_well(miss: float, slope: float) -> None:
    """sqrt(miss^2 + x^2) + slope x, which lines from both sides do not describe: a closed form."""
    t, least, _ = located(lambda t: np.sqrt(miss**2 + (t - ZERO) ** 2) + slope * (t - ZERO))
    assert least == pytest.approx(miss * math.sqrt(1.0 - slope**2), rel=1e-6)
    assert abs(t - (ZERO - miss * slope / math.sqrt(1.0 - slope**2))) < 1e-3 * miss + 1e-11


def test_a_long_step_across_a_pose_is_reported() -> None:
    """Adaptive steps get short before a pose and cross it in one that is as long as ten of them.

    Their pivots are a minimum that is larger than twice its change from step to step.
    """
    mech = sr.library.delta()
    for rtol in (1e-9, 1e-10, 1e-11, 1e-12):
        run = sr.simulate(mech, (0.0, 0.8), method="dopri5", rtol=rtol, atol=rtol / 100)
        assert [event.rank for event in run.events] == [14, 17, 17, 14]

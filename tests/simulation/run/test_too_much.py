"""Numbers and arrays that no machine holds are refused with a reason, not by Python or the kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import sarrus as sr

HUGE = 10**400
FOUR = sr.library.four_bar()
START = FOUR.default.q
CALLS: dict[str, Callable[[], Any]] = {
    "time of a state": lambda: FOUR.mobility(START, t=HUGE),
    "time of a linear model": lambda: sr.linearize(FOUR, t=HUGE),
    "substeps": lambda: FOUR.step(START, FOUR.default.v, substeps=HUGE),
    "steps": lambda: sr.rollout(FOUR, START, dt=1e-3, steps=HUGE),
    "every": lambda: sr.rollout(FOUR, START, dt=1e-3, steps=4, every=HUGE),
    "threads": lambda: sr.rollout(FOUR, START, dt=1e-3, steps=4, threads=HUGE),
    "time of a switch": lambda: sr.Switch("brake", on=HUGE),
}


@pytest.mark.parametrize("what", CALLS)
def test_huge_numbers(what: str) -> None:
    with pytest.raises(sr.SarrusError, match=r"at most 2147483647|time"):
        CALLS[what]()


def test_rollouts_that_no_machine_can_keep() -> None:
    with pytest.raises(sr.SarrusError, match=r"needs .* GiB, and this machine has .* every="):
        sr.rollout(FOUR, np.tile(START, (2000, 1)), dt=1e-3, steps=10**9)


def test_times_that_no_machine_can_keep() -> None:
    times = np.broadcast_to(np.float64(0.5), (10**12,))
    with pytest.raises(sr.SarrusError, match="t_eval with 1000000000000 times needs"):
        sr.simulate(FOUR, (0, 1), t_eval=times)

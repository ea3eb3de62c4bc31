"""Published runs with contacts: ours beside theirs, and both beside the scheme of theirs."""

from __future__ import annotations

import numpy as np
import pytest

from bench.siconos.compare import CASES, Case, rocking
from bench.siconos.machines import friction_oscillator
from bench.siconos.scheme import step_errors

# of the range of a coordinate. Their steps are of order 1 across impacts: python -m bench.siconos --scheme
# measures 1e-3 and 1e-2 for oscillator and woodpecker. The published slider-crank gains energy in flight
# besides, which its scheme without projections does not; there the test is the scheme, below.
THEIRS = {
    "friction oscillator": 1e-3, "woodpecker": 1e-2, "slider-crank with play": 0.1,
    "four-bar with three plays": 5e-4,
}  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=[case.title for case in CASES])
def test_within_the_error_of_their_steps(case: Case) -> None:
    for one in case.compare():
        assert one.difference <= THEIRS[case.title] * one.size, one


def test_the_oscillator_is_its_closed_form() -> None:
    """Half circles about -1 and 1: amplitudes fall by 2 until the spring cannot pull it on."""
    end = float(CASES[0].path(np.array([50.0]))[0][0, 0])
    largest = np.hypot(12 + 1, 6) - 1  # of 13.3: after six reversals 1.3, the seventh ends at 0.68
    assert end == pytest.approx(2 - (largest - 12), abs=1e-8 * largest)
    assert friction_oscillator()[0].nv == 2


def test_a_block_falls_from_corner_to_corner_in_their_times() -> None:
    late, off = rocking()
    assert late.difference <= 1e-10 and off.difference <= 1e-11  # their tolerance of events


@pytest.mark.parametrize(
    ("name", "until", "same"),
    [
        ("friction oscillator", 10.0, 1e-11),
        pytest.param("woodpecker", 0.03, 1e-12, marks=pytest.mark.slow),
    ],
)
def test_their_scheme_gives_their_values(name: str, until: float, same: float) -> None:
    assert max(row["theirs"] for row in step_errors(name, until)) <= same


def test_their_scheme_comes_to_our_slider_crank() -> None:
    """Through the first train of rebounds: half the step, at most 0.7 of the difference."""
    turns, height = step_errors("slider-crank with play", 0.01)
    assert turns["half"] <= 0.7 * turns["whole"] <= 1e-4
    assert height["whole"] <= 2e-2

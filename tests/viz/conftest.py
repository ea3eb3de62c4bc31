"""Pictures are drawn into memory, and every figure is closed again."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import sarrus as sr

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def _closed_figures() -> Iterator[None]:
    yield
    from matplotlib import pyplot as plt

    plt.close("all")


@pytest.fixture(scope="session")
def fall() -> sr.Trajectory:
    """A five-bar that falls through its singular pose at 0.6508 s."""
    return sr.simulate(sr.library.five_bar("raised"), (0.0, 0.8), dt=2e-3)

"""The checks of a measured state, and the gap of its rows."""

from __future__ import annotations

import numpy as np

from sarrus import _kernel

RNG = np.random.default_rng


def test_sizes_and_states() -> None:
    assert _kernel.largest(np.array([1.0, -3.0, 2.0]), np.array([1.0, 0.5, 1.0])) == 2.0
    assert _kernel.largest(np.zeros(0), np.zeros(0)) == 0.0
    q, v = np.zeros(3), np.zeros(2)
    assert _kernel.is_state(q, v, 3, 2)
    for bad in (q[:2], np.zeros(3, dtype=int), [0.0] * 3, np.array([0.0, np.nan, 0.0]), None):
        assert not _kernel.is_state(bad, v, 3, 2)

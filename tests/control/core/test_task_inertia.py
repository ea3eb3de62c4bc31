"""Eigenvalues of small symmetric matrices, against NumPy."""

from __future__ import annotations

import numpy as np

from sarrus import _kernel

RNG = np.random.default_rng


def test_eigenvalues() -> None:
    for seed in range(50):
        n = 1 + seed % 8
        A = RNG(seed).normal(size=(n, n)) * 10.0 ** RNG(seed).uniform(-6, 6)
        A = A @ A.T if seed % 2 else A + A.T
        values, V = _kernel.eigenvalues(A)
        np.testing.assert_allclose(values, np.linalg.eigvalsh(A), atol=1e-13 * np.abs(A).max() * n)
        np.testing.assert_allclose(A @ V, V * values, atol=1e-13 * np.abs(A).max() * n)

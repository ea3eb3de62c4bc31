"""Least-norm inputs of the kernel against singular values in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.linalg

from sarrus.control.core.least_norm_inputs import LeastNormInputs, least_norm_inputs
from sarrus.dynamics.input_response import Response
from tests.oracles.input_response import expected_inputs, library_response

RNG = np.random.default_rng


def inputs_for(r: Response, J: np.ndarray, wanted: np.ndarray, **options: Any) -> LeastNormInputs:
    given = {"unit": np.ones(len(J)), "v": r.a0, "metric": None}
    given |= {"damping": 0.0, "min_controllability": 0.0, "by_mass": False} | options
    return least_norm_inputs(r, J, wanted, **given)


@pytest.mark.parametrize("metric", ["none", "diagonal", "full"])
@pytest.mark.parametrize("damping", [0.0, 5.0])
def test_least_norm_inputs(metric: str, damping: float) -> None:
    r = library_response("dual_arm_box")
    rng, n, nv = RNG(1), len(r.columns), len(r.a0)
    J, wanted, unit, v = (
        rng.normal(size=(5, nv)),
        rng.normal(size=5),
        rng.random(5) + 0.5,
        rng.normal(size=nv),
    )
    C = {"none": np.eye(n), "diagonal": np.diag(rng.random(n) + 0.5), "full": rng.normal(size=(n, n))}[metric]
    given = {"none": None, "diagonal": np.ascontiguousarray(C.diagonal()), "full": C}[metric]
    G, g, x, Z, rank, damped, missing = inputs_for(
        r, J, wanted, unit=unit, v=v, metric=given, damping=damping
    )
    more = r.dof - 5 if damping else 0
    assert G.shape == (5 + more, n) and rank == 5 + more and Z.shape == (n, n - 5 - more)
    assert not damped and missing == 0
    np.testing.assert_allclose(G[:5], (J @ r.B @ C) / unit[:, None], atol=1e-12 * np.abs(G).max())
    np.testing.assert_allclose(g[:5], (wanted - J @ r.a0) / unit, atol=1e-11)
    np.testing.assert_allclose(x, np.linalg.pinv(G) @ g, atol=1e-9 * np.abs(x).max())
    np.testing.assert_allclose(G @ Z, 0.0, atol=1e-12 * np.abs(G).max())
    np.testing.assert_allclose(Z.T @ Z, np.eye(Z.shape[1]), atol=1e-13)
    if damping:  # null-space motions slow down: y' = -c y
        unseen = np.linalg.svd((J @ r.N) / unit[:, None])[2][5:] @ (r.N / r.units.unit[:, None] ** 2).T
        a = r.a0 + r.B @ C @ x
        np.testing.assert_allclose(unseen @ a, -damping * (unseen @ v), atol=1e-8)


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("least", [0.0, 0.3])
def test_dependent_outputs_through_singular_values(seed: int, least: float) -> None:
    """Ranks from none to all, singular values over twelve decades, more rows than inputs; damped or not."""
    r = library_response(("dual_arm", "sarrus", "three_rrr", "quadruped")[seed % 4], seed)
    rng, n = RNG(seed), len(r.columns)
    k = int(rng.integers(1, n + 4))
    J = rng.normal(size=(k, len(r.a0)))
    J[k // 2 :] = rng.normal(size=(k - k // 2, max(k // 2, 1))) @ J[: max(k // 2, 1)]  # dependent
    J *= 10.0 ** rng.uniform(-4, 4)
    wanted = rng.normal(size=k) * np.abs(J).max()
    found = inputs_for(r, J, wanted, min_controllability=least)
    x, Z, rank = expected_inputs(found.G, found.g, *controllability_of(r, J, least))
    assert found.rank == rank and found.Z.shape == Z.shape
    np.testing.assert_allclose(found.x, x, atol=1e-10 * np.abs(x).max())
    np.testing.assert_allclose(found.Z @ found.Z.T, Z @ Z.T, atol=1e-10)
    assert found.damped == (least > 0.0 and controllability_of(r, J, least)[0] < least)


def controllability_of(r: Response, J: np.ndarray, least: float) -> tuple[float, float]:
    """Smallest over largest pivot of the actuated part and of the outputs, and what it is compared with."""
    shares = []
    for rows in ((r.N / r.units.unit[:, None])[r.columns], J @ r.N):
        pivots = np.abs(np.diagonal(scipy.linalg.qr(rows, pivoting=True)[1]))
        kept = pivots[pivots > 1e-9 * np.linalg.norm(rows, axis=0).max()]
        shares.append(kept[-1] / kept[0] if len(kept) else 1.0)
    return min(shares), least


def test_outputs_that_are_almost_dependent() -> None:
    """Pivots between 1e-9 and 1e-6 of the largest: singular values decide."""
    r = library_response("dual_arm_box")
    for share, rank in ((1e-7, 3), (1e-11, 2)):
        J = RNG(2).normal(size=(3, len(r.a0)))
        J[2] = J[0] + share * J[2]
        found = inputs_for(r, J, J[:, 0])
        assert found.rank == rank
        x, Z, _ = expected_inputs(found.G, found.g, 1.0, 0.0)
        np.testing.assert_allclose(found.x, x, atol=1e-8 * np.abs(x).max())
        np.testing.assert_allclose(found.Z @ found.Z.T, Z @ Z.T, atol=1e-8)


def test_what_is_not_a_number_is_refused() -> None:
    r = library_response("dual_arm_box")
    J = np.full((2, len(r.a0)), np.nan)
    with pytest.raises(np.linalg.LinAlgError, match="did not converge"):
        inputs_for(r, J, np.zeros(2))


def test_null_space_motions_that_forces_on_the_outputs_do_not_excite() -> None:
    """K a = -c K v with K X = 1 and K P J.T = 0, X the null space of the outputs."""
    r = library_response("dual_arm_box")
    rng, nv, c = RNG(8), len(r.a0), 3.0
    J, v = rng.normal(size=(5, nv)), rng.normal(size=nv)
    found = inputs_for(r, J, J @ r.a0, v=v, damping=c, by_mass=True)
    Z = np.linalg.svd(J @ r.N)[2][5:].T
    X = r.N @ Z
    K = np.linalg.solve(X.T @ r.terms.M @ X, X.T @ r.terms.M)
    np.testing.assert_allclose(K @ r.inverse_inertia @ J.T, 0.0, atol=1e-9 * np.abs(K).max())
    a = r.a0 + r.B @ found.x
    np.testing.assert_allclose(K @ a, -c * (K @ v), atol=1e-8 * np.abs(K @ v).max())
    assert found.G.shape[0] == len(found.g) == 5 + Z.shape[1]

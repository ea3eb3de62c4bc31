"""Decompositions of many poses at once: copy by copy those of single poses, also where the rank differs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sarrus as sr
from sarrus.results import Decompositions

SQUARE = np.array([[0.0, 0.0, 0.0], [0.7, -0.7, 0.7], [0.1, -0.1, 0.1]])  # flat: a row more is lost


def poses(name: str) -> tuple[sr.Mechanism, Any]:
    mech = getattr(sr.library, name)()
    rng = np.random.default_rng(2)
    found = [
        mech.assemble(mech.integrate(mech.default.q, 0.1 * mech.model.unit * rng.standard_normal(mech.nv)))
        for _ in range(6)
    ]
    return mech, np.array([one.q for one in found]).reshape(2, 3, mech.nq)


@pytest.mark.parametrize("metric", [None, "mass", "matrix"])
@pytest.mark.parametrize("name", ["four_bar", "bennett", "quadruped", "pendulum", "parallelogram"])
def test_each_is_that_of_its_pose(name: str, metric: Any) -> None:
    mech, q = poses(name)
    if name == "parallelogram":
        q = np.array([mech.assemble(x).q for x in SQUARE]).reshape(1, 3, mech.nq)
    W = np.diag(np.arange(1.0, mech.nv + 1.0)) if metric == "matrix" else metric
    many = mech.decompose(q, W)
    assert isinstance(many, Decompositions) and many.rank.shape == q.shape[:-1] and len(many) == len(q)
    rng = np.random.default_rng(0)
    x, b = rng.standard_normal((*q.shape[:-1], mech.nv)), rng.standard_normal((*q.shape[:-1], mech.nc))
    parts = {"P": many.P, "pinv": many.pinv, "solve": many.solve(b), "N": many.N}
    for kind in ("velocity", "force"):
        parts |= {f"tangent {kind}": many.tangent(x, kind), f"normal {kind}": many.normal(x, kind)}
    np.testing.assert_allclose(parts["tangent force"] + parts["normal force"], x, atol=1e-12)
    for i in np.ndindex(q.shape[:-1]):
        one = mech.decompose(q[i], W)
        assert many[i].rank == one.rank and many.dof[i] == one.dof
        np.testing.assert_array_equal(many[i].N, one.N)
        np.testing.assert_array_equal(many.N[i][:, : one.dof], one.N)
        assert not np.any(many.N[i][:, one.dof :])
        expected = {"P": one.P, "pinv": one.pinv, "solve": one.solve(b[i])}
        for kind in ("velocity", "force"):
            expected |= {f"tangent {kind}": one.tangent(x[i], kind), f"normal {kind}": one.normal(x[i], kind)}
        for part, value in expected.items():
            np.testing.assert_allclose(parts[part][i], value, atol=1e-11, err_msg=part)


def test_bare_matrices() -> None:
    """sr.decompose of many J, copy by copy; the rank by the rule that is asked for."""
    J = np.random.default_rng(1).standard_normal((2, 4, 3, 5))
    J[0, 1, 2] = J[0, 1, 0] + J[0, 1, 1]
    many = sr.decompose(J, np.diag([1.0, 2.0, 3.0, 4.0, 5.0]))
    assert isinstance(many, Decompositions) and many.rank.tolist() == [[3, 2, 3, 3], [3] * 4]
    for i in np.ndindex(2, 4):
        one = sr.decompose(J[i], np.diag([1.0, 2.0, 3.0, 4.0, 5.0]))
        np.testing.assert_array_equal(many[i].N, one.N)
        np.testing.assert_allclose(many.P[i], one.P, atol=1e-14)
    assert sr.decompose(J, rank_tol=0.99).rank.max() == 1
    with pytest.raises(sr.InputError, match="must hold at least one matrix"):
        sr.decompose(np.zeros((0, 3, 5)))


def test_ranks_may_differ() -> None:
    mech = sr.library.parallelogram()
    many = mech.decompose(np.array([mech.assemble(x).q for x in SQUARE]))
    assert many.rank.tolist() == [1, 2, 2] and many.N.shape == (3, 3, 2)
    assert many[0].dof == 2 and many[-1].dof == 1


def test_one_for_all_and_none_at_all() -> None:
    """A vector for all copies; a batch of no poses."""
    mech, q = poses("four_bar")
    many = mech.decompose(q)
    np.testing.assert_allclose(many.tangent(np.ones(3))[1, 2], mech.decompose(q[1, 2]).tangent(np.ones(3)))
    assert mech.decompose(np.zeros((0, 3))).P.shape == (0, 3, 3)


def test_what_is_refused() -> None:
    mech, q = poses("four_bar")
    many = mech.decompose(q)
    with pytest.raises(sr.InputError, match=r"`x` must have shape \(\.\.\., 3\), got \(2, 3, 4\)"):
        many.tangent(np.zeros((2, 3, 4)))
    with pytest.raises(sr.InputError, match="kind must be one of 'velocity', 'force'"):
        many.normal(np.zeros(3), "torque")  # type: ignore[arg-type]
    with pytest.raises(sr.InputError, match=r"give an index for each batch axis of \(2, 3\), got 1"):
        many[1]
    with pytest.raises(sr.InputError, match=r"decompositions have batch axes \(2, 3\): index 7"):
        many[7, 0]

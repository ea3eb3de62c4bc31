"""Consistent velocities: the definition (nearest in the metric, J v = b) is the oracle."""

from __future__ import annotations

import math

import numpy as np
import pytest

import sarrus as sr


@pytest.mark.parametrize("name", ["four_bar", "sarrus", "stewart", "dual_arm", "rolling_disk", "quadruped"])
@pytest.mark.parametrize("metric", ["mass", None])
def test_the_change_is_orthogonal_to_every_possible_velocity(name: str, metric: str | None) -> None:
    mech = getattr(sr.library, name)()
    q = mech.default.q
    wish = np.random.default_rng(2).normal(size=mech.nv)
    v = mech.consistent_velocity(q, wish, metric=metric)
    W = mech.mass_matrix(q) if metric == "mass" else np.diag(mech.model.unit**-2.0)
    d = mech.decompose(q, metric=W)
    assert np.max(np.abs(mech.terms(q, v).J @ v)) < 1e-12 * np.linalg.norm(v)
    np.testing.assert_allclose(d.N.T @ W @ (v - wish), 0.0, atol=1e-10)


def test_prescribed_entries_are_exact_and_the_rest_follows() -> None:
    mech = sr.library.four_bar()
    v = mech.consistent_velocity(mech.default.q, fixed={"crank": 2.0})
    assert v[0] == 2.0
    assert np.max(np.abs(mech.terms(mech.default.q, v).J @ v)) < 1e-13


def test_least_kinetic_energy_among_those_with_a_prescribed_entry() -> None:
    mech = sr.library.dual_arm()
    q = mech.default.q
    v = mech.consistent_velocity(q, fixed={mech.names[0]: 1.0})
    N = mech.decompose(q).N
    N = N @ np.linalg.svd(N[:1])[2][1:].T  # velocities that leave the prescribed entry alone
    np.testing.assert_allclose(N.T @ mech.mass_matrix(q) @ v, 0.0, atol=1e-10)


def test_driven_rows_move() -> None:
    spec = sr.MechanismSpec()
    spec.body("arm", joint=sr.Revolute("z"), mass=1.0, com=(1, 0, 0), inertia=(0.1, 0.1, 0.1))
    spec.constrain("motor", sr.Drive("arm", math.sin, math.cos))
    mech = spec.compile()
    assert mech.consistent_velocity([0.0], t=0.3) == pytest.approx([math.cos(0.3)])
    assert mech.default.v == pytest.approx([1.0])


def test_velocities_of_a_whole_joint() -> None:
    mech = sr.library.rolling_disk()
    spin = mech.consistent_velocity(mech.default.q, fixed={"disc.wz": 1.0})
    assert spin[mech.names.index("disc.wz")] == 1.0
    with pytest.raises(sr.InputError, match=r"velocity of 'disc' must have shape \(6,\)"):
        mech.consistent_velocity(mech.default.q, fixed={"disc": [1.0, 0.0]})


def test_contradictions_are_named() -> None:
    mech = sr.library.four_bar()
    with pytest.raises(
        sr.AssemblyError, match=r"No velocity satisfies .* missed: .* Fixed: crank, rocker; fix fewer"
    ):
        mech.consistent_velocity(mech.default.q, fixed={"crank": 1.0, "rocker": -5.0})


def test_unknown_metric_is_refused() -> None:
    mech = sr.library.four_bar()
    with pytest.raises(sr.InputError, match="`metric` must be None, \"mass\" or a matrix, got 'energy'"):
        mech.consistent_velocity(mech.default.q, metric="energy")


@pytest.mark.parametrize("name", ["four_bar", "bricard", "stewart", "delta"])
@pytest.mark.parametrize("metric", ["mass", None])
def test_wishes_across_the_constraints_give_zero(name: str, metric: str | None) -> None:
    """0.1.0 refused them ("missed by 2e-16"): 200 of 200 on the four-bar. Zero to rounding of the wish, of
    any size."""
    mech = getattr(sr.library, name)()
    q, rng = mech.default.q, np.random.default_rng(0)
    J, M = mech.terms(q, np.zeros(mech.nv)).J, mech.mass_matrix(q)
    for size in (1e-9, 1.0, 1e9):
        for _ in range(20):
            force = J.T @ rng.normal(size=mech.nc)
            across = np.linalg.solve(M, force) if metric == "mass" else mech.model.unit**2 * force
            v = mech.consistent_velocity(q, size * across, metric=metric)
            assert np.max(np.abs(v)) < 1e-12 * size * np.max(np.abs(across))

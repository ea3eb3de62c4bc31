"""Constraint inertia matrices and coupling [Aghili2005] V, against the printed formulas in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sarrus as sr
from tests.laws.families import FAMILIES
from tests.oracles.states import mechanism, random_force, tangent_velocity

EACH = pytest.mark.parametrize("family", FAMILIES)


def pieces(family: str, seed: int) -> tuple[Any, ...]:
    """A random mechanism, a state on its constraints, a force, and P and A^+ of the paper there."""
    d = FAMILIES[family](seed)
    mech = mechanism(d)
    q, v, tau = d.q, tangent_velocity(mech, d.q, seed), random_force(mech, seed)
    rank = mech.decompose(q).rank
    J = mech.terms(q, v).J
    U, s, Vt = np.linalg.svd(J) if len(J) else (np.eye(0), np.zeros(0), np.eye(mech.nv))
    A_plus = Vt[:rank].T @ np.diag(1.0 / s[:rank]) @ U[:, :rank].T
    return mech, q, v, tau, np.eye(mech.nv) - A_plus @ J, A_plus


@EACH
def test_printed_formulas(family: str) -> None:
    """(23), (28), (29) to 1e-11; with their right sides (22), (27) they give the acceleration to 1e-9."""
    for seed in range(4):
        mech, q, v, tau, P, A_plus = pieces(family, seed)
        terms, one = mech.terms(q, v), np.eye(mech.nv)
        M, g, f, x = terms.M, np.linalg.norm(terms.M, 2), tau - terms.h, A_plus @ terms.gamma
        printed = {
            "projection": (M + P @ M - (P @ M).T, P @ f + M @ x),
            "symmetric": (P @ M @ P + (one - P) @ M @ (one - P), P @ f + (one - 2 * P) @ M @ x),
            "gamma": (P @ M + g * (one - P), P @ f + g * x),
        }
        a = mech.acceleration(q, v, tau)
        for form, (matrix, right) in printed.items():
            found = mech.constraint_inertia(q, form)
            assert np.max(np.abs(found.matrix - matrix)) < 1e-11 * g
            assert found.condition == pytest.approx(np.linalg.cond(matrix), rel=1e-6)
            # massless bodies: condition numbers up to 1e6 of the matrix cost that many digits
            allowed = 1e-9 * (1.0 + np.max(np.abs(a))) * max(1.0, found.condition / 1e5)
            assert np.max(np.abs(np.linalg.solve(found.matrix, right) - a)) < allowed


@EACH
def test_symmetric_is_symmetric_and_projection_positive_definite(family: str) -> None:
    """Theorem 2 and proposition 1."""
    mech, q, _, _, _, _ = pieces(family, 1)
    M, z = mech.mass_matrix(q), np.random.default_rng(0).standard_normal((mech.nv, 20))
    found = mech.constraint_inertia(q).matrix
    np.testing.assert_allclose(np.sum(z * (found @ z), axis=0), np.sum(z * (M @ z), axis=0), rtol=1e-9)
    symmetric = mech.constraint_inertia(q, "symmetric").matrix
    assert np.array_equal(symmetric, symmetric.T) or np.max(np.abs(symmetric - symmetric.T)) < 1e-12 * np.max(
        M
    )
    assert np.linalg.eigvalsh(symmetric)[0] > 0.0


def test_best_gamma() -> None:
    """The norm of M is a logical choice, not the best: 613 against 257 on the welded arms."""
    mech = sr.library.dual_arm()
    usual, best = (mech.constraint_inertia(mech.default.q, "gamma", g) for g in (None, "best"))
    assert usual.gamma == pytest.approx(np.linalg.norm(mech.mass_matrix(mech.default.q), 2))
    assert best.condition < 0.5 * usual.condition
    for factor in np.geomspace(1e-3, 1e3, 25):
        other = mech.constraint_inertia(mech.default.q, "gamma", factor * best.gamma)
        assert other.condition >= best.condition * (1.0 - 1e-9)


def test_metric_makes_the_choice_of_units_irrelevant() -> None:
    """A slider-crank with a sliding coordinate, in metres and in millimetres."""

    def slider(scale: float) -> sr.Mechanism:
        spec = sr.MechanismSpec(gravity=(0.0, -9.81 * scale, 0.0))
        spec.body("cart", joint=sr.Prismatic("x"), mass=2.0)
        inertia = (0.1 * scale**2,) * 3
        spec.body(
            "rod", "cart", joint=sr.Revolute("z"), mass=1.0, com=(0.5 * scale, 0.0, 0.0), inertia=inertia
        )
        spec.constrain("rail", sr.PointOnLine("ground", (0, 0, 0), "rod", (scale, 0, 0), (1.0, 1.0, 0.0)))
        return spec.compile()

    def conditions(scale: float) -> tuple[float, float]:
        mech = slider(scale)
        q = mech.assemble([0.3 * scale, 0.4]).q
        metric = np.diag(mech.units.unit**-2.0)
        return mech.constraint_inertia(q, metric=metric).condition, mech.constraint_inertia(q).condition

    (same, other), (same_mm, other_mm) = conditions(1.0), conditions(1000.0)
    assert same_mm == pytest.approx(same, rel=1e-9)
    assert other_mm > 100.0 * other


@EACH
def test_coupling_is_what_tangential_forces_add_to_the_constraint_force(family: str) -> None:
    """(32) with v and h the same: the change of the constraint force is mu P f less the normal part of f."""
    for seed in range(3):
        mech, q, v, f, _, _ = pieces(family, seed)
        without, loaded = (mech.forward_dynamics(q, v, tau).constraint_force for tau in (0.0 * f, f))
        for unit in (np.ones(mech.nv), mech.units.unit):  # as printed; lengths divided by L
            metric = np.diag(unit**-2.0)
            found = mech.coupling(q, metric=metric)
            expected = found.matrix @ f - mech.decompose(q, metric).normal(f, kind="force")
            size = 1.0 + np.max(np.abs(expected))
            assert np.max(np.abs(loaded - without - expected)) < 1e-9 * size
            strength = np.linalg.norm(unit[:, None] * found.matrix / unit, 2)
            assert found.strength == pytest.approx(strength, abs=1e-9)


def test_decoupling_depends_on_the_metric() -> None:
    """Rack and pinion of equal I and m: decoupled as printed, and for the law that splits torques so."""
    spec = sr.MechanismSpec(gravity=(0, 0, 0))
    spec.body("pinion", joint=sr.Revolute("z"), mass=1.0, inertia=(2, 2, 2))
    spec.body("rack", joint=sr.Prismatic("x"), mass=2.0)
    mech = spec.constrain("mesh", sr.Coupling({"pinion": 0.1, "rack": -1.0})).compile()
    q = np.zeros(2)
    assert mech.is_decoupled(q) and mech.coupling(q).strength == pytest.approx(0.0, abs=1e-12)
    other = np.diag([1.0, 100.0])
    assert not mech.is_decoupled(q, metric=other) and mech.coupling(q, metric=other).strength > 0.5
    for metric, decoupled in ((None, True), (other, False)):
        law = sr.control.ProjectedInverseDynamics(mech, "pinion", 0.3, kp=100.0, metric=metric)
        assert law.solve(0.0, q, q).decoupled is decoupled


def test_coupling_vanishes_where_is_decoupled() -> None:
    spec = sr.MechanismSpec()
    spec.body("x", joint=sr.Prismatic("x"), mass=1.0)
    spec.body("y", "x", joint=sr.Prismatic("y"), mass=1.0)
    spec.constrain("rail", sr.PointOnLine("ground", (0, 0, 0), "y", (0, 0, 0), (1.0, 0.0, 0.0)))
    mech = spec.compile()
    assert mech.is_decoupled([0.0, 0.0]) and mech.coupling([0.0, 0.0]).strength == pytest.approx(
        0.0, abs=1e-12
    )
    four_bar = sr.library.four_bar()
    assert (
        not four_bar.is_decoupled(four_bar.default.q) and four_bar.coupling(four_bar.default.q).strength > 0.1
    )
    free = sr.library.double_pendulum()
    assert free.coupling([0.3, 0.4]).strength == 0.0


def test_wrong_arguments_are_refused() -> None:
    mech = sr.library.four_bar()
    q = mech.default.q
    with pytest.raises(sr.InputError, match='form must be one of "projection"'):
        mech.constraint_inertia(q, "lagrange")
    with pytest.raises(sr.InputError, match='gamma belongs to form="gamma"'):
        mech.constraint_inertia(q, gamma=2.0)
    with pytest.raises(sr.InputError, match='positive number, None or "best"'):
        mech.constraint_inertia(q, "gamma", "least")
    with pytest.raises(sr.InputError, match="gamma must be positive"):
        mech.constraint_inertia(q, "gamma", -1.0)
    with pytest.raises(sr.InputError, match="q must be one"):
        mech.coupling(np.array([q, q]))


@pytest.mark.parametrize("query", ["constraint_inertia", "coupling", "is_decoupled"])
def test_inertia_under_constraints_is_asked_for_one_pose(query: str) -> None:
    mech = sr.library.four_bar()
    with pytest.raises(sr.InputError, match="q must be one pose here"):
        getattr(mech, query)(np.tile(mech.default.q, (2, 1)))

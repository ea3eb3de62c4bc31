"""Wrenches and payloads without force sensors; [Lin2018] eq. (7) and its future work."""

from __future__ import annotations

import numpy as np
import pytest

import sarrus as sr
from sarrus import control as sc
from sarrus.control.measured import measured
from sarrus.control.payload import add

from .held_box import DT, held, loaded, run

ADDED = sc.Payload(1.5, (0.03, -0.05, 0.2), (0.004, 0.003, 0.002))
WRENCH = np.array([5.0, -8.0, -20.0, 0.5, -0.4, 0.3])


def test_payload_parameters_go_there_and_back() -> None:
    again = sc.Payload.of(ADDED.parameters)
    assert again.mass == ADDED.mass
    np.testing.assert_allclose(again.com, ADDED.com, atol=1e-15)
    np.testing.assert_allclose(again.inertia, np.diag(ADDED.inertia), atol=1e-15)


def test_a_payload_in_the_terms_is_one_in_the_mechanism() -> None:
    """M and h with the ten numbers added are those of a mechanism that was described with the mass."""
    mech, _ = held()
    v = np.random.default_rng(0).normal(size=mech.nv)
    now, box = measured(mech, 0.0, mech.default.q, v), mech.model.body_index("box")
    more = add(now.terms, now, box, ADDED.parameters, np.asarray(mech.model.gravity))
    true = loaded(mech, ADDED).terms(mech.default.q, v)
    np.testing.assert_allclose(more.M, true.M, atol=1e-12)
    np.testing.assert_allclose(more.h, true.h, atol=1e-12)


def test_the_momentum_observer_finds_a_wrench_on_the_box() -> None:
    mech, grasp = held()
    estimator = sc.WrenchEstimator(mech, "box", bandwidth=100.0)
    law = sc.ObjectImpedance(mech, grasp, external=estimator)
    run(mech, law, 0.2, WRENCH)
    assert estimator.last is not None
    np.testing.assert_allclose(estimator.last.wrench, WRENCH, rtol=1e-3, atol=2e-3)
    np.testing.assert_array_equal(estimator.last.external, estimator.last.wrench)


def test_a_wrench_on_a_link() -> None:
    """Somebody pushes an elbow: the part that moves the arm is found, contact forces never enter."""
    mech, grasp = held()
    estimator = sc.WrenchEstimator(mech, "left4", (0.0, 0.0, 0.0))
    law = sc.ObjectImpedance(mech, grasp, external=None)
    force = np.array([0.0, 10.0, 0.0, 0.0, 0.0, 0.0])
    applied = np.zeros(mech.nu)

    def control(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        estimator.update(t, q, v, applied)
        applied[:] = law(t, q, v)
        return applied.copy()

    done = sr.simulate(mech, (0.0, 0.2), control=control, control_dt=DT, dt=DT, external={"left4": force})
    assert estimator.last is not None
    J = mech.jacobian(done.q[-1], "left4")
    N = sr.decompose(mech.terms(done.q[-1], done.v[-1]).J).N
    felt, true = N.T @ J.T @ estimator.last.wrench, N.T @ J.T @ force
    np.testing.assert_allclose(felt, true, atol=0.02 * np.abs(true).max())


def test_an_added_mass_is_found_within_half_a_second() -> None:
    """Mass within 2% (with noise), everything to 1% without; box and payload beyond the model."""
    mech, grasp = held()
    plant = loaded(mech, ADDED)
    for noise, tolerance in ((0.0, 1e-3), (2e-4, 0.02)):
        estimator = sc.WrenchEstimator(mech, "box", payload=True)
        law = sc.ObjectImpedance(mech, grasp, external=estimator)
        control = sc.Hardware(law, mech, sample=DT, v_noise=noise, seed=1)
        run(plant, control, 0.5)
        assert estimator.last is not None
        found = estimator.last.payload
        assert found.mass == pytest.approx(ADDED.mass, rel=tolerance)
        if noise == 0.0:
            np.testing.assert_allclose(found.com, ADDED.com, atol=1e-3)
            np.testing.assert_allclose(np.diag(np.asarray(found.inertia)), ADDED.inertia, rtol=0.1)
            np.testing.assert_allclose(estimator.last.external, 0.0, atol=0.05)


def test_a_compensated_payload_does_not_pull_the_box_down() -> None:
    mech, grasp = held()
    plant = loaded(mech, ADDED)
    errors = {}
    for compensate in (False, True):
        estimator = sc.WrenchEstimator(mech, "box", payload=True)
        law = sc.ObjectImpedance(mech, grasp, external=estimator, compensate=compensate)
        run(plant, law, 0.8)
        assert law.last is not None
        errors[compensate] = np.abs(law.last.errors[:3]).max()
    assert errors[False] > 0.02
    assert errors[True] < 1e-4


def test_the_whole_box_is_a_payload_of_a_massless_model() -> None:
    mech, grasp = held()
    estimator = sc.WrenchEstimator(mech, "box", payload=True, massless=True)
    law = sc.ObjectImpedance(mech, grasp, external=estimator, massless=True, compensate=True)
    run(mech, law, 0.5)
    assert estimator.last is not None
    assert estimator.last.payload.mass == pytest.approx(0.7, rel=0.02)


def test_the_displacement_at_rest_is_a_wrench() -> None:
    mech, grasp = held()
    law = sc.ObjectImpedance(mech, grasp, damping_ratio=1.0)
    estimator = sc.WrenchEstimator(mech, "box", method="displacement", impedance=law)
    done = run(mech, law, 2.5, WRENCH, dt=4e-3)
    for t in (0.0, 1.0):
        found = estimator.update(t, done.q[-1], done.v[-1], np.zeros(mech.nu))
    np.testing.assert_allclose(found.wrench, WRENCH, rtol=0.02, atol=0.02)


def test_samples_that_are_not_later_change_nothing() -> None:
    mech, _ = held()
    estimator = sc.WrenchEstimator(mech, "box")
    first = estimator.update(0.0, *mech.default, np.zeros(mech.nu))
    assert estimator.update(0.0, *mech.default, np.ones(mech.nu)) is first
    estimator.reset()
    assert estimator.last is None


def test_bad_input() -> None:
    mech, _ = held()
    with pytest.raises(sr.SarrusError, match=r"bandwidth.*must be positive"):
        sc.WrenchEstimator(mech, "box", bandwidth=0.0)
    with pytest.raises(sr.SarrusError, match=r"memory.*must be positive"):
        sc.WrenchEstimator(mech, "box", memory=-1.0)
    with pytest.raises(sr.SarrusError, match="crate"):
        sc.WrenchEstimator(mech, "crate")
    with pytest.raises(sr.SarrusError, match=r"method.*magic.*momentum"):
        sc.WrenchEstimator(mech, "box", method="magic")
    with pytest.raises(sr.SarrusError, match="give both"):
        sc.WrenchEstimator(mech, "box", method="displacement")
    with pytest.raises(sr.SarrusError, match="u must have shape"):
        sc.WrenchEstimator(mech, "box").update(0.0, *mech.default, [0.0])

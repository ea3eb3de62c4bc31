"""Wrenches and payloads without force sensors; [Lin2018] eq. (7) and its future work."""

from __future__ import annotations

import numpy as np
import pytest

import sarrus as sr
from sarrus import control as sc
from sarrus.models.base.rotation import exp

from .held_box import DT, fingers, held, loaded, run

FOUR = (
    [(0.1, 0.0, 0.0), (0.0, 0.1, 0.0), (-0.1, 0.0, 0.0), (0.0, -0.1, 0.0)],
    [(-1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)],
)

ADDED = sc.Payload(1.5, (0.03, -0.05, 0.2), (0.004, 0.003, 0.002))
WRENCH = np.array([5.0, -8.0, -20.0, 0.5, -0.4, 0.3])


def test_payload_parameters_go_there_and_back() -> None:
    again = sc.Payload.of(ADDED.parameters)
    assert again.mass == ADDED.mass
    np.testing.assert_allclose(again.com, ADDED.com, atol=1e-15)
    np.testing.assert_allclose(again.inertia, np.diag(ADDED.inertia), atol=1e-15)


def test_the_momentum_observer_finds_a_wrench_on_the_box() -> None:
    mech, grasp = held()
    estimator = sc.WrenchEstimator(mech, "box", bandwidth=100.0)
    law = sc.ObjectImpedance(mech, grasp, external=estimator)
    run(mech, law, 0.2, WRENCH)
    assert estimator.last is not None
    np.testing.assert_allclose(estimator.last.wrench, WRENCH, rtol=1e-3, atol=2e-3)
    np.testing.assert_array_equal(estimator.last.external, estimator.last.wrench)
    assert estimator.last.unfelt.shape == (6, 0)


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
    unfelt = estimator.last.unfelt  # four hinges carry the link: two of six directions do not show
    assert unfelt.shape == (6, 2)
    np.testing.assert_allclose(N.T @ J.T @ unfelt, 0.0, atol=1e-6 * np.abs(unfelt).max())


@pytest.mark.parametrize("name", ["four_bar", "sarrus", "bricard", "stewart"])
def test_a_wrench_on_any_body_of_closed_chains(name: str) -> None:
    """Redundant rows, passive joints: what of the wrench moves the mechanism is found, to 2%."""
    mech = getattr(sr.library, name)()
    body = "platform" if name == "stewart" else mech.model.bodies[-1].name
    com = mech.model.bodies[mech.model.body_index(body)].com
    force, applied = np.array([3.0, -5.0, 4.0, 0.1, 0.2, 0.4]), np.zeros(mech.nu)
    estimator = sc.WrenchEstimator(mech, body)

    def control(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        estimator.update(t, q, v, applied)
        applied[:] = 0.5 * np.sin(5.0 * t + np.arange(mech.nu))
        return applied.copy()

    done = sr.simulate(mech, (0.0, 0.1), control=control, control_dt=1e-3, external={body: (force, com)})
    assert estimator.last is not None and estimator.ready
    J = mech.jacobian(done.q[-1], body, com)
    closed = mech.terms(done.q[-1], done.v[-1]).J
    N = sr.decompose(closed, rank=np.linalg.matrix_rank(closed, 1e-6)).N
    felt, true = N.T @ J.T @ estimator.last.wrench, N.T @ J.T @ force
    np.testing.assert_allclose(felt, true, atol=0.02 * np.abs(true).max())


def test_hands_that_let_go_do_not_look_like_a_push() -> None:
    """The estimator knows which constraints hold: what pulls at a hand that is off is no push on the box."""
    mech = fingers(sr.Fixed(), *FOUR)
    names = [f"tip{k}" for k in range(4)]
    grasp = sc.Grasp(
        mech, "box", [sc.Patch(name, 0.5, torsion=0.01, half=(0.02, 0.02), least=2.0) for name in names]
    )

    def holds(t: float, q: np.ndarray, v: np.ndarray) -> list[str]:
        return names if t < 0.1 else names[:3]

    law = sc.ObjectImpedance(mech, grasp, active=holds)
    push, seen = np.array([2.0, 0.0, -5.0, 0.0, 0.1, 0.0]), []

    def control(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        u = law(t, q, v)
        assert isinstance(law.last, sc.ImpedanceSolution)
        seen.append(law.last.external)
        return u

    switch = sr.Switch("tip3", off=0.1)
    pulls = {"box": push, "finger3": lambda t: np.array([0.0, 0.0, 3.0, 0.0, 0.0, 0.0]) * (t > 0.1)}
    done = sr.simulate(
        mech, (0.0, 0.2), control=control, control_dt=DT, dt=DT, external=pulls, switches=[switch]
    )
    assert done.success
    late = np.array(seen)[40:]  # 80 ms after the push began
    assert np.abs(late - push).max() < 0.1


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


def test_all_ten_numbers_while_the_box_is_shaken() -> None:
    """With noise on the velocities: mass to 1%, centre of mass to 5 mm, moments of inertia to 10%."""
    mech, grasp = held()
    here, rates = mech.pose(mech.default.q, "box"), np.array([6.0, 7.0, 8.0, 9.0, 11.0, 13.0])
    size = np.repeat([0.02, 0.15], 3)
    added = sc.Payload(1.5, (0.03, -0.05, 0.1), (0.03, 0.02, 0.04))

    def shaken(t: float) -> tuple[sr.Pose, np.ndarray, np.ndarray]:
        x, v, a = (
            size * np.sin(rates * t),
            size * rates * np.cos(rates * t),
            -size * rates**2 * np.sin(rates * t),
        )
        return sr.Pose(here.xyz + x[:3], matrix=exp(x[3:]) @ here.rotation), v, a  # turns: to first order

    estimator = sc.WrenchEstimator(mech, "box", payload=True)
    law = sc.ObjectImpedance(mech, grasp, shaken, external=estimator, compensate=True)
    run(loaded(mech, added), sc.Hardware(law, mech, sample=DT, v_noise=1e-3, seed=2), 0.6)
    assert estimator.last is not None
    found = estimator.last.payload
    assert found.mass == pytest.approx(added.mass, rel=0.01)
    np.testing.assert_allclose(found.com, added.com, atol=5e-3)
    np.testing.assert_allclose(np.diag(np.asarray(found.inertia)), added.inertia, rtol=0.1)


def test_weights_are_put_on_and_taken_off_again() -> None:
    """Half a kilogram, as in the paper: no slip, no jump, the box back at its place, no wind-up."""
    mech, grasp = held()
    plant = loaded(mech, sc.Payload(0.5, (0.0, 0.0, 0.2)))
    estimator = sc.WrenchEstimator(mech, "box", payload=True)
    law = sc.ObjectImpedance(mech, grasp, external=estimator, compensate=True)
    place, (q, v) = mech.pose(mech.default.q, "box").xyz, mech.default
    for k, one in enumerate((mech, plant, mech)):
        done = sr.simulate(one, (1.5 * k, 1.5 * k + 1.5), q, v, control=law, control_dt=4e-3, dt=4e-3)
        q, v = done.q[-1], done.v[-1]
        way = np.array([x.xyz for x in mech.pose(done.q, "box")]) - place
        assert np.abs(way).max() < 0.005 and np.abs(way[-1]).max() < 2e-4
        assert np.abs(np.diff(done.u, axis=0)).max() < 2.0
        assert min(min(grasp.margins(f).values()) for f in grasp.components(done.lam)[1:]) > 0.0
        assert estimator.last is not None
        assert estimator.last.payload.mass == pytest.approx(0.5 if k == 1 else 0.0, abs=0.005)


def test_a_push_aside_is_no_far_away_mass() -> None:
    """What hardly any mass explains stays a wrench: the centre of a payload lies near the body."""
    mech, grasp = held()
    estimator = sc.WrenchEstimator(mech, "box", payload=True)
    law = sc.ObjectImpedance(mech, grasp, external=estimator, compensate=True)
    side, up = np.array([20.0, 0.0, 0.0, 0.0, 0.0, 0.0]), np.array([0.0, 0.0, 5.0, 0.0, 0.0, 0.0])
    for push in (side, up):
        run(mech, law, 0.6, push)
        assert estimator.last is not None
        assert np.linalg.norm(estimator.last.payload.com) < 1.0
        # wrench that is left and weight of the payload are what was applied
        weight = estimator.last.payload.mass * 9.81
        np.testing.assert_allclose(estimator.last.external[:3] - [0.0, 0.0, weight], push[:3], atol=0.3)


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
    with pytest.raises(sr.SarrusError, match=r"point of WrenchEstimator\('box'\) must have shape"):
        sc.WrenchEstimator(mech, "box", (0.0, 0.0))
    free = sr.CustomSystem(1, 1, M=lambda q, v, t: np.eye(1), h=lambda q, v, t: np.zeros(1))
    with pytest.raises(sr.SarrusError, match="WrenchEstimator needs bodies"):
        sc.WrenchEstimator(free, "q0")
    with pytest.raises(sr.SarrusError, match=r"unknown constraint 'grip'.*grip_left"):
        sc.WrenchEstimator(mech, "box", active=["grip"])
    with pytest.raises(sr.SarrusError, match="u must be finite"):
        sc.WrenchEstimator(mech, "box").update(0.0, *mech.default, np.full(mech.nu, np.nan))
    with pytest.raises(sr.SarrusError, match="u must have shape"):
        sc.WrenchEstimator(mech, "box").update(0.0, *mech.default, [0.0])

"""The held box feels as commanded, and its contacts carry what the law expects; [Lin2018]."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

import sarrus as sr
from sarrus import control as sc
from sarrus.control.rotation import exp

from .held_box import fingers, held, loaded, patches, run

Array = npt.NDArray[np.float64]

STIFFNESS = np.array([400.0, 600.0, 500.0, 40.0, 50.0, 60.0])
DAMPING = np.array([90.0, 80.0, 100.0, 8.0, 6.0, 7.0])
INERTIA = np.array([8.0, 10.0, 12.0, 0.6, 0.5, 0.4])
WRENCH = np.array([3.0, -4.0, -6.0, 0.2, -0.15, 0.25])
PUSH = np.array([0.0, 0.0, -40.0, 0.0, 0.0, 0.0])


def pushed(t: float) -> Array:
    """Down with up to 40 N, on for half a second and off again, smoothly."""
    return PUSH * np.sin(np.pi * min(max(t / 0.8, 0.0), 1.0)) ** 2


def acceleration(mech: sr.Mechanism, u: Array, q: Array, v: Array, wrench: Array) -> Array:
    """Acceleration (6,) of the box in the plant."""
    a = mech.forward_dynamics(q, v, u=u, external={"box": wrench}).a
    return np.asarray(mech.body_acceleration(q, v, a, "box"))


def test_measured_stiffness_in_six_directions() -> None:
    """At rest under a wrench in all six directions: stiffness times displacement is the wrench, to 1%."""
    mech, grasp = held()
    law = sc.ObjectImpedance(mech, grasp, stiffness=STIFFNESS, damping_ratio=1.0)
    done = run(mech, law, 3.0, WRENCH, dt=4e-3)
    track = law.solve(3.0, done.q[-1], done.v[-1])
    assert np.abs(done.v[-1]).max() < 1e-3
    np.testing.assert_allclose(STIFFNESS * -track.errors, WRENCH, rtol=0.01)


def test_measured_stiffness_damping_and_inertia_at_once() -> None:
    """The response to displacement, speed and wrench, each along six axes: eq. (7) with the own inertia."""
    mech, grasp = held()
    law = sc.ObjectImpedance(mech, grasp, stiffness=STIFFNESS, damping=DAMPING, external=None)
    q, v = np.array(mech.default.q), np.zeros(mech.nv)
    first = law.solve(0.0, q, v)
    inertia = np.linalg.inv(first.mobility)  # type: ignore[attr-defined]
    still = acceleration(mech, first.u, q, v, np.zeros(6))
    np.testing.assert_allclose(still, 0.0, atol=1e-9)
    J = mech.jacobian(q, "box")
    N = sr.decompose(mech.terms(q, v).J).N
    for k in range(6):
        unit = np.eye(6)[k]
        felt = inertia @ acceleration(mech, first.u, q, v, unit)
        np.testing.assert_allclose(felt, unit, atol=1e-9)
        speed = N @ np.linalg.lstsq(J @ N, 1e-6 * unit, rcond=None)[0]
        law.reset()
        a = acceleration(mech, law.solve(0.0, q, speed).u, q, speed, np.zeros(6))
        np.testing.assert_allclose(inertia @ a / 1e-6, -DAMPING * unit, rtol=1e-3, atol=0.01)
        here = mech.pose(q, "box")
        place = sr.Pose(here.xyz - 1e-6 * unit[:3], matrix=exp(-1e-6 * unit[3:]) @ here.rotation)
        moved = sc.ObjectImpedance(mech, grasp, place, STIFFNESS, DAMPING, external=None)
        a = acceleration(mech, moved.solve(0.0, q, v).u, q, v, np.zeros(6))
        np.testing.assert_allclose(inertia @ a / 1e-6, -STIFFNESS * unit, rtol=1e-3, atol=0.01)


def test_measured_inertia_with_a_sensor() -> None:
    """With the wrench measured the box is a linear oscillator in each of six directions, eq. (7), (8)."""
    mech, grasp = held()
    law = sc.ObjectImpedance(
        mech, grasp, None, STIFFNESS, DAMPING, inertia=INERTIA, external=lambda t, q, v: 0.2 * WRENCH
    )
    done = sr.simulate(mech, (0.0, 0.5), control=law, dt=4e-3, external={"box": 0.2 * WRENCH})
    law.reset()
    errors = np.array([-law.solve(*one).errors for one in zip(done.t, done.q, done.v, strict=True)])
    for k in range(6):
        A = np.array([[0.0, 1.0], [-STIFFNESS[k] / INERTIA[k], -DAMPING[k] / INERTIA[k]]])
        rest = 0.2 * WRENCH[k] / STIFFNESS[k]
        values, vectors = np.linalg.eig(A)
        start = np.linalg.solve(vectors, [-rest, 0.0])
        exact = rest + np.real(vectors[0] @ (start[:, None] * np.exp(np.outer(values, done.t))))
        assert np.abs(errors[:, k] - exact).max() < 0.01 * np.abs(exact).max()


def test_a_large_turn() -> None:
    """The logarithm: a box that shall turn by 0.54 rad about an oblique axis gets there the shortest way."""
    mech, grasp = held()
    place = mech.pose(mech.default.q, "box")
    turn = np.array([0.3, -0.2, 0.4])
    law = sc.ObjectImpedance(
        mech, grasp, sr.Pose(place.xyz, matrix=exp(turn) @ place.rotation), (500.0, 60.0)
    )
    np.testing.assert_allclose(law.solve(0.0, *mech.default).errors[3:], turn, atol=1e-12)
    done = run(mech, law, 1.5)
    assert np.abs(law.solve(1.5, done.q[-1], done.v[-1]).errors).max() < 2e-3


def test_internal_forces_do_not_move_the_object() -> None:
    """Torques J_c.T F_c of eq. (13) change contact forces only."""
    mech, grasp = held()
    law = sc.ObjectImpedance(mech, grasp)
    rng = np.random.default_rng(3)
    done = run(mech, law, 0.3, pushed)
    q, v = done.q[-1], done.v[-1]
    u = law.solve(0.3, q, v).u
    squeeze = (grasp.internal_jacobian(q).T @ rng.normal(size=12) * 20.0)[:14]
    before, after = (mech.forward_dynamics(q, v, u=x) for x in (u, u + squeeze))
    np.testing.assert_allclose(after.a, before.a, atol=1e-10)
    change = grasp.components(after.lam - before.lam)
    assert np.abs(change).max() > 1.0
    np.testing.assert_allclose(grasp.map() @ change, 0.0, atol=1e-10)


def test_expected_contact_wrenches_are_those_of_the_plant() -> None:
    """Under a push that a sensor sees, at every sample, to 1e-9; and always inside cones and patches."""
    mech, grasp = held()
    law = sc.ObjectImpedance(mech, grasp, external=lambda t, q, v: pushed(t))
    done = run(mech, law, 0.8, pushed)
    past = law.history(done, every=5)
    for one, q, v in zip(past.solutions, done.q[::5], done.v[::5], strict=True):
        assert isinstance(one, sc.ImpedanceSolution) and one.success
        plant = mech.forward_dynamics(q, v, u=one.u, external={"box": pushed(one.t)})
        f = grasp.components(plant.lam)
        np.testing.assert_allclose(one.contact_forces, f, atol=1e-9)
        assert min(grasp.margins(f).values()) > -1e-7
        np.testing.assert_allclose(one.internal + one.load_share, f, atol=1e-9)
    assert past.summary()


def test_without_sensor_the_displacement_is_enough() -> None:
    """Held down at rest the displacement tells the wrench: the expected contact forces are exact."""
    mech, grasp = held()
    law = sc.ObjectImpedance(mech, grasp, damping_ratio=1.0)
    done = run(mech, law, 4.0, PUSH, dt=4e-3)
    found = law.solve(4.0, done.q[-1], done.v[-1])
    assert isinstance(found, sc.ImpedanceSolution)
    np.testing.assert_allclose(found.external, PUSH, atol=1e-2)
    plant = mech.forward_dynamics(done.q[-1], done.v[-1], u=found.u, external={"box": PUSH})
    np.testing.assert_allclose(found.contact_forces, grasp.components(plant.lam), atol=1e-2)


def test_a_law_that_doubts_friction_stays_inside_under_the_push() -> None:
    """With estimated wrenches (momentum) and limits assumed 20% tighter the true ones are never left."""
    mech, grasp = held(mu=0.4, least=8.0)
    true = sc.Grasp(
        mech, "box", [sc.Patch(one.loop, 0.5, torsion=0.036, half=(0.06, 0.06)) for one in patches()]
    )
    law = sc.ObjectImpedance(mech, grasp, external=sc.WrenchEstimator(mech, "box"))
    done = run(mech, law, 0.8, pushed)
    worst = min(
        min(
            true.margins(
                true.components(mech.forward_dynamics(q, v, u=u, external={"box": pushed(t)}).lam)
            ).values()
        )
        for t, q, v, u in zip(done.t[2:-1:4], done.q[2:-1:4], done.v[2:-1:4], done.u[2:-1:4], strict=True)
    )
    assert worst > 0.0


def test_squeeze_rises_with_load() -> None:
    """[Lin2018] figure 6: hands press harder as weights of 0.5 kg are added, without being told."""
    mech, grasp = held(least=0.0)
    law = sc.ObjectImpedance(mech, grasp, massless=True)
    squeeze = []
    for mass in (0.0, 1.0, 2.0):
        plant = loaded(mech, sc.Payload(mass, (0.0, 0.0, 0.2)))
        law.reset()
        done = run(plant, law, 1.5, dt=4e-3)
        found = law.solve(1.5, done.q[-1], done.v[-1])
        assert isinstance(found, sc.ImpedanceSolution)
        squeeze.append(found.normal_forces.min())
        # mu (f_left + f_right) has to carry the weight; contacts settle with it
        assert found.normal_forces.sum() * 0.5 > 0.98 * (0.7 + mass) * 9.81
    assert np.all(np.diff(squeeze) > 5.0)


def test_why_the_box_hangs_low_in_the_paper() -> None:
    """A massless model takes the weight for a disturbance: the box sinks by weight / stiffness."""
    mech, grasp = held()
    sag = {}
    for massless in (True, False):
        law = sc.ObjectImpedance(mech, grasp, stiffness=(500.0, 50.0), damping_ratio=1.0, massless=massless)
        done = run(mech, law, 2.5, dt=4e-3)
        sag[massless] = law.solve(2.5, done.q[-1], done.v[-1]).errors[2]
    assert sag[True] == pytest.approx(0.7 * 9.81 / 500.0, rel=0.01)
    assert abs(sag[False]) < 1e-6


def test_too_little_friction_is_said_beforehand() -> None:
    """Friction that would need more squeeze than the motors have: the status says so, nothing is raised."""
    mech, grasp = held(mu=0.02, least=0.0)
    law = sc.ObjectImpedance(mech, grasp, limits=sc.TorqueBounds((-40.0, 40.0)))
    found = law.solve(0.0, *mech.default)
    assert found.status == sc.Status.INFEASIBLE and not found.success
    assert "friction" in found.message and found.violations


def test_three_hands_of_another_kind() -> None:
    """Three free-flying fingers with point contacts hold, and the exact cone is kept."""
    angles = 2.0 * np.pi / 3.0 * np.arange(3)
    points = [(0.1 * np.cos(x), 0.1 * np.sin(x), 0.0) for x in angles]
    mech = fingers(sr.Spherical(), points, [(-x, -y, -z) for x, y, z in points])
    grasp = sc.Grasp(mech, "box", [sc.PointContact(f"tip{k}", 0.6, edges=None, least=1.0) for k in range(3)])
    law = sc.ObjectImpedance(mech, grasp, stiffness=(200.0, 10.0))
    done = run(mech, law, 0.2, np.array([1.0, 0.0, -2.0, 0.0, 0.1, 0.0]))
    found = law.solve(0.2, done.q[-1], done.v[-1])
    assert isinstance(found, sc.ImpedanceSolution) and found.success
    assert min(grasp.margins(found.contact_forces).values()) > -1e-6


def test_bad_input() -> None:
    mech, grasp = held()
    with pytest.raises(sr.SarrusError, match=r"inertia.*needs the external wrench measured"):
        sc.ObjectImpedance(mech, grasp, inertia=(5.0, 0.1))
    with pytest.raises(sr.SarrusError, match="metres and radians need different"):
        sc.ObjectImpedance(mech, grasp, stiffness=100.0)
    with pytest.raises(sr.SarrusError, match="stiffness must be positive semidefinite"):
        sc.ObjectImpedance(mech, grasp, stiffness=(100.0, -1.0))
    with pytest.raises(sr.SarrusError, match="takes a Grasp"):
        sc.ObjectImpedance(mech, "box")  # type: ignore[arg-type]
    with pytest.raises(sr.SarrusError, match="belongs to another mechanism"):
        sc.ObjectImpedance(sr.library.dual_arm(), grasp)
    with pytest.raises(sr.SarrusError, match="compensate=True needs"):
        sc.ObjectImpedance(mech, grasp, compensate=True)
    with pytest.raises(sr.SarrusError, match="external must be"):
        sc.ObjectImpedance(mech, grasp, external="guess")
    with pytest.raises(sr.SarrusError, match="massless must be the same"):
        sc.ObjectImpedance(mech, grasp, external=sc.WrenchEstimator(mech, "box"), massless=True)
    with pytest.raises(sr.SarrusError, match="x must be a Pose"):
        sc.ObjectImpedance(mech, grasp, [0.0, 0.0, 1.0])
    points = fingers(sr.Spherical(), [(0.0, 0.1, 0.0), (0.0, -0.1, 0.0)], [(0.0, -1.0, 0.0), (0.0, 1.0, 0.0)])
    weak = sc.Grasp(points, "box", [sc.PointContact(f"tip{k}", 0.5) for k in (0, 1)])
    with pytest.raises(sr.SarrusError, match=r"cannot hold 'box'.*turn y.*require_closure=False"):
        sc.ObjectImpedance(points, weak)
    for sensor in (lambda t, q, v: 1.0 / 0.0, lambda t, q, v: [np.nan] * 6, lambda t, q, v: np.zeros(5)):
        blind = sc.ObjectImpedance(mech, grasp, external=sensor).solve(0.0, *mech.default)
        assert blind.status == sc.Status.FAILED and "wrench" in blind.message
    failed = sc.ObjectImpedance(mech, grasp).solve(0.0, np.full(mech.nq, np.nan), np.zeros(mech.nv))
    assert failed.status == sc.Status.FAILED and np.isnan(failed.contact_forces).all()  # type: ignore[attr-defined]

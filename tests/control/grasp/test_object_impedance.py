"""The held box feels as commanded: stiffness, damping, inertia, on SE(3); [Lin2018] eq. (7)-(9)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

import sarrus as sr
from sarrus import control as sc
from sarrus.models.base.rotation import exp

from .held_box import fingers, held, run

Array = npt.NDArray[np.float64]

STIFFNESS = np.array([400.0, 600.0, 500.0, 40.0, 50.0, 60.0])
DAMPING = np.array([90.0, 80.0, 100.0, 8.0, 6.0, 7.0])
INERTIA = np.array([8.0, 10.0, 12.0, 0.6, 0.5, 0.4])
WRENCH = np.array([3.0, -4.0, -6.0, 0.2, -0.15, 0.25])


def acceleration(mech: sr.Mechanism, u: Array, q: Array, v: Array, wrench: Array) -> Array:
    """Acceleration (6,) of the box in the plant."""
    a = mech.forward_dynamics(q, v, u=u, external={"box": wrench}).a
    return np.asarray(mech.body_acceleration(q, v, a, "box"))


@pytest.mark.parametrize("direction", range(6))
def test_measured_stiffness_in_six_directions(direction: int) -> None:
    """At rest under a wrench along one axis: stiffness times displacement is the wrench, to 1%."""
    mech, grasp = held()
    wrench = 2.0 * WRENCH * np.eye(6)[direction]
    law = sc.ObjectImpedance(mech, grasp, stiffness=STIFFNESS, damping_ratio=1.0)
    done = run(mech, law, 2.0, wrench, dt=4e-3)
    track = law.solve(2.0, done.q[-1], done.v[-1])
    assert np.abs(done.v[-1]).max() < 1e-2
    felt = STIFFNESS * -track.errors
    assert felt[direction] == pytest.approx(wrench[direction], rel=0.01)
    others = np.delete(felt / np.repeat([10.0, 0.5], 3), direction)
    assert np.abs(others).max() < 0.01


@pytest.mark.parametrize("frame", ["world", "body"])
def test_a_wrench_in_all_directions_at_once(frame: str) -> None:
    """A stiffness that differs along the axes, and a force that is not along one of them, at rest.

    "split" in world axes: stiffness times displacement is the wrench. The other springs also feel that they
    are turned, by a moment of half of d x f or all of it.
    """
    mech, grasp = held()
    shares = {"world": {"split": 0.0, "screw": -0.5}, "body": {"split": 1.0, "screw": 0.5}}[frame]
    for error, share in shares.items():
        law = sc.ObjectImpedance(mech, grasp, None, STIFFNESS, damping_ratio=1.0, error=error, frame=frame)
        done = run(mech, law, 3.0, WRENCH, dt=4e-3)
        found = STIFFNESS * -law.solve(3.0, done.q[-1], done.v[-1]).errors
        place = mech.pose(done.q[-1], "box")
        shift = place.xyz - mech.pose(mech.default.q, "box").xyz
        turn = place.rotation if frame == "body" else np.eye(3)
        moment = WRENCH[3:] + share * np.cross(shift, WRENCH[:3])
        np.testing.assert_allclose(found[:3], turn.T @ WRENCH[:3], rtol=0.01)
        np.testing.assert_allclose(found[3:], turn.T @ moment, rtol=0.01)


@pytest.mark.parametrize("frame", ["world", "body"])
@pytest.mark.parametrize("error", ["screw", "split"])
def test_measured_stiffness_damping_and_inertia_at_once(error: str, frame: str) -> None:
    """The response to displacement, speed and wrench, each along six axes: eq. (7) with the own inertia."""
    mech, grasp = held()
    form = {"external": None, "error": error, "frame": frame}
    law = sc.ObjectImpedance(mech, grasp, None, STIFFNESS, DAMPING, **form)
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
        moved = sc.ObjectImpedance(mech, grasp, place, STIFFNESS, DAMPING, **form)
        a = acceleration(mech, moved.solve(0.0, q, v).u, q, v, np.zeros(6))
        np.testing.assert_allclose(inertia @ a / 1e-6, -STIFFNESS * unit, rtol=1e-3, atol=0.01)
        # along one axis the spring is linear however far it is: 5 cm, 0.3 rad
        axes = np.kron(np.eye(2), here.rotation if frame == "body" else np.eye(3))
        far = axes @ (np.repeat([0.05, 0.3], 3) * unit)
        place = sr.Pose(here.xyz - far[:3], matrix=exp(-far[3:]) @ here.rotation)
        moved = sc.ObjectImpedance(mech, grasp, place, STIFFNESS, DAMPING, **form)
        a = acceleration(mech, moved.solve(0.0, q, v).u, q, v, STIFFNESS[k] * far)
        np.testing.assert_allclose(a, 0.0, atol=1e-8)


@pytest.mark.parametrize("error", ["screw", "split"])
def test_measured_inertia_with_a_sensor(error: str) -> None:
    """With the wrench measured the box is a linear oscillator in each of six directions, eq. (7), (8)."""
    mech, grasp = held()
    law = sc.ObjectImpedance(
        mech,
        grasp,
        None,
        STIFFNESS,
        DAMPING,
        error=error,
        inertia=INERTIA,
        external=lambda t, q, v: 0.2 * WRENCH,
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


@pytest.mark.parametrize(("error", "share"), [("screw", 1.0), ("split", 0.0)])
def test_what_a_screw_adds_to_the_acceleration_of_the_place(error: str, share: float) -> None:
    """Moving and turning through its place: eq. (7) with x'' + w x v for "screw", with x'' for "split"."""
    mech, grasp = held()
    form = {"error": error, "inertia": INERTIA, "external": lambda t, q, v: np.zeros(6)}
    law = sc.ObjectImpedance(mech, grasp, None, STIFFNESS, DAMPING, **form)
    q, twist, h = np.array(mech.default.q), np.array([0.3, 0.1, -0.2, 0.5, -0.4, 0.6]), 1e-5
    N = sr.decompose(mech.terms(q, np.zeros(mech.nv)).J).N
    v = N @ np.linalg.lstsq(mech.jacobian(q, "box") @ N, twist, rcond=None)[0]
    a = mech.forward_dynamics(q, v, u=law.solve(0.0, q, v).u).a
    after, before = (mech.jacobian(mech.integrate(q, s * v), "box")[:3] @ (v + s * a) for s in (h, -h))
    turning = share * np.cross(twist[3:], twist[:3])
    wanted = -(DAMPING * twist / INERTIA)[:3] - turning
    np.testing.assert_allclose((after - before) / (2.0 * h), wanted, atol=1e-6)


@pytest.mark.parametrize("frame", ["world", "body"])
@pytest.mark.parametrize("error", ["screw", "split"])
def test_mass_and_spring_keep_their_energy(error: str, frame: str) -> None:
    """Without damping the box swings for ever, far from its place and turned, on the energy it began with."""
    mech, grasp = held()
    here = mech.pose(mech.default.q, "box")
    shift, turn = np.array([0.06, 0.05, -0.07]), exp(np.array([0.3, -0.4, 0.2]))
    goal = sr.Pose(here.xyz + shift, matrix=turn @ here.rotation)
    form = {"error": error, "frame": frame, "inertia": INERTIA, "external": lambda t, q, v: np.zeros(6)}
    law = sc.ObjectImpedance(mech, grasp, goal, STIFFNESS, 0.0 * DAMPING, **form)
    done = sr.simulate(mech, (0.0, 0.6), control=law, dt=2e-3)
    law.reset()
    found = [law.solve(*one) for one in zip(done.t, done.q, done.v, strict=True)]
    spring = [0.5 * one.errors @ (STIFFNESS * one.errors) for one in found]
    moving = [0.5 * one.error_rates @ (INERTIA * one.error_rates) for one in found]
    total = np.add(spring, moving)
    assert max(moving) > 0.8 * total[0]
    np.testing.assert_allclose(total, total[0], rtol=1e-6)


def test_the_way_back() -> None:
    """8 cm away and turned by half a radian across: split comes straight, screw on an arc of that angle."""
    mech, grasp = held()
    here = mech.pose(mech.default.q, "box")
    shift, angle = np.array([0.0, 0.0, 0.08]), 0.5
    goal = sr.Pose(here.xyz + shift, matrix=exp(np.array([angle, 0.0, 0.0])) @ here.rotation)
    gains = {"inertia": (10.0, 0.5), "stiffness": (500.0, 25.0), "damping": (120.0, 6.0)}
    aside = {}
    for error in ("screw", "split"):
        law = sc.ObjectImpedance(
            mech, grasp, goal, **gains, error=error, external=lambda t, q, v: np.zeros(6)
        )
        done = sr.simulate(mech, (0.0, 1.0), control=law, dt=4e-3)
        way = np.array([one.xyz for one in mech.pose(done.q, "box")]) - here.xyz
        assert way[-1, 2] > 0.07
        aside[error] = np.abs(way[:, :2]).max()
    assert aside["screw"] == pytest.approx(0.5 * 0.08 * np.tan(angle / 4.0), rel=0.01)
    assert aside["split"] < 1e-6


def test_elbows_rest_under_a_load_that_nobody_knows() -> None:
    """Motions that the box does not see are damped along directions that a wrench on it does not excite."""
    mech, grasp = held()
    law = sc.ObjectImpedance(mech, grasp, damping_ratio=1.0, external=None)
    done = run(mech, law, 2.5, 4.0 * WRENCH, dt=4e-3)
    assert np.abs(mech.difference(mech.default.q, done.q[-1])[:14]).max() > 0.05
    assert np.abs(done.v[-1]).max() < 1e-3


def test_default_damping_is_designed_about_the_reference() -> None:
    """The same wherever the reference is; in the axes of the object that of the world turned along."""
    mech, grasp = held()
    here = mech.pose(mech.default.q, "box")
    far = sr.Pose(here.xyz + np.array([0.1, 0.0, 0.1]), matrix=exp(np.array([0.5, 0.4, 0.0])) @ here.rotation)
    near, away = (sc.ObjectImpedance(mech, grasp, goal).damping for goal in (here, far))
    np.testing.assert_allclose(near, away, rtol=1e-12)
    own = sc.ObjectImpedance(mech, grasp, far, frame="body").damping
    both = np.kron(np.eye(2), here.rotation)
    np.testing.assert_allclose(both @ own @ both.T, near, rtol=1e-9, atol=1e-9)


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
    for other in (sr.library.dual_arm(), mech.with_(com={"box": (0.0, 0.0, 0.1)})):
        with pytest.raises(sr.SarrusError, match="belongs to another mechanism"):
            sc.ObjectImpedance(other, grasp)
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
    for sensor in (lambda t, q, v: 1.0 / 0.0, lambda t, q, v: np.zeros(5)):
        with pytest.raises(sr.InputError, match="external wrench"):
            sc.ObjectImpedance(mech, grasp, external=sensor).solve(0.0, *mech.default)
    blind = sc.ObjectImpedance(mech, grasp, external=lambda t, q, v: [np.nan] * 6).solve(0.0, *mech.default)
    assert blind.status == sc.Status.FAILED and "wrench is not finite" in blind.message
    failed = sc.ObjectImpedance(mech, grasp).solve(0.0, np.full(mech.nq, np.nan), np.zeros(mech.nv))
    assert failed.status == sc.Status.FAILED and np.isnan(failed.contact_forces).all()  # type: ignore[attr-defined]

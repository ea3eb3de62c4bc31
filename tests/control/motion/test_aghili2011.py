"""[Aghili2011] IV: two planar arms carry an object, mu = 0.2, vertical plane, gravity 9.81 along -y.

The object is cut at its centre as in the paper (`held="split"`), so the contact forces are
f = m/2 (x'' + g) +- lam: limits on multipliers and accelerations together.
"""

from __future__ import annotations

import numpy as np
import pytest

import sarrus as sr

C = sr.control

MU, HALF = 0.2, 3.5
GRAVITY = np.array([0.0, 9.81])
CENTRE = (0.2, 0.0, 0.0)  # of the object, on either hand


def path(t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    s3, c3, s6, c6 = np.sin(3 * t), np.cos(3 * t), np.sin(6 * t), np.cos(6 * t)
    return (
        np.array([0.4 + 0.1 * s3, 0.5 + 0.1 * s6]),
        np.array([0.3 * c3, 0.6 * c6]),
        np.array([-0.9 * s3, -3.6 * s6]),
    )


OUTPUTS = [C.Position("left3", CENTRE, "xy"), C.Coordinates({"left1": 1.0, "left2": 1.0, "left3": 1.0})]
REFERENCE = [path, 0.0]


@pytest.fixture(scope="module")
def arms() -> sr.Mechanism:
    mech = sr.library.dual_planar_arms()
    q = np.array(mech.default.q)
    J = np.vstack([mech.terms(q, np.zeros(6)).J, mech.jacobian(q, "left3", CENTRE)[:2], [[1, 1, 1, 0, 0, 0]]])
    v = np.linalg.lstsq(J, [0, 0, 0, 0.3, 0.6, 0], rcond=None)[0]
    return mech.with_default(q, v)


def friction(mech: sr.Mechanism, name: str, side: float) -> C.LinearLimits:
    """mu f_n - |f_t| >= 0 with f = HALF (x'' + g) + side lam; n points into the object, side x."""
    faces = np.array([[side * MU, 1.0], [side * MU, -1.0]])

    def lam(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        R = mech.pose(q, "left3").rotation[:2, :2]  # lam is in the axes of the left hand
        return np.column_stack([side * faces @ R, np.zeros(2)])

    def acceleration(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return HALF * faces @ mech.jacobian(q, "left3", CENTRE)[:2]

    def lower(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        bias = mech.body_acceleration(q, v, np.zeros(6), "left3", CENTRE)[:2]
        return -HALF * faces @ (bias + GRAVITY)

    return C.LinearLimits(name, lam=lam, a=acceleration, lower=lower)


def contact_forces(run: sr.Trajectory) -> tuple[np.ndarray, np.ndarray]:
    """Normal forces and margins mu f_n - |f_t| (n, 2) of both hands, from the simulated motion."""
    mech, normal, margin = run.system, [], []
    for q, v, a, lam in zip(run.q, run.v, run.a, run.lam, strict=True):
        x = mech.body_acceleration(q, v, a, "left3", CENTRE)[:2]
        R = mech.pose(q, "left3").rotation[:2, :2]
        inertial, internal = HALF * (x + GRAVITY), R @ lam[:2]
        f = np.array([inertial + internal, inertial - internal])
        f_n = np.array([f[0, 0], -f[1, 0]])
        normal.append(f_n)
        margin.append(MU * f_n - np.abs(f[:, 1]))
    return np.array(normal), np.array(margin)


def run_with(mech: sr.Mechanism, law: object, dt: float = 4e-3) -> sr.Trajectory:
    return sr.simulate(mech, (0.0, 2.2), control=law, dt=dt, control_dt=dt)


@pytest.fixture(scope="module")
def limited(arms: sr.Mechanism) -> sr.Trajectory:
    limits = [friction(arms, "left", 1.0), friction(arms, "right", -1.0)]
    law = C.ForceLimits(arms, OUTPUTS, REFERENCE, limits, kp=400.0, kd=40.0)
    run = run_with(arms, law)
    assert run.success and law.last is not None and law.last.qp.variables == 3
    return run


def test_contact_forces_stay_inside_the_cone_at_all_times(limited: sr.Trajectory) -> None:
    normal, margin = contact_forces(limited)
    assert normal.min() > 10.0
    assert margin.min() > -1e-6 * normal.max()
    assert np.median(margin.min(axis=1)) < 1e-6 * normal.max()  # and no more than needed: always on the cone


def test_tracking_is_exact(arms: sr.Mechanism) -> None:
    limits = [friction(arms, "left", 1.0), friction(arms, "right", -1.0)]
    law = C.ForceLimits(arms, OUTPUTS, REFERENCE, limits, kp=400.0, kd=40.0)
    run = sr.simulate(arms, (0.0, 0.3), control=law, dt=2e-3)
    x = np.array([arms.pose(q, "left3").apply(CENTRE)[:2] for q in run.q])
    assert np.abs(x - np.array([path(t)[0] for t in run.t])).max() < 1e-8


def test_without_limits_the_object_would_be_dropped(arms: sr.Mechanism) -> None:
    run = run_with(arms, C.ProjectedInverseDynamics(arms, OUTPUTS, REFERENCE, kp=400.0, kd=40.0))
    normal, margin = contact_forces(run)
    assert margin.min() < -50.0 and normal.min() < 10.0


def test_less_torque_than_the_smallest_constant_squeeze_at_all_times(
    arms: sr.Mechanism, limited: sr.Trajectory
) -> None:
    def squeezed(s: float) -> sr.Trajectory:
        force = {"grip": [s, 0.0], "grip.angle": 0.0}
        return run_with(arms, C.HybridForceMotion(arms, OUTPUTS, REFERENCE, force, kp=400.0, kd=40.0))

    # margins grow by mu per newton of squeeze: one run tells how much is needed
    _, margin = contact_forces(squeezed(30.0))
    assert margin.min() < 0.0  # the paper's 30 N slips
    least = 30.0 - margin.min() / MU
    run = squeezed(least)
    _, margin = contact_forces(run)
    assert abs(margin.min()) < 1e-3 * least
    ours, theirs = (np.linalg.norm(r.u, axis=1) for r in (limited, run))
    assert np.all(ours < theirs + 1e-6)
    assert np.mean(theirs) / np.mean(ours) > 1.05


def test_the_printed_law_misses_and_the_corrected_one_does_not(arms: sr.Mechanism) -> None:
    """Eq. (13): pinv(Lambda) in place of pinv(Lambda P), and the normal acceleration is missing."""
    q, v = map(np.array, arms.default)
    terms = arms.terms(q, v)
    found = C.ProjectedInverseDynamics(arms, OUTPUTS, REFERENCE, kp=400.0).solve(0.3, q, v)
    L, wanted = found._task.J, found._task.wanted
    P = sr.decompose(terms.J).P
    pinv = np.linalg.pinv
    Cq = pinv(terms.J) @ terms.gamma
    printed = P @ (terms.h + terms.M @ pinv(L) @ wanted)
    corrected = P @ (terms.h + terms.M @ (pinv(L @ P) @ (wanted - L @ Cq) + Cq))
    np.testing.assert_allclose(found.tau, corrected, rtol=1e-9)
    missed = [np.abs(L @ arms.acceleration(q, v, tau) - wanted).max() for tau in (printed, corrected)]
    assert missed[0] > 0.1 and missed[1] < 1e-9

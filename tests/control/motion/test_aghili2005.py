"""[Aghili2005] VIII-B and IX: the slider-crank and the 3R arm on a slider. Oracle: closed forms of the paper.

The paper gives neither gravity, horizon, reference profile nor arm, so Tables I and II are reproduced as
orders: gravity 9.81 along -y (slider-crank), set-point, 1.6 s; the arm of the library in a horizontal plane
with geared motors of 0.1 kg m^2 each (the paper's have gears, and their inertia is what makes a stiff arm
squeeze), 2 s.
"""

from __future__ import annotations

import numpy as np
import pytest

import sarrus as sr

C = sr.control


def rms(run: sr.Trajectory) -> float:
    return float(np.sqrt(np.trapezoid((run.u**2).sum(axis=1), run.t) / (run.t[-1] - run.t[0])))


@pytest.fixture(scope="module")
def crank_runs() -> dict[str, sr.Trajectory]:
    mech = sr.library.slider_crank()
    q0 = mech.assemble([np.pi / 6, 2 * np.pi - np.pi / 3]).q
    gains = {"kp": 25.0, "kd": 10.0}
    laws = {
        "two": C.ProjectedInverseDynamics(mech, "crank", np.pi / 3, **gains),
        "one": C.ProjectedInverseDynamics(mech, "crank", np.pi / 3, **gains, actuated=["crank"]),
        "hybrid": C.HybridForceMotion(mech, "crank", np.pi / 3, {"slider": 0.0}, **gains, kf=1.0, ki=20.0),
    }
    return {name: sr.simulate(mech, (0.0, 1.6), q0, control=law, dt=4e-3) for name, law in laws.items()}


def test_errors_decay_as_designed(crank_runs: dict[str, sr.Trajectory]) -> None:
    for run in crank_runs.values():
        expected = np.pi / 6 * (1.0 + 5.0 * run.t) * np.exp(-5.0 * run.t)
        np.testing.assert_allclose(np.pi / 3 - run.q[:, 0], expected, atol=1e-8)


def test_torques_are_ordered_and_their_ratio_is_the_root_of_five(
    crank_runs: dict[str, sr.Trajectory],
) -> None:
    two, one, hybrid = (np.linalg.norm(crank_runs[k].u, axis=1) for k in ("two", "one", "hybrid"))
    np.testing.assert_allclose(one, np.sqrt(5.0) * two, rtol=1e-7)
    assert np.all(crank_runs["one"].u[:, 1] == 0.0)
    assert rms(crank_runs["two"]) < rms(crank_runs["one"]) < rms(crank_runs["hybrid"])
    assert np.all(two <= hybrid + 1e-9)
    assert np.abs(crank_runs["hybrid"].lam).max() < 1e-8
    assert np.abs(crank_runs["two"].lam).max() > 10.0


def test_closed_form_of_the_law(crank_runs: dict[str, sr.Trajectory]) -> None:
    """Eq. (71), (72) corrected: velocity terms in q1'^2."""
    for name in ("two", "hybrid"):
        run = crank_runs[name]
        q1, w = run.q[:, 0], run.v[:, 0]
        c1, c2, s2 = np.cos(q1), np.cos(2 * q1), -np.sin(2 * q1)
        u1 = -10.0 * w + 25.0 * (np.pi / 3 - q1)
        tangent = (3.0 - 2.0 * c2) / 5.0 * u1 + 9.81 * c1 / 5.0 - 2.0 / 5.0 * s2 * w**2
        P = np.array([[0.2, -0.4], [-0.4, 0.8]])
        np.testing.assert_allclose((run.u @ P)[:, 0], tangent, atol=1e-9)
        np.testing.assert_allclose((run.u @ P)[:, 1], -2.0 * tangent, atol=1e-9)


@pytest.fixture(scope="module")
def arm_runs() -> dict[str, sr.Trajectory]:
    mech = sr.library.three_r_on_slider().with_(armature={f"link{i}": 0.1 for i in (1, 2, 3)})
    hand, angle = (0.1, 0.0, 0.0), C.Coordinates({"link1": 1.0, "link2": 1.0, "link3": 1.0})
    path, gains = C.Sinusoid(-0.075, 0.225, np.pi, np.pi / 9), {"kp": 480.0, "kd": 45.0}
    free, plain = [C.Position("link3", hand, "x"), angle], [C.Position("link3", hand, "xy"), angle]

    def believed(t: float) -> tuple[np.ndarray, ...]:
        """The path at a height that is wrong by 10 mm."""
        x, v, a = path(t)
        return np.array([x[0], -0.26]), np.array([v[0], 0.0]), np.array([a[0], 0.0])

    laws = {
        "PIDC": C.ProjectedInverseDynamics(mech, free, [path, 0.0], **gains),
        "hybrid": C.HybridForceMotion(mech, free, [path, 0.0], {"slider": 0.0}, **gains, kf=3.0, ki=0.1),
        "IDC": C.ProjectedInverseDynamics(mech, plain, [believed, 0.0], **gains, active=[]),
    }
    q = mech.default.q
    rows = np.vstack([mech.terms(q, np.zeros(3)).J, mech.jacobian(q, "link3", hand)[:1], [[1.0, 1.0, 1.0]]])
    v = np.linalg.solve(rows, [0.0, path(0.0).v[0], 0.0])
    return {
        name: sr.simulate(mech, (0.0, 2.0), q, v, control=law, dt=4e-3, control_dt=4e-3)
        for name, law in laws.items()
    }


def test_plain_inverse_dynamics_squeezes_and_projected_does_not(arm_runs: dict[str, sr.Trajectory]) -> None:
    settled = {name: np.abs(run.lam[run.t > 0.5, 0]).max() for name, run in arm_runs.items()}
    assert settled["hybrid"] < 0.05 < settled["PIDC"] < 0.5 * settled["IDC"]
    for run in arm_runs.values():
        late = run.t > 1.0
        x = np.array([run.system.pose(q, "link3").apply((0.1, 0.0, 0.0))[0] for q in run.q[late]])
        wanted = -0.075 + 0.225 * np.sin(np.pi * run.t[late] + np.pi / 9)
        assert np.abs(x - wanted).max() < 3e-3


def test_torque_norms_are_ordered_as_in_table_two(arm_runs: dict[str, sr.Trajectory]) -> None:
    assert rms(arm_runs["PIDC"]) < rms(arm_runs["hybrid"]) < rms(arm_runs["IDC"])
    peak = {name: np.abs(run.u).max() for name, run in arm_runs.items()}
    assert peak["PIDC"] < peak["hybrid"] < peak["IDC"]

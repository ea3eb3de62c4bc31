"""Cam: lift, forces and torque of a harmonic cam against closed forms."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import sarrus as sr
from sarrus.errors import InputError, ModelError

ANGLES = np.linspace(0.0, 2 * math.pi, 72, endpoint=False)
LIFT, MASS, SPEED = 0.01, 0.4, 30.0


def cam() -> sr.Mechanism:
    """A follower of 0.4 kg that rises by s = h (1 - cos) / 2, pressed by gravity."""
    spec = sr.MechanismSpec(gravity=(0.0, 0.0, -9.81), name="cam")
    spec.body("shaft", joint=sr.Revolute("y"), mass=1.0, inertia=(1e-3, 1e-3, 1e-3))
    spec.body("rod", joint=sr.Prismatic("z"), mass=MASS)
    spec.constrain("groove", sr.Cam("rod", "shaft", ANGLES, LIFT * (1 - np.cos(ANGLES)) / 2))
    spec.constrain("motor", sr.Drive("shaft", lambda t: SPEED * t, lambda t: SPEED, lambda t: 0.0))
    spec.measure("push", sr.ForceIn("groove")).measure("torque", sr.ForceIn("motor"))
    return spec.compile()


def test_harmonic_cam_at_constant_speed() -> None:
    """F = m (g + w^2 h cos / 2), torque F h sin / 2; the spline of 72 points is good to 1e-6 of the lift."""
    run = sr.simulate(cam(), (0.0, 0.4), rtol=1e-9)
    angle = SPEED * run.t
    assert run.q[:, 1] == pytest.approx(LIFT * (1 - np.cos(angle)) / 2, abs=1e-6 * LIFT)
    force = MASS * (9.81 + SPEED**2 * LIFT * np.cos(angle) / 2)
    assert run["push"] == pytest.approx(force, rel=2e-3)
    assert run["torque"] == pytest.approx(force * LIFT * np.sin(angle) / 2, abs=2e-3 * LIFT * force.max())


def test_profile_goes_on_turn_after_turn() -> None:
    mech = cam()
    q = [
        mech.assemble([x, 0.0], {"shaft": x}, t=x / SPEED).q[1]
        for x in (0.7, 0.7 + 2 * math.pi, 0.7 - 4 * math.pi)
    ]
    assert q == pytest.approx([q[0]] * 3, abs=1e-12)


def heavy_cam() -> tuple[sr.Mechanism, np.ndarray, np.ndarray]:
    """A cam on an eccentric shaft, its follower an arm, with a second follower; a state with speed."""
    spec = sr.MechanismSpec(gravity=(0.3, -9.81, 0.0), name="heavy_cam")
    spec.body("shaft", joint=sr.Revolute("z"), mass=1.0, com=(0.02, 0.01, 0.0), inertia=(1e-3, 1e-3, 2e-3))
    spec.body("arm", joint=sr.Revolute("z"), at=sr.Pose((0.2, 0.0, 0.0)), mass=0.5, com=(-0.1, 0, 0),
              inertia=(1e-3, 1e-3, 2e-3))  # fmt: skip
    spec.body("rod", parent="arm", joint=sr.Prismatic("x"), mass=0.2)
    x = np.array([0.3, 0.9, 2.0, 2.8, 3.9, 4.4, 5.6])
    spec.constrain("first", sr.Cam("arm", "shaft", x, 0.2 * np.sin(x) + 0.05 * np.cos(2 * x)))
    spec.constrain("second", sr.Cam("rod", "shaft", x + 0.1, 0.02 * np.cos(x)))
    spec.force("spring", sr.JointSpring("rod", 50.0))
    mech = spec.compile()
    q = mech.assemble(mech.neutral(), {"shaft": 8.0}).q
    return mech, q, mech.consistent_velocity(q, fixed={"shaft": 3.0})


def test_the_spline_is_that_of_scipy() -> None:
    x = np.array([0.3, 0.9, 2.0, 2.8, 3.9, 4.4, 5.6])
    mech, *_ = heavy_cam()
    y = 0.2 * np.sin(x) + 0.05 * np.cos(2 * x)
    spline = CubicSpline(np.append(x, x[0] + 2 * math.pi), np.append(y, y[0]), bc_type="periodic")
    for angle in (*x, 0.2, 6.2, 3.0, 0.3 + 2 * math.pi):
        terms = mech.terms([angle, 0.0, 0.0], [1.0, 0.0, 0.0])
        at = 0.3 + (angle - 0.3) % (2 * math.pi)
        assert terms.phi[0] == pytest.approx(-spline(at), abs=1e-14)
        assert terms.J[0, 0] == pytest.approx(-spline(at, 1), abs=1e-13)
        assert terms.gamma[0] == pytest.approx(spline(at, 2), abs=1e-12)


def test_linear_models_of_cams() -> None:
    """Closed form, dual numbers and differences give one matrix, at speed, away from equilibrium."""
    mech, q, v = heavy_cam()
    found = {
        method: sr.linearize(mech, q, v, u=[0.3, 0.1, -0.2], method=method).A
        for method in ("analytic", "dual", "finite_difference")
    }
    np.testing.assert_allclose(found["analytic"], found["dual"], rtol=1e-11, atol=1e-9)
    np.testing.assert_allclose(found["analytic"], found["finite_difference"], rtol=1e-6, atol=1e-5)


def test_compiled_runs_of_cams() -> None:
    """Energy is kept; explicit and implicit runs, rollouts and single runs agree."""
    mech, q, v = heavy_cam()
    runs = [sr.simulate(mech, (0.0, 1.0), q, v, method=m) for m in ("dopri5", "radau")]
    for run in runs:
        assert run.success and np.ptp(run.energy) < 1e-6
    np.testing.assert_allclose(runs[0].q[-1], runs[1].q[-1], atol=1e-5)
    many = sr.rollout(mech, np.tile(q, (5, 1)), np.tile(v, (5, 1)), dt=1e-3, steps=200)
    alone = sr.simulate(mech, (0.0, 0.2), q, v, method="rk4", dt=1e-3)
    np.testing.assert_allclose(many.q[:, -1], np.tile(alone.q[-1], (5, 1)), atol=1e-12)


def test_derivatives_where_cams_are_redundant() -> None:
    """Two cams that say the same: multipliers of least norm turn with the pose."""
    spec = sr.MechanismSpec(gravity=(0.0, 0.0, -9.81))
    spec.body("shaft", joint=sr.Revolute("y"), mass=1.0, com=(0.1, 0.0, 0.0), inertia=(1e-3, 1e-3, 1e-3))
    spec.body("rod", joint=sr.Prismatic("z"), mass=MASS)
    for name in ("one", "two"):
        spec.constrain(name, sr.Cam("rod", "shaft", ANGLES, LIFT * (1 - np.cos(ANGLES)) / 2))
    mech = spec.compile()
    q = mech.assemble(mech.neutral(), {"shaft": 1.0}).q
    v = mech.consistent_velocity(q, fixed={"shaft": 2.0})
    exact, differences = (
        sr.linearize(mech, q, v, outputs=None, method=m).A for m in ("analytic", "finite_difference")
    )
    np.testing.assert_allclose(exact, differences, rtol=1e-6, atol=1e-6)


def test_parameters_of_a_profile() -> None:
    """Lifts and angles that follow parameters: variants made together are those made alone."""
    spec = sr.MechanismSpec(gravity=(0, 0, 0))
    lift, shift = spec.parameter("lift", 0.01), spec.parameter("shift", 0.1)
    spec.body("shaft", joint=sr.Revolute("y"), mass=1.0, inertia=(1e-3, 1e-3, 1e-3))
    spec.body("rod", joint=sr.Prismatic("z"), mass=MASS)
    angles = [x + shift for x in ANGLES[::6]]
    spec.constrain("groove", sr.Cam("rod", "shaft", angles, [lift * (1 - np.cos(x)) for x in ANGLES[::6]]))
    mech = spec.compile()
    values = {"lift": [0.01, 0.02, 0.03], "shift": [0.1, 0.0, -0.2]}
    for one, (h, s) in zip(mech.variants(values), zip(*values.values(), strict=True), strict=True):
        alone = mech.with_(lift=h, shift=s)
        np.testing.assert_array_equal(one.model.knots, alone.model.knots)
        assert one.assemble(one.neutral(), {"shaft": math.pi + s}).q[1] == pytest.approx(2 * h, rel=1e-12)


@pytest.mark.parametrize(
    ("angles", "lifts", "message"),
    [
        (
            (0.0, 1.0, 2.0),
            (0.0, 1.0, 0.0),
            "at least 4: with fewer points a cam has no curvature; got 3 and 3",
        ),
        ((0.0, 1.0, 0.5, 2.0), (0.0, 1.0, 0.0, 0.0), "must increase and lie within one turn"),
        ((0.0, 2.0, 4.0, 6.5), (0.0, 1.0, 0.0, 0.0), "must increase and lie within one turn"),
    ],
)
def test_bad_profiles(angles: Any, lifts: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        sr.Cam("rod", "shaft", angles, lifts)
    with pytest.raises(InputError, match="two coordinates"):
        sr.Cam("rod", "rod", ANGLES, ANGLES)
    with pytest.raises(
        InputError, match=r"lifts of Cam are all 0\.02: .* Coupling\({'rod': 1\.0}, offset=0\.02\)"
    ):
        sr.Cam("rod", "shaft", ANGLES, np.full(72, 0.02))


def test_cam_and_follower_that_are_swapped() -> None:
    spec = sr.MechanismSpec().body("shaft", joint=sr.Revolute("y"), mass=1.0, inertia=(1e-3, 1e-3, 1e-3))
    spec.body("rod", joint=sr.Prismatic("z"), mass=MASS)
    spec.constrain("groove", sr.Cam("shaft", "rod", ANGLES, np.sin(ANGLES)))
    with pytest.raises(ModelError, match=r"'rod' is a displacement.*Cam\('rod', 'shaft', \.\.\.\)\?"):
        spec.compile()


@pytest.mark.parametrize("count", [12, 36, 72])
def test_kinks_and_jumps_of_a_profile_warn(count: int) -> None:
    """A triangle and a step, past which their splines swing; dwells with smooth rises do not."""
    x = np.linspace(0.0, 2 * math.pi, count, endpoint=False)
    for lifts, what in (
        (0.02 * (1.0 - abs(x - math.pi) / math.pi), "kink at the angle (0|3.142) rad"),
        (np.where(x < math.pi - 0.01, 0.0, 0.02), "jump at the angle"),
    ):
        with pytest.warns(sr.SarrusWarning, match=what):
            sr.Cam("rod", "shaft", x, lifts)
        spline = CubicSpline(np.append(x, 2 * math.pi), np.append(lifts, lifts[0]), bc_type="periodic")
        fine = spline(np.linspace(0.0, 2 * math.pi, 2000))
        polygon = np.interp(np.linspace(0.0, 2 * math.pi, 2000), x, lifts, period=2 * math.pi)
        assert np.max(np.abs(fine - polygon)) > 1e-3 * 0.02


@pytest.mark.parametrize("count", [24, 36, 90])
def test_smooth_profiles_do_not_warn(count: int) -> None:
    """Harmonics, and rises of 3-4-5 polynomials between dwells, at even and uneven angles."""
    even = np.linspace(0.0, 2 * math.pi, count, endpoint=False)
    rng = np.random.default_rng(5)
    uneven = np.sort(even + 0.3 * (even[1] - even[0]) * rng.uniform(-1, 1, count))

    def rise(s: Any) -> Any:
        s = np.clip(s, 0.0, 1.0)
        return s**3 * (10 - 15 * s + 6 * s * s)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for x in (even, uneven):
            for phase in np.linspace(0.0, 6.0, 13):
                sr.Cam("rod", "shaft", x, 0.01 * np.cos(x + phase))
                sr.Cam("rod", "shaft", x, 0.01 * np.cos(4 * x + phase))
                turned = (x + phase) % (2 * math.pi)
                sr.Cam("rod", "shaft", x, 0.01 * (rise(turned / 2) - rise((turned - 3) / 2)))

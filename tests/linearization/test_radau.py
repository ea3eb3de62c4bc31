"""method="radau": the stiff governor, constrained and rolling systems, inputs from Python, user systems."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sarrus as sr
from tests.reference.data import table

from .mechanisms import HINGE

TIGHT = {"method": "dopri5", "rtol": 1e-11, "atol": 1e-13}


def distance(mech: Any, one: sr.Trajectory, other: sr.Trajectory) -> float:
    """Largest difference of the last states, relative to their size."""
    dq = mech.difference(one.q[-1], other.q[-1])
    dv = (one.v[-1] - other.v[-1]) / max(1.0, float(np.max(np.abs(other.v[-1]))))
    return float(np.max(np.abs(np.concatenate([dq, dv]))))


def test_flyball_governor_meets_the_reference() -> None:
    """Six printed digits; a tenth of the evaluations of the explicit method of the same order."""
    t, s = table("a05_flyball").T
    mech = sr.library.flyball_governor()
    radau, finite, explicit = (
        sr.simulate(mech, (0.0, 3.0), t_eval=t, **options)
        for options in (
            {"method": "radau"},
            {"method": "radau", "jacobian": "finite_difference"},
            {"method": "dopri5"},
        )
    )
    for run in (radau, finite, explicit):
        assert run.success and np.max(np.abs(run.q[:, 1] - s)) < 1.3e-6
    assert np.max(np.abs(radau.q - finite.q)) < 1e-8
    assert radau.nfev < 0.6 * finite.nfev and radau.nfev < 0.12 * explicit.nfev
    coarse = sr.simulate(mech, (0.0, 3.0), t_eval=t, method="radau", rtol=1e-6, atol=1e-8)
    assert np.max(np.abs(coarse.q[:, 1] - s)) < 2e-6 and coarse.nfev < 2000


def test_stiffness_does_not_cost_steps() -> None:
    """A hundred times stiffer: about as many steps, where an explicit method needs a hundred times more."""
    options = {"method": "radau", "rtol": 1e-5, "atol": 1e-7}
    runs = [
        sr.simulate(sr.library.flyball_governor(8e5 * k, 4e4 * k), (0.0, 1.0), **options)
        for k in (1.0, 100.0)
    ]
    assert runs[1].success and len(runs[1]) < 3 * len(runs[0])


@pytest.mark.parametrize(
    ("name", "span", "tol"),
    [
        ("four_bar", 0.5, 1e-7),
        ("dual_arm", 0.2, 1e-7),
        ("bricard", 1.0, 1e-8),
        ("rolling_disk", 0.5, 1e-7),
        ("dual_arm_box", 0.1, 1e-8),
        ("n_four_bar", 1.5, 1e-7),
        ("five_bar", 0.5, 1e-6),
    ],
)
def test_on_the_manifold(name: str, span: float, tol: float) -> None:
    """Loops, redundant rows, rolling, quaternions; through singular poses and from one."""
    mech = sr.library.MECHANISMS[name]()
    run = sr.simulate(mech, (0.0, span), method="radau", rtol=1e-7, atol=1e-9)
    assert run.success and np.max(run.drift) < 1e-12 * mech.length and np.max(run.velocity_drift) < 1e-11
    assert distance(mech, run, sr.simulate(mech, (0.0, span), **TIGHT)) < 100 * tol


def test_error_follows_the_tolerance_at_order_five() -> None:
    mech = sr.library.bricard()
    exact = sr.simulate(mech, (0.0, 1.0), **TIGHT)
    errors, steps = [], []
    for rtol in (1e-4, 1e-6):
        run = sr.simulate(mech, (0.0, 1.0), method="radau", rtol=rtol, atol=rtol / 100)
        errors.append(distance(mech, run, exact))
        steps.append(len(run))
    order = np.log(errors[0] / errors[1]) / np.log(steps[1] / steps[0])
    assert errors[1] < 1e-6 and order > 4.5


def test_driven_joint_and_custom_rows() -> None:
    def spec(row: Any) -> sr.Mechanism:
        made = sr.MechanismSpec(gravity=(0, -9.81, 0))
        made.body("cart", joint=sr.Prismatic("x"), mass=1.0)
        made.body(
            "rod", parent="cart", joint=sr.Revolute("z"), mass=1.0, com=(0, -1, 0), inertia=(0.1, 0.1, 0.1)
        )
        made.constrain("shake", row)
        return made.compile()

    driven = spec(sr.Drive("cart", lambda t: 0.1 * np.sin(3 * t)))
    custom = spec(sr.CustomConstraint(lambda q, t: np.array([q[0] - 0.1 * np.sin(3 * t)]), 1))
    for mech in (driven, custom):
        v0 = mech.consistent_velocity([0.0, 0.3])
        run = sr.simulate(mech, (0.0, 1.0), [0.0, 0.3], v0, method="radau", rtol=1e-6, atol=1e-8)
        again = sr.simulate(driven, (0.0, 1.0), [0.0, 0.3], v0, **TIGHT)
        assert run.success and distance(driven, run, again) < 1e-5


def test_stiff_controller() -> None:
    """A gain of 1e6 at every stage: the iteration sees it, and steps stay long."""
    mech = sr.library.four_bar()
    q0 = mech.default.q

    def hold(t: float, q: np.ndarray, v: np.ndarray) -> list[float]:
        return [-1e6 * (q[0] - q0[0]) - 1e4 * v[0]]

    run = sr.simulate(mech, (0.0, 1.0), control=hold, method="radau", dt=1.0, rtol=1e-5, atol=1e-8)
    assert run.success and len(run) < 60 and np.max(np.abs(run.q[-1] - q0)) < 1e-4


def test_sampled_controller_ends_steps_at_samples() -> None:
    mech = sr.library.pendulum()
    times: list[float] = []

    def push(t: float, q: np.ndarray, v: np.ndarray) -> list[float]:
        times.append(t)
        return [np.sin(7 * t)]

    run = sr.simulate(mech, (0.0, 1.0), control=push, control_dt=0.1, method="radau")
    np.testing.assert_allclose(times[:10], 0.1 * np.arange(10), atol=1e-12)
    assert all(np.min(np.abs(run.t - t)) < 1e-12 for t in times[:10])
    compare = sr.simulate(mech, (0.0, 1.0), control=push, control_dt=0.1, **TIGHT)
    assert distance(mech, run, compare) < 1e-6


def test_custom_system() -> None:
    """A pendulum in Cartesian coordinates, written as functions."""
    system = sr.CustomSystem(
        2,
        2,
        M=np.eye(2),
        h=[0.0, 9.81],
        phi=lambda q, v, t: np.array([q @ q - 1.0]),
        J=lambda q, v, t: 2 * q[None],
        gamma=lambda q, v, t: np.array([-2 * v @ v]),
    )
    span, options = (0.0, 2.3678419475762374), {"method": "radau", "rtol": 1e-6, "atol": 1e-8}
    run = sr.simulate(system, span, [-1.0, 0.0], [0.0, 0.0], **options)
    assert run.success and np.max(np.abs(run.q[-1] - [-1.0, 0.0])) < 1e-5


def test_custom_rows_that_restrict_velocities_only() -> None:
    """A skate on a slope: its positions stay three, though its velocities are two."""
    skate = sr.CustomSystem(
        3,
        3,
        M=np.diag([1.0, 1.0, 0.1]),
        h=[0.0, 3.0, 0.0],
        J=lambda q, v, t: np.array([[-np.sin(q[2]), np.cos(q[2]), 0.0]]),
        nc=1,
    )
    start = [0.0, 0.0, 0.2], [np.cos(0.2), np.sin(0.2), 2.0]
    run, exact = (
        sr.simulate(skate, (0.0, 2.0), *start, **options) for options in ({"method": "radau"}, TIGHT)
    )
    assert run.success and np.max(np.abs(run.q[-1] - exact.q[-1])) < 1e-8


@pytest.mark.parametrize("rtol", [1e-5, 1e-8, 1e-9])
def test_across_a_singular_pose_at_any_tolerance(rtol: float) -> None:
    """A four-bar that folds flat at 0.624 s, a light ball on its coupler: no step creeps up to the pose."""
    spec = sr.MechanismSpec(gravity=(0, -9.81, 0), name="folding four-bar")
    spec.body("crank", joint=HINGE, mass=1.0, com=(0.25, 0, 0), inertia=(0.01,) * 3)
    at = sr.Pose((0.5, 0, 0))
    spec.body("coupler", parent="crank", joint=HINGE, at=at, mass=1.0, com=(0.45, 0, 0), inertia=(0.01,) * 3)
    spec.body("rocker", joint=HINGE, at=sr.Pose((1.0, 0, 0)), mass=1.0, com=(0.3, 0, 0), inertia=(0.1,) * 3)
    ball = {"mass": 1e-3, "com": (0, 0.1, 0.02), "inertia": (1e-5, 2e-5, 1.5e-5)}
    spec.body("ball", parent="coupler", joint=sr.Spherical(), at=sr.Pose((0.4, 0, 0)), **ball)
    spec.close("pin", "coupler", "rocker", HINGE, sr.Pose((0.9, 0, 0)), sr.Pose((0.6, 0, 0)))
    mech = spec.compile()
    q0 = mech.assemble([1.0, -0.5, 1.5, 0.0, 0.0, 0.0, 1.0]).q
    v0 = mech.consistent_velocity(q0, np.linspace(-1, 1, mech.nv))
    run = sr.simulate(mech, (0.0, 1.0), q0, v0, method="radau", rtol=rtol, atol=rtol / 100)
    assert run.success and len(run) < 2000
    assert distance(mech, run, sr.simulate(mech, (0.0, 1.0), q0, v0, **TIGHT)) < 3 * rtol + 1e-8


def test_events_and_failures() -> None:
    mech = sr.library.pendulum()

    def bottom(t: float, q: np.ndarray, v: np.ndarray) -> float:
        return float(v[0]) if t > 0.1 else 1.0

    bottom.terminal = True  # type: ignore[attr-defined]
    run = sr.simulate(mech, (0.0, 5.0), method="radau", events=bottom)
    assert run.status == 1 and abs(run.v[-1, 0]) < 1e-6

    def broken(t: float, q: np.ndarray, v: np.ndarray) -> list[float]:
        if t > 0.2:
            raise RuntimeError("cable cut")
        return [0.0]

    stopped = sr.simulate(mech, (0.0, 1.0), method="radau", control=broken)
    assert stopped.status == -3 and "cable cut" in stopped.message and 0.1 < stopped.t[-1] < 0.21


@pytest.mark.parametrize(
    ("options", "pattern"),
    [
        ({"correction": "none"}, "correction='project' only, got 'none'"),
        ({"formulation": "svd"}, "formulation='nullspace' only, got 'svd'"),
        ({"energy": True}, "energy=False only, got True"),
        ({"jacobian": "guess"}, 'jacobian must be one of "analytic", "finite_difference"; got'),
    ],
)
def test_refusals(options: dict[str, Any], pattern: str) -> None:
    with pytest.raises(sr.InputError, match=pattern):
        sr.simulate(sr.library.pendulum(), (0.0, 1.0), method="radau", **options)


def test_same_bits_again() -> None:
    mech = sr.library.dual_arm()
    one, two = (sr.simulate(mech, (0.0, 0.05), method="radau") for _ in range(2))
    np.testing.assert_array_equal(one.q, two.q)

"""What a run that failed says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sarrus as sr


@pytest.mark.parametrize("method", ["auto", "dopri5", "radau"])
def test_a_drive_beyond_reach_is_named(method: str) -> None:
    """A slider that is pulled further than crank and rod are long: 0.1.0 spoke of tolerances alone."""
    spec = sr.MechanismSpec(gravity=(0, 0, 0))
    spec.body("crank", joint=sr.Revolute("z"), mass=1.0, com=(0.5, 0, 0), inertia=(1, 1, 1))
    spec.body("rod", "crank", joint=sr.Revolute("z"), at=sr.Pose((1, 0, 0)), mass=1.0, com=(1, 0, 0))
    spec.body("slider", joint=sr.Prismatic("x"), mass=1.0)
    spec.close("pin", "rod", "slider", joint=sr.Revolute("z"), at_a=sr.Pose((2.0, 0, 0)))
    spec.constrain("feed", sr.Drive("slider", lambda t: 2.5 + t, lambda t: 1.0, lambda t: 0.0))
    mech = spec.compile()
    run = sr.simulate(mech, (0, 1), mech.assemble([0.5, -0.7, 2.5]).q, method=method)
    assert not run.success
    assert run.t[-1] == pytest.approx(0.5, abs=1e-3)  # 1 m + 2 m
    assert "next to a singular pose" in run.message
    assert "driven by 'feed'" in run.message


def test_other_failures_say_nothing_of_drives() -> None:
    spec = sr.MechanismSpec(gravity=(0, 0, 0))
    spec.body("slider", joint=sr.Prismatic("x"), mass=1.0)
    run = sr.simulate(
        spec.compile(), (0, 2), [0.0], [1.0], tau=lambda t, q, v: np.minimum(v, 1e150) ** 2, method="dopri5"
    )
    assert not run.success  # v = 1 / (1 - t)
    assert "singular pose" not in run.message


def off_every_branch(distance: float) -> tuple[sr.Mechanism, np.ndarray, np.ndarray]:
    """A five-bar this far [rad] from its flat pose, with a velocity across the branches through that."""
    mech, rng = sr.library.five_bar(), np.random.default_rng(1)
    _, v = mech.project(mech.default.q, rng.normal(size=mech.nv))
    return mech, *mech.project(mech.integrate(mech.default.q, distance * rng.normal(size=mech.nv)), v)


@pytest.mark.parametrize("distance", [0.0, 1e-12, 1e-10])
@pytest.mark.parametrize("method", ["auto", "dopri5"])
def test_a_velocity_on_no_branch_is_named(distance: float, method: str) -> None:
    """0.1.0 spoke of tolerances alone; 1e-10 rad from the pose it took steps of 1e-16 s without end."""
    mech, q, v = off_every_branch(distance)
    run = sr.simulate(mech, (0, 1), q, v, method=method)
    assert not run.success and len(run.t) < 5000
    assert "no motion through it has this velocity" in run.message and "mech.branches(q0)" in run.message
    branch = mech.branches(mech.default.q)[0]
    assert sr.simulate(mech, (0, 0.1), mech.default.q, branch.direction, method=method).success


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("options", [{}, {"dt": 1e-3}, {"method": "radau"}])
def test_no_run_starts_with_a_velocity_on_no_branch(seed: int, options: dict[str, Any]) -> None:
    """Some reached their end with success, the velocity changed by half within the first steps."""
    for mech in (sr.library.five_bar(), flat_parallelogram()):
        _, v = mech.project(mech.default.q, np.random.default_rng(seed).normal(size=mech.nv))
        run = sr.simulate(mech, (0, 0.1), mech.default.q, v, **options)
        assert not run.success and len(run.t) == 1
        assert run.message.startswith("Stopped at t = 0 s. The pose at the start is singular")
        many = sr.rollout(mech, mech.default.q[None], v0=v[None], steps=20, dt=1e-3)
        assert not many.success and "no motion through it" in many.messages[0]


def flat_parallelogram() -> sr.Mechanism:
    mech = sr.library.parallelogram()
    return mech.with_default(np.zeros(mech.nq), np.zeros(mech.nv))


def test_other_failures_say_nothing_of_branches() -> None:
    """On a branch, with a force that tends to infinity."""
    mech = sr.library.five_bar()
    run = sr.simulate(
        mech,
        (0, 2),
        mech.default.q,
        mech.branches(mech.default.q)[0].direction,
        tau=lambda t, q, v: np.ones(mech.nv) / max(1e-3 - t, 1e-12) ** 2,
        method="dopri5",
    )
    assert not run.success and "no motion through it" not in run.message


@pytest.mark.parametrize("method", ["auto", "dopri5", "radau"])
def test_friction_by_the_sign_of_a_velocity_is_named(method: str) -> None:
    """Steps went on at 5 ns each, for hours, where the force jumps around rest."""
    spec = sr.MechanismSpec(gravity=(0, 0, 0))
    spec.body("b", joint=sr.Prismatic("z"), mass=1.0)
    spec.force("rub", sr.UserForce(lambda t, x, rate: -np.sign(rate), "b"))
    run = sr.simulate(spec.compile(), (0, 2), [0.0], [1.0], method=method)
    assert not run.success and 1.0 <= run.t[-1] < 1.001 and "CoulombFriction" in run.message


def test_divergence_is_not_blamed_on_the_mass_matrix() -> None:
    """A damper with a time constant of 1 us in steps of 1 ms, under a pendulum: the steps are too long."""
    spec = sr.MechanismSpec(gravity=(0, -9.81, 0))
    spec.body("cart", joint=sr.Prismatic("x"), mass=1.0)
    spec.body("bob", "cart", joint=sr.Revolute("z"), mass=1.0, com=(0, -0.5, 0), inertia=(0.01, 0.01, 0.01))
    spec.force("spring", sr.JointSpring("cart", 1e8)).force("damper", sr.JointDamper("cart", 1e6))
    run = sr.simulate(spec.compile(), (0, 1), [0.0, 1.2], dt=1e-3)
    assert not run.success and "grew beyond all bounds" in run.message, run.message

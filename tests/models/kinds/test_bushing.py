"""Bushing: a linear spring and damper in six directions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sarrus as sr
from sarrus.errors import InputError

K = (1e4, 2e4, 3e4, 100.0, 200.0, 300.0)
SOLID: Any = {"mass": 2.0, "inertia": (0.1, 0.2, 0.3)}


def mounted(stiffness: Any = K, damping: Any = (0.0,) * 6, **frames: Any) -> sr.Mechanism:
    spec = sr.MechanismSpec(gravity=(0.0, 0.0, -9.81), name="mounted")
    spec.body("engine", joint=sr.Free(), com=(0.02, 0.0, 0.01), **SOLID)
    return spec.force(
        "mount", sr.Bushing("ground", "engine", stiffness=stiffness, damping=damping, **frames)
    ).compile()


def test_small_displacements_are_linear() -> None:
    mech, h = mounted(), 1e-7
    for i in range(6):
        q = mech.integrate(mech.neutral(), h * np.eye(6)[i])
        change = mech.bias(q, np.zeros(6)) - mech.bias(mech.neutral(), np.zeros(6))
        weight = sr.MechanismSpec(gravity=(0, 0, -9.81)).body(
            "engine", joint=sr.Free(), com=(0.02, 0.0, 0.01), **SOLID
        )
        plain = weight.compile()
        change -= plain.bias(q, np.zeros(6)) - plain.bias(plain.neutral(), np.zeros(6))
        assert change == pytest.approx(h * np.array(K[i]) * np.eye(6)[i], abs=1e-9)


def test_energy_is_kept_at_large_rotations() -> None:
    frames = {
        "at_a": sr.Pose((0.1, 0.0, 0.0), rpy=(0.3, 0.2, -0.4)),
        "at_b": sr.Pose((0.0, 0.1, 0.0), rpy=(0.1, 0.0, 0.2)),
    }
    mech = mounted((800.0, 900.0, 700.0, 20.0, 30.0, 25.0), **frames)
    run = sr.simulate(mech, (0.0, 2.0), q0=mech.neutral(), v0=[0.0, 0.2, 0.0, 4.0, 2.0, -3.0], rtol=1e-10)
    assert run.success and np.ptp(run.energy) < 1e-6 * np.max(np.abs(run.energy))
    assert np.max(np.abs(run.q[:, 3:6])) > 0.3  # it does turn


def test_coupled_stiffness_and_damping() -> None:
    A = np.random.default_rng(5).normal(size=(6, 6))
    matrix = A @ A.T * 100.0
    mech = mounted(matrix, 0.01 * matrix)
    v = np.arange(1.0, 7.0)
    rest, moving = (mech.bias(mech.neutral(), speed) for speed in (np.zeros(6), 1e-6 * v))
    assert moving - rest == pytest.approx(1e-8 * matrix @ v, rel=1e-4)
    assert (
        pytest.approx(
            sr.linearize(mech, q=mech.neutral(), v=np.zeros(6), method="finite_difference").A, abs=1e-4
        )
        == sr.linearize(mech, q=mech.neutral(), v=np.zeros(6), method="analytic").A
    )


def test_static_deflection_as_drawn() -> None:
    spec = sr.MechanismSpec(gravity=(0.0, 0.0, -10.0), name="plate")
    spec.part("plate", at=sr.Pose((0.0, 0.0, 0.5)), mass=8.0, inertia=(0.2, 0.2, 0.4))
    spec.joint("plate_free", "ground", "plate", sr.Free(), at=(0.0, 0.0, 0.5))
    for i, (x, y) in enumerate(((0.2, 0.2), (-0.2, 0.2), (-0.2, -0.2), (0.2, -0.2))):
        spec.bushing(f"mount{i}", "ground", "plate", (x, y, 0.4), K, (10.0,) * 6)
    mech = spec.compile()
    found = sr.equilibrium(mech)
    assert mech.pose(found.q, "plate").xyz == pytest.approx([0.0, 0.0, 0.5 - 80.0 / (4 * 3e4)], abs=1e-9)


def test_bad_bushings() -> None:
    for stiffness, message in (
        (np.ones(5), "six numbers or a matrix"),
        (np.diag([1, 1, 1, 1, 1, -1.0]), "positive semidefinite, got the eigenvalue -1"),
        (np.triu(np.ones((6, 6))), "symmetric"),
    ):
        with pytest.raises(InputError, match=message):
            sr.Bushing("ground", "engine", stiffness=stiffness)
    with pytest.raises(InputError, match="at_a of Bushing must be a Pose"):
        sr.Bushing("ground", "engine", at_a=(0, 0, 0), stiffness=K)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="two different bodies"):
        sr.Bushing("engine", "engine", stiffness=K)

"""Levels within limits in one kernel call: the cascade in Python, program by program, as oracle."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sarrus as sr

C = sr.control
FEET = ("front_left", "front_right", "rear_left", "rear_right")
# of torques, relative: rows may be violated by 1e-9 before they are held, and the regularization of a level,
# 1e-7 of its Hessian, turns that into up to 1e-7 where few directions are left (three feet)
SAME = 1e-6


def standing(ahead: float, **options: Any) -> Any:
    mech = sr.library.quadruped()
    push = C.PriorityTask(C.BodyPose("trunk"), acceleration=[ahead, 1.0, 0.0, 0.0, 2.0, 0.0], priority=1)
    still = C.PriorityTask(C.Posture(), np.zeros(mech.nu), kp=10.0, priority=2)
    limits = [*(C.Friction(foot, 0.5) for foot in FEET), C.TorqueBounds((-60.0, 60.0))]
    return C.TaskHierarchy(mech, [push, still], limits=limits, **options)


@pytest.mark.parametrize("options", [{}, {"metric": "mass"}, {"leftover_damping": 2.0}, {"active": FEET[:3]}])
@pytest.mark.parametrize("ahead", [0.0, 8.0, 15.0])
def test_the_kernel_agrees_with_the_cascade_in_python(ahead: float, options: dict[str, Any]) -> None:
    law, random = standing(ahead, **options), np.random.default_rng(1)
    mech = law.system
    for _ in range(5):
        q = mech.integrate(np.array(mech.default.q), 0.02 * random.normal(size=mech.nv))
        found = law.solve(0.0, q, 0.1 * random.normal(size=mech.nv))
        expected = law._select_in_python(found._parts)
        assert expected.limited == (found.qp.solver == "kernel") and not expected.by_kernel
        assert found.active_limits == expected.active
        np.testing.assert_allclose(found.u, expected.u, atol=SAME * (1.0 + np.abs(expected.u).max()))


@pytest.mark.parametrize("ahead", [0.0, 4.0, 6.0, 8.0])
def test_exact_cones_are_in_the_cascade_of_the_kernel(ahead: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside Clarabel, which stops 1e-6 to 1e-4 beside the optimum where cones leave little room.

    At 8 m/s^2 they leave so little that with some rounding the kernel gives up and Clarabel goes on.
    """
    mech, random = sr.library.quadruped(), np.random.default_rng(1)
    push = C.PriorityTask(C.BodyPose("trunk"), acceleration=[ahead, 1.0, 0.0, 0.0, 2.0, 0.0], priority=1)
    still = C.PriorityTask(C.Posture(), np.zeros(mech.nu), kp=10.0, priority=2)
    limits = [*(C.Friction(foot, 0.5, edges=None) for foot in FEET), C.TorqueBounds((-60.0, 60.0))]
    states = []
    for _ in range(5):
        q = mech.integrate(np.array(mech.default.q), 0.02 * random.normal(size=mech.nv))
        states.append((0.0, q, 0.1 * random.normal(size=mech.nv)))
    by_clarabel = C.TaskHierarchy(mech, [push, still], limits=limits, solver="clarabel")
    expected = [by_clarabel.solve(*state) for state in states]
    if ahead < 8.0:
        monkeypatch.setattr(C.TaskHierarchy, "_select_in_python", None)
    law = C.TaskHierarchy(mech, [push, still], limits=limits)
    for state, theirs in zip(states, expected, strict=True):
        found = law.solve(*state)
        assert found.status == theirs.status and found.active_limits == theirs.active_limits
        assert min(found.margins.values()) > -1e-7 * (1.0 + np.abs(found.u).max())
        np.testing.assert_allclose(found.u, theirs.u, atol=1e-3 * (1.0 + np.abs(theirs.u).max()))
        np.testing.assert_allclose(found.a, theirs.a, atol=1e-3 * (1.0 + np.abs(theirs.a).max()))


def test_a_warm_start_does_not_change_the_solution() -> None:
    warm, random = standing(15.0), np.random.default_rng(2)
    mech = warm.system
    for _ in range(20):
        q = mech.integrate(np.array(mech.default.q), 0.01 * random.normal(size=mech.nv))
        v = 0.1 * random.normal(size=mech.nv)
        found, cold = warm.solve(0.0, q, v), standing(15.0).solve(0.0, q, v)
        np.testing.assert_allclose(found.u, cold.u, atol=SAME)
        assert found.active_limits == cold.active_limits

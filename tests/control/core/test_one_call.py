"""A control step is one call into the kernel: nothing is selected or evaluated by Python beside it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sarrus as sr
from sarrus.control.core.law import Law
from sarrus.control.hierarchy.task_hierarchy import TaskHierarchy
from sarrus.control.state.measured_state import MeasuredState

from ..grasp.held_box import held

C = sr.control
ARMS = sr.library.dual_arm()
WISH = ["left1", "left2"], np.array([0.3, -0.2])


def functions() -> list[Any]:
    """Limits that are functions of the state, on every part."""
    ones = np.eye(ARMS.nv)
    return [
        C.LinearLimits("swing", a=ones[2:4], lower=lambda t, q, v: -80.0 - t, upper=80.0),
        C.LinearLimits("squeeze", lam=lambda t, q, v: np.eye(6)[:1] * (2.0 + np.cos(q[0])), upper=400.0),
        C.LinearLimits("load", force=ones[:2], tau=lambda t, q, v: 0.1 * ones[:2], lower=-300.0, upper=300.0),
    ]


def sensed(**options: Any) -> Any:
    forces = np.linspace(-1.0, 1.0, ARMS.nc)
    return C.HybridForceMotion(
        ARMS, *WISH, {"weld": 2.0}, kf=1.0, ki=5.0, measured=lambda t, q, v, u: forces + t, **options
    )


def box(**options: Any) -> Any:
    mech, grasp = held(edges=options.pop("edges", 8))
    if options.pop("payload", False):
        options |= {"external": C.WrenchEstimator(mech, "box", payload=True), "compensate": True}
    return C.ObjectImpedance(mech, grasp, **options)


def levels(**options: Any) -> Any:
    tasks = [C.PriorityTask("left1", 0.3, priority=1), C.PriorityTask("left2", -0.2, priority=2)]
    return TaskHierarchy(ARMS, tasks, leftover_damping=2.0, **options)


LAWS = {
    "regulated forces": lambda: C.HybridForceMotion(ARMS, *WISH, {"weld": 2.0}),
    "the constraint force": lambda: C.HybridForceMotion(ARMS, *WISH, np.zeros(ARMS.nv)),
    "measured forces within limits": lambda: sensed(limits=C.TorqueBounds((-80.0, 80.0))),
    "limits by functions": lambda: C.ForceLimits(ARMS, *WISH, functions(), leftover_damping=2.0),
    "levels within them": lambda: levels(limits=functions()),
    "momentum observer": box,
    "observer and exact cones": lambda: box(edges=None),
    "displacement": lambda: box(external="displacement"),
    "payload carried": lambda: box(payload=True),
}


@pytest.mark.parametrize("name", LAWS)
def test_nothing_but_one_call(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    law = LAWS[name]()
    mech = law.system
    q, v = (np.array(x) for x in mech.default)
    v = mech.consistent_velocity(q, 0.1 * np.random.default_rng(0).normal(size=mech.nv))

    def refused(*_: Any) -> Any:
        raise AssertionError("a second way through Python")

    monkeypatch.setattr(Law, "_select", refused)
    monkeypatch.setattr(TaskHierarchy, "_select_in_python", refused)
    for part in ("terms", "point", "projected", "_frames"):
        monkeypatch.setattr(MeasuredState, part, property(refused))
    for k in range(3):
        found = law.solve(1e-3 * k, mech.integrate(q, 1e-3 * k * v), v)
        assert found.status >= 0 and np.isfinite(found.u).all()


def test_limits_on_accelerations_and_constraint_forces_hold() -> None:
    """Against the parts of the solution itself: what is limited lies within its bounds, and touches some."""
    rng, rows = np.random.default_rng(1), np.eye(ARMS.nv)
    q = np.array(ARMS.default.q)
    v = ARMS.consistent_velocity(q, 0.2 * rng.normal(size=ARMS.nv))
    free = C.ForceLimits(ARMS, *WISH, [C.TorqueBounds((-1e3, 1e3))]).solve(0.0, q, v)
    most = 0.7 * np.abs(free.constraint_force[:3]).max()
    less = 0.9 * float(free.a[5])
    limits = [
        C.LinearLimits("load", force=rows[:3], lower=-most, upper=lambda t, q, v: most),
        C.LinearLimits("swing", a=rows[5:6], **{"upper" if less > 0 else "lower": less}),
    ]
    found = C.ForceLimits(ARMS, *WISH, limits).solve(0.0, q, v)
    assert found.status == C.Status.LIMITED and set(found.active_limits) <= {"load", "swing"}
    assert np.abs(found.constraint_force[:3]).max() <= most * (1.0 + 1e-9)
    assert abs(found.a[5]) <= abs(less) * (1.0 + 1e-9)
    by_scipy = C.ForceLimits(ARMS, *WISH, limits, solver="scipy").solve(0.0, q, v)
    np.testing.assert_allclose(found.u, by_scipy.u, atol=1e-5 * np.abs(found.u).max())


def test_functions_may_return_another_number_of_rows() -> None:
    rows = np.eye(ARMS.nv)

    def some(t: float, q: Any, v: Any) -> Any:
        return rows[: 1 + int(t)]

    limits = C.LinearLimits("some", tau=some, lower=-30.0, upper=30.0)
    law = C.ForceLimits(ARMS, *WISH, limits)
    for t in (0.0, 1.0, 2.0, 1.0):
        fixed = C.ForceLimits(
            ARMS, *WISH, C.LinearLimits("some", tau=some(t, None, None), lower=-30.0, upper=30.0)
        )
        found, alone = law.solve(t, *ARMS.default), fixed.solve(t, *ARMS.default)
        np.testing.assert_allclose(found.u, alone.u, atol=1e-9)
        assert found.margins.keys() == {"some"} and found.status == alone.status

"""Measured states off the constraints: laws work at the projected state, with its rank."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sarrus as sr

C = sr.control


def hierarchy(mech: sr.Mechanism) -> C.TaskHierarchy:
    return C.TaskHierarchy(mech, C.PriorityTask(mech.names[0], float(mech.default.q[0])))


def inverse_dynamics(mech: sr.Mechanism) -> C.ProjectedInverseDynamics:
    return C.ProjectedInverseDynamics(mech, mech.names[0], float(mech.default.q[0]))


@pytest.mark.parametrize(
    ("name", "law_of"),
    [
        ("pantograph_leg", inverse_dynamics),
        ("pantograph_leg", hierarchy),
        ("dual_arm", hierarchy),
        ("bricard", inverse_dynamics),
        ("bennett", inverse_dynamics),
    ],
)
def test_rank_is_kept_and_torques_are_continuous_in_the_gap(name: str, law_of: Any) -> None:
    """0.1.0 dropped rows with singular values below ten gaps: `dual_arm` had rank 2 to 6 at noise of 0.03 rad
    and torques jumped. Here the change per radian of noise stays below twice its limit for small noise."""
    mech = getattr(sr.library, name)()
    law = law_of(mech)
    q, v = np.array(mech.default.q), np.zeros(mech.nv)
    calm = law.solve(0.0, q, v)
    assert calm.gap < 1e-11
    for seed in range(4):
        noise = mech.model.unit * np.random.default_rng(seed).normal(size=mech.nv)
        per_radian = []
        for size in (1e-4, 1e-3, 1e-2, 3e-2):
            law.reset()
            off = mech.integrate(q, size * noise)
            found = law.solve(0.0, off, v)
            assert found.rank == calm.rank and found.status == calm.status
            assert found.gap == pytest.approx(mech.project(off).gap)
            at = law_of(mech).solve(0.0, *mech.project(off, v))
            np.testing.assert_allclose(found.u, at.u, rtol=1e-7, atol=1e-9)
            per_radian.append(np.max(np.abs(found.u - calm.u)) / size)
        assert max(per_radian) < 2.0 * per_radian[0]


def test_feet_stay_where_they_are_measured() -> None:
    """A quadruped whose feet stand 3 cm beside the declared places: no gap, the pose is not moved."""
    mech = sr.library.quadruped()
    q, v = np.array(mech.default.q), np.zeros(mech.nv)
    law = C.TaskHierarchy(mech, C.PriorityTask(C.Position(mech.body_names[1]), [0.0, 0.0, 0.4]))
    here = law.solve(0.0, q, v)
    shifted = q.copy()
    shifted[:2] += 0.03
    there = C.TaskHierarchy(mech, C.PriorityTask(C.Position(mech.body_names[1]), [0.03, 0.03, 0.4]))
    found = there.solve(0.0, shifted, v)
    assert found.gap == 0.0
    np.testing.assert_allclose(found.u, here.u, rtol=1e-9, atol=1e-9)


def test_only_active_constraints_are_projected_onto() -> None:
    """An opened loop does not pull: the measured pose of the open mechanism is taken as it is."""
    mech = sr.library.pantograph_leg()
    q, v = np.array(mech.default.q) + np.array([0.1, 0.2, -0.1, 0.05]), np.zeros(4)
    law = C.ProjectedInverseDynamics(mech, "thigh", 0.0, active=[])
    found = law.solve(0.0, q, v)
    assert found.gap == 0.0 and found.outputs[0] == q[0]
    closed = C.ProjectedInverseDynamics(mech, "thigh", 0.0).solve(0.0, q, v)
    assert closed.gap > 0.01 and closed.outputs[0] == pytest.approx(mech.project(q).q[0])


def test_a_measurement_too_far_off_holds_the_last_input() -> None:
    spec = sr.MechanismSpec()
    spec.body("x", joint=sr.Prismatic("x"), mass=1.0)
    spec.body("y", joint=sr.Prismatic("y"), mass=2.0)
    spec.constrain("rod", sr.Distance("x", (0, 0, 0), "y", (0, 0, 0), 1.0))
    mech = spec.compile()
    law = C.ProjectedInverseDynamics(mech, "x", 0.5)
    good = law.solve(0.0, [0.6, 0.8], [0.0, 0.0])
    lost = law.solve(0.1, [0.0, 0.0], [0.0, 0.0])
    assert lost.status == C.Status.FAILED and np.array_equal(lost.u, good.u)
    assert "off its constraints by 1 m" in lost.message and "cannot be projected" in lost.message


def test_custom_systems_are_projected_too() -> None:
    system = sr.CustomSystem(2, 2, M=np.diag([1.0, 2.0]), phi=lambda q, v, t: [q @ q - 1.0])
    law = C.ProjectedInverseDynamics(system, "q0", 0.5)
    on = law.solve(0.0, system.project([0.62, 0.81]).q, [0.0, 0.0])
    off = law.solve(0.0, [0.62, 0.81], [0.0, 0.0])
    assert off.gap > 1e-3 and off.u == pytest.approx(on.u, rel=1e-6)


def test_estimators_project_as_laws_do() -> None:
    """The wrench on a box that is held still, with the pose measured 1 mm and 3 mrad off: near zero."""
    mech = sr.library.dual_arm_box()
    q, v = np.array(mech.default.q), np.zeros(mech.nv)
    u = mech.inverse_dynamics(q, v, v).u
    rng = np.random.default_rng(0)
    estimator = C.WrenchEstimator(mech, "box", bandwidth=1e3)
    off = mech.integrate(q, 3e-3 * mech.model.unit * rng.normal(size=mech.nv))
    for k in range(5):
        found = estimator.update(1e-3 * k, off, v, u)
    exact = C.WrenchEstimator(mech, "box", bandwidth=1e3)
    for k in range(5):
        still = exact.update(1e-3 * k, q, v, u)
    assert np.max(np.abs(still.wrench)) < 1e-8
    assert np.max(np.abs(found.wrench)) < 5.0  # 10 N of weight, turned and shifted by the noise

"""Runs without projection that start at a singular pose: the rows that are lost there come back.

Oracle: the null-space form of [Spencer2004] (3.5) in NumPy, whose rank is that of a singular value
decomposition at every stage, with RK4 and no stabilization.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sarrus as sr

FIVE_BAR = sr.library.five_bar("singular")
WAYS: tuple[dict[str, Any], ...] = (
    {"correction": "none"},
    {"correction": "none", "formulation": "svd"},
    {"correction": "none", "formulation": "projection"},
    {"correction": "baumgarte"},
    {"correction": "baumgarte", "formulation": "svd"},
)


def twice_closed() -> sr.Mechanism:
    """A parallelogram whose pin is declared twice: rows that depend on others at all poses, too."""
    rod, hinge = {"mass": 1.0, "com": (0.25, 0, 0), "inertia": (0, 0.02, 0.02)}, sr.Revolute("z")
    spec = sr.MechanismSpec(gravity=(0, -9.81, 0))
    spec.body("a", joint=hinge, **rod)
    spec.body(
        "b", "a", joint=hinge, at=sr.Pose((0.5, 0, 0)), mass=1.0, com=(0.5, 0, 0), inertia=(0, 0.08, 0.08)
    )
    spec.body("c", joint=hinge, at=sr.Pose((1.0, 0, 0)), **rod)
    for name in ("pin", "pin again"):
        spec.close(name, "b", "c", joint=hinge, at_a=sr.Pose((1.0, 0, 0)), at_b=sr.Pose((0.5, 0, 0)))
    return spec.compile()


def nullspace_motion(mech: sr.Mechanism, q: Any, v: Any, end: float, dt: float) -> tuple[Any, Any]:
    """q and v at all steps, for coordinates that are numbers."""

    def rates(x: Any) -> Any:
        terms = mech.terms(x[: mech.nv], x[mech.nv :])
        U, s, Vt = np.linalg.svd(terms.J)
        r = int(np.sum(s > 1e-9))
        N, normal = Vt[r:].T, Vt[:r].T @ ((U[:, :r].T @ terms.gamma) / s[:r])
        free = np.linalg.solve(N.T @ terms.M @ N, N.T @ (-terms.h - terms.M @ normal))
        return np.r_[x[mech.nv :], N @ free + normal]

    x = np.r_[q, v]
    states = [x]
    for _ in range(round(end / dt)):
        k1 = rates(x)
        k2 = rates(x + dt / 2 * k1)
        k3 = rates(x + dt / 2 * k2)
        x = x + dt / 6 * (k1 + 2 * k2 + 2 * k3 + rates(x + dt * k3))
        states.append(x)
    both = np.array(states)
    return both[:, : mech.nv], both[:, mech.nv :]


@pytest.mark.parametrize("how", WAYS, ids=str)
def test_lost_rows_come_back(how: dict[str, Any]) -> None:
    """The loop opened by metres, with success and accelerations that forward_dynamics contradicts."""
    run = sr.simulate(FIVE_BAR, (0, 1.5), dt=1e-3, **how)
    exact, _ = nullspace_motion(FIVE_BAR, *FIVE_BAR.default, 1.5, 1e-3)
    assert run.success and set(run.rank[1:]) == {2}
    assert run.drift.max() < 2e-6
    # of 3 rad: the first step errs by 1e-3 of itself, and feedback takes away what that leaves of J v
    assert np.abs(run.q - exact).max() < 4e-3
    k = len(run) // 2
    a = FIVE_BAR.forward_dynamics(run.q[k], run.v[k]).a
    assert run.a[k] == pytest.approx(a, abs=1e-4 if how["correction"] == "baumgarte" else 1e-9)


def test_time_of_the_return_in_the_thesis() -> None:
    """[Spencer2004] 3.2, example 1: back near the pose after 2.818 s without stabilization."""
    run = sr.simulate(FIVE_BAR, (0, 3.2), dt=1e-3, correction="none")
    speeds = np.abs(run.v[2000:]).sum(axis=1)
    assert run.t[2000 + int(np.argmin(speeds))] == pytest.approx(2.818, abs=2e-3)


@pytest.mark.parametrize("correction", ["none", "baumgarte"])
def test_rows_that_depend_on_others_stay_out(correction: str) -> None:
    """Off the constraints they seem independent; with rank 4 instead of 2 nothing would move."""
    mech = twice_closed()
    run = sr.simulate(mech, (0, 0.4), np.zeros(3), np.zeros(3), dt=1e-3, correction=correction)
    exact = sr.simulate(mech, (0, 0.4), np.zeros(3), np.zeros(3), dt=1e-3)
    assert run.success and set(run.rank[1:]) == {2}
    assert run.drift.max() < 1e-5
    assert np.abs(run.q[-1]).max() > 0.5 and np.abs(np.abs(run.q[-1, 0]) - np.abs(exact.q[-1, 0])) < 1e-3


def test_softened_runs_start_there() -> None:
    """The damped inverse was made for such poses."""
    run = sr.simulate(FIVE_BAR, (0, 1.0), dt=1e-3, correction="soft", baumgarte=(10.0, 10.0))
    exact, _ = nullspace_motion(FIVE_BAR, *FIVE_BAR.default, 1.0, 1e-3)
    assert run.success and run.drift.max() < 0.05
    assert np.abs(run.q - exact).max() < 0.2


def test_resumed_runs_have_the_same_bits() -> None:
    whole = sr.simulate(FIVE_BAR, (0, 0.5), dt=1e-3, correction="none")
    parts = sr.simulate(FIVE_BAR, (0, 0.25), dt=1e-3, correction="none").resume(0.5)
    np.testing.assert_array_equal(whole.q, parts.q)

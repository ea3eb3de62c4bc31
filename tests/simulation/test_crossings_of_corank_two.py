"""Crossings where two ranks are lost at once: Peaucellier's linkage, and three parallel cranks in a line."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import sarrus as sr

HINGE = sr.Revolute("z")


def rod(mass: float, length: float) -> dict[str, Any]:
    """A uniform rod from the origin along x; backwards for a negative length."""
    inertia = mass * length**2 / 12
    return {"mass": mass, "com": (length / 2, 0, 0), "inertia": (0, inertia, inertia)}


def peaucellier() -> tuple[sr.Mechanism, np.ndarray, np.ndarray]:
    """Crank of 1 m about (1, 0), arms of 3 m about (0, 0), a rhombus with sides of 1.2 m; at rest."""
    arm, side, beta = 3.0, 1.2, 0.5
    B = np.array([1.0 + math.cos(beta), math.sin(beta)])
    d = float(np.linalg.norm(B))
    along = (arm**2 - side**2 + d**2) / (2 * d)
    across = math.sqrt(arm**2 - along**2) * np.array([-B[1], B[0]]) / d
    A, D = B / d * along + across, B / d * along - across
    E = A + D - B
    spec = sr.MechanismSpec(gravity=(0, -9.81, 0))
    spec.body("crank", joint=HINGE, at=sr.Pose((1, 0, 0)), **rod(1.0, 1.0))
    spec.body("arm1", joint=HINGE, **rod(2.0, arm))
    spec.body("arm2", joint=HINGE, **rod(2.5, arm))
    spec.body("near1", "crank", joint=HINGE, at=sr.Pose((1, 0, 0)), **rod(0.7, side))
    spec.body("near2", "crank", joint=HINGE, at=sr.Pose((1, 0, 0)), **rod(0.8, side))
    spec.body("far1", "arm1", joint=HINGE, at=sr.Pose((arm, 0, 0)), **rod(0.9, -side))
    spec.body("far2", "arm2", joint=HINGE, at=sr.Pose((arm, 0, 0)), **rod(1.1, -side))
    tip, back = sr.Pose((side, 0, 0)), sr.Pose((-side, 0, 0))
    spec.close("A", "near1", "arm1", joint=HINGE, at_a=tip, at_b=sr.Pose((arm, 0, 0)))
    spec.close("D", "near2", "arm2", joint=HINGE, at_a=tip, at_b=sr.Pose((arm, 0, 0)))
    spec.close("E", "far1", "far2", joint=HINGE, at_a=back, at_b=back)
    mech = spec.compile()
    angles = [math.atan2(*(y - x)[::-1]) for x, y in ((B, A), (B, D), (E, A), (E, D))]
    arms = [math.atan2(*point[::-1]) for point in (A, D)]
    guess = [beta, *arms, angles[0] - beta, angles[1] - beta, angles[2] - arms[0], angles[3] - arms[1]]
    return mech, mech.assemble(guess, fixed={"crank": beta}).q, np.zeros(7)


def parallel_cranks() -> tuple[sr.Mechanism, np.ndarray, np.ndarray]:
    """Three cranks of 1 m, 2 m and 1.5 m apart, coupled by bars; they turn at 3 rad/s."""
    spec = sr.MechanismSpec(gravity=(0, 0, 0))
    for i, x in enumerate((0.0, 2.0, 3.5)):
        spec.body(f"crank{i}", joint=HINGE, at=sr.Pose((x, 0, 0)), **rod(1.0 + i, 1.0))
    for i, length in enumerate((2.0, 1.5)):
        spec.body(f"bar{i}", f"crank{i}", joint=HINGE, at=sr.Pose((1, 0, 0)), **rod(1.0, length))
        at = sr.Pose((length, 0, 0))
        spec.close(f"pin{i}", f"bar{i}", f"crank{i + 1}", joint=HINGE, at_a=at, at_b=sr.Pose((1, 0, 0)))
    mech = spec.compile()
    q = np.array([1.0, 1.0, 1.0, -1.0, -1.0])
    return mech, q, mech.consistent_velocity(q, fixed={"crank0": 3.0})


@pytest.mark.parametrize("method", ["dopri5", "radau", "auto"])
@pytest.mark.parametrize("rtol", [1e-8, 1e-12])
def test_every_crossing_is_found(method: str, rtol: float) -> None:
    """At 1e-12 dopri5 missed an event, and radau took 577,000 steps at the floor of rounding."""
    mech, q, v = peaucellier()
    run = sr.simulate(mech, (0.0, 5.0), q, v, method=method, rtol=rtol, atol=rtol / 10)
    assert run.success and len(run.t) < 20_000
    np.testing.assert_allclose([event.t for event in run.events], [0.659, 1.963, 3.280, 4.584], atol=2e-3)
    assert {(event.kind, event.rank) for event in run.events} == {("singular", 4)}
    assert np.ptp(run.energy) < (2e-4 if rtol > 1e-9 else 1e-6)  # of 40 J
    mech, q, v = parallel_cranks()
    run = sr.simulate(mech, (0.0, 1.0), q, v, method=method, rtol=rtol, atol=rtol / 10)
    (event,) = run.events
    assert event.rank == 2 and abs(event.t - (math.pi - 1.0) / 3.0) < 1e-6
    np.testing.assert_allclose(run.q[-1], [4.0, 4.0, 4.0, -4.0, -4.0], atol=1e-5)


def test_fixed_steps_keep_their_order() -> None:
    """Energy lost in one crossing, the largest of four positions of the grid.

    Before, a stage next to the pose cost 4e-2, 6e-3 and 1.3e-3 J at these steps. rk4 divides its error by 16.
    At 0.1 ms what is left is rounding of phi over the cube of the distance to the pose, 1e-5 J at most.
    """
    mech, q, v = peaucellier()

    def lost(dt: float) -> float:
        worst = 0.0
        for shift in (0.0, 0.25, 0.5, 0.75):
            start = sr.simulate(mech, (0.0, 0.6 + shift * dt), q, v, method="dopri5", rtol=1e-12, atol=1e-13)
            run = sr.simulate(mech, (0.0, 0.12), start.q[-1], start.v[-1], dt=dt)
            assert run.success and len(run.events) == 1
            worst = max(worst, abs(float(run.energy[-1] - run.energy[0])))
        return worst

    coarse, middle, fine, finest = (lost(dt) for dt in (4e-3, 2e-3, 1e-3, 1e-4))
    assert coarse > 8 * middle and middle > 5 * fine  # rounding begins at 1e-7 J
    assert fine < 4e-7 and finest < 2e-5

"""Crossings where two ranks or more are lost at once.

Peaucellier's linkage, three parallel cranks in a line, and rods on universal joints: where a rod is in line
with the first axis of its joint, turning about that axis does not move it.
"""

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


def lift(legs: int) -> sr.Mechanism:
    """A platform that slides up and down on arms and rods; a rod has a universal joint and ends in a ball."""
    arm, length, radius, edge, angle = 0.25, 0.6, 0.2, 0.06, 0.3
    reach = radius + arm * math.cos(angle) - edge
    depth = arm * math.sin(angle) + math.sqrt(length**2 - reach**2)
    spec = sr.MechanismSpec(gravity=(0, 0, -9.81))
    spec.body("platform", joint=sr.Prismatic("z"), at=sr.Pose((0, 0, -depth)), mass=0.5)
    for i in range(legs):
        turn = sr.Pose(rpy=(0, 0, 2 * math.pi * i / legs))
        spec.body(f"arm{i}", joint=sr.Revolute("y"), at=turn @ sr.Pose((radius, 0, 0)), **rod(0.4, arm))
        down = math.atan2(-reach, depth - arm * math.sin(angle))  # of the rod, from the vertical
        elbow = sr.Pose((arm, 0, 0), rpy=(0, math.pi - down - angle, 0))
        thin = {"mass": 0.05, "com": (0, 0, length / 2), "inertia": (1.5e-3, 1.5e-3, 1e-6)}
        spec.body(f"rod{i}", f"arm{i}", joint=sr.Universal("x", "y"), at=elbow, **thin)
        ends = {"at_a": sr.Pose((0, 0, length)), "at_b": turn @ sr.Pose((edge, 0, 0))}
        spec.close(f"ball{i}", f"rod{i}", "platform", joint=sr.Spherical(), **ends)
    mech = spec.compile()
    return mech.with_default(mech.assemble([0.0] + [angle, 0.0, 0.0] * legs, fixed={"platform": 0.0}).q)


@pytest.mark.parametrize("rtol", [1e-9, 1e-10, 1e-11, 1e-12])
@pytest.mark.parametrize(("make", "corank"), [(sr.library.delta, 4), (lambda: lift(5), 5)])
def test_coordinates_at_rest_do_not_stop_a_crossing(make: Any, corank: int, rtol: float) -> None:
    """Rods do not spin, so that the tolerance of their spin is atol: rounding alone is more.

    As long as rounding was compared with the tolerance of the fastest coordinate, steps crept up to the pose,
    where it is all that is left: with one instruction set or another the delta lost 7e-5 J at 1e-10, or the
    run failed, and the lift lost 9e-5 J at 1e-12.
    """
    mech = make()
    run = sr.simulate(mech, (0.0, 2.0), method="dopri5", rtol=rtol, atol=rtol / 100)
    assert run.success, run.message
    assert max(run.rank) - min(event.rank for event in run.events) == corank
    assert np.ptp(run.energy) < 500 * rtol + 1e-11  # of 10 J; it was 150 rtol at most
    assert "accurately" not in run.message and len(run.t) < 6000


@pytest.mark.parametrize("method", ["dopri5", "auto"])
def test_chosen_steps_keep_their_error(method: str) -> None:
    """The error of a run through many crossings, in tolerances.

    With stages at the nearest pose errors were seven times larger than without a singular pose, and the
    estimate did not see it: 152 tolerances in the first case.
    """
    mech = sr.library.scott_russell()
    fast = mech.consistent_velocity(mech.default.q, fixed={"crank_left": -16.0})
    runs = ((mech, mech.default.q, fast, 0.4, 2.3e-9), (*peaucellier(), 2.5, 1e-8))
    for one, q, v, end, rtol in runs:
        run = sr.simulate(one, (0.0, end), q, v, method=method, rtol=rtol)
        exact = sr.simulate(one, (0.0, end), q, v, method="dopri5", rtol=1e-12, atol=1e-13, t_eval=run.t)
        assert run.message == f"Reached the end, t = {end:g} s."
        assert np.abs(one.difference(run.q, exact.q)).max() < 60 * rtol


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

"""Long chains closed by few rows: articulated inertias and a few rows, against absolute coordinates.

M of a long chain is ill-conditioned, so the oracle has none: every link has its position and heading, and one
system of equations with all pins is solved by NumPy.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import sarrus as sr

G = 9.81
BAR = {"mass": 1.0, "com": (0.5, 0.0, 0.0), "inertia": (0.01, 1 / 12, 1 / 12)}


def hung_chain(n: int, closure: str = "pin", sag: float = 0.3, joint: object | None = None) -> sr.Mechanism:
    """n links of 1 m and 1 kg between two supports at the same height, in zigzag by the angle `sag`."""
    spec = sr.MechanismSpec(gravity=(0.0, -G, 0.0), name="hung_chain")
    parent, at = "ground", sr.Pose()
    for i in range(n):
        spec.body(f"l{i}", parent=parent, joint=joint or sr.Revolute("z"), at=at, **BAR)
        parent, at = f"l{i}", sr.Pose((1.0, 0.0, 0.0))
    end = (n * math.cos(sag), 0.0, 0.0)
    if closure == "pin":
        spec.constrain(
            "end", sr.PointOnLine("ground", end, parent, (1.0, 0.0, 0.0), direction=(0.0, 0.0, 1.0))
        )
    else:
        loop = sr.Revolute("z") if closure == "hinge" else sr.Spherical()
        spec.close("end", "ground", parent, loop, at_a=sr.Pose(end), at_b=sr.Pose((1.0, 0.0, 0.0)))
    mech = spec.compile()
    if joint:
        return mech
    return mech.with_default(np.diff(sag * (-1.0) ** np.arange(n), prepend=0.0))


def absolute(heading: np.ndarray, rate: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Angular accelerations of the links and the force on the last one's end, by absolute coordinates."""
    n = len(heading)
    x, y = np.cos(heading), np.sin(heading)
    rows, right = np.zeros((2 * n + 2, 3 * n)), np.zeros(2 * n + 2)
    for i in range(n + 1):  # pin i: end of link i - 1 less beginning of link i
        for link, side in ((i - 1, 1.0), (i, -1.0)):
            if not 0 <= link < n:
                continue
            arm = 0.5 * np.array([x[link], y[link]])  # centre to end; side * side * arm to this end
            rows[2 * i : 2 * i + 2, 3 * link : 3 * link + 2] = side * np.eye(2)
            rows[2 * i : 2 * i + 2, 3 * link + 2] = (-arm[1], arm[0])
            right[2 * i : 2 * i + 2] += arm * rate[link] ** 2
    M = np.diag(np.tile([1.0, 1.0, 1 / 12], n))
    K = np.block([[M, -rows.T], [rows, np.zeros((2 * n + 2, 2 * n + 2))]])
    found = np.linalg.solve(K, np.concatenate([np.tile([0.0, -G, 0.0], n), right]))
    return found[2 : 3 * n : 3], found[-2:]


def moving(mech: sr.Mechanism) -> tuple[np.ndarray, np.ndarray]:
    q = mech.default.q
    return q, mech.consistent_velocity(q, np.sin(np.arange(mech.nv)))


@pytest.mark.parametrize("n", [80, 250])
@pytest.mark.parametrize("closure", ["pin", "hinge"])
def test_accelerations_are_those_of_absolute_coordinates(n: int, closure: str) -> None:
    mech = hung_chain(n, closure)
    q, v = moving(mech)
    assert mech.evaluator.kernel.few_rows and "articulated inertias and 2 rows" in str(hung_chain(80))
    run = sr.simulate(mech, (0.0, 1e-3), q, v, dt=1e-3)
    turned, force = absolute(np.cumsum(run.q[0]), np.cumsum(run.v[0]))
    exact = np.diff(turned, prepend=0.0)
    assert np.abs(run.a[0] - exact).max() < 1e-10 * np.abs(exact).max()
    if n >= 200:  # single calls too
        found = mech.forward_dynamics(q, v)
        assert np.abs(found.a - exact).max() < 1e-10 * np.abs(exact).max()
    if n >= 200 and closure == "pin":
        assert found.rank == 2 and np.all(found.lam_unique)
        assert np.linalg.norm(found.lam) == pytest.approx(np.linalg.norm(force), rel=1e-9)


def test_a_long_chain_swings_with_its_energy_and_its_ends() -> None:
    mech = hung_chain(400)
    run = sr.simulate(mech, (0.0, 0.1), dt=1e-3)
    energy = mech.energy(run.q, run.v)
    assert run.success and run.drift.max() < 1e-12 * mech.length
    assert np.all(run.rank == 2) and not run.events
    assert np.ptp(energy.total) < 1e-7 * np.ptp(energy.kinetic)


@pytest.mark.parametrize("away", [1e-1, 1e-2, 1e-3])
def test_a_chain_that_is_almost_straight(away: float) -> None:
    """The stretched chain is a singular pose; nearer to it steps go by the orthogonal factorization."""
    mech = hung_chain(80, sag=away)
    q, v = moving(mech)
    run = sr.simulate(mech, (0.0, 1e-4 * away), q, v, dt=1e-4 * away)
    turned, _ = absolute(np.cumsum(run.q[0]), np.cumsum(run.v[0]))
    exact = np.diff(turned, prepend=0.0)
    assert run.success
    assert np.abs(run.a[0] - exact).max() < (1e-10 + 1e-14 / away**2) * np.abs(exact).max()


def test_ball_joints() -> None:
    """A chain of ball joints hung up at both ends falls in its plane as the chain of hinges does."""
    n = 80
    flat, free = hung_chain(n), hung_chain(n, "ball", joint=sr.Spherical())
    assert free.nc == 3 and free.evaluator.kernel.few_rows
    half = 0.5 * flat.default.q
    q = np.stack([0 * half, 0 * half, np.sin(half), np.cos(half)], axis=1).ravel()
    runs = [sr.simulate(mech, (0.0, 0.02), start, dt=1e-3) for mech, start in ((flat, None), (free, q))]
    turned = np.cumsum(runs[0].v[-1])
    assert runs[1].success and runs[1].drift.max() < 1e-12
    assert np.abs(np.cumsum(runs[1].v[-1].reshape(n, 3), axis=0)[:, 2] - turned).max() < 1e-9
    assert np.abs(turned).max() > 0.1


def test_assembly_and_mobility_of_a_long_ring() -> None:
    mech = hung_chain(250)
    found = mech.assemble(mech.default.q + 1e-3 * np.sin(np.arange(mech.nv)))
    assert found.success and found.residual < 1e-12
    assert mech.mobility(found.q).rank == 2 and mech.mobility(found.q).dof == 248

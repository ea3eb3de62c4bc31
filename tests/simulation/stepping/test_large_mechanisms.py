"""Large mechanisms: steps by the augmented inertia agree with the orthogonal factorization and closed forms.

`mech.acceleration` uses the orthogonal factorization for every mechanism with constraints, runs of more than
32 coordinates the augmented inertia wherever no singular pose is near.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import sarrus as sr

MASS = {"mass": 1.0, "com": (0.3, 0.1, -0.2), "inertia": (0.1, 0.2, 0.25)}


def driven_row() -> sr.Mechanism:
    """Twenty four-bars, the first upright turned by a function of time."""
    spec = sr.MechanismSpec(gravity=(0.0, -9.81, 0.0), name="driven_row")
    bar = {"mass": 1.0, "inertia": (0.08, 0.01, 0.08)}
    for i in range(21):
        spec.body(f"link{i}", joint=sr.Revolute("z"), at=sr.Pose((i, 0, 0)), com=(0, 0.5, 0), **bar)
        if i < 20:
            at = sr.Pose((0, 1, 0))
            spec.body(f"coupler{i}", parent=f"link{i}", joint=sr.Revolute("z"), at=at, com=(0.5, 0, 0), **bar)
    for i in range(20):
        line = sr.PointOnLine(f"link{i + 1}", (0, 1, 0), f"coupler{i}", (1, 0, 0), direction=(0, 0, 1))
        spec.constrain(f"pin{i}", line)
    spec.constrain("motor", sr.Drive("link0", lambda t: 0.2 * math.sin(3.0 * t)))
    mech = spec.compile()
    q = np.zeros(mech.nv)
    return mech.with_default(q, mech.consistent_velocity(q))


CASES: dict[str, Callable[[], sr.Mechanism]] = {
    "net": lambda: sr.library.net(5),
    "net of hinges, 60 rows redundant": lambda: sr.library.net(4, closure="revolute"),
    "row of four-bars": lambda: sr.library.n_four_bar(40),
    "twelve legs": lambda: sr.library.jansen_leg(12),
    "floating ring, 4 rows redundant": lambda: sr.library.deployable_ring(20),
    "quaternions": lambda: sr.library.chain_mail(4),
    "scissor": lambda: sr.library.scissor(20),
    "drive": driven_row,
}


@pytest.mark.parametrize("name", CASES)
def test_accelerations_of_runs_are_those_of_the_orthogonal_factorization(name: str) -> None:
    mech = CASES[name]()
    run = sr.simulate(mech, (0.0, 0.03), dt=1e-3)
    assert run.success and run.drift.max() < 1e-12 and run.velocity_drift.max() < 1e-11
    other = np.array(
        [mech.acceleration(q, v, np.zeros(mech.nv), t) for t, q, v in zip(run.t, run.q, run.v, strict=True)]
    )
    assert np.abs(run.a - other).max() < 1e-10 * np.abs(other).max()
    assert np.all(run.rank == mech.mobility(run.q[-1], run.t[-1]).rank)


@pytest.mark.parametrize("method", ["rk4", "dopri5", "verlet", "auto"])
def test_a_row_of_four_bars_turns_through_its_singular_poses(method: str) -> None:
    """All uprights turn alike: one equation of motion, (N/3 + N + 1/3) x'' = (N/2 + N + 1/2) g sin x."""
    n, span = 60, 1.4
    mech = sr.library.n_four_bar(n)
    options = {} if method in ("dopri5", "auto") else {"dt": 1e-3}
    run = sr.simulate(mech, (0.0, span), method=method, **options)
    pull = 9.81 * (1.5 * n + 0.5) / (4.0 * n / 3.0 + 1.0 / 3.0)
    exact = solve_ivp(
        lambda t, y: [y[1], pull * math.sin(y[0])], (0.0, span), [0.0, 1.0], rtol=1e-12, atol=1e-13
    ).y[0, -1]
    assert exact > 1.6 * math.pi  # twice all bars lie flat
    assert -run.q[-1, 0] == pytest.approx(exact, abs=2e-5 if method == "verlet" else 1e-7)
    assert np.abs(run.q[:, :-1:2] + run.q[:, 1::2]).max() < 1e-9  # couplers stay level: the smooth branch
    assert [event.kind for event in run.events] == ["singular", "singular"]
    assert -run.events[1].q[0] == pytest.approx(1.5 * math.pi, abs=1e-8)
    energy = mech.energy(run.q, run.v)
    assert np.ptp(energy.total) < (1e-5 if method == "verlet" else 1e-8) * np.ptp(energy.kinetic)


@pytest.mark.parametrize("away", [1e-1, 1e-2, 1e-3])
def test_steps_next_to_a_singular_pose(away: float) -> None:
    """Pivots are of the size of the distance x from the flat pose, accelerations known to eps / x^3."""
    mech = sr.library.n_four_bar(20)
    down = -(0.5 * math.pi - away)
    q = np.array([down, -down] * 20 + [down])
    v = np.array([-1.0, 1.0] * 20 + [-1.0])
    run = sr.simulate(mech, (0.0, 0.1 * away), q, v, dt=0.02 * away)
    other = np.array([mech.acceleration(q, v, np.zeros(mech.nv)) for q, v in zip(run.q, run.v, strict=True)])
    assert run.success
    assert np.abs(run.a - other).max() < 1e-10 + 1e-14 / away**3


def flat_row(n: int, away: float) -> tuple[sr.Mechanism, np.ndarray, np.ndarray, np.ndarray]:
    """A row of four-bars at `away` from its flat pose, its velocity, and its acceleration in closed form."""
    mech = sr.library.n_four_bar(n)
    turned = np.array([-1.0, 1.0] * n + [-1.0])
    pull = 9.81 * (1.5 * n + 0.5) / (4.0 * n / 3.0 + 1.0 / 3.0)
    return mech, (0.5 * math.pi - away) * turned, turned, pull * math.cos(away) * turned


@pytest.mark.parametrize("n", [6, 60, 200])
@pytest.mark.parametrize("away", 10.0 ** -np.arange(1, 11))
def test_single_calls_next_to_a_singular_pose(n: int, away: float) -> None:
    """Pivots have the size of the distance: rounding of points n metres away, over it, is all that is lost.

    n = 6 is solved densely, the others by entries; from 1e-9 on the rows are lost and replaced by limits.
    """
    mech, q, v, exact = flat_row(n, away)
    error = np.abs(mech.acceleration(q, v, np.zeros(mech.nv)) - exact).max()
    lost = mech.mobility(q).rank == n
    assert lost == (away < 3e-9)
    assert error < 1e-10 + (0.0 if lost else 16 * 2.2e-16 * n / away)


@pytest.mark.parametrize("n", [5, 16, 60])
@pytest.mark.parametrize("away", [0.0, 1e-10])
def test_a_run_that_starts_in_a_singular_pose(n: int, away: float) -> None:
    """The rows that are lost there alone are replaced by their limits, of large mechanisms too."""
    mech, q, v, exact = flat_row(n, away)
    run = sr.simulate(mech, (0.0, 0.05), q, v, dt=1e-3)
    assert np.abs(run.a[0] - exact).max() < 1e-10
    assert np.ptp(run.energy) < 1e-11 * n * 9.81 * 20


def test_rows_that_are_redundant_in_the_plane_only_are_not_forgotten() -> None:
    """Hinges in space close a row of four-bars; a wrench across the plane must not move it."""
    mech = sr.library.net(4, closure="revolute")
    push = np.sin(np.arange(mech.nv))
    run = sr.simulate(mech, (0.0, 0.02), tau=push, dt=1e-3)
    plain = sr.simulate(sr.library.net(4), (0.0, 0.02), tau=push, dt=1e-3)
    assert np.abs(run.q[-1] - plain.q[-1]).max() < 1e-12


def tree() -> sr.Mechanism:
    """A floating tree of all joints, with armature, of more than 32 coordinates."""
    joints = [
        sr.Revolute("z"),
        sr.Spherical(),
        sr.Prismatic("x"),
        sr.Universal("x", "y"),
        sr.Helical("y", 0.1),
    ]
    spec = sr.MechanismSpec(name="tree")
    spec.body("b0", joint=sr.Free(), **MASS)
    for i in range(1, 26):
        joint = joints[i % 5]
        armature = 0.02 if i % 5 in (0, 2) else 0.0
        at = sr.Pose((0.4, 0.1 * (i % 3), 0.2), rpy=(0.1 * i, 0.2, -0.1))
        spec.body(f"b{i}", parent=f"b{(i - 1) // 2 * 2 - i % 2 if i > 2 else 0}", joint=joint, at=at,
                  armature=armature, damping=0.01, **MASS)  # fmt: skip
    return spec.compile()


def test_a_tree_accelerates_as_its_mass_matrix_says() -> None:
    mech, rng = tree(), np.random.default_rng(3)
    assert mech.nv > 32 and mech.nc == 0
    q, v, tau = mech.integrate(mech.neutral(), rng.normal(size=mech.nv)), *rng.normal(size=(2, mech.nv))
    terms = mech.terms(q, v)
    exact = np.linalg.solve(terms.M, tau - terms.h)
    motion = mech.forward_dynamics(q, v, tau)
    assert np.abs(motion.a - exact).max() < 1e-11 * np.abs(exact).max()
    assert not motion.constraint_force.any()
    run = sr.simulate(mech, (0.0, 0.05), q, v, tau=tau, dt=1e-3)
    assert np.abs(run.a[0] - exact).max() < 1e-11 * np.abs(exact).max()


def test_a_long_chain_keeps_its_energy() -> None:
    spec = sr.MechanismSpec(gravity=(0.0, -9.81, 0.0), name="chain")
    parent, at = "ground", sr.Pose()
    for i in range(1000):
        bar = {"mass": 1.0, "com": (0.5, 0, 0), "inertia": (0.0, 1 / 12, 1 / 12)}
        spec.body(f"l{i}", parent=parent, joint=sr.Revolute("z"), at=at, **bar)
        parent, at = f"l{i}", sr.Pose((1.0, 0.0, 0.0))
    mech = spec.compile()
    run = sr.simulate(mech, (0.0, 0.02), 0.3 * (-1.0) ** np.arange(1000), dt=1e-3)
    energy = mech.energy(run.q, run.v)
    assert run.success and np.ptp(energy.total) < 1e-7 * np.ptp(energy.kinetic)


def test_implicit_steps_by_entries() -> None:
    """radau on a row of 40 four-bars moves all uprights alike, with the energy of the start."""
    mech = sr.library.n_four_bar(40)
    run = sr.simulate(mech, (0.0, 0.3), method="radau", rtol=1e-9)
    other = sr.simulate(mech, (0.0, 0.3), dt=1e-3)
    assert run.success and run.drift.max() < 1e-12
    assert np.abs(run.q[-1] - other.q[-1]).max() < 1e-7
    assert np.ptp(run.q[-1, ::2]) < 1e-9

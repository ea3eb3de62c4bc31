"""Single calls on mechanisms of more than 64 coordinates, solved by entries, against dense oracles."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import numpy as np
import pytest

import sarrus as sr


def hinged_row(n: int) -> sr.Mechanism:
    """A row of n four-bars whose loops are closed by hinges in space: three of five rows are redundant."""
    spec = sr.MechanismSpec(gravity=(0.0, -9.81, 0.0), name="hinged_row")
    bar = {"mass": 1.0, "inertia": (0.08, 0.01, 0.08)}
    for i in range(n + 1):
        spec.body(f"link{i}", joint=sr.Revolute("z"), at=sr.Pose((i, 0, 0)), com=(0, 0.5, 0), **bar)
        if i < n:
            at = sr.Pose((0, 1, 0))
            spec.body(f"coupler{i}", parent=f"link{i}", joint=sr.Revolute("z"), at=at, com=(0.5, 0, 0), **bar)
    for i in range(n):
        tip, end = sr.Pose((0, 1, 0)), sr.Pose((1, 0, 0))
        spec.close(f"hinge{i}", f"link{i + 1}", f"coupler{i}", sr.Revolute("z"), tip, end)
    mech = spec.compile()
    q = np.zeros(mech.nv)
    return mech.with_default(q, mech.consistent_velocity(q, np.ones(mech.nv)))


CASES: dict[str, Callable[[], sr.Mechanism]] = {
    "row of four-bars": lambda: sr.library.n_four_bar(40),
    "row of hinges": lambda: hinged_row(34),
    "net": lambda: sr.library.net(6),
    "net of hinges": lambda: sr.library.net(6, closure="revolute"),
    "twelve legs": lambda: sr.library.jansen_leg(12),
    "ring": lambda: sr.library.deployable_ring(36),
    "quaternions": lambda: sr.library.chain_mail(4),
}


def state(mech: sr.Mechanism) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A moving state on the constraints, and forces."""
    rng = np.random.default_rng(3)
    q = mech.default.q
    return q, mech.consistent_velocity(q, rng.normal(size=mech.nv)), rng.normal(size=mech.nv)


def scaled(mech: sr.Mechanism, q: np.ndarray) -> np.ndarray:
    """J without units."""
    J = mech.terms(q, np.zeros(mech.nv)).J
    return J * mech.evaluator.unit / mech.evaluator.row_unit[:, None]


@pytest.mark.parametrize("name", CASES)
def test_derivatives_are_those_of_dual_numbers_along_the_constraints(name: str) -> None:
    mech = CASES[name]()
    q, v, tau = state(mech)
    one, other = (mech.derivatives(q, v, tau, method=method) for method in ("analytic", "dual"))
    assert one.rank == other.rank
    N = mech.decompose(q).N
    Jv_q = mech.derivatives(q, v, tau).Jv_q
    lift = -np.linalg.lstsq(mech.terms(q, v).J, Jv_q @ N, rcond=None)[0]
    for part in ("a", "lam"):
        x, y = getattr(one, part), getattr(other, part)
        size = np.abs(y).max()
        np.testing.assert_allclose(x[1] @ N, y[1] @ N, atol=1e-9 * size)
        np.testing.assert_allclose(x[2], y[2], atol=1e-9 * size)
        along = [d[0] @ N + d[1] @ lift for d in (x, y)]
        np.testing.assert_allclose(*along, atol=1e-9 * np.abs(along[1]).max())


@pytest.mark.parametrize("name", ["row of four-bars", "row of hinges", "net", "twelve legs"])
def test_linear_models_are_those_of_dual_numbers(name: str) -> None:
    mech = CASES[name]()
    q, v, tau = state(mech)
    one = sr.linearize(mech, q, v, tau=tau)
    other = sr.linearize(mech, q, v, tau=tau, method="dual", independent=one.independent)
    assert one.independent == other.independent
    for part in ("A", "B"):
        x, y = getattr(one, part), getattr(other, part)
        np.testing.assert_allclose(x, y, atol=1e-8 * np.abs(y).max())


@pytest.mark.parametrize("name", CASES)
def test_mobility_is_that_of_singular_values(name: str) -> None:
    mech = CASES[name]()
    q = mech.default.q
    found = mech.mobility(q)
    J = scaled(mech, q)
    values = np.linalg.svd(J, compute_uv=False)
    assert found.rank == np.sum(values > 1e-9)
    np.testing.assert_allclose(found.singular_values, values, atol=1e-12 * values[0])
    assert found.dof == mech.nv - found.rank and not found.is_singular
    ranks = [np.linalg.matrix_rank(J[:i], tol=1e-9) for i in range(mech.nc + 1)]
    redundant = tuple(mech.row_names[i] for i in range(mech.nc) if ranks[i + 1] == ranks[i])
    assert found.redundant == redundant
    assert found.locked == () and mech.mobility(np.stack([q, q]))[1].redundant == redundant


@pytest.mark.parametrize("make", [sr.library.n_four_bar, hinged_row])
def test_a_singular_pose_is_found(make: Callable[[int], sr.Mechanism]) -> None:
    mech = make(40)
    flat = np.full(mech.nv, 0.5 * np.pi)
    flat[1::2] = -0.5 * np.pi
    found = mech.mobility(flat)
    assert found.dof == 41 and found.is_singular
    assert not mech.mobility().is_singular and mech.mobility().dof == 1


@pytest.mark.parametrize("name", CASES)
def test_assembly_ends_where_newtons_method_does(name: str) -> None:
    mech = CASES[name]()
    guess = mech.integrate(mech.default.q, 1e-3 * np.sin(np.arange(mech.nv)))
    found = mech.assemble(guess)
    assert found.success and found.residual < 1e-13 and found.iterations < 12
    q = guess
    for _ in range(8):
        terms = mech.terms(q, np.zeros(mech.nv))
        J = scaled(mech, q)
        step = np.linalg.pinv(J, rcond=1e-5) @ (terms.phi / mech.evaluator.row_unit)
        q = mech.integrate(q, -step * mech.evaluator.unit)
    # damping of the first steps moves the pose along its freedoms by the square of the way
    way = np.linalg.norm(mech.difference(guess, q))
    assert np.linalg.norm(mech.difference(q, found.q)) < 0.1 * way
    assert np.linalg.norm(mech.difference(guess, found.q)) < 1.001 * way


def test_assembly_from_afar_with_a_held_coordinate() -> None:
    mech = sr.library.n_four_bar(40)
    found = mech.assemble(mech.default.q, fixed={"link0": 0.9})
    assert found.success and found.q[0] == 0.9
    np.testing.assert_allclose(found.q[::2], 0.9, atol=1e-9)
    stuck = mech.assemble(mech.default.q, fixed={"link0": 0.9, "link1": 0.8})
    assert not stuck.success and "stays open" in stuck.message


@pytest.mark.parametrize("name", CASES)
def test_consistent_velocity_is_the_nearest(name: str) -> None:
    mech = CASES[name]()
    q, wish = mech.default.q, np.random.default_rng(5).normal(size=mech.nv)
    v = mech.consistent_velocity(q, wish)
    J, M = mech.terms(q, v).J, mech.mass_matrix(q)
    assert np.abs(J @ v).max() < 1e-12 * np.abs(v).max()
    N = mech.decompose(q).N
    expected = N @ np.linalg.solve(N.T @ M @ N, N.T @ M @ wish)
    np.testing.assert_allclose(v, expected, atol=1e-10 * np.abs(wish).max())


def test_other_threads_run_during_a_long_call() -> None:
    mech = sr.library.n_four_bar(250)
    q, v, tau = state(mech)
    ended = []
    long = threading.Thread(target=lambda: ended.append(mech.derivatives(q, v, tau, method="analytic")))
    long.start()
    ticks = 0
    while not ended and ticks < 10_000:
        time.sleep(1e-4)
        ticks += 1
    long.join()
    assert ticks > 1

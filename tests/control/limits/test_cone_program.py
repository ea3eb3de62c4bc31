"""Exact cones in the kernel, against Clarabel and closed forms."""

from __future__ import annotations

import numpy as np
import pytest

import sarrus as sr
from sarrus.control.limits import quadratic_program
from sarrus.control.limits.quadratic_program import Cone, Program, solve

C = sr.control


def random_program(seed: int, n: int, m: int, cones: int) -> Program:
    """A program with a known interior point, so that it is feasible."""
    random = np.random.default_rng(seed)
    inside = random.normal(size=n)
    A = random.normal(size=(m, n))
    at = A @ inside
    made = []
    for _ in range(cones):
        T, c, d = random.normal(size=(2, n)), random.normal(size=2), random.normal(size=n)
        e = float(np.linalg.norm(T @ inside + c) - d @ inside + 0.1 + random.uniform())
        made.append(Cone(T, c, d, e))
    root = random.normal(size=(n, n))
    H = None if seed % 2 else root @ root.T + np.eye(n)
    upper = np.where(random.uniform(size=m) < 0.5, np.inf, at + 1.0)
    return Program(3.0 * random.normal(size=n), A, at - random.uniform(size=m), upper, H, made)


@pytest.mark.parametrize(("n", "m", "cones"), [(2, 0, 1), (4, 3, 2), (8, 20, 2), (12, 30, 4)])
def test_the_kernel_finds_the_optimum_of_an_interior_point_method(n: int, m: int, cones: int) -> None:
    for seed in range(40):
        program = random_program(seed, n, m, cones)
        ours, theirs = solve(program, "cones"), solve(program, "clarabel")
        assert ours.feasible and theirs.feasible
        H = np.eye(n) if program.H is None else program.H
        costs = [float((z - program.z0) @ H @ (z - program.z0)) for z in (ours.z, theirs.z)]
        size = 1.0 + np.abs(theirs.z).max()
        # feasible to rounding, and never dearer than Clarabel's answer, which stops 1e-8 to 1e-5 above
        assert max(cone.excess(ours.z) for cone in program.cones) <= 1e-11 * size
        assert np.all(program.A @ ours.z <= program.upper + 1e-9 * size)
        assert np.all(program.A @ ours.z >= program.lower - 1e-9 * size)
        assert costs[0] <= costs[1] * (1.0 + 1e-9) + 1e-12
        np.testing.assert_allclose(ours.z, theirs.z, atol=1e-3 * size, err_msg=f"seed {seed}")


def test_the_nearest_point_of_a_disc() -> None:
    disc = Cone(np.eye(2), np.array([3.0, 4.0]), np.zeros(2), 2.0)  # |z + (3, 4)| <= 2
    found = solve(Program(np.zeros(2), np.zeros((0, 2)), np.zeros(0), np.zeros(0), None, [disc]), "cones")
    np.testing.assert_allclose(found.z, [-1.8, -2.4], atol=1e-11)


def test_cones_without_a_common_point_are_infeasible() -> None:
    discs = [Cone(np.eye(2), np.array([x, 0.0]), np.zeros(2), 1.0) for x in (-3.0, 3.0)]
    assert not solve(
        Program(np.zeros(2), np.zeros((0, 2)), np.zeros(0), np.zeros(0), None, discs), "cones"
    ).feasible


def test_a_law_with_exact_cones_is_one_call() -> None:
    mech = sr.library.dual_arm_box()
    X = mech.pose(mech.default.q, "box")
    goal = sr.Pose(X.xyz + np.array([0.05, 0.1, 0.1]), matrix=X.rotation)

    def law(solver: str) -> sr.control.ForceLimits:
        grips = [C.Friction(f"grip_{side}", 0.05, "-z", edges=None) for side in ("left", "right")]
        return C.ForceLimits(
            mech, C.BodyPose("box"), goal, [*grips, C.TorqueBounds((-80.0, 80.0))], solver=solver
        )

    ours, theirs = law("auto"), law("clarabel")
    for seed in range(5):
        v = mech.consistent_velocity(mech.default.q, 0.1 * np.random.default_rng(seed).normal(size=mech.nv))
        found, expected = ours.solve(0.0, mech.default.q, v), theirs.solve(0.0, mech.default.q, v)
        assert found.qp.solver == "kernel" and found.qp.cones == 2 and expected.qp.solver == "clarabel"
        assert found.active_limits == expected.active_limits and found.status == expected.status
        np.testing.assert_allclose(found.u, expected.u, atol=1e-6)
        margins = found.margins
        assert margins == pytest.approx(expected.margins, abs=1e-5)


def pinched_program(seed: int) -> Program:
    """Two cones that the goal lies far outside of, with little room between them: steps by curvature alone
    go round in circles."""
    random = np.random.default_rng(seed)
    n = 8
    inside = random.normal(size=n)
    made = []
    for _ in range(2):
        T, d = random.normal(size=(2, n)), 0.05 * random.normal(size=n)
        c = -T @ inside + 1e-3 * random.normal(size=2)
        made.append(Cone(T, c, d, float(np.linalg.norm(T @ inside + c) - d @ inside + 0.05)))
    A = random.normal(size=(16, n))
    return Program(inside + 20.0 * random.normal(size=n), A, A @ inside - 2.0, A @ inside + 2.0, None, made)


def test_planes_are_kept_where_steps_go_round_in_circles(monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(40):
        program = pinched_program(seed)
        theirs = solve(program, "clarabel")
        with monkeypatch.context() as without:
            without.setitem(quadratic_program._SOLVERS, "clarabel", None)
            without.setattr(quadratic_program, "_clarabel", None)
            ours = solve(program, "cones")
        assert ours.feasible and theirs.feasible
        costs = [float(np.sum((z - program.z0) ** 2)) for z in (ours.z, theirs.z)]
        assert max(cone.excess(ours.z) for cone in program.cones) <= 1e-11 * (1.0 + np.abs(ours.z).max())
        assert costs[0] <= costs[1] * (1.0 + 1e-9)
        np.testing.assert_allclose(ours.z, theirs.z, atol=1e-3)

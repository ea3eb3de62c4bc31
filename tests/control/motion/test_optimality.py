"""Least torque against a generic convex solver on the whole problem: random mechanisms, redundant rows."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import sarrus as sr
from tests.oracles import random_mechanisms as rm
from tests.oracles.states import mechanism, tangent_velocity

from .full_problem import least_torque

C = sr.control
JOINTS = ("revolute", "prismatic", "helical", "cylindrical", "universal", "spherical", "planar")


def random_case(seed: int) -> tuple[sr.Mechanism, np.ndarray, np.ndarray, C.Function, np.ndarray]:
    """A random closed mechanism, a state, and fewer outputs than freedoms: random functions of q."""
    rng = np.random.default_rng(seed)
    kinds = (("spherical",), ("revolute",), ("spherical", "universal"))[seed % 3]
    d = rm.loops(seed, kinds, 5 + seed % 3, JOINTS)
    d = d if seed % 2 else rm.duplicated(d)
    mech = mechanism(d)
    q = np.asarray(d.q)
    v = 0.3 * tangent_velocity(mech, q, seed)
    dof = mech.mobility(q).dof
    k = int(np.clip(dof - 1 - seed % 2, 1, 6))
    bodies = mech.body_names[1:]
    points, along = rng.normal(size=(len(bodies), 3)), rng.normal(size=(k, len(bodies), 3))

    def x(q: np.ndarray) -> np.ndarray:
        places = np.array([mech.pose(q, b).apply(p) for b, p in zip(bodies, points, strict=True)])
        return np.einsum("kbi,bi->k", along, places)

    def J(q: np.ndarray) -> np.ndarray:
        each = np.array([mech.jacobian(q, b, p)[:3] for b, p in zip(bodies, points, strict=True)])
        return np.einsum("kbi,bin->kn", along, each)

    return mech, q, v, C.Function(x, J), x(q) + 0.2 * rng.normal(size=k)


SEEDS = range(12)


@pytest.mark.parametrize("seed", SEEDS)
def test_without_limits(seed: int) -> None:
    mech, q, v, output, goal = random_case(seed)
    found = C.ProjectedInverseDynamics(mech, output, goal, kp=20.0).solve(0.0, q, v)
    assert found.status == C.Status.OK and len(goal) < mech.mobility(q).dof
    u = least_torque(mech, q, v, found._task.J, found._task.wanted)
    assert u is not None
    np.testing.assert_allclose(found.u, u, atol=1e-6 * (1.0 + np.abs(u).max()))


@pytest.mark.parametrize("seed", SEEDS)
def test_with_limits_on_torques_and_forces(seed: int) -> None:
    mech, q, v, output, goal = random_case(seed)
    free = C.ProjectedInverseDynamics(mech, output, goal, kp=20.0).solve(0.0, q, v)
    bound = 0.8 * np.abs(free.u).max()
    rng = np.random.default_rng(100 + seed)
    rows = rng.normal(size=(3, mech.nv))
    most = 0.9 * np.abs(rows @ free.constraint_force).max()
    limits = [C.TorqueBounds((-bound, bound)), C.LinearLimits("forces", force=rows, upper=most)]
    found = C.ForceLimits(mech, output, goal, limits, kp=20.0).solve(0.0, q, v)
    u = least_torque(mech, q, v, found._task.J, found._task.wanted, (-bound, bound), rows, most)
    assert (u is None) == (found.status not in (C.Status.OK, C.Status.LIMITED))
    assert np.abs(found.u).max() <= bound
    if u is not None:
        assert found.status == C.Status.LIMITED
        np.testing.assert_allclose(found.u, u, atol=1e-6 * (1.0 + np.abs(u).max()))
        assert np.abs(found.missed).max() < 1e-6 * (1.0 + np.abs(found._task.wanted).max())


@pytest.mark.parametrize("mu", [0.05, 0.3])
def test_friction_of_two_arms_exactly(mu: float) -> None:
    mech = sr.library.dual_arm_box()
    q = np.array(mech.default.q)
    X = mech.pose(q, "box")
    target = sr.Pose(X.xyz + np.array([0.02, 0.03, 0.05]), matrix=X.rotation)
    limits = [C.Friction(f"grip_{side}", mu, "-z", edges=None) for side in ("left", "right")]
    found = C.ForceLimits(mech, C.BodyPose("box"), target, limits, kp=40.0).solve(0.0, q, np.zeros(mech.nv))
    names = list(mech.row_names)
    cones = [
        ([names.index(f"grip_{s}.tx"), names.index(f"grip_{s}.ty")], names.index(f"grip_{s}.tz"), -mu)
        for s in ("left", "right")
    ]
    u = least_torque(mech, q, np.zeros(mech.nv), found._task.J, found._task.wanted, cones=cones)
    assert u is not None
    np.testing.assert_allclose(found.u, u, atol=1e-5 * np.abs(u).max())
    assert np.linalg.norm(found.u) == pytest.approx(np.linalg.norm(u), rel=1e-7)
    assert found.qp.cones == (2 if found.status == C.Status.LIMITED else 0)


def test_the_pyramid_lies_inside_the_cone_and_closes_in_on_it() -> None:
    mech = sr.library.dual_arm_box()
    q = np.array(mech.default.q)
    X = mech.pose(q, "box")
    target, mu = sr.Pose(X.xyz + np.array([0.1, 0.0, 0.1]), matrix=X.rotation), 0.05
    names = list(mech.row_names)
    norms = []
    for edges in (4, 8, 16, 64, None):
        limits = [C.Friction(f"grip_{side}", mu, "-z", edges=edges) for side in ("left", "right")]
        found = C.ForceLimits(mech, C.BodyPose("box"), target, limits).solve(0.0, q, np.zeros(mech.nv))
        assert found.status == C.Status.LIMITED
        for side in ("left", "right"):
            f = [found.lam[names.index(f"grip_{side}.t{axis}")] for axis in "xyz"]
            assert np.hypot(f[0], f[1]) <= -mu * f[2] * (1.0 + 1e-7)
        norms.append(np.linalg.norm(found.u))
    assert np.all(np.diff(norms) < 1e-6 * norms[-1])
    assert norms[-2] / norms[-1] - 1.0 < 2e-3 < norms[0] / norms[-1] - 1.0


def test_other_solvers_give_the_same_answers() -> None:
    for seed in (1, 3, 5):
        mech, q, v, output, goal = random_case(seed)
        free = C.ProjectedInverseDynamics(mech, output, goal).solve(0.0, q, v)
        bound = 0.9 * np.abs(free.u).max()
        one, *others = (
            C.ForceLimits(mech, output, goal, C.TorqueBounds((-bound, bound)), solver=s).solve(0.0, q, v)
            for s in ("auto", "daqp", "scipy")
        )
        assert dataclasses.asdict(one.qp)["solver"] == "kernel"
        for other, solver in zip(others, ("daqp", "scipy"), strict=True):
            assert (one.status, one.qp.variables) == (other.status, other.qp.variables)
            np.testing.assert_allclose(one.u, other.u, atol=1e-6 * bound)
            assert other.qp.solver == solver

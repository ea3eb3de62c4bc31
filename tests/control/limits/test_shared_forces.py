"""Contacts whose rows depend on each other: limits are judged by what is possible, not by the least shares.

Oracles: linear programs over all contact forces, and the whole problem for a generic convex solver.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

import sarrus as sr
from sarrus.constraints.closures import Closure

from ..motion.full_problem import least_torque

C = sr.control
WEIGHT = 21.01 * 9.81


def foot(points: np.ndarray) -> sr.Mechanism:
    """A foot of 1 kg on points (n, 2) of the ground; slides above it carry 20 kg and move the pressure."""
    spec = sr.MechanismSpec(name="foot")
    spec.body("foot", joint=sr.Free(), mass=1.0, inertia=(0.01,) * 3)
    spec.body("mx", "foot", joint=sr.Prismatic("x"), at=sr.Pose((0, 0, 0.3)), mass=0.01)
    spec.body("my", "mx", joint=sr.Prismatic("y"), mass=20.0, inertia=(0.01,) * 3)
    for k, (x, y) in enumerate(points):
        spec.close(
            f"p{k}", "ground", "foot", sr.Spherical(), at_a=sr.Pose((x, y, 0)), at_b=sr.Pose((x, y, 0))
        )
    spec.actuate("mx", "my")
    return spec.compile()


def standing(mech: sr.Mechanism, pressure: np.ndarray) -> np.ndarray:
    """The pose with the centre of pressure (2,) at rest."""
    q = mech.neutral()
    q[mech.index("mx").q] = pressure[0] * 21.01 / 20.01
    q[mech.index("my").q] = pressure[1] * 21.01 / 20.0
    return q


def law_of(kind: str, mech: sr.Mechanism, q: np.ndarray, limits: list, **more: object) -> object:
    if kind == "TaskHierarchy":
        return C.TaskHierarchy(mech, [C.PriorityTask(["mx", "my"], q[7:], kp=100.0)], limits=limits, **more)
    return C.ForceLimits(mech, ["mx", "my"], q[7:], limits, kp=100.0, **more)


CORNERS = np.array([(0.1, 0.05), (0.1, -0.05), (-0.1, 0.05), (-0.1, -0.05)])
LAWS = ("ForceLimits", "TaskHierarchy")


@pytest.mark.parametrize("kind", LAWS)
@pytest.mark.parametrize("solver", ["kernel", "scipy"])
def test_the_whole_support_can_be_used(kind: str, solver: str) -> None:
    mech = foot(CORNERS)
    rows = [mech.row_names.index(f"p{k}.tz") for k in range(4)]
    limits = [C.Unilateral(f"p{k}.tz") for k in range(4)]
    for share in (0.0, 0.4, 0.6, 0.8, 0.95):
        q = standing(mech, share * CORNERS[0])
        found = law_of(kind, mech, q, limits, solver=solver).solve(0.0, q, np.zeros(mech.nv))
        pushes = found.lam[rows]
        assert found.status in (C.Status.OK, C.Status.LIMITED)
        # bounds have a slack of 1e-9 of the largest load from level to level
        assert min(found.margins.values()) > -1e-6 and pushes.min() > -1e-6
        np.testing.assert_allclose(found.a, 0.0, atol=1e-7)
        np.testing.assert_allclose(pushes.sum(), WEIGHT, rtol=1e-9)
        np.testing.assert_allclose(pushes @ CORNERS / WEIGHT, share * CORNERS[0], atol=1e-9)
        np.testing.assert_allclose(
            mech.terms(q, np.zeros(mech.nv)).J.T @ found.lam, found.constraint_force, atol=1e-7
        )
    q = standing(mech, 1.1 * CORNERS[0])  # tips over: no forces exist
    beyond = law_of(kind, mech, q, limits, solver=solver).solve(0.0, q, np.zeros(mech.nv))
    assert beyond.status in (C.Status.PARTIAL, C.Status.INFEASIBLE) and "limits" in beyond.message


def test_least_shares_where_they_keep_the_limits() -> None:
    """As long as the least shares do, nothing changes: they are reported as before."""
    mech = foot(CORNERS)
    q = standing(mech, 0.3 * CORNERS[0])
    limits = [C.Unilateral(f"p{k}.tz") for k in range(4)]
    found = C.ForceLimits(mech, ["mx", "my"], q[7:], limits).solve(0.0, q, np.zeros(mech.nv))
    plant = mech.forward_dynamics(q, np.zeros(mech.nv), u=found.u)
    np.testing.assert_allclose(found.lam, plant.lam, atol=1e-8)


def possible(
    mech: sr.Mechanism, q: np.ndarray, a: np.ndarray, tau: np.ndarray, mu: float, edges: int
) -> bool:
    """Whether contact forces in pyramids exist for this motion, by a linear program."""
    t = mech.terms(q, np.zeros(mech.nv))
    n = mech.nc // 3
    angles = (2 * np.arange(edges) + 1) * np.pi / edges
    faces = np.zeros((n * (edges + 1), mech.nc))
    for k in range(n):
        faces[k * (edges + 1), 3 * k + 2] = -1.0
        for i, angle in enumerate(angles):
            row = faces[k * (edges + 1) + 1 + i]
            row[3 * k : 3 * k + 3] = np.cos(angle), np.sin(angle), -mu * np.cos(np.pi / edges)
    found = linprog(
        np.zeros(mech.nc),
        faces,
        np.zeros(len(faces)),
        t.J.T,
        t.M @ a + t.h - tau,
        bounds=(None, None),
    )
    return found.status == 0


@pytest.mark.parametrize("seed", range(12))
def test_feasible_by_a_linear_program_is_feasible_for_laws(seed: int) -> None:
    """Random supports, pressures and pushes with friction: three to seven points, up to 15 redundant rows."""
    rng = np.random.default_rng(seed)
    points = rng.uniform(-0.1, 0.1, size=(3 + seed % 5, 2))
    mech = foot(points)
    weights = rng.dirichlet(0.7 * np.ones(len(points)))
    spread = 1.0 if seed % 3 else 1.3
    q = standing(mech, points.mean(axis=0) + spread * (weights @ points - points.mean(axis=0)))
    mu, push = 0.3, rng.uniform(-2.5, 2.5, size=2)
    limits = [C.Friction(f"p{k}", mu) for k in range(len(points))]
    v = np.zeros(mech.nv)
    law = C.ForceLimits(mech, ["mx", "my"], lambda t: (q[7:], np.zeros(2), push), limits)
    found = law.solve(0.0, q, v)
    task = C.PriorityTask(["mx", "my"], lambda t: (q[7:], np.zeros(2), push))
    levels = C.TaskHierarchy(mech, task, limits=limits).solve(0.0, q, v)
    a = C.ProjectedInverseDynamics(mech, ["mx", "my"], lambda t: (q[7:], np.zeros(2), push)).solve(0.0, q, v)
    feasible = possible(mech, q, a.a, a.tau, mu, 8)
    for one in (found, levels):
        assert (one.status in (C.Status.OK, C.Status.LIMITED)) == feasible, one.message
        if feasible:
            assert min(one.margins.values()) > -1e-6


def three_points_each() -> tuple[sr.Mechanism, np.ndarray]:
    """The box held at three points by each hand: eighteen rows of rank twelve."""
    mech = sr.library.dual_arm_box()
    q = np.array(mech.default.q)
    grips = dict(mech.model.constraints)
    replaced = {}
    for side in ("left", "right"):
        one = grips[f"grip_{side}"]
        for k, angle in enumerate((0.3, 2.4, 4.5)):
            at = sr.Pose((0.04 * np.cos(angle), 0.04 * np.sin(angle), 0.0))
            replaced[f"{side}{k}"] = Closure(one.a, one.b, sr.Spherical(), one.at_a @ at, one.at_b @ at)
    return mech.with_constraints(active=[*replaced], replaced=replaced).with_default(q), q


@pytest.mark.parametrize("mu", [0.2, 0.35])
def test_least_torque_with_cones_at_points_of_two_hands(mu: float) -> None:
    """Against a generic solver with all contact forces as variables, exact cones."""
    mech, q = three_points_each()
    X = mech.pose(q, "box")
    target = sr.Pose(X.xyz + np.array([0.02, 0.03, 0.05]), matrix=X.rotation)
    names = [f"{side}{k}" for side in ("left", "right") for k in range(3)]
    limits = [C.Friction(name, mu, "-z", edges=None) for name in names]
    law = C.ForceLimits(mech, C.BodyPose("box"), target, limits, kp=40.0)
    found = law.solve(0.0, q, np.zeros(mech.nv))
    rows = list(mech.row_names)
    cones = [([rows.index(f"{n}.tx"), rows.index(f"{n}.ty")], rows.index(f"{n}.tz"), -mu) for n in names]
    u = least_torque(mech, q, np.zeros(mech.nv), found._task.J, found._task.wanted, cones=cones)
    assert u is not None and found.status == C.Status.LIMITED
    assert np.linalg.norm(found.u) == pytest.approx(np.linalg.norm(u), rel=1e-6)
    np.testing.assert_allclose(found.u, u, atol=1e-4 * np.abs(u).max())
    assert min(found.margins.values()) > -1e-6


@pytest.mark.parametrize("kind", LAWS)
def test_two_hinges_of_a_door_share_what_each_can_bear(kind: str) -> None:
    """No contact: 30 N along the axis of two hinges; least norm has 15 N each, of which one bears only 10."""
    spec = sr.MechanismSpec(gravity=(0.0, 0.0, -10.0), name="door")
    spec.body("door", joint=sr.Free(), mass=2.0, com=(0.4, 0.0, 0.0), inertia=(0.1, 0.1, 0.1))
    at = sr.Pose((0.4, 0, 0))
    spec.body("wheel", "door", joint=sr.Revolute("z"), at=at, mass=1.0, inertia=(0.01,) * 3)
    for name, z in (("low", -0.5), ("high", 0.5)):
        spec.close(name, "ground", "door", sr.Spherical(), at_a=sr.Pose((0, 0, z)), at_b=sr.Pose((0, 0, z)))
    spec.actuate("wheel")
    mech = spec.compile()
    axial = [mech.row_names.index(f"{name}.tz") for name in ("low", "high")]

    def solve(most: tuple[float, float]) -> C.Solution:
        limits = [
            C.LinearLimits(f"hinge {i}", lam=np.eye(mech.nc)[i], upper=x)
            for i, x in zip(axial, most, strict=True)
        ]
        if kind == "ForceLimits":
            law = C.ForceLimits(mech, "wheel", 0.1, limits)
        else:
            law = C.TaskHierarchy(mech, C.PriorityTask("wheel", 0.1), limits=limits)
        return law.solve(0.0, mech.neutral(), np.zeros(mech.nv))

    found = solve((10.0, 25.0))
    assert found.status == C.Status.LIMITED
    np.testing.assert_allclose(found.lam[axial], [10.0, 20.0], atol=1e-6)
    short = solve((10.0, 15.0))
    assert short.status == C.Status.INFEASIBLE and sum(short.violations.values()) == pytest.approx(5.0)

"""project: the nearest consistent state, against its definition and an independent optimizer."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.linalg import qr
from scipy.optimize import minimize

import sarrus as sr
from sarrus.projection.decomposition import ranked_svd
from sarrus.projection.nearest_state import TROUBLE
from sarrus.projection.system_kinematics import dimensionless

LIBRARY = ["four_bar", "bricard", "bennett", "stewart", "dual_arm", "quadruped", "jansen_leg", "rolling_disk"]


def disturbed(mech: sr.Mechanism, size: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The default state with noise of `size` [rad], or times L [m]."""
    rng = np.random.default_rng(seed)
    noise, jolt = size * mech.model.unit * rng.normal(size=(2, mech.nv))
    return mech.integrate(mech.default.q, noise), mech.default.v + jolt


@pytest.mark.parametrize("size", [1e-4, 1e-2, 0.1])
@pytest.mark.parametrize("name", LIBRARY)
def test_consistent_and_stationary(name: str, size: float) -> None:
    """Closed to rounding, and the distance from q is stationary along every tangent direction (differences of
    step 1e-5: errors of 1e-10 / size relative to the slope of the distance)."""
    mech = getattr(sr.library, name)()
    for seed in range(3):
        q, v = disturbed(mech, size, seed)
        found = mech.project(q, v)
        terms, M = mech.terms(*found), mech.mass_matrix(q)
        assert np.max(np.abs(terms.phi)) < 2e-14 * max(1.0, mech.length)
        assert np.max(np.abs(terms.J @ found.v - terms.b)) < 1e-12
        positions = dimensionless(mech.evaluator, terms.J)[mech.model.holonomic]
        N = mech.model.unit[:, None] * ranked_svd(positions, 1e-9).N

        def distance(x: np.ndarray) -> float:
            d = mech.difference(q, mech.integrate(found.q, x))  # noqa: B023
            return float(np.sqrt(d @ M @ d))  # noqa: B023

        for x in N.T * 1e-5:
            size_of_x = np.sqrt(x @ M @ x)
            assert abs(distance(x) - distance(-x)) < 2e-5 * size_of_x
            assert distance(x) > distance(0 * x) - 1e-12
        # velocities: the change is orthogonal to all velocities that the rows allow
        K = mech.model.unit[:, None] * ranked_svd(dimensionless(mech.evaluator, terms.J), 1e-9).N
        assert np.max(np.abs(K.T @ M @ (found.v - v))) < 1e-9 * (1.0 + np.max(np.abs(M)))
        again = mech.project(*found)
        assert np.max(np.abs(mech.difference(found.q, again.q))) < 1e-12
        assert np.max(np.abs(again.v - found.v)) < 1e-11


def test_an_independent_optimizer_finds_the_same_pose() -> None:
    for name in ("four_bar", "dual_planar_arms", "jansen_leg"):
        mech = getattr(sr.library, name)()
        q, _ = disturbed(mech, 0.05, 4)
        M = mech.mass_matrix(q)
        scale = float(np.max(np.abs(M)))
        J = mech.terms(mech.default.q, 0 * q).J
        rows = qr(J.T, pivoting=True)[2][: np.linalg.matrix_rank(J)]  # SLSQP takes independent rows only
        theirs = minimize(
            lambda x: (x - q) @ M @ (x - q) / scale,  # noqa: B023
            q,
            jac=lambda x: 2 * M @ (x - q) / scale,  # noqa: B023
            constraints={"type": "eq", "fun": lambda x: mech.terms(x, 0 * x).phi[rows]},  # noqa: B023
            options={"ftol": 1e-15, "maxiter": 500},
        )
        assert theirs.success, theirs.message
        np.testing.assert_allclose(mech.project(q).q, theirs.x, atol=1e-6)


def test_the_state_is_a_pair_with_attributes() -> None:
    mech = sr.library.four_bar()
    q, v = disturbed(mech, 1e-3, 0)
    found = mech.project(q, v)
    pose, speed = found
    assert len(found) == 2 and pose is found.q and speed is found.v
    assert found.status == 0
    phi = mech.terms(q, v).phi
    assert found.gap == pytest.approx(np.max(np.abs(phi) / mech.model.row_unit) * mech.length)
    assert np.array_equal(mech.project(q).v, np.zeros(mech.nv))
    same = pickle.loads(pickle.dumps(found))
    assert np.array_equal(same.q, found.q) and same.gap == found.gap and same.status == 0
    assert mech.default.gap == 0.0 and mech.default.status == 0


def test_batches_give_the_same_bits_and_keep_their_failures() -> None:
    spec = sr.MechanismSpec()
    spec.body("x", joint=sr.Prismatic("x"), mass=1.0)
    spec.body("y", joint=sr.Prismatic("y"), mass=2.0)
    spec.constrain("rod", sr.Distance("x", (0, 0, 0), "y", (0, 0, 0), 1.0))
    mech = spec.compile()
    q = np.array([[[0.6, 0.9], [0.0, 0.0]], [[-0.5, 0.5], [0.1, -1.2]]])
    v = np.ones((2, 2, 2))
    found = mech.project(q, v)
    assert found.q.shape == (2, 2, 2) and found.gap.shape == found.status.shape == (2, 2)
    assert np.isnan(found.q[0, 1]).all() and np.isnan(found.v[0, 1]).all()  # the points coincide
    assert "not defined" in TROUBLE[int(found.status[0, 1])]
    for at in ((0, 0), (1, 0), (1, 1)):
        alone = mech.project(q[at], v[at])
        assert np.array_equal(alone.q, found.q[at]) and np.array_equal(alone.v, found.v[at])
        assert alone.gap == found.gap[at] and found.status[at] == 0
        assert np.hypot(*alone.q) == pytest.approx(1.0, abs=1e-15)
    with pytest.raises(sr.AssemblyError, match=r"project: some row is not defined.*assemble\(q\) finds one"):
        mech.project(q[0, 1])
    with pytest.raises(sr.InputError, match="finite"):
        mech.project([np.nan, 0.0])
    assert mech.project(np.zeros((0, 2))).q.shape == (0, 2)


@pytest.mark.parametrize("name", ["four_bar", "slider_crank", "loader", "dual_planar_arms"])
def test_never_on_another_assembly(name: str) -> None:
    """With as many drives as freedoms J is square, and the flow phi' = -phi keeps the sign of det J: the pose
    found is on the start's side of the singular poses, even from starts up to 1 rad or L away."""
    free = getattr(sr.library, name)()
    q0 = np.array(free.default.q)
    N = ranked_svd(dimensionless(free.evaluator, free.terms(q0, np.zeros(free.nv)).J), 1e-9).N
    spec = sr.MechanismSpec.from_model(free.model)
    for k in qr(N.T, pivoting=True)[2][: N.shape[1]]:
        at = float(q0[k])
        spec.constrain(f"at {k}", sr.Drive(free.names[k], lambda t, at=at: at, lambda t: 0.0, lambda t: 0.0))
    mech = spec.compile()
    rows = qr(mech.terms(q0, np.zeros(mech.nv)).J.T, pivoting=True)[2][: mech.nv]

    def side(q: np.ndarray) -> float:
        return float(np.sign(np.linalg.det(mech.terms(q, np.zeros(mech.nv)).J[rows])))

    q = q0 + np.random.default_rng(1).uniform(-1.0, 1.0, (300, mech.nv))
    found = mech.project(q)
    closed = found.status == 0
    assert np.sum(closed) > 200
    assert [side(x) for x in found.q[closed]] == [side(x) for x in q[closed]]


@pytest.mark.parametrize("name", ["bricard", "four_bar", "five_bar", "slider_crank", "andrews", "bennett"])
def test_never_far_away(name: str) -> None:
    """Steps next to singular poses are not long: Bricard's joints once turned by 2e9 rad, closed to 1e-7."""
    mech = getattr(sr.library, name)()
    q0, unit = mech.default.q, np.asarray(mech.units.unit)
    away = 0.6 * unit * np.random.default_rng(0).uniform(-1, 1, (2048, mech.nv))
    poses = np.array([mech.integrate(q0, x) for x in away])
    found = mech.project(poses)
    fine = found.status == 0
    assert fine.mean() > 0.1
    moved = np.array([mech.difference(a, b) for a, b in zip(poses[fine], found.q[fine], strict=True)])
    M = mech.mass_matrix(poses[fine])
    size, most = (np.sqrt(np.einsum("bi,bij,bj->b", x, M, x)) for x in (moved, away[fine]))
    assert np.all(size <= 3.0 * most)  # the default state is closed, and `most` away


def test_a_target_beyond_reach_is_refused() -> None:
    """A slider pushed towards and beyond the stretched pose of its crank keeps its side, then fails."""
    spec = sr.MechanismSpec()
    spec.body("crank", joint=sr.Revolute("z"), mass=1.0, com=(0.5, 0, 0))
    spec.body("rod", "crank", joint=sr.Revolute("z"), at=sr.Pose((1, 0, 0)), mass=1.0, com=(1, 0, 0))
    spec.body("slider", joint=sr.Prismatic("x"), mass=1.0)
    spec.close("pin", "rod", "slider", joint=sr.Revolute("z"), at_a=sr.Pose((2.0, 0, 0)))
    spec.constrain("push", sr.Drive("slider", lambda t: 2.0 + t, lambda t: 1.0, lambda t: 0.0))
    slider = spec.compile()
    start = slider.assemble([1.0, -1.5, 2.0]).q
    up = np.sign(start[0])
    for t in np.linspace(0.0, 0.9, 10):
        assert np.sign(slider.project(start, t=t).q[0]) == up
    with pytest.raises(sr.AssemblyError, match="the way ends where rows lose rank"):
        slider.project(start, t=1.5)


def test_drives_rolling_and_rows_of_the_user() -> None:
    disk = sr.library.rolling_disk()
    q, v = disturbed(disk, 0.05, 1)
    found = disk.project(q, v)
    assert np.max(np.abs(disk.terms(*found).J @ found.v)) < 1e-13
    # (x, y) on a circle of radius 2, written by the user, points moved to mech.pose inside of it
    spec = sr.MechanismSpec()
    spec.body("x", joint=sr.Prismatic("x"), mass=1.0)
    spec.body("p", "x", joint=sr.Prismatic("y"), mass=1.0)
    spec.constrain("circle", sr.CustomConstraint(lambda q, t: [q[0] ** 2 + q[1] ** 2 - (2.0 + t) ** 2], 1))
    mech = spec.compile()
    q = np.array([[1.0, 1.5], [-2.5, 0.3]])
    found = mech.project(q, t=1.0)
    assert np.allclose(np.hypot(*found.q.T), 3.0, rtol=0, atol=1e-13)
    for at, one in zip(q, found.q, strict=True):
        M = mech.mass_matrix(at)
        tangent = np.array([-one[1], one[0]])
        assert abs(tangent @ M @ (one - at)) < 1e-9
    assert np.allclose(np.sum(found.q * found.v, axis=1), 3.0)  # the circle grows at 1 m/s
    system = sr.CustomSystem(2, 2, M=np.diag([1.0, 4.0]), phi=lambda q, v, t: [q @ q - 1.0])
    one = system.project([0.9, 0.8])
    assert one.q @ one.q == pytest.approx(1.0, abs=1e-13)
    assert abs(np.array([-one.q[1], one.q[0]]) @ np.diag([1.0, 4.0]) @ (one.q - [0.9, 0.8])) < 1e-8
    with pytest.raises(sr.AssemblyError, match="system 'custom system'"):
        sr.CustomSystem(2, 2, M=np.eye(2), phi=lambda q, v, t: [q @ q + 1.0]).project([0.3, 0.2])


def test_rates_that_contradict_are_named() -> None:
    spec = sr.MechanismSpec()
    spec.body("a", joint=sr.Revolute("z"), mass=1.0, com=(1, 0, 0))
    spec.constrain("one", sr.Drive("a", lambda t: t, lambda t: 1.0, lambda t: 0.0))
    spec.constrain("two", sr.Drive("a", lambda t: 2 * t, lambda t: 2.0, lambda t: 0.0))
    mech = spec.compile()
    with pytest.raises(sr.AssemblyError, match="prescribed rates contradict"):
        mech.project([0.0])


@pytest.mark.parametrize("noise", [1e-7, 1e-5, 1e-4])
def test_a_measured_state_stays_on_its_branch(noise: float) -> None:
    """Where two branches cross, the velocity tells the branch: the crank does not stop by projection. Before,
    the nearest pose alone decided, and (1, -2) rad/s became (1, 0)."""
    mech, rng = sr.library.slider_crank(), np.random.default_rng(3)
    along = np.array([1.0, -2.0])
    for _ in range(100):
        x = rng.choice([-1.0, 1.0]) * 10 ** rng.uniform(-6.5, -2.5)
        q = np.array([np.pi / 2, np.pi]) + x * along + noise * rng.normal(size=2)
        found = mech.project(q, along + 1e-3 * rng.normal(size=2))
        np.testing.assert_allclose(found.v, along, atol=0.02)
        assert np.abs(found.q - q).max() < 6.0 * noise
    many = mech.project(np.tile(q, (3, 1)), np.tile(along, (3, 1)))
    assert np.array_equal(many.v[0], many.v[2]) and many.q[1, 0] == pytest.approx(many.q[0, 0])


def test_without_a_velocity_the_nearest_pose_counts() -> None:
    """Along the other branch, and at rest."""
    mech = sr.library.slider_crank()
    q = np.array([np.pi / 2 + 1e-4, np.pi + 1e-4])
    for v in (np.zeros(2), np.array([1.0, 0.0])):
        found = mech.project(q, v)
        np.testing.assert_allclose(found.q, [q[0], np.pi], atol=1e-7)
        np.testing.assert_allclose(found.v, v, atol=1e-8)

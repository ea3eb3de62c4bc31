"""Every formulation against every other, and against the equations of motion themselves."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest

import sarrus as sr
from sarrus.dynamics.forward import forward_terms
from sarrus.dynamics.terms import Terms, Units

Array = npt.NDArray[np.float64]
NUMPY = ("svd", "projection", "projection_symmetric", "projection_gamma", "partition")
MECHANISMS = [
    "pendulum", "four_bar", "parallelogram", "bricard", "bennett", "sarrus", "scott_russell", "dual_arm",
    "stewart", "andrews", "quadruped", "rolling_disk", "flyball_governor",
]  # fmt: skip


def moving(mech: sr.Mechanism, seed: int = 1) -> tuple[Array, Array, Array]:
    """The default pose with a random possible velocity and a random force."""
    rng = np.random.default_rng(seed)
    q = np.array(mech.default.q)
    return q, mech.consistent_velocity(q, rng.normal(size=mech.nv)), 10 * rng.normal(size=mech.nv)


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("formulation", NUMPY)
def test_all_formulations_agree(name: str, formulation: str) -> None:
    mech = getattr(sr.library, name)()
    q, v, tau = moving(mech)
    kernel = mech.forward_dynamics(q, v, tau)
    other = mech.forward_dynamics(q, v, tau, formulation=formulation)
    for field in ("a", "constraint_force", "lam"):
        x, y = getattr(other, field), getattr(kernel, field)
        np.testing.assert_allclose(x, y, atol=1e-9 * max(1.0, np.abs(y).max(initial=0.0)))
    assert other.rank == kernel.rank
    np.testing.assert_array_equal(other.lam_unique, kernel.lam_unique)


@pytest.mark.parametrize("name", MECHANISMS)
def test_the_motion_satisfies_the_equations(name: str) -> None:
    mech = getattr(sr.library, name)()
    q, v, tau = moving(mech, 2)
    motion, terms = mech.forward_dynamics(q, v, tau), mech.terms(q, v)
    size = np.abs(terms.M).max() * np.abs(motion.a).max() + np.abs(tau).max()
    np.testing.assert_allclose(terms.M @ motion.a + terms.h, tau + terms.J.T @ motion.lam, atol=1e-11 * size)
    np.testing.assert_allclose(motion.constraint_force, terms.J.T @ motion.lam, atol=1e-11 * size)
    np.testing.assert_allclose(
        terms.J @ motion.a, terms.gamma, atol=1e-10 * (1 + np.abs(terms.gamma).max(initial=0.0))
    )
    assert abs(motion.constraint_force @ v) < 1e-10 * size


def test_multipliers_have_least_norm_and_unique_ones_are_marked() -> None:
    mech = sr.library.four_bar(closure="revolute")
    q, v, tau = moving(mech)
    motion = mech.forward_dynamics(q, v, tau)
    assert motion.lam_unique.tolist() == [True, True, False, False, False]
    J = mech.terms(q, v).J
    np.testing.assert_allclose(
        motion.lam, np.linalg.pinv(J.T, rcond=1e-9) @ motion.constraint_force, atol=1e-9
    )


def test_lagrange_agrees_where_rows_are_independent() -> None:
    mech = sr.library.dual_arm()
    q, v, tau = moving(mech)
    kernel, lagrange = (mech.forward_dynamics(q, v, tau, formulation=f) for f in ("nullspace", "lagrange"))
    np.testing.assert_allclose(lagrange.a, kernel.a, atol=1e-9 * np.abs(kernel.a).max())
    np.testing.assert_allclose(lagrange.lam, kernel.lam, atol=1e-9 * np.abs(kernel.lam).max())
    free = sr.library.double_pendulum()
    a = free.forward_dynamics([0.1, 0.2], [1.0, 2.0], formulation="lagrange").a
    np.testing.assert_allclose(a, free.acceleration([0.1, 0.2], [1.0, 2.0], [0.0, 0.0]), atol=1e-12)


def test_lagrange_refuses_dependent_rows_by_name() -> None:
    mech = sr.library.four_bar()
    with pytest.raises(
        sr.SingularConstraintError, match=r'"lagrange" needs.*rank 2.*pin\.rx, pin\.ry'
    ) as caught:
        mech.forward_dynamics(mech.default.q, mech.default.v, formulation="lagrange")
    assert caught.value.rank == 2
    assert caught.value.rows == ("pin.tz", "pin.rx", "pin.ry")


def test_the_acceleration_at_a_toggle_is_the_limit() -> None:
    """[Aghili2005] VIII at q = (pi/2, pi), v = (1, -2), f = (1, 0): a = (0.2, -0.4) exactly."""
    mech = sr.library.slider_crank()
    for formulation in ("nullspace", *NUMPY):
        motion = mech.forward_dynamics(
            [math.pi / 2, math.pi], [1.0, -2.0], [1.0, 0.0], formulation=formulation
        )
        np.testing.assert_allclose(motion.a, [0.2, -0.4], atol=1e-10)
        np.testing.assert_allclose(motion.constraint_force, [-0.8, -0.4], atol=1e-10)


@pytest.mark.parametrize("formulation", NUMPY)
@pytest.mark.parametrize("name", ["five_bar", "parallelogram"])
def test_limits_agree_on_other_singular_poses(name: str, formulation: str) -> None:
    mech = getattr(sr.library, name)()
    q = np.array(mech.default.q) if name == "five_bar" else np.zeros(3)
    v = np.array([1.0, -1.0, 1.0]) if name == "parallelogram" else smooth_velocity(mech, q)
    tau = np.arange(1.0, mech.nv + 1)
    kernel, other = (mech.forward_dynamics(q, v, tau, formulation=f) for f in ("nullspace", formulation))
    np.testing.assert_allclose(other.a, kernel.a, atol=1e-9 * np.abs(kernel.a).max())
    dropped = mech.forward_dynamics(q, 0 * v, tau, formulation=formulation)
    assert dropped.rank == other.rank


def smooth_velocity(mech: sr.Mechanism, q: Array) -> Array:
    """A velocity of the five-bar along a real path through its singular pose."""
    path = mech.sweep("link1", q[0] + np.array([0.0, 1e-5]))
    v = mech.difference(q, path.q[1]) / 1e-5
    d = mech.decompose(q)
    n1, n2 = d.N.T @ v, -mech.terms(q, v).gamma
    # one Newton step on w.T gamma(v) = 0 within the tangent space
    w = np.linalg.svd(mech.terms(q, v).J)[0][:, -1]
    step = 1e-6
    slope = np.array([w @ (mech.terms(q, v + step * d.N[:, i]).gamma + n2) / step for i in range(d.dof)])
    y = n1 + slope * (w @ n2) / (slope @ slope)
    for _ in range(3):
        gamma = w @ mech.terms(q, d.N @ y).gamma
        slope = (
            np.array([w @ (mech.terms(q, d.N @ y + step * d.N[:, i]).gamma) - gamma for i in range(d.dof)])
            / step
        )
        y = y - slope * gamma / (slope @ slope)
    return np.asarray(d.N @ y)


def test_a_velocity_without_continuation_adds_nothing() -> None:
    mech = sr.library.five_bar()
    q, v, tau = moving(mech, 3)
    kernel, svd = (mech.forward_dynamics(q, v, tau, formulation=f) for f in ("nullspace", "svd"))
    np.testing.assert_allclose(svd.a, kernel.a, atol=1e-9 * np.abs(kernel.a).max())


def test_partition_takes_the_users_coordinates() -> None:
    mech = sr.library.four_bar()
    q, v, tau = moving(mech)
    kernel = mech.forward_dynamics(q, v, tau)
    for name in mech.names:
        chosen = mech.forward_dynamics(q, v, tau, formulation="partition", independent=[name])
        np.testing.assert_allclose(chosen.a, kernel.a, atol=1e-9 * np.abs(kernel.a).max())


def test_partition_refuses_coordinates_that_do_not_determine_the_motion() -> None:
    mech = sr.library.stewart()
    q, v, tau = moving(mech)
    with pytest.raises(sr.InputError, match=r"independent must name 6 different coordinates.*got"):
        mech.forward_dynamics(q, v, tau, formulation="partition", independent=[mech.names[0]])
    with pytest.raises(sr.UnknownNameError, match="unknown coordinate 'leg'"):
        mech.forward_dynamics(q, v, tau, formulation="partition", independent=["leg"])
    q, v = [0.0, 0.0, 1.4], np.zeros(3)
    with pytest.raises(sr.SingularConstraintError, match="do not determine the motion at this pose"):
        piston().forward_dynamics(q, v, formulation="partition", independent=["piston"])


def piston() -> sr.Mechanism:
    """A slider-crank of unequal lengths; at q = (0, 0, 1.4) the piston stands still while the crank turns."""
    spec = sr.MechanismSpec()
    bar = {"mass": 1.0, "com": (0.5, 0, 0), "inertia": (0.1, 0.1, 0.1)}
    spec.body("crank", joint=sr.Revolute("z"), **bar)
    spec.body("rod", parent="crank", joint=sr.Revolute("z"), at=sr.Pose((0.4, 0, 0)), **bar)
    spec.body("piston", joint=sr.Prismatic("x"), mass=1.0)
    spec.close("pin", "rod", "piston", joint=sr.Revolute("z"), at_a=sr.Pose((1.0, 0, 0)))
    return spec.compile()


def test_conflicting_rows_are_met_in_the_least_squares_sense() -> None:
    spec = sr.MechanismSpec(gravity=(0, 0, 0))
    spec.body("arm", joint=sr.Revolute("z"), mass=1.0, com=(1, 0, 0), inertia=(0.1, 0.1, 0.1))
    spec.constrain("slow", sr.Drive("arm", lambda t: t * t / 2, lambda t: t, lambda t: 1.0))
    spec.constrain("fast", sr.Drive("arm", lambda t: 3 * t * t / 2, lambda t: 3 * t, lambda t: 3.0))
    mech = spec.compile()
    for formulation in ("nullspace", *NUMPY):
        motion = mech.forward_dynamics([0.0], [0.0], formulation=formulation)
        assert motion.a == pytest.approx([2.0])
        assert motion.lam[0] == pytest.approx(motion.lam[1])


def test_unknown_formulations_are_refused() -> None:
    mech = sr.library.four_bar()
    state = mech.default.q, mech.default.v
    with pytest.raises(sr.InputError, match=r'must be one of "nullspace", "svd", "lagrange".*got \'magic\''):
        mech.forward_dynamics(*state, formulation="magic")
    with pytest.raises(sr.InputError, match='`independent` is only used by formulation="partition"'):
        mech.forward_dynamics(*state, independent=["crank"])


def test_a_mass_matrix_that_is_singular_at_a_pose_is_refused_there() -> None:
    spec = sr.MechanismSpec(name="thin")
    spec.body("a", joint=sr.Revolute("z"))
    spec.body("b", parent="a", joint=sr.Revolute("z"), at=sr.Pose((1.0, 0, 0)), mass=1.0, com=(1.0, 0, 0))
    mech = spec.compile()
    rest = np.zeros(2)
    assert np.all(np.isfinite(mech.acceleration(np.array([0.3, 0.4]), rest, rest)))
    for formulation in ("nullspace", *NUMPY):
        with pytest.raises(sr.ModelError, match="mass matrix is not positive definite along"):
            mech.forward_dynamics([0.3, 0.0], rest, formulation=formulation)
    with pytest.raises(sr.ModelError, match="Give what moves there mass or inertia"):
        mech.acceleration(np.array([0.3, 0.0]), rest, rest)


def test_massless_parts_that_the_constraints_carry_are_fine() -> None:
    """A massless nut on a screw, as bare terms: nothing but the coupling gives it inertia."""
    terms = Terms(
        np.diag([0.5, 0.0]), np.zeros(2), np.zeros(1), np.array([[-0.01, 1.0]]), np.zeros(1), np.zeros(1)
    )
    units = Units(np.ones(2), np.ones(1), 1e-9, ("screw", "nut"), ("thread",))
    tau = np.array([1.0, 0.0])
    for formulation in ("svd", "partition", "projection_gamma"):
        a, force, lam, unique, rank = forward_terms(terms, tau, units, formulation)
        assert a == pytest.approx([2.0, 0.02])
        assert (force, lam, unique.tolist(), rank) == (
            pytest.approx([0.0, 0.0]),
            pytest.approx([0.0]),
            [True],
            1,
        )
    with pytest.raises(
        sr.ModelError, match='"lagrange" needs a mass matrix that is positive definite in every'
    ):
        forward_terms(terms, tau, units, "lagrange")


def test_a_rank_can_be_held() -> None:
    """Rows that differ by the size of the drift: held at rank one they count once."""
    J = np.array([[1.0, 0.0], [1.0, 1e-7]])
    terms = Terms(np.eye(2), np.zeros(2), np.zeros(2), J, np.zeros(2), np.zeros(2))
    units = Units(np.ones(2), np.ones(2), 1e-9, ("x", "y"), ("one", "two"))
    free = forward_terms(terms, np.ones(2), units, "svd")
    held = forward_terms(terms, np.ones(2), units, "svd", rank=1)
    assert (free[4], held[4]) == (2, 1)
    assert held[0] == pytest.approx([0.0, 1.0], abs=1e-6)

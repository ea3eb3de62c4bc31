"""The affine maps of the inputs against forward dynamics of the kernel, on every mechanism of the library."""

from __future__ import annotations

import numpy as np
import pytest

import sarrus as sr
from sarrus.control.state.measured_state import measured_state
from sarrus.dynamics.input_response import Response, respond
from sarrus.mechanism.core.access import without_dry_friction
from tests.oracles.input_response import expected_response, library_response


def response_of(mech: sr.Mechanism, q: np.ndarray, v: np.ndarray) -> Response:
    columns = np.array([actuator.index for actuator in mech.model.actuators], dtype=int)
    return respond(mech.terms(q, v), columns, mech.units, measured_state(mech, 0.0, q, v))


@pytest.mark.parametrize("name", list(sr.library.names()))
def test_accelerations_forces_and_multipliers_are_affine_in_the_inputs(name: str) -> None:
    mech = without_dry_friction(getattr(sr.library, name)())  # friction by load follows the inputs
    rng = np.random.default_rng(3)
    q = np.array(mech.default.q)
    v = mech.consistent_velocity(q, rng.normal(size=mech.nv))
    u = rng.normal(size=mech.nu)
    found, motion = response_of(mech, q, v), mech.forward_dynamics(q, v, u=u)
    pairs = [
        (found.a0 + found.B @ u, motion.a),
        (found.F0 + found.Phi @ u, motion.constraint_force),
        (found.lam0 + found.Lam @ u, motion.lam),
    ]
    forces = np.abs(found.terms.h).max()
    for ours, theirs in pairs:
        size = 1.0 + np.abs(theirs).max(initial=0.0) + forces
        np.testing.assert_allclose(ours, theirs, rtol=0.0, atol=1e-12 * size)
    assert found.rank == motion.rank
    assert np.array_equal(found.lam_unique, motion.lam_unique)
    assert found.controllable == mech.inverse_dynamics(q, v, motion.a).controllable


@pytest.mark.parametrize("name", list(sr.library.names()))
@pytest.mark.parametrize("still", [False, True])
def test_dependent_rows_through_singular_values(name: str, still: bool) -> None:
    """Permanently redundant rows, in motion (limits are looked for and add nothing) and at rest."""
    mech = getattr(sr.library, name)()
    q = np.array(mech.default.q)
    v = mech.consistent_velocity(q, np.random.default_rng(5).normal(size=mech.nv))
    same_as_singular_values(mech, q, 0.0 * v if still else v)


def same_as_singular_values(mech: sr.Mechanism, q: np.ndarray, v: np.ndarray) -> Response:
    found = response_of(mech, q, v)
    want = expected_response(mech, q, v, found.columns)
    assert found.rank == want.rank and found.N.shape == want.N.shape
    forces = 1.0 + np.abs(found.terms.h).max()
    for part in ("a0", "B", "lam0", "Lam", "inverse_inertia", "prescribed"):
        ours, theirs = getattr(found, part), getattr(want, part)
        if part in ("a0", "B"):  # a state of first order is a million pascals
            ours, theirs = ((x.T / found.units.unit).T for x in (ours, theirs))
        size = np.abs(theirs).max(initial=0.0) + (forces if part == "lam0" else 1e-3)
        np.testing.assert_allclose(ours, theirs, rtol=0.0, atol=1e-10 * size, err_msg=part)
    scale = found.units.unit[:, None]
    projector, expected = (x @ x.T for x in (found.N / scale, want.N / scale))
    np.testing.assert_allclose(projector, expected, atol=1e-10)
    return found


def velocity_on_the_cone(mech: sr.Mechanism, q: np.ndarray) -> np.ndarray:
    """A velocity v = x + s y within the constraints that has a smooth continuation: w . gamma(v) = 0."""
    w = np.linalg.svd(mech.terms(q, np.zeros(mech.nv)).J)[0][:, -1]
    rng, N = np.random.default_rng(1), mech.decompose(q).N

    def bent(v: np.ndarray) -> float:
        return float(w @ mech.terms(q, v).gamma)

    while True:
        x, y = (N @ rng.normal(size=(N.shape[1], 2))).T
        roots = np.roots([bent(y), bent(x + y) - bent(x) - bent(y), bent(x)])
        if np.isreal(roots).all():
            return np.asarray(x + roots[0].real * y)


@pytest.mark.parametrize("name", ["five_bar", "parallelogram"])
def test_rows_lost_at_a_singular_pose_have_a_limit(name: str) -> None:
    """All links in one line: one row is lost, in motion its limit takes its place, at rest nothing does."""
    mech = getattr(sr.library, name)()
    q = np.array(mech.default.q) if name == "five_bar" else np.zeros(3)
    v = np.array([1.0, -1.0, 1.0]) if name == "parallelogram" else velocity_on_the_cone(mech, q)
    found = same_as_singular_values(mech, q, v)
    motion = mech.forward_dynamics(q, v, u=np.zeros(mech.nu))
    np.testing.assert_allclose(found.a0, motion.a, atol=1e-10 * np.abs(motion.a).max())
    np.testing.assert_allclose(found.lam0, motion.lam, atol=1e-10 * np.abs(motion.lam).max())
    assert found.dof == response_of(mech, q, 0.0 * v).dof - 1 == mech.nv - found.rank - 1


def test_a_velocity_without_continuation_adds_nothing() -> None:
    mech = sr.library.five_bar()
    q = np.array(mech.default.q)
    v = mech.consistent_velocity(q, np.array([1.0, -0.3, 0.7, 0.2]))
    found = same_as_singular_values(mech, q, v)
    assert found.dof == mech.nv - found.rank


def test_rows_of_the_user_are_differentiated_too() -> None:
    """The same parallelogram, its loop written by the user: limits from differences."""
    mech = sr.library.parallelogram()
    q, v = np.zeros(3), np.array([1.0, -1.0, 1.0])
    own = sr.CustomSystem(
        3,
        3,
        M=lambda q, v, t: mech.terms(q, v).M,
        h=lambda q, v, t: mech.terms(q, v).h,
        phi=lambda q, v, t: mech.terms(q, v).phi,
        J=lambda q, v, t: mech.terms(q, v).J,
        gamma=lambda q, v, t: mech.terms(q, v).gamma,
    )
    columns = np.array([0])
    ours = respond(own.terms(q, v), columns, own.units, measured_state(own, 0.0, q, v))
    theirs = response_of(mech, q, v)
    assert ours.rank == theirs.rank and ours.dof == theirs.dof
    np.testing.assert_allclose(ours.a0, theirs.a0, atol=1e-9 * np.abs(theirs.a0).max())


def test_what_no_actuator_moves_is_named() -> None:
    mech = sr.library.three_rrr(turn=0.0)
    found = response_of(mech, *map(np.array, mech.default))
    assert not found.controllable
    assert found.controllability[-1] < 1e-12 and found.controllability[0] > 0.1
    assert any("platform.angle" in names for names in found.uncontrollable)


def test_a_measured_gap_does_not_make_redundant_rows_independent() -> None:
    mech = sr.library.parallelogram()
    q, v = map(np.array, mech.default)
    off = q + 1e-4 * np.array([1.0, -0.5, 0.3])
    exact, near = response_of(mech, q, v), response_of(mech, *mech.project(off, v))
    assert near.rank == exact.rank == 2
    np.testing.assert_allclose(near.B, exact.B, rtol=1e-2)


def test_a_motion_without_inertia_is_refused() -> None:
    spec = sr.MechanismSpec()
    spec.body("arm", joint=sr.Revolute("z"), mass=1.0, com=(1.0, 0.0, 0.0))
    mech = spec.compile()
    terms = mech.terms([0.0], [0.0])
    empty = type(terms)(0.0 * terms.M, terms.h, terms.phi, terms.J, terms.b, terms.gamma)
    with pytest.raises(sr.ModelError, match="mass matrix is not positive definite"):
        respond(empty, np.array([0]), mech.units)


@pytest.mark.parametrize("name", ["dual_arm_box", "quadruped", "delta", "parallelogram", "sarrus"])
def test_what_forces_do_within_the_constraints(name: str) -> None:
    """P M P = P, P J.T = 0, J a = gamma for the prescribed part, M P - 1 = J.T lam; rows redundant or not."""
    r = library_response(name)
    P, J, M = r.inverse_inertia, r.terms.J, r.terms.M
    size = np.abs(P).max()
    np.testing.assert_allclose(P @ M @ P, P, atol=1e-11 * size)
    np.testing.assert_allclose(J @ P, 0.0, atol=1e-11 * size * np.abs(J).max())
    np.testing.assert_allclose(P[:, r.columns], r.B, atol=1e-12 * size)
    gamma = np.abs(r.terms.gamma).max()
    np.testing.assert_allclose(J @ r.prescribed, r.terms.gamma, atol=1e-11 * (1.0 + gamma))
    np.testing.assert_allclose(
        r.prescribed @ (r.N / r.units.unit[:, None] ** 2), 0.0, atol=1e-11 * (1 + gamma)
    )
    lam = r.lam_per_force
    np.testing.assert_allclose(M @ P - np.eye(len(M)), J.T @ lam, atol=1e-9 * np.abs(lam).max())
    np.testing.assert_allclose(lam[:, r.columns], r.Lam, atol=1e-10 * np.abs(lam).max())

"""The affine maps of the inputs against forward dynamics of the kernel, on every mechanism of the library."""

from __future__ import annotations

import numpy as np
import pytest

import sarrus as sr
from sarrus.dynamics.forward import limit_of
from sarrus.dynamics.input_response import Response, respond


def response_of(mech: sr.Mechanism, q: np.ndarray, v: np.ndarray, gap: float = 0.0) -> Response:
    columns = np.array([actuator.index for actuator in mech.model.actuators], dtype=int)
    limit = limit_of(mech.evaluator, q, v, 0.0)
    return respond(mech.terms(q, v), columns, mech.units, limit, gap)


@pytest.mark.parametrize("name", list(sr.library.names()))
def test_accelerations_forces_and_multipliers_are_affine_in_the_inputs(name: str) -> None:
    mech = getattr(sr.library, name)()
    rng = np.random.default_rng(3)
    q = np.array(mech.default.q)
    v = mech.consistent_velocity(q, rng.normal(size=mech.nv))
    u = rng.normal(size=mech.nu)
    found, motion = response_of(mech, q, v), mech.forward_dynamics(q, v, u=u)
    lam0, Lam = found.multipliers
    pairs = [
        (found.a0 + found.B @ u, motion.a),
        (found.F0 + found.Phi @ u, motion.constraint_force),
        (lam0 + Lam @ u, motion.lam),
    ]
    forces = np.abs(found.terms.h).max()
    for ours, theirs in pairs:
        size = 1.0 + np.abs(theirs).max(initial=0.0) + forces
        np.testing.assert_allclose(ours, theirs, rtol=0.0, atol=1e-12 * size)
    assert found.rank == motion.rank
    assert np.array_equal(found.lam_unique, motion.lam_unique)
    assert found.controllable == mech.inverse_dynamics(q, v, motion.a).controllable


def test_what_no_actuator_feels_is_named() -> None:
    mech = sr.library.three_rrr(turn=0.0)
    found = response_of(mech, *map(np.array, mech.default))
    assert not found.controllable
    assert found.feel[-1] < 1e-12 and found.feel[0] > 0.1
    assert any("platform.angle" in names for names in found.uncontrollable)


def test_a_measured_gap_does_not_make_redundant_rows_independent() -> None:
    mech = sr.library.parallelogram()
    q, v = map(np.array, mech.default)
    off = q + 1e-4 * np.array([1.0, -0.5, 0.3])
    gap = float(np.abs(mech.terms(off, v).phi).max())
    exact, near = response_of(mech, q, v), response_of(mech, off, v, gap)
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

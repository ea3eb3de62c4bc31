"""Laws of constrained motion on random mechanisms: balance, power, independence of how rows are written."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import sarrus as sr
from tests.oracles import every_constraint as every
from tests.oracles import random_mechanisms as rm
from tests.oracles.states import mechanism, null_space, random_force, relative, tangent_velocity

from .families import FAMILIES

SEEDS = range(6)
FORMULATIONS = ("svd", "projection", "projection_symmetric", "projection_gamma", "partition", "lagrange")
EACH = pytest.mark.parametrize("family", FAMILIES)


def state(family: str, seed: int) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray]:
    d = FAMILIES[family](seed)
    mech = mechanism(d)
    return mech, d.q, tangent_velocity(mech, d.q, seed), random_force(mech, seed)


@EACH
def test_balance_of_forces_and_of_rows(family: str) -> None:
    """M a + h = tau + J' lam to 1e-11 relative, J a = gamma to 1e-10 in the range of J."""
    for seed in SEEDS:
        mech, q, v, tau = state(family, seed)
        t = mech.terms(q, v)
        motion = mech.forward_dynamics(q, v, tau)
        size = max(1.0, *(np.max(np.abs(x)) for x in (t.M @ motion.a, t.h, tau)))
        assert np.max(np.abs(t.M @ motion.a + t.h - tau - t.J.T @ motion.lam)) < 1e-11 * size
        assert relative(t.J.T @ motion.lam, motion.constraint_force) < 1e-10
        assert relative(t.J @ motion.a, t.gamma) < 1e-10
        assert motion.rank == np.linalg.matrix_rank(t.J, tol=1e-8) if t.J.size else motion.rank == 0


@EACH
def test_constraint_forces_do_no_work_on_tangent_velocities(family: str) -> None:
    for seed in SEEDS:
        mech, q, v, tau = state(family, seed)
        motion = mech.forward_dynamics(q, v, tau)
        N = null_space(mech, mech.terms(q, v).J)
        size = max(1.0, np.max(np.abs(motion.constraint_force)))
        assert np.max(np.abs(N.T @ motion.constraint_force), initial=0.0) < 1e-11 * size


@pytest.mark.parametrize("family", [f for f in FAMILIES if f != "rods, lines, planes, gears"])
def test_power_balance(family: str) -> None:
    """d/dt (kinetic + potential) = v . tau, by differences of the energy along the motion."""
    for seed in SEEDS:
        mech, q, v, tau = state(family, seed)
        a = mech.acceleration(q, v, tau)

        def energy(dt: float, mech: Any = mech, q: Any = q, v: Any = v, a: Any = a) -> float:
            return mech.energy(mech.integrate(q, dt * v + dt**2 / 2 * a), v + dt * a).total

        step = 3e-3 / (1.0 + np.max(np.abs(a)))
        near = (energy(step) - energy(-step)) / (2 * step)
        far = (energy(2 * step) - energy(-2 * step)) / (4 * step)
        size = 1.0 + np.abs(v) @ np.abs(tau) + np.max(np.abs(mech.mass_matrix(q) @ a))
        assert abs(near + (near - far) / 3 - v @ tau) < 1e-7 * size


def test_dampers_only_take_energy() -> None:
    for seed in SEEDS:
        d = every.base(seed)
        d = d.with_(forces=tuple(every.forces(d, np.random.default_rng(seed)))[:4])
        with_, without = mechanism(d), mechanism(d.with_(forces=()))
        v = np.random.default_rng(seed).normal(size=with_.nv)
        springs = mechanism(
            d.with_(forces=tuple((n, _undamped(f)) for n, f in d.forces if n != "joint damper"))
        )
        lost = v @ (with_.bias(d.q, v) - springs.bias(d.q, v))
        assert lost > 0
        assert with_.energy(d.q, v).kinetic == without.energy(d.q, v).kinetic


def _undamped(force: Any) -> Any:
    return replace(force, damping=0.0) if hasattr(force, "damping") else force


@EACH
def test_formulations_agree(family: str) -> None:
    """To 1e-9, on redundant sets too; "lagrange" refuses those and says which rows."""
    for seed in SEEDS:
        mech, q, v, tau = state(family, seed)
        motion = mech.forward_dynamics(q, v, tau)
        for name in FORMULATIONS:
            if name == "lagrange" and motion.rank < mech.nc:
                with pytest.raises(sr.errors.SingularConstraintError) as caught:
                    mech.forward_dynamics(q, v, tau, formulation=name)
                assert caught.value.rank == motion.rank
                assert len(caught.value.rows) == mech.nc - motion.rank
                continue
            other = mech.forward_dynamics(q, v, tau, formulation=name)
            assert relative(other.a, motion.a) < 1e-9, name
            assert relative(other.constraint_force, motion.constraint_force) < 1e-9, name
            assert relative(other.lam, motion.lam) < 1e-8, name
            assert other.rank == motion.rank
            np.testing.assert_array_equal(other.lam_unique, motion.lam_unique)


@EACH
def test_acceleration_does_not_depend_on_the_metric(family: str) -> None:
    """a = pinv_W(J) gamma + N y from the decomposition in any metric W is the same a [Aghili2005] VII-B."""
    for seed in SEEDS:
        mech, q, v, tau = state(family, seed)
        t = mech.terms(q, v)
        A = np.random.default_rng([seed, 60]).normal(size=(mech.nv, mech.nv))
        for W in (None, t.M, A @ A.T + np.eye(mech.nv)):
            d = sr.decompose(t.J, metric=W)
            normal = d.solve(t.gamma)
            y = np.linalg.solve(d.N.T @ t.M @ d.N, d.N.T @ (tau - t.h - t.M @ normal))
            assert relative(normal + d.N @ y, mech.acceleration(q, v, tau)) < 1e-9


@pytest.mark.parametrize("seed", range(8))
def test_declaring_every_loop_twice_changes_nothing_but_the_multipliers(seed: int) -> None:
    d = FAMILIES["loops"](seed)
    once, twice = mechanism(d), mechanism(rm.duplicated(d))
    v, tau = tangent_velocity(once, d.q, seed), random_force(once, seed)
    one, two = once.forward_dynamics(d.q, v, tau), twice.forward_dynamics(d.q, v, tau)
    assert relative(two.a, one.a) < 1e-10
    assert relative(two.constraint_force, one.constraint_force) < 1e-10
    assert two.rank == one.rank
    assert not two.lam_unique.any()
    half = two.lam.reshape(2, -1)
    assert relative(half[0], half[1]) < 1e-9  # least norm shares the load evenly


def test_scaling_a_row_changes_nothing_but_its_multiplier() -> None:
    for seed in SEEDS:
        d = every.base(seed)
        (one, i), (two, j) = every.scalar_coordinates(d)[:2]
        mechs = []
        for scale in (1.0, 1e-4, 1e4):
            row = sr.Coupling({one: scale, two: -2.0 * scale}, offset=scale * (d.q[i] - 2.0 * d.q[j]))
            mechs.append(mechanism(d.with_(constraints=(("gear", row),))))
        v, tau = tangent_velocity(mechs[0], d.q, seed), random_force(mechs[0], seed)
        motions = [m.forward_dynamics(d.q, v, tau) for m in mechs]
        for motion, scale in zip(motions, (1.0, 1e-4, 1e4), strict=True):
            assert relative(motion.a, motions[0].a) < 1e-10
            assert relative(motion.constraint_force, motions[0].constraint_force) < 1e-10
            assert relative(motion.lam * scale, motions[0].lam) < 1e-10


@EACH
def test_a_multiplier_is_unique_where_no_redundancy_reaches_it(family: str) -> None:
    for seed in SEEDS:
        mech, q, v, tau = state(family, seed)
        motion, J = mech.forward_dynamics(q, v, tau), mech.terms(q, v).J
        U = np.linalg.svd(J)[0] if J.size else np.zeros((0, 0))
        lost = U[:, motion.rank :]
        np.testing.assert_array_equal(motion.lam_unique, np.all(np.abs(lost) < 1e-8, axis=1))
        assert np.max(np.abs(lost.T @ motion.lam), initial=0.0) < 1e-8 * max(
            1.0, np.max(np.abs(motion.lam), initial=0.0)
        )


@EACH
def test_inverse_dynamics_gives_back_the_motion(family: str) -> None:
    """Torques for the acceleration of a given tau produce that acceleration; passive joints exactly zero."""
    for seed in SEEDS:
        mech, q, v, tau = state(family, seed)
        a = mech.acceleration(q, v, tau)
        found = mech.inverse_dynamics(q, v, a, actuated=mech.names)
        assert found.residual < 1e-9 * max(1.0, np.max(np.abs(tau)))
        assert relative(mech.acceleration(q, v, found.tau), a) < 1e-9
        assert np.linalg.norm(found.tau) <= np.linalg.norm(tau) * (1 + 1e-12)
        few = mech.inverse_dynamics(q, v, a, actuated=mech.names[:1])
        assert not few.tau[1:].any()


def test_external_wrenches_and_inputs_add_to_tau() -> None:
    for seed in SEEDS:
        d = FAMILIES["loops"](seed)
        mech = mechanism(d)
        v, tau = tangent_velocity(mech, d.q, seed), random_force(mech, seed)
        rng = np.random.default_rng(seed)
        wrench, point, u = rng.normal(size=6), rng.normal(size=3), rng.normal(size=mech.nu)
        S = np.zeros((mech.nu, mech.nv))
        S[np.arange(mech.nu), [mech.names.index(name) for name in mech.actuators]] = 1.0
        total = tau + S.T @ u + mech.jacobian(d.q, "b4", point=point).T @ wrench
        motion = mech.forward_dynamics(d.q, v, tau, u=u, external={"b4": (wrench, point)})
        assert relative(motion.a, mech.acceleration(d.q, v, total)) < 1e-12

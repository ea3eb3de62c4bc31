"""The facade: batches, forces, copies, threads, and what bad arguments sound like."""

from __future__ import annotations

import pickle
import threading
from typing import Any

import numpy as np
import pytest

import sarrus as sr


@pytest.fixture(scope="module", params=["dual_arm", "stewart", "four_bar"])
def mech(request: pytest.FixtureRequest) -> Any:
    return getattr(sr.library, request.param)()


def states(mech: sr.Mechanism, shape: tuple[int, ...], seed: int = 1) -> tuple[Any, Any, Any]:
    """Random states near the default one, velocities and forces, with batch axes."""
    rng = np.random.default_rng(seed)
    q = mech.integrate(mech.default.q, 0.1 * rng.normal(size=(*shape, mech.nv)))
    return q, rng.normal(size=(*shape, mech.nv)), rng.normal(size=(*shape, mech.nv))


def test_batches_are_loops(mech: Any) -> None:
    q, v, tau = states(mech, (2, 3))
    body = mech.body_names[-1]
    batched = {
        "mass_matrix": mech.mass_matrix(q),
        "bias": mech.bias(q, v),
        "rnea": mech.rnea(q, v, tau),
        "kinetic": mech.energy(q, v).kinetic,
        "total": mech.energy(q, v).total,
        "jacobian": mech.jacobian(q, body, point=(0.1, 0.2, 0.3), frame="local"),
        "world": mech.jacobian(q, body, point=(0.1, 0.2, 0.3), frame="world"),
        "velocity": mech.velocity(q, v, body),
        "acceleration": mech.body_acceleration(q, v, tau, body, frame="local"),
        "J": mech.terms(q, v).J,
        "difference": mech.difference(q, mech.default.q),
        "a": mech.acceleration(q, v, tau),
        "lam": mech.forward_dynamics(q, v, tau).lam,
        "svd": mech.forward_dynamics(q, v, tau, formulation="svd").a,
        "rank": mech.forward_dynamics(q, v, tau).rank,
    }
    for i in np.ndindex(2, 3):
        motion = mech.forward_dynamics(q[i], v[i], tau[i])
        single = {
            "mass_matrix": mech.mass_matrix(q[i]),
            "bias": mech.bias(q[i], v[i]),
            "rnea": mech.rnea(q[i], v[i], tau[i]),
            "kinetic": mech.energy(q[i], v[i]).kinetic,
            "total": mech.energy(q[i], v[i]).total,
            "jacobian": mech.jacobian(q[i], body, point=(0.1, 0.2, 0.3), frame="local"),
            "world": mech.jacobian(q[i], body, point=(0.1, 0.2, 0.3), frame="world"),
            "velocity": mech.velocity(q[i], v[i], body),
            "acceleration": mech.body_acceleration(q[i], v[i], tau[i], body, frame="local"),
            "J": mech.terms(q[i], v[i]).J,
            "difference": mech.difference(q[i], mech.default.q),
            "a": mech.acceleration(q[i], v[i], tau[i]),
            "lam": motion.lam,
            "svd": mech.forward_dynamics(q[i], v[i], tau[i], formulation="svd").a,
            "rank": motion.rank,
        }
        for name, value in single.items():
            np.testing.assert_allclose(batched[name][i], value, rtol=1e-9, atol=1e-9, err_msg=name)
    assert mech.pose(q, body).shape == (2, 3)


def test_batch_axes_broadcast_and_may_be_empty(mech: Any) -> None:
    q, v, tau = states(mech, (4,))
    np.testing.assert_array_equal(
        mech.acceleration(q, v[0], tau[0])[2], mech.acceleration(q[2], v[0], tau[0])
    )
    assert mech.acceleration(q[:0], v[0], tau[0]).shape == (0, mech.nv)
    assert mech.forward_dynamics(q[:0], v[0], formulation="svd").lam.shape == (0, mech.nc)


def test_the_fast_door_and_the_careful_one_agree_to_the_bit(mech: Any) -> None:
    q, v, tau = states(mech, ())
    fast = mech.acceleration(q, v, tau)
    np.testing.assert_array_equal(fast, mech.forward_dynamics(q, v, tau).a)
    np.testing.assert_array_equal(fast, mech.acceleration(q.tolist(), v.tolist(), tau.tolist()))
    strided = np.repeat(q, 2)[::2]
    np.testing.assert_array_equal(fast, mech.acceleration(strided, v, tau))


def test_results_do_not_share_memory_with_each_other(mech: Any) -> None:
    q, v, tau = states(mech, ())
    first = mech.acceleration(q, v, tau)
    kept = first.copy()
    mech.acceleration(q, v, 2 * tau)
    np.testing.assert_array_equal(first, kept)


def test_actuator_inputs_and_forces_add(mech: Any) -> None:
    q, v, tau = states(mech, ())
    u = np.arange(1.0, mech.nu + 1)
    spread = np.zeros(mech.nv)
    spread[[mech.names.index(name) for name in mech.actuators]] = u
    together = mech.forward_dynamics(q, v, tau, u=u).a
    np.testing.assert_allclose(together, mech.acceleration(q, v, tau + spread), rtol=1e-12)
    assert set(mech.actuators) | set(mech.passive) == set(mech.names)


def test_external_wrenches_act_where_they_are_put(mech: Any) -> None:
    q, v, _ = states(mech, ())
    body, point, wrench = mech.body_names[-1], np.array([0.1, -0.2, 0.3]), np.arange(1.0, 7.0)
    at_point = mech.forward_dynamics(q, v, external={body: (wrench, point)}).a
    np.testing.assert_allclose(
        at_point, mech.acceleration(q, v, mech.jacobian(q, body, point).T @ wrench), rtol=1e-9
    )
    # the same load moved to the origin: force, moment + r x force
    r = mech.pose(q, body).rotation @ point
    moved = np.concatenate([wrench[:3], wrench[3:] + np.cross(r, wrench[:3])])
    np.testing.assert_allclose(mech.forward_dynamics(q, v, external={body: moved}).a, at_point, rtol=1e-8)


def test_a_batch_of_wrenches() -> None:
    mech = sr.library.pendulum()
    q, v = np.zeros((3, 1)), np.zeros(1)
    wrenches = np.array([[0, k, 0, 0, 0, 0.0] for k in range(3)])
    a = mech.forward_dynamics(q, v, external={"rod": (wrenches, (1.0, 0, 0))}).a
    np.testing.assert_allclose(a[:, 0], -9.81 + np.arange(3))


def test_power_balance(mech: Any) -> None:
    """d(energy)/dt = tau . v for scleronomic constraints, by differences along the motion."""
    rng = np.random.default_rng(3)
    q, tau = np.array(mech.default.q), rng.normal(size=mech.nv)
    v = mech.consistent_velocity(q, rng.normal(size=mech.nv))
    a = mech.acceleration(q, v, tau)
    h = 1e-4
    # positions to third order: q(h) = q + h v + h^2 a / 2 on the manifold
    energies = [mech.energy(mech.integrate(q, s * v + s * s / 2 * a), v + s * a).total for s in (-h, h)]
    assert (energies[1] - energies[0]) / (2 * h) == pytest.approx(tau @ v, abs=1e-4 * max(1.0, abs(tau @ v)))


def test_changed_copies() -> None:
    mech = sr.library.four_bar()
    heavy = mech.with_(mass={"rocker": 5.0}, gravity=(0, 0, 0))
    assert heavy.mass_matrix(mech.default.q)[0, 0] > mech.mass_matrix(mech.default.q)[0, 0]
    assert not np.any(heavy.bias(mech.default.q, np.zeros(3)))
    assert heavy.default is mech.default
    with pytest.raises(sr.UnknownNameError, match="'rokker'"):
        mech.with_(mass={"rokker": 1.0})
    other = mech.with_default([1.0, 2.0, 3.0])
    assert other.default.q.tolist() == [1.0, 2.0, 3.0]
    assert not other.default.v.any()
    assert mech.forward_dynamics(*mech.default).a.shape == (3,)
    with pytest.raises(ValueError, match="read-only"):
        other.default.q[0] = 0.0


def test_nothing_can_be_changed(mech: Any) -> None:
    with pytest.raises(AttributeError, match="cannot be changed: use with_"):
        mech.gravity = (0, 0, 0)
    with pytest.raises(AttributeError, match="cannot be changed"):
        del mech.model


def test_pickling_keeps_every_bit(mech: Any) -> None:
    copy = pickle.loads(pickle.dumps(mech))
    q, v, tau = states(mech, ())
    np.testing.assert_array_equal(copy.acceleration(q, v, tau), mech.acceleration(q, v, tau))
    np.testing.assert_array_equal(copy.default.q, mech.default.q)
    assert repr(copy) == repr(mech)


def test_two_hundred_threads_give_the_bits_of_one(mech: Any) -> None:
    q, v, tau = states(mech, (200,))
    expected = np.array([mech.forward_dynamics(*one).lam for one in zip(q, v, tau, strict=True)])
    accelerations = np.array([mech.acceleration(*one) for one in zip(q, v, tau, strict=True)])
    lam, a = np.zeros_like(expected), np.zeros_like(accelerations)

    def work(i: int) -> None:
        lam[i] = mech.forward_dynamics(q[i], v[i], tau[i]).lam
        a[i] = mech.acceleration(q[i], v[i], tau[i])

    threads = [threading.Thread(target=work, args=(i,)) for i in range(200)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    np.testing.assert_array_equal(lam, expected)
    np.testing.assert_array_equal(a, accelerations)


def test_decompose_in_every_metric(mech: Any) -> None:
    q = mech.default.q
    J = mech.terms(q, np.zeros(mech.nv)).J
    for metric in (None, "mass", np.diag(np.arange(1.0, mech.nv + 1))):
        d = mech.decompose(q, metric=metric)
        assert d.dof == mech.mobility(q).dof
        np.testing.assert_allclose(J @ d.P, 0.0, atol=1e-10)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda m: m.mass_matrix([0.0]),
            r"q must have shape \(3,\) or \(\.\.\., 3\) for mechanism 'four_bar', got \(1,\)",
        ),
        (lambda m: m.mass_matrix([np.nan, 0, 0]), "q must be finite for mechanism 'four_bar', got nan"),
        (lambda m: m.mass_matrix("zero"), "q must be an array of finite numbers"),
        (lambda m: m.acceleration(np.zeros(3), np.zeros(3), np.zeros(4)), r"tau must have shape \(3,\)"),
        (lambda m: m.acceleration(np.zeros(3), np.full(3, np.inf), np.zeros(3)), "v must be finite.*got inf"),
        (
            lambda m: m.acceleration(np.zeros(3), np.zeros((2, 3)), np.zeros((4, 3))),
            "batch axes must broadcast",
        ),
        (
            lambda m: m.forward_dynamics(np.zeros(3), np.zeros(3), u=[1.0, 2.0]),
            r"u must have shape \(1,\).*crank",
        ),
        (
            lambda m: m.forward_dynamics(np.zeros(3), np.zeros(3), external={"rod": np.zeros(6)}),
            "unknown body 'rod'",
        ),
        (
            lambda m: m.forward_dynamics(np.zeros(3), np.zeros(3), external=np.zeros(6)),
            "external must be a mapping {body: wrench}",
        ),
        (
            lambda m: m.forward_dynamics(np.zeros(3), np.zeros(3), external={"crank": [1.0]}),
            r"wrench on 'crank'.*\(1,\)",
        ),
        (
            lambda m: m.jacobian(np.zeros(3), "crank", frame="body"),
            "must be one of 'local', 'world', 'world_aligned'",
        ),
        (lambda m: m.jacobian(np.zeros(3), "crank", point=[0.0]), r"point must have shape \(3,\)"),
        (
            lambda m: m.jacobian(np.zeros(3), "crank", point=np.zeros((2, 3))),
            r"point must have shape \(3,\), got \(2, 3\)",
        ),
        (
            lambda m: m.body_acceleration(np.zeros(3), np.zeros(3), np.zeros(3), "crank", frame="world"),
            "must be one of",
        ),
        (lambda m: m.pose(np.zeros(3), "krank"), "unknown body 'krank'.*Did you mean 'crank'"),
        (lambda m: m.terms(np.zeros(3), np.zeros(3), t=np.nan), "`t` must be a finite time"),
        (
            lambda m: m.branches(np.zeros((2, 3))),
            r"q must be one state of shape \(3,\) here, got shape \(2, 3\)",
        ),
    ],
)
def test_bad_input_is_refused(call: Any, message: str) -> None:
    with pytest.raises(sr.SarrusError, match=message):
        call(sr.library.four_bar())


def test_quaternions_are_normalised_and_zero_ones_refused() -> None:
    spec = sr.MechanismSpec(name="box")
    spec.body("box", joint=sr.Free(), mass=1.0, com=(0.1, 0.2, 0.3), inertia=(0.1, 0.1, 0.1))
    mech = spec.compile()
    q = np.array([0.0, 0.0, 0.0, 0.1, 0.2, 0.3, 0.9])
    unit = q / np.append(np.ones(3), np.full(4, np.linalg.norm(q[3:])))
    np.testing.assert_allclose(mech.mass_matrix(q), mech.mass_matrix(unit), atol=1e-15)
    with pytest.raises(sr.InputError, match=r"q\[3:7\] of mechanism 'box' is a quaternion .* zero norm"):
        mech.mass_matrix(np.zeros(7))

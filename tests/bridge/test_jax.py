"""sr.bridge.jax: check_grads in both modes, jit, vmap, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import sarrus as sr
from tests.bridge.checks import MACHINES, moving, with_python_function

jax = pytest.importorskip("jax", reason="JAX is an extra: pip install sarrus[jax]")
CHECK = {"order": 1, "modes": ("fwd", "rev"), "eps": 1e-4, "atol": 1e-5, "rtol": 1e-5}


@pytest.fixture(autouse=True)
def double_precision():
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)


def arrays(*given: np.ndarray) -> tuple:
    return tuple(jax.numpy.asarray(x) for x in given)


@pytest.mark.parametrize("name", MACHINES)
def test_check_grads(name: str) -> None:
    from jax.test_util import check_grads

    mech, q, v, u = moving(name)
    b = sr.bridge.jax(mech)
    check_grads(jax.jit(lambda *x: b.step(*x, 2e-3)), arrays(q, v, u), **CHECK)
    check_grads(lambda *x: b.step(*x, 2e-3), arrays(q + 1e-2, v, u), **CHECK)  # off the constraints
    check_grads(b.acceleration, arrays(q, v, np.zeros(mech.nv)), **CHECK)
    check_grads(b.project, arrays(q + 1e-2, v), **CHECK)
    check_grads(lambda *x: b.rollout(*x, dt=2e-3), arrays(q, v, np.tile(u, (2, 2, 1))), **CHECK)


def test_inverse_dynamics_and_assembly() -> None:
    from jax.test_util import check_grads

    mech, q, v, _ = moving("four_bar")
    b = sr.bridge.jax(mech)
    check_grads(b.inverse_dynamics, arrays(q, v, v), **CHECK)
    check_grads(lambda x: b.assemble(fixed={"crank": x}), arrays(np.array(0.4)), **CHECK)


def test_transforms_together() -> None:
    mech, q, v, u = moving("dual_arm_box")
    b, (Q, V, U) = sr.bridge.jax(mech), arrays(q, v, u)

    def speed(u):
        return b.step(Q, V, u)[1]

    forward, back = (np.asarray(f(speed)(U)) for f in (jax.jacfwd, jax.jacrev))
    assert np.allclose(forward, back, rtol=1e-9, atol=1e-12)
    assert np.allclose(forward, mech.step_derivatives(q, v, u).B[mech.nv :], rtol=1e-9, atol=1e-12)
    rows = jax.jit(jax.vmap(jax.grad(lambda u: speed(u).sum())))(jax.numpy.tile(U, (4, 1)))
    assert np.allclose(rows[2], forward.sum(axis=0), rtol=1e-9, atol=1e-12)
    scanned = jax.lax.scan(lambda x, u: (b.step(*x, u), x[0]), (Q, V), jax.numpy.tile(U, (3, 1)))
    assert np.allclose(scanned[1][2], b.rollout(Q, V, jax.numpy.tile(U, (2, 1)))[0][-1], atol=1e-12)


def test_single_precision() -> None:
    mech, q, v, _ = moving("four_bar")
    jax.config.update("jax_enable_x64", False)
    after = sr.bridge.jax(mech).step(*arrays(q, v))
    assert after[0].dtype == np.float32
    assert np.allclose(after[0], mech.step(q, v).q, atol=1e-6)


def test_refused_with_the_way_out() -> None:
    with pytest.raises(sr.InputError, match=r"sr.bridge.jax cannot differentiate .*'equal'.*Coupling"):
        sr.bridge.jax(with_python_function())
    mech, q, v, u = moving("four_bar")
    b, (Q, V, U) = sr.bridge.jax(mech), arrays(q, v, u)
    with pytest.raises(sr.InputError, match=r"have no derivatives themselves.*iLQR"):
        jax.hessian(lambda u: b.step(Q, V, u)[1].sum())(U)
    with pytest.raises(sr.InputError, match=r"step: argument 3 must have the shape \(1,\)"):
        b.step(Q, V, jax.numpy.zeros(4))

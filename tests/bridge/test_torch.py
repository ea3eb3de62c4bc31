"""sr.bridge.torch: gradcheck in both modes, vmap, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import sarrus as sr
from tests.bridge.checks import MACHINES, moving, with_a_parameter, with_python_function

torch = pytest.importorskip("torch", reason="PyTorch is an extra: pip install sarrus[torch]")
CHECK = {"eps": 1e-4, "atol": 1e-5, "rtol": 1e-5, "check_forward_ad": True, "fast_mode": True}


def tensors(*arrays: np.ndarray) -> tuple:
    return tuple(torch.tensor(x, requires_grad=True) for x in arrays)


@pytest.mark.parametrize("name", MACHINES)
def test_gradcheck(name: str) -> None:
    mech, q, v, u = moving(name)
    b = sr.bridge.torch(mech)
    check = torch.autograd.gradcheck
    assert check(lambda *x: b.step(*x, 2e-3), tensors(q, v, u), **CHECK)
    assert check(lambda *x: b.step(*x, 2e-3), tensors(q + 1e-2, v, u), **CHECK)  # off the constraints
    assert check(b.acceleration, tensors(q, v, np.zeros(mech.nv)), **CHECK)
    assert check(b.project, tensors(q + 1e-2, v), **CHECK)
    assert check(lambda *x: b.rollout(*x, dt=2e-3), tensors(q, v, np.tile(u, (2, 2, 1))), **CHECK)


def test_inverse_dynamics_and_assembly() -> None:
    mech, q, v, _ = moving("four_bar")
    b = sr.bridge.torch(mech)
    assert torch.autograd.gradcheck(b.inverse_dynamics, tensors(q, v, v), **CHECK)
    assert torch.autograd.gradcheck(lambda x: b.assemble(fixed={"crank": x}), tensors(np.array(0.4)), **CHECK)
    assert b.assemble(fixed={"crank": torch.linspace(0.3, 0.5, 4)}).shape == (4, mech.nq)


def test_parameters() -> None:
    b = sr.bridge.torch(with_a_parameter())
    given = ([[0.5], [0.3]], [0.2], [0.1], [0.6, 0.8])
    q, v, u, length = tensors(*(np.array(x) for x in given))
    inputs = torch.zeros(2, 3, 1, dtype=torch.float64, requires_grad=True)
    check = torch.autograd.gradcheck
    assert check(
        lambda q, v, u, p: b.step(q, v, u, 2e-2, parameters={"length": p}), (q, v, u, length), **CHECK
    )
    assert check(
        lambda q, v, u, p: b.rollout(q, v, u, dt=2e-2, parameters={"length": p}),
        (q, v, inputs, length),
        **CHECK,
    )
    with pytest.raises(sr.UnknownNameError, match="unknown parameter 'lenght'"):
        b.step(q, v, u, parameters={"lenght": length})


def test_values_and_kinds() -> None:
    mech, q, v, u = moving("four_bar")
    b = sr.bridge.torch(mech)
    after = b.step(*(torch.tensor(x) for x in (q, v, u)), 2e-3)
    assert np.array_equal(after[0].numpy(), mech.step(*mech.project(q, v), u, 2e-3).q)
    single = b.step(*(torch.tensor(x, dtype=torch.float32) for x in (q, v)))
    assert single[0].dtype == torch.float32
    many = b.step(torch.tensor(np.tile(q, (2, 3, 1))), torch.tensor(v))
    assert many[1].shape == (2, 3, mech.nv)


def test_func_transforms() -> None:
    mech, q, v, u = moving("dual_arm_box")
    b, (Q, V) = sr.bridge.torch(mech), (torch.tensor(q), torch.tensor(v))

    def speed(u):
        return b.step(Q, V, u)[1]

    forward, back = (f(speed)(torch.tensor(u)) for f in (torch.func.jacfwd, torch.func.jacrev))
    assert torch.allclose(forward, back, rtol=1e-9, atol=1e-12)
    assert np.allclose(forward, mech.step_derivatives(q, v, u).B[mech.nv :], rtol=1e-9, atol=1e-12)
    rows = torch.func.vmap(speed)(torch.tensor(np.tile(u, (4, 1))))
    assert torch.equal(rows[3], speed(torch.tensor(u)))


def test_refused_with_the_way_out() -> None:
    mech, q, v, _ = moving("four_bar")
    with pytest.raises(sr.InputError, match=r"sr.bridge.torch cannot differentiate .*'equal'.*Coupling"):
        sr.bridge.torch(with_python_function())
    with pytest.raises(sr.InputError, match="a bridge takes a Mechanism, got str"):
        sr.bridge.torch("four_bar")
    with pytest.raises(sr.InputError, match="`contacts` must be one of"):
        sr.bridge.torch(mech, contacts="soft")
    b = sr.bridge.torch(mech)
    with pytest.raises(sr.InputError, match=r"CPU, got tensors on meta.*rollout\(..., device"):
        b.step(torch.zeros(3, device="meta"), torch.zeros(3, device="meta"))
    with pytest.raises(sr.InputError, match=r"step: argument 1 must have the shape \(3,\)"):
        b.step(torch.zeros(5), torch.zeros(3))
    with pytest.raises(sr.InputError, match="batch axes must broadcast"):
        b.step(torch.zeros(2, 3), torch.zeros(4, 3))
    with pytest.raises(sr.InputError, match=r"rollout: u must have shape \(n, 1\)"):
        b.rollout(torch.tensor(q), torch.tensor(v), torch.zeros(1))
    with pytest.raises(sr.InputError, match="fixed must name the coordinates"):
        b.assemble()
    with pytest.raises(sr.InputError, match="`method` must be the name"):
        b.step(torch.tensor(q), torch.tensor(v), method=3)
    x = torch.tensor(v, requires_grad=True)
    (first,) = torch.autograd.grad(b.step(torch.tensor(q), x)[1].sum(), x, create_graph=True)
    with pytest.raises(sr.InputError, match=r"have no derivatives themselves.*iLQR"):
        torch.autograd.grad(first.sum(), x)


def test_a_singular_pose_within_a_step() -> None:
    mech = sr.library.slider_crank(gravity=0.0)
    angle = np.pi / 2 - 1e-3
    q, v = tensors(np.array([angle, 2 * np.pi - 2 * angle]), np.array([2.0, -4.0]))
    total = sr.bridge.torch(mech).step(q, v)[0].sum()
    with pytest.raises(sr.SingularConstraintError, match="J loses rank within the step"):
        total.backward()

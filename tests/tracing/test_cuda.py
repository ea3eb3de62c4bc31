"""CUDA devices: results beside the processor's where there is one, clear errors where there is none."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sarrus as sr
from sarrus.errors import InputError
from sarrus.tracing.cuda_device import require_cuda
from sarrus.tracing.cuda_text import cuda_text

from .compiled_c import random_states, run


def has_cuda() -> bool:
    try:
        require_cuda()
    except InputError:
        return False
    return True


on_a_device = pytest.mark.skipif(not has_cuda(), reason="no CUDA device")


@pytest.mark.skipif(has_cuda(), reason="there is a CUDA device")
def test_no_device() -> None:
    mech = sr.library.pendulum()
    why = "finds none" if importlib.util.find_spec("cupy") else r"needs CuPy.*pip install"
    with pytest.raises(InputError, match=why):
        sr.rollout(mech, mech.default.q, dt=1e-3, steps=1, device="cuda")


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"device": "tpu"}, "`device`.*tpu"),
        ({"device": "cuda", "dtype": "float16"}, "`dtype`.*float16"),
        ({"dtype": "float32"}, "`dtype`.*float32"),
        ({"device": "cuda", "policy": lambda t, q, v: q}, "takes no policy"),
        ({"device": "cuda", "parameters": {"gravity": np.zeros((1, 3))}}, "takes no parameters"),
        ({"device": "cuda", "method": "dopri5"}, 'method "rk4" alone'),
    ],
)
def test_bad_input(options: dict[str, Any], match: str) -> None:
    mech = sr.library.pendulum()
    with pytest.raises(InputError, match=match):
        sr.rollout(mech, mech.default.q, dt=1e-3, steps=1, **options)


def test_python_functions_are_refused_by_name() -> None:
    spec = sr.MechanismSpec()
    spec.body("crank", joint=sr.Revolute("z"), mass=1.0, inertia=(0.1, 0.1, 0.1))
    spec.constrain("motor", sr.Drive("crank", np.sin))
    mech = spec.compile()
    with pytest.raises(InputError, match="'motor'"):
        sr.rollout(mech, mech.default.q, dt=1e-3, steps=1, device="cuda")


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_text_compiles(precision: str, tmp_path: Path) -> None:
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        pytest.skip("no nvcc; tests/tracing/test_recorded_copies.py compiles the text as C++")
    mech = sr.library.bricard()
    source = tmp_path / "code.cu"
    source.write_text(cuda_text(mech.model, mech._program(precision, "a test")))
    run(nvcc, "-std=c++17", "-Xcicc", "-O0", "-ptx", source, "-o", tmp_path / "code.ptx")
    assert (tmp_path / "code.ptx").read_text().count(".entry") == 2


@on_a_device
@pytest.mark.parametrize(("name", "dt"), [("bricard", 1e-3), ("dual_arm", 2e-4)])
def test_equal_to_the_processor(name: str, dt: float) -> None:
    """1e-9 over 1,000 steps; inputs, kept states. Falling arms multiply rounding by 1e9 in a second."""
    mech = getattr(sr.library, name)()
    q, v = random_states(mech, 40)
    u = 0.1 * np.random.default_rng(0).normal(size=(1, 1000, mech.nu))
    given = {"dt": dt, "steps": 1000, "every": 250}
    known = sr.rollout(mech, q, v, u, **given)
    found = sr.rollout(mech, q, v, u, **given, device="cuda")
    fine = known.status == 0
    assert found.success and fine.any()
    np.testing.assert_allclose(found.q[fine], known.q[fine], rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.u, np.broadcast_to(known.u, found.u.shape), rtol=0, atol=0)


@on_a_device
def test_singular_poses_are_passed() -> None:
    mech = sr.library.parallelogram()
    v = np.array([[1.0, -1.0, 1.0]]) * np.linspace(0.5, 9.0, 50)[:, None]
    known = sr.rollout(mech, mech.default.q, v, dt=1e-3, steps=1000, every=100)
    found = sr.rollout(mech, mech.default.q, v, dt=1e-3, steps=1000, every=100, device="cuda")
    assert known.success and found.success and found.general_steps.any()
    np.testing.assert_allclose(found.q, known.q, rtol=0, atol=1e-9)


@on_a_device
@pytest.mark.parametrize("library", ["cupy", "torch", "jax"])
def test_arrays_of_the_device(library: str) -> None:
    """Steps and accelerations stay on the device and in the library that the arrays come from."""
    cupy = require_cuda()
    mech = sr.library.bricard()
    q, v = random_states(mech, 20)
    tau = np.random.default_rng(1).normal(size=v.shape)
    if library == "cupy":
        there = cupy.asarray
    elif library == "torch":
        torch = pytest.importorskip("torch")

        def there(x: Any) -> Any:
            return torch.tensor(x, device="cuda")
    else:
        jax = pytest.importorskip("jax")
        jax.config.update("jax_enable_x64", True)
        there = jax.numpy.asarray
    a = mech.acceleration(there(q), there(v), there(tau))
    state = mech.step(there(q), there(v), dt=1e-3, tau=there(tau), substeps=2)
    assert type(a) is type(there(q)) is type(state.q)

    def back(x: Any) -> Any:
        return x.get() if library == "cupy" else x.cpu().numpy() if library == "torch" else np.asarray(x)

    np.testing.assert_allclose(back(a), mech.acceleration(q, v, tau), rtol=1e-10, atol=1e-10)
    known = mech.step(q, v, dt=1e-3, tau=tau, substeps=2)
    np.testing.assert_allclose(back(state.q), known.q, rtol=0, atol=1e-12)
    small = mech.step(there(q.astype(np.float32)), there(v.astype(np.float32)), dt=1e-3)
    assert "float32" in str(small.q.dtype)
    with pytest.raises(InputError, match="float64 or float32"):
        mech.step(there(q.astype(np.int32)), there(v), dt=1e-3)

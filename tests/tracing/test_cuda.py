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
from sarrus.mechanism.query.device_steps import general_kernel
from sarrus.mechanism.query.recorded_code import program_of
from sarrus.simulation.copies import device_copies
from sarrus.tracing.cuda_device import require_cuda
from sarrus.tracing.cuda_text import cuda_text
from sarrus.tracing.general_text import general_text, headers

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
        ({"dtype": "float32"}, 'dtype="float32" needs device="cuda"'),
        ({"device": "cuda", "policy": lambda t, q, v: q}, "takes no policy"),
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
    source.write_text(cuda_text(mech.model, program_of(mech, precision, "a test")))
    run(nvcc, "-std=c++17", "-Xcicc", "-O0", "-ptx", source, "-o", tmp_path / "code.ptx")
    assert (tmp_path / "code.ptx").read_text().count(".entry") == 2


def test_general_text_compiles(tmp_path: Path) -> None:
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        pytest.skip("no nvcc")
    source = tmp_path / "general.cu"
    source.write_text(general_text(16))
    run(nvcc, "-std=c++20", "-Xcicc", "-O0", "-ptx", "-I", headers(), source, "-o", tmp_path / "code.ptx")
    assert (tmp_path / "code.ptx").read_text().count(".entry") == 3


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
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_steps_that_are_too_long_are_reported(dtype: str) -> None:
    mech = sr.library.four_bar()
    q = np.repeat(mech.default.q[None], 2, axis=0)
    v = mech.consistent_velocity(q, np.array([[1.0], [300.0]]) * np.array([1.0, 0.0, 0.0]))
    found = sr.rollout(mech, q, v, dt=1e-3, steps=64, device="cuda", dtype=dtype)
    assert found.status[0] == 0 and found.step_error[0] < 1e-6
    assert found.step_error[1] > 0.1 and "too long" in found.message


@on_a_device
def test_singular_poses_are_passed() -> None:
    mech = sr.library.parallelogram()
    v = np.array([[1.0, -1.0, 1.0]]) * np.linspace(0.5, 9.0, 50)[:, None]
    known = sr.rollout(mech, mech.default.q, v, dt=1e-3, steps=1000, every=100)
    found = sr.rollout(mech, mech.default.q, v, dt=1e-3, steps=1000, every=100, device="cuda")
    assert known.success and found.success and found.general_steps.any()
    np.testing.assert_allclose(found.q, known.q, rtol=0, atol=1e-9)


@on_a_device
def test_general_kernel_beside_the_processor() -> None:
    """Steps and accelerations of all states by the general kernel, at singular poses too."""
    cupy = require_cuda()
    for name in ("five_bar", "parallelogram", "dual_arm", "stewart"):
        mech = getattr(sr.library, name)()
        q, v = random_states(mech, 20)
        q = np.concatenate([q, mech.default.q[None]])
        v = np.concatenate([v, mech.default.v[None]])
        tau = np.random.default_rng(0).normal(size=v.shape)
        there = [cupy.asarray(x) for x in (q, v, tau)]
        x, y, status = (z.get() for z in general_kernel(mech).steps(*there, 1e-3))
        known = mech.step(q, v, dt=1e-3, tau=tau)
        np.testing.assert_array_equal(status, known.status)
        np.testing.assert_allclose(x, known.q, rtol=0, atol=1e-11)
        np.testing.assert_allclose(y, known.v, rtol=1e-9, atol=1e-9)
        a, bad = (z.get() for z in general_kernel(mech).accelerations(*there))
        assert not bad.any()
        np.testing.assert_allclose(a, mech.acceleration(q, v, tau), rtol=1e-8, atol=1e-8)


@on_a_device
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_parameters_of_each_copy(dtype: str) -> None:
    """Masses and gravity of each copy; copies that turn through the flat pose take the general kernel."""
    mech = sr.library.parallelogram()
    v = np.array([[1.0, -1.0, 1.0]]) * np.linspace(4.0, 9.0, 20)[:, None]
    rng = np.random.default_rng(0)
    name = mech.names[0]
    parameters = {
        "mass": {name: rng.uniform(0.5, 2.0, 20)},
        "gravity": np.outer(rng.uniform(0.5, 1.0, 20), mech.model.gravity),
    }
    given = {"dt": 1e-3, "steps": 500, "every": 100, "parameters": parameters}
    known = sr.rollout(mech, mech.default.q, v, **given)
    found = sr.rollout(mech, mech.default.q, v, **given, device="cuda", dtype=dtype)
    assert known.success and found.success and found.general_steps.any()
    np.testing.assert_allclose(found.q, known.q, rtol=0, atol=1e-9 if dtype == "float64" else 2e-2)


@on_a_device
def test_little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Inputs and states that do not fit go in pieces; a single step that does not fit is refused."""
    mech = sr.library.five_bar()
    q, v = random_states(mech, 5, away=0.2)
    u = np.random.default_rng(0).normal(size=(len(q), 30, mech.nu))
    given = {"dt": 1e-3, "steps": 30, "every": 4, "device": "cuda"}
    whole = sr.rollout(mech, q, v, u, **given)
    a_step = 8 * len(q) * (mech.nu + (mech.nq + mech.nv) / 4)
    monkeypatch.setattr(device_copies, "free_memory", lambda _: 2 * 7.5 * a_step)
    pieces = sr.rollout(mech, q, v, u, **given)
    np.testing.assert_array_equal(pieces.q, whole.q)
    np.testing.assert_array_equal(pieces.u, whole.u)
    monkeypatch.setattr(device_copies, "free_memory", lambda _: a_step)
    with pytest.raises(InputError, match=r"5 copies need .* GB a step on the device"):
        sr.rollout(mech, q, v, u, **given)


@on_a_device
def test_copies_that_fail_stop_alone() -> None:
    mech = sr.library.five_bar()
    q, v = random_states(mech, 4, away=0.2)
    v[1] = np.nan
    u = np.zeros((4, 10, mech.nu))
    u[2, 5] = np.nan
    found = sr.rollout(mech, q, v, u, dt=1e-3, steps=10, device="cuda")
    assert found.status.tolist() == [0, -1, -1, 0] and found.length.tolist() == [11, 0, 6, 11]
    assert "Copy 1" in found.message and "not finite at step 5" in found.messages[2]
    state = mech.step(*(require_cuda().asarray(x) for x in (q, v)), dt=1e-3)
    assert (state.status != 0).tolist() == [False, True, False, False]
    assert bool(require_cuda().isnan(state.q[1]).all())


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

"""Arrays of other libraries by DLPack: the path of device arrays, with this processor as the device."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sarrus as sr
from sarrus.mechanism.query import device_steps
from sarrus.tracing import cuda_device

from .compiled_c import random_states
from .host_device import HostDevice, general_on_host

CPU = 1  # device type of DLPack


class NumpyAsCupy:
    """NumPy with the one function that CuPy has besides."""

    asnumpy = staticmethod(np.asarray)

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)


class Foreign:
    """An array of a library that nobody knows: DLPack, a shape and a type."""

    def __init__(self, x: np.ndarray) -> None:
        self._x, self.shape, self.dtype, self.ndim = x, x.shape, x.dtype, x.ndim

    def __dlpack__(self, **options: Any) -> Any:
        return self._x.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return CPU, 0


def library(name: str) -> Any:
    """How arrays of a library are made from NumPy's."""
    if name == "jax":
        jax = pytest.importorskip("jax")
        jax.config.update("jax_enable_x64", True)
        return lambda x: jax.device_put(x, jax.devices("cpu")[0])
    if name == "torch":
        return pytest.importorskip("torch").tensor
    return Foreign


@pytest.fixture
def mech(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> sr.Mechanism:
    """A mechanism whose device is this processor."""
    mech = sr.library.bricard()

    def kernels(given: sr.Mechanism, precision: str) -> HostDevice:
        device = HostDevice(given, precision, tmp_path)
        device.cupy = NumpyAsCupy()
        return device

    monkeypatch.setattr(cuda_device, "CUDA", CPU)
    monkeypatch.setattr(device_steps, "device_kernels", kernels)
    monkeypatch.setattr(device_steps, "general_step", lambda given: general_on_host([given]))
    return mech


@pytest.mark.parametrize("name", ["jax", "torch", "foreign"])
@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_steps_and_accelerations(mech: sr.Mechanism, name: str, precision: str) -> None:
    there = library(name)
    q, v = (x.astype(precision) for x in random_states(mech, 3))
    tau = np.random.default_rng(1).normal(size=v.shape).astype(precision)
    state = mech.step(there(q), there(v), dt=1e-3, tau=there(tau), substeps=2)
    a = mech.acceleration(there(q), there(v), there(tau))
    if name != "foreign":
        assert type(state.q) is type(state.v) is type(a) is type(there(q))
    tol = 1e-10 if precision == "float64" else 2e-3
    known = mech.step(q.astype(float), v.astype(float), dt=1e-3, tau=tau.astype(float), substeps=2)
    assert str(state.q.dtype).endswith(precision) and (state.status == 0).all()
    assert (
        np.abs(np.asarray(state.q) - known.q).max() < tol
        and np.abs(np.asarray(state.v) - known.v).max() < tol
    )
    if precision == "float64":
        assert np.abs(np.asarray(a) - mech.acceleration(q, v, tau)).max() < 1e-9


def test_bad_arrays(mech: sr.Mechanism) -> None:
    q, v = random_states(mech, 2)
    with pytest.raises(sr.SarrusError, match="float64 or float32, got int"):
        mech.step(Foreign(q.astype(int)), Foreign(v), dt=1e-3)
    with pytest.raises(sr.SarrusError, match=r"v must have shape \(2, 5\), got \(2, 4\)"):
        mech.step(Foreign(q), Foreign(np.ascontiguousarray(v[:, :4])), dt=1e-3)
    with pytest.raises(sr.SarrusError, match='method "rk4" alone'):
        mech.step(Foreign(q), Foreign(v), dt=1e-3, method="dopri5")

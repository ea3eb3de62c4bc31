"""CUDA through CuPy: recorded programs compiled for the device, and arrays of other libraries by DLPack."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InputError
from ..models.model import Model
from ..models.tree.layout import SIZES
from .cuda_text import BLOCK, cuda_text
from .entries import Entries, indices_of, numbers_of
from .general_text import general_text, headers
from .program import Program

CUDA = 2  # device type of DLPack
OPTIONS = {
    "float64": ("-std=c++17",),
    "float32": ("-std=c++17", "-ftz=true", "-prec-div=false", "-prec-sqrt=false"),
}
QUICKLY = "--ptxas-options=-O1"  # of the assembler: for float64 and for long programs
LONG = 20_000  # operations: beyond it full optimization takes minutes
GIVEN_UP = 64  # registers: with fewer the assembler has put code into memory, which QUICKLY never does
# The assembler of CUDA 13.0 breaks the general kernel (illegal addresses) at every level but -O0.
GENERAL = ("-std=c++20", "-default-device", "--ptxas-options=-O0")
GENERAL_BLOCK = 8  # threads: each has memory of its own, and caches hold that of few
SHARE = 0.5  # of the free memory of the device that one call may take


def require_cuda() -> Any:
    """The module cupy, with a device that works."""
    try:
        import cupy
    except ImportError as error:
        raise InputError(
            'device="cuda" needs CuPy, which is not installed: pip install "sarrus[gpu]" on a machine with an'
            ' NVIDIA GPU, or use device="cpu".'
        ) from error
    try:
        found, why = cupy.cuda.runtime.getDeviceCount(), ""
    except cupy.cuda.runtime.CUDARuntimeError as error:
        found, why = 0, f" ({error})"
    if not found:
        raise InputError(f'device="cuda" needs an NVIDIA GPU, and CUDA finds none{why}; use device="cpu".')
    return cupy


def on_cuda(x: Any) -> bool:
    """Whether x is an array in the memory of a CUDA device."""
    place = getattr(x, "__dlpack_device__", None)
    return place is not None and not isinstance(x, np.ndarray) and int(place()[0]) == CUDA


class DeviceKernels:
    """The kernels of one mechanism, compiled for the device; CuPy keeps what it has compiled on disk."""

    def __init__(self, model: Model, program: Program) -> None:
        self.cupy = require_cuda()
        text, options = cuda_text(model, program), OPTIONS[program.precision]
        quickly = program.precision == "float64" or program.operations(("step",)) > LONG
        self._module = self.cupy.RawModule(code=text, options=(*options, *[QUICKLY] * quickly))
        if not quickly and self.attributes()["registers"] < GIVEN_UP:
            self._module = self.cupy.RawModule(code=text, options=(*options, QUICKLY))

    def __call__(self, name: str, count: int, arguments: tuple[Any, ...]) -> None:
        """Launch a kernel with a thread for each of `count` copies."""
        null = np.uint64(0)
        given = tuple(null if one is None else one for one in arguments)
        self._module.get_function(name)(((count + BLOCK - 1) // BLOCK,), (BLOCK,), given)

    def attributes(self) -> dict[str, int]:
        """Registers and local memory [bytes] of a thread of `advance`."""
        kernel = self._module.get_function("advance")
        return {"registers": int(kernel.num_regs), "local_bytes": int(kernel.local_size_bytes)}


class GeneralKernel:
    """Steps and accelerations of the general kernel on the device, for one mechanism or variants of it."""

    def __init__(self, model: Model, entries: Entries) -> None:
        """entries: those whose values differ between variants."""
        self.cupy = cupy = require_cuda()
        self._module = cupy.RawModule(
            code=general_text(model.nv), options=(*GENERAL, f"-I{headers()}"), backend="nvrtc"
        )
        sizes = np.array([model.sizes[name] for name in SIZES], dtype=np.int32)
        self._model = tuple(cupy.asarray(x) for x in (sizes, indices_of(model), numbers_of(model)))
        self._positions = cupy.asarray(entries.positions(model))
        bytes_ = cupy.zeros(1, dtype=cupy.uint64)
        self._module.get_function("memory_of_a_state")((1,), (1,), (*self._model, bytes_))
        self._bytes = int(bytes_[0])

    def steps(self, q: Any, v: Any, force: Any, dt: float, parameters: Any = None) -> tuple[Any, Any, Any]:
        """q, v, status (k, ...) after a step of dt; parameters (k, n): values of the entries, or None."""
        return self._run("general_steps", (q, v, force), dt, parameters)

    def accelerations(self, q: Any, v: Any, force: Any, parameters: Any = None) -> tuple[Any, Any]:
        """a (k, nv), and 0 or 1 (k,) where the inertia of the free motion is not positive definite."""
        return self._run("general_accelerations", (q, v, force), 0.0, parameters)[1:]

    def _run(
        self, name: str, state: tuple[Any, Any, Any], dt: float, parameters: Any
    ) -> tuple[Any, Any, Any]:
        cupy, kernel = self.cupy, self._module.get_function(name)
        q, v = (cupy.array(x, dtype=float, order="C") for x in state[:2])
        force = cupy.ascontiguousarray(state[2])
        status = cupy.zeros(len(q), dtype=cupy.int32)
        sizes, indices, numbers = self._model
        most = max(int(SHARE * free_memory(cupy) / (self._bytes + numbers.nbytes)), 1)
        for begin in range(0, len(q), most):
            part = slice(begin, begin + most)
            count, own, stride = len(q[part]), numbers, 0
            if parameters is not None:
                own = cupy.repeat(numbers[None], count, axis=0)
                own[:, self._positions] = parameters[part]
                stride = own.shape[1]
            memory = cupy.zeros(count * self._bytes, dtype=cupy.uint8)  # padding is zero and stays zero
            model = sizes, indices, own, np.int64(stride)
            work = np.float64(dt), memory, np.uint64(self._bytes)
            arrays = q[part], v[part], force[part], status[part]
            blocks = ((count + GENERAL_BLOCK - 1) // GENERAL_BLOCK,)
            kernel(blocks, (GENERAL_BLOCK,), (np.int32(count), *model, *work, *arrays))
        return q, v, status


def free_memory(cupy: Any) -> int:
    """Bytes of the device that nothing uses."""
    return int(cupy.cuda.runtime.memGetInfo()[0] + cupy.get_default_memory_pool().free_bytes())


def to_cupy(cupy: Any, x: Any, name: str, shape: tuple[int, ...], dtype: Any) -> Any:
    """An array of a device as CuPy's, in C order, of this shape and type; no copy where none is needed."""
    array = x if isinstance(x, cupy.ndarray) else cupy.from_dlpack(x) if on_cuda(x) else cupy.asarray(x)
    if array.shape != shape:
        raise InputError(f"{name} must have shape {shape}, got {array.shape}.")
    if array.dtype not in (cupy.float64, cupy.float32):
        raise InputError(f"{name} on a device must be of type float64 or float32, got {array.dtype}.")
    return cupy.ascontiguousarray(array.astype(dtype, copy=False))


def like(x: Any, array: Any) -> Any:
    """A CuPy array as one of the library that x comes from, without a copy."""
    library = type(x).__module__.split(".")[0]
    if library == "torch":
        import torch  # type: ignore[import-not-found, unused-ignore]

        return torch.from_dlpack(array)
    if library in ("jax", "jaxlib"):
        import jax.dlpack  # type: ignore[import-not-found, unused-ignore]

        return jax.dlpack.from_dlpack(array)
    return array

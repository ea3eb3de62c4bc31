"""Steps and accelerations of states in the memory of a CUDA device: CuPy, Torch and JAX arrays by DLPack."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..._kernel import StepStatus
from ...arrays import positive, positive_whole
from ...errors import InputError
from ...tracing.cuda_device import DeviceKernels, GeneralKernel, like, require_cuda, to_cupy
from ...tracing.entries import Entries
from ...tracing.program import Program, TooLongError
from ...tracing.recorded_copies import GeneralStep, Inputs, RecordedCopies
from ...tracing.team_device import TEAM, TeamKernels
from ..core.access import actuated_columns
from ..core.core import State
from .recorded_code import NONE, program_of
from .team_tables import team_tables

if TYPE_CHECKING:
    from ..mechanism import Mechanism

FEW = 16_384  # states: one thread of a device takes 0.1 s for a step through a singular pose


def device_kernels(mech: Mechanism, precision: str, entries: Entries = NONE) -> DeviceKernels | TeamKernels:
    """The compiled kernels of a mechanism, made once for each precision and choice of variables.

    Straight-line code, or where that would be too long, teams of threads.
    """
    known: dict[Any, DeviceKernels | TeamKernels] = mech.__dict__.setdefault("_device_kernels", {})
    key = precision, entries.key
    if key not in known:
        program = short_program(mech, precision, entries)
        known[key] = (
            team_kernels(mech, precision, entries) if program is None else DeviceKernels(mech.model, program)
        )
    return known[key]


def short_program(mech: Mechanism, precision: str, entries: Entries = NONE) -> Program | None:
    """The recorded program of a mechanism, where it is short enough for straight-line code."""
    try:
        return program_of(mech, precision, 'device="cuda"', entries)
    except TooLongError:
        return None


def team_kernels(mech: Mechanism, precision: str, entries: Entries = NONE, width: int = TEAM) -> TeamKernels:
    """Kernels in which teams of `width` threads step the copies of a mechanism."""
    tables = team_tables(mech, precision, width, 'device="cuda"', entries)
    return TeamKernels(tables, precision, bool(len(entries)))


def general_kernel(mech: Mechanism, entries: Entries = NONE) -> GeneralKernel:
    """The general kernel for a mechanism, made when a guard does not pass for the first time."""
    known: dict[Any, GeneralKernel] = mech.__dict__.setdefault("_general_kernels", {})
    if entries.key not in known:
        known[entries.key] = GeneralKernel(mech.model, entries)
    return known[entries.key]


def general_step(mech: Mechanism, entries: Entries = NONE, parameters: Any = None) -> GeneralStep:
    """Steps of the general kernel; parameters: values of the entries of all copies (B, n).

    On the device where states are many or mechanisms differ, else on the processor.
    """

    def step(copies: Any, q: Any, v: Any, force: Any, dt: float) -> tuple[Any, Any, Any]:
        if parameters is None and len(q) <= FEW:
            found = mech.step(q.get(), v.get(), dt=dt, tau=force.get())
            xp = require_cuda()
            return xp.asarray(found.q), xp.asarray(found.v), xp.asarray(found.status)
        own = None if parameters is None else parameters[copies]
        return general_kernel(mech, entries).steps(q, v, force, dt, own)

    return step


def device_step(
    mech: Mechanism, state: tuple[Any, Any, Any, Any], dt: float, substeps: int, method: str
) -> State:
    """`step` of (q, v, u, tau) on a device; u and tau may be None, or one row for all."""
    if method != "rk4":
        raise InputError(f'step on a device has the method "rk4" alone, got {method!r}.')
    q, v, u, tau = state
    dt, substeps = positive(dt, "`dt`"), positive_whole(substeps, "`substeps`")
    batch = tuple(q.shape[:-1])
    kernels = device_kernels(mech, _precision(q))
    cupy, dtype = kernels.cupy, _precision(q)
    x = to_cupy(cupy, q, "q", (*batch, mech.nq), dtype).astype(float).reshape(-1, mech.nq)
    y = to_cupy(cupy, v, "v", (*batch, mech.nv), dtype).reshape(-1, mech.nv).copy()
    inputs = Inputs()
    if u is not None:
        inputs.u = to_cupy(cupy, u, "u", (*_rows(u, batch), mech.nu), dtype).reshape(-1, 1, mech.nu)
    if tau is not None:
        inputs.tau = to_cupy(cupy, tau, "tau", (*_rows(tau, batch), mech.nv), dtype).reshape(-1, mech.nv)
    copies = RecordedCopies(cupy, kernels, general_step(mech), actuated_columns(mech), (x, y))
    copies.advance(substeps, dt / substeps, inputs)
    bad = (copies.status != 0) | (copies.reached < substeps)
    x[bad], y[bad] = np.nan, np.nan
    found = like(q, x.astype(dtype).reshape(*batch, mech.nq)), like(q, y.reshape(*batch, mech.nv))
    copies.status[bad & (copies.status == 0)] = StepStatus.NOT_FINITE.value
    return State(*found, 0.0, cupy.asnumpy(copies.status).reshape(batch))


def device_acceleration(mech: Mechanism, q: Any, v: Any, tau: Any) -> Any:
    """`acceleration` on a device."""
    batch = tuple(q.shape[:-1])
    kernels = device_kernels(mech, _precision(q))
    cupy, dtype = kernels.cupy, _precision(q)
    x = to_cupy(cupy, q, "q", (*batch, mech.nq), dtype).reshape(-1, mech.nq)
    y = to_cupy(cupy, v, "v", (*batch, mech.nv), dtype).reshape(-1, mech.nv)
    force = to_cupy(cupy, tau, "tau", (*_rows(tau, batch), mech.nv), dtype).reshape(-1, mech.nv)
    force = cupy.ascontiguousarray(cupy.broadcast_to(force, y.shape))
    a, guards = cupy.empty_like(y), cupy.zeros(len(y), dtype=cupy.uint32)
    kernels("accelerations", len(x), (np.int32(len(x)), x, y, force, None, a, guards))
    others = cupy.flatnonzero(guards)
    if len(others):
        at = (z[others].astype(float) for z in (x, y, force))
        found, bad = general_kernel(mech).accelerations(*at)
        found[bad != 0] = np.nan
        a[others] = found.astype(dtype)
    return like(q, a.reshape(*batch, mech.nv))


def _precision(q: Any) -> str:
    name = str(q.dtype).rsplit(".", maxsplit=1)[-1]
    if name not in ("float64", "float32"):
        raise InputError(f"q on a device must be of type float64 or float32, got {name}.")
    return name


def _rows(x: Any, batch: tuple[int, ...]) -> tuple[int, ...]:
    """The batch shape that x must have: none where it is one row for all."""
    return batch if np.ndim(x) > 1 else ()

"""CUDA through CuPy: kernels in which a team of threads steps each copy (`kernels/team/`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .cuda_device import SHARE, free_memory, require_cuda
from .general_text import headers
from .team_text import TeamOptions, team_text

TEAM = 32  # threads of a team
THREADS = 32  # of a block
LEAST_BLOCKS = {"float64": 10, "float32": 16}  # of a multiprocessor at a time, for the compiler's registers
OPTIONS = ("-std=c++20", "-default-device")
PARAMETERS = {"advance": 13}  # place of the parameters among the arguments; accelerations have none


@dataclass(frozen=True)
class TeamTables:
    """What kernels of teams are bound to.

    Attributes:
        arrays: sizes, indices and numbers of the model, sizes and indices of the tables of `team_plan`,
            limits, updates, actuated columns, and what steps are tested with.
        positions: of entries that differ between copies, among the numbers (n,).
        width: threads of a team.
        rank: rows that are kept.
        kinds: of joints, elements and forces that the mechanism has, see `TeamOptions`.
    """

    arrays: tuple[npt.NDArray[Any], ...]
    positions: npt.NDArray[np.int64]
    width: int
    rank: int
    kinds: tuple[int, int, int, int]

    @property
    def index(self) -> str:
        """Type of the indices of updates."""
        return self.arrays[6].dtype.name

    def numbers_of_copies(self, xp: Any, parameters: Any) -> Any:
        """Numbers of the model of each copy (B, n); parameters: values of the entries that differ (B, k)."""
        own = xp.repeat(xp.asarray(self.arrays[2])[None], len(parameters), axis=0)
        own[:, xp.asarray(self.positions)] = parameters
        return own


class TeamKernels:
    """The kernels of teams, bound to one mechanism; CuPy keeps what it has compiled on disk."""

    def __init__(self, tables: TeamTables, precision: str, own: bool) -> None:
        """own: whether copies have parameters of their own."""
        self.cupy = cupy = require_cuda()
        self._tables, self._own = tables, own
        self._used: tuple[Any, Any] | None = None  # parameters, and the numbers of models that they are in
        self._arrays = [cupy.asarray(x) for x in tables.arrays]
        properties = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)
        for shared in (True, False):
            text = team_text(
                TeamOptions(
                    precision=precision,
                    index=tables.index,
                    team=tables.width,
                    threads=THREADS,
                    least_blocks=LEAST_BLOCKS[precision],
                    shared=shared,
                    own=own,
                    kinds=tables.kinds,
                )
            )
            self._module = cupy.RawModule(code=text, options=(*OPTIONS, f"-I{headers()}"), backend="nvrtc")
            self._bytes = self._bind(self._arrays[2])
            in_block = self._bytes * (THREADS // tables.width)
            if in_block <= properties["sharedMemPerBlockOptin"]:
                break
        self._shared_bytes = in_block if shared else 0

    def _bind(self, numbers: Any) -> int:
        """Put the tables where kernels read them; bytes of memory of a team."""
        cupy = self.cupy
        out, sizes = cupy.zeros(4096, dtype=cupy.uint8), cupy.zeros(2, dtype=cupy.uint64)
        arrays = [numbers if k == 2 else x for k, x in enumerate(self._arrays)]
        self._module.get_function("bind")((1,), (1,), (*arrays, out, sizes))
        bytes_, bound = (int(x) for x in sizes.get())
        assert bound <= out.nbytes
        self._module.get_global("BOUND").copy_from_device(out.data, bound)
        return bytes_

    def _use(self, parameters: Any) -> int:
        """Bind the numbers of each copy; how far apart they are."""
        if self._used is None or self._used[0] is not parameters:
            numbers = self._tables.numbers_of_copies(self.cupy, parameters)
            self._bind(numbers)
            self._used = parameters, numbers
        return int(self._used[1].shape[1])

    def __call__(self, name: str, count: int, arguments: tuple[Any, ...]) -> None:
        """Launch a kernel with a team for each of `count` copies."""
        cupy, teams = self.cupy, THREADS // self._tables.width
        own = self._own and name in PARAMETERS
        stride = self._use(arguments[PARAMETERS[name]]) if own else 0
        null = np.uint64(0)
        given = tuple(null if one is None else one for one in arguments)
        kernel = self._module.get_function(name)
        most, memory = count, null
        if self._shared_bytes:
            kernel.max_dynamic_shared_size_bytes = self._shared_bytes
        else:
            most = max(min(count, int(SHARE * free_memory(cupy)) // self._bytes), teams)
            memory = cupy.empty((most + teams) * self._bytes, dtype=cupy.uint8)
        for begin in range(0, count, most):
            blocks = (min(most, count - begin) + teams - 1) // teams
            launch = memory, np.uint64(self._bytes), np.int64(begin), np.int64(stride)
            kernel((blocks,), (THREADS,), (*launch, *given), shared_mem=self._shared_bytes)

    def attributes(self) -> dict[str, int]:
        """Registers and local memory [bytes] of a thread of `advance`, memory of a team [bytes]."""
        kernel = self._module.get_function("advance")
        return {
            "registers": int(kernel.num_regs),
            "local_bytes": int(kernel.local_size_bytes),
            "team_bytes": self._bytes,
        }

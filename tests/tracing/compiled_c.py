"""Exported C compiled by the C compiler of this machine and called on NumPy arrays."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import sarrus as sr

Array = npt.NDArray[np.float64]
FUNCTIONS = ("acceleration", "step", "terms", "project")
STRICT = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"]


def compiler() -> str:
    """The C compiler; the test is skipped without one."""
    found = os.environ.get("CC") or shutil.which("gcc") or shutil.which("cc")
    if found is None:
        pytest.skip("no C compiler")
    return found


def run(*command: str | Path) -> str:
    """Output of a command that must succeed."""
    done = subprocess.run([str(x) for x in command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


class CompiledC:
    """The functions of an exported mechanism."""

    def __init__(self, mech: sr.Mechanism, folder: Path, parameters: Any = None) -> None:
        self.mech, self.folder = mech, folder
        self.source, self.header, self.main = mech.export_code(folder, FUNCTIONS, parameters=parameters)
        self.last: list[Array | None] = []  # the argument p, where there is one
        self.name = self.source.stem
        library = folder / "code.so"
        run(
            compiler(), *STRICT, "-O0", "-shared", "-fPIC", "-fstack-usage", self.source, "-o", library, "-lm"
        )
        self.library = ctypes.CDLL(str(library))

    def _call(self, name: str, *arrays: Array | float | None) -> int:
        function = getattr(self.library, f"{self.name}_{name}")
        function.restype = ctypes.c_uint
        given = [
            ctypes.c_double(x)
            if isinstance(x, float)
            else None
            if x is None
            else ctypes.c_void_p(x.ctypes.data)
            for x in (*arrays, *self.last)
        ]
        return int(function(*given))

    def acceleration(self, q: Array, v: Array, tau: Array) -> tuple[Array, int]:
        """a (nv,) and guards."""
        a = np.full(self.mech.nv, np.nan)
        return a, self._call("acceleration", *(np.ascontiguousarray(x) for x in (q, v, tau)), a)

    def step(
        self, q: Array, v: Array, u: Array | None, tau: Array | None, dt: float
    ) -> tuple[Array, Array, int]:
        """(q, v) after a step, and guards."""
        q, v = q.copy(), v.copy()
        return q, v, self._call("step", q, v, u, tau, dt)

    def project(self, q: Array, v: Array) -> tuple[Array, Array, int]:
        """(q, v) on the constraints, and guards."""
        q, v = q.copy(), v.copy()
        return q, v, self._call("project", q, v)

    def terms(self, q: Array, v: Array) -> tuple[list[Array], int]:
        """M, h, phi, J, b, gamma and guards."""
        nv, nc = self.mech.nv, self.mech.nc
        out = [np.full(shape, np.nan) for shape in ((nv, nv), nv, nc, (nc, nv), nc, nc)]
        return out, self._call("terms", np.ascontiguousarray(q), np.ascontiguousarray(v), *out)


def random_states(mech: sr.Mechanism, count: int, away: float = 0.3, seed: int = 0) -> tuple[Array, Array]:
    """States on the constraints near the default one, (n, nq) and (n, nv), n at most count."""
    rng = np.random.default_rng(seed)
    unit = mech.units.unit
    q = np.array(
        [mech.integrate(mech.default.q, away * unit * x) for x in rng.uniform(-1, 1, (count, mech.nv))]
    )
    found = mech.project(q, rng.normal(size=(count, mech.nv)) * unit)
    good = np.isfinite(found.q).all(axis=1) & np.isfinite(found.v).all(axis=1)
    return np.ascontiguousarray(found.q[good]), np.ascontiguousarray(found.v[good])

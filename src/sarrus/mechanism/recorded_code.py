"""A Mechanism as straight-line code: recorded programs, and their export to C."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np

from ..arrays import Array
from ..dynamics.friction_refusals import refuse_dry_friction
from ..tracing.c_files import CFiles, chosen_functions
from ..tracing.entries import Entries
from ..tracing.linear_parameters import linear_parameters
from ..tracing.program import Program, record
from .other_constraints import OtherConstraints

TRIES = 6  # poses beside the default one that may serve as reference
AWAY = 0.2  # how far they are from it [rad], lengths divided by L
NONE = Entries()


class RecordedCode(OtherConstraints):
    """Programs of a mechanism."""

    def export_code(
        self,
        folder: str | Path,
        functions: Sequence[str] = ("acceleration", "step", "terms"),
        *,
        parameters: Mapping[str, Any] | None = None,
    ) -> tuple[Path, Path, Path]:
        """Write the mechanism as C99 for microcontrollers and real-time loops: NAME.c, NAME.h and main.c.

        The code allocates nothing, needs libm alone and does the same operations in every call. It holds
        where guards say so: functions return 0, or guard bits, and then leave the state untouched. See
        docs/code.md. It is recorded about `default`: a mechanism whose default pose is singular is recorded
        at a pose nearby.

        Args:
            folder: where the files go; made if it does not exist. Files of these names that sarrus did not
                write are not overwritten.
            functions: which of "acceleration", "step" (one rk4 step, projected), "terms" and "project" (the
                consistent state beside a measured one) it has.
            parameters: what stays variable in the code: keywords of `with_`, each with at least two values
                that it may take, as in {"mass": {"rod": [1.0, 2.0]}}. Functions then take one more argument
                p, which the header describes. They must enter linearly, as masses, gravity, stiffnesses and
                lengths do.

        Returns:
            The paths of NAME.c, NAME.h and main.c, a program that shows their use.

        Raises:
            InputError: the mechanism calls Python functions or is too large, a parameter is not linear, or
                the folder cannot be written.
        """
        wanted = chosen_functions(functions)
        linear = linear_parameters(lambda **x: cast(Any, self).with_(**x).model, parameters)
        program = self._program("float64", "exported code", linear.entries)
        return CFiles(self.model, program, wanted, linear).write(folder)

    def _program(self, precision: str, what: str, entries: Entries = NONE) -> Program:
        """The recorded program, made once for each precision and choice of variables."""
        known: dict[Any, Program] = self.__dict__.setdefault("_programs", {})
        key = precision, entries.key
        if key not in known:
            refuse_dry_friction(self.model, what)
            states = self._references()
            J = np.abs(self.terms(*states[0]).J) / np.asarray(self.units.row_unit)[:, None]
            lever = float(np.max(J, initial=0.0))
            known[key] = record(self.model, states, precision, what, entries, lever)
        return known[key]

    def _references(self) -> list[tuple[Array, Array]]:
        """The default state; where a pose near it has a larger rank, that pose at rest comes first."""
        q, v = (np.ascontiguousarray(x) for x in self.default)
        rng, near = np.random.default_rng(0), [q]
        for _ in range(TRIES if self.nc else 0):
            away = self.integrate(q, AWAY * rng.uniform(-1, 1, self.nv) * self.units.unit)
            found = self.project(away[None])
            near += [found.q[0]] if np.all(np.isfinite(found.q)) else []
        ranks = [int(self.mobility(one).rank) for one in near] if self.nc else [0]
        best = int(np.argmax(ranks))
        rest = np.zeros(self.nv)
        others: list[tuple[Array, Array]] = [
            (np.ascontiguousarray(one), rest)
            for one, rank in zip(near[1:], ranks[1:], strict=True)
            if rank == ranks[best]
        ]
        return [(q, v), *others[:2]] if best == 0 else others

"""The compiled run of a simulation: its formulation, the energy it keeps, and how it starts."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import Array
from ..charts.chart_run import ChartRun
from ..events.singular_start import rank_nearby
from ..stepping.callbacks import Inputs
from ..stepping.formulated_system import FormulatedSystem
from ..stepping.options import Options
from ..stepping.step_setup import StepSetup
from ..system.system import System
from .checkpoint import Checkpoint


class CompiledRun:
    """A run that has not begun.

    Attributes:
        run: the compiled run, or a run in charts with the same methods.
        energy: to keep [J]; 0 where the options do not ask for it.
    """

    def __init__(
        self,
        system: System,
        options: Options,
        inputs: Inputs,
        start: tuple[Array, Array],
        modes: Any,
        checkpoint: Checkpoint | None,
    ) -> None:
        """
        Args:
            system: the system, with all of its rows.
            options: of the run.
            inputs: what its steps ask for.
            start: q, v where it starts (nq,), (nv,).
            modes: what can change during the run; None: nothing.
            checkpoint: where a resumed run continues; None: it starts at q, v.
        """
        self._system, self._options, self._inputs = system, options, inputs
        (self._q, self._v), self._modes, self._checkpoint = start, modes, checkpoint
        self.energy = self._kept_energy()
        formulation = self._formulation()
        if modes is not None:
            modes.prepare(system, formulation)
        plain = formulation == "nullspace"
        self._formulated = None if plain else FormulatedSystem(system, options, formulation, inputs)
        setup = StepSetup(system, options, inputs, self._formulated, self.energy)
        inputs.asked_at_samples = setup.asks_at_samples
        self.run: Any
        if modes is not None:
            self.run = modes.run(setup)
        else:
            self.run = setup.compiled_run() if options.coordinates == "full" else ChartRun(setup)

    def begin(self) -> bool:
        """Start at the first state, or at the checkpoint; whether that went well."""
        t0 = self._options.t0
        if self._checkpoint is None:
            nearby = self._rank_nearby()
            known = {} if nearby < 0 else {"rank": nearby}
            return bool(self.run.start(t0, self._q, self._v, **known))
        self._inputs.restore(self._checkpoint.t, self._checkpoint.u)
        return bool(self.run.resume(t0, self._checkpoint.numbers))

    def _kept_energy(self) -> float:
        if self._checkpoint is not None:
            return self._checkpoint.energy
        if not self._options.energy:
            return 0.0
        return float(self._system.energy(np.array([self._options.t0]), self._q[None], self._v[None])[0])

    def _formulation(self) -> str:
        """The formulation to use: "svd" for soft constraints, and user terms that start at a singular pose.

        At a singular pose the kernel does not compute the limits of rows from Python functions; NumPy does.
        """
        system, o = self._system, self._options
        if o.correction == "soft" and o.formulation == "nullspace":
            return "svd"
        if o.formulation != "nullspace" or not system.has_user_terms or not np.any(self._v):
            return o.formulation
        original = system.original if self._modes is None else self._modes.start_mechanism
        singular = original.nc and original.mobility(self._q, o.t0).is_singular
        return "svd" if singular else "nullspace"

    def _rank_nearby(self) -> int:
        """Rank of J near a singular start of a run without projection; -1: it need not be known."""
        o = self._options
        if o.correction == "project" or self._modes is not None:
            return -1
        nearby = rank_nearby(self._system, o.t0, self._q)
        if self._formulated is not None:
            self._formulated.nearby = nearby
        return nearby

"""StepSetup: what every step of a run needs, and the compiled run made from it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..._kernel import ContactWay, Run
from ...models.kinds.parameters import COORDINATE_FORCES, kind_number
from ..system.system import System
from .callbacks import Inputs
from .formulated_system import FormulatedSystem
from .options import Options

STOPS = kind_number(COORDINATE_FORCES, "JointStop")
KINKED = 1e-2  # of rtol: error estimates miss where a force begins or ends within a step, by 20 to 430 times
LEAST_RTOL = 1e-13  # what rounding allows


@dataclass(frozen=True)
class StepSetup:
    """What every step of a run needs, in full coordinates or in charts.

    Attributes:
        system: the system.
        options: of the run.
        inputs: the callback for everything that Python supplies.
        formulated: accelerations of another formulation; None: the kernel's.
        energy: the energy to keep [J], where `options.energy` asks for it.
    """

    system: System
    options: Options
    inputs: Inputs
    formulated: FormulatedSystem | None
    energy: float

    @property
    def calls_inputs(self) -> bool:
        """Whether steps call `inputs`; a formulation reads the applied force from them."""
        return self.inputs.needed or self.formulated is not None

    @property
    def asks_at_samples(self) -> bool:
        """Whether a compiled run asks for the inputs at samples only, and holds them.

        Runs in charts ask `inputs` in every step: they hold the sample, on the clock of the whole run.
        """
        return self.inputs.sampled and self.formulated is None and self.options.coordinates == "full"

    @property
    def _watched(self) -> bool:
        """Whether something of the system may begin and end within a step."""
        return self.system.called_at_every_stage or bool(np.isfinite(self.system.model.limits).any())

    @property
    def longest_step(self) -> float:
        """Of methods that choose their steps [s]."""
        return self.options.longest_step(self._watched)

    def of(self, system: System) -> StepSetup:
        """The same for the system of a mode."""
        if self.formulated is not None:
            self.formulated.enter(system)
        return replace(self, system=system)

    def compiled_run(self, contacts: ContactWay = ContactWay.IGNORED, **modes: Any) -> Run:
        """A run in full coordinates, where surfaces may touch; `modes`: further arguments of `Run`, of a run
        whose mode changes otherwise."""
        system = self.system
        o = self.options.compiled(known=not system.has_user_terms, watched=self._watched)
        o.keep_energy, o.energy = self.options.energy, self.energy
        o.sampled, o.contacts = self.asks_at_samples, contacts
        if np.any(np.isin(system.model.cf_kind, STOPS)):
            o.rtol = max(o.rtol * KINKED, min(o.rtol, LEAST_RTOL))
        called = self.inputs if self.calls_inputs else None
        return Run(system.kernel, o, called, self.formulated, system.supplies_inertia, **modes)

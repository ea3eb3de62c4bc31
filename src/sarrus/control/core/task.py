"""Task: all outputs of a controller with their references and gains, as rows on the acceleration.

e'' + K_D e' + K_P e = 0      [Aghili2005] eq. (44), (45)      =>      J_task a = wanted        (1)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._kernel import OutputSetup, TaskSetup
from ...arrays import Array
from ...errors import InputError, SarrusError
from ..outputs.output import OutputTracking, as_outputs, compiled_output
from ..outputs.references import CHECKED, Reference, Target, as_reference
from ..state.measured_state import MeasuredState
from .gains import critical_damping, gain_matrix


@dataclass(eq=False)
class TaskTracking:
    """The outputs at one state.

    Attributes:
        x: actual values (k,).
        desired: desired values (k,); for orientations x is minus the error and this is zero.
        e: error (k,), desired - x, or the rotation vector from actual to desired orientation.
        rate: its derivative (k,).
        J: Jacobian of the outputs (k, nv).
        wanted: right side of J a = wanted (k,).
    """

    x: Array
    desired: Array
    e: Array
    rate: Array
    J: Array
    wanted: Array


class Task:
    """Outputs, references and gains of one controller."""

    def __init__(self, system: Any, outputs: Any, reference: Any, kp: Any, kd: Any) -> None:
        self._outputs = [output.bind(system) for output in as_outputs(outputs)]
        self._references = self._paired(reference)
        self.names = tuple(name for output in self._outputs for name in output.names)
        self.size = len(self.names)
        self.unit = np.concatenate([output.unit for output in self._outputs])
        self.kp = gain_matrix(kp, self.size, "kp")
        self.kd = critical_damping(self.kp) if kd is None else gain_matrix(kd, self.size, "kd")
        self._ends = np.cumsum([output.size for output in self._outputs])
        for i in range(len(self._outputs)):
            self._target(i, 0.0)
        self._known = [isinstance(one, CHECKED) for one in self._references]
        self.count = len(self._outputs)

    def track(self, now: MeasuredState) -> TaskTracking:
        """Errors and wanted accelerations at one state.

        Raises:
            InputError: a reference or a function of the user's gave no usable answer.
        """
        errors = [self._output_error(i, now) for i in range(len(self._outputs))]
        if len(errors) == 1:
            ((x, desired, e, rate, J, _, _),) = errors
        else:
            x, desired, e, rate, J = (np.concatenate([one[i] for one in errors]) for i in range(5))
        back = np.split(self.kd @ rate + self.kp @ e, self._ends[:-1])  # -e''   (1)
        wanted = [
            one.c + (part if one.T is None else one.T @ part) for one, part in zip(errors, back, strict=True)
        ]
        return TaskTracking(x, desired, e, rate, J, wanted[0] if len(wanted) == 1 else np.concatenate(wanted))

    def compiled(self) -> TaskSetup:
        """The task for the kernel."""
        return TaskSetup(outputs=self.compiled_outputs(), unit=self.unit, keep=None, kp=self.kp, kd=self.kd)

    def compiled_outputs(self) -> list[OutputSetup]:
        """Its outputs for the kernel."""
        return [compiled_output(one) for one in self._outputs]

    def output_names(self, i: int) -> tuple[str, ...]:
        """Names of the components of the i-th output."""
        return self._outputs[i].names

    def output_reference(self, i: int) -> Reference | None:
        """The reference of the i-th output."""
        return self._references[i]

    def targets(self, t: float) -> list[Target]:
        """What the references ask for at time t [s], one per output."""
        return [
            reference(t) if self._known[i] else self._target(i, t)
            for i, reference in enumerate(self._references)
        ]

    def _output_error(self, i: int, now: MeasuredState) -> OutputTracking:
        """The i-th output against its target."""
        target = self._references[i](now.t) if self._known[i] else self._target(i, now.t)
        return self.output_error(i, now, target)

    def output_error(self, i: int, now: MeasuredState, target: Target) -> OutputTracking:
        """The i-th output against a target; what a user's function raises becomes an InputError."""
        output = self._outputs[i]
        try:
            return output.track(now, target)
        except SarrusError:
            raise
        except Exception as error:
            names = ", ".join(output.names)
            raise InputError(f"output {names}: it raised {type(error).__name__}: {error}") from error

    def _target(self, i: int, t: float) -> Target:
        """The target of the i-th reference, checked."""
        whose = f"reference of output {', '.join(self._outputs[i].names)} at t = {t:g} s"
        try:
            target: Target = self._references[i](t)
        except SarrusError as error:
            raise InputError(f"{whose}: {error}") from error
        except Exception as error:
            raise InputError(f"{whose}: it raised {type(error).__name__}: {error}") from error
        wrong = self._outputs[i].accepts(target)
        if wrong:
            raise InputError(f"{whose}: {wrong}.")
        return target

    def _paired(self, reference: Any) -> list[Reference]:
        """One reference per output."""
        outputs = self._outputs
        is_list = isinstance(reference, (list, tuple))
        if len(outputs) == 1:
            wrapped = isinstance(reference, list) and len(reference) == 1 and not np.isscalar(reference[0])
            return [as_reference(reference[0] if wrapped else reference)]
        if not is_list or len(reference) != len(outputs):
            got = f"{len(reference)}" if is_list else type(reference).__name__
            raise InputError(f"reference must be a list of {len(outputs)}, one per output, got {got}.")
        return list(map(as_reference, reference))

"""Mechanism as designers use it: parameters, measures, and derivatives by parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ...arrays import Array, names, number, takes
from ...blas_threads import one_blas_thread
from ...errors import InputError, warn
from ..core.core import Core, whole
from ..describe.measure import measured
from ..describe.measured_states import MeasuredStates
from ..variants.design_variants import variants_of_batch
from ..variants.parameter_derivatives import ParameterDerivatives, parameter_derivatives
from ..variants.state_slopes import Situation
from .measure_event import MeasureEvent, measure_event

OPEN = 1e-6  # gap [rad], or over L, above which a pose is not on the constraints


class DesignQueries(Core):
    """Parameters and measures."""

    @property
    def parameters(self) -> dict[str, float]:
        """The parameters of the description and their present values."""
        return {} if self.model.recipe is None else self.model.recipe.current()

    def measure(
        self,
        q: npt.ArrayLike,
        v: npt.ArrayLike | None = None,
        t: float = 0.0,
        *,
        u: npt.ArrayLike | None = None,
        tau: npt.ArrayLike | None = None,
        parameters: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """The declared measures of a state by name: numbers, or arrays (n,). Batch axes allowed.

        Warns where a pose leaves loops open: `assemble` or `project` it first. Forces are those of
        the inputs given: without any, of a machine that is let go.

        Args:
            q: positions (nq,) [rad, m].
            v: velocities (nv,) [rad/s, m/s]; default rest.
            t: time [s]; matters with drives and user rows only.
            u: actuator inputs (nu,); forces in constraints and reactions depend on them. Default none.
            tau: applied generalized force (nv,) [N m, N], added.
            parameters: keywords of `with_`, each with a leading axis B: measures these variants, each at its
                own of the states (B, ..., nq), or all at one.
        """
        if parameters is not None:
            return self._measure_variants(parameters, t, {"q": q, "v": v, "u": u, "tau": tau})
        given = [(q, "q", True), (self.rest if v is None else v, "v", False)]
        given.append((self._applied(q, tau, u, None), "tau", False))
        (pose, velocity, applied), batch = self._arguments.states(given)
        states = MeasuredStates(whole(self), pose, velocity, np.full(len(pose), self._time(t)), applied)
        self._warn_of_gaps(pose, self._time(t))
        found = {name: measured(states, one, name) for name, one in self.model.measures}
        shaped = {name: x.reshape(batch + x.shape[1:]) for name, x in found.items()}
        return {name: float(x) if x.ndim == 0 else x for name, x in shaped.items()}

    def _warn_of_gaps(self, q: Array, t: float) -> None:
        """Warn of poses (B, nq) that leave constraints open."""
        if not self.nc or not len(q):
            return
        rest = np.zeros((len(q), self.nv))
        phi = self._kernel.closure(q, rest, *self.evaluator.outside(q, rest, t))[0]
        gaps = np.abs(phi) / self.model.row_unit * self.model.holonomic
        if np.nanmax(gaps) > OPEN:
            i, row = np.unravel_index(int(np.nanargmax(gaps)), gaps.shape)
            warn(
                f"the pose{f' number {i}' if len(q) > 1 else ''} to measure leaves {self.row_names[row]!r}"
                f" open by {gaps[i, row] * self.length:.2g} m: what is measured there belongs to no pose of"
                f" {self._owner}. Start from mech.assemble(q).q or mech.project(q)."
            )

    def event(
        self,
        measure: str,
        value: float,
        *,
        terminal: bool | int = False,
        direction: float = 0.0,
        control: Callable[..., Any] | None = None,
    ) -> MeasureEvent:
        """An event for `sr.simulate(events=...)`: a measure reaches a value.

        Args:
            measure: its name; an entry of one with several numbers as "tip[1]".
            value: in the unit of the measure; angles are taken modulo a whole turn.
            terminal: whether it ends the run, or after how many times.
            direction: 1: only where the measure grows, -1: only where it falls, 0: both.
            control: the controller of the run, where the measure depends on the inputs (forces in constraints
                and reactions): it is called as control(t, q, v) -> u. Default: no inputs.
        """
        if control is not None:
            takes(control, "t, q, v", "control of an event")
        return measure_event(
            whole(self), measure, number(value, "value of an event"), (terminal, direction), control
        )

    def _measure_variants(
        self, parameters: Mapping[str, Any], t: float, given: dict[str, Any]
    ) -> dict[str, Any]:
        """Measures of variants: arrays with their axis B in front."""
        copies = variants_of_batch(whole(self), parameters)
        each = {name: _for_each(x, name, len(copies)) for name, x in given.items()}
        states = [dict(zip(each, one, strict=True)) for one in zip(*each.values(), strict=True)]
        found = [copy.measure(t=t, **state) for copy, state in zip(copies, states, strict=True)]
        return {name: np.array([one[name] for one in found]) for name, _ in self.model.measures}

    @one_blas_thread
    def parameter_derivatives(
        self,
        q: npt.ArrayLike,
        v: npt.ArrayLike | None = None,
        t: float = 0.0,
        *,
        fixed: Sequence[str] = (),
        u: npt.ArrayLike | None = None,
        tau: npt.ArrayLike | None = None,
        parameters: Sequence[str] | None = None,
    ) -> ParameterDerivatives:
        """Derivatives of the pose, velocity, acceleration, multipliers and measures by parameters.

        They are exact up to rounding. Where only differences of order six serve, whose step shrinks until
        they stay the same to 1e-9 of the largest, `differences` of the result names them.

        Args:
            q: a pose on the constraints (nq,) [rad, m].
            v: velocities (nv,) [rad/s, m/s]; default rest.
            t: time [s].
            fixed: coordinates that keep position and velocity while the parameter changes; where freedoms are
                left, the state moves as little as it can, in the mass metric.
            u: actuator inputs (nu,), and
            tau: applied generalized force (nv,) [N m, N], which stay the same.
            parameters: names; default all.

        Raises:
            AssemblyError: no motion keeps the constraints closed when the parameter changes: it opens an
                overconstrained loop. The rows are named.
        """
        speed = np.zeros(self.nv) if v is None else self._one_tangent(v, "v")
        pose, force = self._one_pose(q), self._one_tangent(self._applied(q, tau, u, None), "tau")
        for name in names(fixed, "fixed"):
            self.model.structure.tree.coordinates(name, "fixed")
        time = np.array([self._time(t)])
        at = Situation(pose[None], speed[None], force[None], time, tuple(fixed))
        wanted = tuple(self.parameters if parameters is None else names(parameters, "parameters"))
        return parameter_derivatives(whole(self), at, wanted)


def _for_each(x: Any, name: str, count: int) -> Any:
    """An argument for each of the variants: its own, or the same for all."""
    if x is None or np.ndim(x) <= 1:
        return [x] * count
    if len(x) != count:
        raise InputError(
            f"{name} must have one entry for each of the {count} variants in front, got shape {np.shape(x)}."
        )
    return x

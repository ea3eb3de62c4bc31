"""Mechanism as designers use it: parameters, measures, and derivatives by parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from ..arrays import names
from ..blas_threads import one_blas_thread
from .kinematics import KinematicQueries
from .measured_states import MeasuredStates
from .measures import measured
from .parameter_derivatives import ParameterDerivatives, Situation, parameter_derivatives


class DesignQueries(KinematicQueries):
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
    ) -> dict[str, Any]:
        """The declared measures of a state by name: numbers, or arrays (n,). Batch axes allowed.

        Args:
            q: positions (nq,) [rad, m].
            v: velocities (nv,) [rad/s, m/s]; default rest.
            t: time [s]; matters with drives and user rows only.
            u: actuator inputs (nu,); forces in constraints and reactions depend on them. Default none.
            tau: applied generalized force (nv,) [N m, N], added.
        """
        given = [(q, "q", True), (np.zeros(self.nv) if v is None else v, "v", False)]
        given.append((self._applied(q, tau, u, None), "tau", False))
        (pose, velocity, applied), batch = self._arguments.states(given)
        states = MeasuredStates(cast(Any, self), pose, velocity, np.full(len(pose), self._time(t)), applied)
        found = {name: measured(states, one, name) for name, one in self.model.measures}
        shaped = {name: x.reshape(batch + x.shape[1:]) for name, x in found.items()}
        return {name: float(x) if x.ndim == 0 else x for name, x in shaped.items()}

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

        Args:
            q: a pose on the constraints (nq,) [rad, m].
            v: velocities (nv,) [rad/s, m/s]; default rest.
            t: time [s].
            fixed: coordinates that keep position and velocity while the parameter changes; without any the
                state moves as little as it can, in the mass metric.
            u: actuator inputs (nu,), and
            tau: applied generalized force (nv,) [N m, N], which stay the same.
            parameters: names; default all.

        Raises:
            AssemblyError: with another value the constraints cannot be closed: an overconstrained loop opens.
        """
        speed = np.zeros(self.nv) if v is None else self._one_tangent(v, "v")
        pose, force = self._one_pose(q), self._one_tangent(self._applied(q, tau, u, None), "tau")
        for name in names(fixed, "fixed"):
            self.model.tree.coordinates(name, "fixed")
        at = Situation(pose, speed, force, self._time(t), tuple(fixed))
        wanted = tuple(self.parameters if parameters is None else names(parameters, "parameters"))
        return parameter_derivatives(cast(Any, self), at, wanted)

"""Queries of Mechanism about motion: accelerations, forces, their derivatives, impacts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from ...arrays import Array, flatten_batch
from ...dynamics.derivatives import Derivatives, derivatives
from ...dynamics.forward import Motion, with_wrenches, without_inertia
from ...dynamics.friction_refusals import refuse_rest
from ...dynamics.impact import Impact, no_velocity_after
from ...dynamics.inverse import Torques, overflow
from ...errors import warn
from ...projection.decomposition import metric_factor
from ...projection.sweep import Sweep
from ...tracing.cuda_device import on_cuda
from ..core.contact_refusals import has_contacts, refuse_touching
from ..core.core import Core, whole
from .contact_motion import touching_forces, with_contacts
from .device_steps import device_acceleration
from .forward_by_terms import forward_by_terms
from .holding import Holding, hold, poses_of
from .inertia_queries import Metric


class MotionQueries(Core):
    """Queries about forces and accelerations."""

    def acceleration(self, q: npt.ArrayLike, v: npt.ArrayLike, tau: npt.ArrayLike, t: float = 0.0) -> Array:
        """Acceleration (nv,) under the applied force tau (nv,), constraints included. Batch axes allowed.

        The same as `forward_dynamics(q, v, tau).a`, made for tight loops. CuPy, Torch and JAX arrays on a
        CUDA device stay there (docs/code.md).

        Args:
            q: positions (nq,) [rad, m].
            v: velocities (nv,) [rad/s, m/s].
            tau: applied generalized force (nv,) [N m, N].
            t: time [s]; matters with drives and user rows only.
        """
        if type(q) is not np.ndarray and on_cuda(q):
            return cast(Array, device_acceleration(whole(self), q, v, tau))
        if self._modes is not None or has_contacts(self.model):
            return self.forward_dynamics(q, v, tau, t=t).a
        found = self._queries.acceleration(q, v, tau, t, self.evaluator)
        return self.forward_dynamics(q, v, tau, t=t).a if found is None else found

    def forward_dynamics(
        self,
        q: npt.ArrayLike,
        v: npt.ArrayLike,
        tau: npt.ArrayLike | None = None,
        u: npt.ArrayLike | None = None,
        t: float = 0.0,
        external: Mapping[str, Any] | None = None,
        formulation: str = "nullspace",
        independent: Sequence[str] | None = None,
    ) -> Motion:
        """Accelerations and constraint forces under given forces; see `Motion`. Batch axes allowed.

        Surfaces that touch and do not separate push, stick or slide by the law of contacts
        (docs/contacts.md); speeds at which they close are taken as they are: `simulate` has the impact.

        The state is taken as it is: at one off the constraints (`terms(q, v).phi` not zero) the result obeys
        J a = gamma there, and describes no motion of the mechanism. `project` measured states first.

        Args:
            q: positions (nq,) [rad, m].
            v: velocities (nv,) [rad/s, m/s].
            tau: applied generalized force (nv,) [N m, N]; default none.
            u: actuator inputs (nu,), added to tau.
            t: time [s]; matters with drives and user rows only.
            external: {body: wrench} or {body: (wrench, point)}: [force; moment] (6,) in world axes, at the
                body's origin or at a point (3,) given in the body frame.
            formulation: "nullspace" (the kernel), "svd", "projection", "projection_symmetric",
                "projection_gamma", "partition" or "lagrange" (raises SingularConstraintError
                where J loses rank).
            independent: names of the independent coordinates of "partition"; default: chosen by pivoting.
        """
        forces = tau if u is None and external is None else self._applied(q, tau, u, external)
        friction = whole(self)._friction(q, v, forces, t, external) if self._modes is not None else None
        if friction is not None:
            v, forces = friction.moving, _sum(friction.resting, forces)
        contacts = None
        if has_contacts(self.model):
            contacts = touching_forces(whole(self), (q, v, forces), t, friction is not None)
            forces = _sum(contacts.generalized, forces)
        motion = self._motion_under((q, v, forces), t, formulation, independent)
        if friction is not None:
            motion = replace(motion, _friction=friction.force, _friction_unique=friction.unique)
        if contacts is not None:
            motion = with_contacts(motion, contacts)
        if external is None and not self.model.user_forces:
            return motion
        return with_wrenches(motion, self.evaluator, self._external(external), self._time(t))

    def _motion_under(
        self, state: tuple[Any, Any, Any], t: float, formulation: str, independent: Sequence[str] | None
    ) -> Motion:
        """Motion at q, v under all forces, by a formulation of `forward_dynamics`."""
        if not isinstance(formulation, str) or formulation != "nullspace" or independent is not None:
            return forward_by_terms(whole(self), state, t, formulation, independent)
        if self._may_be_undefined:
            whole(self).terms(*state[:2], t)  # refuses poses at which rows are undefined
        found: Motion | None = self._queries.forward(Motion, *state, t, self.evaluator)
        if found is None:
            raise without_inertia()
        return found

    def derivatives(
        self,
        q: npt.ArrayLike,
        v: npt.ArrayLike,
        tau: npt.ArrayLike | None = None,
        u: npt.ArrayLike | None = None,
        t: float = 0.0,
        method: str = "analytic",
    ) -> Derivatives:
        """Derivatives of the acceleration and of lam at states on the constraints; see `Derivatives`.

        They hold along directions (dq, dv) tangent to the constraints. Batch axes allowed.

        Args:
            q: positions (nq,) [rad, m].
            v: velocities (nv,) [rad/s, m/s].
            tau: applied generalized force (nv,) [N m, N]; default none.
            u: actuator inputs (nu,), added to tau.
            t: time [s]; matters with drives only.
            method: "analytic" (recursive) or "dual" (dual numbers).
        """
        refuse_rest(self.model, v, "derivatives")
        refuse_touching(self, q, "derivatives")
        plain = u is None and tau is not None and isinstance(method, str) and method == "analytic"
        if plain and not self._may_be_undefined and not self.evaluator.calls_functions:
            state, outside = (q, v, tau), (self.evaluator, t)
            found: Derivatives | None = self._queries.derivatives(Derivatives, state, outside)
            if found is not None:
                return found
        q, v, t = self._positions(q), self._tangent(v, "v"), self._time(t)
        force = self._applied(q, tau, u, None)
        (qs, vs, forces), batch = flatten_batch([(q, "q"), (v, "v"), (force, "tau")])
        drive = self.evaluator.drive(t, len(qs))
        if self._may_be_undefined:
            user = np.zeros((len(qs), len(self.model.u_row), 3 + self.nv))
            self._require_defined(*self._kernel.constraints(qs, vs, drive, user)[1::2])
        return derivatives(self.evaluator, qs, vs, forces, drive, method=method, t=t).reshaped(batch)

    def inverse_dynamics(
        self,
        q: npt.ArrayLike,
        v: npt.ArrayLike,
        a: npt.ArrayLike,
        t: float = 0.0,
        actuated: Sequence[str] | None = None,
        metric: Metric = None,
    ) -> Torques:
        """Actuator forces of least norm that produce the acceleration a (nv,), loops closed; see `Torques`.

        Batch axes allowed: the torque curve along a sweep is one call. Limits of actuators are not obeyed but
        compared: `exceeded` and `message` name those that do not suffice.

        Args:
            q: positions (nq,).
            v: velocities (nv,).
            a: wanted acceleration (nv,).
            t: time [s].
            actuated: names of coordinates or joints to use; default the actuators of the description. A
                closed chain that declares none warns: all joints count.
            metric: metric W of velocities; forces are measured by f.T W^-1 f. None (Euclidean), "mass" or a
                matrix.
        """
        refuse_rest(self.model, v, "inverse_dynamics")
        refuse_touching(self, q, "inverse_dynamics")
        columns = self._actuated
        if actuated is not None:
            columns = np.array(self._indices(actuated, "actuated"), dtype=np.int32)
        elif self.model.undeclared_motors:
            warn(self.model.undeclared_motors)
        if self._may_be_undefined:
            whole(self).terms(q, v, t)  # refuses poses at which rows are undefined
        outside = self.evaluator, t
        found = self._queries.inverse_dynamics(Torques, (q, v, a), outside, metric, columns)
        if type(found) is not Torques:
            first = int(np.flatnonzero(found)[0])
            if found[first] == 1:
                metric_factor(self._queries.mass_matrix(q).reshape(-1, self.nv, self.nv)[first], self.nv)
            raise overflow()
        torques: Torques = found
        return torques

    def hold(
        self,
        q: npt.ArrayLike | Sweep,
        by: Sequence[str] | str | None = None,
        v: npt.ArrayLike | None = None,
        a: npt.ArrayLike | None = None,
        *,
        compliance: Mapping[str, Any] | None = None,
        frame: str = "A",
    ) -> Holding:
        """What motors and joints carry at rest, or along a prescribed motion; see `Holding`.

        Motors hold with forces of least norm where there are more than freedoms. Where redundant joints leave
        open how they share a load, multipliers are of least norm, or joints give way by `compliance`. Dry
        friction of coordinates that move is part of the forces, also by load; at rest it is left out. Poses
        that the motors cannot hold have NaN.

        Args:
            q: poses (n, nq), one pose (nq,), or one path of `sweep`.
            by: names of the coordinates or joints that hold; default the declared actuators. A mechanism that
                declares none, and has freedoms, is refused.
            v, a: velocities and accelerations (n, nv) of a prescribed motion; default rest.
            compliance: {joint or loop: compliance} in the axes of its frame A: six numbers, of translations
                [m/N], then of rotations [rad/(N m)], or one number for the three translations. Others are
                rigid.
            frame: axes of reactions, as of `Motion.reaction`.
        """
        if has_contacts(self.model):
            refuse_touching(self, poses_of(whole(self), q)[0], "hold")
        return hold(whole(self), q, by, (v, a), compliance, frame)

    def impact(self, q: npt.ArrayLike, v: npt.ArrayLike, t: float = 0.0) -> Impact:
        """The impact of all constraints, closing at once at the pose q (nq,), on the velocity v (nv,).

        Inelastic: the velocity afterwards is the one nearest to v in the mass metric with J v = b, the change
        an impulse of the constraints; see `Impact`. Rows may depend on each other. Batch axes allowed.

        Raises:
            AssemblyError: no velocity satisfies J v = b: drives contradict what closes.
        """
        if self._may_be_undefined:
            whole(self).terms(q, v, t)  # refuses poses at which rows are undefined
        found = self._queries.impact(Impact, q, v, t, self.evaluator)
        if type(found) is Impact:
            return found
        miss, status = found
        first = int(np.flatnonzero(status)[0])
        if status[first] == 1:
            metric_factor(self._queries.mass_matrix(q).reshape(-1, self.nv, self.nv)[first], self.nv)
        raise no_velocity_after(self.row_names, miss.reshape(-1, self.nc)[first])


def _sum(force: Array, given: npt.ArrayLike | None) -> Array:
    """Forces of the mechanism and those given, (nv,), if any."""
    return force if given is None else np.asarray(force + np.asarray(given))

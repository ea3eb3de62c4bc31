"""Queries of Mechanism about the tree of bodies: masses, poses, velocities, centre of mass, momentum.

Every array argument may have leading batch axes, which the results then have too. All bodies that move count
for the centre of mass and the momentum; the inertia of drives (`armature`) does not. Vectors are in world
axes, momenta [linear; angular about the centre of mass].
"""

from __future__ import annotations

from functools import cached_property
from typing import overload

import numpy as np
import numpy.typing as npt

from ..._kernel import Queries
from ...arrays import Array, OneState, triple
from ...dynamics.terms import Energy
from ...models.base.pose import Pose, known_pose
from ...models.shapes.drawing import Frame
from ...models.shapes.floor import Floor
from ...models.tree.bodies import COPY
from ...models.tree.fixed_frames import frames_of
from ..core.core import Core, Slices


class BodyQueries(Core):
    """Queries that need no constraint."""

    def neutral(self) -> Array:
        """All coordinates zero, all quaternions the identity, (nq,). Loops need not close there."""
        return self.model.neutral()

    @property
    def frames(self) -> dict[str, Frame]:
        """Frames by name, each with the `body` that it is fixed on and its pose `at` there.

        A frame is a body without mass that is fixed to another: `pose`, `jacobian`, measures and control laws
        take its name as that of any body.
        """
        return frames_of(self.model.bodies)

    @property
    def floor(self) -> Floor | None:
        """Where pictures draw the floor, its `height` along its `normal`; None: below all that they show."""
        return self.model.floor

    @property
    def masses(self) -> dict[str, float]:
        """Masses of bodies and parts by name [kg]; zero for frames. `with_(mass=...)` changes them."""
        found: dict[str, float] = {}
        for body in self.model.bodies[1:]:
            name = body.name.partition(COPY)[0]  # copies that close loops share the mass of their part
            found[name] = found.get(name, 0.0) + body.mass
        return found

    @property
    def joint_limits(self) -> Array:
        """Lower and upper limit of each coordinate [rad, m], infinite where there is none, (nv, 2)."""
        return self.model.limits

    @property
    def actuation(self) -> Array:
        """S.T (nv, nu): the generalized force of the inputs u is actuation @ u."""
        found = np.zeros((self.nv, self.nu))
        found[self._actuated, np.arange(self.nu)] = 1.0
        return found

    def index(self, name: str) -> Slices:
        """Where a joint, or one of its coordinates, stands in q and v: `q[mech.index("crank").q]`.

        Args:
            name: Of a joint ("hip"), or of a coordinate that is an entry of q ("hip.angle1").
        """
        tree = self.model.structure.tree
        if isinstance(name, str) and name in tree.names:
            place = tree.places[tree.names[name]]
            return Slices(place.q, place.v)
        i, k = tree.scalar(name, "index")
        return Slices(slice(i, i + 1), slice(k, k + 1))

    def integrate(self, q: npt.ArrayLike, dv: npt.ArrayLike) -> Array:
        """q (nq,) moved by the tangent vector dv (nv,) on the manifold: plus."""
        return self._queries.integrate(q, dv)

    def difference(self, q0: npt.ArrayLike, q1: npt.ArrayLike) -> Array:
        """The tangent vector (nv,) that leads from q0 to q1 (nq,): minus. integrate(q0, difference) is q1."""
        return self._queries.difference(q0, q1)

    def mass_matrix(self, q: npt.ArrayLike) -> Array:
        """Mass matrix M (nv, nv) at q (nq,)."""
        return self._queries.mass_matrix(q)

    def rnea(self, q: npt.ArrayLike, v: npt.ArrayLike, a: npt.ArrayLike, t: float = 0.0) -> Array:
        """M a + h (nv,) [N m, N]: inverse dynamics of the tree, loops cut, for the acceleration a (nv,).

        The time t [s] matters to user forces only.
        """
        return self._without_user_forces(self._queries.rnea(q, v, a), q, v, t)

    def bias(self, q: npt.ArrayLike, v: npt.ArrayLike, t: float = 0.0) -> Array:
        """h (nv,) [N m, N]: Coriolis and gravity terms less the forces of the description.

        The time t [s] matters to user forces only.
        """
        return self._without_user_forces(self._queries.bias(q, v), q, v, t)

    def _without_user_forces(self, force: Array, q: npt.ArrayLike, v: npt.ArrayLike, t: float) -> Array:
        """A force (..., nv) less those of UserForces."""
        if not self.model.user_forces:
            return force
        (qs, vs), batch = self._arguments.states([(q, "q", True), (v, "v", False)])
        return force - self.evaluator.user(qs, vs, self._time(t))[:, -1, 3:].reshape(*batch, self.nv)

    def energy(self, q: npt.ArrayLike, v: npt.ArrayLike) -> Energy:
        """Kinetic and potential energy [J]: of gravity, springs and stops.

        Constant wrenches, inputs and whatever dissipates do work that is not in it.
        """
        return Energy(*self._queries.energy(q, v))

    @overload
    def pose(self, q: OneState, body: str) -> Pose: ...  # type: ignore[overload-overlap]
    @overload
    def pose(self, q: npt.ArrayLike, body: str) -> npt.NDArray[np.object_]: ...
    def pose(self, q: npt.ArrayLike, body: str) -> Pose | npt.NDArray[np.object_]:
        """Pose X_WB of a body; for a batch of q an object array of poses."""
        p, R = self._queries.pose(q, body)
        if p.ndim == 1:
            return known_pose(p, R)
        poses = np.empty(p.shape[:-1], dtype=object)
        for i in np.ndindex(poses.shape):
            poses[i] = known_pose(p[i], R[i])
        return poses

    def position(self, q: npt.ArrayLike, body: str, point: npt.ArrayLike | str | None = None) -> Array:
        """A point of a body in the world [m], (3,). Batch axes allowed; arguments as in `jacobian`."""
        p, R = self._queries.pose(q, body)
        if point is None:
            return np.asarray(p)
        return np.asarray(p + R @ np.array(triple(self._point(body, point), "point")))

    def jacobian(
        self,
        q: npt.ArrayLike,
        body: str,
        point: npt.ArrayLike | str | None = None,
        frame: str = "world_aligned",
    ) -> Array:
        """Jacobian (6, nv) of a point of a body: J v = [linear; angular] velocity.

        Args:
            q: positions (nq,).
            body: its name.
            point: in the body frame [m], (3,), or the name of a point of the drawing; None is its origin.
            frame: "world_aligned" (world axes, velocity of the point), "local" (body axes, velocity of the
                point) or "world" (world axes, velocity of the body's extension at the world's origin).
        """
        return self._queries.jacobian(q, body, self._point(body, point), frame)

    def velocity(
        self,
        q: npt.ArrayLike,
        v: npt.ArrayLike,
        body: str,
        point: npt.ArrayLike | str | None = None,
        frame: str = "world_aligned",
    ) -> Array:
        """Velocity [linear; angular] (6,) [m/s, rad/s] of a point of a body; arguments as in `jacobian`."""
        return self._queries.velocity(q, v, body, self._point(body, point), frame)

    def body_acceleration(
        self,
        q: npt.ArrayLike,
        v: npt.ArrayLike,
        a: npt.ArrayLike,
        body: str,
        point: npt.ArrayLike | str | None = None,
        frame: str = "world_aligned",
    ) -> Array:
        """Acceleration [linear; angular] (6,) [m/s^2, rad/s^2] of a point of a body, gravity not included.

        The linear part is the time derivative of the point's velocity. `frame` is "world_aligned" or
        "local" (the same vector in body axes).
        """
        return self._queries.body_acceleration(q, v, a, body, self._point(body, point), frame)

    # ------------------------------------------------------------------ centroidal quantities [Orin2013]

    @cached_property
    def _centroidal(self) -> Queries:
        """The compiled calls; refused where no body that moves has mass."""
        self._arguments.check_mass()
        return self._queries

    def center_of_mass(self, q: npt.ArrayLike) -> Array:
        """Centre of mass c (3,) [m] in the world, at q (nq,)."""
        return self._centroidal.center_of_mass(q)

    def center_of_mass_jacobian(self, q: npt.ArrayLike) -> Array:
        """J (3, nv) at q (nq,): c' = J v. Its columns are also the derivatives of c by increments of q."""
        return self._centroidal.center_of_mass_jacobian(q)

    def center_of_mass_velocity(self, q: npt.ArrayLike, v: npt.ArrayLike) -> Array:
        """c' (3,) [m/s] at q (nq,), v (nv,)."""
        return self._centroidal.center_of_mass_velocity(q, v)

    def center_of_mass_acceleration(self, q: npt.ArrayLike, v: npt.ArrayLike, a: npt.ArrayLike) -> Array:
        """c'' (3,) [m/s^2] at q (nq,), v (nv,), a (nv,)."""
        return self._centroidal.center_of_mass_acceleration(q, v, a)

    def centroidal_momentum(self, q: npt.ArrayLike, v: npt.ArrayLike) -> Array:
        """Momentum h (6,) [kg m/s; kg m^2/s] at q (nq,), v (nv,)."""
        return self._centroidal.centroidal_momentum(q, v)

    def centroidal_momentum_rate(self, q: npt.ArrayLike, v: npt.ArrayLike, a: npt.ArrayLike) -> Array:
        """h' = A a + A' v (6,) [N; N m] at q (nq,), v (nv,), a (nv,): the wrench of all external forces."""
        return self._centroidal.centroidal_momentum_rate(q, v, a)

    def centroidal_momentum_matrix(self, q: npt.ArrayLike) -> Array:
        """A (6, nv) at q (nq,): h = A v. It is also the derivative of h by v."""
        return self._centroidal.centroidal_momentum_matrix(q)

    def centroidal_momentum_matrix_rate(self, q: npt.ArrayLike, v: npt.ArrayLike) -> Array:
        """A' (6, nv) along the motion, at q (nq,), v (nv,)."""
        return self._centroidal.centroidal_momentum_matrix_rate(q, v)

    def centroidal_momentum_derivative(self, q: npt.ArrayLike, v: npt.ArrayLike) -> Array:
        """Derivative (6, nv) of h by increments of q (`integrate`), at q (nq,) and constant v (nv,)."""
        return self._centroidal.centroidal_momentum_derivative(q, v)

"""Queries of Mechanism about the tree of bodies: masses, energies, poses, velocities, Jacobians.

Every array argument may have leading batch axes, which the results then have too.
"""

from __future__ import annotations

from typing import overload

import numpy as np
import numpy.typing as npt

from ..arrays import Array, OneState, one_of, state
from ..dynamics.terms import Energy
from ..errors import InputError
from ..models.pose import Pose
from .core import Core

FRAMES = ("local", "world", "world_aligned")


class BodyQueries(Core):
    """Queries that need no constraint."""

    def neutral(self) -> Array:
        """All coordinates zero, all quaternions the identity, (nq,). Loops need not close there."""
        return self.model.neutral()

    def integrate(self, q: npt.ArrayLike, dv: npt.ArrayLike) -> Array:
        """q (nq,) moved by the tangent vector dv (nv,) on the manifold: plus."""
        flat, batch = self._states(q, dv=dv)
        return np.asarray(self._kernel.integrate(*flat)).reshape(*batch, self.nq)

    def difference(self, q0: npt.ArrayLike, q1: npt.ArrayLike) -> Array:
        """The tangent vector (nv,) that leads from q0 to q1 (nq,): minus. integrate(q0, difference) is q1."""
        (a, b), batch = self._batch(q0=self._positions(q0, "q0"), q1=self._positions(q1, "q1"))
        return np.asarray(self._kernel.difference(a, b)).reshape(*batch, self.nv)

    def mass_matrix(self, q: npt.ArrayLike) -> Array:
        """Mass matrix M (nv, nv) at q (nq,)."""
        flat, batch = self._states(q)
        return np.asarray(self._kernel.mass_matrix(*flat)).reshape(*batch, self.nv, self.nv)

    def rnea(self, q: npt.ArrayLike, v: npt.ArrayLike, a: npt.ArrayLike) -> Array:
        """M a + h (nv,) [N m, N]: inverse dynamics of the tree, loops cut, for the acceleration a (nv,)."""
        flat, batch = self._states(q, v=v, a=a)
        return np.asarray(self._kernel.rnea(*flat)).reshape(*batch, self.nv)

    def bias(self, q: npt.ArrayLike, v: npt.ArrayLike) -> Array:
        """h (nv,) [N m, N]: Coriolis and gravity terms less the forces of the description."""
        return self.rnea(q, v, np.zeros(self.nv))

    def energy(self, q: npt.ArrayLike, v: npt.ArrayLike) -> Energy:
        """Kinetic and potential energy [J], springs included."""
        flat, batch = self._states(q, v=v)
        both = np.asarray(self._kernel.energy(*flat)).reshape(*batch, 2)
        return Energy(both[..., 0], both[..., 1]) if batch else Energy(both[0], both[1])

    @overload
    def pose(self, q: OneState, body: str) -> Pose: ...  # type: ignore[overload-overlap]
    @overload
    def pose(self, q: npt.ArrayLike, body: str) -> npt.NDArray[np.object_]: ...
    def pose(self, q: npt.ArrayLike, body: str) -> Pose | npt.NDArray[np.object_]:
        """Pose X_WB of a body; for a batch of q an object array of poses."""
        (flat,), batch = self._states(q)
        i = self.model.body_index(body)
        R, p = self._kernel.poses(flat)
        if not batch:
            return Pose(p[0, i], matrix=R[0, i])
        poses = np.empty(len(flat), dtype=object)
        poses[:] = [Pose(p[k, i], matrix=R[k, i]) for k in range(len(flat))]
        return poses.reshape(batch)

    def jacobian(
        self, q: npt.ArrayLike, body: str, point: npt.ArrayLike | None = None, frame: str = "world_aligned"
    ) -> Array:
        """Jacobian (6, nv) of a point of a body: J v = [linear; angular] velocity.

        Args:
            q: positions (nq,).
            body: its name.
            point: in the body frame [m], (3,); None is its origin.
            frame: "world_aligned" (world axes, velocity of the point), "local" (body axes, velocity of the
                point) or "world" (world axes, velocity of the body's extension at the world's origin).
        """
        q, p_BP, i = self._positions(q), _point(point), self.model.body_index(body)
        one_of(frame, "`frame`", FRAMES)
        J = self._point_jacobian(q, i, p_BP)
        if frame == "world_aligned":
            return J
        (flat,), batch = self._batch(q=q)
        R, p = (x[:, i] for x in self._kernel.poses(flat))
        if frame == "local":
            return _in_body_axes(R.reshape(*batch, 3, 3), J)
        at = (p + R @ p_BP).reshape(*batch, 3)
        linear = J[..., :3, :] + np.cross(at[..., None], J[..., 3:, :], axis=-2)
        return np.concatenate([linear, J[..., 3:, :]], axis=-2)

    def velocity(
        self,
        q: npt.ArrayLike,
        v: npt.ArrayLike,
        body: str,
        point: npt.ArrayLike | None = None,
        frame: str = "world_aligned",
    ) -> Array:
        """Velocity [linear; angular] (6,) [m/s, rad/s] of a point of a body; arguments as in `jacobian`."""
        J = self.jacobian(q, body, point, frame)
        return np.asarray(np.einsum("...ij,...j->...i", J, self._tangent(v, "v")))

    def body_acceleration(
        self,
        q: npt.ArrayLike,
        v: npt.ArrayLike,
        a: npt.ArrayLike,
        body: str,
        point: npt.ArrayLike | None = None,
        frame: str = "world_aligned",
    ) -> Array:
        """Acceleration [linear; angular] (6,) [m/s^2, rad/s^2] of a point of a body, gravity not included.

        The linear part is the time derivative of the point's velocity. `frame` is "world_aligned" or
        "local" (the same vector in body axes).
        """
        one_of(frame, "`frame`", ("world_aligned", "local"))
        flat, batch = self._states(q, v=v, a=a)
        i, p_BP = self.model.body_index(body), _point(point)
        V, A = (np.asarray(x)[:, i] for x in self._kernel.body_motion(*flat))
        R = np.asarray(self._kernel.poses(flat[0])[0])[:, i]
        # p'' = o'' + w' x r + w x (w x r)
        r, w = R @ p_BP, V[:, 3:]
        linear = A[:, :3] + np.cross(A[:, 3:], r) + np.cross(w, np.cross(w, r))
        both = np.concatenate([linear, A[:, 3:]], axis=-1)
        if frame == "local":
            both = _in_body_axes(R, both[..., None])[..., 0]
        return both.reshape(*batch, 6)


def _point(point: npt.ArrayLike | None) -> Array:
    if point is None:
        return np.zeros(3)
    p = state(point, "point", 3)
    if p.ndim != 1:
        raise InputError(f"point must have shape (3,), got {p.shape}.")
    return p


def _in_body_axes(R_WB: Array, x: Array) -> Array:
    """Spatial vectors as columns (..., 6, k), from world axes into the axes of B."""
    R_BW = np.swapaxes(R_WB, -1, -2)
    return np.concatenate([R_BW @ x[..., :3, :], R_BW @ x[..., 3:, :]], axis=-2)

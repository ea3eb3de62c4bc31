"""A readable NumPy twin of the compiled kernel, written in a different way on purpose.

The kernel works with world-frame spatial vectors about a fixed point, with hand-written derivatives, in
recursions. The twin works with 4 x 4 matrices and twists in the frame of each node:

* every joint moves as X(q + t d) = X(q) exp(t S d), so positions along any direction are power series in t
  (tests/oracles/taylor.py) and J, gamma and the third derivative of phi are read off their coefficients;
* M is the sum of J_i' I_i J_i over the nodes, h the sum of J_i' (Newton-Euler residual of node i);
* constrained accelerations use the SVD null space.

Methods, signatures and shapes are those of `sarrus._kernel.Kernel`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from sarrus._kernel import KINDS

from . import taylor as ts
from .lie import (
    ad,
    adjoint,
    exponential,
    hat,
    homogeneous,
    logarithm,
    rotation_of,
    times_quaternion,
    twist_matrix,
)
from .twin_constraints import constraint_series, coupling_rows
from .twin_forces import applied_forces, spring_energy
from .twin_forward import forward_one

Array = npt.NDArray[np.float64]
GROUND, HINGE, SLIDE, SCREW, BALL, FREE = range(6)
WIDTH_Q = {GROUND: 0, HINGE: 1, SLIDE: 1, SCREW: 1, BALL: 4, FREE: 7}
WIDTH_V = {GROUND: 0, HINGE: 1, SLIDE: 1, SCREW: 1, BALL: 3, FREE: 6}


class Twin:
    """Same construction and methods as the compiled kernel; every array has a leading batch axis."""

    def __init__(self, sizes: Mapping[str, int], fields: Mapping[str, Any]) -> None:
        """Keep the fields under their names, reshaped to (count, ...)."""
        self.size = dict(sizes)
        f = {name: np.array(value) for name, value in fields.items()}
        self.field = f
        self.nn, self.nv, self.nc = sizes["nn"], sizes["nv"], sizes["nc"]
        self.joint = [int(j) for j in f["joint"].ravel()]
        self.parent = [int(p) for p in f["parent"].ravel()]
        self.iq = [int(i) for i in f["iq"].ravel()]
        self.iv = [int(i) for i in f["iv"].ravel()]
        R, p = f["R_PJ"].reshape(-1, 3, 3), f["p_PJ"].reshape(-1, 3)
        self.X_PJ = [homogeneous(R[i], p[i]) for i in range(self.nn)]
        self.S = [self._motion_subspace(i) for i in range(self.nn)]
        self.inertia = [self._spatial_inertia(i) for i in range(self.nn)]
        self.body_node = [int(i) for i in f["body_node"].ravel()]
        R, p = f["R_NB"].reshape(-1, 3, 3), f["p_NB"].reshape(-1, 3)
        self.X_NB = [homogeneous(R[i], p[i]) for i in range(sizes["nb"])]
        self.gravity = f["gravity"].ravel()

    # ------------------------------------------------------------------ the tree

    def _motion_subspace(self, i: int) -> Array:
        """S (6, dof) in the frame of node i."""
        z = np.eye(6)[:, [2]]
        spin = np.eye(6)[:, [5]]
        pitch = float(self.field["pitch"].ravel()[i])
        table = {GROUND: np.zeros((6, 0)), HINGE: spin, SLIDE: z, SCREW: spin + pitch * z}
        return {**table, BALL: np.eye(6)[:, 3:], FREE: np.eye(6)}[self.joint[i]]

    def _spatial_inertia(self, i: int) -> Array:
        """Inertia (6, 6) of node i about its origin, in its frame."""
        m = float(self.field["mass"].ravel()[i])
        c = hat(self.field["com"].reshape(-1, 3)[i])
        xx, xy, xz, yy, yz, zz = self.field["inertia"].reshape(-1, 6)[i]
        about_com = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        return np.block([[m * np.eye(3), -m * c], [m * c, about_com - m * c @ c]])

    def _joint_pose(self, i: int, q: Array) -> Array:
        """Pose of node i in its joint frame."""
        q = q[self.iq[i] : self.iq[i] + WIDTH_Q[self.joint[i]]]
        if self.joint[i] == BALL:
            return homogeneous(rotation_of(q), np.zeros(3))
        if self.joint[i] == FREE:
            return homogeneous(rotation_of(q[3:]), q[:3])
        return exponential(twist_matrix(self.S[i] @ q))

    def columns(self, i: int) -> slice:
        """Columns of node i in v."""
        return slice(self.iv[i], self.iv[i] + WIDTH_V[self.joint[i]])

    def frames(self, q: Array) -> list[Array]:
        """World poses (4, 4) of the nodes."""
        out = [np.eye(4)]
        for i in range(1, self.nn):
            out.append(out[self.parent[i]] @ self.X_PJ[i] @ self._joint_pose(i, q))
        return out

    def series(self, q: Array, directions: Array, order: int) -> list[Array]:
        """World poses of the nodes at q + t d for each direction d (D, nv): arrays (order + 1, D, 4, 4)."""
        still = np.zeros((order + 1, len(directions), 4, 4))
        still[0] = np.eye(4)
        out = [still]
        for i in range(1, self.nn):
            xi = twist_matrix(directions[:, self.columns(i)] @ self.S[i].T)
            move = still.copy()
            for k in range(1, order + 1):
                move[k] = move[k - 1] @ xi / k
            out.append(ts.matmul(out[self.parent[i]], self.X_PJ[i] @ self._joint_pose(i, q) @ move))
        return out

    def body_jacobians(self, q: Array, v: Array) -> tuple[list[Array], list[Array]]:
        """J_i (6, nv) and its time derivative, of every node in its own frame [Spencer2004] 4.4.1."""
        J, dJ = [np.zeros((6, self.nv))], [np.zeros((6, self.nv))]
        for i in range(1, self.nn):
            to_child = adjoint(np.linalg.inv(self.X_PJ[i] @ self._joint_pose(i, q)))
            carried = to_child @ J[self.parent[i]]
            own = np.zeros((6, self.nv))
            own[:, self.columns(i)] = self.S[i]
            J.append(carried + own)
            dJ.append(to_child @ dJ[self.parent[i]] - ad(own @ v) @ carried)
        return J, dJ

    # ------------------------------------------------------------------ dynamics of the tree

    def _mass_matrix(self, q: Array) -> Array:
        J, _ = self.body_jacobians(q, np.zeros(self.nv))
        M = np.diag(self.field["armature"].ravel()).astype(float)
        return M + sum(Ji.T @ I @ Ji for Ji, I in zip(J, self.inertia, strict=True))

    def _bias(self, q: Array, v: Array) -> Array:
        J, dJ = self.body_jacobians(q, v)
        X = self.frames(q)
        h = -applied_forces(self, q, v, X, J)
        for i in range(1, self.nn):
            I, V = self.inertia[i], J[i] @ v
            lift = np.append(X[i][:3, :3].T @ self.gravity, np.zeros(3))
            h += J[i].T @ (I @ (dJ[i] @ v - lift) - ad(V).T @ I @ V)
        return h

    def mass_matrix(self, q: Array) -> Array:
        """M [B, nv, nv]."""
        return _each(self._mass_matrix, q)

    def rnea(self, q: Array, v: Array, a: Array) -> Array:
        """M a + h [B, nv], declared forces included."""
        return _each(lambda q, v, a: self._mass_matrix(q) @ a + self._bias(q, v), q, v, a)

    def energy(self, q: Array, v: Array) -> Array:
        """Kinetic and potential energy [B, 2] in J."""

        def one(q: Array, v: Array) -> Array:
            X = self.frames(q)
            potential = spring_energy(self, q, X)
            for i in range(1, self.nn):
                m = float(self.field["mass"].ravel()[i])
                potential -= m * self.gravity @ (X[i] @ np.append(self.field["com"].reshape(-1, 3)[i], 1))[:3]
            return np.array([v @ self._mass_matrix(q) @ v / 2, potential])

        return _each(one, q, v)

    # ------------------------------------------------------------------ kinematics of bodies

    def poses(self, q: Array) -> tuple[Array, Array]:
        """R [B, nb, 3, 3] and p [B, nb, 3] of the bodies."""

        def one(q: Array) -> Array:
            X = self.frames(q)
            return np.stack([X[n] @ B for n, B in zip(self.body_node, self.X_NB, strict=True)])

        X = _each(one, q)
        return X[..., :3, :3].copy(), X[..., :3, 3].copy()

    def body_motion(self, q: Array, v: Array, a: Array) -> tuple[Array, Array]:
        """Velocity and classical acceleration [B, nb, 6] of the bodies' origins, world axes."""

        def one(q: Array, v: Array, a: Array) -> Array:
            J, dJ = self.body_jacobians(q, v)
            X = self.frames(q)
            out = []
            for n, B in zip(self.body_node, self.X_NB, strict=True):
                shift = adjoint(homogeneous(np.eye(3), -B[:3, 3]))
                V = shift @ J[n] @ v
                A = shift @ (J[n] @ a + dJ[n] @ v)
                A[:3] += np.cross(V[3:], V[:3])
                turn = np.kron(np.eye(2), X[n][:3, :3])
                out.append([turn @ V, turn @ A])
            return np.array(out)

        both = _each(one, q, v, a)
        return both[:, :, 0].copy(), both[:, :, 1].copy()

    def jacobian(self, q: Array, body: int, point: Array) -> Array:
        """Jacobian [B, 6, nv] of a point of a body (body frame), world axes."""
        n, X_NB = self.body_node[body], self.X_NB[body]
        r = (X_NB @ np.append(point, 1))[:3]

        def one(q: Array) -> Array:
            J, _ = self.body_jacobians(q, np.zeros(self.nv))
            turn = np.kron(np.eye(2), self.frames(q)[n][:3, :3])
            return turn @ adjoint(homogeneous(np.eye(3), -r)) @ J[n]

        return _each(one, q)

    # ------------------------------------------------------------------ constraints

    def derivatives(self, q: Array, directions: Array, order: int) -> Array:
        """Series (order + 1, D, nc) of phi along q + t d; for rolling rows the integral of J d."""
        return constraint_series(self, q, self.series(q, directions, order))

    def _constraints(self, q: Array, v: Array, drive: Array, user: Array) -> tuple[Array, ...]:
        c = self.derivatives(q, np.vstack([v, np.eye(self.nv)]), 2)
        phi, J, b, gamma = c[0, 0], c[1, 1:].T.copy(), np.zeros(self.nc), -2 * c[2, 0]
        coupling_rows(self, q, drive, phi, J, b, gamma)
        for i, row in enumerate(self.field["u_row"].ravel()):
            phi[row], b[row], gamma[row], J[row] = user[i, 0], user[i, 1], user[i, 2], user[i, 3:]
        return phi, J, b, gamma

    def constraints(self, q: Array, v: Array, drive: Array, user: Array) -> tuple[Array, ...]:
        """phi, J, b, gamma, batched."""
        rows = [self._constraints(*args) for args in zip(q, v, drive, user, strict=True)]
        return tuple(np.stack(x) for x in zip(*rows, strict=True))

    def terms(self, q: Array, v: Array, drive: Array, user: Array) -> tuple[Array, ...]:
        """M, h, phi, J, b, gamma, batched."""
        return self.mass_matrix(q), _each(self._bias, q, v), *self.constraints(q, v, drive, user)

    def forward(
        self, q: Array, v: Array, tau: Array, drive: Array, user: Array, rank: int = -1
    ) -> tuple[Any, ...]:
        """a, constraint force, lam (least norm), lam_unique, rank, status (0), batched."""
        out = [forward_one(self, *args, rank) for args in zip(q, v, tau, drive, user, strict=True)]
        return tuple(np.stack(x) for x in zip(*out, strict=True))

    # ------------------------------------------------------------------ the manifold

    def parameters(self, prefix: str, family: str) -> list[tuple[str, dict[str, Array]]]:
        """Kind and parameters of each element of a family: numbers as scalars, the others as vectors."""
        kinds = list(KINDS[family].items())
        numbers, begins = (self.field[f"{prefix}_{name}"].ravel() for name in ("kind", "begin"))
        found = []
        for number, begin in zip(numbers, begins, strict=True):
            name, widths = kinds[int(number)]
            ends = np.cumsum(list(widths.values()))
            parts = np.split(self.field[f"{prefix}_values"].ravel()[begin:][: ends[-1]], ends[:-1])
            values = zip(widths, parts, strict=True)
            found.append((name, {key: part[0] if len(part) == 1 else part for key, part in values}))
        return found

    def integrate(self, q: Array, dv: Array) -> Array:
        """q + dv on the manifold [B, nq]."""

        def one(q: Array, dv: Array) -> Array:
            q = q.astype(float).copy()
            for i in range(1, self.nn):
                d, k = dv[self.columns(i)], self.iq[i]
                if self.joint[i] == FREE:
                    step = exponential(twist_matrix(d))
                    q[k : k + 3] += rotation_of(q[k + 3 : k + 7]) @ step[:3, 3]
                    d, k = d[3:], k + 3
                if self.joint[i] in (BALL, FREE):
                    half = np.linalg.norm(d) / 2
                    turn = np.append(np.sinc(half / np.pi) * d / 2, np.cos(half))
                    new = times_quaternion(q[k : k + 4], turn)
                    q[k : k + 4] = new / np.linalg.norm(new)
                elif self.joint[i] != GROUND:
                    q[k] += d[0]
            return q

        return _each(one, q, dv)

    def difference(self, q0: Array, q1: Array) -> Array:
        """dv [B, nv] with q1 = q0 + dv, rotations by the short way."""

        def one(q0: Array, q1: Array) -> Array:
            dv = np.zeros(self.nv)
            for i in range(1, self.nn):
                k = self.iq[i]
                if self.joint[i] in (BALL, FREE):
                    X = np.linalg.solve(self._joint_pose(i, q0), self._joint_pose(i, q1))
                    dv[self.columns(i)] = logarithm(X)[6 - WIDTH_V[self.joint[i]] :]
                elif self.joint[i] != GROUND:
                    dv[self.columns(i)] = q1[k] - q0[k]
            return dv

        return _each(one, q0, q1)


def _each(function: Callable[..., Array], *arrays: Array) -> Array:
    return np.stack([function(*rows) for rows in zip(*(np.asarray(a) for a in arrays), strict=True)])

"""States of a loaded mechanism as MuJoCo writes them, and MuJoCo's terms in our coordinates.

Free joints differ: MuJoCo's linear velocity is in world axes, ours in body axes, so qvel = T v with T = R
there, and qacc = T a + T (w x v). Quaternions are scalar first there.
"""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np
import numpy.typing as npt

from sarrus.mechanism.mechanism import Mechanism
from sarrus.models.pose import Pose

Array = npt.NDArray[np.float64]
WIDTHS = {0: (7, 6), 1: (4, 3), 2: (1, 1), 3: (1, 1)}  # mjtJoint: nq, nv


@dataclass
class Plant:
    """A MuJoCo model beside the mechanism that was loaded from the same file."""

    mech: Mechanism
    model: mujoco.MjModel

    def places(self) -> list[tuple[int, int, int, slice, slice]]:
        """For each joint its type, first indices into qpos and qvel, and slices of our q and v."""
        found = []
        for j in range(self.model.njnt):
            name = self.model.joint(j).name
            if name not in self.mech.body_names:
                name = self.model.body(self.model.jnt_bodyid[j]).name
            k = self.mech.model.body_index(name)
            where = (int(self.model.jnt_qposadr[j]), int(self.model.jnt_dofadr[j]))
            found.append(
                (
                    int(self.model.jnt_type[j]),
                    *where,
                    self.mech.model.q_slices[k],
                    self.mech.model.v_slices[k],
                )
            )
        return found

    def at(self, q: Array, v: Array) -> tuple[mujoco.MjData, Array, Array]:
        """MuJoCo's data at our state, T, and the part of qacc that comes from T changing."""
        data = mujoco.MjData(self.model)
        T, drift = np.zeros((self.model.nv, self.mech.nv)), np.zeros(self.model.nv)
        for kind, iq, iv, qs, vs in self.places():
            nq, nv = WIDTHS[kind]
            ours, block = q[qs], np.eye(nv)
            if kind in (0, 1):
                ours = np.concatenate([ours[:-4], ours[-1:], ours[-4:-1]])
            if kind == 0:
                R = Pose(quat=q[qs][3:]).rotation
                block[:3, :3] = R
                drift[iv : iv + 3] = R @ np.cross(v[vs][3:], v[vs][:3])
            data.qpos[iq : iq + nq] = ours
            T[iv : iv + nv, vs] = block
        data.qvel[:] = T @ v
        mujoco.mj_forward(self.model, data)
        return data, T, drift

    def mass_matrix_and_bias(self, q: Array, v: Array) -> tuple[Array, Array]:
        """M and h of ours from MuJoCo: springs, dampers and gravity compensation included, friction not."""
        data, T, drift = self.at(q, v)
        M = np.zeros((self.model.nv, self.model.nv))
        try:
            mujoco.mj_fullM(self.model, data, M)
        except TypeError:  # before MuJoCo 4
            mujoco.mj_fullM(self.model, M, data.qM)
        h = data.qfrc_bias - data.qfrc_passive + M @ drift
        return T.T @ M @ T, T.T @ h

    def equality_jacobian(self, q: Array) -> tuple[Array, Array]:
        """Residual and Jacobian of the active equality constraints, in our coordinates."""
        data, T, _ = self.at(q, np.zeros(self.mech.nv))
        J = np.zeros((data.nefc, self.model.nv))
        if mujoco.mj_isSparse(self.model):
            mujoco.mju_sparse2dense(J, data.efc_J, data.efc_J_rownnz, data.efc_J_rowadr, data.efc_J_colind)
        else:
            J = data.efc_J.reshape(data.nefc, self.model.nv)
        rows = data.efc_type == int(mujoco.mjtConstraint.mjCNSTR_EQUALITY)
        return data.efc_pos[rows], J[rows] @ T


def row_space(J: Array) -> Array:
    """Orthogonal projector on the row space of J."""
    _, s, Vt = np.linalg.svd(J)
    rank = int(np.sum(s > 1e-9 * s[0]))
    return Vt[:rank].T @ Vt[:rank]

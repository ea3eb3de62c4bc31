"""A mechanism beside a MuJoCo model of it: states, inputs and controllers across.

MuJoCo writes quaternions scalar first and the linear velocity of a free body in world axes; its actuators
have gears and laws. Joints, tendons and actuators are matched by name.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sarrus.arrays import Array, one_state, positive, state, takes
from sarrus.bridge.checks import check_ends
from sarrus.bridge.mujoco_joints import map_joints, to_ours, to_theirs
from sarrus.bridge.mujoco_trouble import MujocoTrouble
from sarrus.bridge.plant_run import Control, PlantRecorder, PlantRun
from sarrus.bridge.quaternions import scalar_first
from sarrus.bridge.servos import Servos
from sarrus.errors import InputError, warn
from sarrus.formats.mjcf.actuators import driven_by, law_of
from sarrus.mechanism.core.access import arguments_of, known_default
from sarrus.mechanism.core.core import State
from sarrus.mechanism.mechanism import Mechanism

AGREE = 1e-3  # distance of a body in the two models that is worth a word, times L
ITERATIONS = 20  # of Gauss-Newton for joints that only MuJoCo has


class MujocoBridge:
    """Converts states and inputs between a mechanism and a MuJoCo model; made by `sr.bridge.mujoco`.

    Attributes:
        mech: The mechanism.
        model: The `mujoco.MjModel`.
    """

    def __init__(self, mech: Mechanism, model: Any) -> None:
        check_ends(mech, model, "MjModel", "mujoco.MjModel.from_xml_path(file)")
        self.mech, self.model = mech, model
        self._map = map_joints(mech, model)
        self._servos = self._read_servos()
        self._check_poses()

    # ------------------------------------------------------------------ states

    def to_sarrus(self, data: Any) -> State:
        """q (nq,) and v (nv,) of MuJoCo's data, as measured: loops may be open by what MuJoCo lets them."""
        self._check_data(data)
        return self.states(data.qpos, data.qvel)

    def states(self, qpos: npt.ArrayLike, qvel: npt.ArrayLike) -> State:
        """q (..., nq) and v (..., nv) of MuJoCo's qpos (..., nq there) and qvel (..., nv there)."""
        theirs = state(qpos, "qpos", self.model.nq, "the MuJoCo model")
        speed = state(qvel, "qvel", self.model.nv, "the MuJoCo model")
        batch = np.broadcast_shapes(theirs.shape[:-1], speed.shape[:-1])
        theirs, speed = (np.broadcast_to(x, (*batch, x.shape[-1])) for x in (theirs, speed))
        m, q, v = self._map, np.empty((*batch, self.mech.nq)), np.empty((*batch, self.mech.nv))
        q[..., m.q], v[..., m.v] = theirs[..., m.qpos], speed[..., m.qvel]
        for one in m.turned:
            q[..., one.q], v[..., one.v] = to_ours(one, theirs, speed)
        iq, iv, sums_q, sums_v = m.sums
        q[..., iq], v[..., iv] = theirs @ sums_q.T, speed @ sums_v.T
        return State(q, v)

    def to_mujoco(self, data: Any, q: npt.ArrayLike, v: npt.ArrayLike | None = None) -> None:
        """Set MuJoCo's qpos and qvel to a state q (nq,), v (nv,) or rest, and bring its data up to date.

        Joints that only MuJoCo has (helper bodies of saved files) follow from its equalities.
        """
        import mujoco

        self._check_data(data)
        pose = arguments_of(self.mech).one_pose(q)
        speed = np.zeros(self.mech.nv) if v is None else arguments_of(self.mech).one_tangent(v, "v")
        m = self._map
        data.qpos[m.qpos], data.qvel[m.qvel] = pose[m.q], speed[m.v]
        for one in m.turned:
            theirs, rate = to_theirs(one, pose[one.q], speed[one.v])
            data.qpos[one.qpos] = np.concatenate([theirs[:-4], scalar_first(theirs[-4:])])
            data.qvel[one.qvel] = rate
        mujoco.mj_forward(self.model, data)
        if len(m.others):
            self._follow(data)

    def velocity_map(self, q: npt.ArrayLike) -> Array:
        """T (nv there, nv) with qvel = T v at the pose q (nq,); zero rows for joints that we do not have."""
        pose, m, T = arguments_of(self.mech).one_pose(q), self._map, np.zeros((self.model.nv, self.mech.nv))
        T[m.qvel, m.v] = 1.0
        for one in m.turned:
            n = one.v.stop - one.v.start
            T[one.qvel, one.v] = to_theirs(one, np.broadcast_to(pose[one.q], (n, len(one.qpos))), np.eye(n))[
                1
            ].T
        return T

    def _follow(self, data: Any) -> None:
        """Joints that only MuJoCo has: Gauss-Newton on the residuals of its equalities."""
        import mujoco

        others = self._map.others
        for _ in range(ITERATIONS):
            residual, J = equality_rows(self.model, data)
            if not np.any(J[:, others]):
                return
            step = np.zeros(self.model.nv)
            step[others] = -np.linalg.lstsq(J[:, others], residual, rcond=1e-12)[0]
            if np.abs(step).max(initial=0.0) < 1e-13:
                break
            mujoco.mj_integratePos(self.model, data.qpos, step, 1.0)
            mujoco.mj_forward(self.model, data)
        _, J = equality_rows(self.model, data)
        data.qvel[others] = 0.0
        data.qvel[others] = -np.linalg.lstsq(J[:, others], J @ data.qvel, rcond=1e-12)[0]
        mujoco.mj_forward(self.model, data)

    # ------------------------------------------------------------------ inputs

    def to_ctrl(self, u: npt.ArrayLike, q: npt.ArrayLike, v: npt.ArrayLike) -> Array:
        """MuJoCo's ctrl (nu there,) for inputs u (nu,) at a state: gears, gains and servo laws undone."""
        missing = [name for name in self.mech.actuators if name not in self._driven]
        if missing:
            raise InputError(
                f"the MuJoCo model has no actuators for the inputs {', '.join(map(repr, missing))} of"
                f" {self.mech.name!r}; declare those that it has with spec.actuate, or add them to the model."
            )
        ctrl = np.zeros(self.model.nu)
        found = self._servos.ctrl(u, q, v)
        ctrl[: len(found)] = found
        return ctrl

    def to_u(self, ctrl: npt.ArrayLike, q: npt.ArrayLike, v: npt.ArrayLike) -> Array:
        """Inputs u (nu,) that MuJoCo's ctrl (nu there,) gives at a state."""
        given = one_state(ctrl, "ctrl", self.model.nu, "the MuJoCo model")
        return self._servos.force(given[: len(self._servos.names)], q, v)

    # ------------------------------------------------------------------ runs

    def run(
        self,
        law: Control,
        t_end: float,
        dt: float | None = None,
        data: Any = None,
    ) -> PlantRun:
        """Run a controller on the MuJoCo plant, on states as they are measured.

        Args:
            law: u = law(t, q, v), such as any controller of `sr.control`; u is held over a control step.
            t_end: Length of the run [s].
            dt: Control step [s], a multiple of MuJoCo's; default MuJoCo's.
            data: `mujoco.MjData` to go on from; default the default state of the mechanism.

        Returns:
            The run. Where MuJoCo diverges, which makes it reset itself, the run ends there without success.
        """
        import mujoco

        takes(law, "t,q,v", "the law of run")
        step = float(self.model.opt.timestep)
        substeps = _multiple(positive(step if dt is None else dt, "dt"), step)
        if data is None:
            data = mujoco.MjData(self.model)
            self.to_mujoco(data, *self.mech.default)
        self._check_data(data)
        recorder, trouble = PlantRecorder(self.mech.nu), MujocoTrouble(self.model, data)
        for _ in range(max(1, round(positive(t_end, "t_end") / (substeps * step)))):
            u = recorder.measure(float(data.time), self.to_sarrus(data), law)
            if u is None:
                break
            recorder.trouble = self._held(u, data, substeps, trouble)
            if recorder.trouble:
                break
        else:
            recorder.trouble = trouble.left_out()
        return recorder.run(float(data.time), data)

    def _held(self, u: Array, data: Any, substeps: int, trouble: MujocoTrouble) -> str:
        """Steps with the inputs u (nu,); returns why they ended early."""
        import mujoco

        for _ in range(substeps):
            data.ctrl[:] = self.to_ctrl(u, *self.to_sarrus(data))
            try:
                mujoco.mj_step(self.model, data)
            except mujoco.FatalError as error:
                return f"MuJoCo stopped at t = {data.time:.9g} s: {' '.join(str(error).split())}"
            ended = trouble.ended()
            if ended:
                return ended
        return ""

    # ------------------------------------------------------------------ construction

    def _read_servos(self) -> Servos:
        model, m = self.model, self._map
        laws: dict[str, list[Any]] = {}
        for i in range(int(getattr(model, "nactuator", model.nu))):
            coordinate, law = driven_by(model, i, m.joints, m.tendons), law_of(model, i)
            if coordinate is not None and law is not None:
                entry = int(getattr(model, "actuator_ctrladr", np.arange(i + 1))[i])
                laws.setdefault(coordinate, []).append((entry, law))
        self._driven = {*laws}
        return Servos(self.mech, laws)

    def _check_data(self, data: Any) -> None:
        import mujoco

        if not isinstance(data, mujoco.MjData):
            raise InputError(f"data must be the mujoco.MjData of the model, got {type(data).__name__}.")
        sizes, wanted = (len(data.qpos), len(data.qvel)), (self.model.nq, self.model.nv)
        if sizes != wanted:
            raise InputError(f"data must be of the bridge's own model, with nq, nv = {wanted}, got {sizes}.")

    def _check_poses(self) -> None:
        """A word where a body of the same name is elsewhere in the two models."""
        import mujoco

        data = mujoco.MjData(self.model)
        known = known_default(self.mech)
        q = np.array(self.mech.neutral() if known is None else known.q)
        self.to_mujoco(data, q)
        far = {}
        for i in range(1, self.model.nbody):
            name = self.model.body(i).name
            if name in self.mech.body_names:
                far[name] = float(np.abs(self.mech.pose(q, name).xyz - data.xpos[i]).max())
        worst = max(far, key=lambda name: far[name], default="")
        if worst and far[worst] > AGREE * self.mech.length:
            warn(
                f"bridge of {self.mech.name!r}: body {worst!r} is {far[worst]:.2g} m away from where the"
                " MuJoCo model has it at the same joint positions; the two describe different robots."
            )


def _multiple(dt: float, step: float) -> int:
    """How many of MuJoCo's steps a control step is."""
    count = round(dt / step)
    if count < 1 or abs(dt - count * step) > 1e-6 * dt:
        raise InputError(f"dt must be a multiple of MuJoCo's step of {step:g} s, got {dt:g} s.")
    return count


def equality_rows(model: Any, data: Any) -> tuple[Array, Array]:
    """Residual (n,) and Jacobian (n, nv there) of the equalities that are active in MuJoCo's data."""
    import mujoco

    rows = np.asarray(data.efc_type) == int(mujoco.mjtConstraint.mjCNSTR_EQUALITY)
    J = np.zeros((data.nefc, model.nv))
    if data.nefc and mujoco.mj_isSparse(model):
        mujoco.mju_sparse2dense(J, data.efc_J, data.efc_J_rownnz, data.efc_J_rowadr, data.efc_J_colind)
    elif data.nefc:
        J = np.array(data.efc_J).reshape(data.nefc, model.nv)
    return np.array(data.efc_pos)[rows], J[rows]

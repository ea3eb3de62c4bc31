"""A mechanism beside a Pinocchio model of it.

q and v are the same but for: the order of joints; an unbounded revolute joint, (cos, sin) there and an angle
here; a planar joint, (x, y, cos, sin) there with its velocity in body axes; a mimic joint, no coordinate
there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sarrus.arrays import Array, positive, state, takes
from sarrus.bridge.checks import check_ends
from sarrus.bridge.plant_run import Control, PlantRecorder, PlantRun, diverged
from sarrus.errors import InputError
from sarrus.formats.pinocchio import joint_parts
from sarrus.mechanism.core.access import applied_force, arguments_of
from sarrus.mechanism.core.core import State
from sarrus.mechanism.mechanism import Mechanism
from sarrus.models.tree.joint import Joint
from sarrus.models.tree.joints import Planar

PROXIMAL = 1e-10  # regularization of Pinocchio's solver: redundant rows do no harm


@dataclass(frozen=True)
class _Part:
    """A joint of ours in theirs: slices of positions and velocities, and what differs."""

    q: slice
    v: slice
    theirs_q: slice
    theirs_v: slice
    kind: str  # "same", "angle" or "planar"


class PinocchioBridge:
    """Converts states and inputs between a mechanism and a Pinocchio model; made by `sr.bridge.pinocchio`.

    Attributes:
        mech: The mechanism.
        model: The `pinocchio.Model`.
    """

    def __init__(self, mech: Mechanism, model: Any) -> None:
        check_ends(mech, model, "Model", "pinocchio.buildModelFromUrdf(file)")
        self.mech, self.model = mech, model
        self._parts: list[_Part] = []
        self._mimics: list[tuple[int, int, int, float, float]] = []
        self._free = [body.name for body in mech.model.bodies[1:] if body.joint.is_free]
        for index in range(1, model.njoints):
            self._match(index)
        known = np.zeros(mech.nv, dtype=bool)
        known[[k for _, k, *_ in self._mimics]] = True
        for part in self._parts:
            known[part.v] = True
        missing = [name for name, is_known in zip(mech.names, known, strict=True) if not is_known]
        if missing:
            raise InputError(
                f"the Pinocchio model has no joints for the coordinates {', '.join(map(repr, missing))} of"
                f" {mech.name!r}; it has {', '.join(map(repr, list(model.names)[1:]))}."
            )

    def to_sarrus(self, q: npt.ArrayLike, v: npt.ArrayLike) -> State:
        """q (..., nq) and v (..., nv) of Pinocchio's."""
        theirs = state(q, "q", self.model.nq, "the Pinocchio model")
        speed = state(v, "v", self.model.nv, "the Pinocchio model")
        batch = np.broadcast_shapes(theirs.shape[:-1], speed.shape[:-1])
        pose, rate = np.empty((*batch, self.mech.nq)), np.empty((*batch, self.mech.nv))
        for part in self._parts:
            x, w = theirs[..., part.theirs_q], speed[..., part.theirs_v]
            if part.kind != "same":
                angle = np.arctan2(x[..., -1:], x[..., -2:-1])
                x = np.concatenate([x[..., :-2], angle], axis=-1)
            if part.kind == "planar":
                w = _turned(w, x[..., 2], 1.0)
            pose[..., part.q], rate[..., part.v] = x, w
        for iq, iv, leader, scaling, offset in self._mimics:
            pose[..., iq] = scaling * pose[..., self._entry(leader)[0]] + offset
            rate[..., iv] = scaling * rate[..., self._entry(leader)[1]]
        return State(pose, rate)

    def to_pinocchio(self, q: npt.ArrayLike, v: npt.ArrayLike | None = None) -> tuple[Array, Array]:
        """Pinocchio's q (..., nq there) and v (..., nv there) of ours; v defaults to rest."""
        arguments = arguments_of(self.mech)
        pose = arguments.positions(q)
        rate = arguments.tangent(np.zeros(self.mech.nv) if v is None else v, "v")
        batch = np.broadcast_shapes(pose.shape[:-1], rate.shape[:-1])
        theirs, speed = np.empty((*batch, self.model.nq)), np.empty((*batch, self.model.nv))
        for part in self._parts:
            x, w = pose[..., part.q], rate[..., part.v]
            if part.kind == "planar":
                w = _turned(w, x[..., 2], -1.0)
            if part.kind != "same":
                x = np.concatenate([x[..., :-1], np.cos(x[..., -1:]), np.sin(x[..., -1:])], axis=-1)
            theirs[..., part.theirs_q], speed[..., part.theirs_v] = x, w
        return theirs, speed

    def velocity_map(self, q: npt.ArrayLike) -> Array:
        """T (nv there, nv) with v there = T v at the pose q (nq,)."""
        pose = arguments_of(self.mech).one_pose(q)
        many = np.broadcast_to(pose, (self.mech.nv, self.mech.nq))
        return np.ascontiguousarray(self.to_pinocchio(many, np.eye(self.mech.nv))[1].T)

    def to_tau(self, u: npt.ArrayLike, q: npt.ArrayLike) -> Array:
        """Pinocchio's generalized force (nv there,) of the inputs u (nu,) at the pose q (nq,)."""
        tau = applied_force(self.mech, q, None, u)
        return np.asarray(np.linalg.pinv(self.velocity_map(q)).T @ tau)

    def to_u(self, tau: npt.ArrayLike, q: npt.ArrayLike) -> Array:
        """Inputs u (nu,) that a generalized force of Pinocchio's (nv there,) is, at the pose q (nq,).

        What it does along coordinates without an actuator is left out.
        """
        theirs = state(tau, "tau", self.model.nv, "the Pinocchio model")
        driven = [actuator.index for actuator in self.mech.model.actuators]
        return np.asarray((self.velocity_map(q).T @ theirs)[driven])

    def run(
        self,
        law: Control,
        t_end: float,
        dt: float = 1e-3,
        constraints: Sequence[Any] = (),
        start: tuple[npt.ArrayLike, npt.ArrayLike] | None = None,
    ) -> PlantRun:
        """Run a controller on a plant of Pinocchio's: its forward dynamics in semi-implicit Euler steps.

        Springs, damping and limits of the mechanism are not part of a Pinocchio model.

        Args:
            law: u = law(t, q, v), such as any controller of `sr.control`; u is held over a step.
            t_end: Length of the run [s].
            dt: Step [s].
            constraints: `pinocchio.RigidConstraintModel` of the loops; their correctors keep them closed.
            start: State (q, v) to start from; default that of the mechanism.
        """
        import pinocchio as pin

        if self._mimics:
            raise InputError(
                "run knows no Pinocchio models with mimic joints; make a plant of it with MuJoCo."
            )
        takes(law, "t,q,v", "the law of run")
        loops, found = _loops(constraints)
        step, model, data = positive(dt, "dt"), self.model, self.model.createData()
        needed = (loops, found) if int(pin.__version__.split(".")[0]) >= 4 else (loops,)
        pin.initConstraintDynamics(model, data, *needed)
        solver = (loops, found, pin.ProximalSettings(1e-12, 1e-12, PROXIMAL, 100))
        theirs, speed = self.to_pinocchio(*(self.mech.default if start is None else _pair(start)))
        recorder, steps = PlantRecorder(self.mech.nu), max(1, round(positive(t_end, "t_end") / step))
        for k in range(steps):
            measured = self.to_sarrus(theirs, speed)
            u = recorder.measure(k * step, measured, law)
            if u is None:
                break
            a = pin.constraintDynamics(model, data, theirs, speed, self.to_tau(u, measured.q), *solver)
            speed = speed + step * a
            theirs = pin.integrate(model, theirs, step * speed)
            if diverged(theirs, speed):
                recorder.trouble = f"the plant diverged in the step from t = {k * step:.9g} s"
                break
        return recorder.run(steps * step, data)

    # ------------------------------------------------------------------ construction

    def _match(self, index: int) -> None:
        model = self.model
        name, parts = model.names[index], list(joint_parts(model, index))
        iq, iv = int(model.idx_qs[index]), int(model.idx_vs[index])
        if int(model.nvs[index]) == 0:
            self._add_mimic(index, name)
            return
        spare = int(model.nqs[index]) - sum(_width(joint) for joint in parts)
        for i, joint in enumerate(parts):
            k = self._body(name if len(parts) == 1 else f"{name}_{i + 1}", joint)
            planar = isinstance(joint, Planar)
            extra = 1 if planar or (len(parts) == 1 and spare == 1) else 0
            nq = _width(joint) + extra
            kind = "planar" if planar else "angle" if extra else "same"
            slices = self.mech.model.q_slices[k], self.mech.model.v_slices[k]
            self._parts.append(_Part(*slices, slice(iq, iq + nq), slice(iv, iv + joint.nv), kind))
            iq, iv = iq + nq, iv + joint.nv

    def _body(self, name: str, joint: Joint) -> int:
        """Our body for a joint of theirs: by name, or the only free one."""
        named = [x for x in (name, f"{name}_joint") if x in self.mech.body_names[1:]]
        if joint.is_free and not named and len(self._free) == 1:
            named = self._free
        indices = [self.mech.model.body_index(one) for one in named]
        alike = [k for k in indices if self.mech.model.bodies[k].joint.nv == joint.nv]
        if alike:
            return alike[0]
        raise InputError(
            f"{self.mech.name!r} has no joint like {name!r} of the Pinocchio model ({joint.label()})."
        )

    def _add_mimic(self, index: int, name: str) -> None:
        followers, leaders = (
            [int(i) for i in x] for x in (self.model.mimicking_joints, self.model.mimicked_joints)
        )
        leader, mimic = leaders[followers.index(index)], self.model.joints[index].extract()
        iq, iv = self.mech.model.tree.scalar(name, "bridge")
        self._mimics.append((iq, iv, leader, float(mimic.scaling), float(mimic.offset)))

    def _entry(self, joint: int) -> tuple[int, int]:
        return self.mech.model.tree.scalar(self.model.names[joint], "bridge")


def _loops(constraints: Sequence[Any]) -> tuple[Any, Any]:
    """Models and data of loops, as Pinocchio wants them."""
    import pinocchio as pin

    models, found = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    try:
        for one in constraints:
            models.append(one)
            found.append(one.createData())
    except (TypeError, AttributeError):
        raise InputError(
            f"constraints must be several pinocchio.RigidConstraintModel, got {constraints!r:.80}."
        ) from None
    return models, found


def _pair(start: Any) -> tuple[Any, Any]:
    """Positions and velocities of a start."""
    if not isinstance(start, (tuple, list)) or len(start) != 2:
        raise InputError(f"start must be a state (q, v), got {start!r:.80}.")
    return start[0], start[1]


def _width(joint: Joint) -> int:
    """Number of positions of ours."""
    return joint.nv + (1 if joint.has_quaternion else 0)


def _turned(w: Array, angle: Array, sign: float) -> Array:
    """The first two entries of w (..., 3) turned by sign * angle (...)."""
    c, s = np.cos(angle), sign * np.sin(angle)
    parts = (c * w[..., 0] - s * w[..., 1], s * w[..., 0] + c * w[..., 1], w[..., 2])
    return np.stack(np.broadcast_arrays(*parts), axis=-1)

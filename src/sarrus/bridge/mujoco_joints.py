"""Where the coordinates of a mechanism are in MuJoCo's qpos and qvel, found by name."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sarrus.arrays import Array, IntArray
from sarrus.bridge.quaternions import conjugate, product, rotated, scalar_last, unit
from sarrus.errors import InputError
from sarrus.mechanism.mechanism import Mechanism
from sarrus.models.bodies import GROUND, Body
from sarrus.models.pose import Pose

FREE, BALL, SLIDE, HINGE = 0, 1, 2, 3  # mjtJoint


@dataclass(frozen=True)
class Turned:
    """A ball, a free joint, or three slides and a ball for a free joint on a moving body.

    Attributes:
        q, v: Slices of ours.
        qpos, qvel: Entries of theirs, positions first.
        at: Frame in which ours count, as theirs have it: the pose in the world of a free body's frame, the
            drawn pose of the others.
        kind: "ball", "free" or "carried".
    """

    q: slice
    v: slice
    qpos: IntArray
    qvel: IntArray
    at: Pose
    kind: str


@dataclass(frozen=True)
class JointMap:
    """All joints.

    Attributes:
        q, v: Entries of ours that are single angles and displacements.
        qpos, qvel: The same in theirs.
        turned: The other joints.
        joints: Names of our coordinates, or of bodies on balls and free joints, by MuJoCo's joint.
        tendons: Names of our coordinates by MuJoCo's fixed tendon.
        sums: (entries of q and v, matrix): our coordinates that are lengths of tendons, from qpos.
        others: Entries of qvel of MuJoCo's joints that we do not have.
    """

    q: IntArray
    v: IntArray
    qpos: IntArray
    qvel: IntArray
    turned: tuple[Turned, ...]
    joints: dict[int, str]
    tendons: dict[int, str]
    sums: tuple[IntArray, IntArray, Array, Array]
    others: IntArray


def map_joints(mech: Mechanism, model: Any) -> JointMap:
    """Match by name; an error lists coordinates of the mechanism that the model does not have."""
    finder = _Finder(mech, model)
    for joint in range(model.njnt):
        finder.match(joint)
    finder.match_tendons()
    finder.place_turned()
    missing = [name for name in mech.names if name not in finder.found]
    if missing:
        raise InputError(
            f"the MuJoCo model has no joints or tendons for the coordinates {', '.join(map(repr, missing))}"
            f" of {mech.name!r}; it has {', '.join(repr(model.joint(j).name) for j in range(model.njnt))}."
        )
    return finder.result()


class _Finder:
    def __init__(self, mech: Mechanism, model: Any) -> None:
        self.mech, self.model, self.tree = mech, model, mech.model.tree
        self.bodies = {body.name: body for body in mech.model.bodies[1:]}
        self.found: set[str] = set()
        self.joints: dict[int, str] = {}
        self.tendons: dict[int, str] = {}
        self.balls: list[tuple[int, Body, list[int]]] = []

    def match(self, joint: int) -> None:
        model = self.model
        name, owner = model.joint(joint).name, int(model.jnt_bodyid[joint])
        body = model.body(owner).name or f"body{owner}"
        k = joint - int(model.body_jntadr[owner]) + 1
        wanted = [name, f"{name}_joint"] if name else []
        if not name or int(model.jnt_type[joint]) == FREE:
            wanted += [body, f"{body}_joint", f"{body}_joint{k}"]
        if int(model.jnt_type[joint]) in (SLIDE, HINGE):
            for one in wanted:
                if one in self.mech.names and one not in self.found and self._is_single(one):
                    self.joints[joint] = one
                    self.found.add(one)
                    return
            return
        for one in wanted:
            declared = self.bodies.get(one)
            if declared is None or not (declared.joint.is_ball or declared.joint.is_free):
                continue
            if not self.found & {*declared.coordinate_names}:
                self._match_turned(joint, declared)
                return

    def _is_single(self, name: str) -> bool:
        return self.tree.coordinate_q[self.mech.names.index(name)] >= 0

    def _match_turned(self, joint: int, declared: Body) -> None:
        ball = int(self.model.jnt_type[joint]) == BALL
        slides: list[int] = []
        if ball and declared.joint.is_free:
            named = {self.model.joint(j).name: j for j in range(self.model.njnt)}
            slides = [named.get(f"{declared.name}.{axis}", -1) for axis in "xyz"]
            if min(slides) < 0:
                return
        elif ball != declared.joint.is_ball:
            return
        self.balls.append((joint, declared, slides))
        self.found |= {*declared.coordinate_names}

    def match_tendons(self) -> None:
        import mujoco

        model = self.model
        for i in range(model.ntendon):
            name, first = model.tendon(i).name or f"tendon{i + 1}", int(model.tendon_adr[i])
            wraps = range(first, first + int(model.tendon_num[i]))
            fixed = all(int(model.wrap_type[k]) == int(mujoco.mjtWrap.mjWRAP_JOINT) for k in wraps)
            free = [
                one for one in (name, f"{name}_tendon") if one in self.mech.names and one not in self.found
            ]
            if fixed and free:
                self.tendons[i] = free[0]
                self.found.add(free[0])

    def place_turned(self) -> None:
        """Where balls and free bodies count from: read at MuJoCo's reference pose, parents first."""
        import mujoco

        data, self.turned = mujoco.MjData(self.model), []
        mujoco.mj_kinematics(self.model, data)
        q = np.array(self.mech.neutral())
        for joint, name in self.joints.items():
            iq, _ = self.tree.scalar(name)
            q[iq] = data.qpos[self.model.jnt_qposadr[joint]]
        order = {name: i for i, name in enumerate(self.mech.body_names)}
        for joint, declared, slides in sorted(self.balls, key=lambda one: order[one[1].name]):
            index = self.mech.model.body_index(declared.name)
            qs, vs = self.mech.model.q_slices[index], self.mech.model.v_slices[index]
            before = (
                self.mech.pose(q, declared.parent) if declared.parent != GROUND else Pose()
            ) @ declared.at
            owner = int(self.model.jnt_bodyid[joint])
            drawn = Pose(data.xpos[owner], quat=scalar_last(data.xquat[owner]))
            here, n = before.inverse() @ drawn, 7 if int(self.model.jnt_type[joint]) == FREE else 4
            parts = [*slides, joint]
            qpos = [int(self.model.jnt_qposadr[j]) for j in parts]
            qvel = [int(self.model.jnt_dofadr[j]) for j in parts]
            kind = "carried" if slides else "free" if declared.joint.is_free else "ball"
            entries = _entries([*qpos[:-1], *range(qpos[-1], qpos[-1] + n)])
            speeds = _entries([*qvel[:-1], *range(qvel[-1], qvel[-1] + n - 1)])
            at = before if kind == "free" else here
            self.turned.append(Turned(qs, vs, entries, speeds, at, kind))
            q[qs] = here.quat if kind == "ball" else np.concatenate([here.xyz, here.quat])

    def result(self) -> JointMap:
        model = self.model
        ours = [self.tree.scalar(name) for name in self.joints.values()]
        at = [(int(model.jnt_qposadr[j]), int(model.jnt_dofadr[j])) for j in self.joints]
        sums_q, sums_v = np.zeros((len(self.tendons), model.nq)), np.zeros((len(self.tendons), model.nv))
        for row, i in enumerate(self.tendons):
            first = int(model.tendon_adr[i])
            for k in range(first, first + int(model.tendon_num[i])):
                joint = int(model.wrap_objid[k])
                sums_q[row, model.jnt_qposadr[joint]] += model.wrap_prm[k]
                sums_v[row, model.jnt_dofadr[joint]] += model.wrap_prm[k]
        lengths = [self.tree.scalar(name) for name in self.tendons.values()]
        known = {j for _, j in at} | {int(k) for one in self.turned for k in one.qvel}
        return JointMap(
            q=_entries(i for i, _ in ours),
            v=_entries(j for _, j in ours),
            qpos=_entries(i for i, _ in at),
            qvel=_entries(j for _, j in at),
            turned=tuple(self.turned),
            joints=self.joints | {joint: body.name for joint, body, slides in self.balls if not slides},
            tendons=self.tendons,
            sums=(_entries(i for i, _ in lengths), _entries(j for _, j in lengths), sums_q, sums_v),
            others=_entries(sorted({*range(model.nv)} - known)),
        )


def _entries(values: Iterable[int]) -> IntArray:
    return np.array(list(values), dtype=np.int32)


def to_ours(one: Turned, qpos: Array, qvel: Array) -> tuple[Array, Array]:
    """Our part of q and v from MuJoCo's, (..., 4 or 7), (..., 3 or 6)."""
    theirs, speed = qpos[..., one.qpos], qvel[..., one.qvel]
    turn = unit(scalar_last(theirs[..., -4:]))
    at = one.at.quat
    if one.kind == "ball":
        return product(at, turn), speed
    if one.kind == "free":
        back = conjugate(at)
        place = rotated(back, theirs[..., :3] - one.at.xyz)
        linear = rotated(conjugate(turn), speed[..., :3])
        return _joined(place, product(back, turn)), _joined(linear, speed[..., 3:])
    place = one.at.xyz + rotated(at, theirs[..., :3])
    linear = rotated(conjugate(turn), speed[..., :3])
    return _joined(place, product(at, turn)), _joined(linear, speed[..., 3:])


def to_theirs(one: Turned, q: Array, v: Array) -> tuple[Array, Array]:
    """MuJoCo's part of qpos and qvel from ours; quaternions scalar last."""
    at = one.at.quat
    if one.kind == "ball":
        return product(conjugate(at), q), v
    if one.kind == "free":
        turn = product(at, q[..., 3:])
        place = one.at.xyz + rotated(at, q[..., :3])
        return _joined(place, turn), _joined(rotated(turn, v[..., :3]), v[..., 3:])
    turn = product(conjugate(at), q[..., 3:])
    place = rotated(conjugate(at), q[..., :3] - one.at.xyz)
    return _joined(place, turn), _joined(rotated(turn, v[..., :3]), v[..., 3:])


def _joined(a: Array, b: Array) -> Array:
    return np.concatenate([a, b], axis=-1)

"""Where the coordinates of a mechanism are in MuJoCo's qpos and qvel, found by name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sarrus.arrays import Array, IntArray
from sarrus.bridge.quaternions import conjugate, product, rotated, scalar_last, unit
from sarrus.errors import InputError
from sarrus.mechanism.mechanism import Mechanism
from sarrus.models.base.pose import Pose
from sarrus.models.tree.bodies import GROUND, Body

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
            self._match_scalar(joint, wanted)
        else:
            self._match_ball(joint, wanted)

    def _match_scalar(self, joint: int, wanted: Sequence[str]) -> None:
        """The first of the names that is a free coordinate."""
        one = next(filter(self._is_single, self._unclaimed(wanted)), None)
        if one is not None:
            self.joints[joint] = one
            self.found.add(one)

    def _match_ball(self, joint: int, wanted: Sequence[str]) -> None:
        """The first of the names that is a free ball or a free body."""
        declared = (self.bodies[one] for one in wanted if one in self.bodies)
        turning = (body for body in declared if body.joint.is_ball or body.joint.is_free)
        body = next((body for body in turning if self.found.isdisjoint(body.coordinate_names)), None)
        if body is not None:
            self._match_turned(joint, body)

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
            name, wraps = model.tendon(i).name or f"tendon{i + 1}", self._wraps(i)
            free = self._unclaimed((name, f"{name}_tendon"))
            if free and np.all(model.wrap_type[wraps] == int(mujoco.mjtWrap.mjWRAP_JOINT)):
                self.tendons[i] = free[0]
                self.found.add(free[0])

    def _unclaimed(self, names: Sequence[str]) -> list[str]:
        """Those that are coordinates of ours without a joint of theirs."""
        return [one for one in names if one in self.mech.names and one not in self.found]

    def _wraps(self, tendon: int) -> slice:
        """Where the parts of a tendon stand."""
        first = int(self.model.tendon_adr[tendon])
        return slice(first, first + int(self.model.tendon_num[tendon]))

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
        model, joints = self.model, list(self.joints)
        q, v = self._places(self.joints.values())
        qpos, qvel = model.jnt_qposadr[joints], model.jnt_dofadr[joints]
        sums_q, sums_v = np.zeros((len(self.tendons), model.nq)), np.zeros((len(self.tendons), model.nv))
        for row, i in enumerate(self.tendons):
            wraps = self._wraps(i)
            pulled = model.wrap_objid[wraps]
            np.add.at(sums_q[row], model.jnt_qposadr[pulled], model.wrap_prm[wraps])
            np.add.at(sums_v[row], model.jnt_dofadr[pulled], model.wrap_prm[wraps])
        known = {*map(int, qvel)}.union(*(map(int, one.qvel) for one in self.turned))
        return JointMap(
            q=q,
            v=v,
            qpos=_entries(qpos),
            qvel=_entries(qvel),
            turned=tuple(self.turned),
            joints=self.joints | {joint: body.name for joint, body, slides in self.balls if not slides},
            tendons=self.tendons,
            sums=(*self._places(self.tendons.values()), sums_q, sums_v),
            others=_entries(sorted({*range(model.nv)} - known)),
        )

    def _places(self, names: Iterable[str]) -> tuple[IntArray, IntArray]:
        """Entries of q and of v of coordinates."""
        scalars = [self.tree.scalar(name) for name in names]
        return _entries(i for i, _ in scalars), _entries(k for _, k in scalars)


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

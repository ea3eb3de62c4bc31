"""Numbers that the code of a twin holds beside its arithmetic: which entry is which, groups of motors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .code_parts import CodeParts
from .limits import groups

POSES = 12  # beside the reference, at which it is seen which motors move which joints
AWAY = 0.2  # how far [rad], lengths divided by L


@dataclass(frozen=True)
class MotorGroup:
    """Joints that share motors.

    Attributes:
        motors: Motors (numbers).
        joints: Coordinates of the tree.
        determinant: Of J_A at the reference pose, or of J_A^T J_A or J_A J_A^T where it is not square.
    """

    motors: list[int]
    joints: list[int]
    determinant: float


@dataclass(frozen=True)
class CodeData:
    """Sizes, names and places of a twin.

    Attributes:
        name: Of the robot, as an identifier.
        nq_s, nv_s, nu, nq, nv: Sizes.
        blocks: For each block the places of its columns among what follows, and of what is given in v_s.
        q_from: For each entry of q its source: ("s", i), ("f", i) or ("", number).
        v_from: For each entry of v the same.
        motors_q, motors_v: Entries of q and v of the motors.
        groups: Joints that share motors.
        inputs: Limits of the inputs of motors (nu, 2).
        turning: First entry in v_s, and number, of joints of the tree with angular velocities.
    """

    name: str
    nq_s: int
    nv_s: int
    nu: int
    nq: int
    nv: int
    blocks: list[tuple[list[int], list[int]]]
    q_from: list[tuple[str, float]]
    v_from: list[tuple[str, int]]
    motors_q: list[int]
    motors_v: list[int]
    groups: list[MotorGroup]
    inputs: list[tuple[float, float]]
    turning: list[tuple[int, int]]


def data_of(twin: Any, parts: CodeParts, name: str) -> CodeData:
    """What the code of a twin needs."""
    mech, split = twin.mech, parts.loops.split
    given = {int(k): i for i, k in enumerate(split.given)}
    follow = {int(k): i for i, k in enumerate(parts.follow_v)}
    q_from: list[tuple[str, float]] = [("", float(x)) for x in parts.loops.chart.q0]
    for i, k in enumerate(split.given_q):
        q_from[k] = "s", i
    for i, k in enumerate(parts.follow_q):
        q_from[k] = "f", i
    v_from = [
        ("s", given[k]) if k in given else ("f", follow[k]) if k in follow else ("", 0)
        for k in range(mech.nv)
    ]
    return CodeData(
        name=name,
        nq_s=twin.tree.nq,
        nv_s=twin.tree.nv,
        nu=mech.nu,
        nq=mech.nq,
        nv=mech.nv,
        blocks=[
            ([follow[int(k)] for k in one.columns], [given[int(k)] for k in one.given])
            for one in parts.blocks
        ],
        q_from=q_from,
        v_from=v_from,
        motors_q=[int(mech.model.coordinate_q[one.index]) for one in mech.model.actuators],
        motors_v=[one.index for one in mech.model.actuators],
        groups=_motor_groups(twin),
        inputs=[(float(one.lower), float(one.upper)) for one in mech.model.actuators],
        turning=[
            (at.start, at.stop - at.start)
            for at in twin.tree.model.v_slices
            if at.stop > at.start and twin.tree.model.coordinate_q[at.start] < 0
        ],
    )


def _motor_groups(twin: Any) -> list[MotorGroup]:
    tree, rng = twin.tree, np.random.default_rng(0)
    q0 = tree.default.q
    near = [tree.integrate(q0, AWAY * tree.units.unit * rng.uniform(-1, 1, tree.nv)) for _ in range(POSES)]
    J = twin.jacobian(np.array([q0, *near]))
    J[~np.isfinite(J)] = 0.0
    found = []
    for motors, joints in groups(np.abs(J).max(axis=0)):
        own = J[0][np.ix_(motors, joints)]
        if len(motors) > len(joints):
            own = own.T @ own
        elif len(motors) < len(joints):
            own = own @ own.T
        found.append(MotorGroup(motors, joints, float(np.linalg.det(own)) if motors else 1.0))
    return found

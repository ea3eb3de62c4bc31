"""Equality constraints of a compiled MuJoCo model: connect and weld close loops, joint and
tendon couple coordinates.

Connects between one pair of bodies are read together: one is a ball, two (or more in a line) a hinge, three
or more that are not in a line a weld, which is what their authors mean by them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sarrus.arrays import Array
from sarrus.constraints.couplings import Coupling
from sarrus.constraints.polynomials import PolynomialCoupling
from sarrus.formats.mjcf.sites import site_frame, wxyz_pose
from sarrus.formats.mjcf.tendons import Tendons
from sarrus.formats.reading.messages import Omitted
from sarrus.mechanism.spec import MechanismSpec
from sarrus.models.base.axes import turn_z_to
from sarrus.models.base.pose import Pose
from sarrus.models.tree.coordinates import claim
from sarrus.models.tree.joint import Joint
from sarrus.models.tree.joints import Fixed, Revolute, Spherical

SAME_POINT = 1e-9  # [m]
RIGID = 1e-3  # relative difference of lengths above which two connects are not one hinge
ROUNDING = 1e-9  # relative difference of lengths that is not worth a word


@dataclass
class _Connect:
    """Points that two bodies share, in their own frames, (n, 3) once stacked."""

    name: str
    a: int
    b: int
    points_a: list[Array]
    points_b: list[Array]


def add_equalities(
    spec: MechanismSpec, model: Any, bodies: list[str], tendons: Tendons, omitted: Omitted
) -> None:
    """Add what `<equality>` declares; kinds that are not modelled go to `omitted`."""
    import mujoco

    kinds = mujoco.mjtEq
    disabled = int(mujoco.mjtDisableBit.mjDSBL_EQUALITY) | int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    used = {name for name, _ in spec.constraints}
    off = bool(int(model.opt.disableflags) & disabled)
    active = [i for i in range(model.neq) if model.eq_active0[i] and not off]
    for i in sorted({*range(model.neq)} - {*active}):
        omitted.add("inactive equality constraint", model.equality(i).name)
    connects = _gather(model, [i for i in active if int(model.eq_type[i]) == int(kinds.mjEQ_CONNECT)])
    for i in active:
        kind = int(model.eq_type[i])
        if kind == int(kinds.mjEQ_CONNECT):
            if i in connects:
                _close(spec, connects[i], bodies, used, omitted)
        elif kind == int(kinds.mjEQ_WELD):
            (a, at_a), (b, at_b) = _weld_frames(model, i)
            name = claim(model.equality(i).name or f"{bodies[a]}-{bodies[b]}", used)
            spec.close(name, bodies[a], bodies[b], joint=Fixed(), at_a=at_a, at_b=at_b)
        elif kind == int(kinds.mjEQ_JOINT):
            _couple(spec, model, i, tendons.joints, used)
        elif kind == int(kinds.mjEQ_TENDON) and _couple_tendons(model, i, tendons, used):
            continue
        else:
            label = kinds(kind).name.removeprefix("mjEQ_").lower()
            omitted.drop(f"equality constraint of type {label}", model.equality(i).name)


def _ends(model: Any, i: int) -> tuple[tuple[int, Pose], tuple[int, Pose]] | None:
    """Bodies and frames of the two sites an equality refers to; None where it refers to bodies."""
    import mujoco

    if int(model.eq_objtype[i]) != int(mujoco.mjtObj.mjOBJ_SITE):
        return None
    one, two = (site_frame(model, int(site)) for site in (model.eq_obj1id[i], model.eq_obj2id[i]))
    return one, two


def _gather(model: Any, indices: list[int]) -> dict[int, _Connect]:
    """Connects by pair of bodies, under the index of the first one of each pair."""
    pairs: dict[tuple[int, int], _Connect] = {}
    first: dict[int, _Connect] = {}
    for i in indices:
        sites = _ends(model, i)
        if sites is None:
            a, b = int(model.eq_obj1id[i]), int(model.eq_obj2id[i])
            p_a, p_b = model.eq_data[i, 0:3].copy(), model.eq_data[i, 3:6].copy()
        else:
            (a, at_a), (b, at_b) = sites
            p_a, p_b = at_a.xyz, at_b.xyz
        if (b, a) in pairs:
            a, b, p_a, p_b = b, a, p_b, p_a
        if (a, b) not in pairs:
            pairs[a, b] = first[i] = _Connect(model.equality(i).name, a, b, [], [])
        pairs[a, b].points_a.append(p_a)
        pairs[a, b].points_b.append(p_b)
    return first


def _weld_frames(model: Any, i: int) -> tuple[tuple[int, Pose], tuple[int, Pose]]:
    """Frames that coincide: eq_data holds the anchor in body 2, then its pose in body 1."""
    sites = _ends(model, i)
    if sites is not None:
        return sites
    data = model.eq_data[i]
    at_a = wxyz_pose(data[3:6], data[6:10])
    return (int(model.eq_obj1id[i]), at_a), (int(model.eq_obj2id[i]), Pose(data[0:3]))


def _couple(spec: MechanismSpec, model: Any, i: int, joints: dict[int, str], used: set[str]) -> None:
    """y - y0 = sum of c_k (x - x0)^k, where y0 and x0 are the reference positions."""
    c0, c1, *higher = model.eq_data[i, 0:5].tolist()
    follower, leader = int(model.eq_obj1id[i]), int(model.eq_obj2id[i])
    name = claim(model.equality(i).name or f"{joints[follower]}.equality", used)
    c0 += float(model.qpos0[model.jnt_qposadr[follower]])
    if leader < 0:
        spec.constrain(name, Coupling({joints[follower]: 1.0}, offset=c0))
        return
    x0 = float(model.qpos0[model.jnt_qposadr[leader]])
    if any(higher):
        coefficients = (c0, c1, *higher)
        spec.constrain(name, PolynomialCoupling(joints[follower], joints[leader], coefficients, origin=x0))
        return
    terms = {joints[follower]: 1.0} | ({joints[leader]: -c1} if c1 != 0.0 else {})
    spec.constrain(name, Coupling(terms, offset=c0 - c1 * x0))


def _couple_tendons(model: Any, i: int, tendons: Tendons, used: set[str]) -> bool:
    """L - L0 = c0 + c1 (K - K0), with the lengths L0 and K0 at the reference pose; False: not modelled."""
    c0, c1, *higher = model.eq_data[i, 0:5].tolist()
    one, two = int(model.eq_obj1id[i]), int(model.eq_obj2id[i])
    name = model.equality(i).name or f"{model.tendon(one).name}.equality"
    if two < 0:
        return tendons.hold(claim(name, used), one, c0)
    terms, others = tendons.terms(one), tendons.terms(two)
    if any(higher) or not (terms and others):
        return False
    total = {x: terms.get(x, 0.0) - c1 * others.get(x, 0.0) for x in terms | others}
    offset = c0 + float(model.tendon_length0[one]) - c1 * float(model.tendon_length0[two])
    coupled = Coupling({x: c for x, c in total.items() if c != 0.0}, offset=offset)
    tendons.spec.constrain(claim(name, used), coupled)
    return True


def _close(
    spec: MechanismSpec, connect: _Connect, bodies: list[str], used: set[str], omitted: Omitted
) -> None:
    a, b = bodies[connect.a], bodies[connect.b]
    name = connect.name or f"{a}-{b}"
    points_a, points_b = np.array(connect.points_a), np.array(connect.points_b)
    frames = _shared_frames(points_a, points_b)
    if frames is None:
        omitted.remark(
            f"the connects between {a!r} and {b!r} are kept apart: the distances of their points differ "
            "too much between the two bodies for one hinge"
        )
        for p_a, p_b in zip(points_a, points_b, strict=True):
            spec.close(claim(name, used), a, b, joint=Spherical(), at_a=Pose(p_a), at_b=Pose(p_b))
        return
    joint, at_a, at_b, misfit = frames
    if misfit > ROUNDING:
        omitted.remark(
            f"the connects between {a!r} and {b!r} fit each other to {misfit:.1e} of their distance only"
        )
    spec.close(claim(name, used), a, b, joint=joint, at_a=at_a, at_b=at_b)


def _shared_frames(points_a: Array, points_b: Array) -> tuple[Joint, Pose, Pose, float] | None:
    """The joint that shared points make, its frames on both bodies, and their relative misfit."""
    spread = np.linalg.norm(points_a - points_a[0], axis=1)
    second = int(np.argmax(spread))
    if spread[second] < SAME_POINT:
        return Spherical(), Pose(points_a[0]), Pose(points_b[0]), 0.0
    between_a = np.linalg.norm(points_a[:, None] - points_a[None], axis=2)
    between_b = np.linalg.norm(points_b[:, None] - points_b[None], axis=2)
    misfit = float(np.abs(between_a - between_b).max() / spread[second])
    if misfit > RIGID:
        return None
    axis_a, axis_b = (_unit(points[second] - points[0]) for points in (points_a, points_b))
    across = np.linalg.norm(np.cross(points_a - points_a[0], axis_a), axis=1)
    third = int(np.argmax(across))
    if across[third] < RIGID * spread[second]:
        at_a = Pose(points_a[0], matrix=turn_z_to(axis_a))
        return Revolute("z"), at_a, Pose(points_b[0], matrix=turn_z_to(axis_b)), misfit
    frame_a, frame_b = (_triad(points, second, third) for points in (points_a, points_b))
    return Fixed(), Pose(points_a[0], matrix=frame_a), Pose(points_b[0], matrix=frame_b), misfit


def _unit(vector: Array) -> Array:
    return vector / np.linalg.norm(vector)


def _triad(points: Array, second: int, third: int) -> Array:
    """Axes with z towards the second point and x in the half-plane of the third, (3, 3)."""
    z = _unit(points[second] - points[0])
    y = _unit(np.cross(z, points[third] - points[0]))
    return np.column_stack([np.cross(y, z), y, z])

"""Joints of six freedoms, some of them locked: what may move does, what is locked does not, whichever way."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import sarrus as sr

pytest.importorskip("pxr")

FREEDOMS = ("transX", "transY", "transZ", "rotX", "rotY", "rotZ")
SETS = [set(some) for n in range(1, 6) for some in itertools.combinations(FREEDOMS, n)]
PLACE = sr.Pose((0.4, -0.2, 0.7), rpy=(0.3, -0.5, 1.1))  # of joint frame 0 in the world
ON_BOX = sr.Pose((0.1, 0.25, -0.3), rpy=(-0.7, 0.2, 0.4))  # of joint frame 1 on the box
LIMITS = {"transX": (-2.0, 3.0), "transY": (-1.5, 2.5), "rotX": (-170.0, 160.0), "rotZ": (-150.0, 155.0)}


def drawn(free: set[str], rng: np.random.Generator) -> tuple[sr.Pose, dict[str, float]]:
    """A pose of frame 1 in frame 0 that only uses the freedoms, and their values."""
    values = {name: float(rng.uniform(-0.9, 0.9)) for name in FREEDOMS if name in free}
    axes = "".join(name[-1] for name in FREEDOMS[3:] if name in free)
    turned = Rotation.identity()
    if axes:
        turned = Rotation.from_euler(axes, [values[f"rot{axis}"] for axis in axes])
    xyz = [values.get(name, 0.0) for name in FREEDOMS[:3]]
    return sr.Pose(xyz, quat=turned.as_quat()), values


def written(pose: sr.Pose, place: str, turn: str) -> str:
    x, y, z, w = pose.quat.tolist()
    return f"{place} = ({', '.join(map(repr, pose.xyz.tolist()))})\n {turn} = ({w!r}, {x!r}, {y!r}, {z!r})"


def stage(free: set[str], between: sr.Pose, turned: bool, drives: str = "") -> str:
    """A box on the world by a PhysicsJoint; `turned`: the world is body 1, and the box body 0."""
    apis = [f"PhysicsLimitAPI:{name}" for name in FREEDOMS if name not in free or name in LIMITS]
    ends = {name: LIMITS.get(name) if name in free else (1, -1) for name in FREEDOMS}
    lines = [
        f"float limit:{name}:physics:{which} = {value}"
        for name, pair in ends.items()
        if pair is not None
        for which, value in zip(("low", "high"), pair, strict=True)
    ]
    apis += [f"PhysicsDriveAPI:{name}" for name in drives.split()]
    frames = (ON_BOX, PLACE) if turned else (PLACE, ON_BOX)
    ends_of = [
        written(X, f"point3f physics:localPos{k}", f"quatf physics:localRot{k}") for k, X in enumerate(frames)
    ]
    X_box = PLACE @ (between.inverse() if turned else between) @ ON_BOX.inverse()
    order = 'uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:orient"]'
    nl = "\n "
    return f"""#usda 1.0
(
 metersPerUnit = 1
 upAxis = "Z"
)
def Xform "box" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]) {{
 {written(X_box, "double3 xformOp:translate", "quatd xformOp:orient")}
 {order}
 float physics:mass = 2
 float3 physics:diagonalInertia = (1, 2, 2.5)
}}
def PhysicsJoint "rail" (prepend apiSchemas = [{", ".join(f'"{api}"' for api in apis)}]) {{
 rel physics:body{int(not turned)} = </box>
 {nl.join(lines + ends_of)}
}}
"""


def load(text: str) -> sr.Mechanism:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.SarrusWarning)
        return sr.load(text)


def seen(mech: sr.Mechanism, q: Any, turned: bool) -> sr.Pose:
    """Frame 1 of the stage in frame 0."""
    on_world = PLACE.inverse() @ mech.pose(q, "box") @ ON_BOX
    return on_world.inverse() if turned else on_world


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("free", SETS, ids=lambda free: "+".join(sorted(free)))
def test_every_choice_of_freedoms(free: set[str], turned: bool) -> None:
    """It starts as drawn, has one coordinate for each freedom, and stays where frame 1 may be."""
    rng = np.random.default_rng(len(free))
    between, values = drawn(free, rng)
    mech = load(stage(free, between, turned))
    assert mech.nv == len(free)
    # float quaternions of the stage have seven digits
    np.testing.assert_allclose(seen(mech, mech.default.q, turned).matrix, between.matrix, atol=1e-6)
    moved = mech.integrate(mech.default.q, 0.3 * rng.standard_normal(mech.nv))
    X = seen(mech, moved, turned)
    axes = [name[-1] for name in FREEDOMS[3:] if name in free]
    if len(axes) == 2:  # across the second axis, turned, and the first one: a right angle
        a, b = (np.eye(3)["XYZ".index(axis)] for axis in axes)
        assert abs(a @ (X.rotation @ b)) < 1e-6
    elif len(axes) < 2:
        turn = Rotation.from_matrix(X.rotation).as_rotvec()
        others = [k for k, axis in enumerate("XYZ") if axis not in axes]
        np.testing.assert_allclose(turn[others], 0.0, atol=1e-6)
    held = [k for k, name in enumerate(FREEDOMS[:3]) if name not in free]
    np.testing.assert_allclose(X.xyz[held], 0.0, atol=1e-6)
    assert np.linalg.matrix_rank(mech.jacobian(mech.default.q, "box"), tol=1e-6) == len(free)
    if len(axes) < 3:
        known = sorted(values.values())
        np.testing.assert_allclose(sorted(mech.default.q.tolist()), known, atol=1e-6)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("free", [{"rotX", "rotY"}, {"transX", "rotX"}, {"transX", "transY", "rotZ"}])
def test_limits_and_drives_by_freedom(free: set[str], turned: bool) -> None:
    between, values = drawn(free, np.random.default_rng(3))
    drives = " ".join(sorted(free))
    mech = load(stage(free, between, turned, drives))
    assert mech.nu == len(free) and set(mech.actuators) == set(mech.names)
    by_value = {
        round(x, 5): pair for x, pair in zip(mech.default.q.tolist(), mech.joint_limits.tolist(), strict=True)
    }
    for name, value in values.items():
        scale = np.pi / 180.0 if name.startswith("rot") else 1.0
        expected = [scale * x for x in LIMITS.get(name, (-np.inf, np.inf))]
        np.testing.assert_allclose(by_value[round(value, 5)], expected, rtol=1e-6)


def test_what_is_left_out_is_said() -> None:
    """Drives of balls and of joints that hold nothing, limits of balls, loops that no joint can close."""
    between, _ = drawn({"rotX"}, np.random.default_rng(1))
    ball = {"rotX", "rotY", "rotZ"}
    with pytest.warns(
        sr.SarrusWarning, match=r"drive of a joint that has not one coordinate.*limit of a ball"
    ):
        assert sr.load(stage(ball, between, False, "rotX")).nv == 3
    with pytest.warns(sr.SarrusWarning, match="drive of a joint that leaves all six freedoms"):
        assert sr.load(stage(set(FREEDOMS), between, False, "rotX")).nv == 6
    slides = stage({"transX", "transY", "transZ"}, sr.Pose(), False)
    excluded = "bool physics:excludeFromArticulation = 1\n rel physics:body1"
    text = slides.replace("rel physics:body1", excluded)
    with pytest.warns(sr.SarrusWarning, match="loop of a joint with freedoms that no joint here has"):
        assert sr.load(text).nc == 0
    universal = stage({"rotX", "rotY"}, sr.Pose(), False)
    text = universal.replace("rel physics:body1", excluded)
    mech = load(text)
    assert (mech.nv, mech.nc, mech.mobility().dof) == (6, 4, 2)

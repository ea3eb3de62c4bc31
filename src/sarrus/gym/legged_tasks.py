"""Legs with four-bar knees: one stands up, one hops, two walk."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..arrays import Array
from ..mechanism.mechanism import Mechanism
from ..mechanism.spec import MechanismSpec
from ..models.base.pose import Pose
from ..models.kinds.forces import JointDamper, JointSpring
from ..models.shapes.convex_shapes import HalfSpace
from ..models.shapes.shapes import Sphere
from ..models.tree.joints import Planar, Prismatic, Revolute
from .states import closeness
from .task import Task

SQUAT, UPRIGHT = 0.62, 0.80  # heights of the hip [m]
FOOT = 0.03  # radius of the round foot [m]


def leg_with_four_bar_knee() -> Task:
    """A leg whose knee is a four-bar stands up from a squat: hip on a rail, foot hinged to the ground."""
    mech = four_bar_leg()
    squat = np.array(mech.default.q)
    rail = mech.index("hip").q

    def reset(rng: np.random.Generator, count: int) -> tuple[Array, Array]:
        q = np.tile(squat, (count, 1))
        return q, mech.consistent_velocity(q, rng.normal(scale=0.05, size=(count, mech.nv)))

    def height(q: Array) -> Array:
        return np.asarray(q[:, rail])

    def reward(t: Array, q: Array, v: Array, u: Array) -> Array:
        return closeness(8.0 * (height(q) - UPRIGHT), 0.2 * v[:, :1])

    def terminated(t: Array, q: Array, v: Array) -> Array:
        return np.asarray(height(q)[:, 0] < 0.4)

    return Task(mech, reward, reset, None, terminated, limits=(60.0, 60.0), horizon=150)


def hop() -> Task:
    """The same leg with a round foot on a floor hops: the higher its hip, the better."""
    mech, hinged = four_bar_leg(hinged=False), four_bar_leg()
    squat = np.array(hinged.default.q)
    rail = mech.index("hip").q

    def reset(rng: np.random.Generator, count: int) -> tuple[Array, Array]:
        q = np.tile(squat, (count, 1))
        return q, hinged.consistent_velocity(q, rng.normal(scale=0.05, size=(count, mech.nv)))

    def reward(t: Array, q: Array, v: Array, u: Array) -> Array:
        return np.asarray(np.clip((q[:, rail][:, 0] - SQUAT) / 0.5, 0.0, 1.0))

    def terminated(t: Array, q: Array, v: Array) -> Array:
        low, turned = q[:, rail][:, 0] < 0.4, np.abs(q[:, 1:]).max(axis=1) > math.pi
        return np.asarray(low | turned)

    return Task(mech, reward, reset, None, terminated, limits=(150.0, 150.0), horizon=150)


THIGH, SHANK = 0.4, 0.42  # [m]
LINKS = {"front": (0.05, 0.08), "back": (-0.05, 0.09)}  # of the knee: beside its middle, length [m]
GUESS = {"thigh": 0.45, "front": 1.1, "back": 0.0, "shank": -2.1}  # near a squat [rad]
Y = Revolute("y")


def add_four_bar_leg(spec: MechanismSpec, parent: str, at: Pose, tag: str = "") -> Pose:
    """A thigh and a shank on two links, a four-bar; motors turn the thigh and the front link. Where the foot
    is on the shank."""
    thigh, shank = f"thigh{tag}", f"shank{tag}"
    upper: dict[str, Any] = {"mass": 3.0, "com": (0, 0, -THIGH / 2), "inertia": (0.04, 0.04, 0.004)}
    spec.body(thigh, parent=parent, joint=Y, at=at, **upper)
    for name, (x, length) in LINKS.items():
        link: dict[str, Any] = {"mass": 0.2, "com": (0, 0, -length / 2), "inertia": (1e-3, 1e-3, 1e-4)}
        spec.body(f"{name}{tag}", parent=thigh, joint=Y, at=Pose((x, 0, -THIGH)), **link)
    lower: dict[str, Any] = {"mass": 2.0, "com": (-0.02, 0, -SHANK / 2), "inertia": (0.03, 0.03, 0.003)}
    spec.body(shank, parent=f"front{tag}", joint=Y, at=Pose((0, 0, -LINKS["front"][1])), **lower)
    behind = Pose((0, 0, -LINKS["back"][1]))
    spec.close(f"knee{tag}", f"back{tag}", shank, Y, at_a=behind, at_b=Pose((-0.06, 0, 0.0)))
    spec.actuate(thigh)
    spec.actuate(f"front{tag}")
    return Pose((-0.03, 0, -SHANK))


def add_floor(spec: MechanismSpec, feet: dict[str, Pose]) -> None:
    """A floor, and round feet {body: where}."""
    spec.surface("floor", "ground", HalfSpace(), at=Pose((0, 0, -FOOT)), friction=1.0)
    for body, at in feet.items():
        spec.surface(f"foot of {body}", body, Sphere(FOOT), at=at).contact("floor", f"foot of {body}")


def four_bar_leg(hinged: bool = True) -> Mechanism:
    """Hip on a vertical rail and a leg. Its foot is hinged to the ground, or round on a floor."""
    spec = MechanismSpec(gravity=(0.0, 0.0, -9.81), name="four_bar_leg")
    spec.body("hip", joint=Prismatic("z"), mass=10.0, inertia=(0.1, 0.1, 0.1))
    foot = add_four_bar_leg(spec, "hip", Pose())
    if hinged:
        spec.close("foot", "ground", "shank", Y, at_b=foot)
    else:
        add_floor(spec, {"shank": foot})
    mech = spec.compile()
    guess = {"hip": 0.75, **GUESS}
    q = np.array([guess[name] for name in mech.names])
    return mech.with_default(mech.assemble(q, fixed={"hip": SQUAT}).q) if hinged else mech


TRUNK = 0.7  # length of the trunk of the walker [m]
PACE = 2.0 * math.pi * 1.6  # [rad/s] of the clock that the walker sees
STIFFNESS, DAMPING = 400.0, 15.0  # of the springs beside its motors [N m/rad], [N m s/rad]


def four_bar_walker(rest: Mapping[str, float] | None = None) -> Mechanism:
    """A trunk on two legs in one plane, in a squat. Springs beside the motors, with angles at rest [rad],
    carry it on a floor; without them its feet are hinged to the ground."""
    spec = MechanismSpec(gravity=(0.0, 0.0, -9.81), name="four_bar_walker")
    spec.body("trunk", joint=Planar("y"), mass=16.0, inertia=(0.2, 0.9, 0.9))
    feet = {}
    for tag, x in ((" ahead", 0.5 * TRUNK), (" behind", -0.5 * TRUNK)):
        foot = feet[f"shank{tag}"] = add_four_bar_leg(spec, "trunk", Pose((x, 0.0, 0.0)), tag)
        if rest is None:
            spec.close(f"foot{tag}", "ground", f"shank{tag}", Y, at_a=Pose((x, 0.0, 0.0)), at_b=foot)
    for joint, angle in (rest or {}).items():
        spec.force(f"spring of {joint}", JointSpring(joint, STIFFNESS, rest=angle))
        spec.force(f"damper of {joint}", JointDamper(joint, DAMPING))
    if rest is not None:
        add_floor(spec, feet)
    mech, squat = spec.compile(), four_bar_leg()
    q = mech.neutral()
    q[0] = SQUAT
    for name in mech.names[3:]:
        q[mech.index(name).q] = squat.default.q[squat.index(name.split()[0]).q]
    return mech.with_default(q)


def standing_walker() -> Mechanism:
    """The walker with springs that carry its weight at its default pose."""
    hinged = four_bar_walker()
    q = hinged.default.q
    held = hinged.inverse_dynamics(q, np.zeros(hinged.nv), np.zeros(hinged.nv)).u
    motors = zip(hinged.actuators, held, strict=True)
    return four_bar_walker({name: float(q[hinged.index(name).q][0] + u / STIFFNESS) for name, u in motors})


def walk() -> Task:
    """The walker goes ahead as fast as it can, up to 1 m/s. It sees a clock of 1.6 Hz."""
    mech = standing_walker()
    stand = np.array(mech.default.q)
    up, ahead, turned = 0, 1, 2  # a plane whose normal is y: z, x, angle

    def reset(rng: np.random.Generator, count: int) -> tuple[Array, Array]:
        q = np.tile(stand, (count, 1))
        q[:, up] += 1e-3
        return q, mech.consistent_velocity(q, rng.normal(scale=0.02, size=(count, mech.nv)))

    def reward(t: Array, q: Array, v: Array, u: Array) -> Array:
        return np.asarray(np.clip(v[:, ahead], -1.0, 1.0))

    def observe(t: Array, q: Array, v: Array) -> Array:
        clock = np.stack([np.sin(PACE * t), np.cos(PACE * t)], axis=1)
        off = np.delete(q - stand, ahead, axis=1)
        return np.concatenate([clock, off, 0.1 * v], axis=1)

    def terminated(t: Array, q: Array, v: Array) -> Array:
        return np.asarray((q[:, up] < 0.35) | (np.abs(q[:, turned]) > 0.8))

    return Task(mech, reward, reset, observe, terminated, dt=0.02, substeps=10, horizon=150, limits=60.0)

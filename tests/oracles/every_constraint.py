"""Random mechanisms with every constraint and force that can be declared, closed at their pose."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from .description import Description, body_poses, width_q
from .random_mechanisms import closed_at, random_joint, tree_of

Array = npt.NDArray[np.float64]
CLOSING = ("revolute", "prismatic", "helical", "cylindrical", "universal", "spherical", "planar", "fixed")
DECLARED = ("coupling", "drive", "distance", "point_on_line", "point_on_plane", "rolling", "custom")
TREE = ("revolute", "prismatic", "spherical", "universal", "helical", "free", "cylindrical", "planar")


def base(seed: int) -> Description:
    """Eight bodies, one of each joint, in two branches that share their first body."""
    rng = np.random.default_rng([seed, 30])
    kinds = [str(k) for k in rng.permutation(TREE)]
    return tree_of(kinds, [-1, 0, 1, 2, 0, 4, 5, -1], seed)


def constrained(kind: str, seed: int) -> Description:
    """The base with one constraint of the given kind, satisfied at its q at time zero."""
    d = base(seed)
    rng = np.random.default_rng([seed, 31])
    if kind in CLOSING:
        return d.with_(closures=(closed_at(d, "loop", "b3", "b6", random_joint(rng, kind), seed),))
    return d.with_(constraints=(("row", declare(kind, d, rng)),))


def declare(kind: str, d: Description, rng: np.random.Generator) -> Any:
    """A constraint object of the library that holds at d.q."""
    import sarrus as sr

    X = body_poses(d.bodies, d.q)
    p_a, p_b = rng.uniform(-0.3, 0.3, (2, 3))
    a, b = X["b3"], X["b6"]
    gap = (b @ np.append(p_b, 1) - a @ np.append(p_a, 1))[:3]
    in_a = a[:3, :3].T @ gap
    across = np.cross(in_a, rng.normal(size=3))
    one, other = scalar_coordinates(d)[:2]
    q = {name: d.q[i] for name, i in (one, other)}
    return {
        "coupling": lambda: sr.Coupling({one[0]: 1.0, other[0]: -2.5}, offset=q[one[0]] - 2.5 * q[other[0]]),
        "drive": lambda: sr.Drive(
            one[0],
            lambda t: q[one[0]] + math.sin(0.7 * t),
            lambda t: 0.7 * math.cos(0.7 * t),
            lambda t: -0.49 * math.sin(0.7 * t),
        ),
        "distance": lambda: sr.Distance("b3", p_a, "b6", p_b, float(np.linalg.norm(gap))),
        "point_on_line": lambda: sr.PointOnLine("b3", p_a, "b6", p_b, in_a / np.linalg.norm(in_a)),
        "point_on_plane": lambda: sr.PointOnPlane("b3", p_a, "b6", p_b, across / np.linalg.norm(across)),
        "rolling": lambda: _rolling(b, rng),
        "custom": lambda: _custom(d.q),
    }[kind]()


def _rolling(X: Array, rng: np.random.Generator) -> Any:
    """A disc on b6 that touches the ground plane with its lowest point."""
    import sarrus as sr

    axis, normal = rng.normal(size=(2, 3))
    axis, normal = axis / np.linalg.norm(axis), normal / np.linalg.norm(normal)
    up = normal - X[:3, :3] @ axis * (normal @ X[:3, :3] @ axis)
    touch = X[:3, 3] - 0.25 * up / np.linalg.norm(up)
    return sr.Rolling("b6", 0.25, tuple(axis), tuple(normal), point=tuple(touch))


def _custom(q0: Array) -> Any:
    """Two rows in all coordinates with nothing but phi given; quaternions enter as numbers."""
    import sarrus as sr

    weights = np.cos(np.arange(2 * len(q0))).reshape(2, -1)

    def phi(q: Array, t: float) -> Array:
        return weights @ (np.sin(q) - np.sin(q0)) - 0.3 * t

    return sr.CustomConstraint(phi, 2)


def scalar_coordinates(d: Description) -> list[tuple[str, int]]:
    """Names of the one-coordinate joints and where they stand in q."""
    out, k = [], 0
    for body in d.bodies:
        if body.joint.kind in ("revolute", "prismatic", "helical"):
            out.append((body.name, k))
        k += width_q(body.joint)
    return out


def everything(seed: int) -> Description:
    """Every constraint (nc > nv) and every force at once."""
    d = base(seed)
    rng = np.random.default_rng([seed, 32])
    closures = [
        closed_at(d, f"loop{k}", "b3", "b6", random_joint(rng, kind), seed + k)
        for k, kind in enumerate(CLOSING)
    ]
    constraints = [(kind, declare(kind, d, rng)) for kind in DECLARED if kind != "custom"]
    return d.with_(closures=tuple(closures), constraints=tuple(constraints), forces=tuple(forces(d, rng)))


def forces(d: Description, rng: np.random.Generator) -> list[tuple[str, Any]]:
    """One force of each kind."""
    import sarrus as sr

    name = scalar_coordinates(d)[0][0]
    p_a, p_b = rng.uniform(-0.3, 0.3, (2, 3))
    return [
        ("spring", sr.PointSpring("b3", p_a, "b6", p_b, 40.0, 0.3, damping=1.5)),
        ("to ground", sr.PointSpring("ground", p_a, "b7", p_b, 25.0, 0.2)),
        ("joint spring", sr.JointSpring(name, 12.0, 0.1)),
        ("joint damper", sr.JointDamper(name, 0.7)),
        ("push", sr.ConstantWrench("b6", rng.normal(size=6), point=p_a)),
        ("thrust", sr.ConstantWrench("b3", rng.normal(size=6), point=p_b, frame="body")),
    ]

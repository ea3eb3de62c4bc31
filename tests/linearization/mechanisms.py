"""Mechanisms that these tests build themselves."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

import sarrus as sr

Array = npt.NDArray[np.float64]
HINGE = sr.Revolute("z")


def bar(mass: float, length: float) -> dict[str, Any]:
    """A slender uniform bar along x."""
    inertia = mass * length**2 / 12
    return {"mass": mass, "com": (length / 2, 0, 0), "inertia": (1e-6 * inertia, inertia, inertia)}


def redundant_pendulum(length: float = 0.8) -> sr.Mechanism:
    """A point mass with three coordinates in the plane, tied to the origin by a rod, twice."""
    spec = sr.MechanismSpec(gravity=(0, -9.81, 0), name="redundant pendulum")
    spec.body("bob", joint=sr.Planar("z"), mass=1.0, inertia=(1e-3, 1e-3, 1e-3))
    for name in ("rod", "rod_again"):
        spec.constrain(name, sr.Distance("ground", (0, 0, 0), "bob", (0, 0, 0), length))
    spec.constrain("upright", sr.Coupling({"bob.angle": 1.0}))
    return spec.compile()


def four_bar_with_pole() -> sr.Mechanism:
    """A four-bar, one motor at the crank, with a pole hinged to the middle of its coupler."""
    spec = sr.MechanismSpec(gravity=(0, -9.81, 0), name="four-bar with a pole")
    spec.body("crank", joint=HINGE, **bar(2.0, 0.5))
    spec.body("coupler", parent="crank", joint=HINGE, at=sr.Pose((0.5, 0, 0)), **bar(1.5, 0.9))
    spec.body("rocker", joint=HINGE, at=sr.Pose((1.0, 0, 0)), **bar(2.0, 0.6))
    spec.body("pole", parent="coupler", joint=HINGE, at=sr.Pose((0.45, 0, 0)), **bar(0.5, 0.6))
    spec.close("pin", "coupler", "rocker", HINGE, sr.Pose((0.9, 0, 0)), sr.Pose((0.6, 0, 0)))
    spec.actuate("crank")
    return spec.compile()


def upright_pole(mech: sr.Mechanism, crank: float = -1.5) -> Array:
    """A pose of `four_bar_with_pole` with hanging cranks and the pole up."""
    q = mech.assemble([crank, 1.4, -1.7, 0.0], fixed={"crank": crank}).q
    q[3] = math.pi / 2 - q[0] - q[1]
    return q


def moving(mech: sr.Mechanism, seed: int = 0, size: float = 1.0) -> tuple[Array, Array, Array]:
    """A consistent moving state at the default pose, and inputs: nothing is at rest or in balance."""
    rng = np.random.default_rng(seed)
    q = np.array(mech.default.q)
    v = mech.consistent_velocity(q, size * rng.normal(size=mech.nv))
    return q, v, rng.normal(size=mech.nu)


def relative(x: Array, y: Array) -> float:
    """Largest difference relative to the largest entry of y, at least 1."""
    assert x.shape == y.shape
    return float(np.max(np.abs(x - y), initial=0.0)) / max(1.0, float(np.max(np.abs(y), initial=0.0)))

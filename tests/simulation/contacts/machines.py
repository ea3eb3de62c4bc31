"""Bodies on a floor, for tests of runs with contacts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import sarrus as sr

Array = NDArray[np.float64]
G = 9.81


def ball(
    restitution: float, friction: float = 0.0, height: float = 0.0, radius: float = 0.1
) -> tuple[sr.Mechanism, Array]:
    """A solid sphere above a floor, and its pose."""
    spec = sr.MechanismSpec(name="ball")
    spec.body("ball", joint=sr.Free(), mass=1.0, inertia=(0.4 * radius**2,) * 3)
    spec.surface("floor", "ground", sr.HalfSpace(), friction=friction)
    spec.surface("ball", "ball", sr.Sphere(radius), restitution=restitution)
    spec.contact("floor", "ball")
    mech = spec.compile()
    q = mech.neutral()
    q[2] = height + radius
    return mech, q


def block(
    friction: float,
    slope: float = 0.0,
    restitution: float = 0.0,
    size: tuple[float, float, float] = (0.2, 0.2, 0.1),
) -> tuple[sr.Mechanism, Array]:
    """A box of mass 2 on an incline: its x axis points down the slope."""
    a, b, c = size
    spec = sr.MechanismSpec(name="block", gravity=(G * np.sin(slope), 0.0, -G * np.cos(slope)))
    inertia = (2.0 * (b * b + c * c) / 12, 2.0 * (a * a + c * c) / 12, 2.0 * (a * a + b * b) / 12)
    spec.body("block", joint=sr.Free(), mass=2.0, inertia=inertia)
    spec.surface("floor", "ground", sr.HalfSpace(), friction=friction)
    spec.surface("block", "block", sr.Box(size), restitution=restitution)
    spec.contact("floor", "block")
    mech = spec.compile()
    q = mech.neutral()
    q[2] = c / 2
    return mech, q


def kinds(run: sr.Trajectory) -> list[str]:
    """Kinds of the events, in order."""
    return [event.kind for event in run.events]

"""The machines of five examples of siconos-tutorials, with the numbers of their sources.

Each function returns the mechanism, where it starts (q, v) and what drives it (None, or tau(t, q, v)).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

import sarrus as sr

Array = NDArray[np.float64]
Control = Callable[[float, Array, Array], Array]
Start = tuple[sr.Mechanism, Array, Array, Control | None]
G = 9.81
TINY = 1e-10  # [kg] of points that only follow others: 1e-8 of the lightest part


def friction_oscillator() -> Start:
    """A block on a table and a spring, x'' + x = r, |r| <= 1 (mechanics/FrictionOscillator)."""
    spec = sr.MechanismSpec(name="friction oscillator", gravity=(0, 0, -G))
    spec.body("slide", joint=sr.Prismatic("x"), mass=0.0)
    spec.body("block", parent="slide", joint=sr.Prismatic("z"), mass=1.0)
    spec.surface("table", "ground", sr.HalfSpace(), friction=1 / G)
    spec.surface("block", "block", sr.Sphere(0.1)).contact("table", "block")
    spec.force("spring", sr.JointSpring("slide", 1.0))
    return spec.compile(), np.array([12.0, 0.1]), np.array([6.0, 0.0]), None


# mechanics/Woodpecker, [Glocker2001] section 11.1 [m, kg, kg m^2, N m/rad]
R_O, R_M, H_M, L_M, L_G, H_S, L_S = 0.0025, 0.0031, 0.0058, 0.010, 0.015, 0.02, 0.0201
M_SLEEVE, M_BIRD, J_SLEEVE, J_BIRD, TWIST = 0.0003, 0.0045, 5.0e-9, 7.0e-7, 0.0056
# the top of the sleeve touches; the tilt is published as -0.1036, 0.9 um inside the pole
BEFORE_BEAK = (0.0, (R_O - R_M) / H_M, -0.2788), (-0.3411, 4.8572e-15, -7.4583)


def woodpecker() -> Start:
    """A sleeve on a pole and a woodpecker on a spring, for small angles: all motions are couplings."""
    spec = sr.MechanismSpec(name="woodpecker", gravity=(0, 0, -G))
    spec.body("sleeve", joint=sr.Prismatic("z"), mass=M_SLEEVE, inertia=(0, 0, 0))
    spec.body("tilt", joint=sr.Revolute("y"), mass=TINY, inertia=(J_SLEEVE,) * 3)
    spec.body("bird", joint=sr.Revolute("y"), mass=TINY, inertia=(J_BIRD,) * 3)
    _follower(spec, "height", sr.Prismatic("z"), {"sleeve": 1.0, "tilt": L_M, "bird": L_G}, M_BIRD)
    _follower(spec, "twist", sr.Revolute("y"), {"bird": 1.0, "tilt": -1.0}, TINY)
    spec.force("spring", sr.JointSpring("twist", TWIST))
    high = {"sleeve": 1.0, "tilt": R_M}
    _tip(spec, "beak", {"bird": -H_S}, high | {"tilt": L_M, "bird": L_G - L_S}, L_M + L_G - L_S - R_O, 0.5)
    _tip(spec, "top", {"tilt": H_M}, high, R_M - R_O, 0.0)
    _tip(spec, "foot", {"tilt": -H_M}, high, R_M - R_O, 0.0)
    mech = spec.compile()
    q, v = (dict(zip(("sleeve", "tilt", "bird"), given, strict=True)) for given in BEFORE_BEAK)
    at = mech.assemble(fixed=q).q
    J = mech.terms(at, np.zeros(mech.nv)).J
    free = [mech.names.index(name) for name in v]
    rest = [i for i in range(mech.nv) if i not in free]
    speed = np.zeros(mech.nv)
    speed[free] = list(v.values())
    speed[rest] = np.linalg.solve(J[:, rest], -J[:, free] @ speed[free])
    return mech, at, speed, None


def _follower(
    spec: sr.MechanismSpec, name: str, joint: sr.Prismatic | sr.Revolute, of: dict[str, float], mass: float
) -> None:
    """A body whose coordinate is a sum of others."""
    spec.body(name, joint=joint, mass=mass, inertia=(TINY * 1e-6,) * 3)
    spec.constrain(name, sr.Coupling({name: 1.0, **{other: -by for other, by in of.items()}}))


def _tip(
    spec: sr.MechanismSpec, name: str, x: dict[str, float], z: dict[str, float], gap: float, rebound: float
) -> None:
    """A point before a wall x = 0 whose gap and height are sums of coordinates."""
    _follower(spec, f"{name} gap", sr.Prismatic("x"), x, TINY)
    spec.body(name, parent=f"{name} gap", joint=sr.Prismatic("z"), mass=TINY, inertia=(0, 0, 0))
    spec.constrain(name, sr.Coupling({name: 1.0, **{other: -by for other, by in z.items()}}))
    spec.surface(name, name, sr.Sphere(0.001), at=sr.Pose((gap + 0.001, 0, 0)), restitution=rebound)
    spec.surface(f"{name} wall", "ground", sr.HalfSpace("x"), friction=0.3)
    spec.contact(f"{name} wall", name)


# mechanics/SliderCrank, Flores, Leine and Glocker 2010, table 1 [m, kg, kg m^2]
CRANK, ROD, HALF_LENGTH, HALF_HEIGHT, PLAY = 0.153, 0.306, 0.05, 0.025, 0.001
CRANK_MASSES, CRANK_INERTIAS = (0.038, 0.038, 0.076), (7.4e-5, 5.9e-4, 2.7e-6)


def slider_crank() -> Start:
    """A slider-crank whose slider has 1 mm of play above and below."""
    spec = sr.MechanismSpec(name="slider-crank with play", gravity=(0, -G, 0))
    (m1, m2, m3), (j1, j2, j3) = CRANK_MASSES, CRANK_INERTIAS
    pin = sr.Revolute("z")
    spec.body("crank", joint=pin, mass=m1, com=(CRANK / 2, 0, 0), inertia=(j1,) * 3)
    at = sr.Pose((CRANK, 0, 0))
    spec.body("rod", "crank", joint=pin, at=at, mass=m2, com=(ROD / 2, 0, 0), inertia=(j2,) * 3)
    spec.body("slider", "rod", joint=pin, at=sr.Pose((ROD, 0, 0)), mass=m3, inertia=(j3,) * 3)
    a, b, wall = HALF_LENGTH, HALF_HEIGHT, HALF_HEIGHT + PLAY
    spec.surface("slider", "slider", sr.Profile([(-a, -b), (a, -b), (a, b), (-a, b)]), restitution=0.4)
    spec.surface("bottom", "ground", sr.HalfSpace("y"), sr.Pose((0, -wall, 0)), friction=0.01)
    spec.surface("top", "ground", sr.HalfSpace((0, -1, 0)), sr.Pose((0, wall, 0)), friction=0.01)
    spec.contact("bottom", "slider").contact("top", "slider")
    return spec.compile(), np.zeros(3), np.array([150.0, -225.0, 75.0]), None


def rocking_block(length: float = 1.0, height: float = 0.5) -> Start:
    """A block without friction that falls from 60 degrees on one corner (mechanics/RockingBlock)."""
    spec = sr.MechanismSpec(name="rocking block", gravity=(0, -G, 0))
    inertia = (length**2 + height**2) / 12
    spec.body("block", joint=sr.Planar("z"), mass=1.0, inertia=(inertia,) * 3)
    a, b = length / 2, height / 2
    spec.surface("block", "block", sr.Profile([(-a, -b), (a, -b), (a, b), (-a, b)]), restitution=0.8)
    spec.surface("floor", "ground", sr.HalfSpace("y"), friction=0.0).contact("floor", "block")
    angle = np.pi / 3
    q = np.array([a * np.cos(angle) - b * np.sin(angle), a * np.sin(angle) + b * np.cos(angle), angle])
    return spec.compile(), q, np.zeros(3), None

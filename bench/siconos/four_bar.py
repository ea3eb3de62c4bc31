"""A four-bar with play in three of its pins, driven along 6 sin(0.75 pi t).

mechanics/FourBarLinkageWith3clearance of siconos-tutorials. The law of
the drive is that of the example: computed torque of the four-bar without play, and a correction.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import sarrus as sr

Array = NDArray[np.float64]
G = 9.81
L1, L2, L3, L0 = 1.0, 4.0, 2.5, 3.0  # crank, rod, rocker, ground [m]; each bar has 1 kg
J1, J2, J3 = (length**2 / 12 for length in (L1, L2, L3))
PIN, HOLE = 0.055, 0.06  # [m]
GAIN, RATE, SWING, FAST = 200.0, 10.0, 6.0, 0.75 * np.pi  # N m s/rad, 1/s, rad, rad/s
START = (
    1.570823772407980, 1.876454585097650, 1.691962091335582, 0.3532842020624460,
    L0 + 0.3764686197082958, 1.191962183453451, 1.264872058968431,
)  # fmt: skip


def hole(slit: float = 1e-5, outside: float = 0.1) -> sr.Profile:
    """A hole as an outline: a ring with a slit."""

    def at(radius: float, side: int) -> tuple[float, float]:
        angle = side * slit / (2 * radius)
        return radius * np.cos(angle), radius * np.sin(angle)

    def bulge(radius: float, side: int) -> float:
        return side * float(np.tan((np.pi - slit / (2 * radius)) / 4))

    out, back = bulge(outside, 1), bulge(HOLE, -1)
    ring = [(*at(outside, 1), out), (-outside, 0.0, out), at(outside, -1)]
    return sr.Profile([*ring, (*at(HOLE, -1), back), (-HOLE, 0.0, back), at(HOLE, 1)])


def four_bar() -> tuple[sr.Mechanism, Array, Array, object]:
    """Crank on the ground; rod and rocker are free in the plane, but for three pins with 5 mm of play."""
    spec = sr.MechanismSpec(name="four-bar with play", gravity=(0, -G, 0))
    spec.body("crank", joint=sr.Revolute("z"), mass=1.0, com=(L1 / 2, 0, 0), inertia=(J1,) * 3)
    spec.body("rod", joint=sr.Planar("z"), mass=1.0, inertia=(J2,) * 3)
    spec.body("rocker", joint=sr.Planar("z"), mass=1.0, inertia=(J3,) * 3)
    pin = sr.Cylinder(PIN, 0.1)
    for name, inner, x_inner, outer, x_outer in (
        ("A", "crank", L1, "rod", -L2 / 2), ("B", "rod", L2 / 2, "rocker", L3 / 2),
        ("C", "rocker", -L3 / 2, "ground", L0),
    ):  # fmt: skip
        spec.surface(f"{name} pin", inner, pin, at=sr.Pose((x_inner, 0, 0)), friction=0.1)
        spec.surface(f"{name} hole", outer, hole(), at=sr.Pose((x_outer, 0, 0)))
        spec.contact(f"{name} pin", f"{name} hole")
    return spec.compile(), np.array(START), np.zeros(7), drive


def drive(t: float, q: Array, v: Array) -> Array:
    """Generalized forces: the torque on the crank."""
    tau = np.zeros(7)
    tau[0] = torque(t, q[0], v[0])
    return tau


def torque(t: float, crank: float, speed: float) -> float:
    """Of the drive [N m], for the crank's angle and speed."""
    rod, rocker = closed(crank)
    s = np.sin(rod - rocker)
    to_rod, to_rocker = L1 * np.sin(rocker - crank) / (L2 * s), L1 * np.sin(rod - crank) / (L3 * s)
    across = np.cos(rod - rocker) / s
    rod_rate = -L1 * np.cos(rocker - crank) / (L2 * s) - across * to_rod**2
    rod_rate += L1 * np.sin(rod - crank) / (L2 * s * s) * to_rocker
    rocker_rate = -L1 * np.cos(rod - crank) / (L3 * s) - L1 * np.sin(rocker - crank) / (L3 * s * s) * to_rod
    rocker_rate += across * to_rocker**2
    cosine, sine, product = np.cos(crank - rod), np.sin(rod - crank), 0.5 * L1 * L2
    j1, j2, j3 = (J1 + 1.25 * L1**2) / 2, (J2 + 0.25 * L2**2) / 2, (J3 + 0.25 * L3**2) / 2
    inertia = 2 * (j1 + j2 * to_rod**2 + j3 * to_rocker**2 + product * cosine * to_rod)
    bias = 2 * j2 * to_rod * rod_rate + 2 * J3 * to_rocker * rocker_rate
    bias += product * (cosine * rod_rate + to_rod * (sine - to_rod * sine))
    weight = 1.5 * L1 * np.cos(crank) + 0.5 * (L2 * to_rod * np.cos(rod) + L3 * to_rocker * np.cos(rocker))
    wish, wished = SWING * np.sin(FAST * t), SWING * FAST * np.cos(FAST * t)
    late, slow = crank - wish, speed - wished
    ahead = -SWING * FAST**2 * np.sin(FAST * t) - RATE * slow
    return float(
        inertia * ahead + bias * speed * (speed - RATE * late) - GAIN * (slow + RATE * late) + G * weight
    )


def closed(crank: float) -> tuple[float, float]:
    """Angles of rod and rocker without play."""
    x, y = L0 - L1 * np.cos(crank), -L1 * np.sin(crank)
    k1, k2, k3 = 2 * L3 * y, 2 * L3 * x, x * x + y * y + L3**2 - L2**2
    rocker = 2 * np.arctan2(-k1 - np.sqrt(k1 * k1 + k2 * k2 - k3 * k3), k3 - k2)
    return float(np.arctan2(y + L3 * np.sin(rocker), x + L3 * np.cos(rocker))), float(rocker)

"""Robots with linkages for the tests of twins, built here."""

from __future__ import annotations

import sarrus as sr


def ankle(balls: bool = True, base: bool = False) -> sr.Mechanism:
    """A foot on a universal joint, turned by two motors on the shank through cranks and rods.

    Args:
        balls: Whether rods have balls at both ends and can spin, else a universal joint at the crank.
        base: Whether the shank floats.
    """
    spec = sr.MechanismSpec(name="ankle")
    joint = sr.Free() if base else sr.Revolute("y")
    spec.body("shank", joint=joint, mass=2.0, com=(0, 0, -0.15), inertia=(0.02, 0.02, 0.004))
    spec.body(
        "foot", "shank", joint=sr.Universal("y", "x"), at=sr.Pose((0, 0, -0.3)),
        mass=0.8, com=(0.04, 0, -0.04), inertia=(1e-3, 3e-3, 3e-3),
        limits=[(-0.7, 0.5), (-0.4, 0.4)], damping=0.05,
    )  # fmt: skip
    for side, y in (("left", 0.05), ("right", -0.05)):
        crank, rod = f"{side}_crank", f"{side}_rod"
        height = -0.08 if side == "left" else -0.14
        spec.body(
            crank, "shank", joint=sr.Revolute("y"), at=sr.Pose((0, y, height)), mass=0.1, com=(-0.02, 0, 0),
            inertia=(1e-5, 3e-5, 3e-5), armature=0.02, damping=0.1, limits=(-1.2, 1.2),
        )  # fmt: skip
        held = sr.Spherical() if balls else sr.Universal("x", "y")
        length = 0.3 + height
        spec.body(
            rod, crank, joint=held, at=sr.Pose((-0.05, 0, 0)), mass=0.15, com=(0, 0, -length / 2),
            inertia=(1e-3, 1e-3, 1e-6),
        )  # fmt: skip
        ends = {"at_a": sr.Pose((0, 0, -length)), "at_b": sr.Pose((-0.05, y, 0))}
        spec.close(f"{side}_end", rod, "foot", sr.Spherical(), **ends)
    if not base:
        spec.actuate("shank", limits=(-80, 80))
    spec.actuate("left_crank", limits=(-40, 40)).actuate("right_crank", limits=(-40, 40))
    return spec.compile()


def knee() -> sr.Mechanism:
    """A knee turned through a four-bar by a motor on the thigh; the hip has a motor of its own."""
    spec = sr.MechanismSpec(name="knee")
    spec.body("thigh", joint=sr.Revolute("y"), mass=4.0, com=(0, 0, -0.2), inertia=(0.06, 0.06, 0.01))
    spec.body(
        "shank", "thigh", joint=sr.Revolute("y"), at=sr.Pose((0, 0, -0.4)), mass=2.0, com=(0, 0, -0.2),
        inertia=(0.03, 0.03, 0.005), limits=(-0.3, 1.4),
    )  # fmt: skip
    spec.body(
        "crank", "thigh", joint=sr.Revolute("y"), at=sr.Pose((0, 0, -0.1)), mass=0.2, com=(-0.03, 0, 0),
        inertia=(1e-4, 2e-4, 2e-4), armature=0.03,
    )  # fmt: skip
    spec.body("rod", "crank", joint=sr.Revolute("y"), at=sr.Pose((-0.05, 0, 0)), mass=0.3, com=(0, 0, -0.15),
              inertia=(3e-3, 3e-3, 1e-5))  # fmt: skip
    ends = {"at_a": sr.Pose((-0.015, 0, -0.3)), "at_b": sr.Pose((-0.065, 0, 0))}
    spec.close("end", "rod", "shank", sr.Revolute("y"), **ends)
    spec.actuate("thigh", limits=(-100, 100)).actuate("crank", limits=(-60, 90))
    return spec.compile()


def slider_ankle() -> sr.Mechanism:
    """A foot turned by two linear actuators, a pushing rod on either side: motors are displacements."""
    spec = sr.MechanismSpec(name="slider ankle")
    spec.body("shank", joint=sr.Revolute("y"), mass=2.0, com=(0, 0, -0.15), inertia=(0.02, 0.02, 0.004))
    spec.body("foot", "shank", joint=sr.Universal("y", "x"), at=sr.Pose((0, 0, -0.3)),
              mass=0.8, com=(0.04, 0, -0.04), inertia=(1e-3, 3e-3, 3e-3))  # fmt: skip
    for side, y in (("left", 0.05), ("right", -0.05)):
        at = sr.Pose((-0.06, y, -0.02))
        spec.body(f"{side}_tube", "shank", joint=sr.Universal("y", "x"), at=at, mass=0.2, com=(0, 0, -0.05),
                  inertia=(2e-4, 2e-4, 2e-5))  # fmt: skip
        spec.body(f"{side}_ram", f"{side}_tube", joint=sr.Prismatic("z"), at=sr.Pose((0, 0, -0.28)), mass=0.1,
                  com=(0, 0, 0.05), inertia=(1e-4, 1e-4, 1e-5), armature=3.0)  # fmt: skip
        spec.close(f"{side}_end", f"{side}_ram", "foot", sr.Spherical(), at_b=sr.Pose((-0.06, y, 0)))
        spec.actuate(f"{side}_ram", limits=(-900, 700))
    return spec.actuate("shank").compile()

"""Mechanisms whose constraints change while they move."""

from __future__ import annotations

import numpy as np

import sarrus as sr
from sarrus.library.plane_geometry import heading, rotated
from sarrus.library.walking import _jansen_points

G = 9.81


def falling_mass() -> sr.Mechanism:
    """Two kilograms over a floor."""
    spec = sr.MechanismSpec(name="drop")
    spec.body("mass", joint=sr.Prismatic("z"), mass=2.0)
    spec.constrain("floor", sr.PointOnPlane("ground", (0, 0, 0), "mass", (0, 0, 0), "z"))
    return spec.compile()


def table() -> sr.Mechanism:
    """A rigid table of 4 kg with four feet: four rows, three of them independent."""
    spec = sr.MechanismSpec(name="table")
    spec.body("top", joint=sr.Free(), mass=4.0, inertia=(0.3, 0.3, 0.5))
    for i, (x, y) in enumerate([(0.5, 0.5), (0.5, -0.5), (-0.5, 0.5), (-0.5, -0.5)]):
        spec.constrain(f"leg{i}", sr.PointOnPlane("ground", (0, 0, 0), "top", (x, y, -0.7), "z"))
    return spec.compile()


def two_bars(gravity: float = G) -> sr.Mechanism:
    """Two hinged bars whose tips can be pinned together: a four-bar in two pieces."""
    spec = sr.MechanismSpec(gravity=(0.0, -gravity, 0.0), name="two_bars")
    bar = {"mass": 1.0, "inertia": (0.0, 0.1, 0.1)}
    spec.body("left", joint=sr.Revolute("z"), com=(0.5, 0, 0), **bar)
    spec.body("rod", parent="left", joint=sr.Revolute("z"), at=sr.Pose((1, 0, 0)), com=(0.5, 0, 0), **bar)
    spec.body("right", joint=sr.Revolute("z"), at=sr.Pose((2, 0, 0)), com=(-0.5, 0, 0), **bar)
    spec.close("pin", "rod", "right", sr.Revolute("z"), at_a=sr.Pose((1, 0, 0)), at_b=sr.Pose((-1, 0, 0)))
    return spec.compile()


def three_arm_grip() -> tuple[sr.Mechanism, np.ndarray]:
    """A box in the plane and three two-joint arms that weld their hands to it; half of the rows redundant."""
    spec = sr.MechanismSpec(gravity=(0.0, -G, 0.0), name="three_arm_grip")
    spec.body("box", joint=sr.Planar("z"), mass=2.0, inertia=(0.01, 0.01, 0.02))
    q = [0.0, 0.0, 0.0]
    for k in range(3):
        angle = 2.0 * np.pi * k / 3.0 + 0.3
        base = sr.Pose((0.8 * np.cos(angle), 0.8 * np.sin(angle), 0.0))
        upper = {"mass": 0.5, "com": (0.25, 0, 0), "inertia": (0.0, 0.01, 0.01)}
        lower = {"mass": 0.3, "com": (0.2, 0, 0), "inertia": (0.0, 0.005, 0.005)}
        spec.body(f"upper{k}", joint=sr.Revolute("z"), at=base, **upper)
        at = sr.Pose((0.5, 0, 0))
        spec.body(f"lower{k}", parent=f"upper{k}", joint=sr.Revolute("z"), at=at, **lower)
        spec.close(f"hand{k}", "box", f"lower{k}", joint=sr.Fixed(), at_b=sr.Pose((0.4, 0, 0)))
        q += [angle + np.pi - 0.4, 0.9]
    return spec.compile(), np.array(q)


def walker() -> tuple[sr.Mechanism, np.ndarray]:
    """Two of Jansen's legs on one crank, feet up, over two sprung steps that the feet push down."""
    legs = sr.library.jansen_leg(2, angle=np.pi)
    spec = sr.MechanismSpec.from_dict(sr.MechanismSpec.from_model(legs.model).to_dict())
    for tag, angle, mirror in (("1", np.pi, 1.0), ("2", 2.0 * np.pi, -1.0)):
        p = _jansen_points(angle, mirror)
        foot = rotated(-heading(p["V"], p["T"]), p["F"] - p["V"])
        step, height = f"step{tag}", sr.Pose((0.0, -0.9, 0.0))
        spec.body(step, joint=sr.Prismatic("y"), at=height, mass=3.0, limits=(-0.2, 0.0), damping=20.0)
        spec.force(f"spring{tag}", sr.JointSpring(step, 2000.0, rest=0.03))
        plane = sr.PointOnPlane(step, (0, 0, 0), f"foot{tag}", (*foot, 0.0), "y")
        spec.constrain(f"tread{tag}", plane)
    return spec.compile(), np.append(legs.default.q, [0.0, 0.0])


def rod() -> tuple[sr.Mechanism, np.ndarray]:
    """A rod in the air whose ends stick to the floor where they land."""
    spec = sr.MechanismSpec(name="rod")
    spec.body("rod", joint=sr.Free(), mass=1.0, inertia=(0.01, 0.083, 0.083))
    for name, x in (("left", -0.5), ("right", 0.5)):
        spec.close(name, "ground", "rod", joint=sr.Spherical(), at_b=sr.Pose((x, 0.0, 0.0)))
    return spec.compile(), np.array([0.3, 0.1, 1.0, *sr.Pose(rpy=(0.0, 0.5, 0.2)).quat])

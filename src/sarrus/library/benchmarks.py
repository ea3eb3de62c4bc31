"""Benchmark problems of the multibody community: N-four-bar, Andrews, Bricard, flyball governor [IFToMM]."""

from __future__ import annotations

import math

import numpy as np

from ..arrays import count, one_of
from ..mechanism.mechanism import Mechanism
from ..mechanism.spec import MechanismSpec
from ..models.base.pose import Pose
from ..models.kinds.forces import ConstantWrench, PointSpring
from ..models.tree.joints import Fixed, Prismatic, Revolute
from .argument_checks import checked
from .default_state import compile_at
from .mass_properties import Mass, bar, cuboid, point
from .plane_geometry import HINGE, pin

# Andrews' mechanism: body, parent, joint in the parent [m], centre of mass [m], mass [kg], inertia [kg m^2]
ANDREWS_BODIES = (
    ("K1", "ground", (0.0, 0.0), (0.00092, 0.0), 0.04325, 2.194e-6),
    ("K2", "K1", (0.007, 0.0), (-0.0115, 0.0), 0.00365, 4.410e-7),
    ("K3", "ground", (-0.03635, 0.03273), (0.01043, -0.01874), 0.02373, 5.255e-6),
    ("K5", "ground", (-0.06934, -0.00227), (0.02308, 0.00916), 0.07050, 1.169e-5),
    ("K4", "K5", (0.04, 0.0), (0.0, -0.00579), 0.00706, 5.667e-7),
    ("K7", "ground", (-0.06934, -0.00227), (-0.00449, -0.01228), 0.05498, 1.912e-5),
    ("K6", "K7", (0.0, -0.04), (0.00579, 0.0), 0.00706, 5.667e-7),
)
# Angles in the order of the bodies above: beta, Theta, gamma, delta, Phi, epsilon, Omega [rad]
ANDREWS_STARTS = {
    "iftomm": (-0.0620, 2.1459e-4, 0.455280, 0.487365, 0.222668, 1.230547, -0.222668),
    "classical": (
        -0.0617138900142764,
        0.0,
        0.455279819163070,
        0.487364979543843,
        0.222668390165886,
        1.230547444549821,
        -0.222668390165886,
    ),
}
# Bricard's mechanism: start of each rod [m], direction of the rod, hinge axis at its start
BRICARD_RODS = (
    ((0.0, 0.0, 0.0), "x", "y"),
    ((1.0, 0.0, 0.0), "-y", "z"),
    ((1.0, -1.0, 0.0), "z", "x"),
    ((1.0, -1.0, 1.0), "-x", "y"),
    ((0.0, -1.0, 1.0), "y", "z"),
)


@checked
def n_four_bar(n: int = 2, gravity: float = 9.81) -> Mechanism:
    """Row of n four-bars from 2n + 1 equal links; n more freedoms whenever all lie flat (IFToMM A02).

    Uniform thin links of 1 m and 1 kg. Starts with the uprights vertical and their tips moving at +1 m/s.

    Args:
        n: Number of four-bars.
        gravity: Gravity along -y [m/s^2].
    """
    count(n, "n of n_four_bar")
    spec = MechanismSpec(gravity=(0.0, -gravity, 0.0), name="n_four_bar")
    for i in range(n + 1):
        spec.body(f"link{i}", joint=HINGE, at=Pose((float(i), 0.0, 0.0)), **bar(1.0, 1.0, "y"))
        if i < n:
            top = Pose((0.0, 1.0, 0.0))
            spec.body(f"coupler{i}", parent=f"link{i}", joint=HINGE, at=top, **bar(1.0, 1.0))
    for i in range(n):
        pin(spec, f"pin{i}", f"link{i + 1}", (0.0, 1.0), f"coupler{i}", (1.0, 0.0))
    v = np.ones(2 * n + 1)  # couplers turn back as fast as the uprights turn forward: they translate
    v[::2] = -1.0
    return compile_at(spec, np.zeros(2 * n + 1), v)


@checked
def andrews(start: str = "iftomm") -> Mechanism:
    """Andrews' squeezing mechanism: seven bodies and three loops within centimetres (IFToMM A03).

    Bodies are listed as K1, K2, K3, K5, K4, K7, K6 because K4 rides on K5 and K6 on K7; angles of K2, K4,
    K6 are relative. No gravity; a torque of 0.033 N m drives K1, a spring pulls K3 towards the ground.
    Starts at rest.

    Args:
        start: "iftomm" (beta = -0.0620) or "classical" ([Hairer1996], beta = -0.0617138900142764).
    """
    one_of(start, "start of andrews", tuple(ANDREWS_STARTS))
    spec = MechanismSpec(gravity=(0.0, 0.0, 0.0), name="andrews")
    for name, parent, at, com, mass, inertia in ANDREWS_BODIES:
        solid = Mass(mass=mass, com=(*com, 0.0), inertia=(0.5 * inertia, 0.5 * inertia, inertia))
        spec.body(name, parent=parent, joint=HINGE, at=Pose((*at, 0.0)), **solid)
    for name, body, p in (("E2", "K2", (-0.028, 0.0)), ("E4", "K4", (0.0, -0.02)), ("E6", "K6", (0.02, 0.0))):
        pin(spec, name, "K3", (0.0, -0.035), body, p)
    spec.force("drive", ConstantWrench("K1", (0.0, 0.0, 0.0, 0.0, 0.0, 0.033), (0.0, 0.0, 0.0)))
    spec.force(
        "spring",
        PointSpring("ground", (0.014, 0.072, 0.0), "K3", (0.02, -0.018, 0.0), stiffness=4530.0, rest=0.07785),
    )
    spec.actuate("K1")
    return compile_at(spec, ANDREWS_STARTS[start], fixed={"K1": ANDREWS_STARTS[start][0]})


@checked
def bricard(section: float = 0.0, gravity: float = 9.81) -> Mechanism:
    """Bricard's six-hinge loop of five rods, movable although counting rows says rigid (IFToMM A04).

    Rods of 1 m and 1 kg along the edges of a cube, released at rest; every angle is zero there. P3, the
    point that the benchmark reports, is the origin of body "rod3".

    Args:
        section: Side of the rods' square section [m]; 0 for the benchmark's slender rods.
        gravity: Gravity along -y [m/s^2].
    """
    spec = MechanismSpec(gravity=(0.0, -gravity, 0.0), name="bricard")
    parent, origin = "ground", np.zeros(3)
    for i, (begin, along, axis) in enumerate(BRICARD_RODS):
        name, at = f"rod{i + 1}", np.subtract(begin, origin)
        spec.body(name, parent=parent, joint=Revolute(axis), at=Pose(at), **bar(1.0, 1.0, along, section))
        parent, origin = name, np.array(begin)
    end = (0.0, 0.0, 1.0)
    spec.close("hinge6", "ground", "rod5", joint=Revolute("x"), at_a=Pose(end), at_b=Pose((0.0, 1.0, 0.0)))
    return compile_at(spec, np.zeros(5))


@checked
def flyball_governor(stiffness: float = 8e5, damping: float = 4e4, gravity: float = 9.81) -> Mechanism:
    """Stiff flyball governor: shaft, two swinging balls and a slider on springs (IFToMM A05).

    No loop, but spring-dampers that make it stiff. Coordinates: shaft angle, height s of the slider, rod
    angles below the horizontal. Starts at s = 0.5 m, rods at 30 degrees, spinning at 2 pi rad/s.

    Args:
        stiffness: Stiffness of each spring [N/m].
        damping: Damping of each spring [N s/m].
        gravity: Gravity along -z [m/s^2].
    """
    spec = MechanismSpec(gravity=(0.0, 0.0, -gravity), name="flyball_governor")
    spec.body("shaft", joint=HINGE, **bar(0.3, 1.0, "z", 0.01))
    spec.body("slider", parent="shaft", joint=Prismatic("z"), **cuboid(3.0, (0.1, 0.1, 0.1)))
    for side, x, yaw in (("right", 0.05, 0.0), ("left", -0.05, math.pi)):
        rod, top = f"rod_{side}", Pose((x, 0.0, 1.0), rpy=(0.0, 0.0, yaw))
        spec.body(rod, parent="shaft", joint=Revolute("y"), at=top, **bar(0.3, 1.0, section=0.01))
        spec.body(f"ball_{side}", parent=rod, joint=Fixed(), at=Pose((1.0, 0.0, 0.0)), **point(5.0))
        spring = PointSpring(
            "slider", (x, 0.0, 0.0), rod, (0.5, 0.0, 0.0), stiffness=stiffness, rest=0.5, damping=damping
        )
        spec.force(f"spring_{side}", spring)
    return compile_at(spec, [0.0, 0.5, math.pi / 6.0, math.pi / 6.0], [2.0 * math.pi, 0.0, 0.0, 0.0])

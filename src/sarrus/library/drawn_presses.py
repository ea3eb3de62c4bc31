"""Machines that press, described as they are drawn: a toggle clamp and a knuckle press of six bars."""

from __future__ import annotations

import numpy as np

from ..mechanism.describe.force_measures import ForceIn
from ..mechanism.describe.measures import Angle, Position
from ..mechanism.mechanism import Mechanism
from ..mechanism.spec import MechanismSpec
from ..models.base.pose import Pose
from ..models.kinds.forces import ConstantWrench
from ..models.kinds.table_forces import PointSpringTable
from ..models.shapes.shapes import Box
from ..models.tree.joints import Prismatic
from .argument_checks import checked
from .plane_geometry import HINGE, DrawnPoint, drawn_circles_meet

# Toggle clamp [m]: pins of the arm and of the link on the base, pin of the handle on the arm, pad, hand
ARM_PIN, LINK_PIN, HANDLE_PIN, PAD, HAND = (0, 0), (-0.05, -0.005), (0.01, 0.03), (0.07, -0.01), (-0.04, 0.16)
RUBBER = 0.02  # height of the workpiece's rubber without load [m]


@checked
def toggle_clamp(
    over_centre: float = 0.001, squeeze: float = 0.003, stiffness: float = 4e5, gravity: float = 9.81
) -> Mechanism:
    """Toggle clamp that holds by itself: handle and link have passed their dead centre; mobility 1.

    A four-bar of arm, handle and link on a base. Clamped, as drawn, the knee between handle and link has
    passed the line from the handle's to the link's pin by `over_centre`, where a stop would hold it: the
    workpiece presses it against that. "link_pin" is actuated and turns backwards (negative) to open.
    Measures: "pad", the lower end of the spindle, "clamping", the force of the workpiece (negative: it
    pushes), "hand", the end of the handle. `over_centre` and `squeeze` are parameters.

    Args:
        over_centre: Distance of the knee from the line of its neighbours while clamped [m].
        squeeze: How far the pad presses into the workpiece while clamped, more than 2 mm [m].
        stiffness: Of the workpiece, when pressed in by more than 2 mm [N/m].
        gravity: Gravity along -y [m/s^2].
    """
    spec = MechanismSpec(gravity=(0.0, -gravity, 0.0), name="toggle_clamp")
    given = {"over_centre": over_centre, "squeeze": squeeze}
    past, depth = (spec.parameter(name, value) for name, value in given.items())
    (px, py), (qx, qy) = HANDLE_PIN, LINK_PIN
    far = float(np.hypot(px - qx, py - qy))
    knee = (0.5 * (px + qx) - past * (py - qy) / far, 0.5 * (py + qy) + past * (px - qx) / far)
    P: dict[str, DrawnPoint] = {
        "arm_pin": (*ARM_PIN, 0), "link_pin": (*LINK_PIN, 0), "handle_pin": (*HANDLE_PIN, 0),
        "knee": (*knee, 0), "pad": (*PAD, 0), "hand": (*HAND, 0),
        "table": (PAD[0], PAD[1] - RUBBER + depth, 0),
    }  # fmt: skip
    for name, xyz in P.items():
        spec.point(name, xyz)
    spec.link("arm", "handle_pin", "arm_pin", "pad", mass=0.2)
    spec.link("handle", "handle_pin", "knee", "hand", mass=0.15).link("link", "knee", "link_pin", mass=0.03)
    for name, a, b in (
        ("arm_pin", "ground", "arm"), ("handle_pin", "arm", "handle"), ("knee", "handle", "link"),
        ("link_pin", "ground", "link"),
    ):  # fmt: skip
        spec.joint(name, a, b, HINGE, at=name)
    heights = [
        part * RUBBER for part in (0.0, 0.9, 0.96, 1.04, 2.0, 10.0)
    ]  # straight up to 0.9, zero from 1.04 on
    pushes = [-stiffness * max(RUBBER - x, 0.0) for x in heights]
    spec.force("workpiece", PointSpringTable("arm", "pad", "ground", "table", heights, pushes))
    spec.actuate("link_pin")
    spec.measure("pad", Position("arm", "pad")).measure("clamping", ForceIn("workpiece"))
    return spec.measure("hand", Position("handle", "hand")).compile()


# Knuckle press [m]: shaft of the crank, upper pin of the knee
SHAFT, TOP = (-0.6, 0.5), (0.0, 0.9)


@checked
def six_bar_press(
    crank: float = 0.08,
    rod: float = 0.52,
    upper: float = 0.35,
    lower: float = 0.35,
    load: float = 0.0,
    gravity: float = 9.81,
) -> Mechanism:
    """Knuckle press of six bars: a crank straightens a knee, which presses a ram down; mobility 1.

    Crank, rod and upper link are a crank-rocker four-bar; lower link and ram follow the knee. Near its
    lowest place the ram hardly moves and presses with many times the force of the crank pin. "crank_shaft"
    is actuated. Measures: "ram", its lower end; "knee", the angle by which the knee is bent [rad]. All but
    gravity are parameters.

    Args:
        crank: Length of the crank [m].
        rod: From the crank to the knee [m].
        upper: From the frame to the knee [m].
        lower: From the knee to the ram [m].
        load: Force on the ram, upwards [N].
        gravity: Gravity along -y [m/s^2].
    """
    spec = MechanismSpec(gravity=(0.0, -gravity, 0.0), name="six_bar_press")
    given = {"crank": crank, "rod": rod, "upper": upper, "lower": lower, "load": load}
    r, length, a, b, force = (spec.parameter(name, value) for name, value in given.items())
    crank_pin = (SHAFT[0], SHAFT[1] + r)
    knee = drawn_circles_meet(TOP, a, crank_pin, length)
    ram = (0.0, knee[1] - np.sqrt(b * b - knee[0] * knee[0]))
    P: dict[str, DrawnPoint] = {
        "shaft": (*SHAFT, 0), "crank_pin": (*crank_pin, 0), "top": (*TOP, 0), "knee": (*knee, 0),
        "ram": (*ram, 0),
    }  # fmt: skip
    for name, xyz in P.items():
        spec.point(name, xyz)
    spec.link("crank", "shaft", "crank_pin", mass=8.0).link("rod", "crank_pin", "knee", mass=15.0)
    spec.link("upper_link", "top", "knee", mass=12.0).link("lower_link", "knee", "ram", mass=12.0)
    spec.part("ram", at=Pose((*ram, 0)), shape=Box((0.2, 0.12, 0.2), mass=40.0, at=Pose((0, -0.06, 0))))
    for name, at, one, two in (
        ("crank_shaft", "shaft", "ground", "crank"), ("crank_pin", "crank_pin", "crank", "rod"),
        ("top", "top", "ground", "upper_link"), ("knee_rod", "knee", "rod", "upper_link"),
        ("knee", "knee", "upper_link", "lower_link"), ("ram_pin", "ram", "lower_link", "ram"),
    ):  # fmt: skip
        spec.joint(name, one, two, HINGE, at=at)
    spec.joint("guide", "ground", "ram", Prismatic("y"), at="ram")
    spec.force("load", ConstantWrench("ram", (0, force, 0, 0, 0, 0), "ram"))
    spec.actuate("crank_shaft").measure("ram", Position("ram", "ram"))
    return spec.measure("knee", Angle("upper_link", "lower_link")).compile()

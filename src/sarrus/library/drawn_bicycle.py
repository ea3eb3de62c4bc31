"""A bicycle on two rolling wheels, described as drawn, with the data of the benchmark [Meijaard2007]."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..constraints.rolling import Rolling
from ..mechanism.describe.measures import Angle, Position
from ..mechanism.mechanism import Mechanism
from ..mechanism.spec import MechanismSpec
from ..models.base.pose import Pose
from ..models.tree.joints import Free, Revolute
from .argument_checks import checked
from .default_state import compile_at

# [Meijaard2007] table 1, with z up instead of down: centre of mass in the drawing (x, z) [m], mass [kg],
# inertia about it (xx, yy, zz, xz) [kg m^2]; of wheels radius, mass, inertia
FRAME = (0.3, 0.9), 85.0, (9.2, 11.0, 2.8, -2.4)  # with its rider
FORK = (0.9, 0.7), 4.0, (0.05892, 0.06, 0.00708, 0.00756)  # with the handlebar
REAR = 0.3, 2.0, (0.0603, 0.12, 0.0603)
FRONT = 0.35, 3.0, (0.1405, 0.28, 0.1405)
HEAD = 0.8  # height of the bearing of the fork [m]


@checked
def bicycle(
    speed: float = 5.0,
    wheelbase: float = 1.02,
    trail: float = 0.08,
    tilt: float = math.pi / 10,
    gravity: float = 9.81,
) -> Mechanism:
    """Bicycle with a rider who lets go of the handlebar: two wheels that roll; it balances by itself.

    x forward, y left, z up. Two rows for each wheel restrict velocities only. The start is upright and
    straight ahead; with the data of the benchmark [Meijaard2007] that is stable between the weave speed of
    4.292 m/s and the capsize speed of 6.024 m/s. "steering" and "rear_axle" are actuated. Measures: "lean"
    (positive to the right) and "steer" (positive to the left) [rad], "rear" and "front", the axles.
    `wheelbase`, `trail` and `tilt` are parameters; a changed bicycle starts at rest, unless it is given v.

    Args:
        speed: Of the start [m/s].
        wheelbase: Distance of the points where the wheels touch the ground [m].
        trail: How far the front wheel touches the ground behind the axis of the fork [m].
        tilt: Of that axis against the vertical, backwards [rad].
        gravity: Gravity along -z [m/s^2].
    """
    spec = MechanismSpec(gravity=(0.0, 0.0, -gravity), name="bicycle")
    given = {"wheelbase": wheelbase, "trail": trail, "tilt": tilt}
    w, c, angle = (spec.parameter(name, value) for name, value in given.items())
    spec.point("rear", (0, 0, REAR[0])).point("front", (w, 0, FRONT[0]))
    spec.point("head", (w + c - HEAD * np.tan(angle), 0, HEAD))
    axis = (-np.sin(angle), 0.0, np.cos(angle))
    for name, (com, mass, inertia) in {"frame": FRAME, "fork": FORK}.items():
        spec.part(name, mass=mass, com=(com[0], 0.0, com[1]), inertia=_matrix(*inertia))
    for name, (radius, mass, moments) in {"rear": REAR, "front": FRONT}.items():
        at = Pose((w if name == "front" else 0.0, 0.0, radius))
        spec.part(f"{name}_wheel", at=at, mass=mass, inertia=moments)
        spec.constrain(f"{name}_contact", Rolling(f"{name}_wheel", radius, axis="y", normal="z"))
    spec.joint("place", "ground", "frame", Free(), at=(0.0, 0.0, 0.0))
    spec.joint("rear_axle", "frame", "rear_wheel", Revolute("y"), at="rear")
    spec.joint("steering", "frame", "fork", Revolute(axis), at="head")
    spec.joint("front_axle", "fork", "front_wheel", Revolute("y"), at="front")
    spec.actuate("steering").actuate("rear_axle")
    spec.measure("lean", Angle("frame", "ground", (-1.0, 0.0, 0.0), "z", "z"))
    spec.measure("steer", Angle("frame", "fork", axis))
    spec.measure("rear", Position("rear_wheel", "rear")).measure("front", Position("front_wheel", "front"))
    ahead = {"place.vx": speed, "place.wx": 0.0, "steering": 0.0}
    return compile_at(spec, [0.0] * 6 + [1.0] + [0.0] * 3, rates=ahead)


def _matrix(xx: float, yy: float, zz: float, xz: float) -> list[list[Any]]:
    return [[xx, 0.0, xz], [0.0, yy, 0.0], [xz, 0.0, zz]]

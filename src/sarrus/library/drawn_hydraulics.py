"""Machines with states of their own and forces by formulas: a hydraulic lift, a car on tyres."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..mechanism.describe.force_measures import ForceIn
from ..mechanism.describe.measures import Position
from ..mechanism.mechanism import Mechanism
from ..mechanism.spec import MechanismSpec
from ..models.kinds.body_force import BodyForce
from ..models.kinds.formula_force import FormulaForce, recorded
from ..models.shapes.shapes import Box
from ..models.tree.joints import Fixed, Planar
from .argument_checks import checked
from .plane_geometry import HINGE

FOOT, TIP = (0.0, 0.0, 0.0), (1.6, 0.5, 0.0)
BASE, EYE = (0.6, -0.5, 0.0), (0.96, 0.3, 0.0)
CYLINDER = (12.0, 8.0)  # masses of barrel and rod [kg]
ROAD = 2e4  # what the drive adds for each m/s that is missing [N s/m]


@checked
def hydraulic_lift(
    load: float = 250.0,
    area: float = 2e-3,
    volume: float = 1.5e-3,
    stiffness: float = 1.2e9,
    flow: float = 0.0,
    gravity: float = 9.81,
) -> Mechanism:
    """Lift arm on a hydraulic cylinder, whose pressure is a state of first order; mobility 1.

    p' = K / V (Q - A x'), x the stroke of the piston. It starts in balance, where the pressure times the area
    holds the load. On the closed valve (flow 0) the arm swings on the column of oil, whose stiffness is
    K A^2 / V; a flow Q drives the piston with Q / A. Measures: "piston", the force in the cylinder, and
    "height" of the load. `load`, `area`, `volume` and `flow` are parameters.

    Args:
        load: Mass at the end of the arm [kg].
        area: Of the piston [m^2].
        volume: Of the oil behind it [m^3].
        stiffness: Bulk modulus K of the oil [Pa].
        flow: Into the cylinder [m^3/s].
        gravity: Gravity along -y [m/s^2].
    """
    spec = MechanismSpec(gravity=(0.0, -gravity, 0.0), name="hydraulic_lift")
    m, A, V, Q = (
        spec.parameter(name, value)
        for name, value in (("load", load), ("area", area), ("volume", volume), ("flow", flow))
    )
    for name, xyz in (("foot", FOOT), ("tip", TIP), ("base", BASE), ("eye", EYE)):
        spec.point(name, xyz)
    spec.link("arm", "foot", "eye", "tip", mass=0.0)
    spec.part("weight", mass=m, com=TIP)
    spec.joint("seat", "arm", "weight", Fixed(), at="tip")
    spec.joint("pin", "ground", "arm", HINGE, at="foot")
    spec.cylinder("cylinder", "ground", "base", "arm", "eye", axis="z", mass=CYLINDER).actuate()
    lever, by_cylinder = _lever_and_weight()
    p = spec.state(
        "pressure",
        stiffness / V * (Q - A * spec.speed("cylinder")),
        start=gravity * (m * TIP[0] + by_cylinder) / (lever * A),
        size=1e6,
    )
    spec.force("oil", FormulaForce([A * p], coordinate="cylinder"))
    spec.measure("piston", ForceIn("oil"))
    return spec.measure("height", Position("arm", "tip")).compile()


def _lever_and_weight() -> tuple[float, float]:
    """For each radian of the arm, the stroke [m] and what the weight of the cylinder adds [kg m]."""
    apart = np.subtract(EYE, BASE)[:2]
    length = float(np.linalg.norm(apart))
    along, across = apart / length, np.array([-apart[1], apart[0]]) / length
    eye = np.array([-EYE[1], EYE[0]])
    turns = float(eye @ across) / length
    barrel = 0.3 * length * across[1] * turns
    rod = eye[1] - 0.25 * length * across[1] * turns
    return float(eye @ along), float(CYLINDER[0] * barrel + CYLINDER[1] * rod)


@checked
def tyre_car(
    speed: float = 20.0,
    steer: float = 0.02,
    front: float = 60e3,
    rear: float = 70e3,
    mass: float = 1500.0,
    to_front: float = 1.2,
    to_rear: float = 1.4,
    inertia: float = 2000.0,
) -> Mechanism:
    """Car in the plane on linear tyres, one track, at a speed that its drive keeps; mobility 3.

    The side force of an axle is its stiffness times its slip angle, [Gillespie1992] chapter 6. Steady
    cornering has the yaw rate v d / (l + m v^2 (b / Cf - a / Cr) / l); a car that oversteers (b Cr < a Cf)
    becomes unstable at v^2 = Cf Cr l^2 / (m (a Cf - b Cr)). It starts straight on. Coordinates "car.x",
    "car.y", "car.angle". All but mass and inertia are parameters.

    Args:
        speed: Forward speed v that the drive keeps [m/s].
        steer: Angle d of the front wheels [rad].
        front: Cornering stiffness Cf of the front axle [N/rad].
        rear: The same of the rear axle, Cr.
        mass: Of the car [kg].
        to_front: From the centre of mass to the front axle, a [m].
        to_rear: To the rear axle, b [m].
        inertia: About the vertical axis [kg m^2].
    """
    spec = MechanismSpec(gravity=(0.0, 0.0, 0.0), name="tyre_car", length=1.0)
    given = {
        "speed": speed, "steer": steer, "front": front, "rear": rear, "to_front": to_front,
        "to_rear": to_rear,
    }  # fmt: skip
    v, d, cf, cr, a, b = (spec.parameter(name, value) for name, value in given.items())
    spec.body("car", joint=Planar(), mass=mass, inertia=(0.5 * inertia, 0.6 * inertia, inertia))

    spec.visuals.append(Box((to_front + to_rear, 1.6, 0.6), density=0.0).visual("car"))

    def tyre(stiffness: Any, angle: Any) -> Any:
        def wrench(t: float, pose: Any, twist: Any) -> list[Any]:
            side = -stiffness * (np.arctan2(twist[1], twist[0]) - angle)
            return [-side * np.sin(angle), side * np.cos(angle), 0.0, 0.0, 0.0, 0.0]

        return recorded(wrench)

    def drive(t: float, pose: Any, twist: Any) -> list[Any]:
        return [ROAD * (v - twist[0]), 0.0, 0.0, 0.0, 0.0, 0.0]

    spec.force("front", BodyForce("car", tyre(cf, d), (a, 0.0, 0.0)))
    spec.force("rear", BodyForce("car", tyre(cr, 0.0), (0.0 - b, 0.0, 0.0)))
    spec.force("drive", BodyForce("car", recorded(drive))).actuate()
    mech = spec.compile()
    return mech.with_default(mech.neutral(), [speed, 0.0, 0.0])

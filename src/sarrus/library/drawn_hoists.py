"""Drives of every week: a tackle, a V-belt, a freewheel, a gearbox with an overhung pinion."""

from __future__ import annotations

import math

from ..constraints.gears import Gear
from ..constraints.ropes import Rope
from ..mechanism.describe.force_measures import ForceIn
from ..mechanism.mechanism import Mechanism
from ..mechanism.spec import MechanismSpec
from ..models.base.pose import Pose
from ..models.kinds.bearing_friction import BearingFriction
from ..models.kinds.forces import JointDamper
from ..models.tree.joints import Prismatic, Revolute
from .argument_checks import checked
from .plane_geometry import HINGE

DRUM = 0.15  # radius of the drum of a tackle [m]
PRESSURE = math.radians(20.0)


@checked
def tackle(falls: int = 4, load: float = 800.0, drum: float = 20.0, gravity: float = 9.81) -> Mechanism:
    """Hoist with a tackle: a drum winds up a rope over `falls` strands; mobility 1.

    The rope pulls with load g / falls, the drum needs that times its radius of 0.15 m and winds up `falls`
    times the lift. "drum" is actuated. Measure: "rope", the tension.

    Args:
        falls: Strands on which the load hangs.
        load: Mass of load and hook block [kg].
        drum: Mass of the drum [kg].
        gravity: Gravity along -y [m/s^2].
    """
    spec = MechanismSpec(gravity=(0.0, -gravity, 0.0), name="tackle")
    turning = 0.5 * drum * DRUM**2
    spec.body("drum", joint=HINGE, mass=drum, inertia=(turning, turning, turning))
    spec.body("load", joint=Prismatic("y"), at=Pose((DRUM, -2.0, 0.0)), mass=load)
    spec.constrain("rope", Rope("drum", "load", DRUM, falls)).actuate("drum")
    return spec.measure("rope", ForceIn("rope")).compile()


@checked
def v_belt(
    pretension: float = 400.0,
    friction: float = 0.3,
    groove: float = math.radians(38.0),
    small: float = 0.06,
    large: float = 0.15,
    centres: float = 0.5,
    stiffness: float = 4e5,
    resistance: float = 0.2,
) -> Mechanism:
    """V-belt that stretches and slips between a motor and a machine; mobility 2.

    Strands are in the ratio exp(mu angle / sin(groove / 2)) where it slips (Euler, Eytelwein,
    [Shigley2011] section 17-2), angle that of the belt on the small pulley. "motor" is actuated; "machine"
    turns against a damper. Measures: "on_motor" and "on_machine", the wrenches of the belt on the shafts,
    (6,) in world axes.

    Args:
        pretension: In each strand at rest [N].
        friction: mu between belt and pulleys.
        groove: Angle of the groove [rad].
        small: Pitch radius of the motor's pulley [m].
        large: Of the machine's pulley [m].
        centres: Distance of the shafts [m].
        stiffness: Of each strand [N/m].
        resistance: Damping of the machine [N m s/rad].
    """
    spec = MechanismSpec(gravity=(0.0, 0.0, 0.0), name="v_belt")
    spec.body("motor", joint=HINGE, mass=3.0, inertia=(0.01, 0.01, 0.006))
    spec.body("machine", joint=HINGE, at=Pose((centres, 0.0, 0.0)), mass=20.0, inertia=(0.2, 0.2, 0.25))
    damping = 0.05 * math.sqrt(stiffness)
    spec.elastic_belt(
        "belt",
        "motor",
        "machine",
        small,
        large,
        stiffness=stiffness,
        damping=damping,
        pretension=pretension,
        friction=friction,
        groove=groove,
    )
    spec.force("resistance", JointDamper("machine", resistance)).actuate("motor")
    spec.measure("on_motor", ForceIn("belt_a"))
    return spec.measure("on_machine", ForceIn("belt_b")).compile()


@checked
def freewheel(
    stiffness: float = 2e4, driver: float = 0.02, rotor: float = 0.5, drag: float = 0.1
) -> Mechanism:
    """One-way clutch between a driver and a rotor that may run ahead of it; mobility 2.

    While the clutch holds, both turn as one inertia; when the driver slows down the rotor runs on and loses
    its speed to its own drag alone. "driver" is actuated. Measure: "clutch", its torques on rotor and driver.

    Args:
        stiffness: Of the clutch where it holds [N m/rad].
        driver: Inertia of the driver [kg m^2].
        rotor: Of the rotor [kg m^2].
        drag: Of the rotor's bearings [N m s/rad].
    """
    spec = MechanismSpec(gravity=(0.0, 0.0, 0.0), name="freewheel")
    spec.body("driver", joint=HINGE, mass=2.0, inertia=(driver, driver, driver))
    spec.body("rotor", joint=HINGE, at=Pose((0.0, 0.0, 0.1)), mass=10.0, inertia=(rotor, rotor, rotor))
    damping = 0.2 * math.sqrt(stiffness * driver)
    spec.one_way_clutch("clutch", "rotor", "driver", stiffness=stiffness, damping=damping)
    spec.force("drag", JointDamper("rotor", drag)).actuate("driver")
    return spec.measure("clutch_torque", ForceIn("clutch_torque")).compile()


@checked
def overhung_gearbox(
    overhang: float = 0.06,
    apart: float = 0.12,
    pinion: int = 20,
    wheel: int = 60,
    module: float = 0.004,
    mu: float = 0.05,
    journal: float = 0.02,
) -> Mechanism:
    """Gear pair whose pinion overhangs the two bearings of its shaft; mobility 1.

    The teeth load the near bearing with (1 + overhang / apart) of their force F / cos(20 degrees), the far
    one with overhang / apart of it; both rub with mu on their journals. "shaft" and "output" are actuated.
    Measure: "tooth", the tangential force F.

    Args:
        overhang: From the middle of the teeth to the near bearing [m].
        apart: Distance of the bearings [m].
        pinion: Teeth.
        wheel: Teeth.
        module: Pitch diameter over teeth [m].
        mu: Friction of the journals.
        journal: Their radius [m].
    """
    spec = MechanismSpec(gravity=(0.0, 0.0, 0.0), name="overhung_gearbox")
    distance = 0.5 * module * (pinion + wheel)
    spec.body("shaft", joint=Revolute("z"), mass=1.5, inertia=(4e-3, 4e-3, 1.5e-3))
    spec.body(
        "output", joint=Revolute("z"), at=Pose((distance, 0.0, 0.0)), mass=9.0, inertia=(0.03, 0.03, 0.05)
    )
    spec.constrain("mesh", Gear("shaft", "output", pinion, wheel, module, pressure_angle=PRESSURE))
    middle = -(overhang + 0.5 * apart)
    spec.force("bearings", BearingFriction("shaft", mu, radius=journal, length=apart, middle=middle))
    spec.actuate("shaft").actuate("output")
    return spec.measure("tooth", ForceIn("mesh")).compile()

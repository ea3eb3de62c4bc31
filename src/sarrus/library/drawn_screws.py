"""Screws and worms with friction: a screw jack, a worm-driven hoist."""

from __future__ import annotations

import math

from ..constraints.gears import Gear
from ..constraints.ropes import Rope
from ..constraints.tooth_friction import ToothFriction
from ..mechanism.describe.force_measures import ForceIn, Reaction
from ..mechanism.mechanism import Mechanism
from ..mechanism.spec import MechanismSpec
from ..models.base.pose import Pose
from ..models.kinds.axial_friction import ScrewFriction, ThrustFriction
from ..models.shapes.shapes import Cylinder
from ..models.tree.joints import Helical, Prismatic, Revolute
from .argument_checks import checked

STEEL = 7850.0  # [kg/m^3]


@checked
def screw_jack(
    load: float = 1000.0,
    diameter: float = 0.0275,
    lead: float = 0.005,
    mu: float = 0.08,
    flank: float = math.radians(15.0),
    collar_mu: float = 0.08,
    collar: float = 0.02,
    wheel: float = 0.02,
    gravity: float = 9.81,
) -> Mechanism:
    """Screw jack: a screw on a collar lifts a nut in a guide, and locks itself; mobility 1.

    To lift the load F the screw needs F d/2 (lead + pi mu' d) / (pi d - mu' lead) with mu' = mu / cos(flank),
    [Shigley2011] eq. (8-5), and mu F collar for its collar, which carries the screw, too; to lower it
    F d/2 (pi mu' d - lead) / (pi d + mu' lead), eq. (8-2), and the collar. "shaft" is actuated, "guide" is
    the lift, "thread" turns as much as the shaft, backwards. Measure: "nut", the wrench of the thread on the
    nut, (6,) in world axes.

    Args:
        load: Mass on the nut, with it [kg].
        diameter: Mean diameter of the thread [m].
        lead: Lift of one turn [m].
        mu: Friction of the thread.
        flank: Half of the angle of its profile [rad].
        collar_mu: Friction of the collar.
        collar: Its mean radius [m].
        wheel: Inertia of the handwheel, or of a motor [kg m^2].
        gravity: Gravity along -z [m/s^2].
    """
    spec = MechanismSpec(gravity=(0.0, 0.0, -gravity), name="screw_jack")
    spec.point("foot", (0.0, 0.0, 0.0)).point("nut", (0.0, 0.0, 0.15))
    shaft = Cylinder(0.5 * diameter, 0.4, density=STEEL)
    spec.part("screw", at=Pose((0.0, 0.0, 0.2)), shape=shaft)
    inertia = (load * 0.01,) * 3
    spec.part("table", at=Pose((0.0, 0.0, 0.15)), mass=load, inertia=inertia)
    spec.joint("shaft", "ground", "screw", Revolute("z"), at="foot", armature=wheel)
    spec.joint("thread", "screw", "table", Helical("z", pitch=-lead / (2.0 * math.pi)), at="nut")
    spec.joint("guide", "ground", "table", Prismatic("z"), at="nut")
    spec.force("thread_friction", ScrewFriction("thread", mu, 0.5 * diameter, flank))
    spec.force("collar_friction", ThrustFriction("shaft", collar_mu, collar))
    return spec.actuate("shaft").measure("nut", Reaction("thread", "world")).compile()


@checked
def worm_hoist(
    load: float = 500.0,
    starts: int = 1,
    teeth: int = 40,
    module: float = 0.005,
    diameter: float = 0.05,
    mu: float = 0.1,
    drum: float = 0.12,
    gravity: float = 9.81,
) -> Mechanism:
    """Hoist with a worm: the drum on the shaft of its wheel winds up a rope; mobility 1.

    The worm has the efficiency (cos n - mu tan g) / (cos n + mu cot g), [Shigley2011] eq. (13-46), n = 20
    degrees and tan g = module starts / diameter. The load cannot drive it where mu >= cos n tan g. "worm" is
    actuated and needs load g drum starts / (teeth efficiency) to lift. Measures: "tooth", the tangential
    force on the wheel, and "rope", the tension.

    Args:
        load: Mass on the rope [kg].
        starts: Of the worm.
        teeth: Of its wheel.
        module: Pitch diameter over teeth of the wheel [m].
        diameter: Pitch diameter of the worm [m].
        mu: Friction between their teeth; 0: none.
        drum: Radius of the drum [m].
        gravity: Gravity along -y [m/s^2].
    """
    spec = MechanismSpec(gravity=(0.0, -gravity, 0.0), name="worm_hoist")
    wheel = 0.5 * module * teeth
    above = wheel + 0.5 * diameter
    spec.body("worm", joint=Revolute("x"), at=Pose((0.0, above, 0.0)), mass=1.5, inertia=(5e-4, 2e-3, 2e-3))
    spec.body("wheel", joint=Revolute("z"), mass=25.0, inertia=(0.15, 0.15, 0.2))
    spec.body("load", joint=Prismatic("y"), at=Pose((drum, -1.0, 0.0)), mass=load)
    gear = Gear("worm", "wheel", starts, teeth, module, kind="worm", diameter=diameter)
    spec.constrain("mesh", gear).constrain("rope", Rope("wheel", "load", drum))
    if mu:
        spec.force("teeth_friction", ToothFriction("mesh", mu))
    spec.actuate("worm").measure("tooth", ForceIn("mesh"))
    return spec.measure("rope", ForceIn("rope")).compile()

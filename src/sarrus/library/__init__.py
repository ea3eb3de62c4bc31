"""Classic mechanisms, ready to use; each has the state of its benchmark or paper as `default`."""

from __future__ import annotations

from collections.abc import Callable

from ..mechanism.mechanism import Mechanism
from .arms import arms_around_box, dual_arm, dual_arm_box
from .benchmarks import andrews, bricard, flyball_governor, n_four_bar
from .biped import biped
from .drawn_bicycle import bicycle
from .drawn_drives import cam_follower, planetary_gearbox, wiper
from .drawn_hoists import freewheel, overhung_gearbox, tackle, v_belt
from .drawn_hydraulics import hydraulic_lift, tyre_car
from .drawn_linkages import folding_chair, peaucellier, scissor_lift
from .drawn_machines import double_wishbone, excavator, landing_gear
from .drawn_presses import six_bar_press, toggle_clamp
from .drawn_screws import screw_jack, worm_hoist
from .machines import dual_planar_arms, loader, three_r_on_slider
from .overconstrained import bennett, sarrus, scott_russell
from .planar import double_pendulum, five_bar, four_bar, parallelogram, pendulum, slider_crank
from .platforms import cable_robot, delta, stewart, three_rrr
from .robot_arms import robot_arm
from .structures import chain_mail, deployable_ring, net, scissor
from .surface_catches import escapement, ratchet, spring_latch
from .surface_drives import flying_follower, geneva_drive
from .walking import jansen_leg, pantograph_leg, quadruped, rolling_disk

__all__ = [
    "pendulum", "double_pendulum", "slider_crank", "four_bar", "parallelogram", "five_bar", "n_four_bar",
    "andrews", "bricard", "bennett", "sarrus", "scott_russell", "flyball_governor", "jansen_leg", "stewart",
    "delta", "three_rrr", "three_r_on_slider", "loader", "cable_robot", "pantograph_leg", "dual_planar_arms",
    "dual_arm", "dual_arm_box", "quadruped", "biped", "rolling_disk", "robot_arm", "arms_around_box",
    "net", "scissor", "deployable_ring", "chain_mail",
    "peaucellier", "scissor_lift", "folding_chair", "double_wishbone", "excavator", "landing_gear",
    "planetary_gearbox", "cam_follower", "bicycle", "wiper", "toggle_clamp", "six_bar_press",
    "geneva_drive", "flying_follower", "ratchet", "spring_latch", "escapement",
    "hydraulic_lift", "tyre_car", "tackle", "v_belt", "freewheel", "overhung_gearbox",
    "screw_jack", "worm_hoist",
    "MECHANISMS", "names",
]  # fmt: skip

MECHANISMS: dict[str, Callable[..., Mechanism]] = {name: globals()[name] for name in __all__[:-2]}


def names() -> dict[str, str]:
    """Every mechanism of the library with its line of description."""
    return {name: (function.__doc__ or "").split("\n", 1)[0] for name, function in MECHANISMS.items()}


def __dir__() -> list[str]:
    return __all__

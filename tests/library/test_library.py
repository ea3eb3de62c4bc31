"""Every mechanism of the library compiles, closes and has the mobility that its description states.

The stated numbers of rows, freedoms and redundant rows are counted by hand from the joints; the state is
checked with the constraint functions themselves, which other tests compare with finite differences and with
Pinocchio.
"""

from __future__ import annotations

import inspect
import pickle
import re
from typing import Any

import numpy as np
import pytest

import sarrus as sr

# name, parameters, coordinates, rows, degrees of freedom at the default state
STATED: list[tuple[str, dict[str, Any], int, int, int]] = [
    ("pendulum", {}, 1, 0, 1),
    ("double_pendulum", {}, 2, 0, 2),
    ("slider_crank", {}, 2, 1, 1),
    ("four_bar", {}, 3, 5, 1),
    ("four_bar", {"closure": "pin"}, 3, 2, 1),
    ("four_bar", {"closure": "point"}, 3, 3, 1),
    ("four_bar", {"closure": "weld"}, 3, 6, 0),
    ("parallelogram", {}, 3, 5, 1),
    ("five_bar", {}, 4, 2, 3),  # one freedom more: it starts at its singular pose
    ("five_bar", {"start": "raised"}, 4, 2, 2),
    ("five_bar", {"start": "raised", "closure": "revolute"}, 4, 5, 2),
    ("n_four_bar", {}, 5, 4, 1),
    ("n_four_bar", {"n": 12}, 25, 24, 1),
    ("andrews", {}, 7, 6, 1),
    ("andrews", {"start": "classical"}, 7, 6, 1),
    ("bricard", {}, 5, 5, 1),
    ("bricard", {"section": 0.1}, 5, 5, 1),
    ("bennett", {}, 3, 5, 1),
    ("bennett", {"a": 1.2, "b": 0.7, "twist": 1.1, "angle": -2.0}, 3, 5, 1),
    ("sarrus", {}, 5, 5, 1),
    ("sarrus", {"azimuths": (0.0, 2.0, 4.0)}, 7, 10, 1),
    ("scott_russell", {}, 7, 16, 1),
    ("flyball_governor", {}, 4, 0, 4),
    ("jansen_leg", {}, 7, 6, 1),
    ("jansen_leg", {"n": 5, "angle": -1.0}, 31, 30, 1),
    ("stewart", {}, 24, 18, 6),
    ("stewart", {"legs": "rss"}, 30, 18, 12),  # six rods spin about their own lines
    ("delta", {}, 21, 18, 3),
    ("three_rrr", {}, 9, 6, 3),
    ("three_r_on_slider", {}, 3, 1, 2),
    ("loader", {}, 8, 6, 2),
    ("loader", {"boom_angle": 0.5, "bucket_angle": 0.6}, 8, 6, 2),
    ("cable_robot", {}, 11, 8, 3),
    ("pantograph_leg", {}, 4, 2, 2),
    ("dual_planar_arms", {}, 6, 3, 3),
    ("dual_planar_arms", {"held": "body"}, 9, 6, 3),
    ("dual_arm", {}, 14, 6, 8),
    ("dual_arm", {"seed": 3}, 14, 6, 8),
    ("dual_arm_box", {}, 20, 12, 8),
    ("quadruped", {}, 18, 12, 6),
    ("quadruped", {"standing": ("front_left", "rear_right")}, 18, 6, 12),
    ("biped", {}, 34, 46, 6),
    ("biped", {"standing": ("left",)}, 34, 34, 12),
    ("rolling_disk", {}, 6, 3, 3),
    ("rolling_disk", {"lean": 0.0}, 6, 3, 3),
    ("robot_arm", {}, 7, 0, 7),
    ("robot_arm", {"kind": "ur5"}, 6, 0, 6),
    ("arms_around_box", {}, 27, 18, 9),
    ("arms_around_box", {"arms": 4}, 34, 24, 10),
    ("arms_around_box", {"arms": ("panda", "ur5", "lwr")}, 26, 18, 8),
    ("net", {}, 12, 8, 4),
    ("net", {"k": 4, "closure": "revolute"}, 40, 80, 8),
    ("scissor", {}, 8, 7, 1),
    ("scissor", {"n": 1, "angle": 1.0}, 2, 1, 1),
    ("deployable_ring", {}, 18, 18, 4),
    ("deployable_ring", {"n": 5, "angle": -0.3}, 12, 12, 4),
    ("chain_mail", {}, 27, 12, 15),
    ("peaucellier", {}, 10, 18, 1),
    ("peaucellier", {"side": 0.28, "angle": -0.5}, 10, 18, 1),
    ("scissor_lift", {}, 13, 24, 1),
    ("scissor_lift", {"n": 1, "angle": 1.0}, 7, 12, 1),
    ("folding_chair", {}, 7, 12, 1),
    ("double_wishbone", {}, 11, 9, 2),
    ("excavator", {}, 15, 24, 3),
    ("excavator", {"stick": 3.2}, 15, 24, 3),
    ("landing_gear", {}, 7, 12, 1),
    ("planetary_gearbox", {}, 6, 7, 1),
    ("planetary_gearbox", {"sun": 20, "planet": 40, "planets": 4}, 7, 9, 1),
    ("cam_follower", {}, 2, 1, 1),
    ("bicycle", {}, 9, 6, 3),
    ("wiper", {}, 7, 12, 1),
    ("toggle_clamp", {}, 4, 6, 1),
    ("six_bar_press", {}, 7, 12, 1),
    ("geneva_drive", {}, 2, 0, 2),
    ("geneva_drive", {"slots": 6, "pin": 0.003}, 2, 0, 2),
    ("flying_follower", {}, 2, 0, 2),
    ("ratchet", {}, 2, 0, 2),
    ("ratchet", {"teeth": 20, "depth": 0.005}, 2, 0, 2),
    ("spring_latch", {}, 2, 0, 2),
    ("escapement", {}, 2, 0, 2),
    ("escapement", {"teeth": 15}, 2, 0, 2),
    ("hydraulic_lift", {}, 5, 6, 1),
    ("tyre_car", {}, 3, 0, 3),
    ("tackle", {}, 2, 1, 1),
    ("tackle", {"falls": 3}, 2, 1, 1),
    ("v_belt", {}, 3, 0, 2),
    ("freewheel", {}, 3, 0, 2),
    ("overhung_gearbox", {}, 2, 1, 1),
    ("screw_jack", {}, 3, 6, 1),
    ("worm_hoist", {}, 3, 2, 1),
]
CONTRACT = (
    "pendulum double_pendulum slider_crank four_bar parallelogram five_bar n_four_bar andrews bricard bennett"
    " sarrus scott_russell flyball_governor jansen_leg stewart delta three_rrr three_r_on_slider loader"
    " cable_robot pantograph_leg dual_planar_arms dual_arm dual_arm_box quadruped biped"
    " rolling_disk robot_arm arms_around_box net scissor deployable_ring chain_mail"
    " peaucellier scissor_lift folding_chair double_wishbone excavator landing_gear"
    " planetary_gearbox cam_follower bicycle wiper toggle_clamp six_bar_press"
    " geneva_drive flying_follower ratchet spring_latch escapement"
    " hydraulic_lift tyre_car tackle v_belt freewheel overhung_gearbox"
    " screw_jack worm_hoist"
).split()
CASE = ("name", "parameters", "nv", "nc", "dof")
IDS = ["-".join([name, *map(str, parameters.values())]) for name, parameters, *_ in STATED]


def make(name: str, parameters: dict[str, Any]) -> sr.Mechanism:
    mech: sr.Mechanism = getattr(sr.library, name)(**parameters)
    return mech


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(CASE, STATED, ids=IDS)
def test_sizes_and_mobility_are_those_stated(name, parameters, nv, nc, dof):
    mech = make(name, parameters)
    mobility = mech.mobility(mech.default.q)
    assert (mech.name, mech.nv, mech.nc) == (name, nv, nc)
    assert mobility.dof == dof
    # states of first order do not count
    moving = nv - np.count_nonzero(mech.model.structure.tree.first_order)
    assert mobility.gruebler == moving - nc
    assert len(mobility.redundant) == nc - (moving - dof)


@pytest.mark.parametrize(CASE, STATED, ids=IDS)
def test_default_state_is_consistent(name, parameters, nv, nc, dof):
    mech = make(name, parameters)
    q, v = mech.default.q, mech.default.v
    terms = mech.terms(q, v)
    assert np.abs(terms.phi).max(initial=0.0) <= 1e-12
    assert np.abs(terms.J @ v - terms.b).max(initial=0.0) <= 1e-12 * (1.0 + np.abs(v).max())
    assert not q.flags.writeable and not v.flags.writeable


@pytest.mark.parametrize(CASE, STATED, ids=IDS)
def test_nearby_poses_assemble(name, parameters, nv, nc, dof):
    mech = make(name, parameters)
    guess = mech.integrate(mech.default.q, 1e-3 * np.sin(np.arange(1.0, mech.nv + 1.0)))
    if dof == 0 or (name == "five_bar" and "start" not in parameters):
        guess = mech.default.q  # locked, or at the pose where Newton's method has nothing to hold on to
    found = mech.assemble(guess)
    assert found.success and found.residual <= 1e-12


@pytest.mark.parametrize(CASE, STATED, ids=IDS)
def test_acceleration_at_the_default_state_is_consistent(name, parameters, nv, nc, dof):
    mech = make(name, parameters)
    q, v = mech.default.q, mech.default.v
    motion, terms = mech.forward_dynamics(q, v), mech.terms(q, v)
    size = 1.0 + np.abs(motion.a).max()
    assert np.abs(terms.J @ motion.a - terms.gamma).max(initial=0.0) <= 1e-9 * size
    balance = terms.M @ motion.a + terms.h - motion.constraint_force - motion.friction
    assert np.abs(balance).max() <= 1e-10 * (1.0 + np.abs(terms.h).max())


@pytest.mark.parametrize(
    ("name", "argument", "touching"),
    [("quadruped", "floor", 4), ("biped", "floor", 8), ("dual_arm_box", "palms", 8)],
)
def test_held_and_touching_machines_have_the_same_coordinates(name, argument, touching):
    """Laws believe in the one and drive the other, from one default state."""
    held, plant = getattr(sr.library, name)(), getattr(sr.library, name)(**{argument: 0.6})
    assert held.names == plant.names and held.actuators == plant.actuators
    assert np.array_equal(held.default.q, plant.default.q)
    gap = plant.contacts(plant.default.q).gap
    assert np.sum(np.abs(gap) < 1e-12) == touching and np.nanmin(gap) > -1e-12


def test_every_name_of_the_contract_is_there_and_described():
    names = sr.library.names()
    assert list(names) == CONTRACT
    assert {name for name, *_ in STATED} == set(names)
    for name, line in names.items():
        assert re.fullmatch(r"[A-Z].{20,98}\.", line), f"{name}: {line}"


@pytest.mark.parametrize("name", list(sr.library.names()))
def test_every_parameter_is_documented_with_its_default(name):
    function = getattr(sr.library, name)
    for parameter in inspect.signature(function).parameters.values():
        assert parameter.default is not inspect.Parameter.empty
        assert f"    {parameter.name}: " in function.__doc__


def test_mechanisms_survive_pickling_with_their_default():
    mech = sr.library.dual_arm()
    again = pickle.loads(pickle.dumps(mech))
    assert np.array_equal(again.default.q, mech.default.q)


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("n_four_bar", {"n": 0}, "n of n_four_bar must be a whole number of at least 1, got 0"),
        (
            "jansen_leg",
            {"n": 2.5},
            "n of jansen_leg must be a whole number up to 1000000, got 2.5",
        ),
        ("four_bar", {"closure": "glue"}, "must be one of 'pin', 'point', 'revolute', 'weld', got 'glue'"),
        ("four_bar", {"rocker": 0.01}, "cannot join two pins that are .* apart; change a length"),
        ("five_bar", {"start": "up"}, "start of five_bar must be one of 'singular', 'raised', got 'up'"),
        ("andrews", {"start": "x"}, "start of andrews must be one of 'iftomm', 'classical'"),
        ("bennett", {"b": 1.0}, "Bennett's loop needs a != b"),
        ("bennett", {"b": 3.0}, "make twist smaller, or b"),
        ("sarrus", {"azimuths": (0.0,)}, "at least two legs"),
        ("stewart", {"legs": "upu"}, "legs of stewart must be one of 'ups', 'rss', got 'upu'"),
        ("delta", {"rod": 0.2}, "rods of 0.2 m do not span"),
        ("quadruped", {"standing": ("front",)}, "unknown foot 'front'; existing names: 'front_left'"),
        ("dual_planar_arms", {"held": "both"}, "held of dual_planar_arms must be one of 'split', 'body'"),
        ("robot_arm", {"kind": "puma"}, "arm of robot_arm must be one of 'panda', 'ur5', 'lwr', got 'puma'"),
        ("arms_around_box", {"arms": 5}, "room for two, three or four arms, got 5"),
        ("arms_around_box", {"arms": "panda"}, "must be a number or several names, got 'panda'"),
        ("arms_around_box", {"arms": True}, "must be a whole number of at least 1, got True"),
        ("arms_around_box", {"size": (0.2, 0.3)}, r"size of arms_around_box must have shape \(3,\)"),
        (
            "dual_arm_box",
            {"size": (0.2, -0.3, 0.4)},
            "edge of the box of dual_arm_box must be positive, got -0.3",
        ),
        ("dual_arm_box", {"size": (0.2, 2.5, 0.4)}, "dual_arm_box cannot be assembled with these parameters"),
        ("arms_around_box", {"angles": {1: (0.0,)}}, "this arm has 7 joints, got 1 angles"),
        ("four_bar", {"crank": -0.3}, "must be positive, got -0.3"),
        ("pendulum", {"mass": -1.0}, "mass of body 'rod' must not be negative, got -1"),
    ],
)
def test_bad_parameters_say_what_would_work(name, parameters, message):
    with pytest.raises(sr.SarrusError, match=message):
        getattr(sr.library, name)(**parameters)


@pytest.mark.parametrize("name", ["stewart", "delta", "three_rrr", "cable_robot", "pantograph_leg", "loader"])
def test_driven_machines_start_where_their_motors_reach_every_motion(name):
    mech = getattr(sr.library, name)()
    assert mech.inverse_dynamics(*mech.default, np.zeros(mech.nv)).controllable


def test_three_legs_whose_lines_meet_cannot_turn_their_platform():
    mech = sr.library.three_rrr(turn=0.0)
    torques = mech.inverse_dynamics(*mech.default, np.zeros(mech.nv))
    assert not torques.controllable
    assert "platform.angle" in torques.uncontrollable[0]

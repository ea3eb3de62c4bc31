"""Gears and belts: ratios, and forces on teeth and bearings, against the formulas of textbooks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import sarrus as sr
from sarrus.errors import InputError, ModelError

ALPHA = math.radians(20.0)
DISC: Any = {"mass": 1.0, "inertia": (0.01, 0.01, 0.02)}


def pair(gear: Any, at: Any, axis: Any = "z", joint: Any = None) -> sr.Mechanism:
    """Two weightless shafts with gears, a at the origin about z."""
    spec = sr.MechanismSpec(gravity=(0.0, 0.0, 0.0), name="pair")
    spec.body("a", joint=sr.Revolute("z"), **DISC)
    spec.body("b", joint=sr.Revolute(axis) if joint is None else joint, at=sr.Pose(at), **DISC)
    spec.constrain("mesh", gear)
    return spec.compile()


def held(mech: sr.Mechanism, torque: float, ratio: float) -> Any:
    """At rest: a torque on a, and the one on b that balances it."""
    motion = mech.forward_dynamics(mech.neutral(), np.zeros(2), [torque, ratio * torque])
    assert np.max(np.abs(motion.a)) < 1e-9
    return motion


def test_spur_gears_turn_and_load_their_bearings() -> None:
    """[Shigley2011] (13-34): W_t = 2 T / d, and the line of action leans by the pressure angle."""
    gear = sr.Gear("a", "b", 20, 40, 0.004)
    mech = pair(gear, (0.12, 0.0, 0.0))
    v = mech.consistent_velocity(mech.neutral(), [1.0, 0.0])
    assert v[1] == pytest.approx(-v[0] / 2)
    torque, W_t = 5.0, 5.0 / 0.04
    motion = held(mech, torque, 2.0)
    assert abs(motion.lam[0]) == pytest.approx(W_t)
    bearing = motion.reaction("a", "world")
    # a turned forwards presses b up at the pitch point (0.04, 0, 0): b pushes a down and away, to -x
    assert bearing[:3] == pytest.approx([W_t * math.tan(ALPHA), W_t, 0.0])
    assert motion.reaction("b", "world")[:3] == pytest.approx(-bearing[:3])
    assert bearing[5] == pytest.approx(torque)  # what drives a


def test_forces_follow_the_gears_around() -> None:
    mech = pair(sr.Gear("a", "b", 20, 40, 0.004), (0.12, 0.0, 0.0))
    q = mech.assemble([1.0, -0.5]).q
    motion = mech.forward_dynamics(q, np.zeros(2), [5.0, 10.0])
    assert motion.reaction("a", "world")[:2] == pytest.approx([125.0 * math.tan(ALPHA), 125.0])


def test_internal_gears_turn_alike() -> None:
    """The pinion is driven apart from the ring, towards its centre."""
    mech = pair(sr.Gear("a", "b", 20, 60, 0.004, kind="internal"), (-0.08, 0.0, 0.0))
    v = mech.consistent_velocity(mech.neutral(), [3.0, 0.0])
    assert v[1] == pytest.approx(v[0] / 3)
    motion = held(mech, 5.0, -3.0)
    W_t = 125.0
    # contact at (0.04, 0, 0); b resists a there downwards, and pushes it to -x
    assert motion.reaction("a", "world")[:3] == pytest.approx([W_t * math.tan(ALPHA), W_t, 0.0])


def test_internal_gears_in_either_order() -> None:
    """Ring first or pinion first: the same bearings bear the same forces."""
    found = []
    for ring_first in (True, False):
        ring, pinion = ("a", 40), ("b", 20)
        (a, z_a), (b, z_b) = (ring, pinion) if ring_first else (pinion, ring)
        mech = pair(sr.Gear(a, b, z_a, z_b, 0.004, kind="internal"), (0.04, 0.0, 0.0))
        motion = held(mech, 8.0, -0.5)
        found.append([motion.reaction(name, "world") for name in ("a", "b")])
    # the pinion bears on its ring at (0.08, 0, 0): driven to -x and up, its bearing pushes back
    assert found[1][1][:2] == pytest.approx([100.0 * math.tan(ALPHA), -100.0])
    np.testing.assert_allclose(found[0], found[1], atol=1e-9)


@pytest.mark.parametrize(
    ("gear", "at", "axis", "ratio"),
    [
        (sr.Gear("a", "b", 20, 40, 0.004), (0.1200001, 0, 0), "z", -0.5),
        (sr.Gear("a", "b", 20, 60, 0.004, kind="internal"), (0.0800000001, 0, 0), "z", 1 / 3),
        (sr.Gear("a", "b", 2, 40, 0.004, kind="worm", diameter=0.04), (0.1, 1e-8, 0), "y", None),
    ],
)
def test_ratio_is_that_of_the_teeth(gear: Any, at: Any, axis: Any, ratio: float | None) -> None:
    """To rounding, where the centre distance is as good as it must be."""
    J = pair(gear, at, axis).terms(np.zeros(2), np.zeros(2)).J[0]
    wanted = gear.teeth_a / gear.teeth_b
    assert abs(J[0] / J[1]) == pytest.approx(wanted, rel=1e-15, abs=0.0)
    assert ratio is None or -J[0] / J[1] == pytest.approx(ratio, rel=1e-15, abs=0.0)


def test_rack_and_pinion() -> None:
    rack = sr.Gear("a", "b", 20, 1, 0.004, kind="rack")
    mech = pair(rack, (0.0, -0.04, 0.0), joint=sr.Prismatic("x"))
    v = mech.consistent_velocity(mech.neutral(), [1.0, 0.0])
    assert v[1] == pytest.approx(0.04 * v[0])  # turning forwards, its lowest point moves to +x
    motion = mech.forward_dynamics(mech.neutral(), np.zeros(2), [5.0, -125.0])
    assert np.max(np.abs(motion.a)) < 1e-9
    assert motion.reaction("a", "world")[:2] == pytest.approx([125.0, -125.0 * math.tan(ALPHA)])


def test_bevel_gears() -> None:
    """[Shigley2011] (13-38): W_r = W_t tan(alpha) cos(cone), W_a = W_t tan(alpha) sin(cone)."""
    mech = pair(sr.Gear("a", "b", 20, 40, 0.004, kind="bevel"), (0.1, 0.0, -0.1), axis="x")
    v = mech.consistent_velocity(mech.neutral(), [1.0, 0.0])
    assert abs(v[1]) == pytest.approx(abs(v[0]) / 2)
    motion = held(mech, 5.0, -2.0 * np.sign(v[1] * v[0]))
    force, W_t, cone = motion.reaction("a", "world")[:3], 125.0, math.atan(0.5)
    assert abs(force[1]) == pytest.approx(W_t)
    assert abs(force[0]) == pytest.approx(W_t * math.tan(ALPHA) * math.cos(cone))
    assert force[2] == pytest.approx(-W_t * math.tan(ALPHA) * math.sin(cone))  # held against the apex side


def test_cone_distance_of_bevel_gears() -> None:
    """By hand: at right angles sqrt(r_a^2 + r_b^2), both cones with the apex where the axes meet."""
    distance = math.hypot(0.04, 0.08)
    gear = sr.Gear("a", "b", 20, 40, 0.004, kind="bevel", cone_distance=distance)
    mech = pair(gear, (0.1, 0.0, -0.1), axis="x")
    v = mech.consistent_velocity(mech.neutral(), [1.0, 0.0])
    assert abs(v[1]) == pytest.approx(abs(v[0]) / 2)


def test_side_of_the_apex_decides_the_sense_of_bevel_gears() -> None:
    """Velocities of both gears at the pitch point agree; beyond the apex b turns the other way."""
    gear = sr.Gear("a", "b", 20, 40, 0.004, kind="bevel")
    senses = []
    for x in (0.1, -0.1):
        mech = pair(gear, (x, 0.0, -0.1), axis="x")
        v = mech.consistent_velocity(mech.neutral(), [1.0, 0.0])
        P = np.array([math.copysign(0.04, x), 0.0, -0.1 + 0.08])  # apex at (0, 0, -0.1)
        of_a, of_b = np.cross([0, 0, v[0]], P), np.cross([v[1], 0, 0], P - [x, 0, -0.1])
        np.testing.assert_allclose(of_a, of_b, atol=1e-12)
        senses.append(np.sign(v[0] * v[1]))
    assert senses[0] == -senses[1]


def test_worm_gear() -> None:
    """[Shigley2011] (13-41), without friction: the worm bears W_t along its axis, W_t tan(lead) around it."""
    worm = sr.Gear("a", "b", 2, 40, 0.004, kind="worm", diameter=0.04)
    mech = pair(worm, (0.1, 0.0, 0.0), axis="y")
    v = mech.consistent_velocity(mech.neutral(), [1.0, 0.0])
    assert abs(v[1]) == pytest.approx(abs(v[0]) / 20)
    left = pair(
        sr.Gear("a", "b", 2, 40, 0.004, kind="worm", diameter=0.04, left_hand=True), (0.1, 0.0, 0.0), axis="y"
    )
    assert left.consistent_velocity(left.neutral(), [1.0, 0.0])[1] * v[1] < 0
    torque = 2.0
    motion = held(mech, torque, -20.0 * np.sign(v[1] * v[0]))
    lead, W_t = math.atan(0.004 * 2 / 0.04), 20.0 * torque / 0.08
    force = motion.reaction("a", "world")[:3]
    assert abs(force[2]) == pytest.approx(W_t)
    assert abs(force[1]) == pytest.approx(W_t * math.tan(lead)) == pytest.approx(torque / 0.02)
    assert force[0] == pytest.approx(W_t * math.tan(ALPHA) / math.cos(lead))


def test_belt() -> None:
    for crossed in (False, True):
        mech = pair(sr.Belt("a", "b", 0.1, 0.2, crossed, pretension=300.0), (0.5, 0.0, 0.0))
        v = mech.consistent_velocity(mech.neutral(), [2.0, 0.0])
        assert v[1] == pytest.approx(v[0] / (-2 if crossed else 2))
        idle = mech.forward_dynamics(mech.neutral(), np.zeros(2)).reaction("a", "world")
        sine = 0.3 / 0.5 if crossed else 0.1 / 0.5
        assert idle[:3] == pytest.approx([-600.0 * math.sqrt(1 - sine**2), 0.0, 0.0])
        motion = held(mech, 10.0, 2.0 if crossed else -2.0)
        assert motion.reaction("a", "world")[5] == pytest.approx(10.0)
        # the difference of the strands, 100 N, acts across the line of centres as far as they lean
        assert abs(motion.reaction("a", "world")[1]) == pytest.approx(100.0 * sine)


@pytest.mark.parametrize("turned", [20.0, 2000.0, -1e5])
def test_gears_assemble_however_far_they_are_turned(turned: float) -> None:
    """A pair, a planetary set, a train of 150 gears: rows that are linear close in one step."""
    mech = pair(sr.Gear("a", "b", 20, 40, 0.004), (0.12, 0.0, 0.0))
    pose = mech.assemble(fixed={"a": turned})
    assert pose.success and pose.iterations <= 4
    assert pose.q[1] == pytest.approx(-turned / 2, rel=1e-12)
    spec = sr.MechanismSpec(gravity=(0.0, 0.0, 0.0))
    spec.planetary("p", (0.0, 0.0, 0.0), sun=24, planet=18, module=0.002)
    mech = spec.constrain("hold", sr.Coupling({"p_ring": 1.0})).compile()
    found = mech.assemble(fixed={"p_sun": turned})
    assert found.success and found.q[mech.names.index("p_arm")] == pytest.approx(turned / 3.5, rel=1e-12)
    spec = sr.MechanismSpec(gravity=(0.0, 0.0, 0.0))
    for k in range(150):
        spec.body(f"g{k}", joint=sr.Revolute("z"), at=sr.Pose((0.08 * k, 0.0, 0.0)), **DISC)
    for k in range(149):
        spec.constrain(f"mesh{k}", sr.Gear(f"g{k}", f"g{k + 1}", 20, 20, 0.004))
    train = spec.compile().assemble(fixed={"g0": turned})
    assert train.success
    np.testing.assert_allclose(train.q, turned * (-1.0) ** np.arange(150), rtol=1e-9)


def test_a_linkage_behind_gears_assembles_however_far_they_are_turned() -> None:
    """Gears 1 to 3 before the crank of a four-bar: the pose is that of the crank's angle within one turn."""
    spec = sr.MechanismSpec(gravity=(0.0, 0.0, 0.0))
    A, B, C, D = (0.0, 0.0, 0.0), (0.1, 0.0, 0.0), (0.4, 0.3, 0.0), (0.5, 0.0, 0.0)
    spec.link("crank", A, B, mass=1.0).link("rod", B, C, mass=1.0).link("rocker", D, C, mass=1.0)
    for name, a, b, at in (("A", "ground", "crank", A), ("B", "crank", "rod", B), ("C", "rod", "rocker", C),
                           ("D", "ground", "rocker", D)):  # fmt: skip
        spec.joint(name, a, b, sr.Revolute("z"), at=at)
    spec.part("wheel", at=sr.Pose((-0.16, 0.0, 0.0)), mass=1.0, inertia=(1e-3, 1e-3, 1e-3))
    spec.joint("pinion", "ground", "wheel", sr.Revolute("z"), at=(-0.16, 0.0, 0.0))
    mech = spec.constrain("mesh", sr.Gear("pinion", "A", 20, 60, 0.004)).compile()
    near = mech.assemble(fixed={"pinion": -3.0})
    far = mech.assemble(fixed={"pinion": -3.0 * (1.0 + 200 * math.pi)})  # 100 turns of the crank
    assert near.success and far.success
    D_at = mech.names.index("D") if "D" in mech.names else mech.names.index("C")
    turned = (far.q[D_at] - near.q[D_at]) / (2 * math.pi)
    assert turned == pytest.approx(round(turned), abs=1e-9)


@pytest.mark.parametrize("held_gear", ["ring", "sun", "arm"])
def test_planetary_set(held_gear: str) -> None:
    """Willis: z_s w_s + z_r w_r = (z_s + z_r) w_arm, and its torques."""
    spec = sr.MechanismSpec(gravity=(0.0, 0.0, 0.0))
    spec.planetary("p", (0.0, 0.0, 0.0), sun=24, planet=18, module=0.002, planets=3)
    spec.constrain("hold", sr.Coupling({f"p_{held_gear}": 1.0}))
    spec.actuate("p_sun", "p_arm", "p_ring")
    mech = spec.compile()
    assert mech.mobility(mech.neutral()).dof == 1
    N = mech.decompose(mech.neutral()).N[:, 0]
    w = {part: N[mech.names.index(f"p_{part}")] for part in ("sun", "ring", "arm")}
    assert 24 * w["sun"] + 60 * w["ring"] == pytest.approx(84 * w["arm"], abs=1e-12)
    assert w[held_gear] == pytest.approx(0.0, abs=1e-12)
    tau = np.zeros(mech.nv)
    for part, torque in (("sun", 24.0), ("ring", 60.0), ("arm", -84.0)):
        tau[mech.names.index(f"p_{part}")] = torque
    motion = mech.forward_dynamics(mech.neutral(), np.zeros(mech.nv), tau)
    assert np.max(np.abs(motion.a)) < 1e-9


def test_planets_load_the_arm() -> None:
    """Each of three planets pulls the arm with T / (3 r_arm) at its pin; on the main shaft they cancel."""
    spec = sr.MechanismSpec(gravity=(0.0, 0.0, 0.0))
    spec.planetary("p", (0.0, 0.0, 0.0), sun=24, planet=18, module=0.002, planets=3)
    spec.constrain("hold", sr.Coupling({"p_ring": 1.0}))
    mech = spec.compile()
    tau = np.zeros(mech.nv)
    tau[mech.names.index("p_sun")], tau[mech.names.index("p_arm")] = 24.0, -84.0
    motion = mech.forward_dynamics(mech.neutral(), np.zeros(mech.nv), tau)
    pin = motion.reaction("p_planet0", "world")
    assert np.linalg.norm(pin[:2]) == pytest.approx(84.0 / 3 / 0.042, rel=1e-6)
    assert np.max(np.abs(motion.reaction("p_arm", "world")[:2])) < 1e-6


@pytest.mark.parametrize(
    ("gear", "at", "axis", "message"),
    [
        (sr.Gear("a", "b", 20, 40, 0.004), (0.13, 0, 0), "z", "centre distance is 0.13 m, .* ask for 0.12 m"),
        (sr.Gear("a", "b", 20, 40, 0.004), (0.12, 0, 0), "x", "axes must be parallel"),
        (sr.Gear("a", "b", 20, 40, 0.004, kind="bevel"), (0.12, 0, 0), "z", "must not be parallel"),
        (sr.Gear("a", "b", 2, 40, 0.004, kind="worm", diameter=0.04), (0.1, 0, 0), "z", "right angles"),
        (sr.Gear("a", "b", 20, 40, 0.004), (0.1200003, 0, 0), "z", "is 0.1200003 m, .* ask for 0.12 m"),
        (sr.Gear("a", "b", 20, 40, 0.004, kind="bevel"), (0, 0, 0), "x", "frame of 'a' stands at the apex"),
        (
            sr.Gear("a", "b", 20, 40, 0.004, kind="bevel"),
            (0, 0, -0.1),
            "x",
            "frame of 'b' stands at the apex",
        ),
        (
            sr.Gear("a", "b", 20, 40, 0.004, kind="bevel"),
            (0.1, 0.01, -0.1),
            "x",
            "must meet, at the apex of both cones; they are 0.01 m apart.* Move one of them",
        ),
        (
            sr.Gear("a", "b", 20, 40, 0.004, kind="bevel", cone_distance=0.09),
            (0.1, 0, -0.1),
            "x",
            "axes at 90 degrees make a cone distance of 0.0894427191 m, not 0.09 m",
        ),
        (
            sr.Gear("a", "b", 40, 20, 0.004, kind="bevel"),
            (0.1, 0, -0.2),
            (math.sin(2.5), 0.0, math.cos(2.5)),
            "axes at 143.2 degrees these teeth make 'a' a ring or a disc",
        ),
        (sr.Belt("a", "b", 0.1, 0.2), (0.25, 0, 0), "z", r"more than 0.3 m apart, .* got 0.25 m"),
    ],
)
def test_gears_that_do_not_mesh(gear: Any, at: Any, axis: str, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        pair(gear, at, axis)


def test_wrong_joints_and_arguments() -> None:
    with pytest.raises(ModelError, match="'b' must be carried by a slide joint"):
        pair(sr.Gear("a", "b", 20, 1, 0.004, kind="rack"), (0.0, -0.04, 0.0))
    spec = sr.MechanismSpec()
    spec.body("a", joint=sr.Revolute("z"), **DISC).body("arm", joint=sr.Revolute("x"), **DISC)
    spec.body("b", "arm", joint=sr.Revolute("z"), at=sr.Pose((0.12, 0, 0)), **DISC)
    spec.constrain("mesh", sr.Gear("a", "b", 20, 40, 0.004))
    with pytest.raises(ModelError, match="must be carried by the same body"):
        spec.compile()
    for given, message in (
        ({"teeth_a": 0}, "teeth_a of Gear"), ({"module": -1.0}, "module of Gear"),
        ({"kind": "spur"}, "kind of Gear"), ({"diameter": 0.1}, "diameter of Gear is that of a worm"),
        ({"pressure_angle": 1.0}, "below 45 degrees"),
        ({"left_hand": True}, "left_hand of Gear is that of a worm"),
        ({"cone_distance": 0.1}, "cone_distance of Gear is that of bevel gears"),
        ({"kind": "internal", "teeth_b": 20}, "a ring has more teeth than its pinion; got 20"),
        ({"b": "a"}, "two different joints"), ({"teeth_b": 0}, "teeth_b of Gear"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=message):
            sr.Gear(**({"a": "a", "b": "b", "teeth_a": 20, "teeth_b": 40, "module": 0.004} | given))
    with pytest.raises(InputError, match="two different joints"):
        sr.Belt("a", "a", 0.1, 0.1)
    with pytest.raises(InputError, match=r"24 . 60, must be a multiple of 5"):
        sr.MechanismSpec().planetary("p", (0, 0, 0), sun=24, planet=18, module=0.002, planets=5)
    with pytest.raises(
        InputError, match=r"10 planets of 30 teeth do not fit beside each other: .* at most 4"
    ):
        sr.MechanismSpec().planetary("p", (0, 0, 0), sun=20, planet=30, module=0.002, planets=10)

"""Screws and thrust bearings with friction: the formulas of a power screw [Shigley2011] section 8-2."""

from __future__ import annotations

import math

import numpy as np
import pytest

import sarrus as sr

LOAD, RADIUS, COLLAR = 10e3, 0.01375, 0.03


def jack(mu: float, lead: float = 0.005, flank: float = 0.0, pitch_sign: float = -1.0, turned: bool = False):
    """A screw that turns in a collar and lifts a nut in a guide."""
    spec = sr.MechanismSpec(gravity=(0, 0, 0), name="jack")
    spec.part("screw", at=sr.Pose(), mass=2.0, inertia=(0.01, 0.01, 1e-3))
    spec.part("nut", at=sr.Pose((0, 0, 0.2)), mass=1.0, inertia=(1e-3,) * 3)
    spec.joint("drive", "ground", "screw", sr.Revolute("z"), at=(0, 0, 0))
    thread = sr.Helical("z", pitch=pitch_sign * lead / (2 * math.pi))
    pair = ("nut", "screw") if turned else ("screw", "nut")
    spec.joint("thread", *pair, thread, at=(0, 0, 0.2))
    spec.joint("guide", "ground", "nut", sr.Prismatic("z"), at=(0, 0, 0.2))
    spec.force("load", sr.ConstantWrench("nut", (0, 0, -LOAD, 0, 0, 0)))
    spec.force("thread_friction", sr.ScrewFriction("thread", mu, RADIUS, flank))
    return spec.actuate("drive")


def by_hand(mu: float, lead: float, flank: float) -> tuple[float, float]:
    """Torques that lift and lower: [Shigley2011] eq. (8-1), (8-2) and, with a flank, (8-5)."""
    d, f = 2 * RADIUS, mu / math.cos(flank)
    lifts = LOAD * d / 2 * (lead + math.pi * f * d) / (math.pi * d - f * lead)
    lowers = LOAD * d / 2 * (math.pi * f * d - lead) / (math.pi * d + f * lead)
    return lifts, lowers


@pytest.mark.parametrize("flank", [0.0, math.radians(14.5)])
@pytest.mark.parametrize(("mu", "lead"), [(0.08, 0.005), (0.15, 0.02), (0.02, 0.04)])
@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("turned", [False, True])
def test_torques_of_a_power_screw(mu: float, lead: float, flank: float, sign: float, turned: bool) -> None:
    mech = jack(mu, lead, flank, sign, turned).compile()
    lifts, lowers = by_hand(mu, lead, flank)
    for speed, torque in ((1.0, lifts), (-1.0, -lowers)):  # of the nut
        v = mech.consistent_velocity(mech.default.q, fixed={"guide": 0.01 * speed})
        way = np.sign(v[mech.names.index("drive")]) * speed
        motion = mech.forward_dynamics(mech.default.q, v, u=[way * torque])
        held = mech.hold(mech.default.q, v=v, frame="world")
        assert held.motors["drive"][0] == pytest.approx(way * torque, rel=1e-9)
        assert np.abs(motion.a).max() < 1e-7  # 1e-9 of 10 kN on 1 kg and 1e-3 kg m^2
        # the guide holds the nut against the whole torque of the thread
        assert held.reactions["guide"][0, 5] == pytest.approx(-way * torque, rel=1e-9)
        assert held.reactions["drive"][0, 2] == pytest.approx(LOAD, rel=1e-9)


def test_a_collar_adds_its_own_friction() -> None:
    mech = jack(0.08).force("collar", sr.ThrustFriction("drive", 0.1, COLLAR)).compile()
    lifts = by_hand(0.08, 0.005, 0.0)[0] + 0.1 * COLLAR * LOAD
    run = sr.simulate(mech, (0, 1), control=lambda t, q, v: [2 * lifts * t])
    assert run.events[0].kind == "slip" and 2 * lifts * run.events[0].t == pytest.approx(lifts, rel=1e-7)
    moving = sr.simulate(mech, (0, 0.1), v0=mech.consistent_velocity(mech.default.q, fixed={"drive": 1.0}),
                         control=lambda t, q, v: [lifts])  # fmt: skip
    np.testing.assert_allclose(moving.v, np.tile(moving.v[:1], (len(moving.t), 1)), rtol=1e-8)


@pytest.mark.parametrize(("mu", "locks"), [(0.0580, True), (0.0578, False)])
def test_a_screw_locks_itself_where_mu_exceeds_its_lead(mu: float, locks: bool) -> None:
    mech = jack(mu).compile()  # tan(lead angle) = 0.05787
    run = sr.simulate(mech, (0, 0.1))
    assert run.success and (np.abs(run.v).max() == 0.0) == locks


def test_heavy_loads_on_light_screws() -> None:
    """Friction that changes the load by more than it is itself: rounds of its rule would swing ever wider."""
    mech = sr.library.screw_jack(load=5000.0, wheel=1e-5)
    v = mech.consistent_velocity(mech.default.q, fixed={"shaft": 10.0})
    needed = mech.hold(mech.default.q, v=v).motors["shaft"][0]
    for share in (1.0, 1.5, 0.8):
        motion = mech.forward_dynamics(mech.default.q, v, u=[share * needed])
        force = motion.reaction("thread", "world")[2]
        lift = motion.a[mech.names.index("guide")]
        assert force == pytest.approx(5000 * (9.81 + lift), rel=1e-9) and force > 0.0
        assert np.sign(round(lift, 9)) == np.sign(share - 1.0)


def test_a_motor_between_screw_and_nut() -> None:
    """One body on a thread in the ground: the motor turns it, its torque goes not through the flanks."""
    spec = sr.MechanismSpec(gravity=(0, 0, -9.81), name="bolt")
    spec.body("bolt", joint=sr.Helical("z", pitch=0.005 / (2 * math.pi)), mass=100.0, inertia=(1, 1, 0.1))
    spec.force("friction", sr.ScrewFriction("bolt", 0.1, RADIUS)).actuate("bolt")
    mech, d = spec.compile(), 2 * RADIUS
    lifts = 981.0 * d / 2 * (0.005 + math.pi * 0.1 * d) / (math.pi * d - 0.1 * 0.005)
    assert mech.hold([0.0], v=[1.0]).motors["bolt"][0] == pytest.approx(lifts, rel=1e-9)


def test_copies_and_files(tmp_path) -> None:
    mech = jack(0.08).force("collar", sr.ThrustFriction("drive", 0.1, COLLAR)).compile()
    again = sr.load(sr.save(mech, tmp_path / "jack.json"))
    assert again.model.forces == mech.model.forces
    torque = 1.1 * (by_hand(0.08, 0.005, 0.0)[0] + 0.1 * COLLAR * LOAD)
    copies = sr.rollout(mech, [mech.default.q] * 2, None, np.full((2, 50, 1), torque), dt=1e-3, steps=50)
    run = sr.simulate(mech, (0, 0.05), dt=1e-3, control=lambda t, q, v: [torque])
    np.testing.assert_allclose(copies.v[:, -1], np.tile(run.v[-1], (2, 1)), rtol=1e-9)


@pytest.mark.parametrize(
    ("friction", "error", "words"),
    [
        (lambda: sr.ScrewFriction("drive", 0.1, 0.01), sr.ModelError, "needs a Helical joint, got"),
        (lambda: sr.ThrustFriction("thread", 0.1, 0.01), sr.ModelError, "needs a Revolute joint, got"),
        (lambda: sr.ScrewFriction("thread", 0.1, 0.01, 1.6), sr.InputError, "flank .* below pi/2"),
        (lambda: sr.ScrewFriction("thread", 20.0, 0.01), sr.ModelError, "no torque turns the screw"),
        (lambda: sr.ScrewFriction("thread", -0.1, 0.01), sr.InputError, "mu"),
    ],
)
def test_bad_input(friction, error: type, words: str) -> None:
    with pytest.raises(error, match=words):
        jack(0.1).force("more", friction()).compile()


def test_percentages_warn() -> None:
    with pytest.warns(sr.SarrusWarning, match="percentage"):
        jack(0.1).force("collar", sr.ThrustFriction("drive", 2.0, COLLAR)).compile()


def test_force_in_reads_it() -> None:
    mech = jack(0.08).measure("thread", sr.ForceIn("thread_friction")).compile()
    v = mech.consistent_velocity(mech.default.q, fixed={"drive": 1.0})
    lifts = by_hand(0.08, 0.005, 0.0)[0]
    turned = v[mech.names.index("thread")]
    lost = lifts - LOAD * 0.005 / (2 * math.pi)
    found = mech.measure(mech.default.q, v, u=[lifts])["thread"]
    assert found == pytest.approx(np.sign(turned) * lost, rel=1e-9)

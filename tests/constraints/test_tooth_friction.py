"""Worms and gears with friction, against [Shigley2011] eq. (13-43) to (13-46) and efficiencies."""

from __future__ import annotations

import numpy as np
import pytest

import sarrus as sr

MODULE, TEETH, DIAMETER, NORMAL = 0.004, 40, 0.05, np.radians(20.0)


def worm(
    starts: int = 2, left_hand: bool = False, turned: bool = False, **friction: float
) -> sr.MechanismSpec:
    spec = sr.MechanismSpec(gravity=(0, 0, 0), name="worm")
    above = 0.5 * (MODULE * TEETH + DIAMETER)
    axis = "x" if not turned else (-1.0, 0.0, 0.0)
    spec.body("worm", joint=sr.Revolute(axis), mass=1.0, inertia=(1e-3,) * 3)
    spec.body("wheel", joint=sr.Revolute("z"), at=sr.Pose((0, above, 0)), mass=3.0, inertia=(0.01,) * 3)
    gear = sr.Gear("worm", "wheel", starts, TEETH, MODULE, "worm", diameter=DIAMETER, left_hand=left_hand)
    spec.constrain("mesh", gear).force("teeth", sr.ToothFriction("mesh", **friction))
    return spec.actuate("worm")


def forces(mu: float, starts: int, drives: bool) -> tuple[float, float]:
    """Tangential force on the worm and the force apart, per unit of the wheel's tangential force."""
    g, f = np.arctan(MODULE * starts / DIAMETER), mu if drives else -mu
    n, c, s = np.cos(NORMAL), np.cos(g), np.sin(g)
    return (n * s + f * c) / (n * c - f * s), np.sin(NORMAL) / (n * c - f * s)


@pytest.mark.parametrize("left_hand", [False, True])
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(("mu", "starts"), [(0.05, 2), (0.12, 1), (0.02, 6)])
@pytest.mark.parametrize("way", [1.0, -1.0])
@pytest.mark.parametrize("load", [100.0, -100.0])
def test_forces_of_a_worm(
    left_hand: bool, turned: bool, mu: float, starts: int, way: float, load: float
) -> None:
    spec = worm(starts, left_hand, turned, mu=mu)
    spec.force("load", sr.ConstantWrench("wheel", (0, 0, 0, 0, 0, load)))
    mech = spec.compile()
    v = mech.consistent_velocity(mech.default.q, fixed={"worm": way})
    held = mech.hold(mech.default.q, v=v, frame="world")
    tangential = 100.0 / (0.5 * MODULE * TEETH)
    on_worm, apart = (tangential * x for x in forces(mu, starts, load * v[1] < 0.0))
    drives = -np.sign(load * v[1]) * way  # the sense in which the torque on the worm must act
    torque = drives * on_worm * DIAMETER / 2
    assert held.motors["worm"][0] == pytest.approx(torque, rel=1e-9)
    wheel, shaft = held.reactions["wheel"][0], held.reactions["worm"][0]
    assert abs(wheel[0]) == pytest.approx(tangential, rel=1e-9)
    assert wheel[1] == pytest.approx(-apart, rel=1e-9)
    assert abs(wheel[2]) == pytest.approx(abs(on_worm), rel=1e-9)
    np.testing.assert_allclose(shaft[:3], -wheel[:3], rtol=1e-9)
    motion = mech.forward_dynamics(mech.default.q, v, u=[torque])
    assert np.abs(motion.a).max() < 1e-7  # 1e-9 of 10 N m on 0.1 kg m^2
    np.testing.assert_allclose(motion.reaction("wheel", "world")[:3], wheel[:3], rtol=1e-8)


@pytest.mark.parametrize(("mu", "locks"), [(0.1505, True), (0.1495, False)])
def test_a_wheel_drives_its_worm_below_cos_n_tan_g(mu: float, locks: bool) -> None:
    spec = worm(mu=mu)  # cos(20 degrees) 0.16 = 0.1504
    spec.force("load", sr.ConstantWrench("wheel", (0, 0, 0, 0, 0, 100.0)))
    run = sr.simulate(spec.compile(), (0, 0.1))
    assert run.success and (np.abs(run.v).max() == 0.0) == locks


@pytest.mark.parametrize("kind", ["external", "internal"])
@pytest.mark.parametrize(("efficiency", "back"), [(0.97, None), (0.8, 0.6), (0.45, -0.2)])
def test_efficiencies(kind: str, efficiency: float, back: float | None) -> None:
    spec = sr.MechanismSpec(gravity=(0, 0, 0), name="pair")
    distance = 0.5 * 0.002 * (60 + 20 * (1 if kind == "external" else -1))
    spec.body("a", joint=sr.Revolute("z"), mass=1.0, inertia=(0.01,) * 3)
    spec.body("b", joint=sr.Revolute("z"), at=sr.Pose((distance, 0, 0)), mass=1.0, inertia=(0.01,) * 3)
    spec.constrain("mesh", sr.Gear("a", "b", 20, 60, 0.002, kind))
    spec.force("loss", sr.ToothFriction("mesh", efficiency=efficiency, back=back))
    spec.force("load", sr.ConstantWrench("b", (0, 0, 0, 0, 0, 30.0))).actuate("a")
    mech = spec.compile()
    for way in (1.0, -1.0):
        v = mech.consistent_velocity(mech.default.q, fixed={"b": way})
        power = mech.hold(mech.default.q, v=v).motors["a"][0] * v[0]
        kept = efficiency if back is None else back
        expected = 30.0 / efficiency if way < 0.0 else -30.0 * kept
        assert power == pytest.approx(expected, rel=1e-9)


def test_runs_rollouts_and_files(tmp_path) -> None:
    mech = worm(mu=0.05).compile()
    again = sr.load(sr.save(mech, tmp_path / "worm.json"))
    assert again.model.forces == mech.model.forces
    u = np.full((1, 40, 1), 0.5)
    start = mech.consistent_velocity(mech.default.q, fixed={"worm": 5.0})
    run = sr.simulate(mech, (0, 0.04), v0=start, dt=1e-3, control=lambda t, q, v: [0.5])
    copies = sr.rollout(again, [mech.default.q], [start], u, dt=1e-3, steps=40)
    np.testing.assert_allclose(copies.v[0, -1], run.v[-1], rtol=1e-12)
    work = np.trapezoid(run.friction[:, 0] * run.v[:, 0], run.t)
    gained = run.energy[-1] - run.energy[0] - 0.5 * (run.q[-1, 0] - run.q[0, 0])
    assert work == pytest.approx(gained, rel=1e-3) and work < 0.0


def test_friction_of_bearings_beside_a_worm_warns() -> None:
    spec = worm(mu=0.05).force("journal", sr.BearingFriction("worm", 0.05, radius=0.01))
    with pytest.warns(sr.SarrusWarning, match="'journal'.*leaves out the friction of the worm 'mesh'"):
        spec.compile()


@pytest.mark.parametrize(
    ("friction", "error", "words"),
    [
        ({}, sr.InputError, "takes mu, of a worm, or efficiency"),
        ({"mu": 0.1, "efficiency": 0.9}, sr.InputError, "one of them"),
        ({"efficiency": 1.2}, sr.InputError, "at most 1, got 1.2"),
        ({"efficiency": 0.0}, sr.InputError, "above 0"),
        ({"mu": 0.1, "back": 0.5}, sr.InputError, "back .* goes with efficiency"),
        ({"mu": 9.0}, sr.ModelError, "no torque turns the worm"),
    ],
)
def test_bad_numbers(friction: dict[str, float], error: type, words: str) -> None:
    with pytest.raises(error, match=words):
        worm(**friction).compile()


def test_bad_gears() -> None:
    spec = worm(mu=0.05)
    spec.force("more", sr.ToothFriction("nothing", mu=0.1))
    with pytest.raises(sr.UnknownNameError, match=r"gear 'nothing'.*mesh"):
        spec.compile()
    spec = sr.MechanismSpec(gravity=(0, 0, 0))
    spec.body("a", joint=sr.Revolute("z"), mass=1.0, inertia=(0.01,) * 3)
    spec.body("b", joint=sr.Revolute("z"), at=sr.Pose((0.08, 0, 0)), mass=1.0, inertia=(0.01,) * 3)
    spec.constrain("mesh", sr.Gear("a", "b", 20, 60, 0.002)).force("f", sr.ToothFriction("mesh", mu=0.1))
    with pytest.raises(sr.ModelError, match="mu is that of a worm; of external gears give efficiency="):
        spec.compile()

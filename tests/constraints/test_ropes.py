"""Ropes from drums and over tackles: tensions and bearing loads against the lever rule and virtual work."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
import pytest

import sarrus as sr

G, R, LOAD = 9.81, 0.2, 500.0


@pytest.fixture(autouse=True)
def silence() -> Iterator[None]:
    """Ropes load their bearings: nothing warns."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def hoist(falls: int = 1, side: float = -1.0, way: float = 1.0, carried: bool = False) -> sr.Mechanism:
    """A drum of 3 kg and a load of 500 kg, on the ground or on a boom that turns about (2, 0, 0)."""
    spec = sr.MechanismSpec(gravity=(0, -G, 0), name="hoist")
    on = "ground"
    if carried:
        spec.body(
            "boom", joint=sr.Revolute("z"), at=sr.Pose((2, 0, 0)), mass=100, com=(-1, 0, 0), inertia=(9,) * 3
        )
        spec.actuate("boom")
        on = "boom"
    origin = -2.0 if carried else 0.0
    spec.body(
        "drum", on, joint=sr.Revolute("z"), at=sr.Pose((origin, 0, 0)), mass=3, inertia=(0.1, 0.1, 0.06)
    )
    spec.body("load", on, joint=sr.Prismatic((0, way, 0)), at=sr.Pose((origin + side * R, -1, 0)), mass=LOAD)
    spec.constrain("rope", sr.Rope("drum", "load", R, falls, on)).actuate("drum")
    spec.measure("tension", sr.ForceIn("rope"))
    return spec.compile()


def test_drum_carries_its_load() -> None:
    mech = hoist()
    held = mech.hold(mech.neutral(), frame="world")
    assert held["tension"][0] == pytest.approx(LOAD * G, rel=1e-9)
    assert held.reactions["drum"][0, 1] == pytest.approx((LOAD + 3) * G, rel=1e-9)  # 4934.43 N
    np.testing.assert_allclose(
        held.reactions["load"][0], 0, atol=1e-9 * LOAD * G
    )  # the guide carries nothing
    assert abs(held.motors["drum"][0]) == pytest.approx(LOAD * G * R, rel=1e-9)


@pytest.mark.parametrize("side", [-1.0, 1.0])
@pytest.mark.parametrize("way", [1.0, -1.0])
@pytest.mark.parametrize("falls", [1, 2, 4])
def test_tackles_by_virtual_work(falls: int, way: float, side: float) -> None:
    mech = hoist(falls, side, way)
    held = mech.hold(mech.neutral(), frame="world")
    tension = LOAD * G / falls
    assert held["tension"][0] == pytest.approx(tension, rel=1e-9)
    assert held.motors["drum"][0] == pytest.approx(side * -tension * R * -1.0, rel=1e-9)
    assert held.reactions["drum"][0, 1] == pytest.approx(tension + 3 * G, rel=1e-9)
    np.testing.assert_allclose(held.reactions["load"][0], 0, atol=1e-9 * LOAD * G)
    N = mech.decompose(mech.neutral()).N[:, 0]
    assert abs(N[1] / N[0]) == pytest.approx(R / falls, rel=1e-12)
    moved = mech.sweep("drum", [0.0, 1.0]).q
    rises = mech.pose(moved[1], "load").xyz[1] - mech.pose(moved[0], "load").xyz[1]
    assert rises * held.motors["drum"][0] > 0.0  # the motor lifts the way it pushes


@pytest.mark.parametrize("falls", [1, 4])
def test_what_carries_a_tackle_bears_all_of_it(falls: int) -> None:
    """The foot of a boom carries boom, drum and load, and their moment, whatever the falls."""
    mech = hoist(falls, carried=True)
    held = mech.hold(mech.neutral(), frame="world")
    foot = held.reactions["boom"][0]
    assert foot[1] == pytest.approx((100 + 3 + LOAD) * G, rel=1e-9)
    moment = -G * (100 * 1 + 3 * 2 + LOAD * (2 + R))  # about the pin, of weights to its left
    assert held.motors["boom"][0] == pytest.approx(moment, rel=1e-9) and foot[5] == pytest.approx(
        moment, rel=1e-9
    )


def test_acceleration_of_a_falling_load() -> None:
    """a = g / (1 + I / (m r^2)), and the tension that is left."""
    mech = hoist()
    motion = mech.forward_dynamics(mech.neutral(), [0.0, 0.0])
    a = G / (1 + 0.06 / (LOAD * R**2))
    assert motion.a[1] == pytest.approx(-a, rel=1e-9)
    assert motion.reaction("drum", "world")[1] == pytest.approx(3 * G + LOAD * (G - a), rel=1e-9)
    run = sr.simulate(mech, (0, 0.2))
    assert run.q[-1, 1] == pytest.approx(-0.5 * a * 0.04, rel=1e-9)


def test_journals_of_a_drum_feel_the_rope() -> None:
    """mu r (load + drum) of friction torque, found within the steps."""
    spec = sr.MechanismSpec.from_model(hoist().model)
    mech = spec.force("journal", sr.BearingFriction("drum", 0.05, radius=0.03)).compile()
    motion = mech.forward_dynamics(
        mech.neutral(), mech.consistent_velocity(mech.neutral(), fixed={"drum": 1.0})
    )
    load = np.linalg.norm(motion.reaction("drum")[:2])
    assert -motion.friction[0] == pytest.approx(0.05 * 0.03 * load, rel=1e-9)


def test_a_rope_that_goes_slack() -> None:
    """A load thrown up at 1 m/s flies for 2 v / g; then the drum takes up part of its momentum."""
    spec = sr.MechanismSpec(gravity=(0, -G, 0), name="slack")
    spec.body("drum", joint=sr.Revolute("z"), mass=3, inertia=(0.1, 0.1, 0.06))
    spec.body("load", joint=sr.Prismatic("y"), at=sr.Pose((-R, -1, 0)), mass=5.0)
    mech = spec.constrain("rope", sr.Rope("drum", "load", R)).compile()
    run = sr.simulate(mech, (0, 0.3), [0.0, 0.0], [0.0, 1.0], switches=sr.Contact("rope", side=-1))
    (tight,) = (event for event in run.events if event.closed)
    assert tight.t == pytest.approx(2.0 / G, abs=1e-9)
    after = run.at(tight.t).v
    assert after[1] == pytest.approx(-5.0 / (5.0 + 0.06 / R**2), rel=1e-9)
    assert np.abs(run.lam[run.t < tight.t]).max() == 0.0 and run.lam[-1, 0] < 0.0


def test_ropes_that_do_not_fit() -> None:
    def made(at: tuple[float, float, float], joint: sr.Joint) -> None:
        spec = sr.MechanismSpec().body("drum", joint=sr.Revolute("z"), mass=1, inertia=(1, 1, 1))
        spec.body("load", joint=joint, at=sr.Pose(at), mass=1)
        spec.constrain("rope", sr.Rope("drum", "load", R)).compile()

    with pytest.raises(sr.ModelError, match=r"pass it at the radius 0.2 m; it passes at 0.3 m"):
        made((-0.3, -1, 0), sr.Prismatic("y"))
    with pytest.raises(sr.ModelError, match="at right angles to the axis"):
        made((-0.2, -1, 0), sr.Prismatic("z"))
    with pytest.raises(sr.ModelError, match="lies beside the drum"):
        made((-0.2, 0, 0), sr.Prismatic("y"))
    with pytest.raises(sr.ModelError, match="carried by a slide joint"):
        made((-0.2, -1, 0), sr.Revolute("y"))
    with pytest.raises(sr.InputError, match="two different joints"):
        sr.Rope("drum", "drum", R)

"""Belts that stretch and slip, and one-way clutches, against statics, Euler's ratio and shafts as one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import sarrus as sr
from sarrus.errors import InputError, ModelError

R_A, R_B, APART, F, K = 0.06, 0.15, 0.5, 400.0, 4e5


def drive(
    friction: float | None = None, crossed: bool = False, drawn: bool = False, **belt: Any
) -> sr.Mechanism:
    spec = sr.MechanismSpec(gravity=(0, 0, 0), name="drive")
    ends = {"a": (0.0, 0.0, 0.0), "b": (APART, 0.0, 0.0)}
    for name, xyz in ends.items():
        if drawn:
            spec.part(f"wheel_{name}", at=sr.Pose(xyz), mass=1.0, inertia=(0.1, 0.1, 0.1))
            spec.joint(name, "ground", f"wheel_{name}", sr.Revolute("z"), at=xyz)
        else:
            spec.body(name, joint=sr.Revolute("z"), at=sr.Pose(xyz), mass=1.0, inertia=(0.1, 0.1, 0.1))
    given: dict[str, Any] = {"stiffness": K, "pretension": F, "friction": friction, "crossed": crossed}
    spec.elastic_belt("belt", "a", "b", R_A, R_B, **(given | belt))
    return spec.actuate("a").actuate("b").measure("on_a", sr.ForceIn("belt_a")).compile()


@pytest.mark.parametrize("crossed", [False, True])
@pytest.mark.parametrize("drawn", [False, True])
def test_a_belt_that_stretches_loads_its_shafts(crossed: bool, drawn: bool) -> None:
    """Torques of both strands by hand, and the pull on the shaft against that of the rigid Belt."""
    mech = drive(crossed=crossed, drawn=drawn)
    q = np.array([1e-3, 0.0])
    held = mech.hold(q, frame="world")
    e = R_A * 1e-3
    torque = 2.0 * K * e * R_A
    assert held.motors["a"][0] == pytest.approx(torque, rel=1e-9)
    sign = 1.0 if crossed else -1.0
    assert held.motors["b"][0] == pytest.approx(sign * torque * R_B / R_A, rel=1e-9)
    rigid = sr.MechanismSpec(gravity=(0, 0, 0))
    for name, x in (("a", 0.0), ("b", APART)):
        rigid.body(name, joint=sr.Revolute("z"), at=sr.Pose((x, 0, 0)), mass=1.0, inertia=(0.1, 0.1, 0.1))
    rigid.constrain("belt", sr.Belt("a", "b", R_A, R_B, crossed, F)).actuate("a").actuate("b")
    other = rigid.compile()
    load = np.array([torque, sign * torque * R_B / R_A])
    moved = other.forward_dynamics(other.neutral(), [0, 0], load)
    for name in "ab":
        np.testing.assert_allclose(
            held.reactions[name][0, :3], moved.reaction(name, "world")[:3], rtol=1e-9, atol=1e-9
        )


def test_a_slack_strand_pulls_nothing() -> None:
    mech = drive()
    stretch = 3.0 * F / K  # beyond F / K one strand hangs loose
    on_a = mech.measure([stretch / R_A, 0.0])["on_a"]
    assert np.hypot(*on_a[:2]) == pytest.approx(F + K * stretch, rel=1e-12)
    assert on_a[5] == pytest.approx(-R_A * (F + K * stretch), rel=1e-12)


@pytest.mark.parametrize("groove", [math.pi, math.radians(38.0)])
@pytest.mark.parametrize("crossed", [False, True])
def test_a_belt_slips_at_the_ratio_of_euler(groove: float, crossed: bool) -> None:
    """The motor spins, the machine stands: T1 / T2 = exp(mu angle / sin(groove / 2))."""
    mech = drive(friction=0.3, groove=groove, crossed=crossed)
    run = sr.simulate(mech, (0, 0.2), v0=[50.0, 0.0, 0.0], control=lambda t, q, v: [80.0, -200.0 * v[1]])
    on_a = run["on_a"][-1]
    angle = (
        math.pi + 2 * math.asin((R_A + R_B) / APART)
        if crossed
        else math.pi - 2 * math.asin((R_B - R_A) / APART)
    )
    ratio = math.exp(0.3 * angle / math.sin(groove / 2))
    most = 2 * F * (ratio - 1) / (ratio + 1) * R_A
    assert on_a[5] == pytest.approx(-most, rel=1e-6)
    tight, slack = F + most / R_A / 2, F - most / R_A / 2
    assert tight / slack == pytest.approx(ratio, rel=1e-9)


def test_a_belt_that_does_not_slip_keeps_its_stretch() -> None:
    """Below the limit the state of a belt with friction is the stretch of one without."""
    runs = [
        sr.simulate(
            drive(friction=mu), (0, 0.1), control=lambda t, q, v: [2.0 * math.sin(30 * t), 0.0], rtol=1e-10
        )
        for mu in (None, 5.0)
    ]
    np.testing.assert_allclose(runs[1].q[-1, :2], runs[0].q[-1], rtol=1e-6, atol=1e-9)


def clutch(load: float) -> sr.Mechanism:
    spec = sr.MechanismSpec(gravity=(0, 0, 0), name="freewheel")
    for name in ("driver", "rotor"):
        spec.body(name, joint=sr.Revolute("z"), mass=1.0, inertia=(0.1, 0.1, 0.1))
    spec.one_way_clutch("clutch", "rotor", "driver", stiffness=1e4, damping=10.0)
    spec.force("load", sr.FormulaForce([-load], coordinate="rotor"))
    return spec.actuate("driver").compile()


def test_a_clutch_holds_one_way() -> None:
    """Driven, both turn as one; let go, the rotor runs on under its own load alone."""
    mech, load, torque = clutch(0.5), 0.5, 3.0
    driver, rotor = (mech.names.index(name) for name in ("driver", "rotor"))
    run = sr.simulate(mech, (0, 0.5), control=lambda t, q, v: [torque])
    w = (torque - load) * 0.5 / 0.2
    assert run.v[-1, driver] == pytest.approx(w, rel=1e-3) and run.v[-1, rotor] == pytest.approx(w, rel=1e-3)
    wound = run.v[-1, mech.names.index("clutch")]
    carried = load + 0.1 * (torque - load) / 0.2
    assert -1e4 * wound == pytest.approx(carried, rel=1e-3)
    after = sr.simulate(mech, (0, 0.2), run.q[-1], run.v[-1], control=lambda t, q, v: [-20.0])
    assert after.v[-1, driver] < after.v[-1, rotor]
    assert after.v[-1, rotor] == pytest.approx(run.v[-1, rotor] - load * 0.2 / 0.1, rel=2e-2)
    assert abs(after.v[-1, mech.names.index("clutch")]) < 1e-6


def test_a_backstop_holds_a_load() -> None:
    """A load on a drum sinks until the clutch holds it: wind-up = torque / stiffness."""
    spec = sr.MechanismSpec(gravity=(0, 0, 0))
    spec.body("drum", joint=sr.Revolute("z"), mass=1.0, inertia=(0.1, 0.1, 0.1))
    spec.one_way_clutch("stop", "drum", stiffness=1e4, damping=30.0)
    spec.force("load", sr.FormulaForce([-50.0], coordinate="drum"))
    mech = spec.compile()
    run = sr.simulate(mech, (0, 1.0))
    drum, stop = (mech.names.index(name) for name in ("drum", "stop"))
    assert abs(run.v[-1, drum]) < 1e-9 and run.v[-1, stop] == pytest.approx(-50.0 / 1e4, rel=1e-6)
    assert run.q[-1, drum] == pytest.approx(-50.0 / 1e4, rel=1e-6)


def test_refusals() -> None:
    spec = sr.MechanismSpec()
    spec.body("a", joint=sr.Revolute("z"), mass=1.0, inertia=(0.1, 0.1, 0.1))
    spec.body("b", "a", joint=sr.Revolute("z"), at=sr.Pose((1, 0, 0)), mass=1.0, inertia=(0.1, 0.1, 0.1))
    with pytest.raises(ModelError, match="must be a hinge that is declared from the ground"):
        spec.elastic_belt("belt", "a", "b", 0.1, 0.1, stiffness=1e5, pretension=10.0)
    with pytest.raises(InputError, match="stiffness of belt 'belt' must be positive"):
        spec.elastic_belt("belt", "a", "b", 0.1, 0.1, stiffness=0.0, pretension=10.0)
    with pytest.raises(InputError, match="stiffness of clutch 'c' must be positive"):
        spec.one_way_clutch("c", "a", stiffness=-1.0)

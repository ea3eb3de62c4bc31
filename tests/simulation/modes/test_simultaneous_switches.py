"""Switches and contacts that act at one instant, or within one step: all of them act, in order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import sarrus as sr


def three_slides() -> sr.Mechanism:
    """Masses A, B and C on rails, with brakes on A and B."""
    spec = sr.MechanismSpec(gravity=(0, 0, 0), name="slides")
    for name in "ABC":
        spec.body(name, joint=sr.Prismatic("x"), mass=1.0)
    for name in "AB":
        spec.constrain(f"brake{name}", sr.Coupling({name: 1.0}))
    return spec.compile()


def half(t: float, q: np.ndarray, v: np.ndarray) -> float:
    return float(q[2] - 0.5)


def twice(t: float, q: np.ndarray, v: np.ndarray) -> float:
    return float(2.0 * (q[2] - 0.5))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"on": half, "latch": True}, {"on": half, "latch": True}),
        ({"on": half, "latch": True}, {"on": twice, "latch": True}),
        ({"on": 0.5, "latch": True}, {"on": 0.5, "latch": True}),
        ({"on": 0.5, "latch": True}, {"on": half, "latch": True}),
        ({"off": half, "closed": True}, {"on": half, "latch": True}),
    ],
    ids=["one function", "two functions", "times", "time and function", "open and close"],
)
def test_two_switches_at_one_instant(one: dict[str, Any], other: dict[str, Any]) -> None:
    start = [0.0 if "off" in one else 1.0, 1.0, 1.0]
    switches = [sr.Switch("brakeA", **one), sr.Switch("brakeB", **other)]
    run = sr.simulate(three_slides(), (0, 1), [0, 0, 0], start, switches=switches)
    assert run.success
    changed = [{*event.closed, *event.opened} for event in run.events]
    assert set.union(*changed) == {"brakeA", "brakeB"}
    assert all(event.t == pytest.approx(0.5, abs=1e-9) for event in run.events)
    np.testing.assert_allclose(run.v[-1], [0.0, 0.0, 1.0], atol=1e-12)


def part_and_gripper() -> sr.Mechanism:
    """A part that meets a stop at 0.5 m, and a gripper that can hold what moves along y."""
    spec = sr.MechanismSpec(gravity=(0, 0, 0), name="cell")
    spec.body("part", joint=sr.Prismatic("x"), mass=1.0)
    spec.body("load", joint=sr.Prismatic("y"), mass=1.0)
    spec.constrain("stop", sr.Coupling({"part": 1.0}, offset=0.5))
    spec.constrain("grip", sr.Coupling({"load": 1.0}))
    return spec.compile()


def at_place(x: float) -> Callable[[float, np.ndarray, np.ndarray], float]:
    return lambda t, q, v: float(q[0] - x)


@pytest.mark.parametrize("dt", [None, 0.04])
@pytest.mark.parametrize("place", [0.5, 0.4999999, 0.499, 0.49, 0.475])
def test_a_switch_just_before_a_contact(place: float, dt: float | None) -> None:
    """The gripper closes first; the part goes on to its stop and loses its energy there, not before."""
    mech = part_and_gripper()
    switches = [sr.Contact("stop", side=-1), sr.Switch("grip", on=at_place(place), latch=True)]
    run = sr.simulate(mech, (0, 1), [0, 0], [1.0, 1.0], switches=switches, dt=dt)
    assert run.success
    lost = {name: event for event in run.events for name in event.closed}
    assert set(lost) == {"stop", "grip"}
    assert lost["grip"].t == pytest.approx(place, abs=1e-9)
    assert lost["stop"].t == pytest.approx(0.5, abs=1e-9)
    assert run.energy_lost == pytest.approx(1.0, rel=1e-9)
    np.testing.assert_allclose(run.q[-1], [0.5, place], atol=1e-9)
    moving = run.t < 0.5 - 1e-9
    np.testing.assert_allclose(run.q[moving, 0], run.t[moving], atol=1e-9)
    np.testing.assert_allclose(run.v[moving, 0], 1.0, atol=1e-9)


def test_a_switch_after_a_bounce_of_a_contact_within_one_step() -> None:
    """A contact closes and the switch acts later in the same piece of steps: nothing goes back."""
    mech = part_and_gripper()
    late = sr.Switch("grip", on=lambda t, q, v: t - 0.5003, latch=True)
    run = sr.simulate(mech, (0, 1), [0, 0], [1.0, 1.0], switches=[sr.Contact("stop", side=-1), late], dt=0.01)
    assert [event.closed for event in run.events] == [("stop",), ("grip",)]
    np.testing.assert_allclose(run.q[-1], [0.5, 0.5003], atol=1e-9)


def test_what_sticks_later_slides_again_where_a_switch_goes_back() -> None:
    """The run has come to the mode in which a block sticks; a switch before that starts in the one before."""
    spec = sr.MechanismSpec(gravity=(0, 0, 0), name="blocks")
    spec.body("block", joint=sr.Prismatic("x"), mass=1.0, friction=2.0, friction_model="coulomb")
    spec.body("B", joint=sr.Prismatic("x"), mass=1.0)
    spec.constrain("grip", sr.Coupling({"B": 1.0}))
    early = sr.Switch("grip", on=lambda t, q, v: float(q[1] - 0.495), latch=True)
    run = sr.simulate(spec.compile(), (0, 1), [0, 0], [1.0, 1.0], switches=[early])
    sticks = [event for event in run.events if event.kind == "stick"]
    assert [event.t for event in sticks] == [pytest.approx(0.5, abs=1e-9)]  # v / (mu g) = 1 / 2
    np.testing.assert_allclose(run.q[-1], [0.25, 0.495], atol=1e-9)

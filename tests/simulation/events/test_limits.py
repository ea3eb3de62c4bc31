"""Limits of joints and actuators: reported where they are passed, enforced nowhere."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import sarrus as sr


def oscillator(limits: Any, **options: Any) -> sr.Mechanism:
    """x'' = -x: x = sin t from x = 0 with unit speed."""
    spec = sr.MechanismSpec(gravity=(0, 0, 0))
    spec.body("mass", joint=sr.Prismatic("x"), mass=1.0, limits=limits, **options)
    spec.force("spring", sr.JointSpring("mass", 1.0))
    return spec.actuate("mass", limits=(-2.0, 3.0)).compile()


def limit_events(run: sr.Trajectory) -> list[sr.Event]:
    return [event for event in run.events if event.kind == "limit"]


@pytest.mark.parametrize("options", [{}, {"method": "dopri5"}, {"store_every": 50}, {"t_eval": [0.0, 6.0]}])
def test_crossings_are_located_and_told(options: dict[str, Any]) -> None:
    run = sr.simulate(oscillator((-0.5, 0.5)), (0.0, 6.0), [0.0], [1.0], dt=0.01, **options)
    events = limit_events(run)
    crossing = math.asin(0.5)
    expected = [crossing, math.pi - crossing, math.pi + crossing, 2 * math.pi - crossing]
    assert [event.t for event in events] == pytest.approx(expected, abs=1e-7)
    assert [event.name for event in events] == ["mass"] * 4 and not any(event.terminal for event in events)
    np.testing.assert_allclose([event.q[0] for event in events], [0.5, 0.5, -0.5, -0.5], atol=1e-9)
    assert events[0].note == "above its upper limit 0.5"
    assert events[1].note == "back within its limits -0.5 to 0.5"
    assert events[2].note == "below its lower limit -0.5"
    assert run.success and run.message.startswith("Reached the end, t = 6 s. Beyond their limits")
    assert "mass (first at t = 0.523599 s)" in run.message


def test_within_limits_nothing_is_said() -> None:
    run = sr.simulate(oscillator((-1.5, None)), (0.0, 6.0), [0.0], [1.0], dt=0.01)
    assert run.events == () and run.message == "Reached the end, t = 6 s."


def test_a_start_beyond_the_limits_is_told() -> None:
    run = sr.simulate(oscillator((0.1, 2.0)), (0.0, 0.05), [0.0], [1.0], dt=0.01)
    assert [(event.t, event.note) for event in limit_events(run)] == [(0.0, "below its lower limit 0.1")]


def test_coordinates_with_stops_are_left_to_them() -> None:
    soft = oscillator((-0.5, 0.5), stop_stiffness=1e4)
    assert limit_events(sr.simulate(soft, (0.0, 2.0), [0.0], [1.0])) == []
    hard = sr.simulate(oscillator((-0.5, 0.5)), (0.0, 2.0), [0.0], [1.0], stops=True)
    assert limit_events(hard) == [] and "Beyond" not in hard.message


def test_events_after_a_terminal_one_are_not_told() -> None:
    def end(t: float, q: Any, v: Any) -> float:
        return t - 0.2

    end.terminal = True  # type: ignore[attr-defined]
    run = sr.simulate(oscillator((-0.5, 0.5)), (0.0, 6.0), [0.0], [1.0], dt=0.01, events=end)
    assert limit_events(run) == [] and "Beyond" not in run.message


def test_inputs_beyond_their_limits_are_applied_and_told() -> None:
    def control(t: float, q: Any, v: Any) -> list[float]:
        return [10.0 * t]

    run = sr.simulate(oscillator(None), (0.0, 1.0), [0.0], [0.0], dt=0.01, control=control)
    (event,) = limit_events(run)
    assert event.name == "actuator mass" and event.t == pytest.approx(0.31)
    assert event.note == "input 3.1 beyond the limits -2 to 3 of the actuator"
    assert run.message.endswith(
        "Inputs beyond the limits of their actuators, applied as they are: mass up to 10, limits -2 to 3."
    )
    assert run.u[-1, 0] == pytest.approx(10.0)
    free = sr.simulate(oscillator(None), (0.0, 1.0), [0.0], [0.0], dt=0.01)
    assert free.events == ()


def test_a_run_that_goes_on_tells_of_its_crossings_too(tmp_path: Any) -> None:
    mech = oscillator((-0.5, 0.5))
    whole = sr.simulate(mech, (0.0, 6.0), [0.0], [1.0], dt=0.01)
    parts = sr.simulate(mech, (0.0, 1.0), [0.0], [1.0], dt=0.01).resume(6.0)
    assert [event.t for event in parts.events] == [event.t for event in whole.events]
    assert "Beyond their limits" in parts.message
    loaded = sr.Trajectory.load(parts.save(tmp_path / "run.npz"))
    assert [event.note for event in loaded.events] == [event.note for event in whole.events]


def test_assemble_and_sweep_name_coordinates_beyond_their_limits() -> None:
    spec = sr.MechanismSpec()
    solid = {"mass": 1.0, "inertia": (0.1, 0.1, 0.1)}
    spec.body("crank", joint=sr.Revolute("y"), limits=(-0.5, 2.0), **solid)
    spec.body("slider", joint=sr.Prismatic("x"), limits=(None, 3.9), **solid)
    spec.constrain("rod", sr.Distance("crank", (1, 0, 0), "slider", (0, 0, 0), 3.0))
    mech = spec.compile()
    within = mech.assemble([1.0, 4.0], fixed={"crank": 1.0})
    assert within.success and "limits" not in within.message
    beyond = mech.assemble([0.0, 4.0], fixed={"crank": 0.0})
    assert (
        beyond.success
        and "Beyond the limits of joints, which are not enforced: slider = 4," in beyond.message
    )
    path = mech.sweep("crank", np.linspace(1.0, 2.5, 8), q0=within.q)
    assert path.success and "crank = 2.5, limits -0.5 to 2" in path.message


def test_runs_with_switches_tell_of_limits_too() -> None:
    spec = sr.MechanismSpec(gravity=(0, 0, 0))
    spec.body("mass", joint=sr.Prismatic("x"), mass=1.0, limits=(-0.5, 0.5))
    spec.constrain("brake", sr.Coupling({"mass": 1.0}, offset=0.8))
    switch = sr.Switch("brake", on=0.8)
    run = sr.simulate(spec.compile(), (0.0, 1.0), [0.0], [1.0], dt=0.01, switches=[switch])
    (event,) = limit_events(run)
    assert event.name == "mass" and event.t == pytest.approx(0.5, abs=1e-9)
    assert "Beyond their limits" in run.message and run.q[-1, 0] == pytest.approx(0.8)

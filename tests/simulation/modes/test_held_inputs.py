"""What a controller gives is held until its next sample, whatever happens in between, with every method.

Oracles: motions of one freedom that are parabolas between samples, and `bench.one_freedom`, an integrator
with closed forms of inertia and load that knows no constraints.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import sarrus as sr
from bench.one_freedom import Linkage, OneFreedom, Rod, Slider, Task

METHODS: tuple[dict[str, Any], ...] = (
    {},
    {"method": "dopri5"},
    {"method": "radau"},
    {"dt": 5e-4},
    {"method": "verlet", "dt": 1e-4},
    {"coordinates": "tangent"},
    {"coordinates": "partition"},
    {"coordinates": "nullspace"},
    {"coordinates": "tangent", "dt": 5e-4},
)


def rod(length: float) -> Rod:
    return Rod(1.0, length / 2, length**2 / 12)


def four_bar() -> Linkage:
    return Linkage((0.3, 1.0, 0.8), (rod(0.3), rod(1.0), rod(0.8)), True)


def run_of(task: Task, options: dict[str, Any], **of_joint: Any) -> Any:
    """The run of a task with these options."""
    spec = task.machine.spec(**of_joint)
    if task.brake is not None:
        spec.constrain("brake", sr.Coupling({task.machine.name: 1.0}))
        switch = sr.Switch("brake", on=task.brake[0], off=task.brake[1], latch=True)
        options = options | {"switches": [switch]}
    shape = task.machine.at(task.x)
    return sr.simulate(
        spec.compile(),
        (0.0, task.end),
        shape.coordinates,
        shape.slopes * task.v,
        control=lambda t, q, v: [task.law(t, q[0], v[0])],
        control_dt=task.sample,
        **options,
    )


def largest_error(run: Any, task: Task) -> float:
    """Of x at all times [rad, m]."""
    times, at = np.unique(run.t, return_index=True)
    exact = OneFreedom(task).motion(times)
    assert exact.complete
    return float(np.abs(run.q[at, 0] - exact.states[:, 0]).max())


def stops_of(task: Task) -> dict[str, Any]:
    return {"limits": task.stops, "friction": task.friction, "friction_model": "coulomb"}


@pytest.mark.parametrize("options", METHODS, ids=str)
def test_stops_of_a_linkage_between_samples(options: dict[str, Any]) -> None:
    """The crank runs from stop to stop; what pressed it against one at the start must not come back."""
    law = lambda t, x, v: 12.0 * math.sin(9.0 * t)  # noqa: E731
    task = Task(four_bar(), 0.9, 2.0, 1.0, law, sample=0.023, stops=(0.5, 1.3))
    run = run_of(task, {"stops": True} | options, **stops_of(task))
    assert run.success, run.message
    assert len(run.impacts) >= 2
    assert largest_error(run, task) < (1e-5 if "verlet" in options.values() else 1e-6)


@pytest.mark.parametrize("options", METHODS, ids=str)
def test_friction_and_a_brake_between_samples(options: dict[str, Any]) -> None:
    """A crank that slips and sticks, held by a brake for a while: rest is rest, down to the last digit."""
    law = lambda t, x, v: 20.0 * (1.0 if math.sin(11.0 * t) > 0.0 else -1.0)  # noqa: E731
    task = Task(four_bar(), 1.2, 0.0, 0.9, law, sample=0.031, friction=15.0, brake=(0.21, 0.47))
    run = run_of(task, options, friction=15.0, friction_model="coulomb")
    assert run.success, run.message
    assert largest_error(run, task) < (1e-5 if "verlet" in options.values() else 1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_rest_has_no_direction(seed: int) -> None:
    """Cranks that stick, and are let go at samples: velocities of 4.9e-324 once counted as motion."""
    rng = np.random.default_rng(seed)
    size = float(rng.uniform(10.0, 30.0))
    law = lambda t, x, v: size * (1.0 if math.sin(15.0 * t) > 0.0 else -1.0)  # noqa: E731
    friction = size * float(rng.uniform(0.5, 0.8))
    task = Task(four_bar(), float(rng.uniform(0.5, 2.0)), 0.0, 1.0, law, sample=0.003, friction=friction)
    run = run_of(task, {"method": ["auto", "dopri5"][seed % 2]}, friction=friction, friction_model="coulomb")
    assert run.success, run.message
    assert sum(event.kind == "slip" for event in run.events) >= 2
    assert largest_error(run, task) < 1e-6


@pytest.mark.parametrize("what", ["stops", "brake"])
def test_named_coordinates_where_nothing_is_free(what: str) -> None:
    """While a stop or a brake holds the machine its coordinate is no chart; afterwards it is one again."""
    law = lambda t, x, v: 3.0 * math.sin(9.0 * t)  # noqa: E731
    brake = (0.3, 0.5) if what == "brake" else None
    stops = (-0.5, 0.2) if what == "stops" else (-math.inf, math.inf)
    task = Task(Slider(1.0, 0.0), 0.0, 1.0, 1.0, law, sample=0.05, stops=stops, brake=brake)
    run = run_of(
        task,
        {"coordinates": ["x"], "stops": what == "stops"},
        **({"limits": stops} if what == "stops" else {}),
    )
    assert run.success, run.message
    assert largest_error(run, task) < 1e-9


@pytest.mark.parametrize("method", ["auto", "dopri5", "radau"])
@pytest.mark.parametrize("coordinates", ["full", "tangent"])
def test_no_method_steps_over_a_pulse(method: str, coordinates: str) -> None:
    """A push of 20 ms moves a block that sticks, whatever the method: steps are at most 10 ms long there."""
    if method == "radau" and coordinates != "full":
        pytest.skip("refused")
    law = lambda t, x, v: 5.0 if 0.61 < t < 0.63 else 0.0  # noqa: E731
    task = Task(Slider(1.0, 0.0), 0.0, 0.0, 1.0, law, friction=1.0)
    run = run_of(task, {"method": method, "coordinates": coordinates}, friction=1.0, friction_model="coulomb")
    # 4 N for 20 ms, then -1 N until it rests
    assert run.q[-1, 0] == pytest.approx(0.5 * 4.0 * 0.02**2 + 0.08**2 / 2, rel=1e-4)


def test_long_runs_with_friction_at_rest_reach_their_end() -> None:
    """Whether errors add up is judged without the friction, which has no derivatives at rest."""
    law = lambda t, x, v: 3.0 * math.sin(9.0 * t)  # noqa: E731
    task = Task(Slider(1.0, 0.0), 0.0, 1.0, 2.0, law, sample=0.001, friction=1.0)
    run = run_of(task, {"coordinates": "tangent", "rtol": 1e-5}, friction=1.0, friction_model="coulomb")
    assert run.success and largest_error(run, task) < 1e-9


@pytest.mark.parametrize("coordinates", ["full", "tangent", "partition"])
def test_samples_keep_their_times_past_a_singular_pose(coordinates: str) -> None:
    """Minimal coordinates leave their chart between two samples there; the next sample stays where it was."""
    seen: list[float] = []

    def push(t: float, q: Any, v: Any) -> list[float]:
        seen.append(t)
        return [2.0 * math.sin(5.0 * t)]

    mech = sr.library.parallelogram()
    q, v = mech.project([0.5, -0.5, 0.5], [-3.0, 3.0, -3.0])
    idle = [0.0] * (mech.nu - 1)
    run = sr.simulate(
        mech,
        (0.0, 0.6),
        q,
        v,
        control=lambda t, q, v: [*push(t, q, v), *idle],
        control_dt=0.07,
        coordinates=coordinates,
    )
    assert run.success, run.message
    assert any(event.kind == "singular" for event in run.events)
    assert {round(t, 12) for t in seen} <= {round(0.07 * k, 12) for k in range(9)}
    for k in range(8):
        inside = (run.t > 0.07 * k + 1e-9) & (run.t < 0.07 * (k + 1) - 1e-9)
        np.testing.assert_array_equal(run.u[inside, 0], 2.0 * math.sin(5.0 * 0.07 * k))


@pytest.mark.parametrize("method", [{"dt": 2e-3}, {"rtol": 1e-8}, {"method": "radau"}])
def test_a_switch_and_a_sample_that_differ_by_rounding_are_one_instant(method: dict[str, Any]) -> None:
    """A step of 2e-16 s between them had the new input in the old mode: feet of a trotting quadruped, told to
    push with 5 N at least, were recorded as pulling with 0.2 N."""
    on, off = float(np.nextafter(425 * 4e-3, 2.0)), float(np.nextafter(475 * 4e-3, 0.0))
    spec = sr.MechanismSpec(gravity=(0.0, 0.0, 0.0))
    spec.body("x", joint=sr.Prismatic("x"), mass=1.0)
    spec.constrain("brake", sr.Coupling({"x": 1.0}))
    push = lambda t, q, v: [0.0 if on - 1e-9 < t < off - 1e-9 else 1.0]  # noqa: E731
    brake = sr.Switch("brake", on=on, off=off, latch=True)
    run = sr.simulate(
        spec.compile(), (0.0, 2.0), [0.0], [0.0], control=push, control_dt=4e-3, switches=[brake], **method
    )
    assert run.success and [event.name for event in run.events] == ["'brake' closes", "'brake' opens"]
    steps = np.diff(run.t)
    assert not np.any((steps > 0.0) & (steps < 1e-9))
    for part in run.segments:
        held = part.system.nc > 0
        assert np.all(part.u[:-1] == (0.0 if held else 1.0))
    assert run.q[-1, 0] == pytest.approx(0.5 * 1.7**2 + 0.5 * 0.1**2, rel=1e-9)

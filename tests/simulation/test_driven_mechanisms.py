"""Random mechanisms whose drives leave no freedom, against a chain of assemblies at the same times.

Four-bars, slider-cranks, five-bars with two motors and six-bars of random lengths, turned at constant speed,
to and fro, or both. Many of them cannot follow their drive to the end: these runs have to fail.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

import sarrus as sr

HINGE = sr.Revolute("z")
CLOSE = 5e-3  # rad or m between an assembly and its guess from the two before: the same branch
SHORTEST = 1e-9  # of the run, between two assemblies: they met a dead end
SAME = 1e-6  # rad or m at the end: a hundred times rtol, another assembly is off by 0.01 or more


def bar(length: float) -> dict[str, object]:
    inertia = length**2 / 12
    return {"mass": 1.0, "com": (length / 2, 0, 0), "inertia": (0, inertia, inertia)}


def dyad(spec: sr.MechanismSpec, name: str, on: str, at: float, to: tuple[float, float]) -> None:
    """Two bars from a point of body `on` to a pivot on the ground."""
    first, second = 1.0, 0.9
    spec.body(f"{name}1", on, joint=HINGE, at=sr.Pose((at, 0, 0)), **bar(first))
    spec.body(f"{name}2", joint=HINGE, at=sr.Pose((*to, 0)), **bar(second))
    ends = {"at_a": sr.Pose((first, 0, 0)), "at_b": sr.Pose((second, 0, 0))}
    spec.close(name, f"{name}1", f"{name}2", joint=HINGE, **ends)


def linkage(rng: np.random.Generator) -> tuple[sr.MechanismSpec, list[str]]:
    """A linkage and the joints that motors turn."""
    spec = sr.MechanismSpec(gravity=(0, -9.81, 0))
    crank = rng.uniform(0.1, 0.7)
    spec.body("crank", joint=HINGE, **bar(crank))
    kind = rng.integers(4)
    if kind == 0:
        spec.body("rod", "crank", joint=HINGE, at=sr.Pose((crank, 0, 0)), **bar(1.0))
        spec.body("slide", joint=sr.Prismatic("x"), mass=1.0)
        spec.close("pin", "rod", "slide", joint=HINGE, at_a=sr.Pose((1, 0, 0)))
        return spec, ["crank"]
    if kind == 1:
        spec.body("arm", joint=HINGE, at=sr.Pose((0.8, 0, 0)), **bar(0.4))
        spec.body("left", "crank", joint=HINGE, at=sr.Pose((crank, 0, 0)), **bar(1.0))
        spec.body("right", "arm", joint=HINGE, at=sr.Pose((0.4, 0, 0)), **bar(0.8))
        ends = {"at_a": sr.Pose((1, 0, 0)), "at_b": sr.Pose((0.8, 0, 0))}
        spec.close("tip", "left", "right", joint=HINGE, **ends)
        return spec, ["crank", "arm"]
    dyad(spec, "loop", "crank", crank, (rng.uniform(0.5, 1.2), rng.uniform(-0.2, 0.2)))
    if kind == 3:
        dyad(spec, "second", "loop2", 0.5, (rng.uniform(1.2, 2.0), rng.uniform(0.2, 0.6)))
    return spec, ["crank"]


def motor(rng: np.random.Generator, angle: float) -> tuple[list[Callable[[float], float]], float]:
    """Angle, rate and acceleration of a motor, and the time in which it turns by about 10 rad."""
    speed, swing = rng.choice([1.0, 5.0, -20.0]), rng.choice([0.0, 0.3, 1.0])
    turning = rng.choice([0.0, 1.0]) if swing else 1.0
    w = 2.0 * speed

    def position(t: float) -> float:
        return float(angle + turning * speed * t + swing * math.sin(w * t))

    rates = [
        position,
        lambda t: float(turning * speed + swing * w * math.cos(w * t)),
        lambda t: float(-swing * w * w * math.sin(w * t)),
    ]
    return rates, 8.0 / abs(speed)


Angles = Callable[[float], dict[str, float]]


def chain(mech: sr.Mechanism, q: np.ndarray, angles: Angles, end: float) -> np.ndarray | None:
    """Pose at the end, from one assembly to the next; None where the drives cannot be followed."""
    t, dt, rate = 0.0, 1e-4 * end, np.zeros_like(q)
    while t < end:
        dt = min(dt, end - t)
        guess = q + dt * rate
        found = mech.assemble(guess, fixed=angles(t + dt))
        off = np.abs(found.q - guess).max()
        if found.success and off < CLOSE:
            t, q, rate = t + dt, found.q, (found.q - q) / dt
            dt *= 2.0 if off < 0.3 * CLOSE else 1.0
        elif dt < SHORTEST * end:
            return None
        else:
            dt /= 2.0
    return q


def compare(seed: int, methods: tuple[str, ...]) -> str:
    """ "right" or "failed" where success means right, else what is wrong."""
    rng = np.random.default_rng(seed)
    spec, driven = linkage(rng)
    free = spec.compile()
    start = free.assemble(rng.uniform(-1.0, 1.0, free.nq))
    if not start.success:
        return "not assembled"
    positions, end = {}, math.inf
    for name in driven:
        rates, time = motor(rng, float(start.q[free.names.index(name)]))
        positions[name], end = rates[0], min(end, time)
        spec.constrain(f"motor of {name}", sr.Drive(name, *rates))
    mech, outcomes = spec.compile(), []
    want = chain(free, start.q, lambda t: {name: at(t) for name, at in positions.items()}, end)
    for method in methods:
        run = sr.simulate(mech, (0.0, end), start.q, method=method)
        outcomes.append("right" if run.success else "failed")
        if run.success and (want is None or np.abs(run.q[-1] - want).max() > SAME):
            return f"{method}: wrong with success"
        if not run.success and want is not None:
            outcomes[-1] = f"{method}: {run.message}"
    return ", ".join(outcomes)


@pytest.mark.parametrize("seed", range(12))
def test_success_is_the_assembly_of_that_time(seed: int) -> None:
    assert "wrong" not in compare(seed, ("auto", "radau"))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 300))
def test_two_hundred_driven_mechanisms(seed: int) -> None:
    assert "wrong" not in compare(seed, ("auto", "radau", "dopri5"))

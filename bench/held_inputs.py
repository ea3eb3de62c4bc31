"""Random runs with sampled control, stops, brakes and dry friction, judged by an independent integrator.

Part of `python -m bench.honesty`: each combination of events, friction, coordinates and methods.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

import sarrus as sr

from .one_freedom import Linkage, Motion, OneFreedom, Rod, Slider, Task

Rng = np.random.Generator
Array = npt.NDArray[np.float64]
NUDGE = 1e-9
FACTOR = 100.0
CHAOTIC = 1e6  # amplification beyond which nothing can be said
FIXED_TOLERANCE = 1e-4
BESIDE = 1e-5  # [s]: velocities so close to a jump are not compared
METHODS = ("auto", "auto", "dopri5", "radau", "rk4", "rk4", "verlet", "semi_implicit_euler")
FIXED = {"rk4": (-3.5, -2.0), "verlet": (-4.0, -3.3), "semi_implicit_euler": (-4.5, -4.0)}  # dt, powers of 10
SAMPLES = (0.001, 0.003, 0.005, 0.01, 0.017, 0.02, 0.05, 0.1)
COORDINATES = ("full", "full", "full", "tangent", "partition", "nullspace", "named")


@dataclass(frozen=True)
class HeldTrial:
    """One run, and the task that it solves."""

    title: str
    mech: sr.Mechanism
    task: Task
    options: dict[str, Any]

    @property
    def tolerance(self) -> float:
        """Of the run."""
        if "dt" not in self.options:
            return float(self.options["rtol"])
        first_order = self.options["method"] == "semi_implicit_euler"
        return 100.0 * FIXED_TOLERANCE if first_order else FIXED_TOLERANCE


def rod(rng: Rng, length: float) -> Rod:
    """A uniform rod of random mass."""
    mass = float(rng.uniform(0.3, 3.0))
    return Rod(mass, length / 2, mass * length * length / 12)


def machine(rng: Rng) -> tuple[Any, float, float]:
    """A machine of one freedom, and where it starts."""
    kind = rng.integers(3)
    if kind == 0:
        slider = Slider(float(rng.uniform(0.5, 2.0)), float(rng.choice([0.0, 0.0, 50.0, 3000.0])))
        return slider, float(rng.uniform(-0.2, 0.2)), float(rng.choice([0.0, rng.uniform(-2.0, 2.0)]))
    rocker = kind == 1
    a, b, c = float(rng.uniform(0.15, 0.35)), float(rng.uniform(0.8, 1.1)), float(rng.uniform(0.7, 1.0))
    last = rod(rng, c) if rocker else Rod(float(rng.uniform(0.3, 3.0)), 0.0, 0.0)
    linkage = Linkage((a, b, c), (rod(rng, a), rod(rng, b), last), rocker)
    return linkage, float(rng.uniform(0.3, 2.5)), float(rng.choice([0.0, rng.uniform(-6.0, 6.0)]))


def law(rng: Rng, size: float, start: float) -> Any:
    """A controller, open or closed loop, smooth or switching, of inputs of about this size."""
    kind, w = rng.integers(4), float(rng.uniform(3.0, 40.0))
    if kind == 0:
        return lambda t, x, v: size * math.sin(w * t)
    if kind == 1:
        return lambda t, x, v: size * (math.sin(w * t) - 3.0 * (x - start) - 0.2 * v)
    if kind == 2:
        return lambda t, x, v: size * (1.0 if math.sin(w * t) >= 0.0 else -1.0)
    return lambda t, x, v: -size * math.tanh(20.0 * (x - start - 0.1)) - 0.2 * size * v


def happenings(rng: Rng, one: Any, x: float, size: float) -> dict[str, Any]:
    """Friction, stops and a brake of a `Task`: each of them or none."""
    found: dict[str, Any] = {}
    if rng.random() < 0.5:
        found["friction"] = float(size * rng.choice([0.1, 0.4, 0.8, 1.05]))
    if rng.random() < 0.4:
        below, above = rng.uniform(0.1, 1.0, 2) * (0.3 if one.name == "x" else 0.8)
        found["stops"] = (x - float(below), x + float(above))
    if rng.random() < 0.3:
        on = float(rng.uniform(0.1, 0.5))
        found["brake"] = (on, on + float(rng.uniform(0.05, 0.4)))
    return found


def trial(seed: int) -> HeldTrial:
    """A random run."""
    rng = np.random.default_rng([seed, 37])
    one, x, v = machine(rng)
    load = abs(one.at(x).load)
    size = float(rng.uniform(1.0, 6.0)) * (1.0 + load) * (2.0 if one.name == "x" else 1.0)
    control, sample = law(rng, size, x), float(rng.choice(SAMPLES))
    happens = happenings(rng, one, x, size)
    end = float(rng.uniform(0.4, 1.2))
    if rng.random() < 0.15:
        smooth = lambda t, x, v: size * math.sin(9.0 * t)  # noqa: E731
        task = Task(one, x, v, end, smooth, None, **happens)
    else:
        task = Task(one, x, v, end, control, sample, **happens)
    options = how(rng, task)
    kind = "sampled" if task.sample else "smooth"
    return HeldTrial(f"{kind} control, {options['method']}", described(task), task, options)


def how(rng: Rng, task: Task) -> dict[str, Any]:
    """Method, steps, coordinates, and what `simulate` has to know of the task."""
    method, coordinates = str(rng.choice(METHODS)), str(rng.choice(COORDINATES))
    if method == "radau" or (task.friction and coordinates == "named"):  # refused
        coordinates = "full"
    options: dict[str, Any] = {"method": method}
    if method in FIXED:
        options["dt"] = float(10.0 ** rng.uniform(*FIXED[method]))
    else:
        options["rtol"] = float(10.0 ** rng.uniform(-9.0, -5.0))
    if coordinates != "full":
        options["coordinates"] = [task.machine.name] if coordinates == "named" else coordinates
    if task.sample is not None:
        options["control_dt"] = task.sample
    if math.isfinite(task.stops[0]):
        options["stops"] = True
    if task.brake is not None:
        options["switches"] = [sr.Switch("brake", on=task.brake[0], off=task.brake[1], latch=True)]
    return options


def described(task: Task) -> sr.Mechanism:
    """The mechanism of a task."""
    of_joint: dict[str, Any] = {}
    if task.friction:
        of_joint |= {"friction": task.friction, "friction_model": "coulomb"}
    if math.isfinite(task.stops[0]):
        of_joint["limits"] = task.stops
    spec = task.machine.spec(**of_joint)
    if task.brake is not None:
        spec.constrain("brake", sr.Coupling({task.machine.name: 1.0}))
    return spec.compile()


def run(one: HeldTrial) -> tuple[sr.Trajectory, bool]:
    """The run, and whether it says that it may be wrong."""
    task, shape = one.task, one.task.machine.at(one.task.x)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        found = sr.simulate(
            one.mech,
            (0.0, task.end),
            shape.coordinates,
            shape.slopes * task.v,
            control=lambda t, q, v: [task.law(t, float(q[0]), float(v[0]))],
            **one.options,
        )
    quiet = found.success and not seen and found.message == f"Reached the end, t = {task.end:.9g} s."
    return found, not quiet


def apart(motion: Motion, x: Array, v: Array, times: Array, jumps: list[float]) -> Array:
    """Difference of states from those of a motion, at each time: x [rad, m], v over the largest speed."""
    speed = max(float(np.abs(motion.states[:, 1]).max(initial=0.0)), 1e-3)
    near = np.any(np.abs(times[:, None] - np.array(jumps or [math.inf])) < BESIDE, axis=1)
    dv = np.where(near, 0.0, (v - motion.states[:, 1]) / speed)
    return np.maximum(np.abs(x - motion.states[:, 0]), np.abs(dv))


def judge(one: HeldTrial) -> str:
    """The column of `honesty.COLUMNS` that the run belongs to."""
    found, loud = run(one)
    times = np.unique(found.t)
    first = np.searchsorted(found.t, times, side="right") - 1
    exact = OneFreedom(one.task).motion(times)
    nudges = [OneFreedom(nudged(one.task, s)).motion(times) for s in (NUDGE, -NUDGE)]
    if not all(motion.complete for motion in (exact, *nudges)):
        return "unknown"
    jumps = [t for motion in (exact, *nudges) for t in motion.jumps]
    amplification = np.ones(len(times))
    for motion in nudges:
        grown = apart(exact, motion.states[:, 0], motion.states[:, 1], times, jumps) / NUDGE
        amplification = np.maximum(amplification, np.maximum.accumulate(grown))
    if amplification[-1] > CHAOTIC:
        return "unknown"
    off = apart(exact, found.q[first, 0], found.v[first, 0], times, jumps)
    complete = times[-1] == one.task.end
    right = complete and bool(np.all(off <= FACTOR * one.tolerance * amplification))
    return ("warned" if loud else "right") if right else ("loud" if loud else "wrong")


def nudged(task: Task, size: float) -> Task:
    """The task from a start that is slightly different."""
    return replace(task, x=task.x + size, v=task.v + size if task.v else 0.0)

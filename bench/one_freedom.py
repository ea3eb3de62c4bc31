"""Machines of one freedom and their motion by an integrator of their own: the judge of `bench.honesty`.

I(x) x'' + I'(x) x'^2 / 2 = u + Q(x) - F sign(x'), with closed forms of I and Q, and no constraints. Inputs
are held from sample to sample. Stops and brakes take the velocity, dry friction holds loads up to F. Pieces
between two such changes are smooth and integrated by SciPy's DOP853.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

import sarrus as sr

Array = npt.NDArray[np.float64]
GRAVITY = 9.81
TOLERANCE = {"method": "DOP853", "rtol": 1e-12, "atol": 1e-13, "max_step": 0.02}
MOST_PIECES = 3_000  # of a motion; more are not judged
SOON = 1e-13  # [s]: pieces that are shorter have been passed


@dataclass(frozen=True)
class Rod:
    """A body along a link: com at `com` m from its joint, moment of inertia about the com."""

    mass: float
    com: float
    inertia: float

    def declared(self) -> dict[str, Any]:
        """The same for MechanismSpec.body."""
        i = self.inertia
        return {"mass": self.mass, "com": (self.com, 0.0, 0.0), "inertia": (i, i, i)}


@dataclass(frozen=True)
class Shape:
    """Of a machine at x: I, dI/dx, and the load Q along x; all its coordinates, and their slopes."""

    inertia: float
    slope: float
    load: float
    coordinates: Array
    slopes: Array


class Slider:
    """A mass on a rail, with a spring to x = 0; x is its displacement."""

    name = "x"

    def __init__(self, mass: float, stiffness: float) -> None:
        self.mass, self.stiffness = mass, stiffness

    def spec(self, **of_joint: Any) -> sr.MechanismSpec:
        """The description."""
        spec = sr.MechanismSpec(gravity=(0.0, -GRAVITY, 0.0), name="slider")
        spec.body("x", joint=sr.Prismatic("x"), mass=self.mass, **of_joint)
        if self.stiffness:
            spec.force("spring", sr.JointSpring("x", self.stiffness))
        return spec

    def at(self, x: float) -> Shape:
        """Its shape at x."""
        return Shape(self.mass, 0.0, -self.stiffness * x, np.array([x]), np.ones(1))


class Linkage:
    """A crank and a coupler, and a rocker or a slider on the line through the crank's pivot; x: the crank."""

    name = "crank"

    def __init__(self, links: tuple[float, float, float], rods: tuple[Rod, Rod, Rod], rocker: bool) -> None:
        """
        Args:
            links: lengths of crank, coupler and rocker [m]; the pivots are 1 m apart.
            rods: crank, coupler, and rocker or slider.
            rocker: whether there is a rocker.
        """
        self.links, self.rods, self.rocker = links, rods, rocker

    def spec(self, **of_joint: Any) -> sr.MechanismSpec:
        """The description."""
        a, b, c = self.links
        crank, coupler, last = (rod.declared() for rod in self.rods)
        hinge, at = sr.Revolute("z"), {"at_a": sr.Pose((b, 0.0, 0.0))}
        spec = sr.MechanismSpec(
            gravity=(0.0, -GRAVITY, 0.0), name="four-bar" if self.rocker else "slider-crank"
        )
        spec.body("crank", joint=hinge, **crank, **of_joint)
        spec.body("coupler", "crank", joint=hinge, at=sr.Pose((a, 0.0, 0.0)), **coupler)
        if self.rocker:
            spec.body("rocker", joint=hinge, at=sr.Pose((1.0, 0.0, 0.0)), **last)
            at["at_b"] = sr.Pose((c, 0.0, 0.0))
        else:
            spec.body("rocker", joint=sr.Prismatic("x"), **last)
        spec.close("pin", "coupler", "rocker", joint=hinge, **at)
        spec.actuate("crank")
        return spec

    def at(self, x: float) -> Shape:
        """Its shape at x: every point is a complex number, differentiated twice by x."""
        a, b, c = self.links
        tip = a * np.exp(1j * x)
        B, C, s = self._close(tip)
        # along i e^(iB) B' and the rocker's i e^(iC) C', or the slider's s': both times -> what is left
        to_B = 1j * b * np.exp(1j * B)
        to_C = 1j * c * np.exp(1j * C) if self.rocker else 1.0 + 0j
        matrix = np.array([[to_B.real, -to_C.real], [to_B.imag, -to_C.imag]])
        first = -1j * tip
        B1, C1 = np.linalg.solve(matrix, [first.real, first.imag])
        left = tip + b * np.exp(1j * B) * B1**2 - (c * np.exp(1j * C) * C1**2 if self.rocker else 0.0)
        B2, C2 = np.linalg.solve(matrix, [left.real, left.imag])
        crank, coupler, last = self.rods
        parts = [self._turning(crank, x, 1.0, 0.0, 0.0, 0.0)]
        parts.append(self._turning(coupler, B, B1, B2, 1j * tip, -tip))
        if self.rocker:
            parts.append(self._turning(last, C, C1, C2, 0.0, 0.0))
        else:
            parts.append((last.mass * C1**2, 2.0 * last.mass * C1 * C2, 0.0))
        inertia, slope, load = np.sum(parts, axis=0)
        coordinates = np.array([x, B - x, C if self.rocker else s])
        return Shape(float(inertia), float(slope), float(load), coordinates, np.array([1.0, B1 - 1.0, C1]))

    def _close(self, tip: complex) -> tuple[float, float, float]:
        """Angles of coupler and rocker, and the place of the slider: the open branch, continuous in x."""
        _, b, c = self.links
        if not self.rocker:
            reach = math.sqrt(b * b - tip.imag**2)
            return math.atan2(-tip.imag, reach), 0.0, tip.real + reach
        apart = 1.0 - tip
        far = abs(apart)
        corner = math.acos((b * b + far * far - c * c) / (2.0 * b * far))
        B = float(np.angle(apart)) + corner
        end = tip + b * np.exp(1j * B) - 1.0
        return B, float(np.angle(end)), 0.0

    @staticmethod
    def _turning(rod: Rod, angle: float, w: float, w1: float, p1: complex, p2: complex) -> tuple[float, ...]:
        """I, I', Q of a rod whose joint moves by p1, p2 (derivatives by x) and which turns by w, w1."""
        arm = rod.com * np.exp(1j * angle)
        d1, d2 = p1 + 1j * arm * w, p2 + arm * (1j * w1 - w * w)
        inertia = rod.mass * abs(d1) ** 2 + rod.inertia * w * w
        slope = 2.0 * (rod.mass * (d1 * np.conj(d2)).real + rod.inertia * w * w1)
        return float(inertia), float(slope), float(-rod.mass * GRAVITY * d1.imag)


@dataclass(frozen=True)
class Task:
    """What happens to a machine of one freedom.

    Attributes:
        machine: which one.
        x, v: where it starts.
        end: how long [s].
        law: u(t, x, v).
        sample: of the law [s]; None: it is asked at every time.
        friction: dry friction [N m, N].
        stops: (lower, upper), hit without rebound.
        brake: (on, off) [s]: x is held in between.
    """

    machine: Any
    x: float
    v: float
    end: float
    law: Callable[[float, float, float], float]
    sample: float | None = None
    friction: float = 0.0
    stops: tuple[float, float] = (-math.inf, math.inf)
    brake: tuple[float, float] | None = None


@dataclass
class Motion:
    """The states (x, v) at times that were asked for, and the times at which v jumps."""

    states: Array
    jumps: list[float] = field(default_factory=list)
    complete: bool = True


class OneFreedom:
    """Integrates a task."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._direction = 0.0  # of sliding; 0: at rest
        self._u = 0.0

    def motion(self, times: Array) -> Motion:
        """At times (n,), increasing."""
        task = self._task
        out = Motion(np.full((len(times), 2), np.nan))
        t, x, v = 0.0, task.x, task.v
        done = self._begin(t, x, v)
        for _ in range(MOST_PIECES):
            if t >= task.end:
                break
            until = self._next_change(t)
            t, x, v, done = self._piece(t, x, v, until, times, done, out)
        else:
            out.complete = False
        out.states[done:] = x, v
        return out

    def _begin(self, t: float, x: float, v: float) -> int:
        self._ask(t, x, v)
        self._direction = math.copysign(1.0, v) if v else self._leaves(t, x)
        return 0

    def _ask(self, t: float, x: float, v: float) -> None:
        self._u = self._task.law(t, x, v)

    def _input(self, t: float, x: float, v: float) -> float:
        return self._u if self._task.sample is not None else self._task.law(t, x, v)

    def _braked(self, t: float) -> bool:
        brake = self._task.brake
        return brake is not None and brake[0] <= t + SOON < brake[1]

    def _leaves(self, t: float, x: float) -> float:
        """The direction in which rest is left at time t; 0: not at all."""
        task, net = self._task, self._input(t, x, 0.0) + self._task.machine.at(x).load
        if self._braked(t):
            return 0.0
        if net > task.friction and x < task.stops[1] - SOON:
            return 1.0
        if net < -task.friction and x > task.stops[0] + SOON:
            return -1.0
        return 0.0

    def _next_change(self, t: float) -> float:
        """The next sample, or time of the brake, or the end."""
        task, later = self._task, [self._task.end]
        if task.sample is not None:
            later.append((math.floor(t / task.sample + 1e-9) + 1) * task.sample)
        later += [at for at in task.brake or () if at > t + SOON]
        return min(later)

    # ------------------------------------------------------------------ pieces

    def _piece(
        self, t: float, x: float, v: float, until: float, times: Array, done: int, out: Motion
    ) -> tuple[float, float, float, int]:
        """From t to `until`, or to where the velocity becomes zero or a stop is hit."""
        if self._direction == 0.0:
            return self._rest(t, x, until, times, done, out)
        t1, x1, v1, path, hit = self._slide(t, x, v, until)
        while done < len(times) and times[done] < t1:
            out.states[done] = path(times[done])
            done += 1
        if hit:
            v1 = self._stopped(t1, x1, v1, out)
        return t1, x1, self._changed(t1, x1, v1, until, out), done

    def _stopped(self, t: float, x: float, v: float, out: Motion) -> float:
        """v became zero, or a stop was hit."""
        if abs(v) > 1e-9:
            out.jumps.append(t)
        self._direction = self._leaves(t, x)
        return 0.0

    def _changed(self, t: float, x: float, v: float, until: float, out: Motion) -> float:
        """Sample, and brake, at the end of a piece; v after it."""
        task = self._task
        if t < until:
            return v
        if task.sample is not None and abs(t / task.sample - round(t / task.sample)) < 1e-9:
            self._ask(t, x, v)
        if self._braked(t) and v:
            out.jumps.append(t)
            v = 0.0
        if v == 0.0:
            self._direction = self._leaves(t, x)
        return v

    def _rest(
        self, t: float, x: float, until: float, times: Array, done: int, out: Motion
    ) -> tuple[float, float, float, int]:
        """Nothing moves until `until`, or until an input that changes with time is too large."""
        end = until
        if self._task.sample is None and not self._braked(t):
            grid = np.linspace(t, until, max(3, math.ceil((until - t) / 1e-3)))
            going = [k for k, s in enumerate(grid) if self._leaves(s, x) != 0.0]
            if going:
                end = self._first_leave(grid[max(going[0] - 1, 0)], grid[going[0]], x)
        while done < len(times) and times[done] < end:
            out.states[done] = x, 0.0
            done += 1
        if end < until:
            self._direction = self._leaves(end, x)
            return end, x, 0.0, done
        return until, x, self._changed(until, x, 0.0, until, out), done

    def _first_leave(self, before: float, after: float, x: float) -> float:
        for _ in range(80):
            middle = 0.5 * (before + after)
            before, after = (before, middle) if self._leaves(middle, x) else (middle, after)
        return after

    def _slide(self, t: float, x: float, v: float, until: float) -> Any:
        """(time, x, v, path, whether something ended it) of a smooth piece."""
        from scipy.integrate import solve_ivp

        task, s = self._task, self._direction

        def rates(t: float, y: Array) -> list[float]:
            shape = task.machine.at(y[0])
            force = self._input(t, y[0], y[1]) + shape.load - task.friction * s
            return [y[1], (force - 0.5 * shape.slope * y[1] ** 2) / shape.inertia]

        limit = task.stops[1] if s > 0.0 else task.stops[0]
        ends: list[Any] = [
            lambda t, y: y[1] * s,
            lambda t, y: (limit - y[0]) * s if math.isfinite(limit) else 1.0,
        ]
        for end in ends:
            end.terminal, end.direction = True, -1.0
        found = solve_ivp(rates, (t, until), [x, v], events=ends, dense_output=True, **TOLERANCE)
        x1, v1 = (float(one) for one in found.y[:, -1])
        if len(found.t_events[1]):
            x1 = limit
        hit = found.status == 1
        return (
            (float(found.t[-1]) if hit else until),
            x1,
            (0.0 if len(found.t_events[0]) else v1),
            found.sol,
            hit,
        )

"""What fixed steps of a run have lost, from the states themselves.

Over two equal steps h, the states must satisfy the equations of motion integrated by Simpson's rule,

    v[n+1] - v[n-1] = h/3 (a[n-1] + 4 a[n] + a[n+1]),      the same for increments of q and their rates  (1)

up to h^5/90 a''''. What is missing in (1) is the error of the method over two steps where its order is below
four, and of the size of that error for methods of order four: on y' = rate y, z = h rate, one step of rk4
errs by z^5/120 and (1) by z^5/180 - z^5/120 per step. Nothing is evaluated anew, controllers are not asked.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...arrays import Array
from ...constraints.check_derivatives import follows_its_rates
from ...dynamics.dry_friction import DryFriction, sticks
from ...mechanism.core.access import known_default
from ...mechanism.mechanism import Mechanism
from ..events.interpolation import Manifold
from ..events.pass_energy import UNTESTED, Loss
from ..stepping.options import Options
from ..system.step_records import Steps
from ..system.system import System

RK4_FACTOR = 3.0  # error of rk4 per step over what is missing in (1) per step, see above
RK4_OVER_CUBIC = 6.0  # the same over what is missing in (2) of kernels/integrate/step_error.hpp,
GROWTH = 5.0  # times this: on linkages, sums of (2) then come out as those of (1)
ROUNDING = 1e-15  # of a number
EQUAL = 1e-6  # of a step: two that differ by less are equal
INACCURATE = 1e-2  # relative to one radian, to L, to the largest speed: from here a run warns
PER_STEP, PER_RTOL = 0.0175, 0.18  # error of a dopri5 step over its tolerance, and how that grows above 1e-6
MOST_TOLERANCES = 100.0  # errors up to so many tolerances are what tolerances mean
LONGEST_DAMPED = 1.0  # mean step times largest rate of decay: steps are limited by stability, 3.3 at most
NARROW = 0.2  # [rad, or L]: errors of phase of oscillations of smaller amplitude count for less
MOST_RATES = 64  # coordinates; beyond it rates of decay and oscillation are not computed
REST = 1e-9  # of the speed at which L is fallen through: what rests on a contact has errors of rounding alone
LOST = 5e-3  # per step: from here the motion is not followed at all, and the run has failed


class FixedStepError:
    """Sums up what is missing in (1), relative to one radian or L and to the largest speed of the run.

    Attributes:
        beside_singular: the same next to singular poses, where accelerations are those of limits and steps
            are cut, from the energy that is lost there.
    """

    def __init__(self, manifold: Manifold, unit: Array, options: Options, rest: float = 0.0) -> None:
        """
        Args:
            manifold: increments of configurations.
            unit: size of each coordinate that weighs as much as one radian (nv,).
            options: of the run.
            rest: speeds that count as none, without units [1/s].
        """
        self._manifold, self._unit, self._options = manifold, unit, options
        self._last: Steps | None = None
        self._moved = self._faster = 0.0
        self._speed = rest
        self._count = self._rank = 0
        self.beside_singular = 0.0

    def begin(self) -> None:
        """The steps that follow are not continued from those before: something jumps."""
        self._last, self._rank = None, 0

    def look(self, steps: Steps) -> None:
        """The next steps."""
        known = steps if self._last is None else Steps.joined([self._last, steps])
        self._last = known[-2:]
        self._rank = max(self._rank, int(steps.rank.max(initial=0)))
        self._speed = max(self._speed, float(np.max(np.abs(steps.v / self._unit), initial=0.0)))
        with np.errstate(all="ignore"):
            self._add(known)

    @property
    def total(self) -> float:
        """The sum over all steps so far; a single step is held against the trapezoidal rule."""
        missing = self._faster
        free = self._last is not None and self._rank < self._last.v.shape[1]
        if self._count == 0 and self._last is not None and self._options.control_dt is None and free:
            last, h = self._last, np.diff(self._last.t)[:, None]
            gap = np.diff(last.v, axis=0) - 0.5 * h * (last.a[1:] + last.a[:-1])
            missing = float(np.max(np.abs(gap / self._unit), initial=0.0))
        return self._moved + missing / max(self._speed, 1e-300) + self.beside_singular

    def _add(self, steps: Steps) -> None:
        """What is missing in (1) in each pair of equal steps without a jump of held inputs."""
        h = np.diff(steps.t)
        inside = np.abs(h[1:] - h[:-1]) <= EQUAL * h[1:]
        free = self._rank < steps.v.shape[1]  # else constraints alone determine the states
        regular = free & (steps.pivot > UNTESTED) & (steps.rank == self._rank)
        inside &= regular[:-2] & regular[1:-1] & regular[2:]
        if self._options.control_dt is not None:  # inputs jump at samples
            inside &= np.all(steps.tau[:-2] == steps.tau[1:-1], axis=1)
            inside &= np.all(steps.tau[1:-1] == steps.tau[2:], axis=1)
        i = 1 + np.flatnonzero(inside)
        v, a, third = steps.v, steps.a, h[i][:, None] / 3.0
        ahead, behind = (self._manifold.difference(steps.q[i], steps.q[k]) for k in (i + 1, i - 1))
        rates = self._manifold.rate(ahead, v[i + 1]) + 4.0 * v[i] + self._manifold.rate(behind, v[i - 1])
        moved = (ahead - behind - third * rates) / self._unit
        faster = (v[i + 1] - v[i - 1] - third * (a[i + 1] + 4.0 * a[i] + a[i - 1])) / self._unit
        self._moved += self._sum(moved, np.max(np.abs(steps.q), initial=0.0))
        self._faster += self._sum(faster, self._speed)
        self._count += len(i)

    def _sum(self, missing: Array, size: float) -> float:
        """Over all steps, but for the rounding of numbers of this size."""
        each = _per_step(self._options.integrator.order)
        worst = np.max(np.abs(missing), axis=1, initial=0.0)
        return each * float(np.sum(np.maximum(worst - ROUNDING * size, 0.0)))

    def look_beside_singular(self, losses: Sequence[Loss], end: float) -> None:
        """Changes of energy next to singular poses, of a run that ends at time `end` [s].

        Half of one, relative to the kinetic energy, is an error of the speed from there on, which becomes
        one of position.
        """
        for loss in losses:
            travel = self._speed * (end - loss.t[1])
            self.beside_singular += 0.5 * loss.part * max(1.0, travel)

    @property
    def lost(self) -> bool:
        """Whether the states have nothing to do with the motion."""
        return not self.total <= LOST * max(self._count, 1)

    def sentence(self) -> str:
        """What a user should know; empty where the steps are short enough."""
        if self.total <= INACCURATE:
            return ""
        step = min(self._options.dt, self._options.t1 - self._options.t0)
        return too_long(step, "this motion", self.total, "Leave dt out, or take a shorter one.")


def speed_at_rest(system: System, options: Options) -> float:
    """Speed without units [1/s] that what rests on a contact may have by rounding; 0 without contacts."""
    if options.contacts == "ignore":
        return 0.0
    return speed_of_rest(system.original)


def speed_of_rest(mech: Mechanism) -> float:
    """Speed without units [1/s] that what rests on a contact may have by rounding."""
    return REST * float(np.sqrt(np.linalg.norm(mech.model.gravity) / mech.length))


def _per_step(order: int) -> float:
    """Error of a step over what is missing in (1)."""
    return (RK4_FACTOR if order >= 4 else 1.0) / 2.0


def too_long(step: float, motion: str, error: float, way_out: str) -> str:
    """That fixed steps [s] are too long for a motion."""
    return (
        f"Steps of {step:.3g} s are too long for {motion}: the states violate the equations of motion by"
        f" {error:.1e} in sum, relative to 1 rad, to the mechanism's length and to its speed. {way_out}"
    )


def errors_of_copies(sums: Array, order: int, rest: float = 0.0) -> Array:
    """Total of `FixedStepError` of each copy of a rollout (B,), from the sums of the compiled steps (B, 7).

    Where inputs jump at the beginning of a step, (1) does not hold. Some of such steps are tested by
    equation (2) of kernels/integrate/step_error.hpp and stand for all of them. It tests positions; errors of
    velocities are estimated from it with the largest acceleration over the largest speed as frequency.
    Speeds below `rest`, without units [1/s], are rounding.
    """
    moved, faster, sampled, jumps, samples, speed, quickest = sums.T
    speed = np.maximum(speed, max(rest, 1e-150))  # its square is a number, too
    with np.errstate(all="ignore"):
        smooth = _per_step(order) * (moved + faster / speed)
        each = (GROWTH * RK4_OVER_CUBIC if order >= 4 else 1.0) * sampled / np.maximum(samples, 1.0)
        return np.asarray(smooth + jumps * each * (1.0 + quickest / speed**2))


def many_steps(options: Options, steps: int, system: System, last: Steps, speed: float) -> str:
    """A sentence where errors that are within tolerance in each of many steps may add up; else empty.

    Measured on an oscillator: dopri5 errs by 0.015, 0.0065 and 0.0033 of rtol per step at rtol = 1e-4, 1e-6
    and 1e-8, all in one direction; on chains of two links with stiff springs by twice to four times as much.
    These are errors of phase. An oscillation of an amplitude of 0.01 rad has errors of position of 0.01 of
    them, which another start within rtol of one radian would have, too.

    Args:
        options: of the run.
        steps: how many it has taken.
        system: the system.
        last: its last state.
        speed: its largest speed without units [1/s].
    """
    method = options.integrator
    total = PER_STEP * max(1.0, options.rtol / 1e-6) ** PER_RTOL * steps
    if not method.adaptive or (method.implicit and not method.switches) or total <= MOST_TOLERANCES:
        return ""
    if int(last.rank[-1]) == system.nv:  # drives determine the states, nothing is integrated
        return ""
    if not (system.has_user_terms or system.nv > MOST_RATES or not hasattr(system.original, "derivatives")):
        smooth = _smooth(system)
        if _damped(smooth, last, (float(last.t[-1]) - options.t0) / steps):
            return ""
        amplitude = speed / max(_stiffest(smooth, last), 1e-300)
        total *= min(1.0, amplitude / NARROW)
    if total <= MOST_TOLERANCES:
        return ""
    return (
        f"Errors of {steps} steps, each within rtol = {options.rtol:.1g}, may add up to"
        f" {total * options.rtol:.0e} or more: take a smaller rtol if that matters."
    )


def drives_too_fast(system: System, times: Sequence[Array]) -> str:
    """A sentence where drives without derivatives are too fast for differences; times: of the steps [s]."""
    if not times:
        return ""
    at = np.concatenate(times)
    model = system.model
    driven = [(name, one) for name, one in model.constraints if one in model.drives]
    lost = ", ".join(repr(name) for name, one in driven if not follows_its_rates(one, at))
    if not lost:
        return ""
    return (
        f"Drive {lost} changes too fast for differences over 4 ms: the speeds used do not add up to its"
        " motion, and the states may be wrong. Give rate= and acceleration=."
    )


def _smooth(system: System) -> Mechanism:
    """The mechanism of a system without friction that sticks, which has no derivatives at rest."""
    mech: Mechanism = system.original
    if not sticks(mech.model):
        return mech
    return Mechanism(DryFriction(mech.model).without(), known_default(mech))


def _damped(mech: Mechanism, last: Steps, step: float) -> bool:
    """Whether a damper keeps steps so short [s]: then they are far within their tolerance.

    Explicit steps are stable up to about 3 over the largest rate of decay.
    """
    q, v, tau = last.q[-1], last.v[-1], last.tau[-1]
    rates = np.linalg.eigvals(mech.derivatives(q, v, tau, t=float(last.t[-1])).a_v)
    fastest = rates[np.argmax(np.abs(rates))]
    return bool(-fastest.real * step > LONGEST_DAMPED and abs(fastest.imag) < -fastest.real)


def _stiffest(mech: Mechanism, last: Steps) -> float:
    """Largest rate [rad/s] at which forces of the last pose make it oscillate, or fall over."""
    q, tau, t = last.q[-1], last.tau[-1], float(last.t[-1])
    slopes = mech.derivatives(q, np.zeros(mech.nv), tau, t=t).a_q
    return float(np.sqrt(np.max(np.abs(np.linalg.eigvals(slopes)), initial=0.0)))

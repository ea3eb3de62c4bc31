"""Hardware: noise, sampling, delay and saturation of a real robot, as a wrapper around any controller.

    sensors with noise -> samples -> the law -> delay -> saturation -> rate limit -> u

Model error is not a wrapper: build the law with one mechanism and simulate another, `mech.with_(mass=...)` or
`model_error(mech, ...)`.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ...arrays import Array, nonnegative, numbers, state
from ...errors import InputError
from ...mechanism.mechanism import Mechanism

SLACK = 1e-9  # of a sample time: rounding in sums of steps


class Hardware:
    """A controller with the imperfections of a real one: hardware(t, q, v) -> u.

    Args:
        controller: any controller(t, q, v) -> u.
        mech: the mechanism it drives.
        sample: sample time [s]; between samples the input is held. 0: at every call.
        delay: time [s] from measuring to acting; needs a sample time.
        q_noise: standard deviation of the measured positions, a number or (nv,) [rad, m].
        v_noise: standard deviation of the measured velocities, the same [rad/s, m/s].
        saturation: True for the limits of the actuators, a pair (lower, upper) for all, or None.
        rate: largest change of the inputs [N m/s, N/s], a number or (nu,); needs a sample time.
        seed: of the noise.
    """

    def __init__(
        self,
        controller: Callable[[float, Array, Array], npt.ArrayLike],
        mech: Any,
        *,
        sample: float = 0.0,
        delay: float = 0.0,
        q_noise: Any = 0.0,
        v_noise: Any = 0.0,
        saturation: Any = None,
        rate: Any = None,
        seed: int = 0,
    ) -> None:
        if not callable(controller):
            raise InputError(f"Hardware wraps a controller(t, q, v) -> u, got {controller!r}.")
        check_mechanism(mech, "Hardware")
        self._controller, self._mech, self._seed = controller, mech, seed
        self._sample, self._delay = nonnegative(sample, "sample"), nonnegative(delay, "delay")
        self._q_noise = _sizes(q_noise, mech.nv, "q_noise")
        self._v_noise = _sizes(v_noise, mech.nv, "v_noise")
        self._bounds = _bounds(saturation, mech)
        self._rate = None if rate is None else _sizes(rate, mech.nu, "rate")
        for what, needed in (("delay", self._delay > 0.0), ("rate", rate is not None)):
            if needed and self._sample == 0.0:
                raise InputError(
                    f"{what} needs a sample time: a computer acts at its samples; give sample=0.001, say."
                )
        self.reset()

    def reset(self) -> None:
        """Start anew: the noise repeats, nothing is pending."""
        self._random = np.random.default_rng(self._seed)
        self._count, self._began, self._latest = 0, math.inf, -math.inf
        self._u = np.zeros(self._mech.nu)
        self._pending: deque[tuple[float, Array]] = deque()
        if hasattr(self._controller, "reset"):
            self._controller.reset()

    def __call__(self, t: float, q: npt.ArrayLike, v: npt.ArrayLike) -> Array:
        """Inputs u (nu,) that reach the actuators at time t [s]."""
        if self._sample == 0.0:
            return self._limited(self._measure_and_ask(t, q, v))
        if t <= self._began and t < self._latest:
            self.reset()  # a new run
        if self._count == 0:
            self._began = t
        self._latest = max(t, self._latest)
        while self._count == 0 or t >= self._began + (self._count - SLACK) * self._sample:
            now = self._began + self._count * self._sample
            self._pending.append((now + self._delay, self._measure_and_ask(t, q, v)))
            self._count = max(self._count + 1, math.floor((t - self._began) / self._sample + SLACK) + 1)
            self._act(now)
        return self._u

    def _measure_and_ask(self, t: float, q: npt.ArrayLike, v: npt.ArrayLike) -> Array:
        pose, speed = np.asarray(q, dtype=float), np.asarray(v, dtype=float)
        if self._q_noise.any():
            pose = self._mech.integrate(pose, self._q_noise * self._random.normal(size=self._mech.nv))
        if self._v_noise.any():
            speed = speed + self._v_noise * self._random.normal(size=self._mech.nv)
        return state(self._controller(t, pose, speed), "u of the controller", self._mech.nu)

    def _act(self, now: float) -> None:
        """At a sample: the newest input whose time has come goes to the actuators."""
        wanted = self._u
        while self._pending and self._pending[0][0] <= now + SLACK * self._sample:
            wanted = self._pending.popleft()[1]
        wanted = self._limited(wanted)
        if self._rate is not None:
            change = self._rate * self._sample
            wanted = self._u + np.clip(wanted - self._u, -change, change)
        self._u = wanted

    def _limited(self, u: Array) -> Array:
        """Inputs after saturation."""
        return u if self._bounds is None else np.clip(u, *self._bounds)


def check_mechanism(mech: object, who: str) -> None:
    """Refuse anything but a Mechanism."""
    if not isinstance(mech, Mechanism):
        raise InputError(f"{who} takes a Mechanism, got {type(mech).__name__}.")


def model_error(mech: Any, relative: float = 0.1, seed: int = 0) -> Any:
    """A copy of a mechanism whose masses are wrong by up to `relative`, each by its own random share.

    Inertias are scaled with their masses. For robustness: build the law with it and simulate the original.
    """
    check_mechanism(mech, "model_error")
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise InputError(f"seed must be a whole number of at least 0, got {seed!r:.80}.")
    size = nonnegative(relative, "relative")
    if size >= 1.0:
        raise InputError(f"relative must be below 1, got {size:g}: masses must stay positive.")
    random = np.random.default_rng(seed)
    mass, inertia = {}, {}
    for body in mech.model.bodies:
        if body.name == "ground" or body.mass == 0.0:
            continue
        share = 1.0 + size * random.uniform(-1.0, 1.0)
        mass[body.name] = body.mass * share
        inertia[body.name] = np.asarray(body.inertia) * share
    return mech.with_(mass=mass, inertia=inertia)


def _sizes(value: Any, n: int, what: str) -> Array:
    array = numbers(value, what)
    sizes = state(np.full(n, array) if array.ndim == 0 else array, what, n)
    if sizes.ndim != 1 or np.any(sizes < 0.0):
        raise InputError(f"{what} must be a number or ({n},), not negative; got {value!r}.")
    return sizes


def _bounds(saturation: Any, mech: Any) -> tuple[Array, Array] | None:
    if saturation is None or saturation is False:
        return None
    if saturation is True:
        actuators = mech.model.actuators
        return np.array([a.lower for a in actuators]), np.array([a.upper for a in actuators])
    try:
        lower, upper = (np.broadcast_to(np.asarray(one, dtype=float), (mech.nu,)) for one in saturation)
    except (TypeError, ValueError):
        raise InputError(
            f"saturation must be True, None or a pair (lower, upper), got {saturation!r}."
        ) from None
    if not np.all(lower <= upper):
        raise InputError(f"saturation: the lower bound must not exceed the upper one, got {saturation!r}.")
    return lower, upper

"""Task: a mechanism, and what an agent is to do with it, as functions of whole batches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import Array, names, numbers, one_of, positive, positive_whole, takes, whole
from ..errors import InputError
from ..mechanism.core.modes import Modes
from ..mechanism.mechanism import Mechanism
from ..mechanism.query.contact_steps import IGNORED, refuse_chosen_steps, surfaces_act
from ..mechanism.query.time_steps import METHODS
from ..simulation.copies.copy_modes import copies_modes

Reward = Callable[[Array, Array, Array, Array], npt.ArrayLike]
Reset = Callable[[np.random.Generator, int], tuple[npt.ArrayLike, npt.ArrayLike]]
Observe = Callable[[Array, Array, Array], npt.ArrayLike]
Ends = Callable[[Array, Array, Array], npt.ArrayLike]
FUNCTIONS = {"reset": "rng,count", "observe": "t,q,v", "terminated": "t,q,v"}


@dataclass(frozen=True, eq=False)
class Task:
    """What an environment needs. Functions are called with batches; t is the time since each copy started.

    Attributes:
        mech: the mechanism.
        reward: reward(t, q, v, u) -> (B,), after a step: t (B,) [s], q (B, nq), v (B, nv), u (B, nu).
        reset: reset(rng, count) -> q (count, nq), v (count, nv), where copies start; small errors in the
            constraints are corrected. Default: `mech.default`.
        observe: observe(t, q, v) -> (B, n); default [q, v].
        terminated: terminated(t, q, v) -> (B,) bool, where an episode ends for good; default never.
        dt: time between two actions [s].
        substeps: integration steps in between.
        horizon: actions after which an episode is truncated.
        actuators: names of the actuators that actions drive; default all.
        limits: largest size of each action [N m, N]; default the limits of the actuators.
        method: integrator.
        stops: whether the limits of the coordinates are hard stops, hit without rebound.
        contacts: of surfaces that may touch: "steps" (docs/contacts.md) or "ignore".
        switches: `Contact` objects, as those of `simulate`: constraints that push and do not pull.
        action_delay: actions that pass until one acts; inputs are zero until the first does.
        observation_delay: actions that pass until a state is observed; the first is observed until then.
        action_noise: standard deviation of what is added to each action (na,) [N m, N], within the limits.
        observation_noise: standard deviation of what is added to each entry of an observation (n,). Rewards
            and ends see the state and the inputs as they are.
    """

    mech: Mechanism
    reward: Reward
    reset: Reset | None = None
    observe: Observe | None = None
    terminated: Ends | None = None
    dt: float = 0.02
    substeps: int = 10
    horizon: int = 250
    actuators: Sequence[str] | None = None
    limits: npt.ArrayLike | None = None
    method: str = "rk4"
    stops: bool = False
    switches: Any = ()
    action_delay: int = 0
    observation_delay: int = 0
    action_noise: npt.ArrayLike = 0.0
    observation_noise: npt.ArrayLike = 0.0
    contacts: str = "steps"

    def __post_init__(self) -> None:
        if not isinstance(self.mech, Mechanism):
            raise InputError(f"a task takes a Mechanism, got {type(self.mech).__name__}.")
        if len(self.mech.model.u_row) or self.mech.model.drives:
            raise InputError(
                "environments run compiled steps and cannot call Python functions of constraints."
            )
        self._check_functions()
        self._check_numbers()
        self.modes()  # refuses switches that it cannot have
        self.touches  # noqa: B018
        self._check_actuators()

    def _check_functions(self) -> None:
        takes(self.reward, "t,q,v,u", "reward of a task")
        for name, arguments in FUNCTIONS.items():
            if getattr(self, name) is not None:
                takes(getattr(self, name), arguments, f"{name} of a task")

    def _check_numbers(self) -> None:
        positive(self.dt, "dt of a task")
        one_of(self.method, "method of a task", tuple(METHODS))
        positive_whole(self.substeps, "substeps of a task")
        positive_whole(self.horizon, "horizon of a task")
        for name in ("action_delay", "observation_delay"):
            whole(getattr(self, name), f"{name} of a task")
        for name in ("action_noise", "observation_noise"):
            if np.any(numbers(getattr(self, name), f"{name} of a task") < 0.0):
                raise InputError(f"{name} of a task is a standard deviation and must not be negative.")

    def _check_actuators(self) -> None:
        wanted = () if self.actuators is None else names(self.actuators, "actuators of a task")
        unknown = [name for name in wanted if name not in self.mech.actuators]
        if unknown:
            raise InputError(f"{unknown[0]!r} is no actuator; there are {list(self.mech.actuators)}.")
        if self.limits is None:
            return
        size, n = numbers(self.limits, "limits of a task"), len(self.columns)
        if size.shape not in ((), (1,), (n,)) or np.any(size <= 0.0):
            raise InputError(
                f"limits of a task must be one positive number, or {n} of them, got {self.limits!r:.80}."
            )

    def modes(self) -> Modes | None:
        """What can change along the motion: dry friction, stops and `Contact`; None: nothing."""
        found = copies_modes(self.mech, self.switches, self.stops, None, self.dt / self.substeps)
        if found is not None and found.schedule:
            raise InputError(
                "environments know no time: Switch objects by the clock have no place in a task. Contacts"
                " have, and Switch(..., closed=...) without a time."
            )
        return found

    @property
    def touches(self) -> bool:
        """Whether surfaces act."""
        if not surfaces_act(self.mech.model, self.contacts, "a task"):
            return False
        if self.switches or self.stops:
            raise InputError(f"a task: switches and stops do not go with surfaces in this version. {IGNORED}")
        refuse_chosen_steps(METHODS[self.method], "a task")
        return True

    @property
    def _starting(self) -> Mechanism:
        """The mechanism with the constraints that are closed where episodes start."""
        modes = self.modes()
        if modes is None:
            return self.mech
        open_ = {name for name, one in modes.switched.items() if not one.closed}
        declared = [name for name, _ in self.mech.model.constraints]
        if not open_.intersection(declared):
            return self.mech
        return self.mech.with_constraints([name for name in declared if name not in open_])

    @property
    def columns(self) -> list[int]:
        """Where the actions stand in u."""
        driven = self.mech.actuators if self.actuators is None else self.actuators
        return [self.mech.actuators.index(name) for name in driven]

    @property
    def bounds(self) -> tuple[Array, Array]:
        """Least and largest actions (na,)."""
        if self.limits is not None:
            size = numbers(self.limits, "limits of a task")
            high = np.broadcast_to(size, (len(self.columns),)).astype(float)
            return -high, high
        found = [self.mech.model.actuators[i] for i in self.columns]
        low, high = np.array([a.lower for a in found]), np.array([a.upper for a in found])
        if not np.isfinite([low, high]).all():
            raise InputError(
                "actuators without limits need limits= [N m, N], the largest size of each action."
            )
        return low, high

    def start(self, rng: np.random.Generator, count: int) -> tuple[Array, Array]:
        """Consistent states of new episodes (count, nq), (count, nv)."""
        if self.reset is None:
            q, v = (np.tile(x, (count, 1)) for x in self.mech.default)
        else:
            begun = self.reset(rng, count)
            if not isinstance(begun, (tuple, list)) or len(begun) != 2:
                raise InputError(f"reset of a task must return q and v, got {begun!r:.80}.")
            sizes = self.mech.nq, self.mech.nv
            q, v = (self._shaped(x, "reset", (count, n)) for x, n in zip(begun, sizes, strict=True))
        found = self._starting.project(q, v)
        if np.any(found.status):
            raise InputError(
                f"reset: state {int(np.argmax(found.status))} of {count} cannot be made consistent."
            )
        return np.asarray(found.q), np.asarray(found.v)

    def observations(self, t: Array, q: Array, v: Array) -> Array:
        """(B, n)."""
        if self.observe is None:
            return np.concatenate([q, v], axis=1)
        return self._shaped(self.observe(t, q, v), "observe", (len(q), -1))

    def rewards(self, t: Array, q: Array, v: Array, u: Array) -> Array:
        """(B,)."""
        return self._shaped(self.reward(t, q, v, u), "reward", (len(q),))

    def ends(self, t: Array, q: Array, v: Array) -> npt.NDArray[np.bool_]:
        """(B,)."""
        if self.terminated is None:
            return np.zeros(len(q), dtype=bool)
        return self._shaped(self.terminated(t, q, v), "terminated", (len(q),)).astype(bool)

    def inputs(self, actions: Array) -> Array:
        """u (B, nu) of actions (B, na), within their bounds."""
        u = np.zeros((len(actions), self.mech.nu))
        u[:, self.columns] = np.clip(actions, *self.bounds)
        return u

    def noisy(self, values: Array, what: str, rng: np.random.Generator) -> Array:
        """Values (B, n) with the noise that `what` has; the same ones where it has none."""
        size = np.asarray(getattr(self, f"{what}_noise"), dtype=float)
        if not np.any(size):
            return values
        if size.shape not in ((), values.shape[1:]):
            raise InputError(
                f"{what}_noise of a task must be a number or have shape {values.shape[1:]}, got {size.shape}."
            )
        return values + size * rng.standard_normal(values.shape)

    @staticmethod
    def _shaped(value: Any, what: str, shape: tuple[int, ...]) -> Array:
        array = _array(value, what)
        fits = array.ndim == len(shape) and all(n in (-1, m) for n, m in zip(shape, array.shape, strict=True))
        if not fits:
            wanted = str(shape).replace("-1", "n")
            raise InputError(f"{what} of a task must return an array of shape {wanted}, got {array.shape}.")
        return array


def _array(value: Any, what: str) -> Array:
    """What a function of a task returned."""
    try:
        return np.asarray(value, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{what} of a task must return an array of numbers, got {value!r:.80}.") from None

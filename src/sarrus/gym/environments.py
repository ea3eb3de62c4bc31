"""MechanismEnv and MechanismVectorEnv: one copy, or many that move in compiled steps on all cores."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Box
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from ..arrays import Array, fixed_shape, one_of, positive_whole, whole
from ..errors import InputError, require_all_known
from ..mechanism.mechanism import Mechanism
from ..simulation.copies.stepped_copies import SteppedCopies
from .delay_line import DelayLine
from .task import Task

Info = dict[str, Any]


class _Episodes:
    """The copies of a task, with the number of actions since each of them started."""

    def __init__(self, task: Task, count: int) -> None:
        self.task = task
        self.copies = SteppedCopies(
            task.mech,
            count,
            task.dt,
            task.substeps,
            method=task.method,
            modes=task.modes(),
            contacts=task.touches,
        )
        self.age = np.zeros(count, dtype=int)
        self.u = np.zeros((count, task.mech.nu))
        self._acting, self._seen = DelayLine(task.action_delay), DelayLine(task.observation_delay)
        self._rng = np.random.default_rng(0)

    def start(self, rng: np.random.Generator, which: npt.NDArray[np.int64]) -> None:
        self.copies.start(*self.task.start(rng, len(which)), which)
        self.age[which], self.u[which], self._rng = 0, 0.0, rng
        self._acting.fill(np.zeros((len(self.age), len(self.task.columns))), which)
        self._seen.fill(self.task.observations(*self.state()), which)

    def step(self, actions: Array) -> tuple[Array, npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
        """Rewards, terminated and truncated (B,). A copy that fails has terminated, without reward."""
        acting = self.task.noisy(self._acting.passed(actions), "action", self._rng)
        u = self.u = self.task.inputs(acting)
        self.copies.step(u)
        self.age += 1
        t, q, v = self.state()
        self._seen.passed(self.task.observations(t, q, v))
        failed = ~self.copies.fine
        rewards = np.where(failed, 0.0, self.task.rewards(t, q, v, u))
        return rewards, self.task.ends(t, q, v) | failed, self.age >= self.task.horizon

    def state(self) -> tuple[Array, Array, Array]:
        return self.age * self.task.dt, self.copies.q, self.copies.v

    def observations(self) -> Array:
        return self.task.noisy(self._seen.oldest, "observation", self._rng)


def _spaces(task: Task) -> tuple[Box, Box]:
    """Of one observation and of one action."""
    q, v = task.start(np.random.default_rng(0), 1)
    size = task.observations(np.zeros(1), q, v).shape[1]
    low, high = task.bounds
    return Box(-np.inf, np.inf, (size,), np.float64), Box(low, high, dtype=np.float64)


def _seed(seed: object) -> int | None:
    """What Gymnasium takes as a seed."""
    return None if seed is None else whole(seed, "seed")


def _task(task: Any, options: dict[str, Any]) -> Task:
    if isinstance(task, Task):
        if options:
            raise InputError(f"options {sorted(options)} belong into the Task.")
        return task
    if not isinstance(task, Mechanism):
        raise InputError(f"a task takes a Mechanism, and an environment a Task or one, got {task!r:.80}.")
    require_all_known("option of a Task", options, [one.name for one in fields(Task)], "MechanismEnv")
    if "reward" not in options:
        raise InputError("a Task needs reward=, a function of (t, q, v, u).")
    return Task(task, **options)


class MechanismEnv(gymnasium.Env[Array, Array]):  # type: ignore[misc, unused-ignore]
    """One mechanism as a Gymnasium environment.

    `info` has the state "q", "v" and the inputs "u". An episode whose step fails has terminated.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 50}  # noqa: RUF012

    def __init__(self, task: Any, *, render_mode: str | None = None, **options: Any) -> None:
        """
        Args:
            task: a `Task`, or a Mechanism with the fields of a task as options: reward, reset, ...
            render_mode: None, or "rgb_array": stick figures, which need matplotlib.
            **options: fields of `Task`.
        """
        self.task = _task(task, options)
        if render_mode is not None:
            one_of(render_mode, "render_mode", self.metadata["render_modes"])
        spaces: Any = _spaces(self.task)
        self.observation_space, self.action_space = spaces
        self.render_mode = render_mode
        self._episodes = _Episodes(self.task, 1)

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[Array, Info]:
        """Start an episode."""
        super().reset(seed=_seed(seed))
        self._episodes.start(self.np_random, np.zeros(1, dtype=np.int64))
        return self._episodes.observations()[0], self._info(np.zeros(self.task.mech.nu))

    def step(self, action: Array) -> tuple[Array, float, bool, bool, Info]:
        """One action, held for dt."""
        actions = fixed_shape(action, "action", (len(self.task.columns),)).reshape(1, -1)
        rewards, terminated, truncated = self._episodes.step(actions)
        observation = self._episodes.observations()[0]
        info = self._info(np.array(self._episodes.u[0]))
        return observation, float(rewards[0]), bool(terminated[0]), bool(truncated[0]), info

    def render(self) -> Any:
        """A picture (height, width, 3) of the present pose."""
        if self.render_mode is None:
            return None
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.pyplot import close

        from ..viz.figures.mechanism import draw

        figure = draw(self.task.mech, self._episodes.copies.q[0]).figure
        canvas: Any = FigureCanvasAgg(figure)
        canvas.draw()
        picture = np.asarray(canvas.buffer_rgba())[..., :3].copy()
        close(figure)
        return picture

    def _info(self, u: Array) -> Info:
        return {"q": self._episodes.copies.q[0], "v": self._episodes.copies.v[0], "u": u}


class MechanismVectorEnv(gymnasium.vector.VectorEnv[Array, Array, Array]):  # type: ignore[misc, unused-ignore]
    """Many copies of one mechanism as a Gymnasium vector environment, in compiled steps on all cores.

    An episode that has ended starts anew at the next call of `step`, whose action it ignores.
    """

    metadata = {"autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012

    def __init__(self, task: Any, num_envs: int = 1, **options: Any) -> None:
        """
        Args:
            task: a `Task`, or a Mechanism with the fields of a task as options.
            num_envs: number of copies.
            **options: fields of `Task`.
        """
        self.task = _task(task, options)
        self.num_envs = positive_whole(num_envs, "num_envs")
        self.single_observation_space, self.single_action_space = _spaces(self.task)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._episodes = _Episodes(self.task, num_envs)
        self._over = np.zeros(num_envs, dtype=bool)

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[Array, Info]:
        """Start all episodes."""
        super().reset(seed=_seed(seed))
        self._episodes.start(self.np_random, np.arange(self.num_envs, dtype=np.int64))
        self._over[:] = False
        return self._episodes.observations(), {}

    def step(self, actions: Array) -> tuple[Array, Array, Any, Any, Info]:
        """One action each (num_envs, na), held for dt; what ended is (num_envs,) bool."""
        again = np.flatnonzero(self._over)
        shape = (self.num_envs, len(self.task.columns))
        rewards, terminated, truncated = self._episodes.step(fixed_shape(actions, "actions", shape))
        if len(again):
            self._episodes.start(self.np_random, again.astype(np.int64))
            rewards[again], terminated[again], truncated[again] = 0.0, False, False
        self._over = terminated | truncated
        return self._episodes.observations(), rewards, terminated, truncated, {}

"""Tasks and environments refuse what makes no sense in one way."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import sarrus as sr
from sarrus.gym import MechanismEnv, MechanismVectorEnv, Task

ODD: list[Any] = [
    None, 3, -1, 2.5, "x", "", [], {}, object(), np.zeros(3), np.full(2, np.nan), True, 10**400, (1, 2),
    lambda: 0, sr.Pose(), np.array("a"), b"x", float("inf"), type, {"a": 1}, [None],
    lambda *a: "x", lambda *a: None, lambda *a: 10**400, lambda *a: ([1], [2]), lambda *a: (1, 2, 3),
]  # fmt: skip
CRANK = sr.library.slider_crank()


def reward(t: Any, q: Any, v: Any, u: Any) -> Any:
    return np.zeros(len(q))


def one_episode(**options: Any) -> None:
    """A task, its environment, one action."""
    given = {"mech": CRANK, "reward": reward, "limits": 10.0} | options
    task = Task(**given)
    env = MechanismEnv(task)
    env.reset(seed=0)
    env.step(np.zeros(len(task.columns)))


@pytest.mark.parametrize("name", [one.name for one in dataclasses.fields(Task)])
def test_odd_fields_of_a_task(name: str) -> None:
    for x in ODD:
        try:
            one_episode(**{name: x})
        except sr.SarrusError:
            continue


def test_odd_arguments_of_environments() -> None:
    task = Task(CRANK, reward, limits=10.0)
    for x in ODD:
        for call in (
            lambda x=x: MechanismEnv(x),
            lambda x=x: MechanismEnv(CRANK, reward=x, limits=5.0).reset(),
            lambda x=x: MechanismEnv(CRANK, more=x),
            lambda x=x: MechanismEnv(task, render_mode=x),
            lambda x=x: MechanismVectorEnv(task, x if x is not True else 0),
            lambda x=x: MechanismEnv(task).reset(seed=x),
            lambda x=x: MechanismVectorEnv(task, 2).reset(seed=x),
        ):
            try:
                call()
            except sr.SarrusError:
                continue
        for env in (MechanismEnv(task), MechanismVectorEnv(task, 2)):
            env.reset(seed=0)
            try:
                env.step(x)
            except sr.SarrusError:
                continue


@pytest.mark.parametrize(
    ("match", "options"),
    [
        (r"reward of a task must be a function of \(t,q,v,u\)", {"reward": 3}),
        (r"reset of a task must be a function of \(rng,count\)", {"reset": lambda: 0}),
        ("reset of a task must return q and v, got 3", {"reset": lambda rng, count: 3}),
        ("observe of a task must return an array of numbers, got 'x'", {"observe": lambda t, q, v: "x"}),
        ("actuators of a task must be several names, got 'crank'", {"actuators": "crank"}),
        ("limits of a task must be one positive number, or 2 of them", {"limits": [1, 2, 3]}),
        ("action_delay of a task must be a whole number, not negative, got True", {"action_delay": True}),
        ("method of a task must be one of .*'rk4'", {"method": "euler"}),
    ],
)
def test_messages_of_a_task(match: str, options: dict[str, Any]) -> None:
    with pytest.raises(sr.InputError, match=match):
        one_episode(**options)


def test_messages_of_environments() -> None:
    task = Task(CRANK, reward, limits=10.0)
    for match, call in {
        "a task takes a Mechanism, and an environment a Task or one, got 3": lambda: MechanismEnv(3),
        r"a Task needs reward=, a function of \(t, q, v, u\)": lambda: MechanismEnv(CRANK),
        "unknown option of a Task 'rewards'": lambda: MechanismEnv(CRANK, rewards=reward),
        "render_mode must be one of 'rgb_array', got 'human'": lambda: MechanismEnv(
            task, render_mode="human"
        ),
        "num_envs must be": lambda: MechanismVectorEnv(task, 0),
        "seed must be a whole number": lambda: MechanismEnv(task).reset(seed=-1),
        r"action must have shape \(2,\)": lambda: MechanismEnv(task).step([1.0]),
    }.items():
        with pytest.raises(sr.SarrusError, match=match):
            call()

"""The tasks in Gymnasium's registry, as "sarrus/NAME-v0"."""

from __future__ import annotations

from functools import partial
from typing import Any

import gymnasium

from .environments import MechanismEnv, MechanismVectorEnv
from .tasks import TASKS


def _one(name: str, **options: Any) -> MechanismEnv:
    return MechanismEnv(TASKS[name](), **options)


def _many(name: str, num_envs: int = 1, **options: Any) -> MechanismVectorEnv:
    return MechanismVectorEnv(TASKS[name](), num_envs, **options)


def register_tasks() -> None:
    """Register all tasks, once."""
    for name in TASKS:
        if f"sarrus/{name}-v0" not in gymnasium.registry:
            gymnasium.register(
                f"sarrus/{name}-v0",
                entry_point=partial(_one, name),
                vector_entry_point=partial(_many, name),
            )

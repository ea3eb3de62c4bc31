"""Gymnasium environments of mechanisms, and six registered tasks. Needs `pip install sarrus[gym]`.

import gymnasium, sarrus.gym

env = gymnasium.make("sarrus/DeltaTracking-v0")
envs = gymnasium.make_vec("sarrus/DeltaTracking-v0", num_envs=64)   # all in compiled steps, on all cores
"""

from importlib.util import find_spec as _find_spec

if _find_spec("gymnasium") is None:
    raise ImportError("sarrus.gym needs Gymnasium: pip install sarrus[gym], or pip install gymnasium.")

from .environments import MechanismEnv, MechanismVectorEnv
from .registration import register_tasks
from .task import Task

__all__ = ["MechanismEnv", "MechanismVectorEnv", "Task"]

register_tasks()

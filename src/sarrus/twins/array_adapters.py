"""What differs between NumPy, Torch and JAX in the Python code of twins."""

ADAPTERS = {
    "numpy": """import numpy as np

xp = np
_atan2 = np.arctan2
_solve = np.linalg.solve
_determinant = np.linalg.det


def _array(x, like=None):
    return np.asarray(x, dtype=np.float64 if like is None else like.dtype)


def _full(x, like):
    return np.full(like.shape, x, like.dtype)


def _detached(columns):
    return columns


def _calmly(function, *arguments):
    with np.errstate(all="ignore"):
        return function(*arguments)


def _epsilon(x):
    return np.finfo(x.dtype).eps


def _transposed(x):
    return np.swapaxes(x, -1, -2)


def _stack(columns, axis):
    return np.stack(columns, axis)""",
    "torch": """import torch

xp = torch
_atan2 = torch.atan2
_solve = torch.linalg.solve
_determinant = torch.linalg.det


def _array(x, like=None):
    if isinstance(x, torch.Tensor):
        return x
    known = {} if like is None else {"dtype": like.dtype, "device": like.device}
    return torch.as_tensor(x, **(known or {"dtype": torch.float64}))


def _full(x, like):
    return torch.full_like(like, x)


def _detached(columns):
    return [x.detach() if isinstance(x, torch.Tensor) else x for x in columns]


def _calmly(function, *arguments):
    return function(*arguments)


def _epsilon(x):
    return torch.finfo(x.dtype).eps


def _transposed(x):
    return x.transpose(-1, -2)


def _stack(columns, axis):
    return torch.stack(columns, axis)""",
    "jax": """import jax
import jax.numpy as jnp

xp = jnp
_atan2 = jnp.arctan2
_solve = jnp.linalg.solve
_determinant = jnp.linalg.det


def _array(x, like=None):
    return jnp.asarray(x, None if like is None else like.dtype)


def _full(x, like):
    return jnp.full(like.shape, x, like.dtype)


def _detached(columns):
    return [jax.lax.stop_gradient(x) for x in columns]


def _calmly(function, *arguments):
    return function(*arguments)


def _epsilon(x):
    return jnp.finfo(x.dtype).eps


def _transposed(x):
    return jnp.swapaxes(x, -1, -2)


def _stack(columns, axis):
    return jnp.stack(columns, axis)""",
}

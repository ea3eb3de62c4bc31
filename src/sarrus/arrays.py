"""Checks of arguments: conversion to float64 arrays, with errors that name the argument and the rule.

Values of a description (masses, lengths, stiffnesses) must be finite and at most `LARGEST` in size, so that
products of a few of them stay finite. Arrays of a state (q, v, tau) must be finite and of the right shape;
leading axes are batch axes.
"""

from __future__ import annotations

import inspect
import math
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import InputError
from .varied import Varied, is_varied

Array = NDArray[np.float64]
IntArray = NDArray[np.int32]
BoolArray = NDArray[np.bool_]
# One state in overloads. An array whose number of axes the type checker does not know counts as one state.
OneState = np.ndarray[tuple[int], np.dtype[Any]] | Sequence[float]

LARGEST = 1e50
MOST_WHOLE = 2**31 - 1  # steps, threads, sizes: what the kernel counts with


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def numeric(value: object, what: str, rule: str) -> Array:
    """`value` as float64, refusing text, booleans, ragged lists and objects."""
    if "numpy.ma" in sys.modules and np.ma.is_masked(value):  # np.ma loads numpy.ma
        raise InputError(f"{what} must be {rule}, got masked values; fill them: {what}.filled(0.0).")
    try:
        raw = np.asarray(value)
        if raw.dtype.kind in "iuf" or raw.size == 0:
            return np.array(raw, dtype=np.float64)
        kinds = {type(x) for x in raw.flat} if raw.dtype == object else set()
        if Varied in kinds and kinds <= {Varied, float, int, np.float64}:
            return np.asarray(raw + 0.0, dtype=object)  # integers become floats
    except (ValueError, TypeError, OverflowError, RecursionError):
        pass
    raise InputError(f"{what} must be {rule}, got {_shown(value)}.")


def numbers(value: object, what: str, ndim: int | None = None) -> Array:
    """A finite array, with this number of axes where that is given."""
    rule = "an array of finite numbers" + ("" if ndim is None else f" with number of axes {ndim}")
    array = numeric(value, what, rule)
    if ndim is not None and array.ndim != ndim:
        raise InputError(f"{what} must be {rule}, got {_shown(value)}.")
    if not is_finite(array):
        raise InputError(f"{what} must be finite, got {_shown(value)}.")
    return array


def is_finite(array: Array) -> bool:
    """Whether all entries are finite; recorded ones are checked where their program runs."""
    return is_varied(array) or bool(np.all(np.isfinite(array)))


def names(value: object, what: str) -> list[str]:
    """Several names; a single text is refused, since it would count as its letters."""
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise InputError(f"{what} must be several names, got {_shown(value)}.")
    try:
        found = list(value)
    except TypeError:  # an array without axes
        raise InputError(f"{what} must be several names, got {_shown(value)}.") from None
    for name in found:
        text(name, f"a name in {what}")
    return found


def text(value: object, what: str) -> str:
    """A non-empty name."""
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{what} must be a non-empty string, got {_shown(value)}.")
    return value


def number(value: object, what: str) -> float:
    """One finite number of a description."""
    if type(value) in (float, Varied) and abs(value) <= LARGEST:  # type: ignore[arg-type]
        return value  # type: ignore[return-value]  # the usual case, without an array
    array = numeric(value, what, "a finite number")
    if array.shape != () or not np.isfinite(array):
        raise InputError(f"{what} must be a finite number, got {_shown(value)}.")
    if abs(float(array)) > LARGEST:
        raise InputError(f"{what} must be at most {LARGEST:g} in size, got {_shown(value)}; use SI units.")
    return float(array)


def positive_whole(value: object, what: str) -> int:
    """A positive whole number that fits into 32 bits."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise InputError(f"{what} must be a positive whole number, got {value!r}.")
    if value > MOST_WHOLE:
        raise InputError(f"{what} must be at most {MOST_WHOLE}, got {value!r:.40}.")
    return int(value)


def require_memory(size: float, what: str, way_out: str) -> None:
    """Refuse arrays of more bytes than this machine has."""
    try:
        most = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # not told by this system
        return
    if size > most:
        raise InputError(
            f"{what} needs {size / 2**30:.3g} GiB, and this machine has {most / 2**30:.3g}. {way_out}"
        )


def count(value: object, what: str) -> int:
    """A whole number of at least 1."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InputError(f"{what} must be a whole number of at least 1, got {value!r}.")
    return value


def whole(value: object, what: str) -> int:
    """A whole number, not negative."""
    given = int(value) if isinstance(value, np.integer) else value
    if isinstance(given, bool) or not isinstance(given, int) or not 0 <= given <= MOST_WHOLE:
        raise InputError(f"{what} must be a whole number, not negative, got {_shown(value)}.")
    return given


def mapping(value: object, what: str, entries: str) -> dict[Any, Any]:
    """A mapping such as {name: number}; None counts as an empty one."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise InputError(f"{what} must be a mapping {entries}, got {_shown(value)}.")
    return dict(value)


def truth(value: object, what: str) -> bool:
    """True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise InputError(f"{what} must be True or False, got {_shown(value)}.")
    return bool(value)


def one_of(value: object, what: str, options: Sequence[str]) -> str:
    """One of the named options."""
    if not isinstance(value, str) or value not in options:
        raise InputError(f"{what} must be one of {', '.join(map(repr, options))}, got {value!r}.")
    return value


def takes(function: object, arguments: str, what: str) -> None:
    """Refuse what is no function of these positional arguments, such as "t, q, v".

    A function without a signature that Python knows is not checked; a class without one is refused.
    """
    if not callable(function):
        raise InputError(f"{what} must be a function of ({arguments}), got {function!r}.")
    try:
        accepted = inspect.signature(function)
    except (TypeError, ValueError):
        if isinstance(function, type):
            raise InputError(f"{what} must be a function of ({arguments}), got {function!r}.") from None
        return
    try:
        accepted.bind(*arguments.split(","))
    except TypeError as error:
        raise InputError(
            f"{what} must be a function of ({arguments}), but"
            f" {getattr(function, '__name__', type(function).__name__)} takes {accepted}: {error}."
        ) from None


def nonnegative(value: object, what: str) -> float:
    """One finite number of a description, zero or positive."""
    x = number(value, what)
    if x < 0.0:
        raise InputError(f"{what} must not be negative, got {x:g}.")
    return x


def positive(value: object, what: str) -> float:
    """One finite positive number of a description."""
    x = number(value, what)
    if x <= 0.0:
        raise InputError(f"{what} must be positive, got {x:g}.")
    return x


def fixed_shape(value: object, what: str, shape: tuple[int, ...]) -> Array:
    """A finite array of a description with exactly this shape."""
    array = numeric(value, what, f"an array of finite numbers with shape {shape}")
    if array.shape != shape:
        raise InputError(f"{what} must have shape {shape}, got shape {array.shape}: {_shown(value)}.")
    if all(abs(x) <= LARGEST for x in array.flat) if is_varied(array) else _largest(array) <= LARGEST:
        return array
    if not np.all(np.isfinite(array)):
        raise InputError(f"{what} must be finite, got {_shown(value)}.")
    raise InputError(f"{what} must be at most {LARGEST:g} in size, got {_shown(value)}; use SI units.")


def triple(value: object, what: str) -> tuple[float, float, float]:
    """A finite vector of three components, as a tuple (declarations are hashable)."""
    if type(value) is tuple and len(value) == 3:  # the usual case, without an array
        x, y, z = value
        if type(x) is type(y) is type(z) is float and max(abs(x), abs(y), abs(z)) <= LARGEST:
            return (x, y, z)
    x, y, z = fixed_shape(value, what, (3,)).tolist()
    return (x, y, z)


def _largest(array: Array) -> float:
    return float(np.max(np.abs(array), initial=0.0))


def frozen(value: ArrayLike, dtype: Any = np.float64) -> NDArray[Any]:
    """A read-only C-contiguous copy."""
    array = np.array(value, dtype=object if is_varied(value) else dtype, order="C")
    array.setflags(write=False)
    return array


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """The same memory, not to be written to."""
    view = array.view()
    view.setflags(write=False)
    return view


def point(value: object, what: str) -> tuple[float, float, float] | str:
    """A point on a body [m], (3,), or the name of one of a drawing, which `MechanismSpec` replaces."""
    return text(value, what) if isinstance(value, str) else triple(value, what)


def state(value: ArrayLike, what: str, n: int, owner: str = "") -> Array:
    """A state array with shape (..., n), finite; leading axes are batch axes.

    Args:
        value: What the caller gave.
        what: Its name in the message, such as "q".
        n: Length of the last axis.
        owner: Whose it is, such as "mechanism 'dual_arm'".
    """
    # the usual case; a sum that overflows goes through the full check below
    if (
        type(value) is np.ndarray
        and value.dtype == np.float64
        and value.shape == (n,)
        and math.isfinite(value @ value)
    ):
        return np.array(value)
    owned = f" for {owner}" if owner else ""
    array = numeric(value, what, f"an array of finite numbers with shape (..., {n}){owned}")
    if array.ndim == 0 or array.shape[-1] != n:
        raise InputError(f"{what} must have shape ({n},) or (..., {n}){owned}, got {array.shape}.")
    if not np.all(np.isfinite(array)):
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise InputError(f"{what} must be finite{owned}, got {array[where]} at index {where}.")
    return array


def one_state(value: ArrayLike, what: str, n: int, owner: str = "") -> Array:
    """Likewise for one state, (n,)."""
    array = state(value, what, n, owner)
    if array.ndim != 1:
        raise InputError(f"{what} must be one vector of shape ({n},) here, got shape {array.shape}.")
    return array


def flatten_batch(
    parts: Sequence[tuple[Array, str]], extra: Iterable[tuple[int, ...]] = ()
) -> tuple[list[Array], tuple[int, ...]]:
    """Broadcast the leading axes of several state arrays and flatten them into one batch axis.

    Args:
        parts: Pairs (array of shape (..., n), its name in messages).
        extra: Further batch shapes that take part in broadcasting.

    Returns:
        Arrays of shape (B, n), C-contiguous, and the common batch shape whose product is B.
    """
    shapes = [array.shape[:-1] for array, _ in parts]
    try:
        batch = np.broadcast_shapes(*shapes, *extra)
    except ValueError:
        listed = ", ".join(f"{name} {array.shape}" for array, name in parts)
        raise InputError(f"batch axes must broadcast against each other, got shapes {listed}.") from None
    count = int(np.prod(batch, dtype=np.int64))
    flat = [
        np.ascontiguousarray(np.broadcast_to(a, (*batch, a.shape[-1])).reshape(count, a.shape[-1]))
        for a, _ in parts
    ]
    return flat, batch

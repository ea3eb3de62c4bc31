"""Recorded functions run by NumPy, for many arguments at once: what C and CUDA do, without a compiler."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from .._kernel import OPERATIONS
from ..arrays import Array
from .program import Function, Program

Guards = npt.NDArray[np.int64]
UNARY: dict[str, Callable[[Any], Any]] = {
    "NEG": np.negative, "INVERSE": np.reciprocal, "SQRT": np.sqrt, "ABS": np.abs, "SIN": np.sin,
    "COS": np.cos, "TANH": np.tanh, "ROUND": np.rint,
}  # fmt: skip
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "ADD": np.add, "SUB": np.subtract, "MUL": np.multiply, "ATAN2": np.arctan2, "LESS": np.less
}  # fmt: skip


def evaluated(program: Program, name: str, arguments: Array) -> tuple[Array, Guards]:
    """Results (n, B) and guard bits (B,) of a recorded function.

    Args:
        program: Whose function.
        name: Its name.
        arguments: All its arguments, one behind the other (k, B).
    """
    with np.errstate(all="ignore"):
        results, guards = _run(program, program.functions[name], list(arguments), arguments.shape[1])
    return np.array(results).reshape(len(results), arguments.shape[1]), guards


def _run(program: Program, f: Function, arguments: list[Any], count: int) -> tuple[list[Any], Guards]:
    guards = np.zeros(count, dtype=np.int64)
    values: list[Any] = [0.0] * len(f.operations)
    called: dict[int, list[Any]] = {}
    functions = list(program.functions.values())
    for i, (op, a, b, c) in enumerate(f.operations.tolist()):
        what = OPERATIONS[op]
        if what in BINARY:
            values[i] = BINARY[what](values[a], values[b])
        elif what in UNARY:
            values[i] = UNARY[what](values[a])
        elif what == "CONSTANT":
            values[i] = np.float64(f.constants[i])
        elif what == "INPUT":
            values[i] = arguments[a]
        elif what == "SELECT":
            values[i] = np.where(values[a], values[b], values[c])
        elif what == "RESULT":
            values[i] = called[a][b]
        else:
            given = [values[k] for k in f.calls[a].tolist()]
            called[i], inside = _run(program, functions[b], given, count)
            guards |= inside
    for at, expected, bit in f.guards.tolist():
        guards |= np.where(np.broadcast_to(values[at], count) == bool(expected), 0, bit)
    return [np.broadcast_to(values[k], count) for k in f.results.tolist()], guards

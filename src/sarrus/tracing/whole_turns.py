"""Coordinates that may be changed by whole turns: those of which a program takes sine and cosine alone.

In float32 an angle of many turns has few digits left, and loops would open by its rounding. Copies on a
device keep such coordinates between -pi and pi, and count the turns beside.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .._kernel import OPERATIONS
from ..arrays import BoolArray
from .program import Function, Program

CODE = {name: i for i, name in enumerate(OPERATIONS)}


def turning_coordinates(program: Program, nq: int) -> BoolArray:
    """Which entries of q may be changed by multiples of 2 pi without an effect on anything else (nq,)."""
    found = np.ones(nq, dtype=bool)
    functions = list(program.functions.values())
    for name in program.with_called(("acceleration", "step")):
        for j in _used_otherwise(program.functions[name], functions):
            found[j] = False
    return found


def _used_otherwise(f: Function, functions: list[Function]) -> Iterator[int]:
    """Coordinates that this function uses for more than sines, sums, and what it passes on as positions."""
    first, nq = _part(f.inputs, "q")
    angle: dict[int, int] = {}  # coordinate of each value that is a position plus something
    for i, (op, a, b, c) in enumerate(f.operations.tolist()):
        if op == CODE["INPUT"]:
            if first <= a < first + nq:
                angle[i] = a - first
        elif op == CODE["CALL"]:
            at = f.calls[a].tolist()
            begin, _ = _part(functions[b].inputs, "q")
            yield from (angle[x] for k, x in enumerate(at) if x in angle and k - begin != angle[x])
        elif op == CODE["RESULT"]:
            begin, n = _part(functions[f.operations[a, 2]].outputs, "q")
            if begin <= b < begin + n:
                angle[i] = b - begin
        elif op in (CODE["ADD"], CODE["SUB"]) and (a in angle) != (b in angle):
            angle[i] = angle[a] if a in angle else angle[b]
            if op == CODE["SUB"] and b in angle:
                yield angle[b]
        elif op not in (CODE["CONSTANT"], CODE["SIN"], CODE["COS"]):
            yield from (angle[x] for x in _operands(op, a, b, c) if x in angle)
    begin, _ = _part(f.outputs, "q")
    yield from (angle[x] for k, x in enumerate(f.results.tolist()) if x in angle and k - begin != angle[x])


def _operands(op: int, a: int, b: int, c: int) -> tuple[int, ...]:
    if op == CODE["SELECT"]:
        return a, b, c
    two = ("ADD", "SUB", "MUL", "ATAN2", "LESS")
    return (a, b) if op in [CODE[name] for name in two] else (a,)


def _part(parts: list[tuple[str, int]], name: str) -> tuple[int, int]:
    """Where a part begins, and its size; size 0 where there is none."""
    begin = 0
    for part, n in parts:
        if part == name:
            return begin, n
        begin += n
    return -1, 0

"""Tape: straight-line arithmetic that is put together here, and printed as C or as Python.

Recorded functions of the kernel (tracing) are played onto it with some of their inputs fixed, so that what
does not depend on the others folds away.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from .._kernel import OPERATIONS
from ..tracing.program import Function

FOLDED: dict[str, Callable[..., float]] = {
    "ADD": lambda x, y: x + y,
    "SUB": lambda x, y: x - y,
    "MUL": lambda x, y: x * y,
    "NEG": lambda x: -x,
    "INVERSE": lambda x: 1.0 / x,
    "SQRT": math.sqrt,
    "ABS": abs,
    "SIN": math.sin,
    "COS": math.cos,
    "TANH": math.tanh,
    "ATAN2": math.atan2,
    "ROUND": round,
    "LESS": lambda x, y: float(x < y),
    "SELECT": lambda x, y, z: y if x else z,
}
OPERANDS = {"ADD": 2, "SUB": 2, "MUL": 2, "ATAN2": 2, "LESS": 2, "SELECT": 3}  # others: 1
Node = int


class Tape:
    """Operations in order. A node is the position of an operation.

    Attributes:
        operations: (name, operands); ("CONSTANT", (value,)) and ("INPUT", (text,)) among them.
    """

    def __init__(self) -> None:
        self.operations: list[tuple[str, tuple[Any, ...]]] = []
        self._known: dict[tuple[str, tuple[Any, ...]], Node] = {}

    def _append(self, name: str, operands: tuple[Any, ...]) -> Node:
        key = name, operands
        if key not in self._known:
            self._known[key] = len(self.operations)
            self.operations.append(key)
        return self._known[key]

    def constant(self, x: float) -> Node:
        """A number."""
        return self._append("CONSTANT", (float(x),))

    def input(self, text: str) -> Node:
        """A variable, by what the printed code calls it."""
        return self._append("INPUT", (text,))

    def value(self, node: Node) -> float | None:
        """The number that a node is, where it is one."""
        name, operands = self.operations[node]
        return operands[0] if name == "CONSTANT" else None

    def do(self, name: str, *operands: Node) -> Node:
        """An operation; constants fold, 0 and 1 vanish."""
        values = [self.value(one) for one in operands]
        if all(x is not None for x in values):
            return self.constant(FOLDED[name](*values))
        short = _shortened(name, operands, values)
        if short is not None:
            return self.constant(0.0) if short < 0 else short
        if name in ("ADD", "MUL"):
            operands = tuple(sorted(operands))
        return self._append(name, operands)

    def sum(self, nodes: Sequence[Node]) -> Node:
        """Their sum."""
        total = self.constant(0.0)
        for one in nodes:
            total = self.do("ADD", total, one)
        return total

    def times(self, x: float, node: Node) -> Node:
        """A number times a node."""
        return self.do("MUL", self.constant(x), node)

    def play(self, f: Function, inputs: Sequence[Node], wanted: Sequence[int]) -> list[Node]:
        """Nodes of some results of a recorded function that calls no other one.

        Args:
            f: The function.
            inputs: A node for each of its inputs.
            wanted: Numbers of results.
        """
        needed = _reachable(f, [int(f.results[k]) for k in wanted])
        node: dict[int, Node] = {}
        for i, (op, a, b, c) in enumerate(f.operations.tolist()):
            if i not in needed:
                continue
            name = OPERATIONS[op]
            if name == "CONSTANT":
                node[i] = self.constant(float(f.constants[i]))
            elif name == "INPUT":
                node[i] = inputs[a]
            else:
                node[i] = self.do(name, *(node[k] for k in (a, b, c)[: OPERANDS.get(name, 1)]))
        return [node[int(f.results[k])] for k in wanted]

    def live(self, results: Sequence[Node]) -> list[Node]:
        """Nodes that results need, in order, without constants and inputs."""
        todo, seen = list(results), set(results)
        while todo:
            name, operands = self.operations[todo.pop()]
            if name not in ("CONSTANT", "INPUT"):
                fresh = [one for one in operands if one not in seen]
                seen.update(fresh)
                todo += fresh
        return sorted(i for i in seen if self.operations[i][0] not in ("CONSTANT", "INPUT"))


def _shortened(name: str, operands: Sequence[Node], values: Sequence[float | None]) -> Node | None:
    """The operand that an operation comes to; -1 for zero; None where it has to be done."""
    if name == "SELECT" and values[0] is not None:
        return operands[1] if values[0] else operands[2]
    if name == "SELECT" and operands[1] == operands[2]:
        return operands[1]
    if name == "MUL":
        return _of_product(operands, values)
    if name == "ADD":
        return next((operands[1 - k] for k in (0, 1) if values[k] == 0.0), None)
    return operands[0] if name == "SUB" and values[1] == 0.0 else None


def _of_product(operands: Sequence[Node], values: Sequence[float | None]) -> Node | None:
    if 0.0 in values:
        return -1
    return next((operands[1 - k] for k in (0, 1) if values[k] == 1.0), None)


def _reachable(f: Function, results: Sequence[int]) -> set[int]:
    """Operations that results need."""
    todo, seen = list(results), set(results)
    while todo:
        op, *operands = f.operations[todo.pop()].tolist()
        name = OPERATIONS[op]
        if name in ("CONSTANT", "INPUT"):
            continue
        for one in operands[: OPERANDS.get(name, 1)]:
            if one not in seen:
                seen.add(one)
                todo.append(one)
    return seen

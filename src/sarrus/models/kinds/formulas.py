"""Formulas as instructions of the kernel (kernels/tree/forces/formulas.hpp)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from ..._kernel import FORMULA_OPERATIONS
from ...errors import InputError
from ...varied import Varied
from ..base.expressions import FUNCTIONS, Expression, Signal

Instruction = tuple[int, int, int, int, int]  # operation, slot of the result, operands
MOST_FACTORS = 16  # of a whole power
DIRECT = {"+": "ADD", "-": "SUB", "*": "MUL", "/": "DIV", "arctan2": "ATAN2"}
UNARY = {"neg": "NEG", "abs": "ABS", "sqrt": "SQRT", "sin": "SIN", "cos": "COS", "tanh": "TANH"}


class Program:
    """Instructions and numbers of one formula; equal parts are computed once.

    Args:
        place: Operation and entry of a signal, ("POSITION", 3) of a coordinate.
        where: Name of the force in messages.
    """

    def __init__(self, place: Callable[[Signal], tuple[str, int]], where: str) -> None:
        self._place, self._where = place, where
        self.code: list[Instruction] = []
        self.start: list[Any] = []
        self._known: dict[Any, int] = {}

    def result(self, number: int, value: Any) -> None:
        """Entry `number` of the wrench or forces is this expression."""
        self.code.append((FORMULA_OPERATIONS["RESULT"], 0, number, self.slot(value), 0))

    def slot(self, x: Any) -> int:
        """Where a number stands."""
        if not isinstance(x, Expression):
            key = ("constant", id(x)) if isinstance(x, Varied) else ("constant", float(x))
            return self._known[key] if key in self._known else self._new(key, x)
        if isinstance(x, Signal):
            return self.add(*self._place(x))
        if x.symbol in self.composed:
            return self.composed[x.symbol](self, *x.arguments)
        names = DIRECT | UNARY
        if x.symbol not in names:
            raise InputError(
                f"{self._where}: {x.symbol!r} is not among the functions of formulas: {', '.join(KNOWN)}."
                " Give a Python function instead, which rollouts, studios and exported code do not take."
            )
        return self.add(names[x.symbol], *(self.slot(a) for a in x.arguments))

    def add(self, name: str, *operands: int) -> int:
        """The slot of an operation's result."""
        key = (name, *operands)
        if key not in self._known:
            out = self._new(key, 0.0)
            a, b, c = (*operands, 0, 0, 0)[:3]
            self.code.append((FORMULA_OPERATIONS[name], out, a, b, c))
        return self._known[key]

    def _new(self, key: Any, value: Any) -> int:
        self._known[key] = len(self.start)
        self.start.append(value)
        return self._known[key]

    # ------------------------------------------------------------------ functions made of others

    def _power(self, x: Any, n: Any) -> int:
        if not isinstance(n, (int, float)) or 2 * n != int(2 * n) or abs(n) > MOST_FACTORS:
            raise InputError(
                f"{self._where}: the exponent of a formula must be a whole number or half of one, at most"
                f" {MOST_FACTORS}, got {n!r}."
            )
        base = self.slot(x) if n == int(n) else self.add("SQRT", self.slot(x))
        count = abs(int(n)) if n == int(n) else abs(int(2 * n))
        found = self.slot(1.0) if count == 0 else base
        for _ in range(count - 1):
            found = self.add("MUL", found, base)
        return self.add("DIV", self.slot(1.0), found) if n < 0 else found

    def _larger(self, x: Any, y: Any) -> int:
        a, b = self.slot(x), self.slot(y)
        return self.add("PICK", self.add("SUB", a, b), b, a)

    def _smaller(self, x: Any, y: Any) -> int:
        a, b = self.slot(x), self.slot(y)
        return self.add("PICK", self.add("SUB", a, b), a, b)

    def _sign(self, x: Any) -> int:
        return self._by_sign(x, self.slot(-1.0), self.slot(0.0), self.slot(1.0))

    def _step(self, x: Any, at_zero: Any) -> int:
        return self._by_sign(x, self.slot(0.0), self.slot(at_zero), self.slot(1.0))

    def _by_sign(self, x: Any, below: int, at_zero: int, above: int) -> int:
        a = self.slot(x)
        return self.add("PICK", a, below, self.add("PICK", self.add("NEG", a), above, at_zero))

    def _tangent(self, x: Any) -> int:
        a = self.slot(x)
        return self.add("DIV", self.add("SIN", a), self.add("COS", a))

    def _arc(self, x: Any, cosine: bool) -> int:
        a = self.slot(x)
        other = self.add("SQRT", self.add("SUB", self.slot(1.0), self.add("MUL", a, a)))
        return self.add("ATAN2", other, a) if cosine else self.add("ATAN2", a, other)

    def _hypotenuse(self, x: Any, y: Any) -> int:
        squares = [self.add("MUL", a, a) for a in (self.slot(x), self.slot(y))]
        return self.add("SQRT", self.add("ADD", *squares))

    def _times(self, x: Any, name: str) -> int:
        return self.add("MUL", self.slot(x), self.slot(FUNCTIONS[name](1.0)))

    composed: ClassVar[Mapping[str, Callable[..., int]]] = {
        "**": _power, "maximum": _larger, "minimum": _smaller, "sign": _sign, "heaviside": _step,
        "tan": _tangent, "hypot": _hypotenuse, "pos": slot,
        "arcsin": lambda self, x: self._arc(x, False), "arccos": lambda self, x: self._arc(x, True),
        "arctan": lambda self, x: self.add("ATAN2", self.slot(x), self.slot(1.0)),
        "radians": lambda self, x: self._times(x, "radians"),
        "degrees": lambda self, x: self._times(x, "degrees"),
    }  # fmt: skip


class FormulaTable:
    """Fields of the kernel's model that forces by formulas fill, as growing lists."""

    def __init__(self) -> None:
        names = ("node", "R", "p", "world", "begin", "end", "first", "last", "code", "start")
        self.columns: dict[str, list[Any]] = {f"fm_{name}": [] for name in names}

    def add(self, program: Program, results: Sequence[tuple[int, Any]], **place: Any) -> None:
        """Append a formula: its results by number, and fm_node, fm_R, fm_p, fm_world."""
        for number, value in results:
            program.result(number, value)
        code, start = self.columns["fm_code"], self.columns["fm_start"]
        first = len(start)
        moved = [_moved(one, first) for one in program.code]
        place |= {"begin": len(code), "end": len(code) + len(moved)}
        place |= {"first": first, "last": first + len(program.start)}
        for name, value in place.items():
            self.columns[f"fm_{name}"].append(value)
        code += moved
        start += program.start


KNOWN = tuple(dict.fromkeys([*DIRECT, *UNARY, *Program.composed]))
INPUTS = [FORMULA_OPERATIONS[name] for name in ("POSITION", "SPEED", "PLACE", "ATTITUDE", "TWIST")]


def _moved(one: Instruction, first: int) -> list[int]:
    """An instruction whose slots begin at `first`."""
    op, out, a, b, c = one
    if op in INPUTS:
        return [op, out + first, a, 0, 0]
    if op == FORMULA_OPERATIONS["RESULT"]:
        return [op, 0, a, b + first, 0]
    return [op, out + first, a + first, b + first, c + first]

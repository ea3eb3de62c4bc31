"""Recorded functions as C99, which is CUDA too."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from .._kernel import OPERATIONS
from .program import Function, Program

PREFIX = "recorded_"  # of the names of functions
WIDTH = 100  # columns of lists of numbers
BINARY = {"ADD": "{} + {}", "SUB": "{} - {}", "MUL": "{} * {}", "ATAN2": "atan2({}, {})", "LESS": "({} < {})"}
UNARY = {
    "NEG": "-{}",
    "INVERSE": "ONE / {}",
    "SQRT": "sqrt({})",
    "ABS": "fabs({})",
    "SIN": "sin({})",
    "COS": "cos({})",
    "TANH": "tanh({})",
    "ROUND": "rint({})",
}


class FunctionText:
    """The text of one recorded function, `unsigned recorded_NAME(const real *in..., real *out...)`."""

    def __init__(self, program: Program, function: Function, qualifiers: str, pairs: bool) -> None:
        """pairs: sine and cosine by one call of sincos, which C99 does not have."""
        self._program, self._function = program, function
        self._qualifiers, self._pairs = qualifiers, pairs
        # closures are as exact as the sines of what closes them
        precise = program.precision == "float32" and function.name == "close"
        self._sincos = "PRECISE_SINCOS" if precise else "sincos"
        self._inputs = [f"{part}[{i}]" for part, n in function.inputs for i in range(n)]
        self._text: list[str] = []  # of each value
        self._called: dict[int, list[str]] = {}  # names of the results of a CALL
        self._declared: set[str] = set()  # arrays of results
        self._read: dict[int, set[int]] = {}  # numbers of the results of a CALL that something needs
        for op, call, number, _ in function.operations.tolist():
            if OPERATIONS[op] == "RESULT":
                self._read.setdefault(call, set()).add(number)

    def lines(self) -> Iterator[str]:
        """The function, line by line."""
        f = self._function
        outputs = [(f"{part}_out" if part in dict(f.inputs) else part, n) for part, n in f.outputs]
        arguments = [f"const real *{part}" for part, _ in f.inputs] + [f"real *{part}" for part, _ in outputs]
        yield f"{self._qualifiers} unsigned {PREFIX}{f.name}({', '.join(arguments)})"
        yield "{"
        yield "    unsigned guards = 0u;"
        results: dict[int, list[str]] = defaultdict(list)
        targets = (f"{part}[{i}]" for part, n in outputs for i in range(n))
        for target, at in zip(targets, f.results.tolist(), strict=True):
            results[at].append(target)
        guards: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for at, expected, bit in f.guards.tolist():
            guards[at].append((expected, bit))
        for i, (op, a, b, c) in enumerate(f.operations.tolist()):
            yield from self._operation(i, OPERATIONS[op], a, b, c)
            for expected, bit in guards[i]:
                holds = f"{self._text[a]} {'<' if expected else '>='} {self._text[b]}"
                yield f"    guards |= {holds} ? 0u : {bit}u;"
            for target in results[i]:
                wanted = "if (factors) " if target.startswith("factors") else ""
                yield f"    {wanted}{target} = {self._text[i]};"
        yield from (f"    (void){part};" for part in self._unused())
        yield "    return guards;"
        yield "}"

    def _unused(self) -> list[str]:
        """Arguments that no operation reads, which compilers would warn of."""
        read = {text.split("[")[0] for text in self._text if "[" in text}
        wide = {name for call in self._function.calls for name in self._parts_of(call.tolist())}
        return [part for part, n in self._function.inputs if part not in read | wide or n == 0] + [
            part for part, n in self._function.outputs if n == 0
        ]

    def _parts_of(self, at: list[int]) -> set[str]:
        return {self._text[i].split("[")[0] for i in at}

    def _operation(self, i: int, op: str, a: int, b: int, c: int) -> Iterator[str]:
        text = self._text
        if op == "CONSTANT":
            text.append(literal(float(self._function.constants[i])))
        elif op == "INPUT":
            text.append(self._inputs[a])
        elif op == "CALL":
            text.append("")
            yield from self._call(i, a, b)
        elif op == "RESULT":
            text.append(self._called[a][b])
        elif op in ("SIN", "COS") and self._pairs:
            sine, cosine = f"s{a}", f"c{a}"
            text.append(sine if op == "SIN" else cosine)
            if sine not in self._declared:
                self._declared.add(sine)
                yield f"    real {sine}, {cosine};"
                yield f"    {self._sincos}({text[a]}, &{sine}, &{cosine});"
        elif op == "LESS":  # written where it is used
            text.append(BINARY[op].format(text[a], text[b]))
        else:
            if op == "SELECT":
                what = f"{text[a]} ? {text[b]} : {text[c]}"
            elif op in BINARY:
                what = BINARY[op].format(text[a], text[b])
            else:
                what = UNARY[op].format(text[a])
            text.append(f"t{i}")
            yield f"    const real t{i} = {what.replace('--', '- -')};"

    def _call(self, i: int, number: int, which: int) -> Iterator[str]:
        """A call: its arguments as arrays, the arrays of its results, then itself."""
        f = list(self._program.functions.values())[which]
        at = self._function.calls[number].tolist()
        passed, arrays, begin = [], [], 0
        for part, n in f.inputs:
            values = [self._text[x] for x in at[begin : begin + n]]
            begin += n
            whole = values[0].split("[")[0] if values else "0"
            if values and values != [f"{whole}[{k}]" for k in range(n)]:
                whole = f"{part}_in"
                arrays += list(_array(whole, values))
            passed.append(whole)
        names: list[str] = []
        for part, n in f.outputs:
            used = bool(self._read.get(i, set()) & set(range(len(names), len(names) + n)))
            array = f"c{i}_{part}" if used else "0" if part == "factors" else f"unused_{part}"
            if n and array != "0" and array not in self._declared:
                yield f"    real {array}[{n}];"
                self._declared.add(array)
            names += [f"{array}[{k}]" for k in range(n)]
            passed.append(array if n else "0")
        self._called[i] = names
        yield "    {"
        yield from arrays
        yield f"        guards |= {PREFIX}{f.name}({', '.join(passed)});"
        yield "    }"


def _array(name: str, values: list[str]) -> Iterator[str]:
    """Declaration and values of an array."""
    yield f"        const real {name}[{len(values)}] = {{"
    line = "            "
    for value in values:
        if len(line) + len(value) > WIDTH:
            yield line.rstrip()
            line = "            "
        line += f"{value}, "
    yield line.rstrip().rstrip(",")
    yield "        };"


def literal(x: float) -> str:
    """A number that reads back to the same bits."""
    text = repr(x)
    if "inf" in text:
        text = "HUGE_VAL" if x > 0 else "-HUGE_VAL"
    return f"R({text})"


def function_lines(
    program: Program, names: tuple[str, ...], qualifiers: str = "static", device: bool = False
) -> list[str]:
    """The text of these functions and of those that they call, for a C compiler or for a CUDA device."""
    lines: list[str] = []
    for name in program.with_called(names):
        calls = "" if not device else " __forceinline__" if program.functions[name].calls else " __noinline__"
        lines += [*FunctionText(program, program.functions[name], qualifiers + calls, device).lines(), ""]
    return lines

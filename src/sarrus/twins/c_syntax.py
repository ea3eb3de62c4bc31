"""Tapes as C99, and what the functions of a twin are called in every language."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .code_parts import Part
from .tape import Node, Tape

NEWTON = 4  # steps
CLOSED = 1e-9  # residual without units
BEYOND = 1.5  # half ranges from their middle at which starts of Newton's method are no longer trusted
FAR = 0.5  # how far Newton's method may go from its start [rad], lengths divided by L
FLAT = 1e-6  # determinant of a block, relative to the reference pose
WORDS = {
    "ADD": "{} + {}",
    "SUB": "{} - {}",
    "MUL": "{} * {}",
    "NEG": "-{}",
    "INVERSE": "1.0 / {}",
    "SQRT": "sqrt({})",
    "ABS": "fabs({})",
    "SIN": "sin({})",
    "COS": "cos({})",
    "TANH": "tanh({})",
    "ATAN2": "atan2({}, {})",
    "ROUND": "rint({})",
    "LESS": "({} < {})",
    "SELECT": "{} ? {} : {}",
}
FUNCTIONS = {  # what it does, arguments, results
    "motors": ("q_m <- positions of the motors", "q_s", "q_m"),
    "jacobian": ("J (nu x nv_s, row by row) <- J_A with v_m = J_A v_s", "q_s", "J"),
    "jacobian_rate": ("dJ <- rate of J_A along v_s: a_m = J_A a_s + dJ v_s", "q_s v_s", "dJ"),
    "to_joints": ("tau_s <- J_A^T tau_m", "q_s tau_m", "tau_s"),
    "to_motors": ("tau_m, of least norm, that makes tau_s in the joints", "q_s tau_s", "tau_m"),
    "limited": ("out <- what the motors make of tau_s within their limits", "q_s tau_s", "out"),
    "complete": ("(q, v) <- state of the closed robot", "q_s v_s", "q v"),
}
GUARDS = {
    "CLOSURE": (1, "loops do not close: outside of the range, or beyond a singular pose"),
    "SINGULAR": (2, "joints no longer determine motors, or motors no longer move joints"),
    "BRANCH": (4, "the pose is on another branch than the reference"),
    "UNREACHED": (8, "tau_s asks for a torque where no motor acts"),
}


def prototype(prefix: str, name: str) -> str:
    """The declaration of a function."""
    _, given, found = FUNCTIONS[name]
    arguments = [f"const double *{x}" for x in given.split()] + [f"double *{x}" for x in found.split()]
    return f"unsigned {prefix}_{name}({', '.join(arguments)})"


def expression(tape: Tape, node: Node) -> str:
    """What a node is called."""
    name, operands = tape.operations[node]
    if name == "CONSTANT":
        return f"({operands[0]!r})" if operands[0] < 0 else repr(operands[0])
    return str(operands[0]) if name == "INPUT" else f"t{node}"


def statements(part: Part, words: Mapping[str, str], line: str) -> list[str]:
    """One line for each operation; line has {t} and {x}."""
    tape = part.tape
    found = []
    for i in tape.live([node for nodes in part.results.values() for node in nodes]):
        name, operands = tape.operations[i]
        x = words[name].format(*(expression(tape, one) for one in operands))
        found.append(line.format(t=f"t{i}", x=x))
    return found


def c_function(name: str, inputs: str, part: Part) -> list[str]:
    """A static function whose results are arrays called as in the part."""
    arguments = [f"const double *{x}" for x in inputs.split()] + [f"double *{x}" for x in part.results]
    lines = [f"static void {name}({', '.join(arguments)})", "{"]
    lines += statements(part, WORDS, "    const double {t} = {x};")
    for target, nodes in part.results.items():
        lines += [f"    {target}[{i}] = {expression(part.tape, one)};" for i, one in enumerate(nodes)]
    return [*lines, *(f"    (void){one};" for one in (*inputs.split(), *part.results)), "}", ""]


def integers(name: str, values: Sequence[int]) -> str:
    """A table; never empty."""
    return f"static const int {name}[{max(len(values), 1)}] = {{{', '.join(map(str, values or [0]))}}};"

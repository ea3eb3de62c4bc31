"""The code of a twin as one Python module: NumPy, Torch or JAX, batched, without sarrus."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .array_adapters import ADAPTERS
from .array_functions import BODY
from .c_syntax import BEYOND, CLOSED, FAR, FLAT, GUARDS, NEWTON, expression, statements
from .code_data import CodeData
from .code_parts import CodeParts, Part

COMMON = {
    "ADD": "{} + {}",
    "SUB": "{} - {}",
    "MUL": "{} * {}",
    "NEG": "-{}",
    "INVERSE": "1.0 / {}",
    "LESS": "({} < {})",
    "SELECT": "xp.where({}, {}, {})",
    "ATAN2": "_atan2({}, {})",
}
COMMON |= {name: f"xp.{name.lower()}({{}})" for name in ("SQRT", "ABS", "SIN", "COS", "TANH", "ROUND")}


@dataclass(frozen=True)
class ArrayText:
    """Writes the module of a twin.

    Attributes:
        data: Its sizes and places.
        parts: Its arithmetic.
        said: Lines for the text at the top.
        language: "numpy", "torch" or "jax".
    """

    data: CodeData
    parts: CodeParts
    said: Sequence[str]
    language: str

    def text(self) -> str:
        """The module."""
        d = self.data
        head = ['"""' + "\n".join(self.said), '"""', "", ADAPTERS[self.language], ""]
        names = {"NQ_S": d.nq_s, "NV_S": d.nv_s, "NU": d.nu, "NQ": d.nq, "NV": d.nv, "NEWTON": NEWTON}
        head += [f"{name} = {n}" for name, n in names.items()]
        head += [f"{name} = {bit}  # {text}" for name, (bit, text) in GUARDS.items()]
        loops = self.parts.loops
        tables = {
            "Q0": loops.chart.q0[loops.split.given_q].tolist(),
            "_BLOCKS": d.blocks,
            "_DETERMINANTS": [float(x) for x in self.parts.determinants],
            "_Q_FROM": d.q_from,
            "_V_FROM": d.v_from,
            "_MOTORS_Q": d.motors_q,
            "_MOTORS_V": d.motors_v,
            "_GROUPS": [(one.motors, one.joints, one.determinant) for one in d.groups],
            "_LOWER": [a for a, _ in d.inputs],
            "_UPPER": [b for _, b in d.inputs],
            "_TURNING": d.turning,
            "_N_FOLLOW": len(self.parts.follow_v),
            "_FLAT": FLAT,
            "_CLOSED": CLOSED,
            "_BEYOND": BEYOND,
            "_FAR": [FAR * float(x) for x in self.parts.scales],
        }
        infinite = ["inf = float('inf')", ""]
        lines = [*head, *infinite, *(f"{name} = {value!r}" for name, value in tables.items()), ""]
        lines += _function("_start", "s", self.parts.start())
        lines += _function("_update", "s, f, dx", self.parts.update())
        lines += _function("_closure", "s, f", self.parts.closure())
        lines += _function("_gamma", "s, f, w", self.parts.gamma())
        return "\n".join([*lines, BODY])


def _function(name: str, arguments: str, part: Part) -> list[str]:
    """A function of lists of columns that returns one list of columns for each result."""
    lines = ["", f"def {name}({arguments}):", *statements(part, COMMON, "    {t} = {x}")]
    for result, nodes in part.results.items():
        lines.append(f"    {result} = [{', '.join(expression(part.tape, one) for one in nodes)}]")
    return [*lines, f"    return {', '.join(f'{x}' for x in part.results)},", ""]

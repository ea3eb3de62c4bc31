"""The code of a twin as C99: a .c, a .h and a main.c that shows their use."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .c_loops import CLoops
from .c_syntax import BEYOND, CLOSED, FAR, FLAT, FUNCTIONS, GUARDS, c_function, integers, prototype
from .c_templates import EXAMPLE, FUNCTION_BODIES, GUARDING, SOLVER
from .code_data import CodeData
from .code_parts import CodeParts, Part


class CText:
    """Writes the files of a twin.

    Args:
        data: Its sizes and places.
        parts: Its arithmetic.
        said: Lines for the comment at the top.
    """

    def __init__(self, data: CodeData, parts: CodeParts, said: Sequence[str]) -> None:
        self.data, self.parts, self.said = data, parts, said
        self.p, self.P = f"{data.name}_twin", f"{data.name}_twin".upper()

    def texts(self) -> dict[str, str]:
        """The files by name."""
        example = EXAMPLE.replace("NAME", self.p).replace("PREFIX", self.P)
        return {f"{self.p}.c": self.source(), f"{self.p}.h": self.header(), "main.c": example}

    def header(self) -> str:
        """The .h."""
        d, P, loops = self.data, self.P, self.parts.loops
        sizes = {"NQ_S": d.nq_s, "NV_S": d.nv_s, "NU": d.nu, "NQ": d.nq, "NV": d.nv}
        reference = ", ".join(repr(float(x)) for x in loops.chart.q0[loops.split.given_q])
        lines = [
            "/*",
            *(f"   {one}" for one in self.said),
            "",
            "   Functions return 0, or guard bits: results",
        ]
        lines += ["   then do not count. Matrices row by row. No allocation, no global state. */"]
        lines += [f"#ifndef {P}_H\n#define {P}_H\n", '#ifdef __cplusplus\nextern "C" {\n#endif\n', "enum {"]
        lines += [f"    {P}_{name} = {n}," for name, n in sizes.items()]
        lines += [f"    {P}_{name} = {bit}, /* {text} */" for name, (bit, text) in GUARDS.items()]
        lines += ["};\n", "/* The reference pose */", f"#define {P}_Q0 {{{reference}}}\n"]
        lines += [f"/* {what} */\n{prototype(self.p, name)};\n" for name, (what, _, _) in FUNCTIONS.items()]
        return "\n".join([*lines, "#ifdef __cplusplus\n}\n#endif\n", "#endif\n"])

    def source(self) -> str:
        """The .c."""
        parts = self.parts
        update = parts.update()
        lines = [
            f"/* {self.said[0]} */",
            f'#include "{self.p}.h"',
            "",
            "#include <math.h>",
            "",
            *self._tables(),
            "",
        ]
        lines += c_function("start", "s", parts.start())
        lines += c_function("update", "s f dx", Part(update.tape, {"f_out": update.results["f"]}))
        lines += c_function("closure", "s f", parts.closure())
        lines += c_function("gamma_of", "s f w", parts.gamma())
        lines += [SOLVER, GUARDING.replace("PREFIX", self.P), *CLoops(self.data, parts).lines()]
        bodies = FUNCTION_BODIES.replace("GROUPS", "\n".join(self._groups()))
        return "\n".join([*lines, bodies.replace("PREFIX", self.P).replace("NAME", self.p)])

    def _tables(self) -> list[str]:
        d, parts = self.data, self.parts
        sizes = {"NF": len(parts.follow_q), "ND": len(parts.follow_v), "NS": max(d.nv_s, 1)}
        sizes["NZ"] = sum(len(given) for _, given in d.blocks)
        lines = [f"enum {{ {', '.join(f'{name} = {n}' for name, n in sizes.items())} }};"]
        numbers = {"CLOSED": CLOSED, "FLAT": FLAT, "BEYOND": BEYOND, "FAR": FAR}
        lines += [f"#define {name} {x!r}" for name, x in numbers.items()]
        scale = ", ".join(repr(float(x)) for x in parts.scales)
        lines += [f"static const double scale[NF] = {{{scale}}};", integers("motor_q", d.motors_q)]
        for b, (columns, given) in enumerate(d.blocks):
            lines += [integers(f"columns{b}", columns), integers(f"given{b}", given)]
        for g, group in enumerate(d.groups):
            lines += [integers(f"motors{g}", group.motors), integers(f"joints{g}", group.joints)]
        ends = [f"{{{_bound(a)}, {_bound(b)}}}" for a, b in d.inputs] or ["{0.0, 0.0}"]
        return [*lines, f"static const double inputs[{len(ends)}][2] = {{{', '.join(ends)}}};"]

    def _groups(self) -> list[str]:
        """A call for each group of motors."""
        found = []
        for g, one in enumerate(self.data.groups):
            sizes = f"{len(one.motors)}, {len(one.joints)}, motors{g}, joints{g}, {one.determinant!r}"
            found.append(f"    guards |= motor_group({sizes}, J, tau_s, tau_m);")
        return found


def _bound(x: float) -> str:
    return repr(x) if math.isfinite(x) else "HUGE_VAL" if x > 0 else "-HUGE_VAL"

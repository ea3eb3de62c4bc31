"""A mechanism as C99: one .c, one .h and a main.c that shows their use. No allocation, libm alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .._kernel import GUARDS
from ..arrays import Array, names, one_of
from ..errors import InputError
from ..models.model import Model
from ..models.tables import position_names
from .linear_parameters import LinearParameters
from .longest_step import SHARE, LongestStep
from .program import Program
from .source_text import function_lines
from .written_files import MADE, c_name, comment_text, write_texts

FUNCTIONS = ("acceleration", "step", "terms", "project")
MEANING = {
    "PIVOT": "a singular pose is near, or may be within this step",
    "CLOSURE": "Newton steps do not close the constraints: the step is too long, or the given pose open",
    "RANK": "the constraints have more independent rows than at the reference pose, or the pose is open",
    "DECISION": "a branch other than at the reference pose, no positive inertia, numbers not finite, dt <= 0",
}
PROTOTYPES = {
    "acceleration": (
        "a <- acceleration under the applied force tau, constraints included",
        "unsigned {p}_acceleration(const double *q, const double *v, const double *tau, double *a{given})",
    ),
    "step": (
        "(q, v) <- state after one Runge-Kutta step of dt [s] under the actuator inputs u and the applied\n"
        "   force tau, either of which may be 0 (none)",
        "unsigned {p}_step(double *q, double *v, const double *u, const double *tau, double dt{given})",
    ),
    "project": (
        "(q, v) <- the state on the constraints beside a measured one, by Newton steps in the metric of M",
        "unsigned {p}_project(double *q, double *v{given})",
    ),
    "terms": (
        "M a + h = tau + J^T lambda, phi = 0, J v = b, J a = gamma; results are always written,\n"
        "   and hold where 0 is returned",
        "unsigned {p}_terms(const double *q, const double *v, double *M, double *h, double *phi, double *J,\n"
        "                   double *b, double *gamma{given})",
    ),
}
BODIES = {
    "acceleration": """    double found[{P}_NV];
    {read}const unsigned guards = recorded_acceleration(q, v, tau, {pass}found);
    int i;
    for (i = 0; guards == 0u && i < {P}_NV; ++i) a[i] = found[i];
    return guards;""",
    "step": """    double force[{P}_NV], q1[{P}_NQ], v1[{P}_NV], drift, velocity_drift;
    unsigned guards;
    int i;
    {read}if (!(dt > 0.0)) return {P}_DECISION;
    for (i = 0; i < {P}_NV; ++i) force[i] = tau ? tau[i] : 0.0;
{add}    guards = recorded_step(q, v, force, {pass}&dt, q1, v1, &drift, &velocity_drift);
    if (guards != 0u) return guards;
    for (i = 0; i < {P}_NQ; ++i) q[i] = q1[i];
    for (i = 0; i < {P}_NV; ++i) v[i] = v1[i];
    return 0u;""",
    "project": """    double q1[{P}_NQ], v1[{P}_NV];
    const double none[{P}_NV] = {{0.0}};
    {read}const unsigned guards = recorded_project(q, v, none, {pass}q1, v1);
    int i;
    if (guards != 0u) return guards;
    for (i = 0; i < {P}_NQ; ++i) q[i] = q1[i];
    for (i = 0; i < {P}_NV; ++i) v[i] = v1[i];
    return 0u;""",
    "terms": "    {read}return recorded_terms(q, v, {pass}M, h, phi, J, b, gamma);",
}
ADD_INPUTS = """    static const int actuated[{P}_NU] = {{{columns}}};
    for (i = 0; u && i < {P}_NU; ++i) force[actuated[i]] += u[i];
"""
# Declarations come first in a block of C99 too, so that older compilers take the code.
READ = "double numbers[{n}];\n    read_parameters(p, numbers);\n    "
READ_PARAMETERS = """/* numbers of the mechanism, of which some are linear functions of the parameters */
static void read_parameters(const double *p, double *numbers)
{{
    static const double usual[{P}_NP] = {{{usual}}};
    if (p == 0) p = usual;
{lines}
}}
"""


def chosen_functions(given: Sequence[str]) -> tuple[str, ...]:
    """The names of functions to export, checked."""
    wanted = tuple(names([given] if isinstance(given, str) else given, "functions"))
    for name in wanted:
        one_of(name, "a name in `functions`", FUNCTIONS)
    if not wanted:
        raise InputError(f"functions must name at least one of {', '.join(FUNCTIONS)}, got none.")
    return wanted


class CFiles:
    """The texts of one mechanism."""

    def __init__(
        self,
        model: Model,
        program: Program,
        functions: tuple[str, ...],
        parameters: LinearParameters,
        longest: LongestStep | None = None,
    ) -> None:
        self.name = c_name(model.name)
        self._model, self._program, self._functions = model, program, functions
        self._parameters, n = parameters, len(program.entries)
        self._longest = longest
        self._names = {"p": self.name, "P": self.name.upper(), "given": ", const double *p" if n else ""}
        self._names |= {"read": READ.format(n=n) if n else "", "pass": "numbers, " if n else ""}

    def header(self) -> str:
        """The .h: sizes, guards, names, a state to start from, prototypes."""
        m, P = self._model, self._names["P"]
        sizes = {"NQ": m.nq, "NV": m.nv, "NC": m.nc, "NU": m.nu}
        p = self._parameters
        listed = [f"{name} ({x:g})" for name, x in zip(p.names, p.usual, strict=True)]
        sizes |= {"NP": len(listed)} if listed else {}
        q, v = self._program.reference
        inputs = [one.name for one in m.actuators]
        lines = [
            f"/* Mechanism {comment_text(m.name)}, {MADE}. Units: m, rad, kg, s.",
            f"   q: {comment_text(', '.join(position_names(m)))}.",
            f"   v: {comment_text(', '.join(m.coordinate_names))}.",
            f"   u: {comment_text(', '.join(inputs) or 'none')}. Matrices row by row.",
            *([f"   p: {comment_text(', '.join(listed))}; 0 for these values."] if listed else []),
            "",
            "   Functions return 0, or guard bits that say why the result does not count; states and",
            "   accelerations are then untouched. No allocation, no global state, the same operations in",
            "   every call. */",
            f"#ifndef {P}_H\n#define {P}_H\n",
            '#ifdef __cplusplus\nextern "C" {\n#endif\n',
            "enum {",
            *(f"    {P}_{size} = {n}," for size, n in sizes.items()),
            *(f"    {P}_{name} = {bit}, /* {MEANING[name]} */" for name, bit in GUARDS.items()),
            f"    {P}_RANK_OF_J = {self._program.rank}",
            "};\n",
            "/* Which entry is which */",
            "enum {",
            ",\n".join(f"    {name} = {i}" for name, i in self._entries()),
            "};\n",
            "/* Where q and v may start: the default state of the mechanism, or one beside it if that is",
            "   singular or open */",
            f"#define {P}_Q0 {{{_numbers(q)}}}",
            f"#define {P}_V0 {{{_numbers(v)}}}\n",
        ]
        if self._longest is not None:
            lines += [
                f"/* {100 * SHARE:.0f} % of {self._longest.states} states beside Q0, V0 take a step of this"
                " length [s] without inputs; 0: none */",
                f"#define {P}_LONGEST_STEP {self._longest.dt:g}\n",
            ]
        for name in self._functions:
            what, prototype = PROTOTYPES[name]
            lines.append(f"/* {what} */\n{prototype.format(**self._names)};\n")
        lines += ["#ifdef __cplusplus\n}\n#endif\n", "#endif\n"]
        return "\n".join(lines)

    def _entries(self) -> list[tuple[str, int]]:
        """Names of the entries of q, v, u and p as identifiers, and their places."""
        m, found = self._model, dict[str, int]()
        inputs = [one.name for one in m.actuators]
        parts = {"Q": position_names(m), "V": m.coordinate_names, "U": inputs, "P": self._parameters.names}
        for part, listed in parts.items():
            for i, name in enumerate(listed):
                text = re.sub(r"\W+", "_", name, flags=re.ASCII).upper()
                symbol = f"{self._names['P']}_{part}_{text}"
                found[symbol if symbol not in found else f"{symbol}_{i}"] = i
        return list(found.items())

    def source(self) -> str:
        """The .c."""
        lines = [
            f"/* {MADE[0].upper()}{MADE[1:]}. */",
            f'#include "{self.name}.h"',
            "",
            "#include <math.h>",
            "",
        ]
        lines += ["typedef double real;", "#define R(x) (x)", "#define ONE 1.0", ""]
        lines += function_lines(self._program, self._functions)
        lines += self._read_parameters()
        columns = ", ".join(str(one.index) for one in self._model.actuators)
        add = ADD_INPUTS.format(**self._names, columns=columns) if columns else "    (void)u;\n"
        for name in self._functions:
            body = BODIES[name].format(**self._names, add=add)
            lines += [PROTOTYPES[name][1].format(**self._names), "{", body, "}", ""]
        return "\n".join(lines)

    def _read_parameters(self) -> list[str]:
        p = self._parameters
        if not p.names:
            return []
        rows = zip(p.base.tolist(), p.slopes.tolist(), strict=True)
        lines = [f"    numbers[{i}] = {_linear(base, slopes)};" for i, (base, slopes) in enumerate(rows)]
        return [READ_PARAMETERS.format(**self._names, usual=_numbers(p.usual), lines="\n".join(lines))]

    def example(self) -> str:
        """main.c: the default state, and what each function says about it."""
        P, p, last = self._names["P"], self.name, ", 0" if self._parameters.names else ""
        state = [f"    double q[{P}_NQ] = {P}_Q0;", f"    double v[{P}_NV] = {P}_V0;"]
        state += [f"    const double tau[{P}_NV] = {{0.0}};"]
        body: list[str] = []
        if "acceleration" in self._functions:
            state.append(f"    double a[{P}_NV];")
            body += [f"    guards = {p}_acceleration(q, v, tau, a{last});"]
            body += ['    printf("acceleration: guards %u, a[0] = %.9g\\n", guards, guards ? 0.0 : a[0]);']
        if "terms" in self._functions:
            rows = max(self._model.nc, 1)
            state.append(f"    double M[{P}_NV * {P}_NV], h[{P}_NV], J[{rows} * {P}_NV];")
            state.append(f"    double phi[{rows}], b[{rows}], gamma_[{rows}];")
            body += [f"    guards = {p}_terms(q, v, M, h, phi, J, b, gamma_{last});"]
            body += ['    printf("terms: guards %u, M[0][0] = %.9g\\n", guards, guards ? 0.0 : M[0]);']
        if "project" in self._functions:
            body += [f"    guards = {p}_project(q, v{last});", '    printf("project: guards %u\\n", guards);']
        if "step" in self._functions:
            body += [
                "    for (i = 0; i < 1000; ++i) {",
                f"        guards = {p}_step(q, v, 0, tau, 0.001{last});",
                "        if (guards) break; /* the state is the last good one */",
                "    }",
                '    printf("%d steps of 1 ms: guards %u, q[0] = %.9g\\n", i, guards, q[0]);',
            ]
            state.append("    int i;")
        lines = [
            f"/* How {p}.h is used, {MADE}. */",
            "#include <stdio.h>",
            "",
            f'#include "{p}.h"',
            "",
            "int main(void)",
            "{",
            *state,
        ]
        return "\n".join([*lines, "    unsigned guards = 0u;", *body, "    return 0;", "}", ""])

    def write(self, folder: Any) -> tuple[Path, Path, Path]:
        """Write the three files; returns their paths: .c, .h, main.c."""
        texts = {
            f"{self.name}.c": self.source(),
            f"{self.name}.h": self.header(),
            "main.c": self.example(),
        }
        source, header, main = write_texts(folder, texts)
        return source, header, main


def _numbers(x: Array) -> str:
    return ", ".join(repr(float(one)) for one in x)


def _linear(base: float, slopes: Sequence[float]) -> str:
    """base + slopes . p in C, without what is zero."""
    terms = [f"{x!r} * p[{k}]" for k, x in enumerate(slopes) if x != 0]
    return " + ".join([repr(base), *terms] if base or not terms else terms)

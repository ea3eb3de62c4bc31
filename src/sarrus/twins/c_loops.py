"""Functions of C that depend on the blocks of a twin: Newton's method, rates, rows of J_A."""

from __future__ import annotations

from .c_syntax import NEWTON
from .code_data import CodeData
from .code_parts import CodeParts

AXES = ((0, 1, 2), (1, 2, 0), (2, 0, 1))


class CLoops:
    """Writes them.

    Args:
        data: Sizes and places.
        parts: Arithmetic.
    """

    def __init__(self, data: CodeData, parts: CodeParts) -> None:
        self.data, self.parts = data, parts
        names = [f"{x}{b}" for b in range(len(data.blocks)) for x in ("r", "B", "G", "phi")]
        self._closure = f"closure(q_s, f, {', '.join(names)});"

    def lines(self) -> list[str]:
        """All of them."""
        made = (self._follow(), self._whole(), self._whole_rates(), self._motor_rows(), self._drift())
        return [line for one in (*made, self._bracket()) for line in (*one, "")]

    def _declared(self) -> list[str]:
        found = []
        for b, (columns, given) in enumerate(self.data.blocks):
            n, m, k = len(columns), len(given), len(self.parts.blocks[b].rows)
            found.append(f"    double r{b}[{n}], B{b}[{n * n}], G{b}[{max(n * m, 1)}], phi{b}[{k}];")
        return found

    def _solve(self, right: str, sign: float, target: str) -> list[str]:
        """Solve each block."""
        sizes = [len(columns) for columns, _ in self.data.blocks]
        return [
            f"solve_block({n}, 1, B{b}, {right}{b}, columns{b}, {sign}, {target});"
            for b, n in enumerate(sizes)
        ]

    def _follow(self) -> list[str]:
        """What follows from q_s: f, and its rates N (ND x NS)."""
        lines = ["static unsigned follow(const double *q_s, double *f, double *N)", "{", *self._declared()]
        lines += [
            "    double dx[ND], next[NF], first[NF], z[NZ];",
            "    unsigned guards = 0u;",
            "    int i, j;",
        ]
        lines += ["    start(q_s, first, z);", "    for (i = 0; i < NF; ++i) f[i] = first[i];"]
        lines += ["    for (i = 0; i < NZ; ++i) if (!(fabs(z[i]) < BEYOND)) guards |= 1u;"]
        lines += [f"    for (i = 0; i < {NEWTON}; ++i) {{", f"        {self._closure}"]
        lines += [f"        {one}" for one in self._solve("r", -1.0, "dx")]
        lines += [
            "        update(q_s, f, dx, next);",
            "        for (j = 0; j < NF; ++j) f[j] = next[j];",
            "    }",
        ]
        lines += ["    for (i = 0; i < NF; ++i) if (!(fabs(f[i] - first[i]) < FAR * scale[i])) guards |= 1u;"]
        lines += [f"    {self._closure}", "    for (i = 0; i < ND * NS; ++i) N[i] = 0.0;"]
        for b, (columns, given) in enumerate(self.data.blocks):
            lines.append(f"    guards |= opened({len(self.parts.blocks[b].rows)}, phi{b});")
            solved = f"solve_given({len(columns)}, {len(given)}, B{b}, G{b}, columns{b}, given{b}, N)"
            lines.append(f"    guards |= turned({solved} / {float(self.parts.determinants[b])!r});")
        return [*lines, "    return guards;", "}"]

    def _whole(self) -> list[str]:
        """q from q_s and f."""
        lines = ["static void whole(const double *s, const double *f, double *q)", "{"]
        for i, (kind, x) in enumerate(self.data.q_from):
            lines.append(f"    q[{i}] = {f'{kind}[{int(x)}]' if kind else repr(float(x))};")
        return [*lines, "    (void)s; (void)f;", "}"]

    def _whole_rates(self) -> list[str]:
        """v from v_s."""
        lines = ["static void whole_rates(const double *v_s, const double *N, double *v)", "{"]
        lines += [
            "    double d[ND];",
            "    int i, j;",
            "    for (i = 0; i < ND; ++i) {",
            "        d[i] = 0.0;",
        ]
        lines += ["        for (j = 0; j < NS; ++j) d[i] += N[i * NS + j] * v_s[j];", "    }"]
        words = {"s": "v_s[{}]", "f": "d[{}]", "": "0.0"}
        lines += [f"    v[{i}] = {words[kind].format(x)};" for i, (kind, x) in enumerate(self.data.v_from)]
        return [*lines, "}"]

    def _motor_rows(self) -> list[str]:
        """J_A from N."""
        lines = ["static void motor_rows(const double *N, double *J)", "{"]
        for m, k in enumerate(self.data.motors_v):
            kind, at = self.data.v_from[k]
            for j in range(self.data.nv_s):
                own = "1.0" if at == j else "0.0"
                lines.append(
                    f"    J[{m * self.data.nv_s + j}] = {f'N[{at} * NS + {j}]' if kind == 'f' else own};"
                )
        return [*lines, "    (void)N;", "}"]

    def _drift(self) -> list[str]:
        """Accelerations of the motors while the joints keep their speeds."""
        arguments = "const double *q_s, const double *f, const double *N, const double *v_s, double *a_m"
        lines = [f"static void drift({arguments})", "{", *self._declared()]
        lines += [f"    double c{b}[{len(columns)}];" for b, (columns, _) in enumerate(self.data.blocks)]
        right = ", ".join(f"c{b}" for b in range(len(self.data.blocks)))
        lines += [
            f"    double w[{self.data.nv}], a[ND];",
            "    whole_rates(v_s, N, w);",
            f"    {self._closure}",
        ]
        lines += [f"    gamma_of(q_s, f, w, {right});", *(f"    {x}" for x in self._solve("c", 1.0, "a"))]
        for m, k in enumerate(self.data.motors_v):
            kind, at = self.data.v_from[k]
            lines.append(f"    a_m[{m}] = {f'a[{at}]' if kind == 'f' else '0.0'};")
        return [*lines, "    (void)a; (void)a_m;", "}"]

    def _bracket(self) -> list[str]:
        """[v, w]: angular velocities, and twists of Free joints, do not commute."""
        lines = ["static void bracket(const double *v, const double *w, double *out)", "{", "    int i;"]
        lines += ["    for (i = 0; i < NS; ++i) out[i] = 0.0;"]
        for k, n in self.data.turning:
            o = k + n - 3
            for i, j, m in AXES:
                lines.append(f"    out[{o + i}] = {_minor(o + j, o + m)};")
                if n == 6:
                    lines.append(f"    out[{k + i}] = {_minor(o + j, k + m)} + {_minor(k + j, o + m)};")
        return [*lines, "    (void)v; (void)w;", "}"]


def _minor(i: int, j: int) -> str:
    return f"v[{i}] * w[{j}] - v[{j}] * w[{i}]"

"""The parts of a twin's code that are straight-line arithmetic, as tapes.

    start       q_f from q_s: where Newton's method begins
    closure     for each block the residual r, the matrix B of what follows, G of what is given, and phi
    update      q_f after the Newton step dx
    gamma       for each block the right side of B a_f = gamma - G a_s

q_s are the positions of the tree, q_f those that follow in some block, in the order of q. B and G have the
units of q; r, phi and rows of B are without units.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..arrays import Array
from ..tracing.program import Function
from .charts import Chart
from .loop_map import LoopMap
from .partition import Block
from .start_fit import StartFit
from .tape import Node, Tape
from .tape_algebra import cayley, combined, matrix, relative, rotate, turned

RECORDING = (1e-12, 1e-9, 1e-12), 3, 4_000_000  # of programs of which `terms` is used: bounds do not matter


def recorded_terms(mech: Any) -> Function:
    """The function `terms` of a mechanism, (q, v) -> (M, h, phi, J, b, gamma)."""
    q, v = np.ascontiguousarray(mech.default.q), np.zeros(mech.nv)
    functions = mech.model.kernel.record((q, v), *RECORDING, {})[0]
    return Function(**next(one for one in functions if one["name"] == "terms"))


@dataclass(frozen=True)
class Part:
    """A tape with results of one function.

    Attributes:
        tape: The tape.
        results: Lists of nodes by name.
    """

    tape: Tape
    results: dict[str, list[Node]]


class CodeParts:
    """Makes the tapes.

    Args:
        mech: The closed robot.
        loops: Its loops.
        fits: Where Newton's method begins, for each block.
    """

    def __init__(self, mech: Any, loops: LoopMap, fits: Sequence[StartFit]) -> None:
        self.mech, self.loops, self.fits = mech, loops, fits
        self.terms = recorded_terms(mech)
        self.blocks = loops.split.blocks
        chart = loops.chart
        used = sorted({int(k) for one in self.blocks for k in one.columns})
        self.follow_v = np.array(used, dtype=int)
        self.follow_q = np.array(sorted(_positions_of(chart, used)), dtype=int)
        given = sorted({int(k) for one in self.blocks for k in one.given})
        self._given_q = _positions_of(chart, given)
        self._begin = self._offsets()

    def _offsets(self) -> dict[str, int]:
        sizes, found, at = dict(self.terms.outputs), {}, 0
        for name, n in sizes.items():
            found[name] = at
            at += n
        return found

    # ------------------------------------------------------------------ inputs

    def _q(self, tape: Tape) -> list[Node]:
        """Nodes of q: inputs s[i] and f[i], constants for what no loop knows."""
        q = [tape.constant(x) for x in self.loops.chart.q0]
        for i, k in enumerate(self.loops.split.given_q):
            if k in self._given_q:
                q[k] = tape.input(f"s[{i}]")
        for i, k in enumerate(self.follow_q):
            q[k] = tape.input(f"f[{i}]")
        return q

    def _chart(self, tape: Tape, q: list[Node], k: int) -> Node:
        """The chart of the coordinate k."""
        chart = self.loops.chart
        if k in chart.scalar_v:
            i = int(chart.scalar_q[list(chart.scalar_v).index(k)])
            return tape.do("SUB", q[i], tape.constant(chart.q0[i]))
        for at, i in chart.quaternions:
            if at <= k < at + 3:
                r = relative(tape, chart.q0[i : i + 4], q[i : i + 4])
                return tape.times(2.0, tape.do("MUL", r[k - at], tape.do("INVERSE", r[3])))
        at, i = next((at, i) for at, i in chart.places if at <= k < at + 3)
        moved = [tape.do("SUB", q[i + j], tape.constant(chart.q0[i + j])) for j in range(3)]
        R = matrix(chart.q0[i + 3 : i + 7])
        return tape.sum([tape.times(R[j, k - at], moved[j]) for j in range(3)])

    # ------------------------------------------------------------------ parts

    def start(self) -> Part:
        """q_f by the fitted polynomials, and where in its range each given coordinate is (-1 to 1)."""
        tape = Tape()
        q = self._q(tape)
        x: dict[int, Node] = {}
        places: list[Node] = []
        for fit in self.fits:
            z = [
                tape.times(1.0 / h, tape.do("SUB", self._chart(tape, q, int(k)), tape.constant(m)))
                for k, m, h in zip(fit.block.given, fit.middle, fit.half, strict=True)
            ]
            places += z
            terms: dict[tuple[int, ...], Node] = {(): tape.constant(1.0)}
            for term in fit.exponents[1:]:
                terms[term] = tape.do("MUL", terms[term[:-1]], z[term[-1]])
            for j, k in enumerate(fit.block.columns):
                shares = zip(fit.coefficients[:, j], fit.exponents, strict=True)
                x[int(k)] = tape.sum([tape.times(float(c), terms[one]) for c, one in shares])
        return Part(tape, {"f": self._pose(tape, x), "z": places})

    def _pose(self, tape: Tape, x: dict[int, Node]) -> list[Node]:
        """Entries follow_q of the pose with the chart x."""
        chart, found = self.loops.chart, dict[int, Node]()
        for k, i in zip(chart.scalar_v.tolist(), chart.scalar_q.tolist(), strict=True):
            if k in x:
                found[i] = tape.do("ADD", tape.constant(chart.q0[i]), x[k])
        for k, i in chart.quaternions:
            if k in x:
                base = [tape.constant(c) for c in chart.q0[i : i + 4]]
                found |= dict(
                    zip(range(i, i + 4), turned(tape, base, [x[k + j] for j in range(3)]), strict=True)
                )
        for k, i in chart.places:
            if k in x:
                R = matrix(chart.q0[i + 3 : i + 7])
                for j in range(3):
                    shift = tape.sum([tape.times(R[j, n], x[k + n]) for n in range(3)])
                    found[i + j] = tape.do("ADD", tape.constant(chart.q0[i + j]), shift)
        return [found[int(i)] for i in self.follow_q]

    def update(self) -> Part:
        """q_f after the step dx (follow_v)."""
        tape, chart = Tape(), self.loops.chart
        q = self._q(tape)
        dx = {int(k): tape.input(f"dx[{i}]") for i, k in enumerate(self.follow_v)}
        found: dict[int, Node] = {}
        for k, i in zip(chart.scalar_v.tolist(), chart.scalar_q.tolist(), strict=True):
            if k in dx:
                found[i] = tape.do("ADD", q[i], dx[k])
        for k, i in chart.places:
            if k in dx:
                t = rotate(tape, q[i + 3 : i + 7], [dx[k + j] for j in range(3)])
                found |= {i + j: tape.do("ADD", q[i + j], t[j]) for j in range(3)}
        for k, i in chart.quaternions:
            if k in dx:
                moved = turned(tape, q[i : i + 4], [dx[k + j] for j in range(3)])
                found |= dict(zip(range(i, i + 4), moved, strict=True))
        return Part(tape, {"f": [found[int(i)] for i in self.follow_q]})

    def closure(self) -> Part:
        """r, B, G and phi of every block."""
        tape, results = Tape(), dict[str, list[Node]]()
        q = self._q(tape)
        inputs = [*q, *(tape.constant(0.0) for _ in range(self.mech.nv))]
        row_unit, nv = np.asarray(self.mech.units.row_unit), self.mech.nv
        for b, block in enumerate(self.blocks):
            phi = tape.play(self.terms, inputs, [self._begin["phi"] + int(i) for i in block.rows])
            phi = [tape.times(1.0 / row_unit[i], node) for i, node in zip(block.rows, phi, strict=True)]
            combine = block.basis.T
            r = combined(tape, combine, [[one] for one in phi])
            sides = {}
            for name, columns in (("B", block.columns), ("G", block.given)):
                wanted = [self._begin["J"] + int(i) * nv + int(k) for i in block.rows for k in columns]
                J = np.reshape(tape.play(self.terms, inputs, wanted), (len(block.rows), len(columns)))
                scaled = [
                    [tape.times(1.0 / row_unit[i], int(x)) for x in row]
                    for i, row in zip(block.rows, J, strict=True)
                ]
                sides[name] = combined(tape, combine, scaled)
            kept_r, kept_B = self._kept(tape, q, block)
            zero = tape.constant(0.0)
            results[f"r{b}"] = [row[0] for row in r] + kept_r
            results[f"B{b}"] = [x for row in [*sides["B"], *kept_B] for x in row]
            results[f"G{b}"] = [x for row in sides["G"] for x in row] + [zero] * (
                len(kept_r) * len(block.given)
            )
            results[f"phi{b}"] = phi
        return Part(tape, results)

    def _kept(self, tape: Tape, q: list[Node], block: Block) -> tuple[list[Node], list[list[Node]]]:
        """Rows that keep spins: residuals and their derivatives."""
        unit = np.asarray(self.mech.units.unit)[block.columns]
        slopes = self._slopes(tape, q, block)
        r, B = [], []
        for row in block.kept / unit:
            r.append(
                tape.sum(
                    [
                        tape.times(c, self._chart(tape, q, int(k)))
                        for c, k in zip(row, block.columns, strict=True)
                        if c
                    ]
                )
            )
            columns = range(len(block.columns))
            B.append(
                [tape.sum([tape.times(row[i], slopes[i][j]) for i in columns if row[i]]) for j in columns]
            )
        return r, B

    def _slopes(self, tape: Tape, q: list[Node], block: Block) -> list[list[Node]]:
        """Derivative of the charts of a block by its velocities, as in `Chart.slopes`."""
        chart, place = self.loops.chart, {int(k): j for j, k in enumerate(block.columns)}
        n = len(block.columns)
        found = [[tape.constant(float(i == j)) for j in range(n)] for i in range(n)]
        if not len(block.kept):
            return found
        for k, i in chart.quaternions:
            if k in place:
                r = relative(tape, chart.q0[i : i + 4], q[i : i + 4])
                y = [tape.do("MUL", r[j], tape.do("INVERSE", r[3])) for j in range(3)]
                for a in range(3):
                    for b in range(3):
                        found[place[k + a]][place[k + b]] = cayley(tape, y, a, b)
        for k, i in chart.places:
            if k in place:
                r = relative(tape, chart.q0[i + 3 : i + 7], q[i + 3 : i + 7])
                for b in range(3):
                    column = rotate(tape, r, [tape.constant(float(a == b)) for a in range(3)])
                    for a in range(3):
                        found[place[k + a]][place[k + b]] = column[a]
        return found

    def gamma(self) -> Part:
        """Right sides of accelerations, of q and all velocities w (nv)."""
        tape, results = Tape(), dict[str, list[Node]]()
        q = self._q(tape)
        moving = {int(k) for one in self.blocks for k in (*one.columns, *one.given)}
        w = [tape.input(f"w[{k}]") if k in moving else tape.constant(0.0) for k in range(self.mech.nv)]
        row_unit = np.asarray(self.mech.units.row_unit)
        for b, block in enumerate(self.blocks):
            own = tape.play(self.terms, [*q, *w], [self._begin["gamma"] + int(i) for i in block.rows])
            own = [tape.times(1.0 / row_unit[i], x) for i, x in zip(block.rows, own, strict=True)]
            rows = combined(tape, block.basis.T, [[x] for x in own])
            results[f"c{b}"] = [row[0] for row in rows] + [tape.constant(0.0)] * len(block.kept)
        return Part(tape, results)

    @cached_property
    def scales(self) -> Array:
        """Usual sizes of the entries of q_f: 1, or L of lengths."""
        chart, unit = self.loops.chart, np.asarray(self.mech.units.unit)
        size = np.ones(chart.nq)
        size[chart.scalar_q] = unit[chart.scalar_v]
        for _, i in chart.places:
            size[i : i + 3] = self.mech.length
        return np.asarray(size[self.follow_q])

    @cached_property
    def determinants(self) -> Array:
        """Determinant of B of each block at the reference pose."""
        J = self.mech.terms(*self.mech.default).J / np.asarray(self.mech.units.row_unit)[:, None]
        unit, slopes = np.asarray(self.mech.units.unit), self.loops.chart.slopes(self.loops.chart.q0)
        found = []
        for block in self.blocks:
            top = block.basis.T @ J[np.ix_(block.rows, block.columns)]
            low = block.kept / unit[block.columns] @ slopes[np.ix_(block.columns, block.columns)]
            found.append(np.linalg.det(np.vstack([top, low])))
        return np.array(found)


def _positions_of(chart: Chart, coordinates: Sequence[int]) -> set[int]:
    """Entries of q that belong to some coordinates."""
    place = dict(zip(chart.scalar_v.tolist(), chart.scalar_q.tolist(), strict=True))
    found = {place[k] for k in coordinates if k in place}
    for k, i in chart.quaternions:
        found |= set(range(i, i + 4)) if k in coordinates else set()
    for k, i in chart.places:
        found |= set(range(i, i + 3)) if k in coordinates else set()
    return found

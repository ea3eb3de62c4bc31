"""Matrices and quaternions (xyzw) whose entries are nodes of a tape."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import Array
from .charts import rotated
from .tape import Node, Tape


def combined(tape: Tape, combine: Array, rows: list[list[Node]]) -> list[list[Node]]:
    """combine @ rows."""
    width = len(rows[0]) if rows else 0
    return [
        [
            tape.sum([tape.times(float(c), row[j]) for c, row in zip(line, rows, strict=True) if c])
            for j in range(width)
        ]
        for line in combine
    ]


def relative(tape: Tape, q0: Array, q: Sequence[Node]) -> list[Node]:
    """q0^-1 q of quaternions (xyzw), q0 a number."""
    x, y, z, w = (float(c) for c in q0)
    rows = ((w, z, -y, -x), (-z, w, x, -y), (y, -x, w, -z), (x, y, z, w))
    return [tape.sum([tape.times(c, one) for c, one in zip(row, q, strict=True)]) for row in rows]


def turned(tape: Tape, q: Sequence[Node], turn: Sequence[Node]) -> list[Node]:
    """q (turn / 2, 1), made a unit quaternion."""
    x, y, z = (tape.times(0.5, one) for one in turn)

    def m(one: Node, other: Node) -> Node:
        return tape.do("MUL", one, other)

    def neg(one: Node) -> Node:
        return tape.do("NEG", one)

    a, b, c, d = q
    r = [
        tape.sum([a, m(d, x), m(b, z), neg(m(c, y))]),
        tape.sum([b, m(d, y), m(c, x), neg(m(a, z))]),
        tape.sum([c, m(d, z), m(a, y), neg(m(b, x))]),
        tape.sum([d, neg(m(a, x)), neg(m(b, y)), neg(m(c, z))]),
    ]
    size = tape.do("INVERSE", tape.do("SQRT", tape.sum([m(one, one) for one in r])))
    return [m(one, size) for one in r]


def rotate(tape: Tape, q: Sequence[Node], x: Sequence[Node]) -> list[Node]:
    """A vector turned by a unit quaternion."""

    def m(one: Node, other: Node) -> Node:
        return tape.do("MUL", one, other)

    def cross(u: Sequence[Node], v: Sequence[Node]) -> list[Node]:
        pairs = ((1, 2), (2, 0), (0, 1))
        return [tape.do("SUB", m(u[i], v[j]), m(u[j], v[i])) for i, j in pairs]

    t = [tape.times(2.0, one) for one in cross(q[:3], x)]
    last = cross(q[:3], t)
    return [tape.sum([x[i], m(q[3], t[i]), last[i]]) for i in range(3)]


def cayley(tape: Tape, y: Sequence[Node], a: int, b: int) -> Node:
    """Entry of 1 + [y]x + y y^T."""
    own = [tape.constant(float(a == b)), tape.do("MUL", y[a], y[b])]
    if a != b:
        third = 3 - a - b
        own.append(tape.times(1.0 if (a, b) in ((1, 0), (2, 1), (0, 2)) else -1.0, y[third]))
    return tape.sum(own)


def matrix(q: Array) -> Array:
    """Rotation matrix of a unit quaternion."""
    return np.stack([rotated(q, e) for e in np.eye(3)], axis=1)

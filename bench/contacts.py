"""Contact points: what a pair costs, and what a thousand pairs far apart cost.

`python -m bench.contacts` prints two tables: one close pair of each kind, and 1,000 pairs of spheres and
boxes far from each other, looked at by the balls around them, beside one pair of boxes that touch.
"""

from __future__ import annotations

import itertools
from functools import partial
from typing import Any

import numpy as np

import sarrus as sr
from sarrus.mechanism.core.access import queries_of

from .report import Column, table
from .timing import race

PAIRS = 1000
STATES = 64  # of a batch: what Python adds to a call does not count
COLUMNS: tuple[Column, ...] = (("pair", "pair", ""), ("slots", "slots", ""), ("us", "us", ".2f"))
FAR: tuple[Column, ...] = (("what", "what", ""), ("us", "us", ".2f"))
BOX = sr.Box((1.0, 1.0, 1.0))
SHAPES: dict[str, Any] = {
    "floor": sr.HalfSpace(),
    "sphere": sr.Sphere(0.5),
    "capsule": sr.Capsule(0.5, 1.0),
    "box": BOX,
    "disc": sr.Profile([(-0.5, 0, 1), (0.5, 0, 1)]),
    "plate": sr.Profile([(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)]),
}
CLOSE = (
    *((a, b) for a in ("floor", "sphere", "capsule", "box") for b in ("sphere", "capsule", "box")),
    *(("disc", "plate"), ("plate", "plate")),
)


def two(a: str, b: str) -> sr.Mechanism:
    """A shape on the ground and one on a body that floats."""
    spec = sr.MechanismSpec().surface("a", "ground", SHAPES[a], friction=0.5)
    joint = sr.Planar("z") if "plate" in (a, b) else sr.Free()
    spec.body("b", joint=joint, mass=1.0, inertia=(0.1, 0.1, 0.1)).surface("b", "b", SHAPES[b])
    return spec.contact("a", "b").compile()


def close_pairs() -> list[dict[str, Any]]:
    """Microseconds of one pair each, kinematics of its body included."""
    calls, slots = {}, {}
    for a, b in CLOSE:
        mech = two(a, b)
        q = np.tile(mech.neutral(), (STATES, 1))
        q[:, 1 if mech.nq == 3 else 2] = 1.0
        v = np.zeros((STATES, mech.nv))
        calls[f"{a} - {b}"] = partial(queries_of(mech).contacts, q, v)
        slots[f"{a} - {b}"] = len(mech.model.slots)
    return [
        {"pair": name, "slots": slots[name], "us": 1e6 * times.per(STATES).best}
        for name, times in race(calls, 3).items()
    ]


def far_pairs() -> list[dict[str, Any]]:
    """One close pair of boxes, and a thousand pairs far apart beside the poses of their bodies."""
    spec = sr.MechanismSpec()
    count = next(n for n in itertools.count() if n * (n - 1) // 2 >= PAIRS)
    for k in range(count):
        spec.body(f"b{k}", joint=sr.Free(), mass=1.0, inertia=(0.1, 0.1, 0.1))
        spec.surface(f"b{k}", f"b{k}", BOX if k % 2 else sr.Sphere(0.5), friction=0.5)
    for i, j in itertools.islice(itertools.combinations(range(count), 2), PAIRS):
        spec.contact(f"b{i}", f"b{j}")
    many, one = spec.compile(), two("box", "box")
    q, lying = many.neutral(), one.neutral()
    q[::7], lying[2] = 10.0 * np.arange(count), 1.0
    assert many.near_contacts(q, 0.1) == ()
    far, near, v = queries_of(many), queries_of(one), np.zeros(one.nv)
    calls = {
        f"{PAIRS} pairs far apart, with the poses of {count} bodies": lambda: far.near_pairs(q, 0.1),
        f"poses of {count} bodies": lambda: many.model.kernel.poses(q),
        "one pair of boxes that lie on each other": lambda: near.contacts(lying, v),
    }
    return [{"what": name, "us": 1e6 * times.best} for name, times in race(calls, 5).items()]


if __name__ == "__main__":
    print(table("One close pair, with the pose of its body", COLUMNS, close_pairs()))
    print(table("Pairs far apart", FAR, far_pairs()))

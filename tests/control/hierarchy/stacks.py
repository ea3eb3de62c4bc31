"""Random task stacks on random mechanisms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import sarrus as sr
from sarrus.control.outputs.output import VectorOutput
from tests.laws.families import FAMILIES
from tests.oracles.description import to_spec
from tests.oracles.printed import DeSapio2010
from tests.oracles.states import mechanism, tangent_velocity

Array = np.ndarray
CLOSED = ("tree", "loops", "every loop twice", "rods, lines, planes, gears", "five-bar in space")


@dataclass(frozen=True)
class RandomRows:
    """An output with a constant random Jacobian (k, nv)."""

    J: Array

    def bind(self, system: Any) -> Any:
        """The output of this system."""
        return _RandomRows(self.J)


class _RandomRows(VectorOutput):
    def __init__(self, J: Array) -> None:
        super().__init__([f"row{i}" for i in range(len(J))], np.ones(len(J)))
        self._J = J

    def track(self, now: Any, target: Any) -> Any:
        zero = np.zeros(self.size)
        return self.tracking_error(target, zero, self._J @ now.v, self._J, zero)


def case(family: str, seed: int) -> tuple[Any, Array, Array]:
    """A mechanism of a family with all joints driven, and a state on its constraints."""
    description = FAMILIES[family](seed)
    spec = to_spec(description)
    spec.actuate(*mechanism(description).names)
    mech = spec.compile()
    q = np.array(description.q)
    return mech, q, tangent_velocity(mech, q, seed)


def task(J: Array, wanted: Array, priority: float, **options: Any) -> sr.control.PriorityTask:
    """J a = wanted as a task."""
    return sr.control.PriorityTask(RandomRows(J), acceleration=wanted, priority=priority, **options)


def stack(mech: Any, seed: int, sizes: tuple[int, ...]) -> list[tuple[Array, Array]]:
    """Random (J, wanted) of the given sizes."""
    rng = np.random.default_rng([seed, 77])
    return [(rng.normal(size=(k, mech.nv)), rng.normal(scale=5.0, size=k)) for k in sizes]


def sizes(mech: Any, q: Array, seed: int, levels: int = 3) -> tuple[int, ...]:
    """Sizes that fit into the freedoms of the mechanism."""
    left, out = mech.mobility(q).dof, []
    rng = np.random.default_rng([seed, 78])
    for _ in range(levels):
        k = int(rng.integers(0, min(left, 3) + 1))
        out.append(k)
        left -= k
    return tuple(k for k in out if k)


def printed(mech: Any, q: Array, v: Array, tasks: list[tuple[Array, Array]]) -> DeSapio2010:
    """Algorithm 2 of the paper at a state."""
    terms = mech.terms(q, v)
    return DeSapio2010(terms.M, terms.h, terms.J, terms.gamma, tasks)

"""StateRate: the rate of a state of first order by a Python function, and what such functions see."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from ...arrays import Array, takes, text
from ...errors import InputError
from ..base.expressions import Signal
from ..base.kind import Checks
from ..tree.tree import Tree
from .forces import Force, ForceTable

__all__: list[str] = []


class StateView(Protocol):
    """Coordinates, speeds and states by name, as rates of states see them.

    `at["piston"]` is the value of a coordinate [rad, m] or of a state, `at.speed("piston")` the rate of a
    coordinate [rad/s, m/s].
    """

    def __getitem__(self, name: str) -> Any: ...

    def speed(self, name: str) -> Any:
        """The rate of a coordinate [rad/s, m/s]."""


class SignalView(StateView):
    """The same as signals, for functions that are recorded."""

    def __getitem__(self, name: str) -> Any:
        return Signal("value", text(name, "the name of a coordinate"))

    def speed(self, name: str) -> Any:
        return Signal("speed", text(name, "the name of a coordinate"))


class NumberView(StateView):
    """The same as numbers, or dual numbers.

    Args:
        tree: Whose coordinates.
        q, v: Positions (nq,) and velocities (nv,).
        where: Who asks, for messages.
        at_rest: Whether states stand in q, as searches for equilibria have them.
    """

    def __init__(self, tree: Tree, q: Any, v: Any, where: str, at_rest: bool = False) -> None:
        self._tree, self._q, self._v, self._where, self._at_rest = tree, q, v, where, at_rest

    def __getitem__(self, name: str) -> Any:
        iq, iv = self._tree.scalar(name, self._where)
        return self._v[iv] if self._tree.first_order[iv] and not self._at_rest else self._q[iq]

    def speed(self, name: str) -> Any:
        k = self._tree.coordinate(name, self._where)
        if self._tree.first_order[k]:
            raise InputError(
                f"{self._where}: {name!r} is a state; its value is known, at[{name!r}], not its rate."
            )
        return self._v[k]


@dataclass(frozen=True)
class StateRate(Force, base=True):
    """The rate of a state by a Python function; `MechanismSpec.state` declares it.

    Args:
        coordinate: Name of the state.
        function: function(t, at) -> rate [1/s times the unit of the state]; see `StateView`.
        at_rest: Whether states stand in q, as searches for equilibria have them.
    """

    holds_functions: ClassVar[bool] = True
    of_state: ClassVar[bool] = True
    checks: ClassVar[Checks] = {"coordinate": text}
    coordinate: str
    function: Callable[[float, Any], Any]
    at_rest: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        takes(self.function, "t, at", f"rate of state {self.coordinate!r}")

    def bodies(self) -> tuple[str, ...]:
        return ()

    def lower(self, where: str, tree: Tree, table: ForceTable) -> None:
        tree.scalar(self.coordinate, where)

    def work(self) -> str:
        return "states of first order may do work"

    def tension(self, states: Any) -> Array:
        """The rate (B,) in states that measures see."""
        return np.asarray(states.force_of_user(self))[:, 0]

    @property
    def count(self) -> int:
        """Number of rates that its function returns."""
        return 1

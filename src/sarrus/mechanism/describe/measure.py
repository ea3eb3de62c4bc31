"""What every measure is: a value that a user reads off a mechanism by name, at a pose, along a sweep or run.

Every measure is computed for a batch of states at once, in the world unless it says otherwise.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import Array, takes
from ...errors import InputError
from ...models.base.kind import Kind
from ...models.model import Model
from ...models.tree.bodies import GROUND
from .measured_states import MeasuredStates

if TYPE_CHECKING:
    from ..mechanism import Mechanism

POINTS = (("p_a", "a"), ("p_b", "b"), ("point", "body"))  # fields that are points, and the body they are on


def points_on_bodies(entry: Any) -> list[tuple[str, ArrayLike]]:
    """Points (3,) of bodies that a force or a measure names."""
    named = [(point, body) for point, body in POINTS if getattr(entry, point, None) is not None]
    return [(getattr(entry, body), getattr(entry, point)) for point, body in named]


@dataclass(frozen=True)
class Measure(Kind):
    """Base of all measures.

    Attributes:
        unit: Of its values.
        columns: Names of the entries of a value that is an array.
        continues: Whether it is an angle that goes on beyond pi along runs and sweeps.
        of_places: Whether it needs nothing but frames of bodies.
        needs_motion: Whether it needs accelerations or forces.
        of_reactions: Whether it needs what joints carry.
    """

    unit: ClassVar[str] = ""
    columns: ClassVar[tuple[str, ...]] = ()
    continues: ClassVar[bool] = False
    of_places: ClassVar[bool] = False
    needs_motion: ClassVar[bool] = False
    of_reactions: ClassVar[bool] = False

    def bodies(self) -> tuple[str, ...]:
        """Names of the bodies that it looks at."""
        return tuple(getattr(self, name) for name in ("a", "b", "body") if hasattr(self, name))

    def places(self) -> list[tuple[str, ArrayLike]]:
        """Points (3,) of bodies that it looks at, which pictures show as places of these bodies."""
        return [(body, point) for body, point in points_on_bodies(self) if body != GROUND]

    def check(self, mech: Mechanism, where: str) -> None:
        """Refuse names that the mechanism does not have."""
        for body in self.bodies():
            mech.model.body_index(body, where)

    @abstractmethod
    def values(self, states: MeasuredStates) -> Array:
        """Its value for each state, (B,) or (B, n)."""

    def takes_steps(self, model: Model) -> bool:
        """Whether it can be evaluated for numbers with imaginary parts, which gives exact derivatives."""
        return True

    def warn(self, states: MeasuredStates, values: Array, name: str) -> None:
        """Warn of what the values of a measure of this name leave open."""
        return None

    def along_sweep(self, values: Array) -> Array:
        """Values along a sweep (..., n); angles go on beyond pi, less than half a turn each."""
        return np.unwrap(values) if self.continues else values


@dataclass(frozen=True)
class UserMeasure(Measure):
    """A function of the state.

    Args:
        function: f(q, v, t) -> a number or an array (n,), of one state: q (nq,), v (nv,), t [s].
    """

    holds_functions: ClassVar[bool] = True
    function: Callable[[Array, Array, float], Any]

    def __post_init__(self) -> None:
        takes(self.function, "q, v, t", "a measure")

    def values(self, states: MeasuredStates) -> Array:
        each = zip(states.q, states.v, states.t.tolist(), strict=True)
        return np.array([np.asarray(self.function(*one), dtype=np.float64) for one in each])


def measured(states: MeasuredStates, measure: Measure, name: str) -> Array:
    """Values of one measure; what a function of the user's raises names the measure."""
    if not isinstance(measure, UserMeasure):
        values = measure.values(states)
        measure.warn(states, values, name)
        return values
    try:
        return measure.values(states)
    except Exception as error:
        raise InputError(
            f"measure {name!r}: its function must return a number or an array of numbers, but failed:"
            f" {type(error).__name__}: {error}."
        ) from error

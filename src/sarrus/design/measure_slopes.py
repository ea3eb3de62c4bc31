"""Measures with their exact derivatives by parameters, and derivatives of functions of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array
from ..dual_numbers import along_directions
from ..errors import unknown_name
from ..mechanism.core.access import applied_force
from ..mechanism.mechanism import Mechanism
from ..mechanism.variants.state_slopes import Situation, state_slopes

Measures = dict[str, Array]


@dataclass(frozen=True)
class MeasureSlopes:
    """Measures over n states and their derivatives by P parameters.

    Attributes:
        measures: by name, (n,) or (n, k).
        slopes: by name, (n, P) or (n, k, P).
        differences: names of measures whose derivatives are differences.
    """

    measures: Measures
    slopes: Measures
    differences: frozenset[str] = frozenset()

    def of(self, function: Callable[[Measures], Any], ranges: Array) -> tuple[Array, bool]:
        """Derivatives (m, P) of a function of the measures by parameters over their ranges (P,); if exact."""
        read = NamedMeasures({name: np.array(x) for name, x in self.measures.items()})
        function(read)
        scaled = {name: x * ranges for name, x in self.slopes.items()}
        found, dual = along_directions(lambda x: function(NamedMeasures(x)), self.measures, scaled)
        return found, dual and not self.differences & read.names

    def joined(self, other: MeasureSlopes) -> MeasureSlopes:
        """With further states behind these."""
        pairs = ((self.measures, other.measures), (self.slopes, other.slopes))
        both = [{name: np.concatenate([one[name], two[name]]) for name in one} for one, two in pairs]
        return MeasureSlopes(both[0], both[1], self.differences | other.differences)


class NamedMeasures(dict[str, Any]):
    """Measures as functions of the user's get them: one that does not exist is an error that lists them."""

    def __init__(self, measures: Mapping[str, Any]) -> None:
        super().__init__(measures)
        self.names: set[str] = set()  # that were read

    def __getitem__(self, name: str) -> Any:
        self.names.add(name)
        return super().__getitem__(name)

    def __missing__(self, name: str) -> Any:
        raise unknown_name("measure", name, list(self), "a function of measures")


def slopes_at_rest(
    mech: Mechanism, q: Array, fixed: Sequence[str], inputs: Any, names: Sequence[str]
) -> MeasureSlopes | None:
    """At poses (n, nq) that fixed coordinates determine, under inputs (nu,) or None, at t = 0.

    None where a pose has freedoms left, and where all derivatives would be differences.

    Raises:
        AssemblyError: a parameter opens an overconstrained loop.
    """
    rest = np.zeros((len(q), mech.nv))
    tau = np.ascontiguousarray(np.broadcast_to(applied_force(mech, q, None, inputs), rest.shape))
    at = Situation(q, rest, tau, np.zeros(len(q)), tuple(fixed), moving=False)
    return determined_slopes(mech, at, names, mech.measure(q, u=inputs))


def determined_slopes(
    mech: Mechanism,
    at: Situation,
    names: Sequence[str],
    measures: Measures,
    known: tuple[Array, ...] | None = None,
) -> MeasureSlopes | None:
    """The same at any states with these measures; known: as `state_slopes` takes it."""
    found = state_slopes(mech, at, names, known)
    if found is None or not found.determined:
        return None
    each = [found.measures(k) for k in range(len(names))]
    slopes = {name: np.stack([one[name] for one, _ in each], axis=-1) for name in each[0][0]}
    return MeasureSlopes(measures, slopes, frozenset().union(*(some for _, some in each)))

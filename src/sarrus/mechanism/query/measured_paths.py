"""Measures along the paths of a mechanism, or of variants of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...arrays import Array
from ...errors import require_known
from ..describe.measure import measured
from ..describe.measured_states import MeasuredStates, VariantPoses

if TYPE_CHECKING:
    from ..mechanism import Mechanism


def measured_along(name: str, parts: Sequence[tuple[Mechanism, Array]]) -> list[Array]:
    """A measure of variants at poses (k, nq) of each, at rest, without inputs."""
    declared = [dict(mech.model.measures) for mech, _ in parts]
    require_known("measure", name, declared[0], "sweep[...]")
    first, *others = (one[name] for one in declared)
    if others and first.of_places and all(one is first for one in others):
        ends = np.cumsum([len(q) for _, q in parts])[:-1]
        return np.split(first.values(VariantPoses(parts)), ends)
    states = (MeasuredStates.at_rest(mech, q) for mech, q in parts)
    return [measured(*one, name) for one in zip(states, (first, *others), strict=True)]

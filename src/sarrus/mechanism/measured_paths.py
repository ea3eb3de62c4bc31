"""Measures along the paths of a mechanism, or of variants of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Array
from ..errors import unknown_name
from .measured_states import MeasuredStates, VariantPoses
from .measures import measured

if TYPE_CHECKING:
    from .mechanism import Mechanism


def measured_along(name: str, parts: Sequence[tuple[Mechanism, Array]]) -> list[Array]:
    """A measure of variants at poses (k, nq) of each, at rest, without inputs."""
    declared = [dict(mech.model.measures) for mech, _ in parts]
    if name not in declared[0]:
        raise unknown_name("measure", name, declared[0], "sweep[...]")
    measures = [one[name] for one in declared]
    first = measures[0]
    if len(parts) > 1 and first.of_places and all(one is first for one in measures):
        ends = np.cumsum([len(q) for _, q in parts])[:-1]
        return np.split(first.values(VariantPoses(parts)), ends)
    each = zip(parts, measures, strict=True)
    return [measured(MeasuredStates.at_rest(mech, q), one, name) for (mech, q), one in each]

"""FileSpec: the description that importers return. It knows the rest pose of the file and fits its loops."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from sarrus.arrays import Array, positive
from sarrus.formats.reading.messages import FormatError
from sarrus.formats.reading.overlaps import without_overlaps
from sarrus.formats.reading.rounded_rows import RANK_TOL, without_rounded_rows
from sarrus.mechanism.core.access import known_default
from sarrus.mechanism.loop_compatibility import make_compatible
from sarrus.mechanism.mechanism import Mechanism
from sarrus.mechanism.spec import MechanismSpec

LOOP_TOLERANCE = 1e-4  # [rad], or times L [m]


class FileSpec(MechanismSpec):
    """A `MechanismSpec` read from a file, open for more loops, forces and actuators.

    `compile()` starts from the rest pose of the file, and loops that do not fit together because the file has
    few digits are made to fit, with a warning that says by how much.

    Args:
        gravity: Gravity [m/s^2], (3,).
        name: Name of the mechanism.
        loop_tolerance: Largest misfit, as a fraction of the mechanism's length or in rad, that is corrected.

    Attributes:
        rank_tol: Rows of loops that are independent of others by less, at all poses, are left out; 0: none.
        rest: Positions at the rest pose of the file, by joint, where they are not neutral.
        not_inside: Contacts that the file does not ask for; those whose surfaces are inside each other at the
            rest pose are left out.
    """

    def __init__(
        self, gravity: ArrayLike, name: str = "mechanism", loop_tolerance: float = LOOP_TOLERANCE
    ) -> None:
        super().__init__(gravity=gravity, name=name)
        self.loop_tolerance = positive(loop_tolerance, "loop_tolerance")
        self.rank_tol = RANK_TOL
        self.rest: dict[str, tuple[float, ...]] = {}
        self.not_inside: set[str] = set()

    def compile(self, loop_tolerance: float | None = None) -> Mechanism:
        """The mechanism, with `default` assembled near the rest pose of the file."""
        tolerance = self.loop_tolerance if loop_tolerance is None else loop_tolerance
        mech = Mechanism(self.model())
        mech = make_compatible(mech, self._rest_pose(mech), positive(tolerance, "loop_tolerance"))
        if self.rank_tol > mech.evaluator.rank_tol and mech.nc and known_default(mech) is not None:
            mech = without_rounded_rows(mech, tolerance, self.rank_tol)
        return without_overlaps(mech, self.not_inside) if self.not_inside else mech

    def _rest_pose(self, mech: Mechanism) -> Array:
        q = mech.neutral()
        for joint, values in self.rest.items():
            where = mech.model.q_slices[mech.model.body_index(joint)]
            if len(values) != len(q[where]):
                raise FormatError(
                    f"the position of {joint!r} must be {len(q[where])} numbers, as many as its joint has"
                    f" coordinates in q, got {len(values)}."
                )
            q[where] = values
        return np.asarray(q)

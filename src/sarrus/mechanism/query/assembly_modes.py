"""All assembly modes of a mechanism."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ...arrays import Array
from ...errors import InputError
from ...projection.assembly_modes import SAME, assembly_modes
from ...projection.system_kinematics import undetermined
from .idle_freedoms import (
    first_of_each,
    is_idle,
    motions_left,
    noticed,
    places_of,
    places_seen,
    positions_of,
)

if TYPE_CHECKING:
    from ..mechanism import Mechanism

STARTS = 200


@dataclass(frozen=True)
class Assemblies:
    """Result of `assemblies`.

    Attributes:
        q: poses (k, nq), the nearest to the guess first; angles between -pi and pi.
        message: how many were found, from how many starts.
    """

    q: Array
    message: str
    _mech: Any = field(repr=False)

    def __len__(self) -> int:
        return len(self.q)

    def plot(self, **options: Any) -> Any:
        """Draw them side by side; returns the Axes. Options as for `Mechanism.plot`."""
        from ...viz.figures.mechanism import draw_poses

        return draw_poses(self._mech, self.q, [f"mode {k + 1}" for k in range(len(self.q))], **options)


def all_assemblies(
    mech: Mechanism, q: Array, held: list[int], t: float, starts: int, by: str = "bodies"
) -> Assemblies:
    """The poses that close a mechanism with held coordinates, those near q first; `by` as there."""
    model, system = mech.model, mech.evaluator
    single = np.array(model.coordinate_q) >= 0
    angles = single & np.array(model.structure.tree.coordinate_is_angle)
    poses = assembly_modes(system, q, t, np.array(held, dtype=int), angles, starts)
    poses, note = _modulo_idle(mech, poses, held, t)
    if by == "bodies" and not note and len(poses) > 1:
        kept = first_of_each(positions_of(mech, poses, places_seen(mech)), mech.length, SAME)
        if len(kept) < len(poses):
            note = f" Their coordinates differ in {len(poses)} ways, in which joints are turned over."
        poses = poses[kept]
    turning = np.array(model.coordinate_q, dtype=int)[angles]
    poses[:, turning] = np.remainder(poses[:, turning] + np.pi, 2.0 * np.pi) - np.pi
    return Assemblies(poses, f"{len(poses)} assembly modes from {starts + 1} starts.{note}", mech)


def _modulo_idle(mech: Mechanism, poses: Array, held: list[int], t: float) -> tuple[Array, str]:
    """Poses that differ by more than motions that nothing notices, and words about these."""
    if not len(poses):
        return poses, ""
    system, rows = mech.evaluator, np.flatnonzero(mech.evaluator.holonomic)
    loose = undetermined(system, system.constraints(poses[0], np.zeros(mech.nv), t)[1][rows], rows, held)
    if not loose:
        return poses, ""
    places, motions = places_of(mech), motions_left(mech, poses[0], held, t)
    if not is_idle(mech, poses[0], motions, places):
        names = noticed(mech, poses[0], motions, places)
        raise InputError(
            f"assemblies needs every freedom held, but nothing determines {', '.join(names)}; give"
            " fixed={coordinate: value} for as many. (What spins about its own axis unnoticed, such as a"
            " rod between two ball joints, need not be held.)"
        )
    kept = first_of_each(positions_of(mech, poses, places), mech.length, SAME)
    return poses[kept], f" Free to spin, whatever its position: {', '.join(loose)}."

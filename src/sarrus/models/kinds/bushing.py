"""Bushing: an elastic joint, a linear spring and damper in six directions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import Array, is_finite, numbers
from ...errors import InputError
from ...varied import largest, recorded
from ..base.pose import Pose
from ..shapes.drawing import Drawing, Line
from ..tree.tree import Tree
from .forces import Force, ForceTable
from .point_pair import check_pair

__all__ = ["Bushing"]

SYMMETRIC = 1e-9  # of the largest entry
DEFINITE = 1e-12  # of the largest eigenvalue: what is more negative is


def _matrix(value: object, what: str) -> tuple[tuple[float, ...], ...]:
    """A diagonal (6,) or a matrix (6, 6), symmetric and positive semidefinite, as rows."""
    given = numbers(value, what)
    full = np.diag(given) if given.shape == (6,) else given
    if full.shape != (6, 6) or not is_finite(full):
        raise InputError(f"{what} must be six numbers or a matrix (6, 6), finite, got shape {given.shape}.")
    size = largest(map(abs, full.flat))
    if largest(map(abs, (full - full.T).flat)) > SYMMETRIC * size:
        raise InputError(f"{what} must be symmetric, got {full.tolist()}.")
    full = 0.5 * (full + full.T)
    if not _is_semidefinite(full, DEFINITE * size):
        lowest = float(np.linalg.eigvalsh(recorded(full))[0])
        raise InputError(
            f"{what} must be positive semidefinite, got the eigenvalue {lowest:g}: it would give energy away."
        )
    return tuple(map(tuple, full.tolist()))


def _is_semidefinite(matrix: Array, least: Any) -> bool:
    """Whether no eigenvalue is below -least, by the pivots of matrix + least [Golub2013] sec. 4.2."""
    left = np.array(matrix)
    for k in range(len(left)):
        pivot, row = left[k, k] + least, left[k, k + 1 :].copy()
        if pivot > 0.0:
            left[k + 1 :, k + 1 :] -= np.outer(row / pivot, row)
        elif least > 0.0 or any(x != 0.0 for x in row):
            return False  # and else there is nothing in this direction
    return True


@dataclass(frozen=True)
class Bushing(Force):
    """Elastic joint between frame A on body a and frame B on body b: rubber mounts, flexible supports.

    With x = [displacement of B in A; rotation vector of B in A] [m, rad] in the axes of A, it pulls with
    stiffness x + damping x'. It is conservative without damping, also at large rotations (below half a turn).

    Args:
        a: First body.
        b: Second body.
        at_a: Frame A in the frame of a.
        at_b: Frame B in the frame of b; it pulls nothing where they coincide.
        stiffness: Three translations, then three rotations [N/m, N m/rad], (6,), or coupled (6, 6).
        damping: Likewise [N s/m, N m s/rad].
    """

    a: str
    b: str
    at_a: Pose = field(default_factory=Pose)
    at_b: Pose = field(default_factory=Pose)
    stiffness: ArrayLike = (0.0,) * 6
    damping: ArrayLike = (0.0,) * 6

    def __post_init__(self) -> None:
        check_pair(self.a, self.b, "a Bushing")
        for name in ("at_a", "at_b"):
            if not isinstance(getattr(self, name), Pose):
                raise InputError(f"{name} of Bushing must be a Pose, got {getattr(self, name)!r}.")
        for name in ("stiffness", "damping"):
            object.__setattr__(self, name, _matrix(getattr(self, name), f"{name} of Bushing"))

    def lower(self, where: str, tree: Tree, table: ForceTable) -> None:
        (a, X_a), (b, X_b) = tree.frame(self.a, self.at_a, where), tree.frame(self.b, self.at_b, where)
        frames = {"p_a": X_a.xyz, "p_b": X_b.xyz, "R_a": X_a.rotation, "R_b": X_b.rotation}
        table.bodies.add(
            "Bushing", {**frames, "stiffness": self.stiffness, "damping": self.damping}, a=a, b=b
        )

    def work(self) -> str:
        return "joints have damping" if np.any(np.asarray(self.damping)) else ""

    def drawing(self) -> Drawing:
        ends: tuple[tuple[str, Array], ...] = ((self.a, self.at_a.xyz), (self.b, self.at_b.xyz))
        return Drawing(ends, lines=(Line("spring", ends),))

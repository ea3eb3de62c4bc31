"""Queries of Mechanism about surfaces that touch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...arrays import Array, positive
from ...errors import InputError
from ...models.contacts.surfaces import ContactPair
from ..core.core import Core, State, whole
from .separation import separated


@dataclass(frozen=True)
class Contacts:
    """Where surfaces touch or may touch, at one state or, with leading axes, at those of a batch.

    A pair of surfaces has a fixed number n of contact points, its slots. One that is not used (there is no
    such place at this pose) has an infinite gap and NaN everywhere else.

    Attributes:
        names: Of the slots, "a/b.0", "a/b.1" ... (n,).
        gap: Distance of the surfaces [m], negative inside each other, (n,).
        normal: Unit vectors from a to b, in the world, (n, 3).
        point_a, point_b: On the two surfaces, in the world [m], (n, 3): point_b - point_a = gap normal.
        speed: Velocity of b relative to a at these points, in the world [m/s], (n, 3); its component along
            the normal is the rate of the gap.
    """

    names: tuple[str, ...]
    gap: Array
    normal: Array
    point_a: Array
    point_b: Array
    speed: Array

    def __len__(self) -> int:
        return len(self.names)

    def __str__(self) -> str:
        if self.gap.ndim > 1:
            return f"Contacts of {'x'.join(map(str, self.gap.shape[:-1]))} states, {len(self)} points each"
        width = max(map(len, self.names), default=0)
        rows = [
            f"{name.ljust(width)}  gap {gap:.6g} m"
            for name, gap in zip(self.names, self.gap.tolist(), strict=True)
        ]
        return "\n".join(rows) or "no contacts"


class ContactQueries(Core):
    """Queries about surfaces and pairs of them."""

    def contacts(self, q: npt.ArrayLike, v: npt.ArrayLike | None = None) -> Contacts:
        """Gap, normal and points of all pairs of surfaces that may touch.

        Args:
            q: Positions (nq,).
            v: Velocities (nv,); default: at rest.
        """
        found = self._queries.contacts(q, np.zeros(self.nv) if v is None else v)
        *values, status = found
        if np.any(status):
            pair = self.model.structure.contacts[int(np.argwhere(status)[0][-1])]
            raise InputError(
                f"contact {pair.name!r} has no contact points there: {self._why_unresolved(pair)}."
            )
        return Contacts(self.model.structure.slots, *values)

    def _why_unresolved(self, pair: ContactPair) -> str:
        surfaces = {one.name: one.shape for one in self.model.structure.surfaces}
        if any(type(surfaces[name]).__name__ == "Profile" for name in (pair.a, pair.b)):
            return "the axes of two profiles are not parallel"
        return "the search for the nearest points did not end; is q finite?"

    def gap_rates(
        self, q: npt.ArrayLike, v: npt.ArrayLike, a: npt.ArrayLike | None = None
    ) -> tuple[Array, Array]:
        """First and second derivative of all gaps by time [m/s], [m/s^2], (n,) each; NaN of slots not in use.

        Args:
            q: Positions (nq,).
            v: Velocities (nv,).
            a: Accelerations (nv,); default: none.
        """
        return self._queries.gap_rates(q, v, np.zeros(self.nv) if a is None else a)

    def separate(self, q: npt.ArrayLike) -> State:
        """The nearest state at rest in which no surface is inside another one that it may touch.

        Loops stay closed. "Nearest" is meant in the mass metric, among poses that are reached by small steps
        from q: a body in the middle of a wall comes out on one side of it.

        Args:
            q: Positions (nq,).

        Raises:
            AssemblyError: None was found; the message names the surfaces and says by how much.
        """
        return separated(whole(self), np.array(self._one_pose(q)))

    def near_contacts(self, q: npt.ArrayLike, reach: float) -> tuple[str, ...]:
        """Names of the pairs of surfaces that may be nearer than `reach` [m] at q (nq,), by balls around."""
        found = self._queries.near_pairs(q, positive(reach, "reach"))
        return tuple(self.model.structure.contacts[k].name for k in found)

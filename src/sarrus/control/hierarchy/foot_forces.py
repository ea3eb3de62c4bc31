"""FootForces: what force sensors in the feet of a simulated robot measure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ...arrays import Array, mapping
from ...errors import InputError, require_known
from ..core.hardware import check_mechanism


class FootForces:
    """Normal forces on feet whose surfaces touch something, under the inputs of the last sample.

    Called as forces(t, q, v), it returns {foot: N}, for `measured=` of `Gait`. `forces.under(law)` is the
    controller of the run: it calls the law and keeps its inputs.

    Args:
        plant: mechanism with the surfaces of the feet.
        feet: {foot: name of its surface}; several feet may name one surface, each has its whole force then.

    Example:

        >>> import sarrus as sr
        >>> plant = sr.library.quadruped(floor=0.7)
        >>> forces = sr.control.FootForces(plant, {"front_left": "front_left"})
        >>> sorted(forces(0.0, *plant.default))
        ['front_left']
    """

    def __init__(self, plant: Any, feet: Mapping[str, str]) -> None:
        check_mechanism(plant, "FootForces")
        feet = mapping(feet, "feet of FootForces", "{foot: surface}")
        surfaces = [one.name for one in plant.model.surfaces]
        if not surfaces:
            raise InputError(
                "FootForces needs a mechanism with surfaces that touch (spec.surface, spec.contact)."
            )
        self._plant, self._u = plant, np.zeros(plant.nu)
        for name in feet.values():
            require_known("surface", name, surfaces, "FootForces")
        touching = {one.name: (one.a, one.b) for one in plant.model.contacts}
        pairs = [touching[name.rsplit(".", 1)[0]] for name in plant.model.structure.slots]
        self._slots = {foot: np.flatnonzero([name in pair for pair in pairs]) for foot, name in feet.items()}

    def __call__(self, t: float, q: npt.ArrayLike, v: npt.ArrayLike) -> dict[str, float]:
        """Normal force on each foot [N]."""
        found = self._plant.forward_dynamics(q, v, u=self._u, t=t).contact_force
        normal = self._plant.contacts(q).normal
        push = np.abs(np.nan_to_num(np.sum(found * np.nan_to_num(normal), axis=1)))
        return {foot: float(np.sum(push[slots])) for foot, slots in self._slots.items()}

    def under(self, law: Callable[[float, Array, Array], Any]) -> Callable[[float, Array, Array], Array]:
        """The law as a controller whose inputs are those under which forces are measured."""

        def control(t: float, q: Array, v: Array) -> Array:
            self._u = np.array(law(t, q, v), dtype=float)
            return self._u

        return control

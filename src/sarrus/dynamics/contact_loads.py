"""Forces of surfaces that touch, as parts of a motion, and as wrenches on bodies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .._kernel import contact_forces
from ..arrays import Array
from ..models.model import Model
from .bearings import External

WORDS = {
    -1: "CONTACT_UNDEFINED",  # no contact points, or no inertia
    0: "SOLVED",
    1: "CONTACT_UNSOLVED",
    2: "CONTACT_PRESSED",
    3: "CONTACT_PAINLEVE",
}
WHY = {
    "CONTACT_UNDEFINED": "contact points or inertia are not known there",
    "CONTACT_UNSOLVED": "the forces of contacts were not found to 1e-10 of the largest one",
    "CONTACT_PRESSED": "a contact closes whose parts cannot give way",
    "CONTACT_PAINLEVE": "a contact slides whose push pulls its parts together (Painleve's configuration)",
}


@dataclass(frozen=True)
class ContactLoads:
    """Forces of contacts of states (batch axes in front).

    Attributes:
        force, moment: on b at the contact points, in the world (n, 3).
        point: the contact points in the world (n, 3).
        unique: which forces the motion determines (n,).
        generalized: generalized force of all (nv,).
        status: of `WORDS`.
        residual: of the contact problem, relative to the largest force.
    """

    force: Array
    moment: Array
    point: Array
    unique: npt.NDArray[np.bool_]
    generalized: Array
    status: npt.NDArray[np.str_]
    residual: Array

    @staticmethod
    def at(model: Model, states: tuple[Array, ...], batch: tuple[int, ...]) -> ContactLoads:
        """By the law of contacts, at states (q, v, tau, drive, user) of n rows each."""
        found = contact_forces(model.kernel, states, None)
        force, moment, points, _, unique, generalized, outcome, residual = found
        status = np.array([WORDS[int(x)] for x in outcome])
        given = (force, moment, points, unique.astype(bool), generalized, status, residual)
        return ContactLoads(*(x.reshape((*batch, *x.shape[1:])) for x in given))

    def external(self, model: Model, origins: Array) -> tuple[External, ...]:
        """The wrenches on bodies at their origins (..., nb, 3), in world axes."""
        return wrenches_on_bodies(model, self.force, self.moment, self.point, origins)


def wrenches_on_bodies(
    model: Model, force: Array, moment: Array, point: Array, origins: Array
) -> tuple[External, ...]:
    """Wrenches of contacts on the bodies whose surfaces touch, at the origins of these (..., nb, 3)."""
    surfaces = {one.name: one.body for one in model.structure.surfaces}
    counts = model.pair_slots.tolist()
    found: dict[int, Any] = {}
    first: int = 0
    for pair, count in zip(model.structure.contacts, counts, strict=True):
        part = slice(first, first + count)
        first += count
        for name, side in ((pair.b, 1.0), (pair.a, -1.0)):
            if surfaces[name] == "ground":
                continue
            k = model.body_index(surfaces[name])
            arm = point[..., part, :] - origins[..., k, None, :]
            turned = moment[..., part, :] + np.cross(arm, force[..., part, :])
            wrench = side * np.concatenate([force[..., part, :], turned], axis=-1).sum(axis=-2)
            found[k] = found.get(k, 0.0) + wrench
    return tuple((k, wrench, np.zeros(3)) for k, wrench in found.items())


def unsolved(status: Any) -> str:
    """What a warning says of states whose contacts were not solved; empty where all were."""
    bad = [str(word) for word in np.unique(status) if word != "SOLVED"]
    return "; ".join(f"{word}: {WHY[word]}" for word in bad)

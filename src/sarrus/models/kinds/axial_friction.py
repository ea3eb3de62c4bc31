"""Dry friction that grows with an axial force: of screws and of thrust bearings."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ...arrays import Array, nonnegative, positive, text
from ...errors import InputError, ModelError
from ..base.kind import Checks
from ..tree.tree import Tree
from .bearing_friction import LARGEST_MU
from .forces import Force, ForceTable

__all__ = ["ScrewFriction", "ThrustFriction"]

BY_AXIAL_FORCE = 1.0  # source of a load, kernels/tree/forces/bearing_friction.hpp
STEEPEST = 0.5 * math.pi  # [rad]


class Arms(NamedTuple):
    """Friction per unit of the load [m]: where it has the sign of the load, and where the opposite one."""

    same: float
    opposite: float

    def turned(self, backwards: bool) -> Arms:
        """Those of the load with the other sign."""
        return Arms(self.opposite, self.same) if backwards else self


@dataclass(frozen=True)
class DirectedFriction(Force, base=True):
    """Base of dry friction by one load that has a sign: an axial force, or a multiplier.

    The sign tells whether the coordinate lifts the load or is driven by it.
    """

    needs_position: ClassVar[bool] = False
    sticks: ClassVar[bool] = True

    @property
    def by_load(self) -> bool:  # type: ignore[override]
        """Whether there is any."""
        return self.size > 0.0

    @property
    @abstractmethod
    def size(self) -> float:
        """Friction per unit of load [m]."""

    def add(self, k: int, node: int, source: float, arms: Arms, tree: Tree, table: ForceTable) -> None:
        """Write its fields of the kernel's model, on coordinate k."""
        of_bearing = {"node": node, "mu": 0.0, "radius": 0.0, "length": 0.0, "p": np.zeros(3)}
        directed = {"source": source, "with": arms.same, "against": arms.opposite}
        parameters = {"direction": 0.0, **of_bearing, **directed}
        table.coordinates.add("BearingFriction", parameters, q=max(tree.coordinate_q[k], 0), v=k)

    def tension(self, states: Any) -> Array:
        """Dry friction of the coordinate (B,) [N m], positive against positive speed."""
        return np.asarray(states.dry_friction(self.loaded_coordinate(dict(states.mech.model.constraints))))

    def work(self) -> str:
        return "joints have friction" if self.by_load else ""


@dataclass(frozen=True)
class _AxialFriction(DirectedFriction, base=True):
    """Base of friction by the axial force of a joint."""

    along_axis: ClassVar[bool] = True
    joints: ClassVar[str]
    checks: ClassVar[Checks] = {"coordinate": text, "mu": nonnegative, "radius": positive}
    coordinate: str
    mu: float
    radius: float

    @abstractmethod
    def arms(self, joint: Any) -> Arms:
        """Its friction per unit of the axial force."""

    @property
    def size(self) -> float:
        return self.mu * self.radius

    def lower(self, where: str, tree: Tree, table: ForceTable) -> None:
        k = tree.coordinate(self.coordinate, where)
        owner = tree.by_name.owners[k]
        if type(owner.joint).__name__ != self.joints:
            raise ModelError(
                f"{where}: a {type(self).__name__} needs a {self.joints} joint, got"
                f" {owner.joint.label()} ({self.coordinate!r})."
            )
        node = tree.places[tree.body_index(owner.name)].node
        self.add(k, node, BY_AXIAL_FORCE, self.arms(owner.joint), tree, table)

    def doubt(self, length: float) -> str:
        if self.mu >= LARGEST_MU:
            return f"mu is {self.mu:g}; dry surfaces have 0.05 to 1, a percentage must be divided by 100"
        return ""


@dataclass(frozen=True)
class ScrewFriction(_AxialFriction):
    """Dry friction of a thread, by the axial force F on it; it sticks, and can lock the screw.

    A thread of pitch p [m/rad], tan(lead angle) = p / r, holds with up to mu' r |F| / (c (c - mu' s)) where
    the screw lifts its load, and with mu' r |F| / (c (c + mu' s)) where the load drives it: c and s are
    cosine and sine of the lead angle, mu' = mu / cos(flank), [Shigley2011] eq. (8-1) to (8-5). It locks
    itself where mu' > p / r.

    Args:
        coordinate: Name of a Helical joint, between screw and nut.
        mu: Coefficient of friction, not negative; from 1.5 on `compile` warns.
        radius: Mean radius of the thread [m].
        flank: Half of the angle of the thread's profile [rad]: 0 of a square, 0.253 (14.5 degrees) of an
            Acme, 0.262 (15 degrees) of a trapezoidal thread.
    """

    joints: ClassVar[str] = "Helical"
    checks: ClassVar[Checks] = {**_AxialFriction.checks, "flank": nonnegative}
    flank: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not float(self.flank) < STEEPEST:
            raise InputError(f"flank of ScrewFriction must be below pi/2 rad, got {self.flank:g}.")

    def arms(self, joint: Any) -> Arms:
        mu, slope = self.mu / math.cos(self.flank), abs(joint.pitch) / self.radius
        if mu * slope >= 1.0:
            raise ModelError(
                f"ScrewFriction of {self.coordinate!r}: with mu / cos(flank) = {mu:.4g} and a lead of"
                f" {slope:.4g} (pitch over radius) no torque turns the screw against its load: their product"
                " must be below 1."
            )
        whole = mu * self.radius * (1.0 + slope * slope)
        lifts, lowers = whole / (1.0 - mu * slope), whole / (1.0 + mu * slope)
        return Arms(lowers, lifts).turned(joint.pitch < 0.0)


@dataclass(frozen=True)
class ThrustFriction(_AxialFriction):
    """Dry friction of a thrust bearing or collar: a torque up to mu radius |F| under the axial force F.

    Args:
        coordinate: Name of a Revolute joint.
        mu: Coefficient of friction, not negative; from 1.5 on `compile` warns.
        radius: Mean radius of the collar [m].
    """

    joints: ClassVar[str] = "Revolute"

    def arms(self, joint: Any) -> Arms:
        return Arms(self.size, self.size)

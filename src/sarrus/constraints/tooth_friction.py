"""ToothFriction: friction of gears, worms among them, by the force on their teeth."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..arrays import Array, nonnegative, number, text
from ..errors import InputError, ModelError, require_known
from ..models.base.kind import Checks
from ..models.base.pose import Pose
from ..models.kinds.axial_friction import Arms, DirectedFriction
from ..models.kinds.forces import ForceTable
from ..models.tree.joint import Joint
from ..models.tree.tree import Tree
from .meshing import across_axis, axis_line

__all__ = ["ToothFriction"]

BY_MESH = 2.0  # source of a load, and the number of the mesh, kernels/tree/forces/bearing_friction.hpp


@dataclass(frozen=True)
class ToothFriction(DirectedFriction):
    """Dry friction of a Gear by the force on its teeth, as a torque on its gear a; it sticks.

    Of a worm `mu` is the friction along its thread: efficiency (cos n - mu tan g) / (cos n + mu cot g) where
    the worm drives, n the pressure angle and g the lead angle, [Shigley2011] eq. (13-46); the wheel cannot
    drive it where mu >= cos n tan g. The teeth load worm and wheel with it. Of other gears `efficiency` says
    how much of its power gear a hands on to b, and `back` how much b hands on to a.

    Args:
        gear: Name of the constraint, a Gear.
        mu: Coefficient of friction of a worm.
        efficiency: Of the mesh where a drives, above 0 and at most 1.
        back: Of the mesh where b drives, at most 1; zero or negative: it locks itself. Default: `efficiency`.
    """

    checks: ClassVar[Checks] = {"gear": text}
    gear: str
    mu: float | None = None
    efficiency: float | None = None
    back: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.mu is None) == (self.efficiency is None):
            raise InputError("ToothFriction takes mu, of a worm, or efficiency: one of them, not both.")
        if self.mu is not None:
            nonnegative(self.mu, "mu of ToothFriction")
            if self.back is not None:
                raise InputError("back of ToothFriction goes with efficiency; of a worm mu says both.")
            return
        for name in ("efficiency", "back"):
            value = getattr(self, name)
            if value is not None and not number(value, f"{name} of ToothFriction") <= 1.0:
                raise InputError(f"{name} of ToothFriction must be at most 1, got {value:g}.")
        if not (self.efficiency or 0.0) > 0.0:
            raise InputError(f"efficiency of ToothFriction must be above 0, got {self.efficiency:g}.")

    @property
    def of_worm(self) -> bool:  # type: ignore[override]
        """Whether it loads worm and wheel."""
        return bool(self.mu)

    @property
    def size(self) -> float:
        return float(self.mu) if self.mu is not None else 2.0 - sum(self.kept)

    @property
    def kept(self) -> tuple[float, float]:
        """Parts of the power that go on where a drives, and where b does; of a worm with mu not used."""
        drives = 1.0 if self.efficiency is None else float(self.efficiency)
        return drives, drives if self.back is None else float(self.back)

    def loaded_coordinate(self, constraints: Mapping[str, Any]) -> str:
        return str(constraints[self.gear].a)

    def loads(
        self,
        gear: Any,
        places: Callable[[str], Pose],
        joints: Callable[[str], Joint],
        lam: float,
        torque: float,
    ) -> Iterator[tuple[str, Array, Array]]:
        """Body, force and where it acts, of each load of a worm's friction; at one state.

        Args:
            gear: the constraint.
            places: poses of bodies.
            joints: of bodies.
            lam: its multiplier.
            torque: of all dry friction on the coordinate of the worm; this takes its part.
        """
        arms = gear.friction_arms(self.mu, self.kept, "")
        most = abs(lam) * (arms.same if torque * lam > 0.0 else arms.opposite)
        yield from _loads_of_worm(gear, places, joints, (lam, max(-most, min(torque, most))))

    def lower(self, where: str, tree: Tree, table: ForceTable) -> None:
        number_of, gear = self._gear(where, table)
        k = tree.coordinate(gear.a, where)
        arms = gear.friction_arms(self.mu, self.kept, where)
        node = tree.places[tree.body_index(tree.by_name.owners[k].name)].node
        self.add(k, node, BY_MESH + number_of, arms, tree, table)

    def _gear(self, where: str, table: ForceTable) -> tuple[int, Any]:
        """Its number among the meshes, and its declaration."""
        gears = {name: one for name, one in table.meshes.items() if type(one[1]).__name__ == "Gear"}
        require_known("gear", self.gear, gears, where)
        return gears[self.gear]


def _loads_of_worm(
    gear: Any, places: Callable[[str], Pose], joints: Callable[[str], Joint], forces: tuple[float, float]
) -> Iterator[tuple[str, Array, Array]]:
    """What a torque of friction on a worm adds to the loads of its multiplier: along its circumference, and
    apart; forces: multiplier, torque."""
    a, b = (axis_line(places(end), joints(end)) for end in (gear.a, gear.b))
    c, r_a, (lam, torque) = gear.contact(a, b), gear.radii[0], forces
    drives = 1.0 if torque * lam * c.rates[0] > 0.0 else -1.0
    more = drives * abs(torque) / r_a * gear.lead / (1.0 + gear.lead**2)  # of the tangential force
    on_a = torque / r_a * np.cross(a[1], across_axis(c.P - a[0], a[1]) / r_a) - more * c.apart
    yield gear.a, on_a, c.P
    yield gear.b, -on_a, c.P


def worm_arms(mu: float, radius: float, slope: float, pressure_angle: float, where: str) -> Arms:
    """Friction torque on a worm per unit of the wheel's tangential force, where the worm drives, and back."""
    c, s = 1.0 / math.hypot(1.0, slope), slope / math.hypot(1.0, slope)
    normal = math.cos(pressure_angle)
    if mu * s >= normal * c:
        raise ModelError(
            f"{where}: with mu = {mu:.4g} and a lead of {slope:.4g} (advance over radius) no torque turns the"
            f" worm against its wheel: mu must be below {normal * c / s:.4g}."
        )
    return Arms(*(radius * mu / (c * (normal * c - way * mu * s)) for way in (1.0, -1.0)))

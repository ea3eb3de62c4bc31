"""Measures of what springs, constraints, motors and joints carry."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ...arrays import Array, one_of, text
from ...dynamics.reactions import FRAMES
from ...errors import InputError, require_known, warn
from ...models.base.kind import Checks
from ...models.model import Model
from ...models.tree.bodies import GROUND
from .measure import Measure
from .measured_states import MeasuredStates

if TYPE_CHECKING:
    from ..mechanism import Mechanism

__all__ = ["ForceIn", "Reaction"]

STILL = 1e-9  # of gravity over L: accelerations below are rounding
SMALL_LOAD = 1e-6  # of the largest entry of a reaction


def _forces_with_tension(model: Model) -> list[str]:
    """Forces of one number, which is a tension; the others are wrenches."""
    return [name for name, force in model.forces if hasattr(force, "tension")]


def _constraints_of_one_row(model: Model) -> list[str]:
    return [group.name for group in model.groups if group.rows.stop - group.rows.start == 1]


@dataclass(frozen=True)
class _ForceMeasure(Measure, base=True):
    """What something carries, which needs the motion."""

    unit: ClassVar[str] = "N, N m"
    needs_motion: ClassVar[bool] = True

    def of_motion(self, model: Model) -> bool:
        """Whether it depends on the motion."""
        return True

    @abstractmethod
    def warn_of_shares(self, states: MeasuredStates, values: Array, name: str) -> None:
        """Warn of values that are one choice of many, or nothing at all."""

    def warn(self, states: MeasuredStates, values: Array, name: str) -> None:
        """Warn of that, and of forces at poses that nothing holds: a machine that begins to move has them."""
        self.warn_of_shares(states, values, name)
        mech = states.mech
        if not states.let_go or not len(states.q) or not self.of_motion(mech.model):
            return
        a = np.max(np.abs(states.motion.a / mech.units.unit), axis=-1)
        moves = int(np.sum(a > STILL * np.max(np.abs(mech.model.gravity), initial=1.0) / mech.length))
        if moves:
            warn(
                f"measure {name!r}: nothing holds the machine at {moves} of {len(a)} poses; the force is that"
                " at the moment when it is let go. mech.hold(...) gives motor and joint forces at rest."
            )


@dataclass(frozen=True)
class ForceIn(_ForceMeasure):
    """Force in a spring, a damper, friction, a rod, a coupling, a drive or an actuator [N], [N m].

    Of a PointSpring and a Distance: positive in tension. Of a spring, damper or friction on a coordinate:
    what it resists with; where several dry frictions stick, constant ones take the load first. Of a
    UserForce: what its function returns, an array where that is several forces. Of a Coupling, a Drive, a
    PointOnPlane: the multiplier of its row. Of a coordinate, as that of a cylinder: the force that actuators
    (`u`, `tau`) and Drives apply along it. Forces such as a Motor and friction are read by their own names; a
    coordinate that nothing drives warns.

    Args:
        element: Name of a force, a constraint of one row, or a coordinate.
    """

    checks: ClassVar[Checks] = {"element": text}
    element: str

    def check(self, mech: Mechanism, where: str) -> None:
        forces = _forces_with_tension(mech.model)
        known = [*forces, *_constraints_of_one_row(mech.model), *mech.names]
        force = dict(mech.model.forces).get(self.element)
        if force is not None and self.element not in forces:
            raise InputError(
                f"{where}: {self.element!r} is a {type(force).__name__}, a wrench, which ForceIn does not"
                " read; Reaction reads the joints that carry it."
            )
        require_known("force, constraint of one row or coordinate", self.element, known, where)

    def values(self, states: MeasuredStates) -> Array:
        model = states.mech.model
        force = dict(model.forces).get(self.element)
        if force is not None:
            return np.asarray(force.tension(states))  # type: ignore[attr-defined]
        total = 0.0 if self.of_row(model) else states.tau[:, states.mech.names.index(self.element)]
        for row, factor in self.rows(model):
            total = total + factor * np.asarray(states.motion.lam)[:, row]
        return np.asarray(total)

    def of_motion(self, model: Model) -> bool:
        """Whether it depends on the motion: that in a spring does not."""
        return self.element not in dict(model.forces)

    def takes_steps(self, model: Model) -> bool:
        force = dict(model.forces).get(self.element)
        return force is None or not (force.holds_functions or force.sticks)

    def of_row(self, model: Model) -> bool:
        """Whether it is the force of a constraint; otherwise that of a force or along a coordinate."""
        return self.element not in dict(model.forces) and self.element in dict(model.constraints)

    def rows(self, model: Model) -> list[tuple[int, float]]:
        """Rows whose multipliers, times a factor, add to it: of a constraint, or Drives of a coordinate."""
        if self.element in dict(model.forces):
            return []
        each = [(g.rows.start, dict(model.constraints)[g.name], g.name) for g in model.groups]
        if self.of_row(model):
            return [(row, -1.0 if c.pulls else 1.0) for row, c, name in each if name == self.element]
        return [(row, c.driven()[self.element]) for row, c, _ in each if self.element in c.driven()]

    def warn_of_shares(self, states: MeasuredStates, values: Array, name: str) -> None:
        """Warn of a coordinate without drive, and of multipliers at first that are one choice of many."""
        mech, rows = states.mech, self.rows(states.mech.model)
        self._warn_of_friction(states, values, name)
        declared = self.element in mech.actuators and bool(mech.passive)
        if not (rows or declared or np.any(values)) and self.element not in dict(mech.model.forces):
            warn(
                f"measure {name!r}: nothing drives {self.element!r}, so that the force in it is zero."
                f"{self._acting(mech.model)} Give inputs, spec.actuate({self.element!r}) or a Drive."
            )
        if np.any(values[:1]) and not all(states.motion.lam_unique[0, row] for row, _ in rows):
            warn(
                f"measure {name!r}: redundant rows leave open how constraints share this load; the force is"
                " one of many, that with the least multipliers. Motion.lam_unique tells which are unique."
            )

    def _warn_of_friction(self, states: MeasuredStates, values: Array, name: str) -> None:
        """Warn of friction at rest at first that the motion does not determine."""
        mech = states.mech
        force = dict(mech.model.forces).get(self.element)
        if force is None or not force.sticks or not np.any(values[:1]):
            return
        if not all(states.motion.friction_unique[0, mech.names.index(name)] for name in force.coordinates()):
            warn(
                f"measure {name!r}: joints at rest leave open how they share this load; the friction is one"
                " of many, that of least norm. Motion.friction_unique tells which are unique."
            )

    def _acting(self, model: Model) -> str:
        """Names of the forces and constraints on a coordinate, as a sentence."""
        known = [*model.constraints, *((n, f) for n, f in model.forces if hasattr(f, "tension"))]
        found = [repr(n) for n, x in known if self.element in x.coordinates()]
        return f" What acts on it has names of its own: {', '.join(found)}." if found else ""


@dataclass(frozen=True)
class Reaction(_ForceMeasure):
    """Wrench [force; moment] [N, N m], (6,), that a joint or loop exerts on its second body, at frame B.

    Args:
        element: Name of a joint or of a loop, see `Motion.reaction`.
        frame: Axes to express it in: "A", "B", "a", "b" or "world".
    """

    columns: ClassVar[tuple[str, ...]] = ("fx", "fy", "fz", "mx", "my", "mz")
    of_reactions: ClassVar[bool] = True
    checks: ClassVar[Checks] = {"element": text}
    element: str
    frame: str = "A"

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of(self.frame, "frame of Reaction", FRAMES)

    def check(self, mech: Mechanism, where: str) -> None:
        loops = [group.name for group in mech.model.groups if group.element >= 0]
        known = [*loops, *(name for name in mech.body_names if name != GROUND)]
        require_known("joint or loop", self.element, known, where)

    def values(self, states: MeasuredStates) -> Array:
        if not len(states.q):
            return np.zeros((0, 6))
        return states.motion.reaction(self.element, self.frame)

    def warn_of_shares(self, states: MeasuredStates, values: Array, name: str) -> None:
        """Warn of loads in the first state that a rigid model does not determine."""
        if not len(values) or not states.mech.nc:
            return
        motion = states.mech.forward_dynamics(states.q[0], states.v[0], states.tau[0], t=float(states.t[0]))
        open_ = ~motion.reaction_unique(self.element, self.frame)
        if np.any(open_ & (np.abs(values[0]) > SMALL_LOAD * np.max(np.abs(values[0])))):
            warn(
                f"measure {name!r}: redundant rows leave open how joints share this load; the reaction is one"
                " of many. Motion.reaction_unique tells which entries are determined."
            )

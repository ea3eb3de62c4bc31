"""Servos: forces on coordinates from control signals and back, by the laws of the actuators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from sarrus.arrays import Array, mapping, one_state
from sarrus.errors import InputError
from sarrus.mechanism.mechanism import Mechanism
from sarrus.models.kinds.actuator_law import ActuatorLaw


class Servos:
    """Converts between the inputs u of a mechanism and the control signals of its actuators.

    Several actuators may drive one coordinate. Their forces add up; a wanted force is shared so that all are
    at the same place within their limits, or equally where a limit is open.

    Args:
        mech: The mechanism.
        laws: Laws by coordinate; default those of the mechanism. A coordinate without one has a motor.

    Attributes:
        names: Names of the actuators, in the order of ctrl.
    """

    def __init__(
        self, mech: Mechanism, laws: Mapping[str, Sequence[tuple[int, ActuatorLaw]]] | None = None
    ) -> None:
        if not isinstance(mech, Mechanism):
            raise InputError(f"servos takes a Mechanism, got {type(mech).__name__}.")
        self.mech = mech
        order = _numbered(mech) if laws is None else _checked(laws)
        self._groups: list[tuple[int, int, int, Sequence[tuple[int, ActuatorLaw]]]] = []
        for k, actuator in enumerate(mech.model.actuators):
            group = order.get(actuator.name, ())
            position = mech.model.tree.coordinate_q[actuator.index]
            if group:
                self._groups.append((k, position, actuator.index, group))
        named = {entry: law.name for group in order.values() for entry, law in group}
        self.names = tuple(named.get(i, "") for i in range(1 + max(named, default=-1)))

    def _state(self, q: npt.ArrayLike, v: npt.ArrayLike) -> tuple[Array, Array]:
        owner = f"mechanism {self.mech.name!r}"
        return one_state(q, "q", self.mech.nq, owner), one_state(v, "v", self.mech.nv, owner)

    def force(self, ctrl: npt.ArrayLike, q: npt.ArrayLike, v: npt.ArrayLike) -> Array:
        """Inputs u (nu,) [N m] or [N] of control signals (n,) at a state."""
        signal = one_state(ctrl, "ctrl", len(self.names), f"the actuators {list(self.names)}")
        q, v = self._state(q, v)
        u = np.zeros(self.mech.nu)
        for k, i, j, group in self._groups:
            x, speed = float(q[i]) if i >= 0 else 0.0, float(v[j])
            for entry, law in group:
                command = _clipped(float(signal[entry]), law.ctrl_limits)
                force = law.gain * command + _bias(law, x, speed)
                u[k] += law.gear * _clipped(force, law.force_limits)
            actuator = self.mech.model.actuators[k]
            u[k] = _clipped(u[k], (actuator.lower, actuator.upper))
        return u

    def ctrl(self, u: npt.ArrayLike, q: npt.ArrayLike, v: npt.ArrayLike) -> Array:
        """Control signals (n,) that give the inputs u (nu,) at a state, within their limits."""
        wanted = one_state(
            u, "u", self.mech.nu, f"{self.mech.name!r}, with actuators {list(self.mech.actuators)}"
        )
        q, v = self._state(q, v)
        signal = np.zeros(len(self.names))
        for k, i, j, group in self._groups:
            x, speed = float(q[i]) if i >= 0 else 0.0, float(v[j])
            for (entry, law), force in zip(group, _shares([law for _, law in group], wanted[k]), strict=True):
                if law.gain == 0.0:
                    continue
                command = (force / law.gear - _bias(law, x, speed)) / law.gain
                signal[entry] = _clipped(command, law.ctrl_limits)
        return signal


def servos(mech: Mechanism) -> Servos:
    """The actuators of a mechanism as its file declares them: servo targets to forces, and back.

    `sr.simulate(mech, t, control=lambda t, q, v: s.force(targets, q, v))` runs it under its own servos.

    Args:
        mech: A mechanism; coordinates without a declared law have motors of gear 1.
    """
    return Servos(mech)


def _checked(laws: object) -> dict[str, list[tuple[int, ActuatorLaw]]]:
    """Laws by coordinate, each with its place in ctrl."""
    found = mapping(laws, "laws", "{coordinate: [(place in ctrl, ActuatorLaw), ...]}")
    for name, group in found.items():
        pairs = group if isinstance(group, (list, tuple)) else [None]
        for one in pairs:
            if not isinstance(one, tuple) or len(one) != 2 or not isinstance(one[1], ActuatorLaw):
                raise InputError(
                    f"laws of {name!r} must be pairs (place in ctrl, ActuatorLaw), got {group!r:.80}."
                )
    return found


def _numbered(mech: Mechanism) -> dict[str, list[tuple[int, ActuatorLaw]]]:
    found: dict[str, list[tuple[int, ActuatorLaw]]] = {}
    n = 0
    for actuator in mech.model.actuators:
        laws = mech.laws.get(actuator.name) or (ActuatorLaw(actuator.name),)
        found[actuator.name] = [(n + k, law) for k, law in enumerate(laws)]
        n += len(laws)
    return found


def _bias(law: ActuatorLaw, x: float, speed: float) -> float:
    constant, stiffness, damping = law.bias
    return constant + law.gear * (stiffness * x + damping * speed)


def _clipped(x: float, limits: tuple[float, float] | None) -> float:
    return x if limits is None else min(max(x, limits[0]), limits[1])


def _shares(laws: list[ActuatorLaw], total: float) -> list[float]:
    """Forces on the coordinate, one for each actuator."""
    if len(laws) == 1:
        return [total]
    ranges = [_range(law) for law in laws]
    if any(one is None for one in ranges):
        return [total / len(laws)] * len(laws)
    lower, upper = (sum(one[k] for one in ranges if one is not None) for k in (0, 1))
    place = (total - lower) / (upper - lower)
    return [one[0] + place * (one[1] - one[0]) for one in ranges if one is not None]


def _range(law: ActuatorLaw) -> tuple[float, float] | None:
    """Smallest and largest force on the coordinate; None where open."""
    limits = law.force_limits
    if limits is None and law.is_motor and law.ctrl_limits is not None:
        lower, upper = sorted(law.gain * x for x in law.ctrl_limits)
        limits = (lower, upper)
    if limits is None or not all(np.isfinite(limits)):
        return None
    lower, upper = sorted(law.gear * x for x in limits)
    return lower, upper

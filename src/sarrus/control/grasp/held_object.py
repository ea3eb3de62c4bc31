"""The object's part of the impedance law: pose error, external load, resulting contact forces."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ..._kernel import TaskSetup
from ...arrays import Array
from ..core.solution import Solution
from ..core.task import Task
from ..outputs.body import BodyPose
from .grasp import Grasp
from .payload import Payload


class PoseTask(Task):
    """Pose error of the object at its centre of mass; the law sets the desired acceleration afterwards."""

    def __init__(self, output: BodyPose, grasp: Grasp, reference: Any) -> None:
        super().__init__(grasp.system, output, reference, 1.0, 1.0)

    def compiled(self) -> TaskSetup:
        """The task for the kernel, which sets the desired acceleration."""
        return TaskSetup(outputs=self.compiled_outputs(), unit=self.unit, keep=None, kp=None, kd=None)


@dataclass(frozen=True)
class ImpedanceSolution(Solution):
    """One step of `ObjectImpedance`.

    Attributes:
        external: wrench (6,) on the object that the law expects, at its centre of mass in world axes.
        mobility: acceleration of the object per unit of wrench on it (6, 6), the inverse of its inertia
            within the constraints, [Lin2018] eq. (15).
    """

    external: Array = field(default_factory=lambda: np.zeros(6))
    _load: Array | None = field(default=None, repr=False)
    mobility: Array = field(default_factory=lambda: np.full((6, 6), np.nan))
    _grasp: Grasp = field(kw_only=True, repr=False)

    @cached_property
    def payload(self) -> Payload | None:
        """Extra mass that the law compensates, or None."""
        return None if self._load is None else Payload.of(self._load)

    @cached_property
    def contact_forces(self) -> Array:
        """Expected components of all contacts (m,), on the object; names in `Grasp.names`."""
        if self._response is None:
            return np.full(self._grasp.size, np.nan)
        return self._grasp.components(self.lam)

    @property
    def contact_wrenches(self) -> dict[str, Array]:
        """Expected force and moment (6,) on the object at each contact, in the contact's axes."""
        if self._response is None:
            return {contact.name: np.full(6, np.nan) for contact in self._grasp.contacts}
        return self._grasp.wrenches(self.contact_forces)

    @cached_property
    def reserve_left(self) -> float:
        """Share of the reserve for unknown wrenches that the limits leave, 0 to 1."""
        if self._limits is None or self._selected is None:
            return 0.0
        return self._limits.reserve_left(self._selected.chosen)

    @cached_property
    def internal(self) -> Array:
        """Part of the contact forces that only squeezes (m,); lambda_c of [Lin2018] eq. (22)-(25)."""
        return self._parts[0]

    @cached_property
    def load_share(self) -> Array:
        """Part of the contact forces that carries the object and its load (m,)."""
        return self._parts[1]

    @property
    def normal_forces(self) -> Array:
        """Expected normal force of each contact [N]."""
        if self._response is None:
            return np.full(len(self._grasp.contacts), np.nan)
        return self._grasp.normal_forces(self.contact_forces)

    @cached_property
    def _parts(self) -> tuple[Array, Array]:
        if self._response is None:
            return self.contact_forces, self.contact_forces
        return self._grasp.split(self.contact_forces)

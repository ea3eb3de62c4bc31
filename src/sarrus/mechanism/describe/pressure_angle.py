"""PressureAngle: between the normal of a cam and the way of its follower."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...arrays import Array, text
from ...dynamics.bearings import hinge_angles
from ...errors import require_known
from ...models.base.kind import Checks
from ...models.base.pose import Pose, known_pose
from .measure import Measure
from .measured_states import MeasuredStates

if TYPE_CHECKING:
    from ..mechanism import Mechanism

__all__ = ["PressureAngle"]


@dataclass(frozen=True)
class PressureAngle(Measure):
    """Pressure angle of a cam [rad], not negative: between the normal at its contact and the follower's way.

    Its tangent is side force over push. Beyond about 30 degrees a follower in a guide tends to jam.

    Args:
        cam: Name of a `Cam` that says where it touches its follower (point=).
    """

    unit: ClassVar[str] = "rad"
    checks: ClassVar[Checks] = {"cam": text}
    cam: str

    def check(self, mech: Mechanism, where: str) -> None:
        known = [name for name, one in mech.model.constraints if hasattr(one, "touch") and one.loads_bodies]
        require_known("Cam with point=", self.cam, known, where)

    def values(self, states: MeasuredStates) -> Array:
        model = states.mech.model
        cam: Any = dict(model.constraints)[self.cam]
        frames = {body.name: states.frames(body.name) for body in model.bodies}

        def angle(i: int) -> Any:
            def place(name: str) -> Pose:
                R, p = frames[name]
                return known_pose(p[i], R[i])

            return cam.touch(place, model.joint_of, hinge_angles(model, place)).pressure_angle

        return np.array([angle(i) for i in range(len(states.q))])

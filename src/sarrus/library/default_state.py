"""Compile a description together with the state that its benchmark or paper starts from."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from ..errors import AssemblyError
from ..mechanism.mechanism import Mechanism
from ..mechanism.spec import MechanismSpec

CLOSED = 1e-13  # [m] or [rad]: |phi| that closed-form poses reach; a pose with more is assembled


def compile_at(
    spec: MechanismSpec,
    q: ArrayLike,
    v: ArrayLike | None = None,
    rates: Mapping[str, float] | None = None,
    fixed: Mapping[str, float] | None = None,
) -> Mechanism:
    """The compiled mechanism, with `default` at q or, where q does not close the loops, assembled near q.

    Where the description of a closed chain names no actuators, every joint but Free ones has a motor.

    Args:
        spec: The description.
        q: Pose, exact or near [rad, m], (nq,).
        v: Velocity [rad/s, m/s], (nv,); at rest if not given.
        rates: Instead of v: velocities of some coordinates, from which all others follow [rad/s, m/s].
        fixed: Coordinates that keep their value where q has to be assembled [rad, m].
    """
    if spec.actuated is None and spec.constraints:
        driven = (body for body in spec.bodies if not body.joint.is_free)
        spec.actuate(*(name for body in driven for name in body.coordinate_names))
    mech = spec.compile()
    pose = np.array(q, dtype=float)
    gap = float(np.abs(mech.evaluator.closure(pose, np.zeros(mech.nv), 0.0)[0]).max(initial=0.0))
    if gap > CLOSED:
        found = mech.assemble(pose, fixed=fixed)
        if not found.success:
            raise AssemblyError(f"{mech.name} cannot be assembled with these parameters. {found.message}")
        pose = found.q
    if rates is not None:
        v = mech.consistent_velocity(pose, fixed=rates)
    return mech.with_default(pose, v)

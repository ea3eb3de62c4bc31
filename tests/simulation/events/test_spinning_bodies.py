"""Bodies that spin freely make no error that would limit their steps; states between steps are right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import sarrus as sr


def spinning(joint: Any, looped: bool) -> sr.Mechanism:
    spec = sr.MechanismSpec(gravity=(0, 0, 0))
    spec.body("a", joint=joint, mass=1.0, inertia=(1.0, 2.0, 2.5))
    if looped:
        spec.close("bearing", "ground", "a", joint=sr.Revolute("z"))
    return spec.compile()


@pytest.mark.parametrize(
    "options", [{}, {"method": "radau"}, {"method": "dopri5"}, {"coordinates": "tangent"}]
)
@pytest.mark.parametrize(
    ("joint", "looped"),
    [(sr.Free(), False), (sr.Free(), True), (sr.Spherical(), False)],
    ids=["free", "free in a bearing", "ball"],
)
def test_orientation_between_steps(joint: Any, looped: bool, options: dict[str, Any]) -> None:
    """100 rad/s about a principal axis for 1 s, looked at every 5 ms."""
    mech, times = spinning(joint, looped), np.linspace(0.0, 1.0, 201)
    v = np.zeros(mech.nv)
    v[-1] = 100.0
    run = sr.simulate(mech, (0.0, 1.0), mech.neutral(), v, **options)
    kept = sr.simulate(mech, (0.0, 1.0), mech.neutral(), v, t_eval=times, **options)
    exact = Rotation.from_rotvec(np.outer(100.0 * times, (0, 0, 1)))
    for states in (run.at(times), kept):
        assert np.max((Rotation.from_quat(states.q[:, -4:]) * exact.inv()).magnitude()) < 1e-9
        assert states.v == pytest.approx(np.tile(v, (len(times), 1)), abs=1e-9)


def test_fixed_steps_of_more_than_half_a_turn_are_said() -> None:
    """5 rad in each step: the states are right, what lies between them is not known."""
    run = sr.simulate(spinning(sr.Free(), False), (0.0, 2.0), v0=[0, 0, 0, 0, 0, 10.0], dt=0.5)
    assert not run.success and "too long" in run.message

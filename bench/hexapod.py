"""A robot with six loops, for figures and tests of recorded code."""

from __future__ import annotations

from typing import Any

import numpy as np

import sarrus as sr


def hexapod() -> sr.Mechanism:
    """A robot of 24 coordinates on a fixed body: six legs, each a hip and a four-bar, so six loops."""
    spec = sr.MechanismSpec(name="hexapod")
    limb: dict[str, Any] = {"mass": 0.5, "com": (0.15, 0, 0), "inertia": (1e-4, 4e-3, 4e-3)}
    for i in range(6):
        turn = np.pi / 3 * i
        at = sr.Pose((0.2 * np.cos(turn), 0.2 * np.sin(turn), 0), rpy=(0, 0, turn))
        spec.body(f"hip{i}", joint=sr.Revolute("z"), at=at, mass=0.3, inertia=(1e-3, 1e-3, 1e-3))
        spec.body(f"femur{i}", parent=f"hip{i}", joint=sr.Revolute("y"), at=sr.Pose((0.05, 0, 0)), **limb)
        spec.body(f"rocker{i}", parent=f"hip{i}", joint=sr.Revolute("y"), at=sr.Pose((0.05, 0, 0.12)), **limb)
        spec.body(f"tibia{i}", parent=f"femur{i}", joint=sr.Revolute("y"), at=sr.Pose((0.3, 0, 0)), **limb)
        pin, end = sr.Pose((0, 0, 0.1)), sr.Pose((0.31, 0, 0))
        spec.close(f"knee{i}", f"tibia{i}", f"rocker{i}", joint=sr.Revolute("y"), at_a=pin, at_b=end)
    return spec.compile()

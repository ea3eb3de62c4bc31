"""Two descriptions of one mechanism, with other coordinates: the same velocities give the same accelerations.

Velocities are matched by the twists of bodies with mass, accelerations are compared body by body.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np

import sarrus as sr


def reread(mech: sr.Mechanism, file: Path, **options: Any) -> sr.Mechanism:
    """Written, and loaded again."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.SarrusWarning)
        return sr.load(sr.save(mech, file, **options))


def motion_gap(mech: sr.Mechanism, copy: sr.Mechanism, seed: int = 0) -> float:
    """Largest difference of body accelerations at the default pose, relative to the largest, or absolute."""
    bodies = [body.name for body in mech.model.bodies[1:] if body.mass and body.name in copy.body_names]
    q, p = mech.default.q, copy.default.q
    for name in bodies:
        gap = np.abs(mech.pose(q, name).matrix - copy.pose(p, name).matrix).max()
        assert gap < 1e-10 * max(1.0, mech.length), f"{name} is elsewhere by {gap:.1e}"
    v = mech.consistent_velocity(q, 0.5 * np.random.default_rng(seed).standard_normal(mech.nv))
    theirs = np.concatenate([copy.jacobian(p, name) for name in bodies])
    twists = np.concatenate([mech.jacobian(q, name) @ v for name in bodies])
    rows = copy.terms(p, np.zeros(copy.nv)).J
    both, right = np.concatenate([theirs, rows]), np.concatenate([twists, np.zeros(len(rows))])
    w = np.linalg.lstsq(both, right, rcond=1e-10)[0]
    np.testing.assert_allclose(theirs @ w, twists, atol=1e-9 * (1 + np.abs(twists).max()))
    a, b = mech.forward_dynamics(q, v).a, copy.forward_dynamics(p, w).a
    ours = np.concatenate([mech.body_acceleration(q, v, a, name) for name in bodies])
    found = np.concatenate([copy.body_acceleration(p, w, b, name) for name in bodies])
    return float(np.abs(ours - found).max() / max(1.0, np.abs(ours).max()))

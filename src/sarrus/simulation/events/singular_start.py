"""Runs that start at a singular pose with a velocity that no motion has there."""

from __future__ import annotations

import numpy as np

from ...arrays import Array
from ...mechanism.mechanism import Mechanism
from ...projection.decomposition import ranked_svd
from ...projection.system_kinematics import dimensionless, even_gamma
from ..system.step_records import Steps
from ..system.system import System

AROUND, TRIALS = 0.03, 4  # [rad, or L] from the pose, and poses there, at which the rank is looked at
OFF_BRANCH = 1e-4  # acceleration that lost rows lack, relative to the square of the speed


def rank_nearby(system: System, t: float, q: Array) -> int:
    """Rank of J at poses near one (nq,) at which rows are lost; -1 where none are.

    These poses are on the constraints: elsewhere rows that depend on others at all poses seem independent.
    """
    mech = system.original
    if not isinstance(mech, Mechanism) or not system.nc:
        return -1
    here = mech.mobility(q, t).rank
    if not system.loses_rank(t, q, here):
        return -1
    rng, ranks = np.random.default_rng(0), [here]
    for _ in range(TRIALS):
        moved = mech.integrate(q, AROUND * system.units.unit * rng.uniform(-1.0, 1.0, system.nv))
        found = mech.assemble(moved, t=t)
        if found.success:
            ranks.append(mech.mobility(found.q, t).rank)
    return max(ranks)


def off_branch(system: System, first: Steps) -> str:
    """What is wrong with the velocity of one state, in words; empty at regular poses, and on a branch.

    The lost rows w, w.T J = 0, need w.T gamma(v) = 0, projection/branches.py (1).
    """
    t, q, v = float(first.t[0]), first.q[0], first.v[0]
    speed = float(np.linalg.norm(v / system.units.unit))
    if speed == 0.0:
        return ""
    _, J, _, _ = system.evaluator.constraints(q, v, t)
    svd = ranked_svd(dimensionless(system.evaluator, J), system.units.rank_tol)
    if not system.loses_rank(t, q, svd.rank):
        return ""
    missing = float(np.linalg.norm(svd.lost.T @ even_gamma(system.evaluator, q, t)(v))) / speed**2
    if missing <= OFF_BRANCH:
        return ""
    return (
        "The pose at the start is singular, and no motion through it has this velocity: J v = b holds, but"
        f" the lost rows of J ask for an acceleration that nothing can give ({missing:.1e} times the square"
        " of the speed). mech.branches(q0) lists the directions in which it can leave the pose."
    )

"""Loops closed by points and welds against Pinocchio's constraintDynamics, to 1e-10 relative."""

from __future__ import annotations

import numpy as np
import pytest

from tests.oracles import random_mechanisms as rm
from tests.oracles.description import Description
from tests.oracles.states import mechanism, random_force, relative, tangent_velocity

adapter = pytest.importorskip("tests.oracles.pinocchio_adapter", exc_type=ImportError)

TOL = 1e-10
KINDS = [("spherical",), ("fixed",), ("spherical", "fixed"), ("spherical", "spherical", "spherical")]


def compare(d: Description, seed: int) -> bool:
    """True where the case was usable: rows independent and not nearly dependent (Pinocchio needs that)."""
    mech, pin = mechanism(d), adapter.build(d)
    q = d.q
    assert np.max(np.abs(mech.terms(q, np.zeros(mech.nv)).phi)) < 1e-13
    v, tau = tangent_velocity(mech, q, seed), random_force(mech, seed)
    J = mech.terms(q, v).J
    s = np.linalg.svd(J * mech.model.unit / mech.model.row_unit[:, None], compute_uv=False)
    if s[-1] < 0.02 or len(J) > mech.nv:
        return False
    a, lam = pin.constrained(q, v, tau)
    motion = mech.forward_dynamics(q, v, tau)
    assert motion.rank == len(J)
    assert relative(motion.a, a) < TOL
    assert relative(motion.constraint_force, pin.rnea(q, v, a) - tau) < TOL
    assert relative(motion.lam, -lam) < TOL / s[-1]
    assert motion.lam_unique.all()
    assert relative(mech.acceleration(q, v, tau), a) < TOL
    return True


@pytest.mark.parametrize("kinds", KINDS, ids=lambda k: "+".join(k))
def test_random_loops(kinds: tuple[str, ...]) -> None:
    used = [compare(rm.loops(seed, kinds, n=10), seed) for seed in range(100)]
    assert sum(used) >= 25


def test_loops_on_floating_bases() -> None:
    joints = ("free", "revolute", "spherical", "universal")
    used = [compare(rm.loops(seed, ("spherical",), n=5, joints=joints), seed) for seed in range(40)]
    assert sum(used) >= 20

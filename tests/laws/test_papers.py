"""The papers' algorithms as printed, in 30 digits, against the library on mechanisms of every family."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.linalg import qr

from tests.oracles.printed import Aghili2005, aghili2011, exact, pseudoinverse, rounded, spencer2004
from tests.oracles.states import mechanism, random_force, relative, tangent_velocity

from .families import FAMILIES

FORMS = {"projection": "projection", "symmetric": "projection_symmetric", "gamma": "projection_gamma"}
EACH = [(family, seed) for family in FAMILIES for seed in range(2)]


@pytest.fixture(scope="module", params=EACH, ids=[f"{family} {seed}" for family, seed in EACH])
def case(request: Any) -> tuple[Any, ...]:
    """Mechanism, state on its constraints, force, and the dynamics there as the papers write them."""
    family, seed = request.param
    description = FAMILIES[family](seed)
    mech = mechanism(description)
    q, v = description.q, tangent_velocity(mech, description.q, seed)
    terms = mech.terms(q, v)
    return mech, q, v, random_force(mech, seed), Aghili2005(terms.M, terms.h, terms.J, terms.gamma)


def test_direct_dynamics(case: Any) -> None:
    """[Aghili2005] (22), (27), (29) and the constraint force (32)."""
    mech, q, v, tau, dynamics = case
    ours = mech.forward_dynamics(q, v, tau)
    for form, formulation in FORMS.items():
        printed = rounded(dynamics.acceleration(tau, form, gamma=np.linalg.norm(mech.mass_matrix(q), 2)))
        assert relative(ours.a, printed) < 1e-9
        # massless bodies: double precision costs this formulation what its matrix has as condition number
        allowed = 1e-9 * max(1.0, mech.constraint_inertia(q, form).condition / 1e5)
        assert relative(mech.forward_dynamics(q, v, tau, formulation=formulation).a, printed) < allowed
    assert relative(ours.constraint_force, rounded(dynamics.constraint_force(tau))) < 1e-9


def test_inverse_dynamics(case: Any) -> None:
    """(21): of all torques that give a motion, the tangential one moves it; ours differs by normal ones."""
    mech, q, v, tau, dynamics = case
    a = mech.acceleration(q, v, tau)
    printed = rounded(dynamics.inverse_dynamics(a))
    assert relative(mech.acceleration(q, v, printed), a) < 1e-9
    ours = rounded(dynamics.P @ mech.inverse_dynamics(q, v, a, actuated=mech.names).tau)
    assert relative(ours, printed) < 1e-9


def test_minimal_coordinates(case: Any) -> None:
    """[Spencer2004] (2.19), the coordinates chosen by pivoting."""
    mech, q, v, tau, dynamics = case
    N = mech.decompose(q).N
    independent = sorted(qr(N.T, pivoting=True)[2][: N.shape[1]])
    assert relative(mech.acceleration(q, v, tau), rounded(spencer2004(dynamics, tau, independent))) < 1e-9


def test_a_task(case: Any) -> None:
    """[Aghili2011] (13), corrected: the motion of a random task of two rows."""
    mech, q, v, _, dynamics = case
    rows = min(2, mech.mobility(q).dof)
    rng = np.random.default_rng(3)
    L, wanted = rng.normal(size=(rows, mech.nv)), rng.normal(size=rows)
    a = mech.acceleration(q, v, rounded(aghili2011(dynamics, L, wanted)))
    assert relative(L @ a, wanted) < 1e-9


def test_thirty_digits() -> None:
    """The oracle itself: A A^+ A = A to 25 digits, with dependent rows."""
    rng = np.random.default_rng(0)
    A = exact(rng.integers(-5, 6, size=(4, 6)))
    A = np.concatenate([A, A[:2]])
    assert np.max(np.abs(A @ pseudoinverse(A) @ A - A)) < 1e-25

"""Out of rest at a singular pose: the tangent cone, and Gauss' principle on it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

import sarrus as sr

METHODS: list[dict[str, Any]] = [
    {"dt": 1e-3},
    {"method": "dopri5", "rtol": 1e-5, "atol": 1e-7},
    {"method": "dopri5", "rtol": 1e-7, "atol": 1e-9},
    {"method": "radau", "rtol": 1e-6, "atol": 1e-8},
    {"method": "radau", "rtol": 1e-9, "atol": 1e-11},
]


def turning(mech: sr.Mechanism, q: np.ndarray, a: np.ndarray) -> np.ndarray:
    """w.T J'[a] for every w with w.T J = 0, by differences."""
    U, s, _ = np.linalg.svd(mech.terms(q, np.zeros(mech.nv)).J)
    W = U[:, np.sum(s > 1e-9) :]
    step = 1e-5 / np.linalg.norm(a)
    ahead, behind = (mech.terms(mech.integrate(q, x * a), np.zeros(mech.nv)).J for x in (step, -step))
    return np.asarray(W.T @ (ahead - behind) / (2 * step))


def cone(mech: sr.Mechanism, q: np.ndarray, a: np.ndarray) -> np.ndarray:
    return np.asarray(turning(mech, q, a) @ a)


def nearest(mech: sr.Mechanism, q: np.ndarray, tau: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Least constraint on the cone by another solver, from a start near it; one row of J is left."""
    terms = mech.terms(q, np.zeros(mech.nv))
    free = np.linalg.solve(terms.M, tau - terms.h)
    found = minimize(
        lambda a: 0.5 * (a - free) @ terms.M @ (a - free),
        start,
        jac=lambda a: terms.M @ (a - free),
        constraints=[
            {"type": "eq", "fun": lambda a: (terms.J @ a)[1:], "jac": lambda a: terms.J[1:]},
            {"type": "eq", "fun": lambda a: cone(mech, q, a), "jac": lambda a: 2.0 * turning(mech, q, a)},
        ],
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 200},
    )
    return np.asarray(found.x)


def test_the_five_bar_leaves_along_the_cone() -> None:
    mech = sr.library.five_bar()
    q = np.array(mech.default.q)
    a = sr.simulate(mech, (0.0, 1e-3)).a[0]
    assert np.linalg.norm(cone(mech, q, a)) < 1e-9 * (a @ a)
    assert np.linalg.norm(cone(mech, q, mech.acceleration(q, np.zeros(4), np.zeros(4)))) > 1.0
    np.testing.assert_allclose(a, nearest(mech, q, np.zeros(4), 0.9 * a), atol=1e-5)


def test_all_methods_fall_along_one_branch() -> None:
    """Before, an adaptive run took another one where rounding chose it."""
    mech = sr.library.five_bar()
    runs = [sr.simulate(mech, (0.0, 0.8), **options) for options in METHODS]
    best = runs[-1]
    # At first rounding decides, not the tolerance. A pose s rad off the singular one closes to 1e-16, so
    # its tangent is known to 1e-16 / s^2: after 0.4 ms, s = 7e-7, 2e-4 of a kinetic energy of 4e-5 J. With
    # gravity changed in its last bits, energy varies by 1e-8 to 1e-7 J in the first 2 ms, at any rtol below
    # 1e-7, and by at most 1.4e-9 J of 120 J later; the run ends up to 8e-6 rad elsewhere.
    assert np.ptp(best.energy[best.t > 2e-3]) < 1e-8 and np.ptp(best.energy) < 3e-7
    for run, options in zip(runs, METHODS, strict=True):
        tol = max(100 * float(options.get("rtol", 1e-7)), 2e-5)
        assert run.success and np.max(np.abs(run.q[-1] - best.q[-1])) < tol


@pytest.mark.parametrize("push", [1.0, -3.0])
def test_the_slider_crank_takes_the_nearer_branch(push: float) -> None:
    """At the toggle its cone is two lines: the folded one, where the rod swings by twice the crank's angle,
    and the one where it does not move against it."""
    mech = sr.library.slider_crank(length=1.0, mass=1.0, gravity=9.81)
    q, tau = np.array([math.pi / 2, math.pi]), np.array([push, 0.0])
    run = sr.simulate(mech, (0.0, 0.05), q, tau=tau)
    terms = mech.terms(q, np.zeros(2))
    free = np.linalg.solve(terms.M, tau - terms.h)
    lines = [np.array([1.0, -2.0]), np.array([1.0, 0.0])]
    shares = [(d @ terms.M @ free) / (d @ terms.M @ d) * d for d in lines]
    gauss = [(a - free) @ terms.M @ (a - free) for a in shares]
    np.testing.assert_allclose(run.a[0], shares[int(np.argmin(gauss))], atol=1e-9)


@pytest.mark.parametrize("name", ["bricard", "bennett", "sarrus"])
def test_permanent_redundancy_is_none_of_this(name: str) -> None:
    mech = sr.library.MECHANISMS[name]()
    q, rest = np.array(mech.default.q), np.zeros(mech.nv)
    run = sr.simulate(mech, (0.0, 1e-3), q, rest)
    np.testing.assert_allclose(run.a[0], mech.acceleration(run.q[0], rest, rest), rtol=1e-12, atol=1e-12)


def test_without_forces_it_stays() -> None:
    run = sr.simulate(sr.library.five_bar(gravity=0.0), (0.0, 0.1))
    np.testing.assert_array_equal(run.q[-1], run.q[0])

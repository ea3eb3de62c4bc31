"""Projection in two metrics and softened constraints, against the papers' formulas in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sarrus as sr


def pinv(mech: Any, J: np.ndarray, rank: int) -> np.ndarray:
    """A^+ of J without units, as a map to velocities."""
    u, r = mech.units.unit, mech.units.row_unit
    U, s, Vt = np.linalg.svd(J * u / r[:, None])
    return np.asarray(u[:, None] * (Vt[:rank].T / s[:rank]) @ U[:, :rank].T / r)


@pytest.mark.parametrize("name", ["four_bar", "bricard", "sarrus", "dual_arm", "scott_russell", "stewart"])
def test_euclidean_projection_is_newton_with_the_pseudoinverse(name: str) -> None:
    """[Aghili2005] eq. (37) and v - A^+ A v, iterated in NumPy from the step that was not corrected."""
    mech = getattr(sr.library, name)()
    dt = 5e-3  # steps in which stages are not projected, far from singular poses
    ours, mass = (
        sr.simulate(mech, (0.0, 12 * dt), dt=dt, projection_metric=metric) for metric in ("euclidean", "mass")
    )
    loose = sr.simulate(mech, (0.0, dt), ours.q[-2], ours.v[-2], dt=dt, correction="none")
    rank, q = int(ours.rank[-1]), loose.q[-1]
    for _ in range(8):
        terms = mech.terms(q, np.zeros(mech.nv))
        q = mech.integrate(q, -pinv(mech, terms.J, rank) @ terms.phi)
    terms = mech.terms(ours.q[-1], loose.v[-1])
    v = loose.v[-1] - pinv(mech, terms.J, rank) @ (terms.J @ loose.v[-1] - terms.b)
    u = mech.units.unit
    assert np.max(np.abs((ours.v[-1] - v) / u)) < 1e-12 * (1.0 + np.max(np.abs(v / u)))
    moved, off = (float(np.max(np.abs(mech.difference(q, x) / u))) for x in (loose.q[-1], ours.q[-1]))
    assert off < 1e-13 + 1e-3 * moved and (moved > 1e-11 or name in ("bricard", "sarrus"))
    assert max(ours.drift.max(), mass.drift.max()) < 1e-12


def test_the_mass_metric_keeps_energy_better() -> None:
    """On a row of four-bars that passes singular poses; on other mechanisms the two are within 2."""
    mech = sr.library.n_four_bar()
    errors = []
    for metric in ("mass", "euclidean"):
        run = sr.simulate(mech, (0.0, 2.0), dt=1e-3, projection_metric=metric)
        errors.append(float(np.max(np.abs(run.energy - run.energy[0]))))
    assert errors[1] > 10.0 * errors[0]


def test_large_mechanisms_project_in_the_euclidean_metric_too() -> None:
    """With the sparse factorization."""
    mech = sr.library.n_four_bar(40)
    run = sr.simulate(mech, (0.0, 0.05), dt=1e-3, projection_metric="euclidean")
    same = sr.simulate(mech, (0.0, 0.05), dt=1e-3)
    assert run.success and run.drift.max() < 1e-12
    assert np.max(np.abs(run.q[-1] - same.q[-1])) < 1e-8


def softened(mech: Any, q: np.ndarray, v: np.ndarray, gain: float, softness: float) -> np.ndarray:
    """[Spencer2004] eq. (3.5b), (3.9) with the damped least-squares inverse of 3.3, for angles."""
    terms = mech.terms(q, v)
    G, M = terms.J, terms.M
    _, s, Vt = np.linalg.svd(G)
    V2 = Vt[len(s) :].T
    inverse = G.T @ np.linalg.inv(G @ G.T + softness**2 * np.eye(len(G)))
    K = inverse @ (terms.gamma - 2.0 * gain * G @ v - gain**2 * terms.phi)
    return np.asarray(K + V2 @ np.linalg.solve(V2.T @ M @ V2, V2.T @ (-terms.h - M @ K)))


@pytest.mark.parametrize("softness", [1e-1, 1e-3])
def test_soft_constraints_are_those_of_the_thesis(softness: float) -> None:
    mech, dt, gain = sr.library.five_bar("raised"), 1e-2, 10.0
    scale = mech.units.row_unit[0]  # the thesis has metres, softness is without units
    run = sr.simulate(
        mech, (0.0, 0.3), dt=dt, correction="soft", softness=softness / scale, baumgarte=(gain, gain)
    )
    q, v = mech.default.q.copy(), mech.default.v.copy()
    for _ in range(30):

        def rate(x: np.ndarray) -> np.ndarray:
            return np.concatenate([x[4:], softened(mech, x[:4], x[4:], gain, softness)])

        x = np.concatenate([q, v])
        k1 = rate(x)
        k2 = rate(x + dt / 2 * k1)
        k3 = rate(x + dt / 2 * k2)
        x = x + dt / 6 * (k1 + 2 * k2 + 2 * k3 + rate(x + dt * k3))
        q, v = x[:4], x[4:]
    np.testing.assert_allclose(run.q[-1], q, atol=1e-10)
    np.testing.assert_allclose(run.v[-1], v, atol=1e-9)


def test_softness_trades_accuracy_for_smooth_forces() -> None:
    """Through the singular pose of the five-bar: the softer, the larger the error of the energy."""
    mech, errors = sr.library.five_bar("raised"), []
    for softness in (1e-4, 1e-2, 1e-1):
        run = sr.simulate(mech, (0.0, 0.7), dt=4e-3, correction="soft", softness=softness)
        assert run.success
        errors.append(float(np.max(np.abs(run.energy - run.energy[0]))))
    assert errors[0] < errors[1] < errors[2]


def test_options_survive_files(tmp_path: Any) -> None:
    mech = sr.library.four_bar()
    run = sr.simulate(mech, (0.0, 0.1), dt=1e-3, projection_metric="euclidean")
    run.save(tmp_path / "run.npz")
    loaded = sr.Trajectory.load(tmp_path / "run.npz", system=mech)
    whole = sr.simulate(mech, (0.0, 0.2), dt=1e-3, projection_metric="euclidean")
    assert np.array_equal(loaded.resume(0.2).q, whole.q)


@pytest.mark.parametrize("how", ["phi", "b", "product"])
def test_energy_is_not_kept_where_a_function_moves_the_mechanism(how: str) -> None:
    """A base that is moved by 0.2 sin(5 t): kept energy was 0.27 rad off, without a word."""
    spec = sr.MechanismSpec(gravity=(0, -9.81, 0))
    spec.body("base", joint=sr.Prismatic("x"), mass=1.0)
    inertia = {"mass": 1.0, "com": (0, -1, 0), "inertia": (0.1, 0.1, 0.1)}
    spec.body("pendulum", "base", joint=sr.Revolute("z"), **inertia)
    phi = {
        "phi": lambda q, t: [q[0] - 0.2 * np.sin(5 * t)],
        "b": lambda q, t: [q[0]],
        "product": lambda q, t: [q[0] * (1.0 + 0.5 * np.sin(5 * t)) - 0.1 * q[0] ** 2],
    }[how]
    b = (lambda q, t: [1.0]) if how == "b" else None
    mech = spec.constrain("drive", sr.CustomConstraint(phi, 1, b=b)).compile()
    with pytest.raises(sr.SarrusError, match="'drive' changes with time and does work"):
        sr.simulate(mech, (0, 1), [0.0, 0.5], [0.0, 0.0], energy=True)

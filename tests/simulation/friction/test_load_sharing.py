"""Loads that coordinates at rest share: shares against optimization, how often a program is solved."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
import scipy.optimize

import sarrus as sr
from sarrus.simulation.friction.load_sharing import shared, tangents_along

Array = npt.NDArray[np.float64]


def test_shares_have_the_same_effect_and_the_least_weighted_size() -> None:
    rng = np.random.default_rng(0)
    J = rng.normal(size=(5, 3, 6))
    at = np.array([0, 2, 3, 5])
    A = tangents_along(J, at, 1e-9)
    assert A is not None and A.shape == (5, 4, 3)
    f, bounds = rng.normal(size=(5, 4)), rng.uniform(0.1, 5.0, (5, 4))
    found = shared(A, f, bounds)
    for one, given, c, rows in zip(found, f, bounds, A, strict=True):
        np.testing.assert_allclose(rows.T @ one, rows.T @ given, atol=1e-12)
        null = np.linalg.svd(rows.T)[2][np.linalg.matrix_rank(rows) :]  # changes without effect
        best = scipy.optimize.lsq_linear((null / c).T, -given / c)
        np.testing.assert_allclose(one, given + best.x @ null, atol=1e-6)


def test_states_without_constraints_and_of_changing_rank() -> None:
    eye = tangents_along(np.zeros((2, 0, 3)), np.array([1]), 1e-9)
    np.testing.assert_array_equal(eye, np.broadcast_to([[0.0, 1.0, 0.0]], (2, 1, 3)))
    assert tangents_along(np.array([[[1.0, 0.0]], [[0.0, 0.0]]]), np.array([0]), 1e-9) is None


def beside(brake: float) -> sr.Mechanism:
    """A four-bar that turns beside one that its brake holds; journals in all pins."""
    spec = sr.MechanismSpec(gravity=(0, -9.81, 0), name="beside")
    for k, x in (("m", 0.0), ("r", 1.0)):
        for name, p in (("A", (0, 0)), ("B", (0, 0.1)), ("C", (0.35, 0.3)), ("D", (0.4, 0))):
            spec.point(k + name, (x + p[0], p[1], 0))
        spec.link(k + "crank", k + "A", k + "B", mass=1.0).link(k + "rod", k + "B", k + "C", mass=1.0)
        spec.link(k + "rocker", k + "D", k + "C", mass=1.0)
        pairs = ("ground", k + "crank"), (k + "crank", k + "rod"), (k + "rod", k + "rocker")
        for name, (a, b) in zip("ABCD", (*pairs, ("ground", k + "rocker")), strict=True):
            spec.joint(k + name, a, b, sr.Revolute("z"), at=k + name)
            spec.force("journal " + k + name, sr.BearingFriction(k + name, 1e-3, 0.01))
    return spec.force("brake", sr.CoulombFriction("rA", brake)).compile()


def started(mech: sr.Mechanism) -> tuple[Array, Array]:
    q, at = mech.neutral(), [mech.names.index(name) for name in ("mA", "rA")]
    N = mech.decompose(q).N
    v = N @ np.linalg.lstsq(N[at], [20.0, 0.0], rcond=None)[0]
    v[[name.startswith("r") for name in mech.names]] = 0.0
    return q, v


def test_linkage_at_rest_beside_a_moving_one_needs_no_program(monkeypatch: pytest.MonkeyPatch) -> None:
    solved: list[int] = []
    program = scipy.optimize.linprog
    monkeypatch.setattr(scipy.optimize, "linprog", lambda *a, **k: solved.append(1) or program(*a, **k))
    mech = beside(5.0)
    run = sr.simulate(mech, (0, 0.02), *started(mech), dt=1e-4)
    resting = [name.startswith("r") for name in mech.names]
    assert run.success and not run.events and np.abs(run.v[:, resting]).max() < 1e-25
    assert len(solved) == 0
    assert np.all(np.abs(run.v[:, mech.names.index("mA")]) > 10.0)


def test_brake_gives_way_where_virtual_work_says() -> None:
    """The brake alone holds the weight but for what journals hold: less than mu r times a few weights."""
    mech = beside(5.0)
    q = mech.neutral()
    N = mech.decompose(q).N
    at = [mech.names.index("mA"), mech.names.index("rA")]
    along = N @ np.linalg.lstsq(N[at], [0.0, 1.0], rcond=None)[0]
    needed = abs(along @ mech.bias(q, np.zeros(mech.nv)))
    journals = 1e-3 * 0.01 * 4 * 10 * 9.81 * np.abs(along).max()
    for brake, holds in ((needed + 1e-6, True), (needed - journals, False)):
        run = sr.simulate(beside(brake), (0, 0.002), *started(mech), dt=1e-4)
        assert run.success and bool(np.abs(run.v[:, at[1]]).max() > 1e-20) != holds

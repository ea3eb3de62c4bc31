"""Batches of assemblies and sweeps, copy by copy the same as single ones, and their words."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import sarrus as sr

Array = npt.NDArray[np.float64]
L = sr.library
MECHANISMS: dict[str, Callable[[], sr.Mechanism]] = {
    "pendulum": L.pendulum,
    "four-bar": L.four_bar,
    "redundant four-bar": lambda: L.four_bar(closure="revolute"),
    "bennett": L.bennett,
    "arms": L.dual_arm,
    "stewart": L.stewart,
}
each = pytest.mark.parametrize("name", MECHANISMS)


def guesses(mech: sr.Mechanism, count: int) -> Array:
    steps = 0.2 * np.random.default_rng(3).normal(size=(count, mech.nv)) * mech.units.unit
    return mech.integrate(np.tile(mech.default.q, (count, 1)), steps)


@each
def test_a_batch_of_assemblies_is_many_assemblies(name: str) -> None:
    mech = MECHANISMS[name]()
    some = guesses(mech, 5)
    batch = mech.assemble(some)
    assert batch.q.shape == (5, mech.nq)
    assert batch.success.dtype == bool
    for i, guess in enumerate(some):
        one = mech.assemble(guess)
        np.testing.assert_array_equal(batch.q[i], one.q)
        assert (batch.success[i], batch.iterations[i]) == (one.success, one.iterations)
        assert batch.residual[i] == one.residual
        assert batch.message[i] == one.message == batch[i].message
        assert batch.undetermined[i] == one.undetermined
        assert {key: gap[i] for key, gap in batch.gaps.items()} == one.gaps


def test_one_guess_of_a_batch_may_fail_alone() -> None:
    mech = L.four_bar()
    guess, rocker = mech.default.q, mech.default.q[2]
    batch = mech.assemble(np.stack([guess, guess]), fixed={"rocker": [rocker, rocker + 3.0]})
    assert batch.success.tolist() == [True, False]
    assert batch[0].message.startswith("Assembled")
    assert batch.message[1].startswith("Not assembled: 'pin'")
    assert np.isfinite(batch.q).all()


def test_held_values_of_a_batch_are_one_for_each_or_one_for_all() -> None:
    mech = L.four_bar()
    angles = mech.default.q[0] + np.linspace(0.0, 0.4, 3)
    some = np.tile(mech.default.q, (3, 1))
    np.testing.assert_array_equal(mech.assemble(some, fixed={"crank": angles}).q[:, 0], angles)
    np.testing.assert_array_equal(mech.assemble(some, fixed={"crank": angles[1]}).q[:, 0], angles[1])
    with pytest.raises(sr.InputError, match="fixed position of 'crank'"):
        mech.assemble(some, fixed={"crank": angles[:2]})


@each
def test_a_batch_of_sweeps_is_many_sweeps(name: str) -> None:
    mech = MECHANISMS[name]()
    coordinate = "leg1" if name == "stewart" else mech.names[0]
    coordinate = coordinate if coordinate in mech.names else mech.names[-1]
    if mech.model.coordinate_q[mech.names.index(coordinate)] < 0:
        coordinate = next(n for n, k in zip(mech.names, mech.model.coordinate_q, strict=True) if k >= 0)
    at = mech.default.q[mech.model.coordinate_q[mech.names.index(coordinate)]]
    values = at + np.linspace(0.0, 1.0, 3)[:, None] * np.linspace(0.0, 0.2, 4)
    batch = mech.sweep(coordinate, values)
    assert batch.q.shape == (3, 4, mech.nq)
    for i in range(3):
        one = mech.sweep(coordinate, values[i])
        assert batch.success[i] == one.success
        assert batch.reached[i] == len(one.q)
        np.testing.assert_array_equal(batch.q[i, : len(one.q)], one.q)
        np.testing.assert_array_equal(batch[i].q, one.q)
        np.testing.assert_array_equal(batch[i].singular, one.singular)
        assert batch.message[i] == one.message == batch[i].message
        assert batch.undetermined[i] == one.undetermined


def test_paths_of_a_batch_that_end_early_are_nan_behind_their_end() -> None:
    mech = L.four_bar()
    rocker = mech.default.q[2]
    batch = mech.sweep("rocker", rocker + np.array([[0.0, 0.05, 0.1, 0.15], [0.0, 0.1, 3.0, 3.1]]))
    assert batch.success.tolist() == [True, False]
    assert batch.reached.tolist() == [4, 2]
    assert np.isfinite(batch.q[1, :2]).all()
    assert np.isnan(batch.q[1, 2:]).all()
    assert np.isnan(batch.values[1, 2:]).all()
    assert batch.message[1].startswith("Stopped at")


def test_a_batch_of_starts_keeps_its_branches() -> None:
    mech = L.four_bar()
    up = mech.default.q
    down = mech.assemble([up[0], 2.5, 1.5], fixed={"crank": up[0]}).q
    path = mech.sweep("crank", up[0] + np.linspace(0.0, 0.5, 4), q0=np.stack([up, down]))
    assert path.success.all()
    apart = np.abs(np.exp(1j * path.q[0]) - np.exp(1j * path.q[1]))
    assert np.all(apart.max(axis=-1) > 0.1)


def test_axes_that_do_not_go_together_are_refused() -> None:
    mech = L.four_bar()
    with pytest.raises(sr.InputError, match=r"values \(3,\) and of q0 \(2,\)"):
        mech.sweep("crank", np.zeros((3, 4)), q0=np.tile(mech.default.q, (2, 1)))


@each
def test_a_batch_of_mobilities_is_many_mobilities(name: str) -> None:
    mech = MECHANISMS[name]()
    some = mech.assemble(guesses(mech, 3)).q
    batch = mech.mobility(some)
    for i, q in enumerate(some):
        one = mech.mobility(q)
        assert (batch.rank[i], batch.dof[i], batch.gap[i]) == (one.rank, one.dof, one.gap)
        assert batch.condition[i] == one.condition
        np.testing.assert_array_equal(batch.singular_values[i], one.singular_values)
        assert batch.is_singular[i] == one.is_singular
        assert batch.redundant[i] == one.redundant
        assert batch.explain()[i] == one.explain() == batch[i].explain()


def test_singular_poses_of_a_batch_are_told_apart() -> None:
    mech = L.parallelogram()
    path = mech.sweep("left", [np.pi / 2, np.pi, 4.0])
    batch = mech.mobility(path.q)
    assert batch.dof.tolist() == [1, 2, 1]
    assert batch.is_singular.tolist() == [False, True, False]
    assert batch.is_rigid.tolist() == [False, False, False]


def test_results_of_searches_pickle() -> None:
    mech = L.four_bar()
    q, values = mech.default.q, mech.default.q[0] + np.array([0.0, 0.1])
    words: list[Callable[[], str]] = [
        lambda: copied(mech.assemble(q)).message,
        lambda: copied(mech.sweep("crank", values)).message,
        lambda: copied(mech.mobility(q)).explain(),
        lambda: copied(sr.equilibrium(mech)).message,
    ]
    said = [mech.assemble(q).message, mech.sweep("crank", values).message]
    said += [mech.mobility(q).explain(), sr.equilibrium(mech).message]
    assert [one() for one in words] == said
    models = sr.linearize(mech, np.stack([q, q]))
    np.testing.assert_array_equal(copied(models)[1].A, models.A[1])


def copied(result: Any) -> Any:
    return pickle.loads(pickle.dumps(result))

"""Linear models of a batch of states, one by one the same as single ones, and by other methods."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import sarrus as sr
from sarrus.results import LinearModels

Array = npt.NDArray[np.float64]
L = sr.library
MECHANISMS: dict[str, Callable[[], sr.Mechanism]] = {
    "pendulum": L.pendulum,
    "four-bar": L.four_bar,
    "redundant four-bar": lambda: L.four_bar(closure="revolute"),
    "arms": L.dual_arm,
    "box": L.dual_arm_box,
    "stewart": L.stewart,
    "disc": L.rolling_disk,
    "quadruped": L.quadruped,
}
each = pytest.mark.parametrize("name", MECHANISMS)


def states(mech: sr.Mechanism, count: int) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(11)
    steps = 0.05 * rng.normal(size=(count, mech.nv)) * mech.units.unit
    q = mech.assemble(mech.integrate(np.tile(mech.default.q, (count, 1)), steps)).q
    return (
        q,
        mech.consistent_velocity(q, rng.normal(size=(count, mech.nv))),
        rng.normal(size=(count, mech.nv)),
    )


@each
def test_a_batch_is_many_models(name: str) -> None:
    mech = MECHANISMS[name]()
    q, v, tau = states(mech, 4)
    batch = sr.linearize(mech, q, v, tau=tau)
    assert isinstance(batch, LinearModels)
    chosen = {
        "positions": [n.removeprefix("q.") for n in batch.names if n.startswith("q.")],
        "velocities": [n.removeprefix("v.") for n in batch.names if n.startswith("v.")],
    }
    for i in range(4):
        one = sr.linearize(mech, q[i], v[i], tau=tau[i], independent=chosen)
        for part in ("A", "B", "C", "D", "lift", "rate"):
            np.testing.assert_array_equal(getattr(batch, part)[i], getattr(one, part))
            np.testing.assert_array_equal(getattr(batch[i], part), getattr(one, part))
        np.testing.assert_array_equal(batch[i].reduce, one.reduce)
        np.testing.assert_array_equal(batch[i].point.a, one.point.a)
        np.testing.assert_allclose(batch.eigenvalues[i], one.eigenvalues, rtol=1e-12)
        assert batch.independence[i] == pytest.approx(one.independence)
        assert (batch[i].names, batch[i].independent) == (one.names, one.independent)


@each
def test_the_kernel_agrees_with_dual_numbers(name: str) -> None:
    """The other method goes through dual numbers and NumPy: nothing but the rows is in common."""
    mech = MECHANISMS[name]()
    q, v, tau = states(mech, 2)
    quick = sr.linearize(mech, q[0], v[0], tau=tau[0])
    dual = sr.linearize(mech, q[0], v[0], tau=tau[0], method="dual")
    assert quick.names == dual.names
    for part in ("A", "B", "lift", "rate", "reduce"):
        wanted = getattr(dual, part)
        size = float(np.max(np.abs(wanted), initial=1.0))
        np.testing.assert_allclose(getattr(quick, part) / size, wanted / size, atol=1e-10)
    assert quick.independence == pytest.approx(dual.independence)


@pytest.mark.parametrize(
    "options",
    [{"outputs": ["v.crank", "pin"]}, {"form": "full"}, {"method": "dual"}, {"method": "finite_difference"}],
)
def test_batches_of_other_forms_and_methods(options: dict[str, Any]) -> None:
    mech = L.four_bar()
    q, v, _ = states(mech, 3)
    batch = sr.linearize(mech, q, v, **options)
    fixed = {} if "form" in options else {"independent": list(batch.independent)}
    for i in range(3):
        one = sr.linearize(mech, q[i], v[i], **options, **fixed)
        assert batch.outputs == one.outputs
        if "form" not in options:
            np.testing.assert_allclose(batch.C[i], one.C, atol=1e-12)
            np.testing.assert_allclose(batch.A[i], one.A, rtol=1e-9, atol=1e-9)


def test_inputs_and_axes_of_a_batch() -> None:
    mech = L.four_bar()
    q, v, _ = states(mech, 6)
    u = np.linspace(-1.0, 1.0, 6 * mech.nu).reshape(6, mech.nu)
    batch = sr.linearize(mech, q.reshape(2, 3, -1), v.reshape(2, 3, -1), u.reshape(2, 3, -1))
    assert batch.A.shape[:2] == (2, 3)
    np.testing.assert_array_equal(batch[1, 2].A, sr.linearize(mech, q[5], v[5], u[5]).A)
    np.testing.assert_array_equal(batch[1, 2].point.u, u[5])
    with pytest.raises(sr.InputError, match="takes 2 numbers"):
        batch[0]


def test_states_that_miss_the_constraints_by_rounding_are_corrected() -> None:
    mech = L.four_bar()
    q, v, _ = states(mech, 2)
    off = q.copy()
    off[1] += 1e-9
    exact, batch = sr.linearize(mech, q, v), sr.linearize(mech, off, v)
    np.testing.assert_allclose(batch.A, exact.A, rtol=1e-6, atol=1e-6)
    assert np.max(np.abs(mech.terms(batch[1].point.q, v[1]).phi)) < 1e-13
    with pytest.raises(sr.InputError, match="off the constraints"):
        sr.linearize(mech, q + np.array([[0.0], [0.1]]), v)


def test_a_singular_state_of_a_batch_is_refused() -> None:
    mech = L.parallelogram()
    flat = mech.sweep("left", [0.7, np.pi]).q
    with pytest.raises(sr.SarrusError, match="singular"):
        sr.linearize(mech, flat)


def test_no_states_are_refused() -> None:
    with pytest.raises(sr.InputError, match="at least one"):
        sr.linearize(L.four_bar(), np.zeros((0, 3)))


def test_a_batch_in_general_coordinates() -> None:
    mech = L.four_bar()
    q, v, _ = states(mech, 3)
    batch = sr.linearize(mech, q, v, coordinates=[{"crank": 1.0, "coupler": 1.0}])
    one = sr.linearize(mech, q[1], v[1], coordinates=[{"crank": 1.0, "coupler": 1.0}], method="dual")
    assert batch.names == one.names == ("q.crank + coupler", "v.crank + coupler")
    np.testing.assert_allclose(batch.A[1], one.A, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(batch.B[1], one.B, rtol=1e-10, atol=1e-10)
    assert batch[1].independence == pytest.approx(one.independence)


def test_batches_of_custom_systems_are_refused() -> None:
    system = sr.CustomSystem(1, 1, M=[[1.0]], h=[0.0])
    with pytest.raises(sr.InputError, match="one state of a CustomSystem"):
        sr.linearize(system, np.zeros((2, 1)))

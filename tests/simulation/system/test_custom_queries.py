"""CustomSystem: decompose, inverse dynamics, equilibrium and linear models as of a Mechanism."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sarrus as sr


def copy_of(mech: sr.Mechanism) -> sr.CustomSystem:
    """The same equations as functions; coordinates without quaternions."""
    rows: dict[str, Any] = {}
    if mech.nc:
        rows = {
            "phi": lambda q, v, t: mech.terms(q, v).phi,
            "J": lambda q, v, t: mech.terms(q, v).J,
            "gamma": lambda q, v, t: mech.terms(q, v).gamma,
            "b": np.zeros(mech.nc),
            "nc": mech.nc,
            "scale": mech.units.row_unit,
        }
    return sr.CustomSystem(
        mech.nq,
        mech.nv,
        lambda q, v, t: mech.mass_matrix(q),
        lambda q, v, t: mech.bias(q, v),
        **rows,
        names=mech.names,
        actuated=mech.actuators or mech.names,
        unit=mech.units.unit,
    )


CASES = ["double_pendulum", "four_bar", "slider_crank", "three_rrr"]


@pytest.mark.parametrize("name", CASES)
def test_the_same_as_of_the_mechanism(name: str) -> None:
    mech = getattr(sr.library, name)()
    copy, q = copy_of(mech), mech.default.q
    rng = np.random.default_rng(2)
    v = mech.consistent_velocity(q, rng.normal(size=mech.nv))
    for metric in (None, "mass"):
        np.testing.assert_allclose(copy.decompose(q, metric).P, mech.decompose(q, metric).P, atol=1e-9)
    a = mech.forward_dynamics(q, v, rng.normal(size=mech.nv)).a
    for actuated in (None, mech.names):
        ours, theirs = (s.inverse_dynamics(q, v, a, actuated=actuated) for s in (copy, mech))
        if actuated is None and not mech.actuators:
            continue
        for part in ("tau", "constraint_force", "residual", "acceleration_residual"):
            size = 1.0 + np.max(np.abs(getattr(theirs, part)))
            np.testing.assert_allclose(getattr(ours, part), getattr(theirs, part), atol=1e-8 * size)
    for form in ("projection", "symmetric", "gamma"):
        np.testing.assert_allclose(
            copy.constraint_inertia(q, form).matrix, mech.constraint_inertia(q, form).matrix, atol=1e-9
        )
    assert copy.coupling(q).strength == pytest.approx(mech.coupling(q).strength, abs=1e-9)
    assert copy.mobility(q).dof == mech.mobility(q).dof


@pytest.mark.parametrize("name", ["double_pendulum", "four_bar"])
def test_linear_models_and_equilibria(name: str) -> None:
    mech = getattr(sr.library, name)()
    copy = copy_of(mech)
    rest, same = sr.equilibrium(mech), sr.equilibrium(copy, mech.default.q)
    np.testing.assert_allclose(same.q, rest.q, atol=1e-7)
    assert same.stable == rest.stable and same.message[:8] == rest.message[:8]
    v = mech.consistent_velocity(mech.default.q, np.linspace(-0.5, 0.5, mech.nv))
    model = sr.linearize(mech, mech.default.q, v)
    ours = sr.linearize(copy, mech.default.q, v, independent=model.independent, inputs=model.inputs)
    size = np.max(np.abs(model.A))
    np.testing.assert_allclose(ours.A, model.A, atol=1e-6 * size)  # differences against derivatives
    np.testing.assert_allclose(ours.B, model.B, atol=1e-6 * (1.0 + np.max(np.abs(model.B), initial=0.0)))
    assert ours.method == "finite_difference" and ours.names == model.names


def test_a_beam_has_the_frequency_of_euler_and_bernoulli() -> None:
    """Clamped and free: 3.516 sqrt(EI / (rho L^4)); the shapes s^2, s^3 give 3.533."""
    L, rho, EI = 1.5, 2.0, 30.0
    M = rho * L * np.array([[1 / 5, 1 / 6], [1 / 6, 1 / 7]])
    K = EI / L**3 * np.array([[4.0, 6.0], [6.0, 12.0]])
    beam = sr.CustomSystem(2, 2, M, lambda q, v, t: K @ q)
    rest = sr.equilibrium(beam, [0.1, -0.05])
    np.testing.assert_allclose(rest.q, 0.0, atol=1e-9)
    lowest = sr.linearize(beam, rest.q).natural_frequencies.min()
    assert lowest == pytest.approx(3.533 * np.sqrt(EI / (rho * L**4)), rel=1e-3)


def test_bodies_are_not_outputs() -> None:
    with pytest.raises(sr.SarrusError, match=r"unknown output 'pose\.q0'"):
        sr.linearize(sr.CustomSystem(1, 1, [[1.0]]), outputs=["pose.q0"])

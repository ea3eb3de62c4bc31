"""J and gamma of every constraint against differences of phi and J on the manifold, open or closed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.oracles import every_constraint as every
from tests.oracles.states import mechanism, relative

KINDS = [*every.CLOSING, *every.DECLARED]
STEP = 1e-3
TOL = 1e-9


def differences(function: Callable[[float], np.ndarray]) -> np.ndarray:
    """df/ds at zero, error of sixth order in the step."""
    near, middle, far = ((function(k * STEP) - function(-k * STEP)) / (2 * k * STEP) for k in (1, 2, 3))
    return (15 * near - 6 * middle + far) / 10


@pytest.mark.parametrize("closed", [True, False], ids=["closed", "open"])
@pytest.mark.parametrize("kind", KINDS)
def test_jacobian_is_the_derivative_of_phi(kind: str, closed: bool) -> None:
    for seed in range(3):
        d = every.constrained(kind, seed)
        mech = mechanism(d)
        rng = np.random.default_rng(seed)
        q = d.q if closed else mech.integrate(d.q, 0.15 * rng.normal(size=mech.nv))
        t = mech.terms(q, np.zeros(mech.nv), 0.4)
        if closed and kind not in ("drive", "custom"):
            assert np.max(np.abs(t.phi)) < 1e-12
        holonomic = mech.model.holonomic
        for k, e in enumerate(np.eye(mech.nv)):

            def phi(s: float, mech=mech, q=q, e=e) -> np.ndarray:
                return mech.terms(mech.integrate(q, s * e), 0 * e, 0.4).phi

            assert relative(t.J[holonomic, k], differences(phi)[holonomic]) < (
                1e-8 if kind == "custom" else TOL
            )


@pytest.mark.parametrize("closed", [True, False], ids=["closed", "open"])
@pytest.mark.parametrize("kind", KINDS)
def test_gamma_is_what_the_motion_leaves(kind: str, closed: bool) -> None:
    """d/dt (J v - b) = J a - gamma along q' = v: gamma = b' - (dJ/dt) v."""
    for seed in range(3):
        d = every.constrained(kind, seed)
        mech = mechanism(d)
        rng = np.random.default_rng(seed)
        q = d.q if closed else mech.integrate(d.q, 0.15 * rng.normal(size=mech.nv))
        v = rng.normal(size=mech.nv)

        def rate(s: float, mech=mech, q=q, v=v) -> np.ndarray:
            t = mech.terms(mech.integrate(q, s * v), v, 0.4 + s)
            return t.J @ v - t.b

        gamma = mech.terms(q, v, 0.4).gamma
        assert relative(gamma, -differences(rate)) < (1e-6 if kind == "custom" else TOL)


@pytest.mark.parametrize("kind", ["drive", "custom"])
def test_b_is_the_explicit_rate_of_phi(kind: str) -> None:
    """d phi/dt = J v - b: at rest phi changes with time by -b."""
    d = every.constrained(kind, 0)
    mech = mechanism(d)
    rest = np.zeros(mech.nv)
    slope = differences(lambda s: mech.terms(d.q, rest, 0.4 + s).phi)
    assert relative(mech.terms(d.q, rest, 0.4).b, -slope) < 1e-8


def test_rolling_rows_are_velocities_of_the_material_at_the_contact() -> None:
    """A disc on a plane: no slip means the material point at the contact stands still."""
    for seed in range(5):
        d = every.constrained("rolling", seed)
        mech = mechanism(d)
        t = mech.terms(d.q, np.zeros(mech.nv))
        disc = mech.model.element_parameters(0)
        point = disc["p_a"]
        X = mech.pose(d.q, "b6")
        J = mech.jacobian(d.q, "b6", point=X.rotation.T @ (point - X.xyz))[:3]
        normal = disc["normal"]
        assert relative(t.J[0], normal @ J) < 1e-12
        tangential = J - np.outer(normal, normal @ J)
        assert relative(t.J[1:].T @ t.J[1:], tangential.T @ tangential) < 1e-12
        assert list(mech.model.holonomic) == [True, False, False]
        assert np.max(np.abs(t.phi)) < 1e-12

"""The wheel loader in two sets of coordinates, as in [Spencer2004] section 4.5."""

from __future__ import annotations

import numpy as np
import pytest

import sarrus as sr

from .mechanisms import relative

ANGLES, CYLINDERS = ["boom", "bucket"], ["lift_rod", "tilt_rod"]


@pytest.fixture(scope="module")
def mech() -> sr.Mechanism:
    return sr.library.loader()


def both(mech: sr.Mechanism, **state: object) -> tuple[sr.LinearModel, sr.LinearModel]:
    angles, cylinders = (
        sr.linearize(mech, independent=names, outputs=[*CYLINDERS, "pose.bucket", "lam.bucket_pin"], **state)
        for names in (ANGLES, CYLINDERS)
    )
    return angles, cylinders


def transformation(one: sr.LinearModel, other: sr.LinearModel) -> np.ndarray:
    """S with x_other = S x_one, from what each makes of all coordinates."""
    return other.reduce @ one.lift


def test_transformation_at_an_equilibrium(mech: sr.Mechanism) -> None:
    angles, cylinders = both(mech, q=sr.equilibrium(mech).q)
    S = transformation(angles, cylinders)
    assert relative(cylinders.A, S @ angles.A @ np.linalg.inv(S)) < 1e-11
    assert relative(cylinders.B, S @ angles.B) < 1e-11
    assert relative(cylinders.C @ S, angles.C) < 1e-11
    assert relative(cylinders.D, angles.D) < 1e-11
    np.testing.assert_allclose(
        np.sort(abs(angles.eigenvalues)), np.sort(abs(cylinders.eigenvalues)), rtol=1e-9
    )


def test_transformation_in_motion(mech: sr.Mechanism) -> None:
    """Away from equilibria the coordinates themselves turn: A' = S A S^-1 + dS/dt S^-1."""
    rng = np.random.default_rng(3)
    q = np.array(mech.default.q)
    v = mech.consistent_velocity(q, 0.3 * rng.normal(size=mech.nv))
    u = np.array([2000.0, -1500.0])
    angles, cylinders = both(mech, q=q, v=v, u=u)
    S = transformation(angles, cylinders)
    h, rate = 1e-4, np.zeros_like(S)
    a = mech.forward_dynamics(q, v, u=u).a
    for s, weight in ((-2, 1 / 12), (-1, -8 / 12), (1, 8 / 12), (2, -1 / 12)):
        q_s = mech.assemble(mech.integrate(q, s * h * v + 0.5 * (s * h) ** 2 * a)).q
        v_s = mech.consistent_velocity(q_s, v + s * h * a)
        rate += weight / h * transformation(*both(mech, q=q_s, v=v_s, u=u))
    S_inv = np.linalg.inv(S)
    assert relative(S @ angles.A @ S_inv, cylinders.A) > 1e-3  # the naive transformation is wrong here
    assert relative(S @ angles.A @ S_inv + rate @ S_inv, cylinders.A) < 1e-6
    assert relative(cylinders.C @ S, angles.C) < 1e-11


def test_model_predicts_a_small_motion(mech: sr.Mechanism) -> None:
    rest = sr.equilibrium(mech)
    model = sr.linearize(mech, rest.q, independent=ANGLES)
    x0 = np.array([2e-4, -1e-4, 0.0, 3e-4])
    move = model.lift @ x0
    q0 = mech.assemble(mech.integrate(rest.q, move[: mech.nv])).q
    v0 = mech.consistent_velocity(q0, move[mech.nv :])
    end = sr.simulate(mech, (0.0, 1.0), q0, v0, store_every=1000)
    predicted = model.discretize(1.0).A @ model.state(q0, v0)
    assert np.max(np.abs(model.state(end.q[-1], end.v[-1]) - predicted)) < 1e-3 * np.max(np.abs(x0))


def test_outputs_are_measured_in_the_simulation(mech: sr.Mechanism) -> None:
    """C of poses and multipliers against finite differences of the mechanism itself."""
    q = np.array(mech.default.q)
    model = both(mech, q=q)[0]
    h = 1e-5
    for column in range(2):
        slopes = []
        for sign in (1, -1):
            move = sign * h * model.lift[: mech.nv, column]
            near = mech.assemble(mech.integrate(q, move)).q
            pose = mech.pose(near, "bucket")
            lam = mech.forward_dynamics(near, np.zeros(mech.nv)).lam
            rows = [mech.row_names.index(name.removeprefix("lam.")) for name in model.outputs[8:]]
            slopes.append(np.concatenate([near[[2, 4]], pose.xyz, lam[rows]]))
        slope = (slopes[0] - slopes[1]) / (2 * h)
        assert relative(model.C[[0, 1, 2, 3, 4, 8, 9], column], slope) < 1e-6

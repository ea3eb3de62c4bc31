"""Linear models along a motion: what they say about neighbours of it."""

from __future__ import annotations

import numpy as np
import pytest

import sarrus as sr

from .mechanisms import relative


@pytest.fixture(scope="module")
def run() -> sr.Trajectory:
    mech = sr.library.four_bar()
    return sr.simulate(mech, (0.0, 0.5), control=lambda t, q, v: [np.sin(5 * t)], dt=1e-3, store_every=10)


def test_same_models_one_by_one(run: sr.Trajectory) -> None:
    path = sr.linearize_trajectory(run, outputs=["rocker", "pin"])
    assert len(path) == len(run) and path.A.shape == (len(run), 2, 2)
    assert repr(path).startswith(f"LinearTrajectory({len(run)} states, t = 0 .. ") and len(repr(path)) < 100
    for i in (0, 20, 50):
        one = sr.linearize(
            run.system, run.q[i], run.v[i], run.u[i], independent=path.independent, outputs=["rocker", "pin"]
        )
        assert one.names == path.names and one.outputs == path.outputs
        for name in "ABCD":
            assert relative(getattr(path, name)[i], getattr(one, name)) < 1e-11


@pytest.mark.parametrize("name", ["four_bar", "rolling_disk", "dual_arm_box"])
def test_neighbours_of_a_motion(name: str) -> None:
    """x' = A(t) x integrated along the motion is the derivative of the flow; quaternions included."""
    mech = sr.library.MECHANISMS[name]()
    options = {"method": "rk4", "dt": 1e-3}
    run = sr.simulate(mech, (0.0, 0.2), **options)
    path = sr.linearize_trajectory(run)
    Phi = np.eye(path.A.shape[1])
    for i in range(0, len(path) - 2, 2):  # Runge-Kutta over pairs of steps
        h, (A0, A1, A2) = 2e-3, path.A[i : i + 3]
        k1 = A0 @ Phi
        k2 = A1 @ (Phi + h / 2 * k1)
        k3 = A1 @ (Phi + h / 2 * k2)
        k4 = A2 @ (Phi + h * k3)
        Phi = Phi + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    eps, nv, split = 1e-5, mech.nv, len(path.independent)
    for column in range(min(len(Phi), 4)):
        ends = []
        for sign in (1.0, -1.0):
            move = sign * eps * path.lift[0][:, column]
            q0 = mech.assemble(mech.integrate(run.q[0], move[:nv])).q
            v0 = mech.consistent_velocity(q0, run.v[0] + move[nv:])
            end = sr.simulate(mech, (0.0, 0.2), q0, v0, store_every=1000, **options)
            ends.append(np.concatenate([mech.difference(run.q[-1], end.q[-1]), end.v[-1]]))
        change = (ends[0] - ends[1]) / (2 * eps)
        full = path.lift[-1] @ Phi[:, column]
        assert relative(full, change) < 2e-5, (name, column, split)


def test_refusals(run: sr.Trajectory) -> None:
    with pytest.raises(sr.InputError, match="takes a Trajectory"):
        sr.linearize_trajectory(run.system)
    with pytest.raises(sr.UnknownNameError, match="'crank'"):
        sr.linearize_trajectory(run, independent=["krank"])
    through = sr.simulate(sr.library.five_bar(), (0.0, 0.01))
    with pytest.raises(sr.InputError, match="singular pose at t = 0 s"):
        sr.linearize_trajectory(through)


def test_a_choice_that_fails_on_the_way() -> None:
    crank = sr.library.slider_crank()
    run = sr.simulate(crank, (0.0, 2.0), store_every=20)
    path = sr.linearize_trajectory(run)
    assert np.min(path.independence) > 0.1

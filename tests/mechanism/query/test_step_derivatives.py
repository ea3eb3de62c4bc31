"""step_derivatives beside differences of `step`, along the constraints and across them."""

from __future__ import annotations

import numpy as np
import pytest

import sarrus as sr

E = 1e-3  # of the differences below: their error is of order E^4 f^(5) / 30, rounding 1e-15 / E
MACHINES = [
    "pendulum",
    "slider_crank",
    "four_bar",
    "dual_arm",
    "bricard",
    "rolling_disk",
    "dual_arm_box",
    "three_rrr",
]


def moving(name: str) -> tuple[sr.Mechanism, np.ndarray, np.ndarray, np.ndarray]:
    """A library mechanism 0.1 s after its default state, with inputs."""
    mech = getattr(sr.library, name)()
    run = sr.simulate(mech, (0.0, 0.1), dt=1e-3, method="rk4")
    return mech, run.q[-1], run.v[-1], np.linspace(-1.0, 1.0, mech.nu)


def central(f, E: float = E) -> np.ndarray:
    """Derivative at 0 of a function of one number, of order 4."""
    return (8.0 * (f(E) - f(-E)) - (f(2.0 * E) - f(-2.0 * E))) / (12.0 * E)


def tangents(mech: sr.Mechanism, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Directions [dq; dv] (2 nv, k) along phi = 0, J v = b, by singular values and differences of J."""
    nv = mech.nv

    def kernel(J: np.ndarray) -> np.ndarray:
        _, s, V = np.linalg.svd(np.vstack([J, np.zeros((1, nv))]))
        return V[int(np.sum(s > 1e-9)) :].T

    J = mech.terms(q, v).J
    found = [np.concatenate([np.zeros(nv), x]) for x in kernel(J).T]
    for dq in kernel(J[mech.model.holonomic.astype(bool)]).T:
        Jv_q = central(lambda e, dq=dq: mech.terms(mech.integrate(q, e * dq), v).J @ v)
        found.append(np.concatenate([dq, -np.linalg.pinv(J, rcond=1e-9) @ Jv_q]))
    return np.array(found).T


def difference_of_steps(
    mech: sr.Mechanism, state: tuple[np.ndarray, ...], dx: np.ndarray, **options
) -> np.ndarray:
    """Derivative of a step along dx (2 nv + nu)."""
    q, v, u = state
    nv = mech.nv
    base = mech.step(q, v, u, **options)

    def after(e: float) -> np.ndarray:
        x = e * dx
        end = mech.step(mech.integrate(q, x[:nv]), v + x[nv : 2 * nv], u + x[2 * nv :], **options)
        return np.concatenate([mech.difference(base.q, end.q), end.v])

    return central(after)


@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize("method", ["rk4", "semi_implicit_euler", "verlet"])
def test_along_the_constraints(name: str, method: str) -> None:
    """Quaternions (dual_arm_box), redundant rows (four_bar, bricard) and rolling rows included."""
    if method == "verlet" and name != "dual_arm":
        pytest.skip("the iteration of its kicks ends at 1e-13 of the speed, which differences amplify")
    mech, q, v, u = moving(name)
    options = {"dt": 2e-3, "method": method}
    found = mech.step_derivatives(q, v, u, **options)
    T = tangents(mech, q, v)
    scale = 1.0 + np.abs(found.A).max()
    for x in T.T[:: max(1, len(T.T) // 8)]:
        numeric = difference_of_steps(mech, (q, v, u), np.concatenate([x, np.zeros(mech.nu)]), **options)
        assert np.abs(found.A @ x - numeric).max() <= 1e-9 * scale
    for k in range(0, mech.nu, 3):
        numeric = difference_of_steps(
            mech, (q, v, u), np.eye(2 * mech.nv + mech.nu)[2 * mech.nv + k], **options
        )
        assert np.abs(found.B[:, k] - numeric).max() <= 1e-9
    end = mech.step(q, v, u, **options)
    assert np.abs(found.q - end.q).max() <= 1e-13 and np.abs(found.v - end.v).max() <= 1e-12 * scale
    assert np.abs(_across(mech, end.q, end.v, found.A)).max(initial=0.0) <= 1e-9 * scale
    assert np.abs(_across(mech, end.q, end.v, found.B)).max(initial=0.0) <= 1e-9


def _across(mech: sr.Mechanism, q: np.ndarray, v: np.ndarray, dx: np.ndarray) -> np.ndarray:
    """What directions dx (2 nv, k) do to phi and J v - b; zero for tangents."""
    J = mech.terms(q, v).J
    dq, dv = dx[: mech.nv], dx[mech.nv :]
    Jv_q = np.array(
        [central(lambda e, d=d: mech.terms(mech.integrate(q, e * d), v).J @ v) for d in np.eye(mech.nv)]
    ).T
    held = mech.model.holonomic.astype(bool)
    return np.vstack([J[held] @ dq, J @ dv + Jv_q @ dq])


@pytest.mark.parametrize("name", ["dual_arm", "rolling_disk", "four_bar"])
def test_across_the_constraints_they_are_those_of_project(name: str) -> None:
    """project finds its pose to 1e-12, which differences of 1e-3 amplify to 1e-9."""
    mech, q, v, u = moving(name)
    found = mech.step_derivatives(q, v, u)
    base = mech.step(q, v, u)
    for k in range(0, 2 * mech.nv, 2):
        dx = np.eye(2 * mech.nv)[k]

        def after(e: float, dx: np.ndarray = dx) -> np.ndarray:
            state = mech.project(mech.integrate(q, e * dx[: mech.nv]), v + e * dx[mech.nv :])
            end = mech.step(state.q, state.v, u)
            return np.concatenate([mech.difference(base.q, end.q), end.v])

        assert np.abs(found.A[:, k] - central(after)).max() <= 1e-7 * (1.0 + np.abs(found.A).max())


def test_substeps_chain() -> None:
    mech, q, v, u = moving("dual_arm")
    whole = mech.step_derivatives(q, v, u, dt=2e-3, substeps=2)
    first = mech.step_derivatives(q, v, u, dt=1e-3)
    second = mech.step_derivatives(first.q, first.v, u, dt=1e-3)
    assert pytest.approx(second.A @ first.A, abs=1e-10) == whole.A
    assert pytest.approx(second.A @ first.B + second.B, abs=1e-10) == whole.B


def test_short_steps_are_the_continuous_model() -> None:
    """(A - P) / dt tends to [0 1; da/dq da/dv] along tangents, with the error of order dt."""
    mech, q, v, u = moving("dual_arm")
    dt = 1e-6
    found = mech.step_derivatives(q, v, u, dt=dt)
    slopes = mech.derivatives(q, v, u=u)
    T = tangents(mech, q, v)
    rate = (found.A @ T - T) / dt
    assert rate[: mech.nv] == pytest.approx(T[mech.nv :], abs=1e-4)
    a = slopes.a_q @ T[: mech.nv] + slopes.a_v @ T[mech.nv :]
    assert rate[mech.nv :] == pytest.approx(a, abs=1e-4 * np.abs(a).max())


def test_batches_have_the_numbers_of_single_states() -> None:
    mech, q, v, u = moving("four_bar")
    many = mech.step_derivatives(np.tile(q, (2, 20, 1)), v, u)
    one = mech.step_derivatives(q, v, u)
    assert many.A.shape == (2, 20, 6, 6) and np.array_equal(many.A[1, 7], one.A)
    assert np.array_equal(many.B[0, 19], one.B) and many.status.tolist() == [[0] * 20] * 2


def test_drives_move_the_step() -> None:
    spec = sr.MechanismSpec(gravity=(0, -9.81, 0))
    spec.body("crank", parent="ground", joint=sr.Revolute("z"), mass=1.0, inertia=(0.1,) * 3)
    spec.body("arm", parent="crank", joint=sr.Revolute("z"), at=sr.Pose((1, 0, 0)), mass=1.0, com=(0.5, 0, 0),
              inertia=(0.1,) * 3)  # fmt: skip
    spec.constrain("motor", sr.Drive("crank", lambda t: np.sin(3.0 * t)))
    mech = spec.compile()
    state = mech.project([np.sin(0.6), 0.3], [3.0 * np.cos(0.6), 1.0], t=0.2)
    found = mech.step_derivatives(state.q, state.v, dt=1e-2, t=0.2)
    dx = np.array([0.0, 1.0, 0.0, 0.5, 0.0, 0.0])
    numeric = difference_of_steps(mech, (state.q, state.v, np.zeros(2)), dx, dt=1e-2, t=0.2)
    assert found.A @ dx[:4] == pytest.approx(numeric, abs=1e-9)


def test_a_singular_pose_within_the_step_is_refused() -> None:
    mech = sr.library.slider_crank(gravity=0.0)
    angle = np.pi / 2 - 1e-3
    q, v = np.array([angle, 2 * np.pi - 2 * angle]), np.array([2.0, -4.0])
    with pytest.raises(sr.SingularConstraintError, match="J loses rank within the step"):
        mech.step_derivatives(q, v)
    far = np.array([0.5, 2 * np.pi - 1.0])
    many = mech.step_derivatives(np.array([q, far]), v)
    assert many.status[0] != 0 and many.status[1] == 0
    assert np.isnan(many.A[0]).all() and np.isfinite(many.A[1]).all()


def test_bad_input() -> None:
    mech, q, v, u = moving("four_bar")
    with pytest.raises(sr.InputError, match="`method` of step derivatives must be one of"):
        mech.step_derivatives(q, v, u, method="radau")
    with pytest.raises(sr.InputError, match="`dt` must be positive"):
        mech.step_derivatives(q, v, u, dt=0.0)
    with pytest.raises(sr.InputError, match="u must have shape"):
        mech.step_derivatives(q, v, np.zeros(9))
    spec = sr.MechanismSpec()
    for name in ("a", "b"):
        spec.body(name, parent="ground", joint=sr.Revolute("z"), mass=1.0, inertia=(0.1,) * 3)
    spec.constrain("equal", sr.CustomConstraint(lambda q, t: [q[0] - q[1]], 1))
    with pytest.raises(sr.InputError, match="cannot differentiate the Python functions of 'equal'"):
        spec.compile().step_derivatives([0.0, 0.0], [0.0, 0.0])

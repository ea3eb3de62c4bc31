"""step_vjp beside dual numbers (`step_derivatives`), and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

import sarrus as sr
from sarrus.mechanism.query.position_rates import increments_of_positions, rates_of_positions

MACHINES = [
    "pendulum",
    "slider_crank",
    "four_bar",
    "dual_arm",
    "bricard",
    "dual_arm_box",
    "stewart",
    "quadruped",
]


def moving(name: str) -> tuple[sr.Mechanism, np.ndarray, np.ndarray, np.ndarray]:
    """A library mechanism 0.1 s after its default state, with inputs."""
    mech = getattr(sr.library, name)()
    run = sr.simulate(mech, (0.0, 0.1), dt=1e-3, method="rk4")
    return mech, run.q[-1], run.v[-1], np.linspace(-1.0, 1.0, mech.nu)


def cotangent(mech: sr.Mechanism, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.standard_normal(mech.nq), rng.standard_normal(mech.nv)


def by_columns(mech: sr.Mechanism, state: tuple[np.ndarray, ...], end, **options) -> np.ndarray:
    """The same gradients [by q, by v, by u] from A and B of dual numbers."""
    found = mech.step_derivatives(*state, **options)
    out = np.concatenate([rates_of_positions(mech.model, found.q).T @ end[0], end[1]])
    along = found.A.T @ out
    by_q = increments_of_positions(mech.model, state[0]).T @ along[: mech.nv]
    return np.concatenate([by_q, along[mech.nv :], found.B.T @ out])


@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize("options", [{"dt": 1e-3}, {"dt": 4e-3}, {"dt": 2e-3, "method": "dopri5"}])
def test_gradients_are_those_of_dual_numbers(name: str, options: dict) -> None:
    """Swept steps, with redundant rows (bricard, four_bar) and quaternions, and steps by columns."""
    mech, q, v, u = moving(name)
    end = cotangent(mech)
    found = np.concatenate(mech.step_vjp(q, v, u, cotangent=end, **options))
    expected = by_columns(mech, (q, v, u), end, **options)
    assert np.abs(found - expected).max() <= 1e-9 * (1.0 + np.abs(expected).max())


@pytest.mark.parametrize("name", ["four_bar", "dual_arm", "bricard", "dual_arm_box", "stewart", "quadruped"])
def test_usual_steps_are_swept(name: str) -> None:
    """Compiled code finds them itself, and columns are not asked for."""
    mech, q, v, _ = moving(name)
    found = mech._queries.step_gradient(
        (q[None], v[None], np.zeros((1, mech.nu)), None),
        (mech._actuated, mech._applied),
        (0.0, 1e-3, 1),
        sr.mechanism.query.time_steps.step_options("rk4", 1e-3),
        tuple(x[None] for x in cotangent(mech)),
    )
    assert found[3].all()


@pytest.mark.parametrize("speed", [5.0, 30.0])
def test_fast_redundant_loops(speed: float) -> None:
    """Far off the constraints in their stages, where rows that depend on each other contradict."""
    mech = sr.library.bricard()
    q, v = mech.project(mech.default.q, speed * np.ones(mech.nv))
    end = cotangent(mech, 3)
    for dt in (1e-3, 3e-3):
        found = np.concatenate(mech.step_vjp(q, v, cotangent=end, dt=dt))
        expected = by_columns(mech, (q, v, np.zeros(mech.nu)), end, dt=dt)
        assert np.abs(found - expected).max() <= 1e-9 * (1.0 + np.abs(expected).max())


def test_forces_and_springs_of_all_kinds() -> None:
    """Springs, dampers and a gear on a floating chain."""
    spec = sr.MechanismSpec(name="chain")
    spec.body("base", joint=sr.Free(), mass=2.0, inertia=(0.1, 0.2, 0.3))
    spec.body("a", "base", joint=sr.Spherical(), at=sr.Pose((0.3, 0, 0)), mass=1.0, com=(0.2, 0, 0),
              inertia=(0.02,) * 3, damping=0.1)  # fmt: skip
    spec.body("b", "a", joint=sr.Revolute("y"), at=sr.Pose((0.4, 0, 0)), mass=1.0, com=(0.2, 0, 0.1),
              inertia=(0.02,) * 3, damping=0.2)  # fmt: skip
    spec.body("c", "b", joint=sr.Revolute("z"), at=sr.Pose((0.4, 0, 0)), mass=0.5, inertia=(0.02,) * 3)
    spec.force(
        "spring", sr.PointSpring("base", (0, 0.3, 0), "b", (0.3, 0, 0), stiffness=80.0, rest=0.2, damping=1.0)
    )
    spec.force("wind", sr.ConstantWrench("a", (1.0, 2.0, 3.0, 0.1, 0.2, 0.3), (0.1, 0, 0), frame="body"))
    spec.constrain("gear", sr.Coupling({"b": 1.0, "c": -2.0}))
    mech = spec.compile()
    rng = np.random.default_rng(1)
    q, v = mech.project(
        mech.integrate(mech.neutral(), 0.4 * rng.standard_normal(mech.nv)), rng.standard_normal(mech.nv)
    )
    end, u = cotangent(mech), np.zeros(mech.nu)
    found = np.concatenate(mech.step_vjp(q, v, u, 5e-3, cotangent=end))
    expected = by_columns(mech, (q, v, u), end, dt=5e-3)
    assert np.abs(found - expected).max() <= 1e-10 * np.abs(expected).max()


def test_batches_substeps_and_forces() -> None:
    mech, q, v, u = moving("three_rrr")
    end, tau = cotangent(mech), np.linspace(-1, 1, mech.nv)
    one = mech.step_vjp(q, v, u, 2e-3, cotangent=end, tau=tau)
    many = mech.step_vjp(np.tile(q, (2, 20, 1)), v, u, 2e-3, cotangent=end, tau=tau)
    for x, y in zip(one, many, strict=True):
        assert y.shape == (2, 20, *x.shape) and y[1, 7] == pytest.approx(x, rel=1e-12, abs=1e-14)
    halves = np.concatenate(mech.step_vjp(q, v, u, 2e-3, cotangent=end, tau=tau, substeps=2))
    expected = by_columns(mech, (q, v, u), end, dt=2e-3, tau=tau, substeps=2)
    assert np.abs(halves - expected).max() <= 1e-10 * (1.0 + np.abs(expected).max())


def test_across_and_along_quaternions() -> None:
    """Lengths of quaternions do not count: gradients are orthogonal to them, and fall with the length."""
    mech, q, v, u = moving("dual_arm_box")
    end = cotangent(mech)
    by_q = mech.step_vjp(q, v, u, cotangent=end)[0]
    (first,) = mech.model.quaternions
    part = slice(first, first + 4)
    assert abs(by_q[part] @ q[part]) <= 1e-12 * np.abs(by_q).max()
    longer = q.copy()
    longer[part] *= 2.0
    assert mech.step_vjp(longer, v, u, cotangent=end)[0][part] == pytest.approx(by_q[part] / 2.0, rel=1e-9)


def test_rates_and_increments_are_inverse() -> None:
    mech = sr.library.dual_arm_box()
    q = mech.default.q
    E, D = rates_of_positions(mech.model, q), increments_of_positions(mech.model, q)
    assert pytest.approx(np.eye(mech.nv), abs=1e-14) == D @ E
    dv = 1e-6 * np.arange(1.0, mech.nv + 1)
    assert mech.integrate(q, dv) - mech.integrate(q, -dv) == pytest.approx(2.0 * E @ dv, abs=1e-13)


def test_by_parameters() -> None:
    """A pendulum: the step depends on its length through g / l."""
    spec = sr.MechanismSpec()
    length = spec.parameter("length", 0.7)
    spec.body("arm", joint=sr.Revolute("y"), mass=1.0, com=(0, 0, -length), inertia=(0.0, 0.0, 0.0))
    mech = spec.compile()
    h = 1e-2
    *_, found = mech.step_vjp([0.5], [0.2], dt=h, cotangent=([1.0], [2.0]), parameters=["length"])
    values = [mech.with_(length=0.7 + e).step([0.5], [0.2], dt=h) for e in (1e-4, -1e-4)]
    slope = ((values[0].q - values[1].q) + 2.0 * (values[0].v - values[1].v)) / 2e-4
    assert found["length"] == pytest.approx(slope[0], rel=1e-6)
    with pytest.raises(sr.UnknownNameError, match="unknown parameter 'lenght'"):
        mech.step_vjp([0.5], [0.2], cotangent=([1.0], [2.0]), parameters=["lenght"])


def test_refused_with_the_way_out() -> None:
    mech, q, v, u = moving("four_bar")
    end = cotangent(mech)
    with pytest.raises(sr.InputError, match="cotangent must be a pair"):
        mech.step_vjp(q, v, u, cotangent=np.zeros(3))
    with pytest.raises(sr.InputError, match=r"cotangent\[0\] must have shape"):
        mech.step_vjp(q, v, u, cotangent=(np.zeros(9), end[1]))
    with pytest.raises(sr.InputError, match="`method` of step derivatives must be one of"):
        mech.step_vjp(q, v, u, cotangent=end, method="radau")
    with pytest.raises(sr.InputError, match="`method` of step derivatives must be one of"):
        mech.step_vjp(q, v, u, cotangent=end, method=3)
    with pytest.raises(sr.InputError, match="must have shape"):
        mech.step_vjp(q, v, np.zeros(7), cotangent=end)
    with pytest.raises(sr.InputError, match="finite"):
        mech.step_vjp(q, v * np.nan, u, cotangent=end)


def test_singular_poses_within_a_step() -> None:
    mech = sr.library.slider_crank(gravity=0.0)
    angle = np.pi / 2 - 1e-3
    q, v, end = np.array([angle, 2 * np.pi - 2 * angle]), np.array([2.0, -4.0]), (np.ones(2), np.ones(2))
    with pytest.raises(sr.SingularConstraintError, match="J loses rank within the step"):
        mech.step_vjp(q, v, cotangent=end)
    far = np.array([0.5, 2 * np.pi - 1.0])
    by_q, by_v, _ = mech.step_vjp(np.array([q, far]), v, cotangent=end)
    assert np.isnan(by_q[0]).all() and np.isfinite(by_q[1]).all() and np.isfinite(by_v[1]).all()


def test_contacts() -> None:
    """Sticking is differentiated; a change of the mode within the step is refused."""
    spec = sr.MechanismSpec()
    spec.body("ball", joint=sr.Prismatic("z"), mass=1.0)
    spec.surface("skin", "ball", sr.Sphere(0.1), friction=0.5, restitution=0.0)
    spec.surface("floor", "ground", sr.HalfSpace(normal="z"), friction=0.5, restitution=0.0)
    spec.contact("skin", "floor")
    mech = spec.compile()
    end = [1.0], [1.0]
    falls = mech.step_vjp([0.5], [0.0], dt=1e-2, cotangent=end)
    assert falls[0] == pytest.approx([1.0]) and falls[1] == pytest.approx([1.01])
    with pytest.raises(sr.InputError, match=r"step_vjp: .*no derivatives there.*ignore"):
        mech.step_vjp([0.11], [-2.0], dt=1e-2, cotangent=end)
    through = mech.step_vjp([0.11], [-2.0], dt=1e-2, cotangent=end, contacts="ignore")
    assert through[0] == pytest.approx([1.0])

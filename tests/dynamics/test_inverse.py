"""Inverse dynamics of closed chains: closed forms, and what forward dynamics does with the answer."""

from __future__ import annotations

import math

import numpy as np
import pytest

import sarrus as sr


def test_holding_torque_of_the_parallelogram() -> None:
    """Case U2: 67.53 N m at the one motor, exactly nothing at the passive joints."""
    mech = sr.library.parallelogram()
    torques = mech.inverse_dynamics(mech.default.q, np.zeros(3), np.zeros(3))
    assert torques.u == pytest.approx([(2 * 5 * 0.3 + 10 * 0.6) * 9.81 * math.cos(0.7)], rel=1e-12)
    assert torques.tau[0] == torques.u[0]
    assert torques.tau[1:].tolist() == [0.0, 0.0]
    assert torques.controllable
    assert torques.residual < 1e-10


@pytest.mark.parametrize("name", ["four_bar", "sarrus", "bricard", "stewart", "dual_arm", "delta"])
def test_forward_dynamics_of_the_answer_is_the_question(name: str) -> None:
    mech = getattr(sr.library, name)()
    rng = np.random.default_rng(7)
    q = mech.default.q
    v = mech.consistent_velocity(q, rng.normal(size=mech.nv))
    a = mech.forward_dynamics(q, v, rng.normal(size=mech.nv)).a
    torques = mech.inverse_dynamics(q, v, a)
    assert torques.controllable, torques.message
    assert torques.message.startswith("Controllable")
    np.testing.assert_allclose(mech.acceleration(q, v, torques.tau), a, atol=1e-8 * np.abs(a).max())
    np.testing.assert_allclose(mech.terms(q, v).J.T @ torques.lam, torques.constraint_force, atol=1e-8)
    assert torques.acceleration_residual < 1e-9 * (1 + np.abs(a).max())


def test_one_active_joint_needs_root_five_times_the_torque_of_two() -> None:
    """[Aghili2005] eq. (73)-(75), corrected: f1 = 5 f_parallel_1 with one active joint, everywhere."""
    mech = sr.library.slider_crank()
    q = np.array([0.6, 2 * math.pi - 1.2])
    for speed, acceleration in ((0.0, 0.0), (1.0, 0.5)):
        v, a = speed * np.array([1.0, -2.0]), acceleration * np.array([1.0, -2.0])
        both, one = (mech.inverse_dynamics(q, v, a, actuated=names) for names in (None, ["crank"]))
        assert np.linalg.norm(one.tau) == pytest.approx(math.sqrt(5) * np.linalg.norm(both.tau), rel=1e-9)
        assert one.tau[1] == 0.0
        assert both.tau[1] == pytest.approx(-2 * both.tau[0])


def test_the_norm_is_the_least_in_the_metric() -> None:
    mech = sr.library.dual_arm()
    rng = np.random.default_rng(8)
    q, v = mech.default.q, np.zeros(mech.nv)
    a = mech.forward_dynamics(q, v, rng.normal(size=mech.nv)).a
    d = mech.decompose(q)
    W = np.diag(rng.uniform(0.5, 4.0, mech.nv))
    for metric, inverse in (
        (None, np.eye(mech.nv)),
        (W, np.linalg.inv(W)),
        ("mass", np.linalg.inv(mech.mass_matrix(q))),
    ):
        tau = mech.inverse_dynamics(q, v, a, metric=metric).tau
        # any other solution differs by a normal force: orthogonal to tau in the metric of forces
        np.testing.assert_allclose(mech.terms(q, v).J @ inverse @ tau, 0.0, atol=1e-9)
        assert d.dof == 8


def test_what_no_actuator_feels_is_named() -> None:
    mech = sr.library.double_pendulum()
    torques = mech.inverse_dynamics([0.1, 0.2], [0.0, 0.0], [1.0, 0.0], actuated=["upper"])
    assert not torques.controllable
    assert torques.uncontrollable == (("lower",),)
    assert torques.residual > 0.1
    assert "Not controllable: no actuator feels 1 motion of lower" in torques.message
    assert "that nothing provides" in torques.message
    assert torques.tau[1] == 0.0
    still = mech.inverse_dynamics([-math.pi / 2, 0.0], [0.0, 0.0], [0.0, 0.0], actuated=["upper"])
    assert "happens to need no force" in still.message


def test_at_the_singular_pose_one_actuator_is_not_enough() -> None:
    """[Aghili2005] VIII-B.2: with one active joint the slider-crank is not controllable at its toggle."""
    mech = sr.library.slider_crank()
    q = [math.pi / 2, math.pi]
    assert not mech.inverse_dynamics(q, [0.0, 0.0], [0.0, 0.0], actuated=["crank"]).controllable
    assert mech.inverse_dynamics(q, [0.0, 0.0], [0.0, 0.0]).controllable


def test_no_actuator_at_all() -> None:
    spec = sr.MechanismSpec()
    spec.body("box", joint=sr.Free(), mass=1.0, inertia=(0.1, 0.1, 0.1))
    torques = spec.compile().inverse_dynamics([0, 0, 0, 0, 0, 0, 1.0], np.zeros(6), np.zeros(6))
    assert torques.u.shape == (0,)
    assert not torques.controllable
    assert torques.residual == pytest.approx(9.81)
    assert len(torques.uncontrollable) == 6


def test_impossible_accelerations_are_said() -> None:
    mech = sr.library.four_bar()
    torques = mech.inverse_dynamics(mech.default.q, np.zeros(3), [1.0, 1.0, 1.0])
    assert torques.acceleration_residual > 0.1
    assert "do not allow the wanted acceleration" in torques.message


def test_inputs_are_checked() -> None:
    mech = sr.library.four_bar()
    q, v = mech.default.q, np.zeros(3)
    with pytest.raises(sr.UnknownNameError, match="actuated: unknown coordinate 'motor'"):
        mech.inverse_dynamics(q, v, v, actuated=["motor"])
    with pytest.raises(sr.InputError, match=r"a must have shape \(3,\) or \(..., 3\) .*, got \(2, 4\)"):
        mech.inverse_dynamics(q, v, np.zeros((2, 4)))
    with pytest.raises(sr.InputError, match="batch axes must broadcast"):
        mech.inverse_dynamics(np.stack([q] * 3), v, np.zeros((2, 3)))
    with pytest.raises(sr.InputError, match="must be positive definite"):
        mech.inverse_dynamics(q, v, v, metric=-np.eye(3))


def test_decoupled_mechanisms() -> None:
    """[Aghili2005] proposition 3 on a particle (2-D of 3) and on a linkage that is not decoupled."""
    spec = sr.MechanismSpec()
    spec.body("x", joint=sr.Prismatic("x"))
    spec.body("bead", parent="x", joint=sr.Prismatic("y"), mass=2.0)
    spec.constrain("wire", sr.PointOnLine("ground", (0, 0, 0), "bead", (0, 0, 0), (1.0, 1.0, 0.0)))
    assert spec.compile().is_decoupled([0.0, 0.0])
    four_bar = sr.library.four_bar()
    assert not four_bar.is_decoupled(four_bar.default.q)
    assert sr.library.double_pendulum().is_decoupled([0.3, 0.4])


def test_a_torque_curve_along_a_sweep_is_one_call() -> None:
    mech = sr.library.four_bar()
    path = mech.sweep(mech.names[0], np.linspace(0.3, 1.2, 6))
    rest = np.zeros(mech.nv)
    curve = mech.inverse_dynamics(path.q, rest, rest)
    assert curve.u.shape == (6, mech.nu) and curve.tau.shape == (6, mech.nv)
    assert curve.residual.shape == curve.controllable.shape == (6,) and curve.controllable.all()
    assert curve.lam.shape == (6, mech.nc) and "6 states, 6 of them controllable" in curve.message
    for metric in (None, "mass", np.diag(np.arange(1.0, 1.0 + mech.nv))):
        many = mech.inverse_dynamics(path.q.reshape(2, 3, -1), rest, rest, metric=metric)
        for i, q in enumerate(path.q):
            one = mech.inverse_dynamics(q, rest, rest, metric=metric)
            np.testing.assert_array_equal(many.tau[divmod(i, 3)], one.tau)
            np.testing.assert_array_equal(many.constraint_force[divmod(i, 3)], one.constraint_force)
    assert mech.inverse_dynamics(path.q[:0], rest, rest).u.shape == (0, mech.nu)


def test_limits_of_actuators_are_compared_not_obeyed() -> None:
    def arm(limits: tuple[float | None, float | None] | None) -> sr.Mechanism:
        spec = sr.MechanismSpec()
        spec.body("arm", joint=sr.Revolute("y"), mass=2.0, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1))
        return spec.actuate("arm", limits=limits).compile()

    needed = -2.0 * 9.81 * 0.5
    free, enough, weak = (
        arm(limits).inverse_dynamics([0.0], [0.0], [0.0]) for limits in (None, (-10.0, 1.0), (-5.0, None))
    )
    assert free.u == enough.u == weak.u == pytest.approx([needed])
    assert free.exceeded == enough.exceeded == () and weak.exceeded == ("arm",)
    assert "limits" not in enough.message
    assert (
        "Beyond the limits of actuators (nothing is clipped): arm needs -9.81, limits -5 to inf"
        in weak.message
    )
    curve = arm((-5.0, 5.0)).inverse_dynamics([[0.0], [np.pi / 2], [3.0]], [0.0], [0.0])
    assert curve.exceeded == ("arm",)
    other = arm((-5.0, 5.0)).inverse_dynamics([0.0], [0.0], [0.0], actuated=["arm"])
    assert other.exceeded == ("arm",)

"""Projected inverse dynamics: exact error dynamics on many mechanisms, passive joints, numbers of outputs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sarrus as sr
from sarrus.models.base.rotation import exp

C = sr.control

# mechanism, outputs that use up its freedoms
CASES: dict[str, tuple[str, dict[str, Any], Any]] = {
    "slider-crank": ("slider_crank", {}, "crank"),
    "four-bar with redundant rows": ("four_bar", {}, "crank"),
    "Stewart platform": ("stewart", {}, C.BodyPose("platform")),
    "delta": ("delta", {}, C.Position("platform")),
    "3-RRR": ("three_rrr", {}, ["platform.x", "platform.y", "platform.angle"]),
    "loader": ("loader", {}, ["boom", "bucket"]),
    "two arms and a box": ("dual_arm_box", {}, C.BodyPose("box", (0.05, 0.0, 0.1))),
    "pantograph leg": ("pantograph_leg", {}, C.Position("shank", (0.22, 0.0, 0.0), "xy")),
    "sum of angles": (
        "three_r_on_slider",
        {},
        [C.Coordinates({"link1": 1, "link2": 1, "link3": 1}), "link1"],
    ),
}


def moving(mech: sr.Mechanism, seed: int = 0, speed: float = 0.7) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    q = np.array(mech.default.q)
    return q, mech.consistent_velocity(q, speed * rng.normal(size=mech.nv))


def reference_for(outputs: Any) -> Any:
    """References that move, somewhere near, for any outputs."""
    if isinstance(outputs, C.BodyPose):
        X = sr.Pose((0.4, 0.1, 0.5), rpy=(0.3, -0.2, 0.6))
        V, A = np.array([0.1, -0.2, 0.3, 0.4, -0.5, 0.6]), np.array([0.3, 0.2, -0.1, 0.1, 0.2, -0.3])
        return lambda t: (X, V, A)
    if isinstance(outputs, list) and not all(isinstance(x, str) for x in outputs):
        return [C.Sinusoid(0.2, 0.3, 2.0) for _ in outputs]
    size = {"xy": 2, "xyz": 3}[outputs.axes] if isinstance(outputs, C.Position) else np.size(outputs)
    return C.Sinusoid(np.full(size, 0.2), 0.3, 2.0)


@pytest.mark.parametrize("case", CASES)
def test_the_error_obeys_its_equation_exactly(case: str) -> None:
    """e'' by differences of the output along the motion that the inputs cause, against -kd e' - kp e."""
    name, parameters, outputs = CASES[case]
    mech = getattr(sr.library, name)(**parameters)
    law = C.ProjectedInverseDynamics(mech, outputs, reference_for(outputs), kp=30.0, kd=7.0)
    q, v = moving(mech)
    now = law.solve(0.4, q, v)
    assert now.status == C.Status.OK and now.message == ""
    a = mech.forward_dynamics(q, v, u=now.u).a
    np.testing.assert_allclose(now.a, a, atol=1e-9 * (1.0 + np.abs(a).max()))
    h = 1e-3

    def error(s: float) -> np.ndarray:
        if callable(getattr(law._task._references[0], "_function", None)):  # a pose that moves with V and A
            return error_of_pose(s)
        moved = mech.integrate(q, s * v + s * s / 2 * a)
        return law.solve(0.4 + s, moved, v + s * a).errors

    def error_of_pose(s: float) -> np.ndarray:
        X, V, A = law._task._references[0]._function(0.0)
        w, dw = V[3:], A[3:]
        turn = exp(w * s + dw * s * s / 2 + np.cross(dw, w) * s**3 / 12)
        there = sr.Pose(X.xyz + V[:3] * s + A[:3] * s * s / 2, matrix=turn @ X.rotation)
        still = C.ProjectedInverseDynamics(mech, outputs, there, kp=30.0)
        moved = mech.integrate(q, s * v + s * s / 2 * a)
        return still.solve(0.0, moved, v + s * a).errors

    e = [error(k * h) for k in (-2, -1, 0, 1, 2)]
    first = (8 * (e[3] - e[1]) - (e[4] - e[0])) / (12 * h)
    second = (16 * (e[3] + e[1]) - (e[4] + e[0]) - 30 * e[2]) / (12 * h * h)
    size = 1.0 + np.abs(second).max()
    np.testing.assert_allclose(now.error_rates, first, atol=1e-6 * size)
    np.testing.assert_allclose(second, -7.0 * first - 30.0 * e[2], atol=2e-5 * size)


@pytest.mark.parametrize("case", CASES)
def test_passive_joints_get_exactly_zero_and_the_split_adds_up(case: str) -> None:
    name, parameters, outputs = CASES[case]
    mech = getattr(sr.library, name)(**parameters)
    now = C.ProjectedInverseDynamics(mech, outputs, reference_for(outputs)).solve(0.0, *moving(mech))
    passive = [mech.names.index(n) for n in mech.passive]
    assert np.all(now.tau[passive] == 0.0)
    np.testing.assert_allclose(now.tau_tangent + now.tau_normal, now.tau, atol=1e-9)
    J = mech.terms(*moving(mech)).J
    size = 1.0 + np.abs(now.tau).max()
    assert np.abs(now.tau_tangent @ np.linalg.pinv(J, rcond=1e-9)).max(initial=0.0) < 1e-9 * size
    if not passive and len(now.errors) == now.a.size - now.rank:
        assert np.abs(now.tau_normal).max() < 1e-9 * size  # least torque lies along the motion, eq. (46)


def test_fewer_actuators_than_joints() -> None:
    mech = sr.library.slider_crank()
    q = mech.assemble([0.5, 2 * np.pi - 1.0]).q
    v = mech.consistent_velocity(q, fixed={"crank": 0.8})
    both = C.ProjectedInverseDynamics(mech, "crank", 1.0).solve(0.0, q, v)
    one = C.ProjectedInverseDynamics(mech, "crank", 1.0, actuated=["crank"]).solve(0.0, q, v)
    other = C.ProjectedInverseDynamics(mech, "crank", 1.0, actuated="rod").solve(0.0, q, v)
    assert one.u[1] == 0.0 and other.u[0] == 0.0
    for found in (one, other):
        np.testing.assert_allclose(found.a, both.a, atol=1e-10)
        np.testing.assert_allclose(found.tau_tangent, both.tau_tangent, atol=1e-9)
    assert one.u[0] == pytest.approx(5.0 * both.tau_tangent[0], rel=1e-12)  # errata to eq. (75)
    assert np.linalg.norm(one.u) / np.linalg.norm(both.u) == pytest.approx(np.sqrt(5.0), rel=1e-12)


def test_more_outputs_than_freedoms_are_met_as_far_as_possible() -> None:
    mech = sr.library.slider_crank()
    q = mech.assemble([0.5, 2 * np.pi - 1.0]).q
    law = C.ProjectedInverseDynamics(mech, ["crank", "rod"], [1.0, 6.0], kp=20.0)
    now = law.solve(0.0, q, np.zeros(2))
    assert now.status == C.Status.PARTIAL and "1 of 2 independent" in now.message
    # least squares along the one direction (1, -2)
    wanted = 20.0 * now.errors
    y = wanted @ [1.0, -2.0] / 5.0
    np.testing.assert_allclose(now.a, [y, -2.0 * y], atol=1e-9)
    np.testing.assert_allclose(now.missed, wanted - now.a, atol=1e-9)


def test_an_output_that_the_constraints_forbid_is_reported() -> None:
    mech = sr.library.three_r_on_slider()
    hand = C.Position("link3", (0.1, 0.0, 0.0), "xy")
    law = C.ProjectedInverseDynamics(mech, hand, [0.1, -0.2])
    now = law.solve(0.0, *mech.default)
    assert now.status == C.Status.PARTIAL and abs(now.missed[1]) > 1.0 and abs(now.missed[0]) < 1e-9
    reachable = C.ProjectedInverseDynamics(mech, hand, [0.1, -0.27]).solve(0.0, *mech.default)
    assert np.abs(reachable.missed).max() < 1e-9


def test_what_remains_controllable_is_said() -> None:
    mech = sr.library.three_rrr(turn=0.0)
    law = C.ProjectedInverseDynamics(mech, ["platform.x", "platform.y", "platform.angle"], [0.05, 0.02, 0.1])
    now = law.solve(0.0, *mech.default)
    assert now.status == C.Status.PARTIAL and not now.controllable and now.controllable_dof == 2
    assert "2 of 3 freedoms are controllable; no actuator feels:" in now.message
    assert "platform.angle" in now.uncontrollable[0]
    assert np.abs(now.missed[:2]).max() < 1e-8 < 1.0 < abs(now.missed[2])
    assert np.abs(now.u).max() < 100.0


def test_torques_stay_bounded_next_to_a_pose_that_cannot_be_controlled() -> None:
    largest = []
    for turn in (0.3, 1e-2, 1e-4, 1e-6, 1e-8, 0.0):
        mech = sr.library.three_rrr(turn=turn)
        law = C.ProjectedInverseDynamics(
            mech, ["platform.x", "platform.y", "platform.angle"], [0.0, 0.0, turn + 0.1]
        )
        now = law.solve(0.0, *mech.default)
        largest.append(np.abs(now.u).max())
        assert (now.status == C.Status.SINGULAR) == (0.0 < turn < 1e-3)
    assert max(largest) < 3e4 and largest[-1] < 50.0
    free, bounded = (
        C.ProjectedInverseDynamics(
            sr.library.three_rrr(turn=1e-6), ["platform.angle"], 0.1, least_feel=0.0, measurement=accuracy
        )
        for accuracy in ((0.0, 0.0), (1e-5, 1e-3))
    )
    found = bounded.solve(0.0, *bounded.system.default)
    assert np.abs(found.u).max() < 50.0 and found.status == C.Status.PARTIAL
    assert np.abs(free.solve(0.0, *free.system.default).u).max() > 5e5


def test_one_actuator_passes_the_toggle() -> None:
    """[Aghili2005] VIII-B.2: not controllable exactly there; it goes through, torques stay bounded."""
    mech = sr.library.slider_crank()
    q0 = mech.assemble([1.2, 2 * np.pi - 2.4]).q
    law = C.ProjectedInverseDynamics(
        mech, "crank", C.MinimumJerk(1.2, 1.9, 1.0), kp=100.0, actuated=["crank"]
    )
    run = sr.simulate(mech, (0.0, 1.0), q0, control=law, dt=2e-3)
    assert run.success and run.q[-1, 0] == pytest.approx(1.9, abs=1e-6)
    assert np.abs(run.u).max() < 100.0
    there = law.solve(0.0, [np.pi / 2, np.pi], [0.0, 0.0])
    assert not there.controllable and "no actuator feels" in there.message and np.isfinite(there.u).all()


def test_fewer_outputs_than_freedoms_take_the_least_torque_or_come_to_rest() -> None:
    mech = sr.library.dual_arm()
    hand = C.Position("left7", (0.0, 0.0, 0.1))
    x = mech.pose(mech.default.q, "left7").apply((0.0, 0.0, 0.1))
    q, v = moving(mech, 3)
    least = C.ProjectedInverseDynamics(mech, hand, x).solve(0.0, q, v)
    damped = C.ProjectedInverseDynamics(mech, hand, x, leftover_damping=5.0).solve(0.0, q, v)
    for found in (least, damped):
        assert np.abs(found.missed).max() < 1e-8
    assert np.linalg.norm(least.u) < np.linalg.norm(damped.u)
    # what the hand does not see slows down: y' = -5 y along tangent directions with J_hand n = 0
    J = np.vstack([mech.terms(q, v).J, mech.jacobian(q, "left7", (0.0, 0.0, 0.1))[:3]])
    unseen = np.linalg.svd(J)[2][np.linalg.matrix_rank(J, tol=1e-9) :]
    np.testing.assert_allclose(unseen @ damped.a, -5.0 * unseen @ v, atol=1e-8)


def test_metrics() -> None:
    mech = sr.library.loader()
    q, v = moving(mech, 1, 0.1)
    spec_limited = sr.MechanismSpec(name="pair")
    for name, limit in (("a", 10.0), ("b", 1.0)):
        spec_limited.body(
            name, joint=sr.Revolute("z"), mass=1.0, com=(1.0, 0.0, 0.0), inertia=(1.0, 1.0, 1.0)
        )
        spec_limited.actuate(name, limits=(-limit, limit))
    spec_limited.constrain("gear", sr.Coupling({"a": 1.0, "b": -1.0}))
    pair = spec_limited.compile()
    rest, near = [0.0, 0.0], 1e-3
    shares = C.ProjectedInverseDynamics(pair, "a", near, metric="limits").solve(0.0, rest, rest).u
    assert shares[0] / shares[1] == pytest.approx(100.0, rel=1e-9)
    plain = C.ProjectedInverseDynamics(pair, "a", near).solve(0.0, rest, rest).u
    assert plain[0] == pytest.approx(plain[1], rel=1e-9)

    W = np.diag(mech.units.unit**-2.0)
    outputs = ["boom", "bucket"]
    for one, same in (("length", W), ("mass", mech.mass_matrix(q)), (None, np.ones(mech.nv))):
        a, b = (
            C.ProjectedInverseDynamics(mech, outputs, [0.0, 0.0], metric=m).solve(0.0, q, v)
            for m in (one, same)
        )
        np.testing.assert_allclose(a.u, b.u, rtol=1e-8)
        expected = mech.inverse_dynamics(q, v, a.a, metric=None if one is None else same)
        np.testing.assert_allclose(a.u, expected.u, rtol=1e-7)


def test_function_outputs_agree_with_built_in_ones() -> None:
    mech = sr.library.pantograph_leg()
    foot = (0.22, 0.0, 0.0)

    def x(q: np.ndarray) -> np.ndarray:
        return mech.pose(q, "shank").apply(foot)[:2]

    outputs = {
        "built in": C.Position("shank", foot, "xy"),
        "values": C.Function(x, unit=mech.length, names=["x", "y"]),
        "values and Jacobian": C.Function(x, lambda q: mech.jacobian(q, "shank", foot)[:2], unit=mech.length),
    }
    q, v = moving(mech)
    found = {
        k: C.ProjectedInverseDynamics(mech, o, [0.05, -0.3]).solve(0.0, q, v) for k, o in outputs.items()
    }
    for other in ("values", "values and Jacobian"):
        np.testing.assert_allclose(found[other].errors, found["built in"].errors, atol=1e-12)
        np.testing.assert_allclose(found[other].u, found["built in"].u, rtol=1e-7)


def test_a_system_of_functions_is_controlled_alike() -> None:
    mech = sr.library.slider_crank()
    system = sr.CustomSystem(
        2,
        2,
        M=lambda q, v, t: mech.mass_matrix(q),
        h=lambda q, v, t: mech.bias(q, v),
        phi=lambda q, v, t: np.array([np.sin(q[0]) + np.sin(q[0] + q[1])]),
        names=["crank", "rod"],
    )
    q = mech.assemble([0.5, 2 * np.pi - 1.0]).q
    v = mech.consistent_velocity(q, fixed={"crank": 0.8})
    ours = C.ProjectedInverseDynamics(system, "crank", 1.0).solve(0.0, q, v)
    theirs = C.ProjectedInverseDynamics(mech, "crank", 1.0).solve(0.0, q, v)
    np.testing.assert_allclose(ours.u, theirs.u, rtol=1e-6)

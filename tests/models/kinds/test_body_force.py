"""BodyForce: wrenches of functions of pose and twist, against forces and motions by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sarrus as sr

M1, M2, I1, I2 = 2000.0, 1200.0, 3000.0, 1500.0  # van and trailer [kg], [kg m^2]
HITCH, ARM, AXLE, C = (
    2.0,
    2.5,
    2.8,
    80e3,
)  # hitch behind the van, trailer's mass and axle behind it [m], [N/rad]


def slip_force(stiffness: float) -> Any:
    """A linear tyre: a side force against the slip angle."""
    return lambda t, pose, twist: np.array([0, -stiffness * twist[1] / twist[0], 0, 0, 0, 0])


def trailer() -> sr.Mechanism:
    """A van on a plane and a trailer with one axle, as a tree of coordinates."""
    spec = sr.MechanismSpec(gravity=(0, 0, 0), name="van and trailer")
    spec.body("x", joint=sr.Prismatic("x")).body("y", "x", joint=sr.Prismatic("y"))
    spec.body("van", "y", joint=sr.Revolute("z"), mass=M1, inertia=(I1, I1, I1))
    spec.body(
        "trailer", "van", joint=sr.Revolute("z"), at=sr.Pose((-HITCH, 0, 0)), mass=M2, com=(-ARM, 0, 0),
        inertia=(I2, I2, I2),
    )  # fmt: skip
    spec.force("tyre", sr.BodyForce("trailer", slip_force(C), (-AXLE, 0, 0)))
    spec.measure("tyre", sr.ForceIn("tyre")).measure("hitch", sr.Reaction("trailer", "world"))
    return spec.compile()


def test_hitch_of_a_trailer_by_newton() -> None:
    """Force of the hitch on the trailer = m c'' - tyre; moments about its centre of mass."""
    mech, q, v = trailer(), np.array([0, 0, 0.02, 0.03]), np.array([20.0, 0.3, 0.1, -0.05])
    motion = mech.forward_dynamics(q, v)
    yaw, w, turn = q[2] + q[3], v[2] + v[3], motion.a[2] + motion.a[3]
    e1, e2 = np.array([np.cos(q[2]), np.sin(q[2])]), np.array([np.cos(yaw), np.sin(yaw)])
    n1, n2 = np.array([-e1[1], e1[0]]), np.array([-e2[1], e2[0]])
    hitch_v = v[:2] - HITCH * v[2] * n1
    hitch_a = motion.a[:2] - HITCH * (motion.a[2] * n1 - v[2] ** 2 * e1)
    axle = hitch_v - AXLE * w * n2
    tyre = -C * (axle @ n2) / (axle @ e2) * n2
    mass_a = hitch_a - ARM * (turn * n2 - w**2 * e2)
    wanted = M2 * mass_a - tyre
    found = motion.reaction("trailer", "world")
    np.testing.assert_allclose(found[:2], wanted, rtol=1e-9)
    cross = lambda a, b: a[0] * b[1] - a[1] * b[0]  # noqa: E731
    assert I2 * turn == pytest.approx(cross((ARM - AXLE) * e2, tyre) + cross(ARM * e2, wanted), rel=1e-9)
    assert mech.measure(q, v)["tyre"][1] == pytest.approx(tyre @ n2, rel=1e-12)
    np.testing.assert_allclose(mech.measure(q, v)["hitch"], found)
    run = sr.simulate(mech, (0, 0.1), q, v)
    np.testing.assert_allclose(run.reaction("trailer", "world")[0], found, rtol=1e-9, atol=1e-6)


def car(front: float, rear: float, a: float = 1.2, b: float = 1.4, steer: float = 0.0) -> sr.Mechanism:
    def wheel(stiffness: float, angle: float) -> Any:
        def force(t: float, pose: sr.Pose, twist: Any) -> Any:
            side = -stiffness * (np.arctan(twist[1] / twist[0]) - angle)
            return np.array([-side * np.sin(angle), side * np.cos(angle), 0, 0, 0, 0])

        return force

    spec = sr.MechanismSpec(gravity=(0, 0, 0), name="car")
    spec.body("car", joint=sr.Planar(), mass=1500.0, inertia=(500, 2000, 2000))
    spec.force("front", sr.BodyForce("car", wheel(front, steer), (a, 0, 0)))
    spec.force("rear", sr.BodyForce("car", wheel(rear, 0.0), (-b, 0, 0)))
    return spec.compile()


@pytest.mark.parametrize("speed", [10.0, 30.0])
def test_linear_model_of_a_car_is_the_one_track_model(speed: float) -> None:
    """Side slip and yaw at constant speed, by the textbook's two by two matrix."""
    front, rear, a, b, m, I = 60e3, 70e3, 1.2, 1.4, 1500.0, 2000.0
    A = np.array([
        [-(front + rear) / (m * speed), (b * rear - a * front) / (m * speed) - speed],
        [(b * rear - a * front) / (I * speed), -(a**2 * front + b**2 * rear) / (I * speed)],
    ])  # fmt: skip
    found = sr.linearize(car(front, rear), [0, 0, 0.3], [speed * np.cos(0.3), speed * np.sin(0.3), 0]).A
    # states: x, y, yaw and rates in the world: rate of side slip is n.v' - speed * yaw'
    n = np.array([-np.sin(0.3), np.cos(0.3)])
    by_v = found[3:, 3:]
    side = np.array([[n @ by_v[:2, :2] @ n, n @ by_v[:2, 2]], [by_v[2, :2] @ n, by_v[2, 2]]])
    side[0, 1] -= speed
    np.testing.assert_allclose(side, A, rtol=1e-9)
    np.testing.assert_allclose(found[3:, 2], -found[3:, 3:5] @ n * speed, rtol=1e-7, atol=1e-7)


def test_critical_speed_of_an_oversteering_car() -> None:
    """v^2 = Cf Cr l^2 / (m (a Cf - b Cr)): below it the car runs straight, above it spins."""
    front, rear, a, b, m = 70e3, 50e3, 1.2, 1.4, 1500.0
    critical = np.sqrt(front * rear * (a + b) ** 2 / (m * (a * front - b * rear)))
    for factor, grows in ((0.97, False), (1.03, True)):
        speed = factor * critical
        run = sr.simulate(car(front, rear), (0, 3), [0, 0, 0], [speed, 0, 1e-6])
        late = np.abs(np.interp([2.0, 3.0], run.t, run.v[:, 2]))
        assert (late[1] > late[0]) == grows


def test_wind_on_a_pendulum_at_rest() -> None:
    """tan(angle) = F l_f / (m g l): a force in world axes at a point of the body."""
    spec = sr.MechanismSpec(gravity=(0, 0, -9.81), name="sign")
    spec.body("sign", joint=sr.Revolute("y"), mass=3.0, com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.1))
    wind = lambda t, pose, twist: np.array([12.0, 0, 0, 0, 0, 0])  # noqa: E731
    spec.force("wind", sr.BodyForce("sign", wind, (0, 0, -0.4), "world")).actuate()
    mech = spec.compile()
    rest = sr.equilibrium(mech, [-0.1])
    assert np.tan(-rest.q[0]) == pytest.approx(12.0 * 0.4 / (3.0 * 9.81 * 0.5), rel=1e-9) and rest.stable
    found = mech.forward_dynamics(rest.q, [0.0]).reaction("sign", "world")
    np.testing.assert_allclose(found[[0, 2]], [-12.0, 3.0 * 9.81], rtol=1e-9)
    period = np.sqrt(np.abs(sr.linearize(mech, rest.q).eigenvalues[0]) ** 2)
    inertia = 0.1 + 3.0 * 0.25
    assert period**2 == pytest.approx(np.hypot(3 * 9.81 * 0.5, 12 * 0.4) / inertia, rel=1e-7)


def test_a_thruster_follows_its_body_and_loads_its_bearing() -> None:
    spec = sr.MechanismSpec(gravity=(0, 0, 0), name="thruster")
    spec.body("arm", joint=sr.Revolute("z"), mass=2.0, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1))
    push = lambda t, pose, twist: np.array([0, 5.0 + t, 0, 0, 0, 0.2])  # noqa: E731
    spec.force("jet", sr.BodyForce("arm", push, (1.0, 0, 0)))
    spec.force("journal", sr.BearingFriction("arm", 0.1, radius=0.01))
    mech = spec.compile()
    motion = mech.forward_dynamics([0.7], [0.5], t=1.0)
    bearing = motion.reaction("arm", "b")
    friction = 0.1 * 0.01 * np.linalg.norm(bearing[:2])
    assert -motion.friction[0] == pytest.approx(friction, rel=1e-9)
    assert motion.a[0] == pytest.approx((6.2 - friction) / 0.6, rel=1e-9)
    assert bearing[1] == pytest.approx(2.0 * 0.5 * motion.a[0] - 6.0, rel=1e-9)


@pytest.mark.parametrize("axes", ["body", "world"])
def test_slopes_agree_with_differences_of_the_motion(axes: str) -> None:
    """A force that depends on all of pose and twist, on a body at the end of a chain with a ball joint."""

    def wrench(t: float, pose: sr.Pose, twist: Any) -> Any:
        lift = 2.0 * twist[0] ** 2 * np.sin(pose.xyz[2])
        side = -twist[1] * twist[3] + pose.rotation[0, 2]
        return np.array([-twist[0], side, lift, 0.1 * twist[4], -0.2 * twist[5] * twist[2], 0.05 * np.cos(t)])

    spec = sr.MechanismSpec(name="kite")
    spec.body("mast", joint=sr.Revolute("x"), mass=1.0, com=(0, 0, 0.5), inertia=(0.2,) * 3)
    spec.body(
        "kite",
        "mast",
        joint=sr.Spherical(),
        at=sr.Pose((0, 0, 1)),
        mass=0.5,
        com=(0.2, 0, 0),
        inertia=(0.1, 0.2, 0.3),
    )
    mech = spec.force("air", sr.BodyForce("kite", wrench, (0.3, 0.1, -0.1), axes)).compile()
    rng = np.random.default_rng(1)
    q, v = mech.integrate(mech.neutral(), rng.normal(size=4)), rng.normal(size=4)
    exact = mech.derivatives(q, v, t=0.3)
    h = 1e-5
    for k, e in enumerate(np.eye(4)):
        by_q = (
            mech.forward_dynamics(mech.integrate(q, h * e), v, t=0.3).a
            - mech.forward_dynamics(mech.integrate(q, -h * e), v, t=0.3).a
        ) / (2 * h)
        by_v = (
            mech.forward_dynamics(q, v + h * e, t=0.3).a - mech.forward_dynamics(q, v - h * e, t=0.3).a
        ) / (2 * h)
        np.testing.assert_allclose(exact.a_q[:, k], by_q, atol=2e-7)
        np.testing.assert_allclose(exact.a_v[:, k], by_v, atol=2e-7)


def test_what_takes_no_functions_refuses_it_by_name(tmp_path: Path) -> None:
    mech = trailer()
    with pytest.raises(sr.InputError, match="tyre"):
        sr.rollout(mech, mech.neutral()[None], dt=1e-3, steps=2)
    with pytest.raises(sr.InputError, match="tyre"):
        mech.export_code(tmp_path)
    with pytest.raises(sr.InputError, match=r"'tyre' \(BodyForce\) holds Python functions"):
        sr.save(mech, tmp_path / "x.json")


def test_bad_input() -> None:
    with pytest.raises(sr.InputError, match="function of BodyForce"):
        sr.BodyForce("a", lambda t, q: q)  # type: ignore[arg-type,misc]
    with pytest.raises(sr.InputError, match="axes of BodyForce must be one of 'body', 'world'"):
        sr.BodyForce("a", slip_force(1.0), axes="road")
    spec = sr.MechanismSpec().body("a", joint=sr.Revolute("z"), mass=1, inertia=(1, 1, 1))
    with pytest.raises(sr.UnknownNameError, match="'b'"):
        spec.force("f", sr.BodyForce("b", slip_force(1.0)))
    mech = spec.force("f", sr.BodyForce("a", lambda t, pose, twist: [1.0, 2.0])).compile()
    with pytest.raises(sr.InputError, match="force 'f'"):
        mech.forward_dynamics([0.0], [0.0])

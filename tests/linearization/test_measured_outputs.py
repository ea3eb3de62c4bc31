"""Measures as outputs of linear models, against analytic rows, Jacobians and reactions at other states."""

import numpy as np
import pytest

import sarrus as sr


def crane() -> sr.Mechanism:
    """Two links in the plane with a rod as a loop, driven at the first joint."""
    spec = sr.MechanismSpec(gravity=(0, -9.81, 0))
    for name, xyz in {"A": (0, 0, 0), "B": (0.1, 0.4, 0), "C": (0.6, 0.5, 0), "D": (0.5, 0, 0)}.items():
        spec.point(name, xyz)
    spec.point("tip", (0.9, 0.7, 0))
    spec.link("crank", "A", "B", mass=1.0).link("boom", "B", "C", "tip", mass=2.0).link(
        "rocker", "D", "C", mass=1.0
    )
    ends = {
        "A": ("ground", "crank"),
        "B": ("crank", "boom"),
        "C": ("boom", "rocker"),
        "D": ("ground", "rocker"),
    }
    for name, pair in ends.items():
        spec.joint(name, *pair, sr.Revolute("z"), at=name)
    spec.force("spring", sr.PointSpring("boom", "tip", "ground", "A", stiffness=300.0, rest=0.9, damping=5.0))
    spec.measure("tip", sr.Position("boom", "tip")).measure("speed", sr.Speed("boom", "tip"))
    spec.measure("length", sr.Length("boom", "tip", "ground", "A")).measure(
        "angle", sr.Angle("crank", "rocker")
    )
    spec.measure("spring", sr.ForceIn("spring")).measure("pin", sr.Reaction("B", frame="world"))
    spec.measure("torque", sr.ForceIn("A")).measure("mine", lambda q, v, t: q[0] ** 2)
    spec.actuate("A")
    return spec.compile()


@pytest.fixture(scope="module")
def moving() -> tuple[sr.Mechanism, np.ndarray, np.ndarray, np.ndarray]:
    mech = crane()
    q = mech.assemble(mech.default.q, {"A": 0.2}).q
    return mech, q, mech.consistent_velocity(q, fixed={"A": 1.3}), np.array([2.0])


def test_positions_speeds_and_lengths_have_the_rows_of_their_jacobians(moving: tuple) -> None:
    mech, q, v, u = moving
    lm = sr.linearize(mech, q, v, u, outputs=["tip", "speed", "length", "q.D", "v.D"])
    full = sr.linearize(mech, q, v, u, outputs=[f"q.{name}" for name in mech.names])
    J = mech.jacobian(q, "boom", "tip")[:3]
    np.testing.assert_allclose(lm.C[:3], J @ full.C, atol=1e-9)
    towards = mech.position(q, "boom", "tip")
    np.testing.assert_allclose(lm.C[6], towards / np.linalg.norm(towards) @ J @ full.C, atol=1e-9)
    np.testing.assert_allclose(
        lm.C[3:6, 1:], lm.C[:3, :1], atol=1e-8
    )  # by velocities as positions by positions
    assert lm.outputs[:4] == ("tip[0]", "tip[1]", "tip[2]", "speed[0]") and not lm.D.any()


def test_forces_and_reactions_change_as_they_do_at_states_nearby(moving: tuple) -> None:
    """One state is the angle of joint A: the mechanism is assembled at others, and the measures are read."""
    mech, q, v, u = moving
    names = ["spring", "pin", "torque", "measure.angle", "mine"]
    lm = sr.linearize(mech, q, v, u, independent=["A"], outputs=names)

    def read(angle: float, speed: float, torque: float) -> np.ndarray:
        near = mech.assemble(q, {"A": 0.2 + angle}).q
        found = mech.measure(near, mech.consistent_velocity(near, fixed={"A": 1.3 + speed}), u=u + torque)
        return np.concatenate([np.ravel(found[name.split(".")[-1]]) for name in names])

    h = 1e-5
    for i, one in enumerate(np.eye(3)):
        slope = (read(*(h * one)) - read(*(-h * one))) / (2 * h)
        ours = lm.C[:, i] if i < 2 else lm.D[:, 0]
        np.testing.assert_allclose(
            ours, slope, atol=2e-6 * np.abs(slope).max()
        )  # error of the plain difference


def test_measures_in_batches_and_along_runs(moving: tuple) -> None:
    mech, q, v, _ = moving
    run = sr.simulate(mech, (0, 0.05), q, v, dt=0.01, method="rk4")
    along = sr.linearize_trajectory(run, independent=["A"], outputs=["length", "tip"])
    one = sr.linearize(mech, run.q[3], run.v[3], independent=["A"], outputs=["length", "tip"])
    np.testing.assert_allclose(along.C[3], one.C, atol=1e-9)
    several = sr.linearize(mech, run.q, run.v, independent=["A"], outputs=["length"])
    np.testing.assert_allclose(several.C[3], one.C[:1], atol=1e-9)


def test_spatial_mechanisms_with_quaternions() -> None:
    """Rows of a Position are those of the pose of its body."""
    mech = sr.library.double_wishbone()
    q = sr.equilibrium(mech).q
    v = mech.consistent_velocity(q, np.random.default_rng(0).normal(size=mech.nv))
    lm = sr.linearize(mech, q, v, outputs=["wheel", "pose.upright"])
    p = mech.position(q, "upright")
    r = mech.measure(q)["wheel"] - p
    by_pose = lm.C[3:6] + np.cross(lm.C[6:9].T, r).T
    np.testing.assert_allclose(lm.C[:3], by_pose, atol=1e-9)


def test_unknown_outputs_list_the_measures() -> None:
    with pytest.raises(sr.SarrusError, match="'length'"):
        sr.linearize(crane(), outputs=["lenth"])


def test_a_measure_with_the_name_of_a_body_is_asked_for_by_its_kind() -> None:
    spec = sr.MechanismSpec()
    spec.link("arm", (0, 0, 0), (1, 0, 0), mass=1.0).joint(
        "hinge", "ground", "arm", sr.Revolute("y"), at=(0, 0, 0)
    )
    mech = spec.measure("arm", sr.Position("arm", (1, 0, 0))).compile()
    with pytest.raises(sr.InputError, match=r'say "measure.arm" or "pose.arm"'):
        sr.linearize(mech, outputs=["arm"])
    assert sr.linearize(mech, outputs=["measure.arm"]).outputs == ("arm[0]", "arm[1]", "arm[2]")

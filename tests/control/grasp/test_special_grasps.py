"""Held objects where something is missing: a hand lets go, an arm is stretched, four hands of other kinds."""

from __future__ import annotations

import numpy as np
import pytest

import sarrus as sr
from sarrus import control as sc

from .held_box import fingers, patches

AROUND = [(0.1, 0.0, 0.0), (0.0, 0.1, 0.0), (-0.1, 0.0, 0.0), (0.0, -0.1, 0.0)]
INWARD = [(-x, -y, -z) for x, y, z in AROUND]


def four_hands(loops: int = 4) -> sr.Mechanism:
    """Four free-flying hands around a box, the first `loops` of them on it."""
    spec = sr.MechanismSpec(name="four")
    spec.body("box", joint=sr.Free(), mass=1.0, inertia=(0.01, 0.01, 0.01))
    whole = fingers(sr.Fixed(), AROUND, INWARD)
    faces = [closure.at_a for _, closure in whole.model.constraints]
    for k, face in enumerate(faces):
        spec.body(f"finger{k}", joint=sr.Free(), at=face, mass=0.2, inertia=(1e-3, 1e-3, 1e-3))
        spec.actuate(*(f"finger{k}.{axis}" for axis in ("vx", "vy", "vz", "wx", "wy", "wz")))
    for k, face in enumerate(faces[:loops]):
        spec.close(f"tip{k}", "box", f"finger{k}", joint=sr.Fixed(), at_a=face)
    return spec.compile()


def hands(count: int) -> list[sc.Patch]:
    return [sc.Patch(f"tip{k}", 0.5, torsion=0.01, half=(0.02, 0.02), least=2.0) for k in range(count)]


def test_a_contact_lost_and_regained() -> None:
    """One law: while a hand is off it expects what a plant without that loop does, then all four again."""
    mech, open_ = four_hands(), four_hands(3)
    grasp = sc.Grasp(mech, "box", hands(4))
    three = ["tip0", "tip1", "tip2"]
    law = sc.ObjectImpedance(
        mech, grasp, external=None, active=lambda t, q, v: three if 0.1 < t < 0.2 else [*three, "tip3"]
    )
    state = mech.default.q, np.zeros(mech.nv)
    before, off, after = (law.solve(t, *state) for t in (0.05, 0.15, 0.25))
    for one in (before, off, after):
        assert isinstance(one, sc.ImpedanceSolution) and one.success
    np.testing.assert_array_equal(off.contact_wrenches["tip3"], 0.0)  # type: ignore[attr-defined]
    plant = open_.forward_dynamics(*state, u=off.u)
    np.testing.assert_allclose(off.lam[:18], plant.lam, atol=1e-9)
    np.testing.assert_allclose(plant.a[:6], 0.0, atol=1e-9)
    np.testing.assert_allclose(after.u, before.u, atol=1e-9)
    assert min(before.contact_wrenches["tip3"][2], after.contact_wrenches["tip3"][2]) >= 2.0 - 1e-7  # type: ignore[attr-defined]


def test_hands_of_different_kinds() -> None:
    """A patch, a soft finger and a point on one object: the expected forces are those of the plant."""
    spec = sr.MechanismSpec(name="mixed")
    spec.body("box", joint=sr.Free(), mass=1.0, inertia=(0.01, 0.01, 0.01))
    whole = fingers(sr.Fixed(), AROUND, INWARD)
    joints = (sr.Fixed(), sr.Universal("x", "y"), sr.Spherical())
    for k, joint in enumerate(joints):
        face = dict(whole.model.constraints)[f"tip{k}"].at_a
        spec.body(f"finger{k}", joint=sr.Free(), at=face, mass=0.2, inertia=(1e-3, 1e-3, 1e-3))
        spec.actuate(*(f"finger{k}.{axis}" for axis in ("vx", "vy", "vz", "wx", "wy", "wz")))
        spec.close(f"tip{k}", "box", f"finger{k}", joint=joint, at_a=face)
    mech = spec.compile()
    grasp = sc.Grasp(
        mech, "box", [hands(1)[0], sc.SoftFinger("tip1", 0.5, torsion=0.01), sc.PointContact("tip2", 0.5)]
    )
    assert grasp.size == 6 + 4 + 3 and grasp.names[9] == "tip1.mz" and grasp.force_closure()
    push = np.array([1.0, -0.5, -3.0, 0.05, 0.02, 0.03])
    law = sc.ObjectImpedance(mech, grasp, external=lambda t, q, v: push)
    one = law.solve(0.0, mech.default.q, np.zeros(mech.nv))
    assert isinstance(one, sc.ImpedanceSolution) and one.success
    plant = mech.forward_dynamics(mech.default.q, np.zeros(mech.nv), u=one.u, external={"box": push})
    np.testing.assert_allclose(one.contact_forces, grasp.components(plant.lam), atol=1e-9)
    assert min(grasp.margins(one.contact_forces).values()) > -1e-7


def test_a_reference_out_of_reach() -> None:
    """The arms stretch towards it, say so, and torques stay of the size that the stiffness asks for."""
    mech = sr.library.dual_arm_box()
    grasp = sc.Grasp(mech, "box", patches())
    start = mech.pose(mech.default.q, "box")
    far = sr.Pose(start.xyz + np.array([0.45, 0.0, 0.0]), matrix=start.rotation)
    law = sc.ObjectImpedance(mech, grasp, sc.MinimumJerk(start, far, 1.0))
    done = sr.simulate(mech, (0.0, 1.4), control=law, control_dt=4e-3, dt=4e-3)
    assert done.success and np.abs(done.u).max() < 1000.0
    assert any(status == sc.Status.SINGULAR for _, status, _ in law.events)


@pytest.mark.parametrize(("error", "dt"), [("split", 4e-3), ("screw", 1e-3)])
def test_a_reference_far_out_of_reach(error: str, dt: float) -> None:
    """A metre up: half a metre stays, where a screw damps turns at an arm: shorter samples."""
    mech = sr.library.dual_arm_box()
    start = mech.pose(mech.default.q, "box")
    far = sr.Pose(start.xyz + np.array([0.0, 0.0, 1.0]), matrix=start.rotation)
    law = sc.ObjectImpedance(
        mech, sc.Grasp(mech, "box", patches()), sc.MinimumJerk(start, far, 2.0), error=error
    )
    done = sr.simulate(mech, (0.0, 2.2), control=law, control_dt=dt, dt=dt)
    assert done.success and np.abs(done.u).max() < 1000.0
    assert any(status == sc.Status.SINGULAR for _, status, _ in law.events)


def test_an_arm_at_a_singular_pose_while_holding() -> None:
    """The left elbow straight: one motion of the box is lost there, torques stay bounded, it is held."""
    mech = sr.library.dual_arm_box(apart=0.7)
    grasp = sc.Grasp(mech, "box", patches())
    found = mech.assemble(np.array(mech.default.q), fixed={"left4": 0.0})
    assert found.success
    law = sc.ObjectImpedance(mech, grasp, mech.pose(found.q, "box"), damping=(80.0, 5.0))
    one = law.solve(0.0, found.q, np.zeros(mech.nv))
    assert isinstance(one, sc.ImpedanceSolution) and one.success
    assert np.linalg.eigvalsh(one.mobility)[0] == pytest.approx(0.0, abs=1e-9)
    assert np.abs(one.u).max() < 100.0
    done = sr.simulate(
        mech,
        (0.0, 0.2),
        found.q,
        control=law,
        control_dt=2e-3,
        dt=2e-3,
        external={"box": [0, 0, -10, 0, 0, 0]},
    )
    assert done.success and np.abs(done.u).max() < 500.0 and done.drift.max() < 1e-12


def test_an_object_pressed_against_a_wall() -> None:
    """One hand and the ground hold it: it cannot move at all, and is squeezed as the limits ask."""
    spec = sr.MechanismSpec(name="wall")
    spec.body("box", joint=sr.Free(), mass=1.0, inertia=(0.01, 0.01, 0.01))
    face, back = (sr.Pose((0.0, y, 0.0), rpy=(np.copysign(0.5 * np.pi, y), 0.0, 0.0)) for y in (0.1, -0.1))
    spec.body("hand", joint=sr.Free(), at=face, mass=0.2, inertia=(1e-3, 1e-3, 1e-3))
    spec.actuate(*(f"hand.{axis}" for axis in ("vx", "vy", "vz", "wx", "wy", "wz")))
    spec.close("tip0", "box", "hand", joint=sr.Fixed(), at_a=face)
    spec.close("tip1", "box", "ground", joint=sr.Fixed(), at_a=back, at_b=back)
    mech = spec.compile()
    grasp = sc.Grasp(mech, "box", hands(2))
    with pytest.raises(sr.SarrusError, match="cannot move in every direction"):
        sc.ObjectImpedance(mech, grasp)
    law = sc.ObjectImpedance(mech, grasp, damping=(10.0, 1.0))
    one = law.solve(0.0, *mech.default)
    assert isinstance(one, sc.ImpedanceSolution) and one.success
    f = grasp.components(mech.forward_dynamics(*mech.default, u=one.u).lam)
    np.testing.assert_allclose(one.contact_forces, f, atol=1e-9)
    assert min(grasp.margins(f).values()) > -1e-9

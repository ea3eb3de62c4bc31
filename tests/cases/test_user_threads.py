"""Mechanisms on which users of other libraries got stuck (the public threads are named in each test)."""

from __future__ import annotations

import numpy as np
import pytest

import sarrus as sr

G = 9.81


def test_u2_parallelogram_is_held_by_one_motor() -> None:
    """mujoco#1818, pinocchio#2356: 67.53 N m at the motor, passive joints exactly zero."""
    spec = sr.MechanismSpec(gravity=(0, -G, 0))
    bars = {"left": (5.0, 0.6), "coupler": (10.0, 1.0), "right": (5.0, 0.6)}
    parts = {
        name: {"mass": m, "com": (l / 2, 0, 0), "inertia": (m * 0.02 / 12, *[m * (l**2 + 0.01) / 12] * 2)}
        for name, (m, l) in bars.items()
    }
    spec.body("left", joint=sr.Revolute("z"), **parts["left"])
    spec.body("coupler", parent="left", joint=sr.Revolute("z"), at=sr.Pose((0.6, 0, 0)), **parts["coupler"])
    spec.body("right", joint=sr.Revolute("z"), at=sr.Pose((1.0, 0, 0)), **parts["right"])
    spec.close(
        "pin",
        "coupler",
        "right",
        joint=sr.Revolute("z"),
        at_a=sr.Pose((1.0, 0, 0)),
        at_b=sr.Pose((0.6, 0, 0)),
    )
    spec.actuate("left")
    mech = spec.compile()
    q = np.array([0.7, -0.7, 0.7])
    assert np.max(np.abs(mech.terms(q, np.zeros(3)).phi)) < 1e-15
    held = mech.inverse_dynamics(q, np.zeros(3), np.zeros(3))
    by_hand = (2 * 5.0 * 0.3 + 10.0 * 0.6) * G * np.cos(0.7)
    np.testing.assert_allclose(held.u, [by_hand], rtol=1e-12)
    assert round(float(held.u[0]), 2) == 67.53
    assert held.tau[1] == 0.0
    assert held.tau[2] == 0.0
    a = mech.acceleration(q, np.zeros(3), held.tau)
    assert np.max(np.abs(a)) < 1e-12


def test_u3_scott_russell_lift() -> None:
    """EXUDYN#39: "system Jacobian seems to be singular, equation 63". Mobility 1, redundant rows named."""
    mech = sr.library.scott_russell()
    q, v = mech.default.q, mech.default.v
    m = mech.mobility(q)
    assert m.dof == 1
    assert len(m.redundant) == mech.nc - m.rank > 0
    motion = mech.forward_dynamics(q, v)
    assert np.all(np.isfinite(motion.a))
    assert np.max(np.abs(motion.a)) > 0.1  # it sinks
    for name in m.redundant:
        assert name in m.explain() or len(m.redundant) > 12
        assert not motion.lam_unique[mech.row_names.index(name)]


def test_u4_stewart_platform_with_rods_that_spin() -> None:
    """OpenModelica#8116: "54 equations > 45 states". Rods spin about themselves: mobility, not an error."""
    mech = sr.library.stewart(legs="rss")
    m = mech.mobility()
    assert m.dof == 6 + 6
    assert not m.redundant
    motion = mech.forward_dynamics(mech.default.q, mech.default.v)
    assert np.all(np.isfinite(motion.a))
    assert motion.lam_unique.all()
    assert mech.terms(mech.default.q, mech.default.v).J.shape == (mech.nc, mech.nv)


LOWER_PAIRS = {
    "Revolute": (sr.Revolute("x"), 5, ["tx", "ty", "tz", "ry", "rz"]),
    "Prismatic": (sr.Prismatic("y"), 5, ["tx", "tz", "rx", "ry", "rz"]),
    "Helical": (sr.Helical("z", 0.1), 5, ["tx", "ty", "tz", "rx", "ry"]),
    "Cylindrical": (sr.Cylindrical("x"), 4, ["ty", "tz", "ry", "rz"]),
    "Universal": (sr.Universal("x", "y"), 4, ["tx", "ty", "tz", "rz"]),
    "Spherical": (sr.Spherical(), 3, ["tx", "ty", "tz"]),
    "Planar": (sr.Planar("z"), 3, ["tz", "rx", "ry"]),
    "Fixed": (sr.Fixed(), 6, ["tx", "ty", "tz", "rx", "ry", "rz"]),
}


@pytest.mark.parametrize("kind", LOWER_PAIRS)
def test_u9_every_lower_pair_closes_a_loop(kind: str) -> None:
    """dart#465, jiminy#380, newton#2898: unsupported or silently skipped. A free body shows what is left."""
    joint, rows, names = LOWER_PAIRS[kind]
    spec = sr.MechanismSpec()
    spec.body("box", joint=sr.Free(), mass=2.0, com=(0.1, 0, 0), inertia=(0.1, 0.2, 0.3))
    spec.close("loop", "ground", "box", joint=joint, at_a=sr.Pose((0.3, 0.2, 0.1), rpy=(0.4, -0.2, 0.9)))
    mech = spec.compile()
    assert list(mech.row_names) == [f"loop.{name}" for name in names]
    guess = mech.integrate(mech.neutral(), 0.4 * np.sin(np.arange(1.0, 7.0)))
    found = mech.assemble(guess)
    assert found.success, found.message
    assert mech.mobility(found.q).dof == 6 - rows
    motion = mech.forward_dynamics(found.q, np.zeros(6))
    assert motion.lam_unique.all()
    assert motion.rank == rows
    twin = sr.MechanismSpec()
    twin.body(
        "box",
        joint=joint if kind != "Fixed" else sr.Prismatic("x"),
        at=sr.Pose((0.3, 0.2, 0.1), rpy=(0.4, -0.2, 0.9)),
        mass=2.0,
        com=(0.1, 0, 0),
        inertia=(0.1, 0.2, 0.3),
    )
    if kind != "Fixed":  # the same joint in the tree: the same acceleration of the body
        _same_acceleration(mech, found.q, twin.compile())


def _same_acceleration(closed: sr.Mechanism, q: np.ndarray, tree: sr.Mechanism) -> None:
    """A free body closed by a joint falls like a body carried by that joint, from rest at the same pose."""
    spec_pose = closed.pose(q, "box")
    found = _coordinates_of(tree, spec_pose)
    A = closed.body_acceleration(q, np.zeros(6), closed.acceleration(q, np.zeros(6), np.zeros(6)), "box")
    rest = np.zeros(tree.nv)
    B = tree.body_acceleration(found, rest, tree.acceleration(found, rest, rest), "box")
    np.testing.assert_allclose(A, B, atol=1e-9)


def _coordinates_of(tree: sr.Mechanism, wanted: sr.Pose) -> np.ndarray:
    """Gauss-Newton on the pose of the one body."""
    q = tree.neutral()
    for _ in range(60):
        X = tree.pose(q, "box")
        turn = wanted.rotation @ X.rotation.T
        w = np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]]) / 2
        error = np.append(wanted.xyz - X.xyz, w)
        q = tree.integrate(q, np.linalg.lstsq(tree.jacobian(q, "box"), error, rcond=None)[0])
    assert np.max(np.abs(error)) < 1e-10
    return q

"""U1, pinocchio#2729: a spatial four-bar (the knee of a leg) closed by a point, a hinge or a weld."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import sarrus as sr

LENGTHS = {"crank": 0.1, "shank": 0.35, "rocker": 0.12}
BASE = 0.36


def knee(closing: Any, turn: float = 0.0) -> sr.Mechanism:
    """Three parallel tree hinges in an oblique plane, the fourth cut; `turn`: of its ground frame."""
    plane = sr.Pose((0.1, -0.2, 0.3), rpy=(0.3, -0.5, 0.2))
    spec = sr.MechanismSpec()
    parent, at = "ground", plane
    for k, (name, length) in enumerate(LENGTHS.items()):
        mass = {"mass": 1.0 + k, "com": (length / 2, 0, 0), "inertia": (0.001, 0.01, 0.01)}
        spec.body(name, parent=parent, joint=sr.Revolute("z"), at=at, **mass)
        parent, at = name, sr.Pose((length, 0, 0))
    c, s = math.cos(turn), math.sin(turn)
    anchor = sr.Pose(
        plane.xyz + plane.rotation @ (BASE, 0, 0),
        matrix=plane.rotation @ np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]),
    )
    spec.close("knee", "rocker", "ground", joint=closing, at_a=at, at_b=anchor)
    spec.actuate("crank")
    return spec.compile()


def closed_pose() -> np.ndarray:
    found = knee(sr.Spherical()).assemble([0.8, -0.9, -1.2])
    assert found.success, found.message
    return found.q


def test_point_hinge_and_weld_have_mobility_one_one_zero() -> None:
    q = closed_pose()
    turn = float(np.sum(q))
    for joint, dof, rank, rows in (
        (sr.Spherical(), 1, 2, 3),
        (sr.Revolute("z"), 1, 2, 5),
        (sr.Fixed(), 0, 3, 6),
    ):
        mech = knee(joint, turn)
        assert np.max(np.abs(mech.terms(q, np.zeros(3)).phi)) < 1e-12
        m = mech.mobility(q)
        assert (m.dof, m.rank, mech.nc) == (dof, rank, rows)
        assert len(m.redundant) == rows - rank
        assert set(m.redundant) <= set(mech.row_names)
        assert not m.is_singular


def test_the_weld_is_a_structure() -> None:
    q = closed_pose()
    mech = knee(sr.Fixed(), float(np.sum(q)))
    motion = mech.forward_dynamics(q, np.zeros(3), [5.0, 0.0, 0.0])
    assert np.max(np.abs(motion.a)) < 1e-10
    load = mech.bias(q, np.zeros(3)) - [5.0, 0.0, 0.0]
    np.testing.assert_allclose(motion.constraint_force, load, atol=1e-10)


def test_the_dependent_rows_are_those_out_of_the_plane() -> None:
    q = closed_pose()
    assert knee(sr.Revolute("z")).mobility(q).redundant == ("knee.tz", "knee.rx", "knee.ry")


def test_point_and_hinge_move_identically() -> None:
    """The same motion from 3 and from 5 rows, by a plain Runge-Kutta integration of both."""
    q = closed_pose()
    paths = [runge_kutta(knee(joint), q, 200) for joint in (sr.Spherical(), sr.Revolute("z"))]
    assert np.max(np.abs(paths[0] - paths[1])) < 1e-10
    assert np.max(np.abs(paths[0][-1] - q)) > 0.05


def runge_kutta(mech: sr.Mechanism, q: np.ndarray, steps: int, dt: float = 1e-3) -> np.ndarray:
    tau, v, path = np.array([0.3, 0.0, 0.0]), np.zeros(mech.nv), [q]
    for _ in range(steps):
        k: list[tuple[np.ndarray, np.ndarray]] = []
        for share in (0.0, 0.5, 0.5, 1.0):
            dq, dv = k[-1] if k else (v, np.zeros_like(v))
            speed = v + share * dt * dv
            k.append((speed, mech.acceleration(mech.integrate(q, share * dt * dq), speed, tau)))
        weights = (1 / 6, 1 / 3, 1 / 3, 1 / 6)
        q = mech.integrate(q, dt * sum(w * dq for w, (dq, _) in zip(weights, k, strict=True)))
        v = v + dt * sum(w * dv for w, (_, dv) in zip(weights, k, strict=True))
        path.append(q)
    return np.array(path)


def test_inverse_dynamics_with_passive_joints() -> None:
    mech, q = knee(sr.Revolute("z")), closed_pose()
    v = mech.consistent_velocity(q, fixed={"crank": 1.3})
    a = mech.acceleration(q, v, [2.0, 0.0, 0.0])
    torques = mech.inverse_dynamics(q, v, a)
    assert torques.controllable
    np.testing.assert_allclose(torques.u, [2.0], rtol=1e-9)
    assert list(torques.tau[1:]) == [0.0, 0.0]

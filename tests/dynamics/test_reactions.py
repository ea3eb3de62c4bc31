"""Reactions by virtual work: the wrench on b at B and its opposite on a must give J.T lam of the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sarrus as sr
from sarrus.dynamics.reactions import RowWrenches, reaction

BOX: dict[str, Any] = {"mass": 1.0, "com": (0.1, 0.0, 0.0), "inertia": (0.1, 0.2, 0.3)}
AT_A, AT_B = sr.Pose((0.3, -0.2, 0.1), rpy=(0.4, 0.2, -0.3)), sr.Pose((-0.1, 0.2, 0.4), rpy=(-0.2, 0.5, 0.1))
JOINTS = [
    sr.Fixed(), sr.Revolute("z"), sr.Revolute((1.0, 2.0, -2.0)), sr.Prismatic("x"), sr.Cylindrical("y"),
    sr.Helical("x", 0.3), sr.Helical("y", -0.2), sr.Universal("x", "y"), sr.Spherical(), sr.Planar("z"),
]  # fmt: skip


def pair(constraint: Any) -> sr.Mechanism:
    """Two free boxes, turned joints in between, tied by one loop or constraint."""
    spec = sr.MechanismSpec()
    spec.body("a", joint=sr.Free(), **BOX)
    spec.body("hinged", joint=sr.Free(), **BOX)
    spec.body("b", parent="hinged", joint=sr.Revolute("x"), at=sr.Pose((0.1, 0.2, 0.3)), **BOX)
    if isinstance(constraint, tuple):
        spec.constrain("loop", constraint[0])
    else:
        spec.close("loop", "a", "b", joint=constraint, at_a=AT_A, at_b=AT_B)
    return spec.compile()


@pytest.mark.parametrize(
    "constraint",
    [
        *JOINTS,
        (sr.Distance("a", (0.1, 0, 0), "b", (0, 0.2, 0), 0.5),),
        (sr.PointOnLine("a", (0.1, 0, 0), "b", (0, 0.2, 0), (1, 1, 0)),),
        (sr.PointOnPlane("a", (0.1, 0, 0), "b", (0, 0.2, 0), (1, 0, 1)),),
    ],
)
def test_virtual_work(constraint: Any) -> None:
    mech = pair(constraint)
    rng = np.random.default_rng(3)
    q = mech.integrate(mech.neutral(), 0.6 * rng.normal(size=mech.nv))
    lam = rng.normal(size=mech.nc)
    wrench = mech_reaction(mech, q, lam, "world")
    a, b = mech.pose(q, "a"), mech.pose(q, "b")
    p_bB = mech.model.element_parameters(0)["p_b"]
    node_b = mech.model.body_node.tolist().index(int(mech.model.el_b[0]))
    p_WB = b.apply(mech.model.R_NB[node_b].T @ (p_bB - mech.model.p_NB[node_b]))
    J_b = mech.jacobian(q, "b", point=b.inverse().apply(p_WB))
    J_a = mech.jacobian(q, "a", point=a.inverse().apply(p_WB))
    expected = mech.terms(q, np.zeros(mech.nv)).J.T @ lam
    np.testing.assert_allclose((J_b - J_a).T @ wrench, expected, atol=1e-10)


def mech_reaction(mech: sr.Mechanism, q: Any, lam: Any, frame: str) -> Any:
    """The wrench for given multipliers, apart from any motion."""
    R = np.array([mech.pose(q, name).rotation for name in mech.body_names])
    W, at = mech.evaluator.kernel.row_wrenches(np.asarray(q, dtype=float)[None])
    return reaction(mech.model, R, RowWrenches(W[0], at[0]), lam, "loop", frame=frame)


def test_frames_turn_the_same_wrench() -> None:
    mech = pair(sr.Revolute("z"))
    rng = np.random.default_rng(4)
    q = mech.integrate(mech.neutral(), 0.6 * rng.normal(size=mech.nv))
    lam = rng.normal(size=mech.nc)
    world = mech_reaction(mech, q, lam, "world")
    axes = {
        "a": mech.pose(q, "a").rotation,
        "b": mech.pose(q, "b").rotation,
        "A": mech.pose(q, "a").rotation @ AT_A.rotation,
        "B": mech.pose(q, "b").rotation @ AT_B.rotation,
    }
    for frame, R in axes.items():
        expected = np.concatenate([R.T @ world[:3], R.T @ world[3:]])
        np.testing.assert_allclose(mech_reaction(mech, q, lam, frame), expected, atol=1e-12)


def test_a_hanging_weight_pulls_at_its_loop() -> None:
    spec = sr.MechanismSpec(gravity=(0, 0, -9.81))
    spec.body("weight", joint=sr.Free(), mass=2.0, inertia=(0.1, 0.1, 0.1))
    spec.close("hook", "ground", "weight", joint=sr.Fixed(), at_b=sr.Pose((0.0, 0.5, 0.0)))
    mech = spec.compile()
    motion = mech.forward_dynamics(mech.default.q, np.zeros(6))
    np.testing.assert_allclose(
        motion.reaction("hook", "world"), [0, 0, 2 * 9.81, -2 * 9.81 * 0.5, 0, 0], atol=1e-9
    )
    batch = mech.forward_dynamics(np.array([mech.default.q] * 3), np.zeros(6))
    assert batch.reaction("hook").shape == (3, 6)
    assert mech.forward_dynamics(np.zeros((0, 7)), np.zeros(6)).reaction("hook").shape == (0, 6)


def test_names_and_frames_are_checked() -> None:
    spec = sr.MechanismSpec()
    spec.body("arm", joint=sr.Revolute("z"), **BOX)
    spec.constrain("gear", sr.Coupling({"arm": 1.0}))
    spec.close("pin", "ground", "arm", joint=sr.Spherical())
    motion = spec.compile().forward_dynamics([0.0], [0.0])
    with pytest.raises(
        sr.UnknownNameError, match="unknown loop or joint 'pine'; existing names: 'pin', 'arm'"
    ):
        motion.reaction("pine")
    with pytest.raises(sr.UnknownNameError, match="Coupling has no wrench; its multiplier is in lam"):
        motion.reaction("gear")
    with pytest.raises(sr.InputError, match="`frame` must be one of 'A', 'B', 'a', 'b', 'world', got 'w'"):
        motion.reaction("pin", frame="w")

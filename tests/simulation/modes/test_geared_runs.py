"""Friction by load beside gears and belts, and of many bearings: runs against reactions and energy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import sarrus as sr

Array = npt.NDArray[np.float64]
MU, R = 0.12, 0.015
TILT = sr.Pose(rpy=(0.3, -0.5, 0.7))


def machine(kind: str) -> sr.Mechanism:
    """Two bodies whose weight is off their axes, with journals, and a gear or belt between them."""
    spec = sr.MechanismSpec(gravity=(1.0, -9.0, 4.0), name=kind, length=0.1)
    spec.body("frame", joint=sr.Fixed(), at=TILT, mass=1.0, inertia=(0.1,) * 3)
    under, joint_b, at_b, radius_b = "frame", sr.Revolute("z"), sr.Pose((0.09, 0.0, 0.03)), R
    given: Any = sr.Gear("a", "b", 20, 40, 0.003)
    if kind == "internal":
        at_b, given = sr.Pose((-0.03, 0.0, 0.0)), sr.Gear("a", "b", 20, 40, 0.003, kind)
    elif kind == "rack":
        joint_b, at_b, radius_b = sr.Prismatic("x"), sr.Pose((0.1, -0.03, 0.0)), 0.0
        given = sr.Gear("a", "b", 20, 1, 0.003, kind)
    elif kind == "bevel":
        at_b = sr.Pose((0.03, 0.0, 0.06), rpy=(0.0, math.pi / 2, 0.0))
        given = sr.Gear("a", "b", 20, 40, 0.003, kind)
    elif kind == "worm":
        at_b = sr.Pose((0.0, 0.02 + 0.06, 0.0), rpy=(0.0, math.pi / 2, 0.0))
        given = sr.Gear("a", "b", 2, 40, 0.003, kind, diameter=0.04)
    elif kind.endswith("belt"):
        at_b = sr.Pose((0.2, 0.1, 0.0))
        given = sr.Belt("a", "b", 0.03, 0.07, crossed=kind == "crossed belt", pretension=80.0)
    if kind == "planet":
        spec.body("arm", under, joint=sr.Revolute("z"), mass=0.7, com=(0.05, 0.01, 0.0), inertia=(2e-3,) * 3)
        spec.force("friction arm", sr.BearingFriction("arm", MU, R))
        under = "arm"
    spec.body("a", "frame", joint=sr.Revolute("z"), mass=2.0, com=(0.01, 0.02, 0.1), inertia=(4e-3,) * 3)
    spec.body("b", under, joint=joint_b, at=at_b, mass=3.0, com=(-0.03, 0.01, 0.05), inertia=(5e-3,) * 3)
    spec.constrain("mesh", given)
    spec.force("friction a", sr.BearingFriction("a", MU, R))
    spec.force("friction b", sr.BearingFriction("b", MU, radius_b, 0.0 if radius_b else 0.2))
    return spec.compile()


KINDS = ("external", "internal", "rack", "bevel", "worm", "planet", "belt", "crossed belt")


def sliding(mech: sr.Mechanism, q: Array, rng: np.random.Generator) -> Array:
    """Velocities along which everything slides."""
    N = mech.decompose(q).N
    v = np.asarray(N @ rng.normal(size=N.shape[1]))
    return v / np.max(np.abs(v)) * 20.0


def by_reactions(mech: sr.Mechanism, motion: sr.Motion, v: Array) -> Array:
    """Friction from the reactions of the joints: balances of bodies in Python, with loads() of the mesh."""
    out = np.zeros(mech.nv)
    for k, name in enumerate(mech.names):
        W = motion.reaction(name, frame="b")
        if name == "b" and mech.name == "rack":
            F, C = W[[1, 2]], np.array([-W[5], W[4]]) / 0.2
            bound = np.linalg.norm(F / 2 + C) + np.linalg.norm(F / 2 - C)
        else:
            bound = R * np.linalg.norm(W[:2])
        out[k] = -np.sign(v[k]) * MU * bound
    return out


@pytest.mark.parametrize("kind", KINDS)
def test_friction_is_mu_times_reactions_in_states_and_in_runs(kind: str) -> None:
    mech, rng = machine(kind), np.random.default_rng(KINDS.index(kind))
    for _ in range(6):
        q = mech.assemble(rng.uniform(-2.0, 2.0, mech.nq)).q
        v, tau = sliding(mech, q, rng), rng.normal(size=mech.nv)
        motion = mech.forward_dynamics(q, v, tau)
        np.testing.assert_allclose(motion.friction, by_reactions(mech, motion, v), rtol=1e-9)
        run = sr.simulate(mech, (0, 1e-3), q, v, tau=tau, dt=1e-4)
        assert run.success and not run.events
        for i in (0, 5, 10):
            at = mech.forward_dynamics(run.q[i], run.v[i], tau)
            np.testing.assert_allclose(run.friction[i], by_reactions(mech, at, run.v[i]), rtol=1e-9)
            np.testing.assert_allclose(run.a[i], at.a, rtol=1e-9, atol=1e-9 * np.abs(at.a).max())
            np.testing.assert_allclose(run.tau[i], tau, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kind", ["planet", "worm", "belt"])
def test_energy_goes_where_friction_takes_it(kind: str) -> None:
    mech = machine(kind)
    q = mech.neutral()
    v = sliding(mech, q, np.random.default_rng(3))
    dt = 2.5e-5  # Simpson's rule meets a kink where the teeth of the planet change flanks
    run = sr.simulate(mech, (0, 0.02), q, v, dt=dt)
    assert run.success and not run.events
    E = np.array([mech.energy(*state).total for state in zip(run.q, run.v, strict=True)])
    power = np.einsum("ij,ij->i", run.friction, run.v)
    work = np.sum((power[:-1:2] + 4 * power[1::2] + power[2::2]) * dt / 3)
    assert E[-1] - E[0] == pytest.approx(work, rel=1e-7)
    assert E[-1] < E[0]


def test_load_of_a_mesh_by_hand() -> None:
    """F_t and F_t tan(20 degrees), whichever gear drives."""
    spec = sr.MechanismSpec(gravity=(0, 0, 0), length=0.1)
    for name, x in (("a", 0.0), ("b", 0.09)):
        spec.body(name, joint=sr.Revolute("z"), at=sr.Pose((x, 0, 0)), mass=1.0, inertia=(1e-3,) * 3)
        spec.force("friction " + name, sr.BearingFriction(name, 0.1, 0.01))
    mech = spec.constrain("mesh", sr.Gear("a", "b", 20, 40, 0.003)).compile()
    for torque in (2.0, -2.0):
        run = sr.simulate(mech, (0, 1e-3), [0.0, 0.0], [10.0, -5.0], tau=[torque, 0.0], dt=1e-4)
        # I a_a = T - f - r_a F,  I a_b = -r_b F + f  with a_b = -a_a / 2 and f = mu r F / cos(20 degrees)
        arm = 0.1 * 0.01 / math.cos(math.radians(20.0))
        side = math.copysign(1.0, torque)
        F = torque / (0.03 + 2 * 0.06 - 2 * side * arm + side * arm)
        np.testing.assert_allclose(run.friction[:, 0], -arm * abs(F), rtol=1e-9)
        np.testing.assert_allclose(run.friction[:, 1], arm * abs(F), rtol=1e-9)


def test_more_bearings_than_lanes() -> None:
    """Chains of eleven links with journals: the columns of their friction do not fit into one slab."""
    spec, under = sr.MechanismSpec(gravity=(0, -9.81, 0), name="chain"), "ground"
    for i in range(11):
        at = sr.Pose((0.1 if i else 0.0, 0, 0), rpy=(0.2 * i, 0, 0))
        spec.body(
            f"l{i}", under, joint=sr.Revolute("z"), at=at, mass=1.0, com=(0.05, 0.01, 0), inertia=(1e-3,) * 3
        )
        spec.force(f"f{i}", sr.BearingFriction(f"l{i}", 0.1, 0.005))
        under = f"l{i}"
    spec.close("end", under, "ground", sr.Spherical(), at_a=sr.Pose((0.1, 0, 0)), at_b=sr.Pose((0.4, 0.2, 0)))
    mech, rng = spec.compile(), np.random.default_rng(0)
    q = mech.assemble(rng.uniform(-0.6, 0.6, mech.nq)).q
    v = sliding(mech, q, rng)
    motion = mech.forward_dynamics(q, v)
    loads = [np.linalg.norm(motion.reaction(name, frame="b")[:2]) for name in mech.names]
    np.testing.assert_allclose(motion.friction, -np.sign(v) * 0.1 * 0.005 * np.array(loads), rtol=1e-9)
    run = sr.simulate(mech, (0, 1e-4), q, v, dt=1e-5)
    np.testing.assert_allclose(run.friction[0], motion.friction, rtol=1e-9)
    np.testing.assert_allclose(run.a[0], motion.a, rtol=1e-9, atol=1e-9 * np.abs(motion.a).max())

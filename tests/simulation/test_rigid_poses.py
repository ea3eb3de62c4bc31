"""Poses that are rigid to second order: bars in a line between supports as far apart as the bars are long.

The rows lose rank there and leave velocities free, but the triangle inequality leaves no motion: the
acceleration is zero whatever the load, and a run stays where it is.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import sarrus as sr

HINGE = sr.Revolute("z")


def straight_chains(*chains: tuple[float, ...], turn: float = 0.0) -> sr.Mechanism:
    """Chains of bars of these lengths [m] between supports, each stretched, along the angle `turn` [rad]."""
    spec = sr.MechanismSpec(gravity=(0.0, -9.81, 0.0))
    for c, lengths in enumerate(chains):
        parent, at = "ground", sr.Pose((0.0, float(c), 0.0), rpy=(0.0, 0.0, turn))
        for i, length in enumerate(lengths):
            name, inertia = f"bar{c}{i}", length**2 / 12.0
            bar = {"mass": 1.0, "com": (length / 2, 0.0, 0.0), "inertia": (0.0, inertia, inertia)}
            spec.body(name, parent=parent, joint=HINGE, at=at, **bar)  # type: ignore[arg-type]
            parent, at = name, sr.Pose((length, 0.0, 0.0))
        reach = sum(lengths)
        end = sr.Pose((reach * math.cos(turn), c + reach * math.sin(turn), 0.0))
        spec.close(f"pin{c}", parent, "ground", joint=HINGE, at_a=at, at_b=end)
    return spec.compile()


RIGID = {
    "two bars": straight_chains((1.0, 1.0)),
    "two bars, slanted": straight_chains((0.7, 1.3), turn=0.8),
    "three bars": straight_chains((1.0, 0.5, 1.5)),
    "two chains": straight_chains((1.0, 1.0), (0.6, 0.9)),
}


@pytest.mark.parametrize("name", RIGID)
@pytest.mark.parametrize("formulation", ["nullspace", "svd", "projection"])
def test_no_load_moves_it(name: str, formulation: str) -> None:
    mech = RIGID[name]
    q, rest = np.zeros(mech.nq), np.zeros(mech.nv)
    for tau in (rest, np.linspace(-3.0, 5.0, mech.nv)):
        motion = mech.forward_dynamics(q, rest, tau=tau, formulation=formulation)
        np.testing.assert_allclose(motion.a, 0.0, atol=1e-9)  # loads give 30 rad/s^2 where rows are left out
    mobility = mech.mobility(q)
    assert mobility.is_rigid and mobility.is_singular and mobility.dof > 0
    assert "rigid to second order" in mobility.explain()
    assert mech.branches(q) == ()


@pytest.mark.parametrize("name", RIGID)
@pytest.mark.parametrize("method", ["rk4", "dopri5", "radau"])
def test_a_run_stays(name: str, method: str) -> None:
    mech = RIGID[name]
    run = sr.simulate(mech, (0.0, 0.5), np.zeros(mech.nq), method=method, dt=1e-2)
    assert run.success, run.message
    np.testing.assert_array_equal(run.q, 0.0)
    np.testing.assert_array_equal(run.v, 0.0)


def test_bars_that_can_move_do() -> None:
    """At other singular poses at rest nothing changes: the forms there have both signs."""
    flat = sr.library.parallelogram()
    q = flat.assemble(flat.neutral()).q
    assert flat.mobility(q).is_singular and not flat.mobility(q).is_rigid
    assert np.abs(flat.acceleration(q, np.zeros(flat.nv), np.linspace(1.0, 2.0, flat.nv))).max() > 0.1
    five = sr.library.five_bar()
    assert not five.mobility(five.default.q).is_rigid
